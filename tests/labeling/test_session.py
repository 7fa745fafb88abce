import json
import os
import shutil
import stat
import sys
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from hedgeclipper.io.atomic import NotWrittenError
from hedgeclipper.labeling import LabelingLoop, SessionError
from hedgeclipper.labeling.marks import NONE
from hedgeclipper.labeling.session import SessionFile, _chained, digest_arrays, read_session
from tests.command_line import forking_context
from tests.labeling.conftest import make_loop, make_rows, run

X, Y = make_rows()


def state(loop):
    """Return all that a loop knows, but the model and rows that are shown."""
    attempts = [
        (a.level, a.limit, a.n_test, a.order.tolist(), a.predicted.tolist(), list(a.uncertainties))
        for a in loop._state.attempts
    ]
    marks = {
        row: loop._state.marks.of(row) for row in range(loop.n_rows) if loop._state.marks.of(row)
    }
    return loop.phase, loop._codes.tolist(), marks, attempts, loop._state.again


@contextmanager
def taking_less_than(n_bytes):
    """Check that what is done in a ``with`` block takes less memory than so many bytes."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < n_bytes
    finally:
        tracemalloc.stop()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.session.jsonl"


def resume(path):
    return LabelingLoop.resume(path, X, GaussianNB())


@pytest.mark.parametrize("until", ["start", "choose", "prove", "review", "finished"])
def test_a_resumed_loop_is_where_it_was(path, until):
    loop = run(make_loop(X, session=path), Y, until=until)
    if until == "choose":
        loop.undo(int(loop._state.start_order[3]))
    loop.tell(5, "yes", annotator="ann", notes=None)
    loop.tell(5, "no", annotator="bob")
    expected, labels = state(loop), loop.result().labels
    loop.close()
    again = resume(path)
    assert state(again) == expected
    if until in ("review", "finished"):
        assert np.array_equal(again.result().labels, labels)
        assert again.result().describe() == loop.result().describe()


def test_interrupted_runs_prove_the_same_rows(path):
    """Resumed after each batch: the test order, its predictions and the result are the same."""
    whole = run(make_loop(X), Y, until="prove")
    loop = run(make_loop(X, session=path), Y, until="prove")
    while (rows := loop.ask(9)).size:
        loop.tell(rows, Y[rows])
        loop.close()
        loop = resume(path)
    first = loop._state.attempts[0]
    assert np.array_equal(first.order, whole._state.attempts[0].order)
    assert np.array_equal(first.predicted, whole._state.attempts[0].predicted)
    assert loop.result().error_upper <= 0.05


def test_read_session_tells_which_labels_were_drawn_to_test(path):
    loop = run(make_loop(X, session=path, target="answer"), Y, until="review")
    test_rows = loop._state.attempts[-1].order[: loop._state.attempts[-1].n_test]
    loop.tell(loop.ask(3), ["yes", "no", None])
    loop.undo(int(test_rows[2]))
    other = {"yes": "no", "no": "yes"}[Y[test_rows[0]]]
    loop.tell(int(test_rows[0]), other, annotator="ann")  # and nobody has settled it
    session = read_session(path)  # also while the loop has it open
    assert np.array_equal(session.rows, np.flatnonzero(loop._codes != NONE))
    is_test = np.isin(session.rows, session.sample.rows)
    assert np.array_equal(session.rows[is_test], np.sort(np.delete(test_rows, 2)))
    assert np.array_equal(session.sample.rows, test_rows)
    assert np.array_equal(session.sample.pool, loop._state.attempts[-1].pool)
    session.sample.check(X)
    is_class = loop._codes[session.rows] >= 0
    expected = loop.result().labels[session.rows[is_class]]
    assert np.array_equal(session.labels[is_class], expected)
    assert not any(session.labels[~is_class])
    assert np.sum(~is_class) == 2
    assert set(session.reasons[is_test]) == {"test"}
    assert session.target == "answer"
    assert session.n_rows == len(X)
    loop.close()


@pytest.mark.parametrize("version", [None, 1, 2, 99])
def test_sessions_of_other_versions_are_refused_and_stay_as_they_are(path, version):
    make_loop(X, session=path).close()
    rewritten(path, lambda events: [{**events[0], "version": version}])
    content = path.read_bytes()
    for read in (read_session, resume):
        with pytest.raises(SessionError, match=f"version {version}, .*begin a new session"):
            read(path)
    assert path.read_bytes() == content


def test_a_session_that_is_none(path):
    for read in (read_session, SessionFile.open):
        with pytest.raises(FileNotFoundError, match=r"no session|No such file"):
            read(path)


def test_every_torn_end_is_a_whole_session_before(path, tmp_path):
    loop = run(make_loop(X, session=path), Y, until="prove")
    loop.tell(loop.ask(2), ["yes", "no"], notes=["ünsicher", ""])
    loop.close()
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    ends = np.cumsum([len(line) for line in lines])
    torn = tmp_path / "torn.jsonl"
    (arrays,) = tmp_path.glob("*.npz")
    within = content.index("ü".encode()) + 1
    for size in sorted({within, *range(ends[-4], ends[-1], 12), *ends[-4:], *(ends[-4:] - 1)}):
        torn.write_bytes(content[:size])
        shutil.copy(arrays, tmp_path / arrays.name.replace(path.name, torn.name))
        again = resume(torn)
        n_whole = int(np.sum(ends <= size))
        assert (again.note != "") == (size not in ends)
        n_labels = sum(b'"event":"label"' in line for line in lines[:n_whole])
        assert again.status().n_labeled == n_labels
        again.tell(int(again.ask(1)[0]), "yes")
        again.close()
        resume(torn).close()


def test_changed_lines_are_refused(path):
    loop = run(make_loop(X, session=path), Y, until="choose")
    loop.close()
    lines = path.read_text().splitlines(keepends=True)
    swapped = lines[3].replace('"yes"', '"?"').replace('"no"', '"yes"').replace('"?"', '"no"')
    for changed in (
        [*lines[:3], swapped, *lines[4:]],
        [*lines[:3], *lines[4:]],
        [*lines[:3], lines[4], lines[3], *lines[5:]],
        [*lines[:3], "\x00\n", *lines[4:]],
        [*lines[:3], "[]\n", *lines[4:]],
        [line.replace("\n", "\r\n") for line in lines],
        lines[1:],
        [],
    ):
        path.write_bytes("".join(changed).encode())
        with pytest.raises(SessionError):
            resume(path)


def rewritten(path, change):
    """Write a session anew with events changed and right checks."""
    events = [json.loads(line) for line in path.read_text().splitlines()]
    for event in events:
        del event["check"]
    events, check, lines = change(events), "", []
    for event in events:
        body = json.dumps(event, ensure_ascii=False, separators=(",", ":"))[:-1]
        check = _chained(check, body)
        lines.append(f'{body},"check":"{check}"}}\n')
    path.write_bytes("".join(lines).encode())


def set_in(kind, **values):
    def change(events):
        next(e for e in events if e["event"] == kind).update(values)
        return events

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_in("session", version=1),
        set_in("session", rows=799),
        set_in("session", digest="0" * 16),
        set_in("session", classes=["no"]),
        set_in("session", confidence_level=0.5),  # the levels of attempts are others then
        set_in("session", confidence_level="x"),
        set_in("session", levels=[0.05, 0.05]),
        set_in("session", seed=7),
        set_in("session", known=[[900], ["no"]]),
        set_in("label", row=800),
        set_in("label", row=-1),
        set_in("label", row="0"),
        set_in("label", label="maybe"),
        set_in("label", reason="because"),
        set_in("label", annotator=None, reason=None),
        set_in("label", uncertainty=float("nan")),
        set_in("label", uncertainty="high"),
        set_in("session", seed=float("inf")),
        set_in("undo", row=799),
        set_in("attempt", level=0.05),
        set_in("attempt", seed=3),
        set_in("attempt", digest="0" * 16),
        set_in("attempt", attempt=2),
        set_in("attempt", tests=0),
        set_in("attempt", tests=1.5),
        set_in("attempt", tests=10_000),
        lambda events: [*events, {"event": "magic"}],
        lambda events: [*events, {}],
        # a label less before the draw: other rows would have been drawn
        lambda events: events[:1] + events[2:],
    ],
)
def test_forged_sessions_are_refused(path, change):
    loop = run(make_loop(X, session=path), Y, until="choose")
    row = int(loop.ask(1)[0])
    loop.tell(row, Y[row])
    loop.undo(row)
    run(loop, Y, until="review").close()
    rewritten(path, change)
    with pytest.raises(SessionError):
        resume(path)


@pytest.fixture
def arrays(path):
    """The file of the predictions of an attempt, and what is in it."""
    run(make_loop(X, session=path), Y, until="prove").close()
    (arrays,) = path.parent.glob("*.npz")
    with np.load(arrays) as file:
        return arrays, dict(file)


def test_predictions_that_were_changed_or_lost_are_refused(path, arrays):
    arrays, found = arrays
    damaged = bytearray(arrays.read_bytes())
    damaged[60:90] = b"\xff" * 30  # what is compressed there cannot be unpacked
    np.savez(arrays, **{**found, "predicted": 1 - found["predicted"]})
    with pytest.raises(SessionError, match="holds other predictions"):
        resume(path)
    for content in (b"PK", damaged):
        arrays.write_bytes(content)
        with pytest.raises(SessionError, match="cannot be read"):
            resume(path)
    arrays.unlink()
    with pytest.raises(SessionError, match="missing"):
        resume(path)


@pytest.mark.parametrize(("name", "kind"), [("predicted", float), ("uncertainties", complex)])
def test_forged_predictions_of_another_kind_are_refused(path, arrays, name, kind):
    arrays, found = arrays
    found[name] = found[name].astype(kind)
    np.savez(arrays, **found)
    rewritten(path, set_in("attempt", digest=digest_arrays(found)))
    with pytest.raises(SessionError, match="a prediction for each row"):
        resume(path)


def test_a_session_of_more_rows_than_memory_holds_is_refused(path):
    make_loop(X, session=path).close()
    rewritten(path, set_in("session", rows=10**15))
    session = read_session(path)
    assert session.n_rows == 10**15
    with pytest.raises(SessionError, match="cannot be followed"):
        session.rows


def test_forged_predictions_of_many_rows_are_refused_before_they_take_memory(path):
    run(make_loop(X, session=path), Y, until="prove").close()
    (arrays,) = path.parent.glob("*.npz")
    many = np.zeros(3 * 10**7, np.int8)
    np.savez_compressed(arrays, order=many, predicted=many, uncertainties=many)
    with taking_less_than(10**7), pytest.raises(SessionError, match="more than 800 rows"):
        resume(path)


def test_other_rows_are_refused(path):
    make_loop(X, session=path).close()
    with pytest.raises(SessionError, match="not those that the session"):
        LabelingLoop.resume(path, X[::-1], GaussianNB())


def test_columns_that_were_dropped_are_named(path):
    frame = pd.DataFrame(X, columns=list("abc")[: X.shape[1]])
    make_loop(frame, session=path).close()
    with pytest.raises(SessionError, match="Only one of them has the columns 'a'"):
        LabelingLoop.resume(path, frame.drop(columns="a"), GaussianNB())


def refused(path):
    with pytest.raises(SessionError, match="is in use by another process"):
        SessionFile.open(path)


def test_a_session_is_open_once(path):
    loop = make_loop(X, session=path)
    with pytest.raises(SessionError, match="in use"):
        resume(path)
    with pytest.raises(SessionError, match="in use"):
        make_loop(X, session=path)
    other = forking_context().Process(target=refused, args=(path,))
    other.start()
    other.join()
    assert other.exitcode == 0
    loop.close()
    with pytest.raises(FileExistsError, match="resume"):
        make_loop(X, session=path)
    resume(path).close()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_files_are_readable_by_their_owner_alone(path):
    run(make_loop(X, session=path), Y, until="prove").close()
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_full_disk_loses_nothing_and_takes_nothing(path, monkeypatch):
    loop = run(make_loop(X, session=path), Y, until="choose")
    before, content = state(loop), path.read_bytes()
    write = os.write

    def half(handle, data):
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return write(handle, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(NotWrittenError, match="No space left"):
        loop.tell([1, 2], ["yes", "no"])
    monkeypatch.undo()
    assert path.read_bytes() == content
    assert state(loop) == before
    loop.tell([1, 2], ["yes", "no"])
    loop.close()
    assert resume(path).status().n_labeled == 32


def test_a_file_without_a_byte_begins_anew(path, monkeypatch):
    """It is what a disk that is full at the first line leaves."""

    def full(handle, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(NotWrittenError, match="No space left"):
        make_loop(X, session=path)
    monkeypatch.undo()
    assert path.read_bytes() == b""
    make_loop(X, session=path).close()
    assert resume(path).status().n_labeled == 0


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be moved there")
@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.unlink(),
        lambda path: path.rename(path.with_name("moved")),
        lambda path: path.write_bytes(path.read_bytes()[:-20]),
        lambda path: os.replace(shutil.copy(path, path.with_name("other")), path),
    ],
)
def test_no_label_is_taken_once_others_have_moved_or_changed_the_file(path, change):
    loop = run(make_loop(X, session=path), Y, until="choose")
    before = state(loop)
    change(path)
    with pytest.raises(NotWrittenError, match="by another program"):
        loop.tell(loop.ask(1), ["yes"])
    assert state(loop) == before


def test_a_label_is_on_disk_when_tell_returns(path):
    loop = make_loop(X, session=path)
    loop.tell(3, "yes", notes=["clear"])
    event = json.loads(path.read_text().splitlines()[-1])
    assert {**event, "check": ""} == {
        "event": "label",
        "row": 3,
        "label": "yes",
        "reason": "chosen",
        "annotator": "",
        "note": "clear",
        "check": "",
    }
