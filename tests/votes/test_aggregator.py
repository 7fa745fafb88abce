import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from hedgeclipper import (
    ContradictionWarning,
    ShiftWarning,
    VoteAggregator,
    Votes,
)
from hedgeclipper.bounds.hold_out import SHIFTED_LABELS
from hedgeclipper.votes.initial_model import fit_initial_model
from hedgeclipper.votes.labeled_votes import LabeledVotes, gather_evidence
from hedgeclipper.votes.matrix import VoteKernel


def votes_on(truth, accuracy, coverage, seed=0, n_classes=2):
    """Votes of voters that are right and awake that often; -1 abstains."""
    rng = np.random.default_rng(seed)
    shape = (truth.size, np.size(accuracy))
    wrong = (truth[:, None] + rng.integers(1, n_classes, size=shape)) % n_classes
    votes = np.where(rng.random(shape) < accuracy, truth[:, None], wrong)
    return np.where(rng.random(shape) < coverage, votes, -1)


def some(n_rows=600, n_labeled=60, n_classes=2, seed=0, accuracy=None, coverage=0.6, rare=None):
    """Votes, y with -1 behind the labeled rows, and the truth."""
    rng = np.random.default_rng(seed)
    shares = None if rare is None else [1 - rare, rare]
    truth = rng.choice(n_classes, n_rows, p=shares)
    accuracy = np.linspace(0.6, 0.85, 6) if accuracy is None else np.asarray(accuracy)
    votes = votes_on(truth, accuracy, coverage, seed + 1, n_classes)
    return votes, np.where(np.arange(n_rows) < n_labeled, truth, -1), truth


L, Y, TRUTH = some()
NAMES = np.array(["ham", "spam"])


def fitted(votes=L, y=Y, **parameters):
    return VoteAggregator(**parameters).fit(votes, y)


def named(codes):
    return np.where(np.asarray(codes) < 0, None, NAMES[codes])


def same_model(one, other, abs=1e-9):
    assert one.predict_proba(L) == pytest.approx(other.predict_proba(L), abs=abs)


# How votes and labels may come.


def test_both_ways_to_pass_unlabeled_rows_give_the_same():
    marked = fitted()
    apart = VoteAggregator().fit(L[:60], Y[:60], L_unlabeled=L[60:])
    same_model(marked, apart)
    np.testing.assert_array_equal(marked.transduction_[60:], apart.transduction_)
    np.testing.assert_array_equal(marked.transduction_[:60], Y[:60])


def test_it_beats_the_best_voter_and_the_majority_vote():
    model = fitted()
    counts = np.stack([(k == L).sum(axis=1) for k in (0, 1)], axis=1)
    plain = np.where(counts[:, 0] == counts[:, 1], 0.5, counts.argmax(axis=1) == TRUTH)
    right = (model.predict(L) == TRUTH)[60:]
    assert right.mean() > plain[60:].mean() + 0.01
    assert model.slack_ <= 0
    assert model.predict_proba(L).sum(axis=1) == pytest.approx(1)


def test_many_classes():
    votes, y, truth = some(1500, 200, n_classes=7, coverage=0.8)
    model = fitted(votes, y)
    assert model.predict_proba(votes).shape == (1500, 7)
    accuracy = np.linspace(0.6, 0.85, 6)
    log_odds = np.log(6 * accuracy / (1 - accuracy))  # the best weights, from true accuracies
    best = (log_odds[:, None] * (votes[:, :, None] == np.arange(7))).sum(axis=1).argmax(axis=1)
    ours, theirs = ((labels == truth)[200:].mean() for labels in (model.transduction_, best))
    assert ours > theirs - 0.02


