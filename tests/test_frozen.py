"""What the package gives on small data, frozen: a redesign must not change it.

The figures are in ``frozen.json``. ``python -m tests.test_frozen`` writes them again, which is
right only where a result is meant to change.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import (
    HedgeClipperClassifier,
    VoteAggregator,
    solve_game,
)
from hedgeclipper.bounds.intervals import proportion_bounds, wilson_bounds

FIGURES = Path(__file__).parent / "frozen.json"
X, Y = make_classification(1500, 6, n_informative=4, flip_y=0.05, random_state=0)
L, U, T = slice(0, 200), slice(200, 1000), slice(1000, 1500)
THREE = np.digitize(X[:, 0] + X[:, 1], [-1.0, 1.0])


def bounds_of(model):
    """The error with its bounds and kind."""
    found = model.certificate_
    return [found.error, found.error_upper, found.error_lower, found.kind]


def figures_of(model, rows=X):
    """What a fitted classifier says of rows, and of itself."""
    return {
        "probabilities": model.predict_proba(rows[T])[:8].tolist(),
        "decisions": np.asarray(model.decision_function(rows[T]))[:8].tolist(),
        "predicted": np.bincount(np.searchsorted(model.classes_, model.predict(rows[T]))).tolist(),
        "certificate": bounds_of(model),
        "slack": np.atleast_1d(model.slack_).tolist(),
        "is_converged": bool(np.all(np.asarray(model.stop_reason_) == "converged")),
    }


OWN = [
    ("linear", LinearDiscriminantAnalysis()),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
]


def table(estimators="default", y=Y, **parameters):
    model = HedgeClipperClassifier(estimators, n_estimators=80, random_state=0, **parameters)
    model.fit(X[L], y[L], X_unlabeled=X[U])
    return {**figures_of(model), "weights": model.weights_.tolist()}


def crowd(n_classes):
    """Votes of eight voters of different accuracy, some abstain, on 600 rows."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, 600)
    accuracy = np.linspace(0.4, 0.9, 8)
    wrong = (truth[:, None] + rng.integers(1, n_classes, (600, 8))) % n_classes
    votes = np.where(rng.random((600, 8)) < accuracy, truth[:, None], wrong)
    votes[rng.random(votes.shape) < 0.3] = -1
    return votes, truth


def votes(n_classes=2, **parameters):
    cast, truth = crowd(n_classes)
    gold = np.where(np.arange(600) < 60, truth, -1)
    model = VoteAggregator(random_state=0, **parameters).fit(cast, gold)
    return {
        "probabilities": model.predict_proba(cast[60:68]).tolist(),
        "predicted": np.bincount(model.predict(cast).astype(int)).tolist(),
        "certificate": bounds_of(model),
        "correct": float(np.mean(model.predict(cast) == truth)),
    }


def small_game(**options):
    rng = np.random.default_rng(0)
    z = rng.choice([-1.0, 1.0], 400)
    cast = np.where(rng.random((400, 6)) < np.linspace(0.5, 0.8, 6), z[:, None], -z[:, None])
    cast[rng.random(cast.shape) < 0.2] = np.nan
    b = np.nanmean(cast * z[:, None], axis=0) - 0.05
    solution = solve_game(cast, b, tol=1e-6, **options)
    return {
        "slack": solution.slack,
        "worst_case_error": solution.worst_case_error,
        "predictions": solution.predictions(cast[:8]).tolist(),
    }


def bounds_on_correlations():
    rng = np.random.default_rng(0)
    z = rng.choice([-1.0, 1.0], 700)
    cast = np.where(rng.random((700, 5)) < np.linspace(0.6, 0.9, 5), z[:, None], -z[:, None])
    right, n_labels = np.sum(cast[:200] == z[:200, None], axis=0), np.full(5, 200)
    wilson = wilson_bounds(right / 200, n_labels, 0.05)
    exact = 2 * proportion_bounds(right, n_labels, 500, 0.05 / 5)[0] - 1
    return {"wilson": [(2 * part - 1).tolist() for part in wilson], "exact": exact.tolist()}


CASES = {
    "table": table,
    "table, three classes": lambda: table(y=THREE),
    "table, guarantee": lambda: table(confidence_level=0.95),
    "trees": lambda: table("trees"),
    "trees, three classes": lambda: table("trees", THREE),
    "trees, guarantee": lambda: table("trees", confidence_level=0.95),
    "own classifiers": lambda: table(OWN),
    "own classifiers, three classes": lambda: table(OWN, THREE),
    "own classifiers, guarantee": lambda: table(OWN, confidence_level=0.95),
    "votes": votes,
    "votes, three classes": lambda: votes(3),
    "votes, guarantee": lambda: votes(confidence_level=0.95),
    "game, zero-one loss": small_game,
    "game, anchor": lambda: small_game(ridge=1.0, anchor=0.3),
    "bounds on correlations": bounds_on_correlations,
}


def computed(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name]()


# with other versions of the libraries and other processors, weights of classifiers differ more
# log-odds differ by 0.12 where probabilities near one half differ by 0.03
LOOSE = {"decisions": 0.12, "weights": 0.1, "probabilities": 0.03}


def assert_close(ours, theirs, tolerance=1e-2, loose=()):
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            assert_close(ours[key], theirs[key], dict(loose).get(key, tolerance))
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_close(one, other, tolerance)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, abs=tolerance, rel=tolerance)
    elif isinstance(theirs, int) and not isinstance(theirs, bool):
        assert ours == pytest.approx(theirs, abs=2)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", CASES)
def test_what_was_so_before(name):
    theirs = json.loads(FIGURES.read_text())[name]
    is_table = name.startswith(("table", "trees", "own classifiers"))
    assert_close(computed(name), theirs, loose=LOOSE if is_table else {})


if __name__ == "__main__":
    figures = {name: computed(name) for name in CASES}
    short = json.loads(json.dumps(figures), parse_float=lambda digits: round(float(digits), 5))
    lines = [f" {json.dumps(name)}: {json.dumps(found)}" for name, found in short.items()]
    FIGURES.write_text("{\n" + ",\n".join(lines) + "\n}\n")
