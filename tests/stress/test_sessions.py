"""The labeling loop: annotators who contradict themselves, clocks that jump, forged sessions."""

import contextlib
import json
import shutil
import time
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import draw_sample
from hedgeclipper.labeling import LabelingLoop, SessionError, frontend
from hedgeclipper.labeling.frontend import RowTakenError
from hedgeclipper.labeling.session import VERSION, digest_arrays, read_session
from tests.labeling.conftest import make_loop, make_rows, run
from tests.labeling.test_session import rewritten, state
from tests.stress.mutations import mutated
from tests.stress.tally import Tally, tries

X, Y = make_rows(300)
NAMES = ("ann", "bob", "eve")


def contradicting(loop, rng, most=3000):
    """Answer as people do who err, skip, differ, change their mind and take labels back."""
    for _ in range(most):
        rows = loop.ask(int(rng.integers(1, 12)))
        if not rows.size:
            return True
        for row in rows.tolist():
            for name in rng.choice(NAMES, rng.integers(1, 3)):
                label = rng.choice([Y[row], "yes", "no", None], p=[0.8, 0.08, 0.08, 0.04])
                loop.tell(row, label, annotator=str(name))
            if rng.random() < 0.03:
                loop.undo(row)
    return False


def test_annotators_who_contradict_themselves_end_with_a_consistent_file(tmp_path):
    rng = np.random.default_rng(0)
    with Tally("annotators who contradict themselves") as tally:
        for number in range(tries(1, 40)):
            path = tmp_path / f"{number}.session.jsonl"
            with tally.attempt(f"loop {number}"):
                loop = make_loop(X, session=path, max_error=0.1, random_state=number)
                is_done = contradicting(loop, rng)
                result, expected = loop.result(), state(loop)
                assert is_done, loop.phase
                assert len(result.labels) == len(Y)
                assert set(result.labels.tolist()) <= {"yes", "no", None}
                loop.close()
                again = LabelingLoop.resume(path, X, GaussianNB())
                assert state(again) == expected
                assert np.array_equal(again.result().labels, result.labels)
                again.close()


def answer_from_tabs(page, rng, jump, n_steps=120):
    """Label from three tabs, some of which leave rows open; return what was confirmed."""
    confirmed = {}
    for _ in range(n_steps):
        jump[0] = float(rng.choice([0.0, 1e6, -1e6, 3600.0, -10.0]))
        tab = str(rng.integers(3))
        row = page.next_row(tab)
        if row is None or rng.random() < 0.3:
            continue
        with contextlib.suppress(RowTakenError):
            page.label(tab, row, str(Y[row]))
            assert row not in confirmed, "a row that had a label already"
            confirmed[row] = str(Y[row])
    return confirmed


def test_a_clock_that_jumps_gives_each_row_to_one_tab(monkeypatch):
    """Rows that a tab does not answer go to another one after a while, by a clock that errs."""
    rng, jump = np.random.default_rng(0), [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + jump[0])
    monkeypatch.setattr(frontend, "time", clock)
    with Tally("a clock that jumps") as tally:
        for number in range(tries(1, 30)):
            loop = make_loop(X, random_state=number)
            page = frontend.Frontend(loop, X)
            with tally.attempt(f"loop {number}"):
                confirmed = answer_from_tabs(page, rng, jump)
                assert len(confirmed) > 20
                labels = loop.result().labels
                assert all(labels[row] == label for row, label in confirmed.items())
            page.close()


SETTINGS = [None, "", "x", -1, 0, 1, 10**9, 2.5, 1e308, [], {}, [[0], ["yes"]], True, "0" * 16]


