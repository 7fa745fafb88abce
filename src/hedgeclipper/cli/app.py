"""The commands: each reads its options and calls one function."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hedgeclipper import __version__
from hedgeclipper.cli.errors import ExitCode
from hedgeclipper.cli.output import Output, reporting

_HELP = (
    "Label many rows from few labels.\n\n"
    "Files are CSV, Parquet, Arrow or LibSVM, told apart by their suffix. A folder, or a quoted "
    "pattern like 'rows/*.parquet', stands for all files in it. A row whose target is missing is "
    "unlabeled."
)
_EPILOG = "Exit codes: 0 done, 2 wrong usage, 3 input, 4 output, 5 model file, 130 stopped."
_EXAMPLE = "hedgeclipper fit rows.csv --target income --unlabeled more.csv --model income.skops"
_MANY_VALUES = "--unlabeled"
_END = "--end"
_UsageError: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="hedgeclipper",
    help=_HELP,
    epilog=_EPILOG,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Method(StrEnum):
    """What ``fit`` fits."""

    forest = "forest"
    voting = "voting"


class BenchTable(StrEnum):
    """What ``bench`` runs."""

    table = "table"
    votes_table = "votes-table"


def _check_share(share: float | None) -> float | None:
    if share is not None and not 0 < share < 1:
        raise typer.BadParameter(f"must be between 0 and 1, such as 0.05. Got {share}.")
    return share


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("must be 1 or more, or -1 for all cores. Got 0.")
    return jobs


_TALK, _FLAG = "What is said and written", ""

Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", metavar=_FLAG, rich_help_panel=_TALK, help="Say nothing but errors."
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", metavar=_FLAG, rich_help_panel=_TALK, help="Print the result as one JSON object."
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug", metavar=_FLAG, rich_help_panel=_TALK, help="Show where an error comes from."
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", "-f", metavar=_FLAG, rich_help_panel=_TALK, help="Replace files that exist."
    ),
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="Seed of all that is random.")]


def _confidence(price: str) -> Any:
    """Return the option of a guarantee, and what it costs."""
    return typer.Option(
        metavar="LEVEL",
        callback=_check_share,
        help="Guarantee a bound on the error with this probability, such as 0.95; " + price,
    )


Confidence = Annotated[float | None, _confidence("half of the labels are held out to test it.")]
VotesConfidence = Annotated[
    float | None, _confidence("gold labels must be of rows drawn at random.")
]
Unlabeled = Annotated[
    list[str] | None,
    typer.Option(metavar="FILES...", help="Files of unlabeled rows, up to the next option."),
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Leave out a column; repeat for more.")
]
Report = Annotated[
    Path | None, typer.Option(metavar="PAGE.html", help="Write a report to open in a browser.")
]


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar=_FLAG, help="Show the version.")
    ] = False,
) -> None:
    if version:
        print(f"hedgeclipper {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command(epilog=f"Example: {_EXAMPLE}")
def fit(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Rows; those with a target are labeled.")
    ],
    model: Annotated[
        Path,
        typer.Option("--model", "-m", metavar="OUT.skops", help="Where to save the model."),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="Column to predict. LibSVM needs none."
        ),
    ] = None,
    unlabeled: Unlabeled = None,
    method: Annotated[
        Method,
        typer.Option(
            metavar="forest|voting",
            help="forest: quick, for files of any size. voting: twenty varied classifiers, "
            "mostly better, minutes.",
        ),
    ] = Method.forest,
    report: Report = None,
    drop: Drop = None,
    confidence_level: Confidence = None,
    seed: Seed = 0,
    jobs: Annotated[
        int,
        typer.Option(metavar="NUMBER", callback=_check_jobs, help="Threads; -1 is all cores."),
    ] = -1,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Fit a model to labeled and unlabeled rows.

    Numbers stay as they are, words become columns of 0 and 1, dates become day, month and weekday;
    what is done with each column is shown, and kept in the model.
    """
    with reporting(Output(quiet=quiet, as_json=json, debug=debug)) as output:
        from hedgeclipper.cli.fitting import Fit
        from hedgeclipper.cli.fitting import fit as work

        asked = Fit(
            data=data,
            target=target,
            unlabeled=unlabeled or (),
            method=method.value,
            model=model,
            report=report,
            drop=drop or (),
            confidence_level=confidence_level,
            seed=seed,
            jobs=jobs,
            force=force,
        )
        work(asked, output)
    return output.code


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that fit has saved.")],
    files: Annotated[list[str], typer.Argument(metavar="FILES...", help="Rows to predict for.")],
    to: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="OUT", help="Where to write: a .parquet or .csv file."
        ),
    ],
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Write predictions and probabilities for the rows of files, in their order."""
    with reporting(Output(quiet=quiet, as_json=json, debug=debug)) as output:
        from hedgeclipper.cli.predicting import predict as work

        work(model, files, to, force, output)
    return output.code


@app.command()
def votes(
    table: Annotated[
        list[str],
        typer.Argument(
            metavar="VOTES...",
            help="A column for each voter, or long: one vote in each line, with the columns "
            "task, worker and label.",
        ),
    ],
    gold: Annotated[
        str,
        typer.Option(metavar="GOLD", help="Table of two columns: rows, and what is true of them."),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Write labels and probabilities: .parquet or .csv.",
        ),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", metavar="OUT.skops", help="Save the model.")
    ] = None,
    report: Report = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that names the rows. Default: that of GOLD if VOTES has it, else rows are "
            "numbered from 0.",
        ),
    ] = None,
    drop: Drop = None,
    task: Annotated[
        str, typer.Option(metavar="COLUMN", help="Long tables: the column of tasks.")
    ] = "task",
    worker: Annotated[
        str, typer.Option(metavar="COLUMN", help="Long tables: the column of voters.")
    ] = "worker",
    label: Annotated[
        str, typer.Option(metavar="COLUMN", help="Long tables: the column of votes.")
    ] = "label",
    abstain: Annotated[
        str, typer.Option(metavar="LABEL", help="The vote that is none; missing ones are too.")
    ] = "-1",
    confidence_level: VotesConfidence = None,
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Make labels of votes: of labeling functions, crowds or models, and a few gold labels."""
    with reporting(Output(quiet=quiet, as_json=json, debug=debug)) as output:
        from hedgeclipper.cli.vote_commands import Aggregate, aggregate

        asked = Aggregate(
            votes=table,
            gold=gold,
            output=to,
            model=model,
            report=report,
            key=key,
            drop=drop or (),
            task=task,
            worker=worker,
            label=label,
            abstain=abstain,
            confidence_level=confidence_level,
            seed=seed,
            force=force,
        )
        aggregate(asked, output)
    return output.code


