"""Combine imperfect predictors with few labels and many unlabeled rows.

`HedgeClipperClassifier` is for tables: a vote of different classifiers, which learn from all rows.
`VoteAggregator` makes labels of votes. Under both is one zero-sum game, which `solve_game`
solves for any votes. ``io`` reads rows from arrays, files and clusters, and ``datasets`` has two
data sets to try them on. ``paper`` has the algorithm that all of this began with.

Names are loaded when they are first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgeclipper.base.columns import ColumnWarning
    from hedgeclipper.base.evaluation import Evaluation, SeenRowsWarning
    from hedgeclipper.base.predictions import NeverPredictedWarning
    from hedgeclipper.base.row_reader import NoUnlabeledRowsWarning, ShiftWarning
    from hedgeclipper.base.semi_supervised import SemiSupervisedSplit
    from hedgeclipper.bounds.audit import Audit, audit
    from hedgeclipper.bounds.auto_labels import AutoLabels
    from hedgeclipper.bounds.certificate import Certificate, ClassRates
    from hedgeclipper.bounds.sample import Sample, draw_sample
    from hedgeclipper.classifier import HedgeClipperClassifier
    from hedgeclipper.game.equations import Contradiction
    from hedgeclipper.game.solve import GameSolution, solve_game
    from hedgeclipper.labeling.loop import LabelingLoop
    from hedgeclipper.persistence import ModelFileError, load, save
    from hedgeclipper.report.displays import PlanDisplay
    from hedgeclipper.report.page import write_report
    from hedgeclipper.voters.classifiers import VoterFailedWarning, default_estimators
    from hedgeclipper.votes.aggregator import VoteAggregator
    from hedgeclipper.votes.matrix import Votes
    from hedgeclipper.votes.vote_game import ContradictionWarning
    from hedgeclipper.weighing import NoHeldOutRowsWarning

__version__ = "0.3.0"

_HOME = {
    "ClassRates": "bounds.certificate",
    "Evaluation": "base.evaluation",
    "ColumnWarning": "base.columns",
    "ContradictionWarning": "votes.vote_game",
    "VoteAggregator": "votes.aggregator",
    "Votes": "votes.matrix",
    "LabelingLoop": "labeling.loop",
    "solve_game": "game.solve",
    "Audit": "bounds.audit",
    "audit": "bounds.audit",
    "Sample": "bounds.sample",
    "draw_sample": "bounds.sample",
    "AutoLabels": "bounds.auto_labels",
    "Certificate": "bounds.certificate",
    "Contradiction": "game.equations",
    "GameSolution": "game.solve",
    "HedgeClipperClassifier": "classifier",
    "SeenRowsWarning": "base.evaluation",
    "ShiftWarning": "base.row_reader",
    "PlanDisplay": "report.displays",
    "write_report": "report.page",
    "VoterFailedWarning": "voters.classifiers",
    "default_estimators": "voters.classifiers",
    "ModelFileError": "persistence",
    "load": "persistence",
    "save": "persistence",
    "NeverPredictedWarning": "base.predictions",
    "NoHeldOutRowsWarning": "weighing",
    "NoUnlabeledRowsWarning": "base.row_reader",
    "SemiSupervisedSplit": "base.semi_supervised",
}

__all__ = [
    "Audit",
    "AutoLabels",
    "Certificate",
    "ClassRates",
    "Contradiction",
    "ColumnWarning",
    "ContradictionWarning",
    "Evaluation",
    "GameSolution",
    "HedgeClipperClassifier",
    "LabelingLoop",
    "VoterFailedWarning",
    "ModelFileError",
    "NeverPredictedWarning",
    "NoHeldOutRowsWarning",
    "NoUnlabeledRowsWarning",
    "PlanDisplay",
    "Sample",
    "SemiSupervisedSplit",
    "SeenRowsWarning",
    "ShiftWarning",
    "VoteAggregator",
    "Votes",
    "audit",
    "default_estimators",
    "draw_sample",
    "load",
    "save",
    "solve_game",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hedgeclipper' has no attribute {name!r}")
    # kept, so that a name is looked up here once
    found = globals()[name] = getattr(import_module(f"hedgeclipper.{_HOME[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