def test_a_class_that_nobody_votes_for_may_be_gold():
    y = Y.copy()
    y[:3] = 2
    model = fitted(y=y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert 0 < model.predict_proba(L)[60:, 2].mean() < 0.3


def test_a_single_voter():
    model = fitted(L[:, 5:], Y)
    voted = np.arange(600)[60:][L[60:, 5] >= 0]
    np.testing.assert_array_equal(model.transduction_[voted], L[voted, 5])
    votes_for_1 = model.predict_proba([[1]])[0, 1]
    assert 0.6 < votes_for_1 < 0.95  # right 85 % of the time


def test_minus_one_is_no_vote_among_the_words_of_a_file(tmp_path):
    frame = pd.DataFrame(named(L)).fillna("-1").rename(columns="v{}".format)
    frame["sleeps"] = -1
    frame.to_csv(tmp_path / "votes.csv", index=False)
    model = fitted(tmp_path / "votes.csv", named(Y))
    np.testing.assert_array_equal(model.classes_, NAMES)
    assert model.predict_proba(tmp_path / "votes.csv") == pytest.approx(fitted().predict_proba(L))


# Who is uncovered, and who votes.


def test_rows_without_a_vote_get_the_class_balance_and_are_marked():
    votes = L.copy()
    votes[100:110] = -1
    model = fitted(votes)
    rows = np.flatnonzero(model.uncovered_)
    assert np.isin(np.arange(40, 50), rows).all()
    np.testing.assert_array_equal(rows, np.flatnonzero((votes[60:] < 0).all(axis=1)))
    uncovered = model.predict_proba(np.full((2, 6), -1))
    assert uncovered == pytest.approx(np.tile(model.class_balance_, (2, 1)))
    most = model.classes_[model.class_balance_.argmax()]
    assert model.predict(np.full((1, 6), -1)).tolist() == [most]


def test_voters_without_a_labeled_row_are_heard_through_agreement():
    votes, y, _ = some(1000, 60, accuracy=[0.8] * 6, coverage=0.9)
    votes[:60, 3:] = -1
    votes[500:700, :3] = -1
    with pytest.warns(ShiftWarning):
        model = fitted(votes, y)
    balance = (votes == 1).sum(axis=1) - (votes == 0).sum(axis=1)
    only = np.arange(500, 700)[balance[500:700] != 0]
    np.testing.assert_array_equal(model.predict(votes[only]), balance[only] > 0)
    for votes_for in (0, 1):
        shares = model.predict_proba([[-1, -1, -1, votes_for, -1, -1]])
        assert shares[0, votes_for] > model.class_balance_[votes_for] + 0.05
    summary = model.voter_summary()
    assert (summary["Weight"][3:] > 0.3).all()
    assert summary["Emp. Acc."][3:].isna().all()


@pytest.mark.parametrize("rare", [0.5, 0.1], ids=["even", "rare"])
@pytest.mark.parametrize("seed", range(2))
def test_six_votes_for_a_class_never_come_out_as_the_other(rare, seed):
    """snorkel#1487. Only voters that their labels say are better than chance."""
    votes, y, _ = some(800, 80, seed=seed, accuracy=[0.75] * 6, coverage=0.5, rare=rare)
    model = fitted(votes, y)
    summary = model.voter_summary()
    assert (summary["Emp. Acc."] > 0.5).all()
    assert model.predict([[0] * 6, [1] * 6]).tolist() == [0, 1]


def test_copies_of_a_voter_do_not_make_it_surer():
    votes, y, truth = some(1000, 100, seed=3)
    copies = np.hstack([votes, np.repeat(votes[:, :1], 40, axis=1)])
    once, often = fitted(votes, y), fitted(copies, y)
    rest = slice(100, None)
    before = log_loss(truth[rest], once.predict_proba(votes)[rest])
    after = log_loss(truth[rest], often.predict_proba(copies)[rest])
    assert after <= before + 0.15
    accuracy = (often.transduction_ == truth)[rest].mean()
    assert accuracy > (votes[rest, 0] == truth[rest]).mean()
    assert often.predict_proba(copies)[rest].max(axis=1).mean() < accuracy + 0.05


def contradictory():
    """Copies of one voter, each labeled where the others are not, with labels that disagree."""
    rng = np.random.default_rng(0)
    common = rng.integers(2, size=500)
    votes = np.repeat(common[:, None], 30, axis=1)
    labeled = np.where(np.arange(300)[:, None] // 10 == np.arange(30), votes[:300], -1)
    wrong = (np.arange(300) // 10 % 2 == 0) ^ (rng.random(300) < 0.05)
    return labeled, np.where(wrong, 1 - common[:300], common[:300]), votes


def test_contradictory_bounds_give_a_message_that_names_voters_and_small_weights():
    labeled, y, votes = contradictory()
    with (
        pytest.warns(ShiftWarning),
        pytest.warns(ContradictionWarning, match=r"among them those of \d+, ") as record,
    ):
        model = VoteAggregator().fit(labeled, y, L_unlabeled=votes)
    assert all(warning.filename == __file__ for warning in record)
    assert np.abs(model.weights_).max() < 2
    assert model.certificate_.kind == "estimate"
    assert model.voter_summary()["Contradicts"].any()


def copies(seed, n_labeled, n_rows=3000, coverage=0.1, n_copies=60):
    """Near copies of a voter of 65 %, and four of 75 %; votes, y and truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_rows)
    common = np.where(rng.random(n_rows) < 0.65, truth, 1 - truth)[:, None]
    flipped = np.where(rng.random((n_rows, n_copies)) < 0.02, 1 - common, common)
    votes = np.c_[flipped, votes_on(truth, [0.75] * 4, 1.0, seed)]
    votes[rng.random(votes.shape) >= coverage] = -1
    return votes, np.where(np.arange(n_rows) < n_labeled, truth, -1), truth


@pytest.mark.parametrize("seed", range(2))
def test_more_votes_for_a_class_never_speak_against_it(seed):
    votes, y, _ = copies(seed, 50)
    model = fitted(votes, y)
    weights = model.voter_summary()["Weight"].to_numpy()
    order = np.argsort(-weights)[: np.count_nonzero(weights > 0)]
    for label in (0, 1):
        rows = np.full((order.size, votes.shape[1]), -1)
        rows[:, order] = np.where(np.tri(order.size, dtype=bool), label, -1)
        assert np.all(np.diff(model.predict_proba(rows)[:, label]) > -0.02)


def disjoint_voters(n_right):
    """Two copies of a voter, right on so many of 20 labels, and on as few; votes and y."""
    said = np.random.default_rng(0).integers(2, size=1000)
    votes = np.c_[said, said]
    votes[:20, 1] = votes[20:40, 0] = -1
    y = np.where(np.arange(1000) < 40, said, -1)
    y[n_right:20] = 1 - y[n_right:20]
    y[40 - n_right : 40] = 1 - y[40 - n_right : 40]
    return votes, y


def test_held_out_labels_test_the_predictions_whatever_the_voters_bounds_are():
    """They guarantee nothing here: voters agree on all unlabeled rows and on no labeled one."""
    votes, y = disjoint_voters(18)
    with pytest.warns(ContradictionWarning):
        model = fitted(votes, y, confidence_level=0.95, random_state=0)
    bound = model.certificate_
    assert (bound.kind, bound.reason, bound.n_tested) == ("estimate", SHIFTED_LABELS, 20)


def test_single_bounds_that_contradict_each_other_are_told_of():
    votes, y = disjoint_voters(16)
    with pytest.warns(ContradictionWarning, match="among them those of 0, 1"):
        model = fitted(votes, y)
    summary = model.voter_summary()
    assert summary["Lower"][0] > summary["Upper"][1]
    assert summary["Contradicts"].all()


def test_rows_that_come_in_turns_are_no_contradiction():
    """Two voters who agree on every other row, and never on those between."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=11_000)
    first = np.where(rng.random(truth.size) < 0.8, truth, 1 - truth)
    second = np.where(np.arange(truth.size) % 2, 1 - first, first)
    third = np.where(rng.random(truth.size) < 0.9, truth, 1 - truth)
    votes = np.c_[first, second, third]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContradictionWarning)
        VoteAggregator().fit(votes[:1000], truth[:1000], L_unlabeled=votes[1000:])


def test_a_sample_of_perfect_voters_is_no_contradiction(monkeypatch):
    """Played on 200 rows, on which voters are awake more often or less than on all."""
    monkeypatch.setattr("hedgeclipper.votes.labeled_votes.ROWS_IN_GAME", 200)
    votes, y, truth = some(3000, 100, accuracy=[1.0] * 20, coverage=0.3)
    model = fitted(votes, y, random_state=0)
    assert not model.voter_summary()["Contradicts"].any()
    voted = (votes >= 0).any(axis=1)
    assert (model.predict(votes) == truth)[voted].all()


# Bounds.


def test_a_guarantee_needs_a_confidence_level_and_labels_like_the_other_rows():
    estimate = fitted().certificate_
    assert estimate.kind == "estimate"
    assert "the fit used the labels" in estimate.reason
    model = fitted(confidence_level=0.9, random_state=0)
    bound = model.certificate_
    assert (bound.kind, bound.confidence_level, bound.reason) == ("guarantee", 0.9, "")
    assert (bound.n_tested, bound.n_unlabeled) == (30, 540)
    assert (model.n_labeled_, model.n_unlabeled_) == (60, 540)
    easy = votes_on(TRUTH, [0.9] * 6, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContradictionWarning)
        with pytest.warns(ShiftWarning):
            model.fit(easy, TRUTH, L_unlabeled=L)
    assert model.certificate_.kind == model.auto_label().kind == "estimate"
    assert "labeled and unlabeled rows differ" in model.certificate_.reason


def test_rows_without_a_vote_may_come_apart():
    uncovered = np.full((3, 6), -1)
    apart = VoteAggregator().fit(L[:60], Y[:60], L_unlabeled=uncovered)
    assert apart.transduction_.tolist() == [apart.classes_[apart.class_balance_.argmax()]] * 3


# What comes out.


def test_class_weights_are_the_scores_before_a_vote():
    """A vote of no weight leaves nothing else."""
    votes, y, _ = some(600, 200, accuracy=[0.5] * 3, coverage=0.1, rare=0.2)
    model = fitted(votes, y)
    shares = np.exp(model.class_weights_) / np.exp(model.class_weights_).sum()
    assert shares[0] > 0.6
    assert model.predict_proba([[0, -1, -1]])[0] == pytest.approx(shares, abs=0.1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_vote_weights_say_what_a_vote_adds(n_classes):
    """Log-odds of one vote are those of the classes and what it adds, in which Weight is a mean."""
    votes, y, _ = some(900, 90, n_classes=n_classes, accuracy=[0.6, 0.7, 0.8])
    model = fitted(votes, y)
    weights = model.vote_weights_
    assert weights.shape == (3, n_classes, n_classes)
    assert weights.sum(axis=2) == pytest.approx(0, abs=1e-9)
    shares = np.log(model.predict_proba([[-1, 1, -1]])[0])
    expected = model.class_weights_ + weights[1, 1]
    assert shares - shares.mean() == pytest.approx(expected - expected.mean(), abs=1e-6)
    own = np.diagonal(weights, axis1=1, axis2=2)
    said = np.array([(votes[90:] == label).sum(axis=0) for label in range(n_classes)]).T
    mean = np.average(own * n_classes / (n_classes - 1), axis=1, weights=said)
    assert model.voter_summary()["Weight"].to_numpy() == pytest.approx(mean)


def test_votes_are_no_metadata():
    assert "L" not in str(VoteAggregator().get_metadata_routing()).replace("L_unlabeled", "")


def test_it_can_be_pickled_and_cloned():
    model = fitted(confidence_level=0.9, random_state=0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(L), model.predict_proba(L))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(L)


def test_a_pickle_holds_the_votes_once():
    votes, y, _ = some(20_000, 100, accuracy=np.full(40, 0.7), coverage=0.5)
    matrix = Votes.of(votes).matrix
    n_bytes = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    # labels, who is uncovered, the rows of the game, and how uncertain predictions are
    rows = 20_000 * (8 + 1 + 8 + 8)
    assert len(pickle.dumps(fitted(votes, y))) < n_bytes + rows + 200_000


# Many rows.


def test_the_same_seed_gives_the_same_where_the_game_is_played_on_a_sample(monkeypatch):
    monkeypatch.setattr("hedgeclipper.votes.labeled_votes.ROWS_IN_GAME", 2_000)
    votes, y, truth = some(6_000, 500)
    one, other = (fitted(votes, y, random_state=0) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(votes), other.predict_proba(votes))
    whole = (one.transduction_ == truth)[500:].mean()
    shares = [np.mean(votes == k, axis=1) for k in (0, 1)]
    assert whole > np.mean((shares[1] > shares[0]) == truth)


# What is wrong.


@pytest.mark.parametrize(
    ("votes", "y", "message"),
    [
        (L, Y[:-1], "one entry for each of the 600 rows"),
        (L, np.full(600, -1), "no gold label"),
        (L, np.full(600, np.nan), "no gold label"),
        (np.zeros_like(L), np.where(Y >= 0, 0, -1), "at least two classes. Got one, 0"),
        (np.full((3, 2), np.nan), [0, 1, -1], "no votes: all voters abstain"),
        (np.empty((0, 3)), [], "one row and one voter"),
        (L[:, 0], Y, "must be a table"),
        (L + 0.5, Y, "must be whole"),
        (L, np.where(Y < 0, None, NAMES[Y]), "all numbers"),
        ([], [], "must be a table"),
    ],
)
def test_bad_votes_or_labels(votes, y, message):
    model = VoteAggregator()
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(votes, y)
    assert [name for name in vars(model) if name.endswith("_")] == []
    with pytest.raises(NotFittedError):
        model.predict(L)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("class_balance", [0.2, 0.3, 0.5], "must be 2 positive frequencies"),
        ("class_balance", [0.0, 1.0], "must be 2 positive frequencies"),
        ("class_balance", [0.2, 0.2], "add up to 1"),
        ("class_balance", [np.nan, 1.0], "must be 2 positive frequencies"),
        ("class_balance", "even", "class_balance"),
        ("class_balance", ["a", "b"], "class_balance"),
        ("class_balance", {0: 0.5, 1: 0.5}, "class_balance"),
        ("confidence_level", 0.0, "confidence_level"),
        ("confidence_level", 1.0, "confidence_level"),
    ],
)
def test_bad_parameters(parameter, value, message):
    with pytest.raises(ValueError, match=message):
        fitted(**{parameter: value})


def test_a_fit_that_fails_undoes_the_one_before():
    model = fitted()
    with pytest.raises(ValueError, match="no gold label"):
        model.fit(L, np.full(600, -1))
    asked = model.voter_summary, model.class_rates, lambda: model.transduction_
    for ask in (*asked, lambda: model.predict(L), lambda: model.predict_proba(L)):
        with pytest.raises(NotFittedError):
            ask()


def test_unknown_classes_and_voters_at_prediction():
    model = fitted()
    with pytest.raises(ValueError, match="has the class 7"):
        model.predict(np.full((2, 6), 7))
    with pytest.raises(ValueError, match="5 voters without names, and 6 are expected"):
        model.predict(L[:, :5])
    frame = pd.DataFrame(L).rename(columns="v{}".format)
    with pytest.raises(ValueError, match="not known: 'eve'"):
        fitted(frame).predict(frame.rename(columns={"v0": "eve"}))


def test_a_class_must_not_be_what_abstains():
    with pytest.raises(ValueError, match="both a class of the votes or of y, and abstain_label"):
        VoteAggregator().fit(L[:60], np.where(Y[:60] == 0, -1, 1), L_unlabeled=L[60:])


@pytest.mark.parametrize(("labeled", "elsewhere"), [(0.9, 0.6), (0.8, 0.6), (0.95, 0.5)])
def test_bounds_that_do_not_hold_make_no_result_worse_than_the_initial_model(labeled, elsewhere):
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=2000)
    accuracy = np.where(np.arange(2000) < 60, labeled, elsewhere)[:, None]
    votes = np.where(rng.random((2000, 30)) < accuracy, truth[:, None], 1 - truth[:, None])
    gold = np.where(np.arange(2000) < 60, truth, -1)
    with pytest.warns((ContradictionWarning, ShiftWarning)):
        model = VoteAggregator().fit(votes, gold)
    rows = LabeledVotes.of(Votes.of(votes), gold, None, -1)
    initial, _ = fit_initial_model(gather_evidence(rows, "labeled", None))
    before = initial.probabilities(VoteKernel(Votes.of(votes[60:])))
    assert log_loss(truth[60:], model.predict_proba(votes[60:])) < (
        log_loss(truth[60:], before) + 0.01
    )


