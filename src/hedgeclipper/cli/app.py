"""The commands: each is a class of its options, and names the function that takes them.

That function is imported only when its command is run, so that help has not to wait for it.
"""

# defaults are the options themselves, which typer replaces by what the user has typed
# ruff: noqa: RUF009

from codecs import lookup
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, Literal

import typer

from hedgeclipper import __version__
from hedgeclipper.cli.output import ExitCode, Output, reporting

_HELP = (
    "Label many rows from few labels.\n\n"
    "Files are CSV, Parquet or Excel, recognized by their suffix. A folder, or a quoted "
    "pattern like 'rows/*.parquet', stands for all files in it. A row whose target is missing is "
    "unlabeled."
)
_PATH = """\
hedgeclipper sample people.csv -n 1000 -o to_label.csv     # rows to label, drawn at random
hedgeclipper fit people.csv --labels to_label.csv --model people.skops --confidence 0.95
hedgeclipper predict people.skops people.csv --max-error 0.05 -o labels.csv
hedgeclipper finish labels.csv --to-review review.csv      # then --reviewed review.csv -o all.csv
hedgeclipper label people.csv -t income --classes low,high # or all of this in the browser
hedgeclipper audit --help                                  # check any predictions (all: --help)"""
_EPILOG = (
    "Exit codes: 0 done, 2 wrong usage, 3 input, 4 output, 5 model file, 6 error above "
    "--fail-if-above, 130 stopped."
)
_EXAMPLE = "hedgeclipper fit rows.csv --target income --unlabeled more.csv --model income.skops"
_AUDIT_EXAMPLE = (
    "hedgeclipper audit predictions.csv --labels checked.csv --confidence-column score "
    "--max-error 0.05 -o labels.csv"
)
_LABEL_EXAMPLE = (
    "hedgeclipper label rows.csv --target diagnosis --classes benign,malignant --max-error 0.05"
)
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


def _check_proportion(value: float | None) -> float | None:
    if value is not None and not 0 < value < 1:
        raise typer.BadParameter(f"must be between 0 and 1. Got {value}.")
    return value


def _check_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("must be 1 or more, or -1 for all cores. Got 0.")
    return jobs


def _check_separator(sign: str | None) -> str | None:
    sign = "\t" if sign in ("tab", "\\t") else sign
    if sign is not None and len(sign) != 1:
        raise typer.BadParameter(f"must be one character, such as ';', or tab. Got {sign!r}.")
    return sign


def _check_encoding(name: str | None) -> str | None:
    try:
        return None if name is None else lookup(name).name
    except LookupError as error:
        raise typer.BadParameter(
            f"must be the name of an encoding, such as latin-1 or utf-16. Got {name!r}."
        ) from error


def _option(metavar: str, text: str, names: str = "", default: Any = None, **more: Any) -> Any:
    return typer.Option(default, *names.split(), metavar=metavar, help=text, **more)


def _argument(metavar: str, text: str) -> Any:
    return typer.Argument(metavar=metavar, help=text)


def _proportion(metavar: str, text: str, names: str = "", default: Any = None) -> Any:
    return _option(metavar, text, names, default, callback=_check_proportion)


def _flag(text: str, names: str) -> Any:
    return _option("", text, names, False, rich_help_panel="Messages and files")


def _reading(metavar: str, text: str, **more: Any) -> Any:
    return _option(metavar, text, rich_help_panel="Reading CSV", **more)


_KEEP = _option(
    "COLUMN", "Use a column that seems to be an id or made of the target; repeat for more."
)
_DROP = _option("COLUMN", "Leave out a column; repeat for more.")
_LABELS = _option(
    "FILE",
    "Labels of the rows, in a file of their own: what hedgeclipper sample has drawn from DATA, "
    "with labels, or another one; see --key.",
)
_LABEL_KEY = _option(
    "COLUMN", "With --labels: the column, in both files, by which they are matched."
)
_SAVED_MODEL = _argument("MODEL", "A model that fit has saved.")
_UNLABELED = _option("FILES", "Files of unlabeled rows; repeat for more.")
_UNLABELED_VALUE = _option("VALUE", "Value of the target that means unlabeled; repeat for more.")
_ROW_ID = _option("COLUMN", "Column that names the rows in predictions and reports.", "--id")
_REPORT = _option("PAGE.html", "Write a report to open in a browser.")
_SEED = _option("NUMBER", "Random seed.", default=0)
_CONFIDENCE = _proportion(
    "LEVEL",
    "Guarantee a bound on the error with this probability, such as 0.95: half of the labels, "
    "or up to 62% of few labels, at most 2,000, are held out to test the predictions. Labeled "
    "rows must be a random sample of all rows.",
    "--confidence",
)
_KEY = _option(
    "COLUMN", "Column that names the rows in both files. Default: row, their numbers from 0."
)
_LEVEL = _proportion("LEVEL", "Probability that --max-error holds.", "--confidence", 0.95)
_MAX_ERROR = _proportion(
    "FRACTION",
    "Mark the rows that a person must review so that at most this fraction of all labels is "
    "wrong, such as 0.05. A guarantee only for a model fitted with --confidence.",
)


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    version: bool = _option("", "Show the version.", "--version", False),
) -> None:
    if version:
        print(f"hedgeclipper {__version__}")
    elif context.invoked_subcommand is None:
        print(_PATH)