def forged(events, rng):
    """Return events of which some field, line or order is another one."""
    events = deepcopy(events)
    kind = rng.integers(4)
    if kind == 0:
        event = events[rng.integers(len(events))]
        event[str(rng.choice(list(event)))] = SETTINGS[rng.integers(len(SETTINGS))]
    elif kind == 1:
        del events[rng.integers(len(events))]
    elif kind == 2:
        events.insert(int(rng.integers(len(events))), events[rng.integers(len(events))])
    else:
        labels = [event for event in events if event["event"] == "label"]
        event = labels[rng.integers(len(labels))]
        event["row"] = int(rng.choice([-1, 300, 10**12, rng.integers(300)]))
    return events or [{}]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder of a session up to its review, with the arrays of its attempt."""
    folder = tmp_path_factory.mktemp("session")
    loop = make_loop(X, session=folder / "rows.session.jsonl", max_error=0.1)
    run(loop, Y, until="review").close()
    return folder


@pytest.fixture
def whole(written, tmp_path):
    """Return the path, the bytes and the events of a copy: who goes on with one writes arrays."""
    folder = shutil.copytree(written, tmp_path / "session")
    path = folder / "rows.session.jsonl"
    events = [json.loads(line) for line in path.read_text().splitlines()]
    return path, path.read_bytes(), [{k: v for k, v in e.items() if k != "check"} for e in events]


def test_forged_sessions_are_refused_or_go_on_without_their_proof(whole):
    """Whoever writes a whole file anew can make its checks; what they claim is computed again.

    What is accepted replays to labels that are in it, and its test rows are those of the draw.
    """
    path, content, events = whole
    rng = np.random.default_rng(0)
    with Tally("forged sessions, with valid checks") as tally:
        for number in range(tries(25, 1500)):
            other = forged(events, rng)
            path.write_bytes(content)
            rewritten(path, lambda _, other=other: other)
            with tally.attempt(f"session {number}"):
                _follow(path, other)


def _follow(path, events):
    """Read and resume a session; it is refused, or all of it can be used."""
    try:
        session = read_session(path)
        assert np.isin(session.rows, np.arange(len(Y))).all()
        assert set(session.labels.tolist()) <= {"yes", "no", None}
    except SessionError:
        pass
    try:
        loop = LabelingLoop.resume(path, X, GaussianNB())
    except SessionError:
        return
    try:
        begun = [n for n, event in enumerate(events) if event["event"] == "attempt"]
        for n, attempt in zip(begun, loop._state.attempts, strict=True):
            with np.load(next(path.parent.glob("*.npz"))) as file:
                assert_as_recorded(attempt, dict(file), events[n], events[:n])
        rows = loop.ask(5)
        loop.tell(rows, Y[rows])
        assert loop.result().describe()
    finally:
        loop.close()


def assert_as_recorded(attempt, arrays, event, before):
    """The predictions have the digest of the line, and the test rows are those of its seed."""
    assert digest_arrays(arrays) == event["digest"]
    assert all(np.array_equal(getattr(attempt, name), arrays[name]) for name in arrays)
    labeled = [*before[0]["known"][0], *(e["row"] for e in before if e["event"] == "label")]
    pool = np.setdiff1d(np.arange(len(Y)), labeled)
    drawn = draw_sample(len(Y), pool.size, seed=event["seed"], excluded=np.unique(labeled))
    assert np.array_equal(attempt.order, drawn.rows)
    assert attempt.n_test == event["tests"] <= pool.size


def test_damaged_sessions_are_refused_or_lose_their_last_line(whole):
    path, content, events = whole
    rng = np.random.default_rng(0)
    with Tally("damaged sessions") as tally:
        for number in range(tries(25, 1500)):
            changed = mutated(content, rng)
            path.write_bytes(changed)
            with tally.attempt(f"session {number}"):
                try:
                    session = read_session(path)
                except SessionError:
                    continue
                # the checks of all lines but a torn one at the end are right
                assert content.startswith(changed[: changed.rfind(b"\n") + 1])
                assert session.rows.size <= len(events)


def forged_arrays(path, rng):
    """Write a whole file of arrays anew, of which one differs in one number."""
    with np.load(path) as file:
        arrays = dict(file)
    name = str(rng.choice(list(arrays)))
    array, n = arrays[name], int(rng.integers(arrays[name].size))
    array[n] = rng.choice([1 - array[n], -1, 10**6]) if name == "predicted" else array[n - 1]
    np.savez_compressed(path, **arrays)


def test_damaged_and_forged_predictions_of_an_attempt_are_refused(whole):
    """The digest in the session covers all values: those that are read are those written."""
    path, _, _ = whole
    (arrays,) = path.parent.glob("*.npz")
    as_written, rng = arrays.read_bytes(), np.random.default_rng(0)
    loop = LabelingLoop.resume(path, X, GaussianNB())
    expected = state(loop)
    loop.close()
    with Tally("damaged and forged predictions of sessions") as tally:
        for number in range(tries(16, 500)):
            arrays.write_bytes(as_written if number % 2 else mutated(as_written, rng))
            if number % 2:
                forged_arrays(arrays, rng)
            with tally.attempt(f"predictions {number}"):
                try:
                    loop = LabelingLoop.resume(path, X, GaussianNB())
                except SessionError:
                    continue
                loop.close()
                assert not number % 2
                assert state(loop) == expected


def test_sessions_of_other_versions_are_refused_and_stay_as_they_are(whole):
    """Whatever else they hold: lines that older versions did not write, or wrote otherwise."""
    path, content, events = whole
    rng = np.random.default_rng(0)
    with Tally("sessions of other versions") as tally:
        for number in range(tries(10, 300)):
            other = forged(events, rng)
            other[0] = {**other[0], "event": "session", "version": int(rng.integers(VERSION))}
            for name in list(other[0]):
                if name not in ("event", "version") and rng.random() < 0.3:
                    del other[0][name]
            path.write_bytes(content)
            rewritten(path, lambda _, other=other: other)
            as_written = path.read_bytes()
            with tally.attempt(f"session {number}"):
                for read in (read_session, lambda path: LabelingLoop.resume(path, X)):
                    with pytest.raises(SessionError, match="is not a session of this version"):
                        read(path)
                assert path.read_bytes() == as_written