def test_a_class_balance_that_was_given_is_tested_with_the_rest():
    rng = np.random.default_rng(0)
    truth = (rng.random(1000) < 0.1).astype(int)
    votes = np.where(rng.random((1000, 3)) < 0.8, truth[:, None], 1 - truth[:, None])
    gold = np.where(np.arange(1000) < 200, truth, -1)
    model = VoteAggregator(confidence_level=0.95, class_balance=[0.85, 0.15], random_state=0)
    assert model.fit(votes, gold).certificate_.kind == "guarantee"
    with pytest.warns(ContradictionWarning):
        model.set_params(class_balance="uniform").fit(votes, gold)
    bound = model.certificate_
    assert bound.kind == "guarantee"
    assert bound.error_lower <= np.mean(model.transduction_[200:] != truth[200:])


def test_minus_one_is_a_class_where_missing_labels_mark_rows_without():
    rng = np.random.default_rng(0)
    truth = rng.choice([-1, 1], 300)
    votes = np.where(rng.random((300, 4)) < 0.8, truth[:, None], -truth[:, None])
    model = VoteAggregator(abstain_label=0)
    model.fit(votes, np.where(np.arange(300) < 100, truth, np.nan))
    assert model.n_labeled_ == 100
    with pytest.raises(ValueError, match="-1 is a class of the votes"):
        model.fit(votes, np.where(np.arange(300) < 100, truth, -1))


