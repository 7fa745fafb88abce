"""Fits to labels whose draw is recorded: what tests, what trains, and skipped rows."""

from copy import deepcopy

import numpy as np
import pytest
from sklearn.datasets import make_classification

from hedgeclipper import HedgeClipperClassifier, VoteAggregator, draw_sample, load, save
from hedgeclipper.bounds.auto_labels import accept_in_file
from hedgeclipper.bounds.hold_out import hold_out_labels, pool_places
from hedgeclipper.bounds.tested_predictions import TestedPredictions

N_ROWS, CHOSEN = 600, np.arange(30)
X, TRUTH = make_classification(N_ROWS, 6, flip_y=0.1, random_state=0)
SAMPLE = draw_sample(X, 200, excluded=CHOSEN)
VOTES = np.array([np.where(X[:, k] > 0, 1, 0) for k in range(6)]).T


def labels(skipped=(), more=()):
    found = np.full(N_ROWS, np.nan)
    rows = np.concatenate([CHOSEN, SAMPLE.rows, np.asarray(more, int)])
    found[rows] = TRUTH[rows]
    found[SAMPLE.rows[list(skipped)]] = np.nan
    return found


def only_test_labels(y):
    """Return labels of those rows alone that test, of a sample without excluded rows."""
    return np.where(np.isin(np.arange(N_ROWS), draw_sample(X, 100).rows), TRUTH, np.nan)


def fitted(kind, y, sample, level=0.9, random_state=0):
    options = {"confidence_level": level, "random_state": random_state}
    if kind == "votes":
        return VoteAggregator(abstain_label=None, **options).fit(VOTES, y, sample=sample)
    model = HedgeClipperClassifier("trees", n_estimators=20, **options)
    return model.fit(X, y, sample=sample)


def sample_of(kind, **changed):
    return draw_sample(VOTES if kind == "votes" else X, 200, **{"excluded": CHOSEN, **changed})


@pytest.mark.parametrize("kind", ["table", "votes"])
@pytest.mark.parametrize("level", [0.9, None])
def test_labels_of_the_sample_alone_test_and_the_certificate_knows_it(kind, level):
    model = fitted(kind, labels(), sample_of(kind), level)
    found = model.certificate_
    assert (
        found.n_tested == 100 if level else 150 < found.n_tested <= 200
    )  # chosen labels do not test
    assert found.is_recorded
    assert "assumes" not in found.describe() + model.auto_label(0.2).describe()
    own = TRUTH[SAMPLE.rows]
    assert found.baseline == 1 - max(own.mean(), 1 - own.mean())
    y, plain = labels(), fitted(kind, labels(), None, 0.9)
    assert plain.certificate_.n_tested == np.sum(~np.isnan(y)) // 2
    assert plain.certificate_.describe().endswith("assumes that the labels are a random sample)")
    if plain.auto_label(0.2).kind == "guarantee":
        assert "assumes that the labels are a random sample" in plain.auto_label(0.2).describe()


@pytest.mark.parametrize("kind", ["table", "votes"])
@pytest.mark.filterwarnings("ignore::hedgeclipper.NoUnlabeledRowsWarning")
def test_a_record_of_all_rows_says_nothing_of_new_ones(kind):
    rows = VOTES if kind == "votes" else X
    model = fitted(kind, TRUTH.astype(float), draw_sample(rows, N_ROWS))
    assert "assumes that the labels are a random sample" in model.certificate_.describe()
    more = np.random.default_rng(0).permutation(rows)  # stand for new rows
    assert not model.auto_label(0.3, more).is_recorded


@pytest.mark.parametrize("kind", ["table", "votes"])
def test_rows_that_nobody_could_decide_count_as_wrong_and_need_review(kind):
    skipped = np.arange(0, 200, 10)
    before, after = (fitted(kind, labels(own), sample_of(kind)) for own in ((), skipped))
    assert after.certificate_.n_tested == 100
    n_more = after.certificate_.n_errors - before.certificate_.n_errors
    assert 0 < n_more <= skipped.size  # half of them test, and some were wrong before
    found = after.auto_label(0.3)
    review = np.zeros(N_ROWS, bool)
    review[np.isnan(labels(skipped))] = found.needs_review
    assert review[SAMPLE.rows[skipped]].all()
    assert found.n_skipped == skipped.size
    assert "Skipped rows (20) count as wrong" in found.describe()
    rows = (VOTES if kind == "votes" else X)[np.isnan(labels(skipped))]
    assert after.auto_label(0.3, rows).kind == "guarantee"
    assert "in another" in after.auto_label(0.3, rows[::-1]).reason