@app.command()
def report(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that fit has saved.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="Rows with the target, as for fit.")],
    to: Annotated[
        Path, typer.Option("--output", "-o", metavar="PAGE.html", help="The page to write.")
    ],
    unlabeled: Unlabeled = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Write a report on a model: one page, to open in a browser."""
    with reporting(Output(quiet=quiet, as_json=json, debug=debug)) as output:
        from hedgeclipper.cli.fitting import report as work

        work(model, data, unlabeled or (), to, force, output)
    return output.code


@app.command()
def bench(
    table: Annotated[
        BenchTable, typer.Argument(metavar="table|votes-table", help="Which table.")
    ] = BenchTable.table,
    debug: Debug = False,
) -> int:
    """Run the paper's table, or that of votes, in a copy of the repository. Hours."""
    with reporting(Output(debug=debug)) as output:
        from hedgeclipper.cli.bench import bench as work

        work(table.value)
    return output.code


@app.command()
def demo(debug: Debug = False) -> int:
    """Show the main job on real data that comes with the package. A minute."""
    with reporting(Output(debug=debug)) as output:
        from hedgeclipper.cli.demo import main

        main()
    return output.code


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; wrong usage is one line too.

    Parameters
    ----------
    arguments : sequence of str
        What stands behind ``hedgeclipper`` on the command line.
    """
    try:
        code = app(args=spread_values(arguments), prog_name="hedgeclipper", standalone_mode=False)
    except _UsageError as error:
        output = Output(as_json="--json" in arguments)
        output.code = ExitCode.USAGE
        command = getattr(error.ctx, "command_path", "hedgeclipper")
        output.fail(f"{error.format_message()} See {command} --help.")
        return output.code
    return int(code or 0)


def spread_values(arguments: Sequence[str]) -> list[str]:
    """Return arguments with the option of many values before each of these.

    Parameters
    ----------
    arguments : sequence of str
        As they were typed: ``--unlabeled a.csv b.csv --model m``.
    """
    spread: list[str] = []
    is_open = lacks_value = False
    for word in [*arguments, _END]:
        if word.startswith("-"):
            if lacks_value:
                raise _UsageError(f"Option '{_MANY_VALUES}' requires an argument.")
            is_open = lacks_value = word == _MANY_VALUES
            spread.extend([] if is_open else [word])
        else:
            lacks_value = False
            spread.extend([_MANY_VALUES, word] if is_open else [word])
    return spread[:-1]
