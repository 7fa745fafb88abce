"""Settings: functions from a draw to an outcome, all built on the base forest of the draw."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import RandomForestClassifier

from benchmarks.ablations.study import Outcome, Setting
from benchmarks.draws import Draw
from benchmarks.methods import base_forest
from benchmarks.methods.method import Method, probability
from hedgeclipper import HedgeClipperClassifier, LeafGame


def grow(draw: Draw, changes: dict[str, Any]) -> RandomForestClassifier:
    """Return the base forest with some parameters changed, not fitted."""
    return base_forest.forest(draw).set_params(**changes)


def forest(**changes: Any) -> Setting:
    """Return the setting of the base forest itself, with some of its parameters changed."""

    def run(draw: Draw) -> Outcome:
        return Outcome(probability(grow(draw, changes).fit(draw.X, draw.y), draw.X_scored))

    return run


def hedgeclipper(
    *, changes: dict[str, Any] | None = None, as_in_paper: bool = False, **parameters: Any
) -> Setting:
    """Return the setting of HedgeClipper with these parameters.

    Parameters
    ----------
    changes : dict, optional
        Parameters of the forest that are not the base forest's.
    as_in_paper : bool
        Whether the other parameters are the paper's instead of the default ones.
    **parameters
        Parameters of the classifier.
    """

    def run(draw: Draw) -> Outcome:
        return fit(draw, draw.X_unlabeled, changes, as_in_paper, **parameters)

    return run


def fit(
    draw: Draw,
    X_unlabeled: Any,
    changes: dict[str, Any] | None = None,
    as_in_paper: bool = False,
    **parameters: Any,
) -> Outcome:
    """Return what HedgeClipper gives with these unlabeled rows; None is none at all."""
    make = HedgeClipperClassifier.as_in_paper if as_in_paper else with_game
    model = make(estimator=grow(draw, changes or {}), random_state=draw.seed, **parameters)
    model.fit(draw.X, draw.y, X_unlabeled=X_unlabeled)
    (slack,), (gap,) = model.slack_, model.duality_gap_
    return Outcome(probability(model, draw.X_scored), slack, gap)


def with_game(**parameters: Any) -> HedgeClipperClassifier:
    """Return the classifier; settings of its game are given by their names, too."""
    of_game = LeafGame().get_params().keys() & parameters.keys()
    game = LeafGame(**{name: parameters.pop(name) for name in of_game})
    return HedgeClipperClassifier(game=game, **parameters)


def method(column: Method) -> Setting:
    """Return the setting of a column of the paper's table."""

    def run(draw: Draw) -> Outcome:
        return Outcome(column.scores(draw))

    return run


# What many studies have in common is run once for each draw.
FOREST = "base forest"
BASE_FOREST = forest()
DEFAULT = hedgeclipper()
PAPER = hedgeclipper(as_in_paper=True)
TREES = hedgeclipper(specialists="trees")