@dataclass(kw_only=True)
class Command:
    """Options of every command; ``calls`` is its function in this package."""

    calls: ClassVar[str]
    is_interactive: ClassVar[bool] = False
    quiet = json = False
    debug: bool = _flag("Print the traceback of an error.", "--debug")


@dataclass(kw_only=True)
class Printing(Command):
    """Options of commands that print a result."""

    quiet: bool = _flag("Print nothing but errors.", "--quiet -q")
    json: bool = _flag("Print the result as one JSON object.", "--json")


@dataclass(kw_only=True)
class Writing:
    """Options of commands that write files."""

    force: bool = _flag("Replace files that exist.", "--force -f")


@dataclass(kw_only=True)
class Reading:
    """Options of commands that read CSV."""

    sep: str | None = _reading(
        "SIGN",
        "Sign between values, such as ';' or tab. Default: found in the first lines.",
        callback=_check_separator,
    )
    decimal: Literal[".", ","] | None = _reading(
        ".|,", "Decimal point or comma. Default: found in the first lines."
    )
    encoding: str | None = _reading(
        "NAME", "Such as latin-1 or utf-16. Default: UTF-8.", callback=_check_encoding
    )

    @property
    def dialect(self) -> Any:
        """How CSV files are written, as far as the user says so."""
        dialect = resolve_name("hedgeclipper.io.csv_dialect:CsvDialect")
        return dialect(self.sep, self.decimal, self.encoding)


@app.command("sample")
@dataclass(kw_only=True)
class SampleRows(Printing, Writing, Reading):
    """Draw rows to label at random, with a record of the draw that fit, votes and audit read.

    Fill in the labels, and leave the other columns as they are. A row that nobody can decide stays
    without a label.
    """

    calls = "audit_commands:sample_rows"
    data: list[str] = _argument("ROWS...", "All rows of the file.")
    n: int = _option("NUMBER", "How many rows to draw, in all.", "-n", ...)
    to: Path = _option("OUT", "Where to write: a .csv, .parquet or .json file.", "--output -o", ...)
    target: str | None = _option(
        "COLUMN",
        "Column of labels that some rows have already: these are not drawn, and people fill in "
        "the others. Default: a new column, label.",
        "--target -t",
    )
    extend: Path | None = _option(
        "SAMPLE",
        "A sample of the same rows with the labels so far, to be made larger. It needs audit "
        "--sequential, from the first look on.",
    )
    seed: int = _SEED


@app.command("label", epilog=f"Example: {_LABEL_EXAMPLE}")
@dataclass(kw_only=True)
class LabelRows(Command, Writing, Reading):
    """Label rows in the browser, until at most so many labels of the file are wrong.

    The model learns meanwhile and asks for the rows that help most. Every label is saved at once
    beside the rows; the same command goes on where it ended.
    """

    calls = "label_commands:label_rows"
    is_interactive = True
    data: str = _argument("ROWS", "The rows of the file to finish.")
    target: str = _option(
        "COLUMN", "What to label; the file may have some labels.", "--target -t", ...
    )
    classes: str | None = _option(
        "A,B,...", "The classes. Default: those of the labels that are there."
    )
    max_error: float = _proportion(
        "FRACTION", "Largest proportion of wrong labels in the finished file.", default=0.05
    )
    confidence_level: float = _LEVEL
    text: str | None = _option("COLUMN", "A column of text, shown large.")
    image: str | None = _option(
        "COLUMN", "A column of paths of images, in the folder of the rows or below it."
    )
    drop: list[str] | None = _DROP
    keep: list[str] | None = _KEEP
    annotator: str = _option("NAME", "Who labels; it is written with each label.", default="")
    to: Path | None = _option(
        "OUT",
        "The finished file: .parquet or .csv. Default: rows.labeled.csv beside the rows.",
        "--output -o",
    )
    session: Path | None = _option(
        "FILE", "The labels so far. Default: rows.csv.session.jsonl beside the rows."
    )
    terminal: bool = _option(
        "", "Label in the terminal, over ssh for instance.", "--terminal", False
    )
    no_browser: bool = _option(
        "", "Print the address of the page, and do not open it.", "--no-browser", False
    )
    port: int = _option("NUMBER", "Port of the page. Default: any.", max=65535, min=0, default=0)
    seed: int = _SEED


