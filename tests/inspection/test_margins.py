import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hedgeclipper
from hedgeclipper import (
    HedgeClipperClassifier,
    HedgedVotingClassifier,
    LeafGame,
    MarginDisplay,
    VoteAggregator,
)
from hedgeclipper.inspection import per_cent

X, Y = make_classification(900, n_informative=4, weights=[0.7], flip_y=0.1, random_state=0)
RNG = np.random.default_rng(0)
AWAKE = RNG.normal(np.where(Y == 1, 1.0, -1.0), 1.5)


def new_ax():
    return Figure().subplots()


def fitted(**parameters):
    model = HedgeClipperClassifier(n_estimators=40, random_state=0, **parameters)
    return model.fit(X[:200], Y[:200], X_unlabeled=X[200:])


def drawn(y=Y, awake=AWAKE, **options):
    return MarginDisplay.from_predictions(y, awake, **{"ax": new_ax(), **options})


@pytest.fixture(scope="module")
def model():
    return fitted()


def test_the_public_name_is_the_class():
    assert "MarginDisplay" in hedgeclipper.__all__
    assert hedgeclipper.MarginDisplay is MarginDisplay


@pytest.mark.parametrize("options", [{}, {"limits": (-0.5, 0.7)}, {"bins": [-2.0, 0.0, 0.1, 1.0]}])
def test_each_density_integrates_to_one_rows_beyond_included(options):
    display = drawn(**options)
    np.testing.assert_allclose(display.densities @ np.diff(display.bin_edges), 1.0)


def test_inner_counts_are_those_of_numpy():
    display = drawn(bins=20, limits=(-2.0, 2.0))
    theirs = [np.histogram(AWAKE[k == Y], 20, (-2.0, 2.0))[0] for k in (0, 1)]
    np.testing.assert_array_equal(display.counts[:, 1:-1], np.array(theirs)[:, 1:-1])


def test_the_end_bins_also_hold_the_rows_beyond():
    display = drawn([0, 0, 1, 1], [-9.0, -0.5, 0.5, 9.0], bins=2, limits=(-1.0, 1.0))
    assert display.counts.tolist() == [[2, 0], [0, 2]]
    assert display.n_beyond == 2


def test_the_axis_notes_that_rows_lie_beyond():
    assert (
        "end bins also hold the 50 %" in drawn([0, 1], [0.0, 3.0], limits=(-1, 1)).ax_.get_xlabel()
    )
    assert "end bins" not in drawn([0, 1], [0.0, 3.0], limits=(-4, 4)).ax_.get_xlabel()


def test_few_rows_lie_beyond_the_usual_limits_and_the_clipping_within():
    display = drawn(clip_at=(-30.0, 1.0))
    assert display.n_beyond <= 0.01 * Y.size
    assert display.bin_edges[0] < -30.0


def test_predictions_that_differ_by_rounding_are_one_point():
    display = drawn(None, np.nextafter(0.2, [0, 1, 0, 1]), clip_at=None)
    assert np.isfinite(display.densities).all()
    assert display.bin_edges[0] < 0.0 < 0.5 < display.bin_edges[-1]


def test_the_kink_counts_as_clipped():
    display = drawn([0, 0, 1, 1], [-1.0, 0.0, 0.999, 1.0])
    assert display.n_clipped.tolist() == [1, 1]
    assert display.clipped_proportion == 0.5


def test_proportions_are_in_the_legend():
    texts = [text.get_text() for text in drawn([0, 1, 1], [0.0, 2.0, 0.5]).ax_.legend_.get_texts()]
    assert texts[:2] == ["class 0: 0.0 % clipped", "class 1: 50.0 % clipped"]
    assert any("33.3 % of rows" in text for text in texts)


def test_without_clipping_nothing_is_marked():
    display = drawn(clip_at=None)
    assert display.n_clipped.tolist() == [0, 0]
    assert display.clip_lines_ == []
    assert len(display.ax_.legend_.get_texts()) == 2


def test_marks_are_where_clipping_starts():
    marks = drawn(clip_at=(-0.5, 2.0)).clip_lines_
    assert [mark.get_xdata()[0] for mark in marks] == [-0.5, 2.0]


def test_classes_differ_in_line_style_and_hatch_not_in_color_alone():
    first, second = drawn().curves_
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_hatch() != second.get_hatch()


def test_curve_kwargs_for_both_or_for_each():
    assert [curve.get_linewidth() for curve in drawn(curve_kwargs={"linewidth": 3}).curves_] == [
        3,
        3,
    ]
    each = drawn(curve_kwargs=[{"linewidth": 1}, {"linewidth": 2}]).curves_
    assert [curve.get_linewidth() for curve in each] == [1, 2]
    with pytest.raises(ValueError, match=r"list of two dicts.*Got a list of 1"):
        drawn(curve_kwargs=[{}])


def test_plot_draws_on_the_given_axes_and_returns_itself():
    display, ax = drawn(), new_ax()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert set(display.curves_) <= set(ax.patches)


def test_plot_makes_axes_where_none_are_given():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    display = MarginDisplay.from_predictions([0, 1], [-1.0, 1.0])
    assert pyplot.gcf() is display.figure_
    pyplot.close(display.figure_)


