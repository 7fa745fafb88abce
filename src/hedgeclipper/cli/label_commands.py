"""``hedgeclipper label``: label rows in the browser or the terminal, until the file is finished."""

from __future__ import annotations

import gc
from contextlib import suppress

from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.cli.app import LabelRows
from hedgeclipper.cli.finished_file import FinishedFile
from hedgeclipper.cli.output import Output, UsageError
from hedgeclipper.cli.rows_to_label import RowsToLabel
from hedgeclipper.io.messages import import_extra
from hedgeclipper.labeling import LabelingLoop
from hedgeclipper.labeling.frontend import Frontend


def label_rows(options: LabelRows, output: Output) -> None:
    """Label rows of a table until the file is finished, or the user stops."""
    if not options.terminal:
        for name in ("starlette", "uvicorn"):
            import_extra(name, "label", "hedgeclipper label")
    table = RowsToLabel.read(options, output)
    loop = open_loop(table, options, output)
    frontend = Frontend(loop, table.X, options.annotator)
    title = f"{table.target} of {options.data}"
    finished = FinishedFile(table, frontend, _model(options), title, options.force, output)
    try:
        if not frontend.is_over():
            finished.check_files()
            with suppress(KeyboardInterrupt, EOFError):  # the usual way to stop
                _label(frontend, table, finished, options, output)
        if frontend.is_over():
            finished.write()
            for words in finished.wait():
                output.say(words)
        else:
            output.facts([("Labels", loop.status().describe()), ("Session", table.session)])
            output.say("Run the same command again to go on.")
    finally:
        frontend.close()
        loop.close()


def _label(
    frontend: Frontend,
    table: RowsToLabel,
    finished: FinishedFile,
    options: LabelRows,
    output: Output,
) -> None:
    """Have rows labeled in the terminal, or on the page, until the user stops."""
    # imported here, since each needs what the other one does not
    if options.terminal:
        from rich.console import Console

        from hedgeclipper.labeling.terminal import Keys, TerminalLabeling

        with Keys() as keys:
            TerminalLabeling(frontend, table.view, table.classes, keys, Console()).run()
    else:
        from hedgeclipper.labeling.server import LabelPage, serve

        gc.freeze()  # else Python looks through all that is imported, while a label waits
        page = LabelPage(frontend, table.view, table.target, table.classes, finished.write)
        serve(page, options.port, output.say, open_browser=not options.no_browser)


def open_loop(table: RowsToLabel, options: LabelRows, output: Output) -> LabelingLoop:
    """Return the loop of a session, which goes on if its file is there."""
    model = _model(options) if options.keep else None
    if table.session.exists() and table.session.stat().st_size:
        loop = LabelingLoop.resume(table.session, table.X, model)
        _check_same_session(loop, table, options, output)
        if loop.note:
            output.note(loop.note)
        output.note(f"Going on with {table.session}: {loop.status().n_labeled:,} labels so far.")
        return loop
    return LabelingLoop(
        table.X,
        classes=table.classes,
        max_error=options.max_error,
        confidence_level=options.confidence_level,
        model=model,
        y=table.y,
        random_state=options.seed,
        session=table.session,
        target=table.target,
    )


def _model(options: LabelRows) -> HedgeClipperClassifier:
    return HedgeClipperClassifier(keep=options.keep, random_state=options.seed)


def _check_same_session(
    loop: LabelingLoop, table: RowsToLabel, options: LabelRows, output: Output
) -> None:
    """Raise unless a session labels what the options ask for; note what stays as it began."""
    for name, ours, theirs in (
        ("--target", [table.target], [loop.target]),
        ("--classes", table.classes, [str(label) for label in loop.classes]),
    ):
        if set(ours) != set(theirs):
            loop.close()
            raise UsageError(
                f"{table.session} was begun with {name} {','.join(theirs)}. Got {','.join(ours)}. "
                "Pass the same, or name a new session with --session."
            )
    for name, own, begun in (
        ("--max-error", options.max_error, loop.max_error),
        ("--confidence", options.confidence_level, loop.confidence_level),
    ):
        if own != begun:
            output.note(f"{name} stays {begun:g}, as the session began: it is part of its proof.")