@app.command(epilog=f"Example: {_EXAMPLE}")
@dataclass(kw_only=True)
class Fit(Printing, Writing, Reading):
    """Fit a model to labeled and unlabeled rows.

    Numbers stay as they are, strings become columns of 0 and 1, dates become days, year, month,
    weekday and hour; how each column is encoded is printed, and kept in the model.
    """

    calls = "model_commands:fit"
    data: str = _argument("DATA", "Rows; those with a target are labeled.")
    model: Path = _option("OUT.skops", "Where to save the model.", "--model -m", ...)
    target: str | None = _option(
        "COLUMN",
        "Column to predict. May be left out for --labels of hedgeclipper sample.",
        "--target -t",
    )
    unlabeled: list[str] | None = _UNLABELED
    labels: str | None = _LABELS
    key: str | None = _LABEL_KEY
    unlabeled_value: list[str] | None = _UNLABELED_VALUE
    estimators: Literal["default", "trees"] = _option(
        "default|trees",
        "default: trees and other classifiers, the most accurate. trees: those alone, faster.",
        default="default",
    )
    balanced: bool = _option("", "Weigh errors on a class by its rarity.", "--balanced", False)
    report: Path | None = _REPORT
    drop: list[str] | None = _DROP
    keep: list[str] | None = _KEEP
    row_id: str | None = _ROW_ID
    confidence_level: float | None = _CONFIDENCE
    seed: int = _SEED
    jobs: int = _option("NUMBER", "Threads; -1 is all cores.", callback=_check_jobs, default=-1)


@app.command()
@dataclass(kw_only=True)
class Predict(Printing, Writing, Reading):
    """Write predictions and probabilities for the rows of files, in their order."""

    calls = "predict_commands:predict"
    model: Path = _SAVED_MODEL
    files: list[str] = _argument("FILES...", "Rows to predict for.")
    to: Path = _option("OUT", "Where to write: a .parquet or .csv file.", "--output -o", ...)
    max_error: float | None = _MAX_ERROR
    confidence_level: float = _LEVEL
    row_id: str | None = _ROW_ID


@app.command()
@dataclass(kw_only=True)
class Finish(Printing, Writing, Reading):
    """Take labels of reviewed rows back, and tell what is now known of the file.

    Some of the rows are enough: what is written can be finished later.
    """

    calls = "finish_commands:finish_labels"
    labels: str = _argument(
        "LABELS", "What predict, votes or audit has written with --max-error, or finish."
    )
    reviewed: list[str] | None = _option(
        "FILE",
        "Rows with the labels that people gave: a table, or .json of Label Studio. Repeat for "
        "more. Default: those filled in LABELS itself.",
    )
    to: Path | None = _option("OUT", "All rows with their labels: .parquet or .csv.", "--output -o")
    to_review: Path | None = _option(
        "OUT",
        "Rows that are still to be labeled, in order: .csv, .parquet, or .json, tasks for "
        "Label Studio.",
    )
    label: str | None = _option("COLUMN", "Column of the labels. Default: label.", "--label-column")
    key: str | None = _KEY


@app.command("audit", epilog=f"Example: {_AUDIT_EXAMPLE}")
@dataclass(kw_only=True)
class AuditPredictions(Printing, Writing, Reading):
    """Tell how good predictions are, whatever made them, from a random sample checked by hand.

    Rows to check are drawn by `hedgeclipper sample`. A row that people could not decide has an
    empty label, and counts as wrong.
    """

    calls = "audit_commands:audit_predictions"
    predictions: list[str] = _argument("PREDICTIONS...", "All rows, with a column of predictions.")
    labels: list[str] = _option(
        "FILE",
        "Rows that were checked, and their labels. Repeat for the labels of a second person, "
        "and of a third one who settles where these two differ.",
        default=...,
    )
    prediction: str = _option(
        "COLUMN", "Column of the predicted classes.", "--prediction-column", default="prediction"
    )
    label: str | None = _option(
        "COLUMN",
        "Column of the labels. Default: label, or the only one that PREDICTIONS does not have.",
        "--label-column",
    )
    key: str | None = _KEY
    confidence_column: str | None = _option(
        "COLUMN", "Numbers that are larger for surer predictions."
    )
    uncertainty_column: str | None = _option(
        "COLUMN", "Numbers that are larger for less sure predictions."
    )
    max_error: float | None = _proportion(
        "FRACTION",
        "Find the rows that need no review if at most this fraction of all labels of the "
        "finished file may be wrong, such as 0.05.",
    )
    to: Path | None = _option(
        "OUT",
        "With --max-error: write all rows, their labels, and which to review in which order: a "
        ".parquet or .csv file, for `hedgeclipper finish`.",
        "--output -o",
    )
    by: list[str] | None = _option("COLUMN", "Errors for each value of a column; repeat for more.")
    classes: list[str] | None = _option(
        "LABEL", "Precision and recall; repeat for more.", "--class"
    )
    groups: str | None = _option(
        "COLUMN", "Document, person or other group of a row: a sample of these is refused."
    )
    fail_if_above: float | None = _proportion(
        "FRACTION",
        "End with exit code 6 unless at most this fraction of all predictions is proved to be "
        "wrong. With a recorded sample it may be run again while labels are added.",
    )
    sequential: bool = _option(
        "",
        "All answers hold at every look, so that labels may be added in the order of the draw.",
        "--sequential",
        False,
    )
    confidence_level: float = _proportion(
        "LEVEL", "Probability that an answer holds.", "--confidence", default=0.95
    )