def test_a_word_marks_rows_without_a_label_as_the_number_does():
    votes = [["no", "no"], ["yes", "yes"], ["yes", "-1"]]
    model = VoteAggregator().fit(votes, np.array(["no", "yes", "-1"]))
    assert model.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_gold_labels_are_matched_by_the_names_of_the_rows(kind):
    table = {"task": list("aabbcc"), "worker": list("uvuvuv"), "label": [0, 0, 1, 1, 1, 0]}
    votes, gold = Votes.from_long(table), {"c": 1, "a": 0}
    model = VoteAggregator().fit(votes, kind(gold))
    theirs = VoteAggregator().fit(votes, [0, None, 1])
    np.testing.assert_array_equal(model.predict_proba(votes), theirs.predict_proba(votes))
    assert model.n_labeled_ == 2
    with pytest.raises(ValueError, match="1 rows that are not among the votes, such as 'd'"):
        VoteAggregator().fit(votes, kind({"d": 1, "a": 0}))


def test_a_series_with_other_names_is_in_the_order_of_the_rows():
    table = {"task": list("aabbcc"), "worker": list("uvuvuv"), "label": [0, 0, 1, 1, 1, 0]}
    votes = Votes.from_long(table)
    model = VoteAggregator().fit(votes, pd.Series([0, 1, -1]))
    assert model.labeled_votes_.labeled.rows.tolist() == ["a", "b"]


def test_rows_without_names_are_labeled_by_number():
    votes, _, truth = some(300, 40, seed=5)
    chosen = np.arange(250, 290)
    model = VoteAggregator().fit(votes, {int(row): int(truth[row]) for row in chosen})
    assert (model.n_labeled_, model.n_unlabeled_) == (40, 260)
    np.testing.assert_array_equal(model.transduction_[chosen], truth[chosen])


def test_columns_of_frames_are_matched_by_name_also_if_these_are_numbers():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (50, 3)))
    model = VoteAggregator().fit(frame[[2, 1, 0]], [0, 1, *[-1] * 48])
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame[[2, 1, 0]]))