def test_labels_after_the_draw_and_larger_samples_are_estimates():
    model = fitted("table", labels(more=[500, 501, 502]), SAMPLE)
    assert "labeled after the draw" in model.certificate_.reason
    first = draw_sample(X, 50, excluded=CHOSEN)
    model = fitted("table", labels(), first.extended(200))
    assert "needs the sequential test" in model.auto_label(0.2).reason


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: (X[::-1], y, {"sample": SAMPLE}), "order has changed"),
        (lambda y: (X[1:], y[1:], {"sample": SAMPLE}), "drawn from 600 rows. Got 599"),
        (lambda y: (X, y, {"sample": SAMPLE.rows}), "must be what draw_sample returns"),
        (lambda y: (X, y, {"sample": SAMPLE, "X_unlabeled": X}), "not go with X_unlabeled"),
        (lambda y: ("rows.csv", "y", {"sample": SAMPLE}), "in memory. Got str"),
        (lambda y: (X, np.where(np.arange(600) < 7, np.nan, y), {"sample": SAMPLE}), "7 rows were"),
        (lambda y: (X, np.where(np.arange(600) < 30, y, np.nan), {"sample": SAMPLE}), "None of"),
        (lambda y: (X, only_test_labels(y), {"sample": draw_sample(X, 200)}), "0 labels are left"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_a_sample_is_an_error(change, message):
    rows, y, given = change(labels())
    with pytest.raises((ValueError, TypeError), match=message):
        HedgeClipperClassifier("trees", confidence_level=0.9).fit(rows, y, **given)


def broken(rng, counts_skips):
    """Return whether more rows are wrong than allowed, if people skip half of the wrong rows."""
    n_rows, uncertain = 400, np.zeros(400)
    wrong = rng.random(n_rows) < 0.22
    undecided = wrong & (rng.random(n_rows) < 0.5)
    sample = draw_sample(n_rows, 150, seed=int(rng.integers(1 << 30)))
    decided = sample.rows[~undecided[sample.rows]]
    labeled = np.sort(decided)
    unlabeled = np.setdiff1d(np.arange(n_rows), labeled)
    known = {"confidence_level": 0.9, "holdout": None, "random_state": int(rng.integers(1 << 30))}
    if counts_skips:
        draw = hold_out_labels(labeled.size, (unlabeled, labeled), sample, **known)
    else:  # as if the rows that were skipped had never been drawn
        draw = hold_out_labels(labeled.size, (unlabeled, labeled), None, **known)
    test = labeled[draw.held]
    rule = TestedPredictions.of(
        wrong[test], np.zeros(test.size), uncertain[test], labels=np.zeros(labeled.size),
        unlabeled=(np.zeros(unlabeled.size), uncertain[unlabeled]), draw=draw,
    )  # fmt: skip
    accepted = accept_in_file(rule, 0.15, 0.9).is_accepted[~rule.is_tested]
    return np.sum(wrong[unlabeled[rule.is_open]] & accepted) > 0.15 * n_rows


def test_skips_break_no_promise_unless_they_are_dropped():
    rng, n_runs = np.random.default_rng(0), 400
    counted, dropped = (
        sum(broken(rng, own) for _ in range(n_runs)) / n_runs for own in (True, False)
    )
    assert counted <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / n_runs)
    assert dropped > 0.3


def test_which_rows_test_does_not_change_the_order_of_equal_rows():
    rows, orders = np.arange(60), set()
    for seed in range(5):
        test = np.random.default_rng(seed).choice(rows, 12, replace=False)
        places = pool_places(test, np.setdiff1d(rows, test))
        known = {"n_unlabeled": 48, "baseline": 0.5, "places": places, "digest": seed}
        rule = TestedPredictions(np.zeros(12, bool), np.zeros(12), np.zeros(48), **known)
        assert np.array_equal(np.flatnonzero(rule.is_tested), np.sort(test))
        orders.add(tuple(rule.order_of_pool()))
    assert len(orders) == 1


# Many questions of one sample, and many fits to it.


@pytest.mark.parametrize("kind", ["table", "votes"])
def test_the_guarantee_is_for_the_first_question_asked_of_the_labels(kind, tmp_path):
    model = fitted(kind, labels(), sample_of(kind))
    first = model.auto_label(0.3)
    again = model.auto_label(0.3)
    assert first.kind == again.kind == "guarantee"
    for max_error, level in ((0.2, 0.95), (0.3, 0.9), ({0: 0.3, 1: 0.3}, 0.95)):
        other = model.auto_label(max_error, confidence_level=level)
        assert other.kind == "estimate"
        assert "have answered max_error=0.3 with 95% confidence before" in other.describe()
    assert model.auto_label(0.3, among="automatic").kind == "estimate"
    loaded = load(save(model, tmp_path / "model"))
    assert (loaded.auto_label(0.3).kind, loaded.auto_label(0.2).kind) == ("guarantee", "estimate")
    assert model.fit(VOTES if kind == "votes" else X, labels()).auto_label(0.2).kind == "guarantee"


def test_limits_in_another_order_are_the_same_question():
    model = fitted("table", labels(), sample_of("table"))
    assert model.auto_label({0: 0.3, 1: 0.4}).kind == "guarantee"
    assert model.auto_label({1: 0.4, 0: 0.3}).kind == "guarantee"


def test_a_second_fit_to_a_sample_is_tested_by_the_same_rows_and_is_an_estimate():
    sample, found = sample_of("table"), []
    test = sample.rows[:100]  # the first half of the draw, whatever the random state
    for state in (0, 1, 0):
        model = fitted("table", labels(), sample, random_state=state)
        found.append(model.auto_label(0.3))
        assert model.certificate_.n_errors == np.sum(model.predict(X[test]) != TRUTH[test])
    assert [one.kind for one in found] == ["guarantee", "estimate", "guarantee"]
    assert "have tested other predictions before" in found[1].describe()


def test_the_best_of_several_certificates_is_no_first_question():
    sample = sample_of("table")
    first, second = (fitted("table", labels(), sample, random_state=state) for state in (0, 1))
    assert (second.auto_label(0.3).kind, first.auto_label(0.3).kind) == ("estimate", "guarantee")


def test_a_copy_of_a_model_has_answered_what_the_model_has():
    model = fitted("table", labels(), sample_of("table"))
    answers = [deepcopy(model).auto_label(max_error).kind for max_error in (0.3, 0.2)]
    assert answers == ["guarantee", "estimate"]