@app.command()
@dataclass(kw_only=True)
class Evaluate(Printing, Reading):
    """Measure a model on labeled rows that it has not seen: accuracy, AUC, errors by class."""

    calls = "predict_commands:evaluate"
    model: Path = _SAVED_MODEL
    files: list[str] = _argument("FILES...", "Rows with the target.")
    target: str | None = _option(
        "COLUMN", "Column of true labels. Default: that of the fit.", "--target -t"
    )
    unlabeled_value: list[str] | None = _UNLABELED_VALUE
    confidence_level: float = _proportion(
        "LEVEL", "Level of the intervals, each by itself.", "--confidence", default=0.95
    )


@app.command("votes")
@dataclass(kw_only=True)
class LabelVotes(Printing, Writing):
    """Label rows from votes of labeling functions, crowds or models, and a few gold labels."""

    calls = "vote_commands:aggregate"
    votes: list[str] = _argument(
        "VOTES...",
        "A column for each voter, or long: one vote in each line, with the columns "
        "task, worker and label.",
    )
    gold: str = _option(
        "GOLD",
        "Table of two columns: the key of a row, and its true label. VOTES has the key in a "
        "column of the same name; without one its rows are numbered from 0. Or the column of "
        "VOTES that has the true labels, or what hedgeclipper sample has drawn from VOTES.",
        default=...,
    )
    to: Path | None = _option(
        "OUT", "Write labels and probabilities: .parquet or .csv.", "--output -o"
    )
    model: Path | None = _option("OUT.skops", "Save the model.", "--model -m")
    report: Path | None = _REPORT
    drop: list[str] | None = _DROP
    keep: list[str] | None = _option(
        "VOTER", "Use a voter that seems to be the gold labels; repeat for more."
    )
    abstain: str = _option(
        "LABEL", "Value that means abstain; so does a missing vote.", default="-1"
    )
    confidence_level: float | None = _CONFIDENCE
    max_error: float | None = _MAX_ERROR
    seed: int = _SEED


@app.command("report")
@dataclass(kw_only=True)
class WriteReport(Printing, Writing, Reading):
    """Write a report on a model and the rows it was fitted to: one page, to open in a browser."""

    calls = "model_commands:report"
    model: Path = _SAVED_MODEL
    data: str = _argument("DATA", "Rows with the target, as for fit.")
    to: Path = _option("PAGE.html", "The page to write.", "--output -o", ...)
    unlabeled: list[str] | None = _UNLABELED
    labels: str | None = _LABELS
    key: str | None = _LABEL_KEY
    unlabeled_value: list[str] | None = _UNLABELED_VALUE


@app.command()
@dataclass(kw_only=True)
class Demo(Command):
    """Show what it does on data that comes with the package. Takes a minute."""

    calls = "demo:show_all"


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; wrong usage is one line too."""
    group: Any = typer.main.get_command(app)
    try:
        command = group(list(arguments), prog_name="hedgeclipper", standalone_mode=False)
    except _UsageError as error:
        output = Output(as_json="--json" in arguments)
        path = getattr(error.ctx, "command_path", "hedgeclipper")
        message = error.format_message().removesuffix(".")
        output.fail(f"{message}. See {path} --help.", ExitCode.USAGE)
        return output.code
    if not isinstance(command, Command):  # help, or the version
        return 0
    with (
        reporting(Output(command.quiet, command.json, command.debug)) as output,
        nullcontext() if command.is_interactive else output.working("reading files"),
    ):
        resolve_name(f"hedgeclipper.cli.{command.calls}")(command, output)
    return output.code
