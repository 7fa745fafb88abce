"""Fits beside the labels: they never hold a row back, and may fail."""

import os
import signal
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from hedgeclipper.labeling import LabelingLoop
from hedgeclipper.labeling.fitting import FitWorker
from hedgeclipper.labeling.frontend import HIDDEN, SILENT, Frontend, RowTakenError
from hedgeclipper.labeling.rows_view import as_shown, class_keys
from tests.command_line import forking_context

X = np.random.default_rng(0).normal(size=(120, 2))
Y = (X[:, 0] > 0).astype(int)


class Slow(LogisticRegression):
    def fit(self, X, y):
        time.sleep(600)


class Failing(LogisticRegression):
    def fit(self, X, y):
        time.sleep(0.5)
        raise RuntimeError("no luck")


class FailingOnce(GaussianNB):
    """Fails at its first fit, with an error or with the end of its process."""

    def __init__(self, path, is_killed):
        super().__init__()
        self.path, self.is_killed = path, is_killed

    def fit(self, X, y):
        if not os.path.exists(self.path):
            with open(self.path, "w"):
                os.abort() if self.is_killed else None
                raise RuntimeError("no luck")
        return super().fit(X, y)


@pytest.fixture
def frontend_of(monkeypatch):
    made, context = [], forking_context()
    monkeypatch.setattr("hedgeclipper.labeling.fitting.get_context", lambda _: context)

    def make(model, **options):
        loop = LabelingLoop(X, classes=[0, 1], model=model, **options)
        made.append(Frontend(loop, X))
        return made[-1]

    yield make
    for one in made:
        one.close()


def label(frontend, n_labels):
    for _ in range(n_labels):
        row = frontend.next_row("a")
        frontend.label("a", row, int(Y[row]))


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_rows_come_while_a_fit_runs(frontend_of):
    frontend = frontend_of(Slow())
    label(frontend, 30)
    assert frontend.is_fitting
    label(frontend, 30)
    assert frontend.is_fitting
    assert frontend.status().n_labeled == 60
    start = time.monotonic()
    frontend.close()  # in the middle of the fit
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("is_killed", "reason"), [(False, "RuntimeError: no luck"), (True, "ended with code")]
)
def test_a_fit_that_fails_is_told_and_tried_again_with_the_next_label(
    frontend_of, tmp_path, is_killed, reason
):
    frontend = frontend_of(FailingOnce(str(tmp_path / "begun"), is_killed))
    label(frontend, 30)
    wait_until(lambda: not frontend.is_fitting)
    assert reason in frontend.problem
    assert not frontend.is_over()
    label(frontend, 1)
    wait_until(lambda: not frontend.problem)


def test_a_file_without_a_row_left_is_over_though_the_last_fit_fails(frontend_of):
    frontend = frontend_of(Failing())
    label(frontend, len(X))
    assert frontend.next_row("a") is None
    assert frontend.is_over()  # without a wait for the fit
    wait_until(lambda: not frontend.is_fitting)
    assert "no luck" in frontend.problem
    assert frontend.is_over()


def test_a_label_is_confirmed_though_the_attempt_after_it_cannot_be_written(frontend_of, tmp_path):
    frontend = frontend_of(LogisticRegression(), session=tmp_path / "rows", max_error=0.1)
    in_the_way = tmp_path / "rows.attempt1.npz"
    in_the_way.mkdir()
    n_labels = 0
    while (row := frontend.next_row("a")) is not None:
        frontend.label("a", row, int(Y[row]))
        n_labels += 1
        wait_until(lambda: not frontend.is_fitting)
    assert in_the_way.name in frontend.problem
    assert 30 <= frontend.status().n_labeled == n_labels < len(X)
    assert not frontend.is_over()
    another = Frontend(frontend.loop, X)  # as at the next start
    another.close()
    assert in_the_way.name in another.problem
    assert not another.is_over()
    in_the_way.rmdir()
    assert frontend.next_row("a") is not None
    assert frontend.problem == ""


@pytest.mark.skipif(os.name != "posix", reason="signals of other processes")
def test_ctrl_c_does_not_reach_fits_even_while_their_process_starts():
    worker = FitWorker(X)
    for _ in range(20):
        os.kill(worker._process.pid, signal.SIGINT)
        time.sleep(0.05)
    assert worker._process.is_alive()
    worker.close()


def test_a_row_of_a_tab_that_is_gone_goes_to_the_next(frontend_of, monkeypatch):
    frontend = frontend_of(LogisticRegression())
    row = frontend.next_row("gone")
    assert frontend.next_row("b") != row
    now = time.monotonic() + SILENT + 1
    monkeypatch.setattr("hedgeclipper.labeling.frontend.time.monotonic", lambda: now)
    assert frontend.next_row("c") == row


def test_a_row_that_went_to_two_tabs_is_labeled_once(frontend_of, monkeypatch):
    """The second one has left it to take back a label before the first one labels it."""
    frontend, clock = frontend_of(LogisticRegression()), [time.monotonic()]
    monkeypatch.setattr("hedgeclipper.labeling.frontend.time.monotonic", lambda: clock[0])
    row = frontend.next_row("a")
    frontend.label("b", frontend.next_row("b"), 0)
    clock[0] += SILENT + 1
    assert frontend.next_row("b") == row
    assert frontend.undo("b")
    frontend.label("a", row, 0)
    frontend.label("b", frontend.next_row("b"), 0)
    assert frontend.next_row("b") != row


def test_the_last_rows_go_to_who_asks(frontend_of):
    frontend = frontend_of(LogisticRegression())
    label(frontend, 29)
    row = frontend.next_row("a")
    assert frontend.next_row("b") == row
    frontend.label("b", row, 0)
    with pytest.raises(RowTakenError, match=f"Row {row + 1} was labeled in another tab"):
        frontend.label("a", row, 1)
    assert frontend.status().n_labeled == 30


def test_a_file_that_nobody_has_asked_a_row_of_is_not_over(frontend_of):
    frontend = frontend_of(LogisticRegression())
    assert not frontend.is_over()
    frontend.next_row("a")
    assert not frontend.is_over()


def test_who_settles_a_test_label_does_not_see_the_prediction(frontend_of):
    frontend = frontend_of(LogisticRegression())
    row = frontend.next_row("a")
    for name, value in (("ann", 0), ("bob", 1)):
        frontend.loop.tell(row, value, annotator=name)
    assert frontend.loop._why(row) == "settle"
    assert frontend.opinion(frontend.loop.ask(1)[0]) == HIDDEN


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234567.0, "1234567"),
        (0.1 + 0.2, "0.3"),
        (1e-9, "1e-09"),
        (None, None),
        (np.int64(2020), "2020"),
        (True, "yes"),
        (-0.5, "-0.5"),
        (0.0, "0"),
        ("", ""),
        (pd.NA, None),
    ],
)
def test_values_are_shown_as_people_write_them(value, shown):
    assert as_shown(value) == shown


def test_keys_of_classes_are_different_and_free():
    names = ["sure", "Yes", "no", "quite", "yellow", "red", "66", *"abcdefgh"]
    keys = [key for own in class_keys(names) for key in own]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & set("snouq?")
    assert class_keys(names)[5] == ["6", "r"]
    assert all(class_keys(names))  # the terminal has no other way to give a class
    assert class_keys(["1", "0", "-1"]) == [["1"], ["0"], ["a"]]  # a digit is never another class
