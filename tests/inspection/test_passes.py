import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from hedgeclipper import (
    ConvergenceDisplay,
    HedgeClipperClassifier,
    LeafGame,
    LiveMargins,
    MarginDisplay,
    solve_game,
)

X, Y = make_classification(500, n_informative=4, random_state=0)
VOTES = np.sign(np.random.default_rng(0).normal(np.where(Y, 0.5, -0.5)[:, None], 1.0, (500, 6)))


def new_ax():
    return Figure().subplots()


def fit(callback, y=Y, **parameters):
    parameters = {"views": None, "shrinkage": None, "game": LeafGame(), **parameters}
    model = HedgeClipperClassifier(n_estimators=40, random_state=0, tol=1e-6, **parameters)
    return model.fit(X[:200], y[:200], X_unlabeled=X[200:], callback=callback)


def test_it_draws_after_each_pass_and_last_what_the_model_says():
    views = []
    watch = LiveMargins(X[200:], Y[200:], ax=new_ax())

    def both(view):
        views.append(view)
        watch(view)

    model = fit(both)
    assert watch.n_drawn_ == len(views) == len(model.history_[0]) > 2
    assert views[-1].hedged_range == tuple(model.hedged_range_[0])
    best = min(views, key=lambda view: view.record.primal)
    np.testing.assert_allclose(best.awake_predictions(X), model.decision_function(X), atol=0.05)


def test_what_is_drawn_are_the_margins_of_the_weights_then():
    views = []
    fit(views.append)
    watch = LiveMargins(X[200:], Y[200:], ax=new_ax())
    watch(views[0])
    theirs = MarginDisplay.from_predictions(
        Y[200:], views[0].awake_predictions(X[200:]), clip_at=views[0].hedged_range, ax=new_ax()
    )
    np.testing.assert_array_equal(watch.display_.counts, theirs.counts)
    assert watch.ax_.get_title().startswith("pass 1: slack")


def test_a_callback_changes_nothing():
    ours, theirs = fit(lambda view: None), fit(None)
    np.testing.assert_array_equal(ours.specialist_weights_, theirs.specialist_weights_)


def test_a_game_of_groups_is_over_too_soon_to_be_watched():
    with pytest.raises(ValueError, match=r"pass game=LeafGame\(\), or leave the callback out"):
        fit(lambda view: None, game=None)


def test_a_sample_is_drawn_without_labels_too():
    watch = LiveMargins(X, max_rows=70, ax=new_ax())
    fit(watch)
    assert watch.display_.counts.sum() == 70
    assert watch.display_.classes is None


def test_of_many_classes_one_game_is_watched():
    three = np.arange(Y.size) % 3
    watch = LiveMargins(X, three, target=2, ax=new_ax())
    model = fit(watch, three)
    assert watch.n_drawn_ == len(model.history_[2])
    assert watch.display_.classes.tolist() == [False, True]


def test_the_game_itself_can_be_watched():
    views = []
    watch = LiveMargins(VOTES, Y, ax=new_ax())

    def both(view):
        views.append(view)
        watch(view)

    solution = solve_game(VOTES, [0.3] * 6, class_balance=(0.5, 0.1), method="batch", callback=both)
    assert [view.record for view in views] == list(solution.history)
    best = min(views, key=lambda view: view.record.primal)
    np.testing.assert_allclose(
        best.awake_predictions(VOTES), solution.awake_predictions(VOTES), atol=0.05
    )


def test_a_loss_that_never_clips_has_no_marks():
    watch = LiveMargins(X, Y, ax=new_ax())
    fit(watch, loss="log")
    assert watch.display_.clip_at is None


def test_in_a_notebook_one_output_is_kept_up_to_date(monkeypatch):
    shown, updated = [], []
    handle = SimpleNamespace(update=updated.append)

    def display(figure, display_id):
        shown.append(figure)
        return handle

    notebook = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    watch = LiveMargins(X, Y, ax=new_ax())
    model = fit(watch)
    assert shown == [watch.figure_]
    assert len(updated) == len(model.history_[0]) - 1


def test_labels_must_be_as_many_as_rows():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LiveMargins(X, Y[1:], ax=new_ax())


@pytest.mark.parametrize("kind", ["forest", "panel"])
def test_the_last_pass_is_what_the_model_reached(models, kind):
    model = models[kind]
    display = ConvergenceDisplay.from_estimator(model, ax=new_ax())
    assert display.passes[0][-1] == model.n_iter_[0]
    assert display.gaps[0][-1] == pytest.approx(model.duality_gap_[0])
    assert display.gap_ax_ is not None
    assert display.name == type(model).__name__


@pytest.mark.parametrize("kind", ["forest", "panel", "votes"])
def test_the_best_slack_never_rises(models, kind):
    slacks = ConvergenceDisplay.from_estimator(models[kind], ax=new_ax()).slacks[0]
    assert np.all(np.diff(slacks) <= 0)


def test_votes_have_both_curves_too(models):
    model = models["votes"]
    display = ConvergenceDisplay.from_estimator(model, ax=new_ax())
    assert display.passes[0].tolist() == list(range(1, model.n_iter_[0] + 1))
    assert len(display.slack_lines_) == len(display.gap_lines_) == 1
    assert display.tol == model.tol


def test_each_class_has_its_game(of_three):
    display = ConvergenceDisplay.from_estimator(of_three, ax=new_ax())
    assert display.names == ["0", "1", "2"]
    assert len(display.slack_lines_) == len(display.gap_lines_) == 3


def test_a_history_can_be_drawn_and_ticks_are_plain_text():
    votes = np.sign(np.random.default_rng(1).normal(0.3, 1.0, (300, 6)))
    solution = solve_game(votes, [0.3] * 6, method="batch", tol=1e-4)
    display = ConvergenceDisplay.from_history(solution.history, tol=1e-4, ax=new_ax())
    np.testing.assert_array_equal(display.slacks[0], [record.primal for record in solution.history])
    display.figure_.canvas.draw()
    assert all("$" not in text.get_text() for text in display.gap_ax_.get_yticklabels())


def test_convergence_needs_passes_and_an_estimator_of_ours():
    with pytest.raises(ValueError, match="no pass to draw"):
        ConvergenceDisplay.from_history([], ax=new_ax())
    with pytest.raises(TypeError, match=r"ConvergenceDisplay is for Hedge.* Got GaussianNB"):
        ConvergenceDisplay.from_estimator(GaussianNB().fit(X, Y), ax=new_ax())
