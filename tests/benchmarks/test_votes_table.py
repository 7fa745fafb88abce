"""The table of votes: its plan, what it measures, its results files, its page."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.figures import OURS, summary_table
from benchmarks.results_file import Key, read_results, write_results
from benchmarks.votes import run_votes
from benchmarks.votes.data import SETS, VoteDraw, why_absent
from benchmarks.votes.methods import METHODS, VoteMethod, VoteResult
from benchmarks.votes.page import VoteFigures
from benchmarks.votes.peers.peer import Outcome
from benchmarks.votes.run_votes import VOTES

REASON = next(filter(None, map(why_absent, SETS)), "")
needs_data = pytest.mark.skipif(bool(REASON), reason=REASON)
ROW = ("bf_cardio", 100)


def made_up(rows=(ROW,), draws=3, **changes):
    """Results in which every method has accuracy 0.8 on every draw, except for the changes."""
    one = VoteResult("", 0, 0, "", 0.8, 0.5, 90, 80, 1.0, 0.5, 9.0, "", "2020-01-01", "python 3")
    return [
        replace(
            one, data=key.data, n_labels=key.n_labels, draw=key.draw, method=key.method,
            **{name: float(v[key.method][key.draw]) for name, v in changes.items()
               if key.method in v},
        )
        for key in run_votes.all_keys(rows, draws)
    ]  # fmt: skip


def draw_of_four(y_scored=(0, 1, 1, -1)):
    """Four rows to predict, the third without a vote, and two labels, one of each class."""
    L = np.array([[0, 0], [1, 0], [-1, -1], [0, 1]])
    return VoteDraw(L[:2], np.array([0, 1]), L, np.array(y_scored), 2, 0)


def outcome(probabilities):
    probabilities = np.asarray(probabilities, dtype=float)
    return Outcome(probabilities, probabilities.argmax(axis=1), 1.0, 2.0)


def test_what_takes_no_labels_is_run_once_on_a_set():
    keys = list(run_votes.all_keys([ROW, ("bf_cardio", 20)], 2))
    for name, n_runs in (("mace", 1), ("glad", 4)):
        assert len({run_votes.together(key) for key in keys if key.method == name}) == n_runs


def test_the_same_draw_goes_to_every_method(monkeypatch):
    handed = {}

    def make_draw(name, n_labels, seed):
        return replace(draw_of_four(), seed=seed, y_labeled=np.array([n_labels % 2, seed % 2]))

    def run(method, votes, setting, timeout=None):
        handed[method.name] = votes, setting
        return Outcome.none(setting.gold.size, setting.n_classes, "made up")

    monkeypatch.setattr(run_votes, "make_draw", make_draw)
    for name in ("run", "run_apart"):
        monkeypatch.setattr(VoteMethod, name, run)
    for name in METHODS:
        key = Key(*ROW, 1, name)
        (result,) = run_votes.run_keys([key])
        assert result.key == key
    with_labels = [handed[name] for name in METHODS if METHODS[name].uses_labels]
    for votes, setting in with_labels:
        np.testing.assert_array_equal(votes, with_labels[0][0])
        np.testing.assert_array_equal(setting.gold, [0, 1, -1, -1, -1, -1])
        assert setting.seed == 1
    assert (handed["mace"][1].gold == -1).all()


def test_measures_on_the_scored_rows():
    found = outcome([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]])
    accuracy, loss = run_votes.measure(draw_of_four(), found, uses_labels=True)
    assert accuracy == pytest.approx(1.0)
    assert loss == pytest.approx(-np.log([0.9, 0.6, 0.8]).mean(), abs=1e-6)


def test_rows_without_a_vote_get_the_class_prior_of_the_draw_where_a_run_serves_all_draws():
    found = outcome([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.4, 0.6]])
    draw = replace(draw_of_four(), y_labeled=np.array([1, 1, 1, 0]))
    accuracy, loss = run_votes.measure(draw, found, uses_labels=False)
    assert accuracy == pytest.approx(1.0)
    assert loss == pytest.approx(-np.log([0.9, 0.6, 0.75]).mean(), abs=1e-6)


def test_a_slow_method_is_left_out_of_most_draws_of_a_large_set():
    slow = replace(METHODS["label_model"], many_votes=5)
    draw = replace(draw_of_four(), seed=3)
    result = run_votes.run_once(slow, draw)
    assert np.isnan(result.probabilities).all()
    assert "few draws only" in result.reason
    assert not run_votes.why_left_out(slow, replace(draw, seed=0))
    assert not run_votes.why_left_out(METHODS["glad"], draw)


def test_a_run_that_fails_has_a_reason_and_no_figures(monkeypatch):
    def run_apart(*arguments, **named):
        raise RuntimeError("glad: exit code 1\nMemoryError")

    monkeypatch.setattr(VoteMethod, "run_apart", run_apart)
    draw = draw_of_four()
    found = run_votes.run_once(METHODS["glad"], draw)
    assert found.reason == "failed: MemoryError"
    assert np.isnan(run_votes.measure(draw, found, uses_labels=True)).all()


def test_what_failed_is_run_again(tmp_path):
    path = tmp_path / VOTES.name
    results = made_up()
    failed = [replace(results[0], reason="failed: MemoryError"), *results[1:]]
    write_results(path, failed, VoteResult)
    run_votes.forget_failures(path)
    done = {result.key for result in read_results(path, VoteResult)}
    assert {r.key for r in results} - done == {results[0].key}


def test_fewer_draws_are_compared_on_those_that_both_have():
    glad = [0.7, 0.71, np.nan]
    ours = [0.8, 0.82, 0.3]
    figures = VoteFigures(made_up(accuracy={"glad": glad, OURS: ours, "mace": [0.1] * 3}))
    assert figures.mean(ROW, "glad", "accuracy") == pytest.approx(0.705)
    table = summary_table(figures, "accuracy", {OURS: "ours", "glad": "GLAD"})
    assert "| GLAD | 0.705 | +0.105 |" in table


@needs_data
def test_committed_votes_are_whole():
    results = read_results(VOTES, VoteResult)
    keys = set(run_votes.all_keys(run_votes.table_rows(), run_votes.N_DRAWS))
    assert {result.key for result in results if result.method in METHODS} == keys
    for result in results:
        assert np.isnan(result.accuracy) == bool(result.reason), result.key
        assert not result.reason.startswith(run_votes.FAILED), result.key