def test_the_legend_can_be_left_out_and_named():
    assert drawn(legend=False).ax_.legend_ is None
    assert drawn(name="mine").ax_.legend_.get_title().get_text() == "mine"


def test_from_estimator_is_from_predictions_of_decision_function(model):
    ours = MarginDisplay.from_estimator(model, X, Y, ax=new_ax())
    theirs = drawn(awake=model.decision_function(X), clip_at=ours.clip_at)
    np.testing.assert_array_equal(ours.counts, theirs.counts)
    np.testing.assert_array_equal(ours.bin_edges, theirs.bin_edges)
    np.testing.assert_array_equal(ours.n_clipped, theirs.n_clipped)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"loss": "zero_one"}, {"tol": 1e-2}],
)
def test_marks_are_where_the_game_clips(parameters):
    model = fitted(game=LeafGame(unlabeled_weight=1.0), **parameters)
    low, high = MarginDisplay.from_estimator(model, X, Y, ax=new_ax()).clip_at
    predictor = model._predictor
    inside = np.array([low + 1e-6, high - 1e-6]) - predictor.offset
    ends = np.array([low, high]) - predictor.offset
    np.testing.assert_allclose(predictor.loss.link(ends), [-1.0, 1.0])
    assert np.all(np.abs(predictor.loss.link(inside)) < 1.0)


def test_of_groups_they_are_where_the_weighted_vote_is_one(model):
    """In log-odds, which the calibration makes of it."""
    low, high = MarginDisplay.from_estimator(model, X, Y, ax=new_ax()).clip_at
    line = model._predictor.games[0].calibration
    np.testing.assert_allclose([low, high], line.intercept + line.slope * np.array([-1.0, 1.0]))
    np.testing.assert_allclose([low, high], model.hedged_range_[0])


def test_log_loss_clips_nothing():
    assert MarginDisplay.from_estimator(fitted(loss="log"), X, Y, ax=new_ax()).clip_at is None


def test_clip_at_can_be_given(model):
    display = MarginDisplay.from_estimator(model, X, Y, clip_at=(-0.3, 0.3), ax=new_ax())
    assert display.clip_at == (-0.3, 0.3)


def test_a_forest_is_drawn_by_its_vote():
    forest = RandomForestClassifier(10, random_state=0).fit(X[:200], Y[:200])
    ours = MarginDisplay.from_estimator(forest, X, Y, ax=new_ax())
    theirs = drawn(awake=2 * forest.predict_proba(X)[:, 1] - 1)
    np.testing.assert_array_equal(ours.counts, theirs.counts)
    assert ours.clip_at == (-1.0, 1.0)


def test_other_decision_functions_are_not_clipped():
    other = LogisticRegression().fit(X[:200], Y[:200])
    assert MarginDisplay.from_estimator(other, X, Y, ax=new_ax()).clip_at is None


def test_the_classifier_in_a_pipeline_is_asked_where_it_clips(model):
    whole = make_pipeline(StandardScaler().fit(X), model)
    display = MarginDisplay.from_estimator(whole, X, Y, ax=new_ax())
    assert display.clip_at == MarginDisplay.from_estimator(model, X, Y, ax=new_ax()).clip_at
    assert display.name == "HedgeClipperClassifier"


def test_labels_may_be_text_and_minus_one_a_class():
    text = np.array(["no", "yes"])[Y]
    model = HedgeClipperClassifier(n_estimators=20, random_state=0)
    model.fit(X[:200], text[:200], X_unlabeled=X[200:])
    assert MarginDisplay.from_estimator(model, X, text, ax=new_ax()).classes.tolist() == [
        "no",
        "yes",
    ]
    assert drawn(2 * Y - 1).classes.tolist() == [-1, 1]


def test_pos_label_goes_last():
    assert drawn(pos_label=0).classes.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"pos_label must be one of \[0, 1\]. Got 7"):
        drawn(pos_label=7)


def test_more_than_two_classes_are_refused():
    three = np.arange(Y.size) % 3
    forest = RandomForestClassifier(3, random_state=0).fit(X, three)
    with pytest.raises(ValueError, match=r"two classes. Got an estimator with 3, \[0, 1, 2\]"):
        MarginDisplay.from_estimator(forest, X, three, ax=new_ax())
    with pytest.raises(ValueError, match=r"two classes. Got 3 labels, \[0, 1, 2\]"):
        drawn(three)


def test_unlabeled_rows_are_refused(model):
    marked = Y.copy()
    marked[:7] = -1
    with pytest.raises(ValueError, match=r"y has 7 unlabeled rows \(-1\) of 900"):
        MarginDisplay.from_estimator(model, X, marked, ax=new_ax())
    with pytest.raises(ValueError, match=r"y has 7 unlabeled rows \(-1\) of 900"):
        drawn(marked)


@pytest.mark.parametrize("y", [Y + 1, np.zeros_like(Y), Y.astype(str)])
def test_labels_must_be_the_estimators(model, y):
    with pytest.raises(ValueError, match=r"y must have the labels \[0, 1\].*Got \["):
        MarginDisplay.from_estimator(model, X, y, ax=new_ax())


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"two classes. Got 1 label, \[0\]"):
        drawn(np.zeros_like(Y))


