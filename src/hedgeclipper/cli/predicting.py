"""``hedgeclipper predict``: from a model and files to predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.csv
import pyarrow.parquet

from hedgeclipper.cli.errors import CommandError, ExitCode, check_outputs
from hedgeclipper.cli.fitting import check_kind, load_table_model, preparation_of
from hedgeclipper.cli.output import Output
from hedgeclipper.cli.table_files import Files
from hedgeclipper.io.atomic import atomic_path

PARQUET, CSV = (".parquet", ".pq"), (".csv",)


def predict(model_path: Path, where: Sequence[str], to: Path, force: bool, output: Output) -> None:
    """Write a model's predictions for the rows of files.

    Parameters
    ----------
    model_path : Path
        The model.
    where : sequence of str
        Files, folders or patterns; rows are written in their order.
    to : Path
        The file to write, Parquet or CSV.
    force : bool
        Whether to replace one that exists.
    output : Output
        Where to say what is done.
    """
    check_table_suffix(to)
    files = Files.find(where)
    check_outputs(to, inputs=[model_path, *files.paths], force=force)
    model = load_table_model(model_path)
    preparation = preparation_of(model)
    check_kind(files, preparation, model_path)
    estimator = model.named_steps["model"].set_params(verbose=output.verbose)
    rows: Any = files.paths
    lost: Counter[str] = Counter()
    if preparation is not None:
        known = [plan.name for plan in preparation.plans_ if plan.kind != "left out"]
        files.require(known, "the model")
        _note_more_columns(files, [*known, preparation.target], preparation, output)
        if not (preparation.is_plain_ and files.hold_numbers(known)):
            rows = _prepared(files, preparation, lost)
    with table_at(to, force=force) as draft:
        with _infinity_named():
            n_rows = estimator.predict_to(draft, rows)
        if n_rows == 0:
            raise _no_rows(files)
        shares = _shares(draft)
    for name, count in lost.items():
        if count:
            output.note(f"{count:,} values of {name!r} are no dates, and are taken as missing.")
    output.result |= {"command": "predict", "n_rows": n_rows}
    output.wrote("predictions", to)
    output.result["classes"] = {str(label): count for label, count in shares}
    output.table(
        ("Prediction", "Rows", "Share"),
        [(label, f"{count:,}", f"{count / n_rows:.1%}") for label, count in shares],
    )
    output.facts([("Predictions", f"{to}, {n_rows:,} rows")])


def _prepared(files: Files, preparation: Any, lost: Counter[str]) -> Iterator[Any]:
    """Yield the rows of each file as numbers, of which there must be some, and count lost dates."""
    n_rows = 0
    for frame in files.frames():
        if len(frame):
            lost.update(preparation.n_lost_dates(frame))
            yield preparation.transform(frame)
        n_rows += len(frame)
    if n_rows == 0:
        raise _no_rows(files)


def _no_rows(files: Files) -> CommandError:
    return CommandError(f"{files.place} has no rows.", "Pass a file with rows.")


@contextmanager
def _infinity_named() -> Iterator[None]:
    """Say what to do about infinite numbers, which estimators only refuse."""
    try:
        yield
    except ValueError as error:
        if "infinity" not in str(error):
            raise
        raise CommandError(
            "Some row has an infinite number, or one too large.",
            "Rescale its column, or leave the place empty.",
        ) from error


def _note_more_columns(files: Files, known: list, preparation: Any, output: Output) -> None:
    left_out = preparation.names_of("left out")
    more = [name for name in files.names if name not in known and name not in left_out]
    if more:
        output.note(f"Columns that the model does not know are not used: {', '.join(more[:10])}.")


def _shares(path: Path) -> list[tuple[Any, int]]:
    """Return how often each class was predicted, the most frequent first."""
    column = pyarrow.parquet.read_table(path, columns=["prediction"]).column(0)
    counts = [(entry["values"], entry["counts"]) for entry in column.value_counts().to_pylist()]
    return sorted(counts, key=lambda pair: -pair[1])


def check_table_suffix(path: Path) -> None:
    """Raise unless a table can be written to a file of this name."""
    if path.suffix.lower() not in PARQUET + CSV:
        raise CommandError(
            f"{path} has a suffix that no table can be written to.",
            f"End it in {' or '.join((PARQUET[0], *CSV))}.",
            ExitCode.USAGE,
        )


@contextmanager
def table_at(path: Path, *, force: bool) -> Iterator[Path]:
    """Give the path of a Parquet file to write; it becomes the file, as CSV if that is its name.

    Parameters
    ----------
    path : Path
        The file to write in the end.
    force : bool
        Whether to replace one that exists.
    """
    with atomic_path(path, force=force) as draft:
        if path.suffix.lower() in PARQUET:
            yield draft
            return
        with TemporaryDirectory(dir=draft.parent, prefix=f".{path.name}.") as folder:
            table = Path(folder, "table.parquet")
            yield table
            _write_csv(table, draft)


def _write_csv(table: Path, path: Path) -> None:
    with (
        pyarrow.parquet.ParquetFile(table) as file,
        pyarrow.csv.CSVWriter(path, file.schema_arrow) as writer,
    ):
        for batch in file.iter_batches():
            writer.write_batch(batch)
