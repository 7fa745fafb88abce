import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn.metrics import cohen_kappa_score

from hedgeclipper import audit, draw_sample
from hedgeclipper.bounds.agreement import precision_recall, segment_errors
from hedgeclipper.bounds.audit import EXTENDED_SAMPLE, SHIFTED_ROWS
from hedgeclipper.bounds.sequential import accept_rows_so_far
from hedgeclipper.bounds.whole_file import accept_rows, order_by_uncertainty

N_ROWS = 2000


def predictions(seed=0, n_rows=N_ROWS, error=0.15):
    """Return truth, predictions that are wrong the more often the less sure, and confidences."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n_rows) < 0.3, "yes", "no")
    confidences = rng.random(n_rows)
    wrong = rng.random(n_rows) < 2 * error * (1 - confidences)
    return truth, np.where(wrong, np.where(truth == "yes", "no", "yes"), truth), confidences


def test_bounds_are_those_of_the_hypergeometric_distribution():
    truth, predicted, _ = predictions()
    sample = draw_sample(N_ROWS, 150)
    found = audit(predicted, sample, truth[sample.rows])
    k = found.n_wrong
    assert k == np.sum(predicted[sample.rows] != truth[sample.rows]) > 0
    totals = np.arange(k, N_ROWS - 150 + k + 1)
    most = totals[hypergeom.cdf(k, N_ROWS, totals, 150) > 0.05].max()
    least = totals[hypergeom.sf(k - 1, N_ROWS, totals, 150) > 0.05].min()
    assert (found.error_lower, found.error_upper) == (least / N_ROWS, most / N_ROWS)
    assert found.kappa == pytest.approx(
        cohen_kappa_score(truth[sample.rows], predicted[sample.rows])
    )
    assert found.baseline == np.mean(truth[sample.rows] == "yes")
    assert found.proves(most / N_ROWS)
    assert not found.proves((most - 1) / N_ROWS)


@pytest.mark.parametrize(
    ("sequential", "test", "limit"), [(False, accept_rows, 106), (True, accept_rows_so_far, 103)]
)
def test_the_file_the_segments_and_the_classes_are_those_of_the_tests_of_their_rows(
    sequential, test, limit
):
    """Segments share the level, and so do classes. One more error would allow one more."""
    truth, predicted, confidences = predictions()
    confidences = np.round(confidences, 2)  # many ties
    sample, segments = draw_sample(N_ROWS, 200, seed=2), np.arange(N_ROWS) % 3
    known, rows = {"confidences": confidences, "max_error": limit / N_ROWS}, sample.rows
    ways = {"a": segments, "b": segments // 2}
    found = audit(
        predicted, sample, truth[rows], **known, sequential=sequential,
        segments=ways, classes=["no", "yes"], confidence_level=0.75,
    )  # fmt: skip
    wrong, order = predicted[rows] != truth[rows], order_by_uncertainty(-confidences, 0)
    accepted = test(order, rows, wrong, limit=limit, delta=0.25).is_accepted
    review = ~accepted & ~np.isin(np.arange(N_ROWS), rows)
    assert 0.1 < review.mean() < 0.9
    np.testing.assert_array_equal(found.needs_review, review)
    options = {"delta": 0.125, "sequential": sequential}
    for name, own in ways.items():
        theirs = segment_errors(own, rows, wrong, **options)
        np.testing.assert_array_equal(found.segments[name].lower, theirs.lower)
        np.testing.assert_array_equal(found.segments[name].upper, theirs.upper)
    for one in found.classes:
        own = predicted == one.label, rows, truth[rows] == one.label
        assert one.rates == precision_recall(*own, **options)


def test_which_rows_are_checked_does_not_change_the_order():
    """With right labels only, whatever sample: the order of review is that of the confidences."""
    _, predicted, confidences = predictions()
    confidences = np.round(confidences, 1)  # many ties
    ranks = []
    for seed in (1, 2):
        sample = draw_sample(N_ROWS, 20, seed=seed)
        found = audit(
            predicted, sample, predicted[sample.rows], confidences=confidences, max_error=0.01
        )
        assert found.file.n_automatic == 0
        ranks.append([row for row in found.review_order if row not in sample.rows])
    both = set(ranks[0]) & set(ranks[1])
    assert [row for row in ranks[0] if row in both] == [row for row in ranks[1] if row in both]
    assert np.all(np.diff(confidences[found.review_order]) >= 0)


def test_undecided_rows_count_as_wrong_and_stay_open():
    _truth, predicted, confidences = predictions()
    sample = draw_sample(N_ROWS, 200)
    labels = predicted[sample.rows].astype(object)
    plain = audit(predicted, sample, labels)
    labels[[3, 7]] = None
    found = audit(predicted, sample, labels, confidences=confidences, max_error=0.05)
    assert (plain.n_wrong, found.n_wrong, found.n_skipped) == (0, 2, 2)
    assert found.error_upper > plain.error_upper
    assert found.error_lower == 0
    assert found.needs_review[sample.rows[[3, 7]]].all()
    assert found.needs_review[sample.rows].sum() == 2
    assert "2 of them not decided" in found.describe()


def test_labels_at_the_end_have_not_been_seen_yet_at_every_look():
    truth, predicted, _ = predictions()
    sample = draw_sample(N_ROWS, 200)
    labels = np.where(np.arange(200) < 90, truth[sample.rows], None)
    labels[10] = None
    found = audit(predicted, sample, labels, sequential=True)
    assert (found.n_checked, found.n_skipped) == (90, 1)
    assert "at every look" in found.describe()
    assert audit(predicted, sample, labels).n_skipped == 111


def test_rows_labeled_before_the_draw_are_not_tested():
    truth, predicted, confidences = predictions()
    before = np.arange(0, N_ROWS, 10)
    sample = draw_sample(N_ROWS, 200, excluded=before)
    found = audit(predicted, sample, truth[sample.rows], confidences=confidences, max_error=0.05)
    assert not np.isin(sample.rows, before).any()
    assert (found.n_rows, found.n_pool) == (N_ROWS, N_ROWS - 200)
    assert not found.needs_review[before].any()
    assert found.is_checked[before].all()
    # nothing tests what was predicted for them, and their labels are not known here
    assert np.array_equal(np.equal(found.labels, None), np.isin(np.arange(N_ROWS), before))
    # the limit counts all rows of the file: 100 of 2,000
    assert found.file.error_upper <= 100 / N_ROWS


def test_rows_without_a_prediction_are_wrong_and_need_review():
    truth, predicted, confidences = predictions(error=0.0)
    predicted = predicted.astype(object)
    predicted[:40] = None
    confidences[:40] = np.nan
    sample = draw_sample(N_ROWS, 300)
    found = audit(predicted, sample, truth[sample.rows], confidences=confidences, max_error=0.05)
    assert found.n_wrong == np.sum(sample.rows < 40) > 0
    assert found.needs_review[:40].sum() == 40 - found.n_wrong
    assert found.needs_review.sum() == 40 - found.n_wrong
    assert np.array_equal(np.equal(found.labels, None), found.needs_review)


def test_what_turns_a_guarantee_into_an_estimate():
    truth, predicted, confidences = predictions()
    sample = draw_sample(N_ROWS, 100)
    easy = np.argsort(-confidences)[:200]
    found = audit(predicted, easy, truth[easy], confidences=confidences)
    assert (found.kind, found.reason) == ("estimate", SHIFTED_ROWS)
    assert not found.proves(0.99)
    assert "guaranteed" not in found.describe()
    more = sample.extended(200)
    assert np.array_equal(more.rows[:100], sample.rows)
    found = audit(predicted, more, truth[more.rows])
    assert (found.kind, found.reason) == ("estimate", EXTENDED_SAMPLE)
    assert audit(predicted, more, truth[more.rows], sequential=True).kind == "guarantee"


def test_words_tell_what_is_known_of_the_draw():
    truth, predicted, _ = predictions()
    sample = draw_sample(N_ROWS, 200, seed=4)
    recorded = audit(predicted, sample, truth[sample.rows]).describe()
    assert "200 of 2,000 rows, drawn at random with seed 4" in recorded
    stated = audit(predicted, sample.rows, truth[sample.rows]).describe()
    assert "random sample of all rows, and had no part in the predictions" in stated


def test_too_few_labels_name_the_number_needed():
    _truth, predicted, confidences = predictions(n_rows=8000)
    sample = draw_sample(8000, 40)
    found = audit(
        predicted, sample, predicted[sample.rows], confidences=confidences, max_error=0.05
    )
    assert found.needs_review.sum() == 7960
    assert "at least 59 random test labels are needed; there are 40" in found.describe()


def test_a_limit_that_the_majority_class_passes():
    truth = np.where(np.arange(N_ROWS) % 33 == 0, "yes", "no")
    sample = draw_sample(N_ROWS, 300)
    found = audit(
        np.full(N_ROWS, "no"),
        sample,
        truth[sample.rows],
        confidences=np.zeros(N_ROWS),
        max_error=0.06,
        classes=["yes"],
    )
    assert found.file.n_automatic == N_ROWS - 300
    assert "always guessing no would be allowed, too" in found.describe()
    assert found.classes[0].rates.recall_upper < 0.5


def test_the_price_of_a_recall_comes_first():
    truth = np.where(np.arange(50_000) % 33 == 0, "yes", "no")
    sample = draw_sample(50_000, 400)
    found = audit(truth, sample, truth[sample.rows], classes="yes")
    text = found.classes[0].describe()
    assert text.startswith('To prove a recall of 95% for "yes"')
    # at a recall of 95% so many rows of the class are missed, and the fewest that would find one
    n_others, n = np.sum(truth == "no"), found.classes[0].n_for_recall
    missed = int(0.05 * found.classes[0].prevalence * n_others)
    assert hypergeom.pmf(0, n_others, missed + 1, n) <= 0.025
    assert hypergeom.pmf(0, n_others, missed + 1, n - 1) > 0.025


BAD = {
    "no row": ({"predictions": []}, "one row at least"),
    "not checked": ({"rows": [], "labels": []}, "No row was checked"),
    "other number of labels": ({"labels": ["a"]}, "one entry for each of the 2 checked rows"),
    "a row twice": ({"rows": [1, 1]}, "Got row 1 more than once"),
    "a row outside": ({"rows": [1, 9]}, "Got row 9"),
    "none decided": ({"labels": [None, None]}, "None of the 2 checked rows has a label"),
    "kinds": ({"labels": [0, 1]}, "must be of one kind"),
    "other classes": ({"labels": ["c", "d"]}, "No label is a predicted class"),
    "nan": ({"confidences": [0.1, np.nan, 1, 1]}, "Got nan in row 1"),
    "infinite": ({"uncertainties": [0.1, 1, 1, np.inf]}, "Got inf in row 3"),
    "shape": ({"confidences": [0.1]}, "one number for each of the 4 rows"),
    "both": ({"confidences": [1] * 4, "uncertainties": [1] * 4}, "not both"),
    "no order": ({"max_error": 0.05}, "needs uncertainties or confidences"),
    "max_error 0": ({"max_error": 0, "confidences": [1] * 4}, "strictly between 0 and 1"),
    "max_error 1": ({"max_error": 1, "confidences": [1] * 4}, "strictly between 0 and 1"),
    "level": ({"confidence_level": 1.0}, "confidence_level"),
    "unknown class": ({"classes": ["z"]}, "No prediction and no label is 'z'"),
    "segments": ({"segments": ["x"]}, "one for each of the 4 rows"),
    "groups": ({"groups": ["x"]}, "one for each of the 4 rows"),
    "rows as a mask": ({"rows": [True, False]}, "np.flatnonzero"),
    "rows as text": ({"rows": "sample.csv"}, "must be the Sample of draw_sample, or positions"),
    "text": ({"confidences": ["high"] * 4}, "confidences must be numbers"),
    "limits": ({"max_error": {"a": 0.1}, "confidences": [1] * 4}, "one number for the file"),
    "a segment is missing": ({"segments": ["x", None, "y", "y"]}, "Got none in row 1"),
    "a group is missing": ({"groups": [1.0, 1.0, np.nan, 2.0]}, "Got none in row 2"),
    "groups of a sample": ({"rows": draw_sample(4, 2), "groups": ["x"]}, "one for each of the 4"),
    "labeled after": ({"labeled_after": [7]}, "labeled_after must be rows 0 to 3. Got row 7"),
    "labeled after 1": ({"labeled_after": 0.5}, "labeled_after must be positions of rows"),
    "other rows": ({"rows": draw_sample(7, 2)}, "drawn from 7 rows. Got 4"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    given = {"predictions": ["a", "b", "a", "b"], "rows": [0, 1], "labels": ["a", "b"]}
    changed, message = BAD[name]
    with pytest.raises((ValueError, TypeError), match=message):
        audit(**{**given, **changed})


def test_a_sample_of_groups_is_refused():
    truth, predicted, _ = predictions()
    groups = np.arange(N_ROWS) // 20
    whole = np.flatnonzero(np.isin(groups, [3, 17, 40, 41, 88]))
    with pytest.raises(ValueError, match="come from 5 of 100 groups"):
        audit(predicted, whole, truth[whole], groups=groups)
    sample = draw_sample(N_ROWS, 100)
    assert audit(predicted, sample.rows, truth[sample.rows], groups=groups).kind == "guarantee"


def test_everything_checked_leaves_nothing_open():
    truth, predicted, confidences = predictions(n_rows=50)
    found = audit(
        predicted,
        draw_sample(50, 50),
        truth[draw_sample(50, 50).rows],
        confidences=confidences,
        max_error=0.01,
    )
    assert found.error_lower == found.error_upper == np.mean(predicted != truth)
    assert not found.needs_review.any()
    assert np.array_equal(found.labels, truth)


def test_undecided_rows_count_as_wrong_whatever_number_is_predicted():
    sample = draw_sample(N_ROWS, 50)
    for label in (0, 1):
        labels = [None, None] + [label] * 48
        found = audit(np.full(N_ROWS, label), sample, labels)
        assert (found.n_wrong, found.n_skipped) == (2, 2)
        assert found.error_lower == 0


def test_the_guarantee_is_for_the_first_error_and_predictions_asked_of_a_sample():
    truth, predicted, confidences = predictions()
    sample = draw_sample(N_ROWS, 300)
    known = {"rows": sample, "labels": truth[sample.rows], "confidences": confidences}
    first, again = (audit(predicted, **known, max_error=0.1) for _ in range(2))
    assert first.file.kind == again.file.kind == "guarantee"
    for more in ({"max_error": 0.05}, {"max_error": 0.1, "confidence_level": 0.9}):
        other = audit(predicted, **known, **more)
        assert (other.kind, other.file.kind) == ("guarantee", "estimate")
        assert "have answered max_error=0.1 with 95% confidence before" in other.describe()
    changed = np.where(np.arange(N_ROWS) < 50, "no", predicted)
    other = audit(changed, **known, max_error=0.1)
    assert "have tested other predictions before" in other.describe()
    # a look at every label asks the same question again and again
    looks = draw_sample(N_ROWS, 300, seed=1)
    for n_seen in (100, 200):
        seen = np.where(np.arange(300) < n_seen, truth[looks.rows], None)
        known = {"confidences": confidences, "max_error": 0.1, "sequential": True}
        assert audit(predicted, looks, seen, **known).file.kind == "guarantee"
    seen[50] = "a class with a long name that nobody has predicted"
    assert audit(predicted, looks, seen, **known).file.kind == "guarantee"


def test_the_best_of_several_audited_predictions_is_an_estimate():
    """In 40% of such samples more than 10% of the file that was finished were wrong."""
    rng, sample = np.random.default_rng(0), draw_sample(N_ROWS, 200)
    truth, confidences = rng.integers(2, size=N_ROWS), rng.random(N_ROWS)
    several = [np.where(rng.random(N_ROWS) < 0.12, 1 - truth, truth) for _ in range(20)]
    audits = [audit(one, sample, truth[sample.rows]) for one in several]
    best = several[int(np.argmin([found.error for found in audits]))]
    known = {"confidences": confidences, "max_error": 0.1}
    assert audit(best, sample, truth[sample.rows], **known).file.kind == "estimate"
    assert audit(several[0], sample, truth[sample.rows], **known).file.kind == "guarantee"
    # another order of the same predictions is another question
    known["confidences"] = -confidences
    assert audit(several[0], sample, truth[sample.rows], **known).file.kind == "estimate"


def test_who_has_seen_an_answer_can_choose_no_other_order_or_test():
    """The best of twelve orders of equally sure rows broke its guarantee in 18% of samples."""
    truth, predicted, _ = predictions()
    sample = draw_sample(N_ROWS, 300)
    known = {"confidences": np.ones(N_ROWS), "max_error": 0.1}
    asked = predicted, sample, truth[sample.rows]
    with pytest.raises(TypeError, match="seed"):
        audit(*asked, **known, seed=1)
    assert audit(*asked, **known, sequential=True).file.kind == "guarantee"
    found = audit(*asked, **known)
    assert found.file.kind == "estimate"
    assert "max_error=0.1 with 95% confidence at every look before" in found.describe()


def test_nothing_is_left_to_review_if_people_have_labeled_all_rows():
    truth, predicted, confidences = predictions()
    found = audit(predicted, np.arange(N_ROWS), truth, confidences=confidences, max_error=0.05)
    assert not found.needs_review.any()
    assert "need review" not in found.describe()


def test_one_class_has_no_kappa():
    found = audit(["no"] * 100, np.arange(40), ["no"] * 40)
    assert np.isnan(found.kappa)
    assert "nan" not in found.describe()