def test_an_estimator_must_be_a_fitted_classifier():
    with pytest.raises(ValueError, match="not fitted"):
        MarginDisplay.from_estimator(HedgeClipperClassifier(), X, Y, ax=new_ax())
    with pytest.raises(TypeError, match=r"for classifiers. Got StandardScaler"):
        MarginDisplay.from_estimator(StandardScaler().fit(X), X, Y, ax=new_ax())


def test_scores_are_needed():
    voting = VotingClassifier([("one", LogisticRegression())], voting="hard").fit(X, Y)
    with pytest.raises(TypeError, match="Got VotingClassifier, which has neither"):
        MarginDisplay.from_estimator(voting, X, Y, ax=new_ax())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "bins must be a positive integer.*Got 0"),
        ({"bins": 2.5}, "bins must be a positive integer.*Got 2.5"),
        ({"bins": [1.0, 0.0]}, "ascending"),
        ({"bins": [0.0, 1.0], "limits": (0, 1)}, "leave out limits"),
        ({"limits": (1.0, -1.0)}, "limits must be two finite numbers.*Got"),
        ({"clip_at": (-1.0, np.inf)}, "clip_at must be two finite numbers"),
        ({"clip_at": "auto"}, "clip_at must be two finite numbers.*Got 'auto'"),
        ({"awake": np.zeros((Y.size, 2))}, r"one value for each row. Got .*\(900, 2\)"),
        ({"awake": np.full(Y.size, np.nan)}, "NaN"),
        ({"awake": AWAKE[1:]}, "inconsistent numbers of samples"),
    ],
)
def test_bad_input_says_what_was_got(options, message):
    with pytest.raises(ValueError, match=message):
        drawn(**options)


def test_equal_predictions_can_be_drawn():
    np.testing.assert_array_equal(
        drawn([0, 1], [0.3, 0.3], clip_at=None).counts.sum(axis=1), [1, 1]
    )


@pytest.mark.parametrize(
    ("proportion", "text"),
    [(0.0, "0.0 %"), (1e-5, "< 0.1 %"), (0.25, "25.0 %"), (0.99996, "> 99.9 %"), (1.0, "100.0 %")],
)
def test_zero_and_all_are_shown_only_where_exact(proportion, text):
    assert per_cent(proportion) == text


def test_without_matplotlib_the_message_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = r"MarginDisplay needs matplotlib.*pip install 'hedgeclipper\[plots\]'"
    with pytest.raises(ImportError, match=message):
        MarginDisplay.from_estimator(model, X, Y)
    with pytest.raises(ImportError, match=message):
        MarginDisplay.from_predictions(Y, AWAKE)


def test_the_module_can_be_imported_without_matplotlib():
    code = "import sys; sys.modules['matplotlib'] = None; import hedgeclipper.inspection"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_without_labels_all_rows_are_one_curve(model):
    ours = MarginDisplay.from_estimator(model, X, ax=new_ax())
    assert ours.classes is None
    assert ours.counts.shape == (1, 50)
    np.testing.assert_allclose(ours.densities @ np.diff(ours.bin_edges), 1.0)
    assert ours.curves_[0].get_label().startswith("all rows: ")


def test_one_curve_takes_one_style():
    display = MarginDisplay.from_predictions(None, AWAKE, curve_kwargs=[{"lw": 3}], ax=new_ax())
    assert display.curves_[0].get_linewidth() == 3
    with pytest.raises(ValueError, match=r"a list of one. Got a list of 2"):
        MarginDisplay.from_predictions(None, AWAKE, curve_kwargs=[{}, {}], ax=new_ax())


def test_a_panel_knows_where_its_game_clips():
    members = [("linear", LogisticRegression()), ("trees", RandomForestClassifier(5))]
    panel = HedgedVotingClassifier(members, random_state=0)
    panel.fit(X[:100], Y[:100], X_unlabeled=X[100:])
    low, high = MarginDisplay.from_estimator(panel, X, Y, ax=new_ax()).clip_at
    game = panel._predictor.games[0]
    np.testing.assert_allclose(game.calibration.log_odds(np.array([-1.0, 1.0])), [low, high])


@pytest.mark.parametrize(("loss", "clip_at"), [("log", None), ("zero_one", (-1.0, 1.0))])
def test_votes_are_drawn_by_their_probabilities(loss, clip_at):
    votes = np.where(RNG.random((200, 4)) < 0.7, Y[:200, None], 1 - Y[:200, None])
    gold = np.where(np.arange(200) < 50, Y[:200], -1)
    model = VoteAggregator(loss=loss).fit(votes, gold)
    display = MarginDisplay.from_estimator(model, votes, Y[:200], ax=new_ax())
    assert display.clip_at == clip_at
    theirs = drawn(Y[:200], 2 * model.predict_proba(votes)[:, 1] - 1, clip_at=clip_at)
    np.testing.assert_array_equal(display.counts, theirs.counts)
