"""Combine imperfect predictors with few labels and many unlabelled rows.

The stages, each a module of its own that hands plain data to the next:

batches
    where rows come from
specialists
    which voters are awake where, and what they say
correlations
    what the labels tell about each voter
game
    the weights that are best whatever the unlabelled rows' labels are, and what they guarantee

Names are loaded when they are first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgeclipper.aggregator import ContradictionWarning, VoteAggregator
    from hedgeclipper.correlations import LabelCorrelations, lower_bounds
    from hedgeclipper.forest import HedgeClipperClassifier
    from hedgeclipper.game.api import UnboundedGameWarning, solve_game
    from hedgeclipper.game.certificates import Certificate, certificate
    from hedgeclipper.game.contradiction import Contradiction, Relaxation, smallest_relaxation
    from hedgeclipper.game.losses import Loss, abstention_loss, cost_weighted_loss
    from hedgeclipper.game.solution import GameSolution
    from hedgeclipper.panel.members import MemberFailedWarning
    from hedgeclipper.plots.abstention import AbstentionDisplay
    from hedgeclipper.plots.convergence import ConvergenceDisplay
    from hedgeclipper.plots.live import LiveMargins
    from hedgeclipper.plots.margins import MarginDisplay
    from hedgeclipper.plots.reliability import ReliabilityDisplay
    from hedgeclipper.plots.voters import VoterDisplay
    from hedgeclipper.report.api import write_report
    from hedgeclipper.saving import ModelFileError, load, save
    from hedgeclipper.semi_supervised import (
        NoUnlabeledRowsWarning,
        SemiSupervisedSplit,
        ShiftWarning,
    )
    from hedgeclipper.votes.matrix import Votes
    from hedgeclipper.voting import HedgedVotingClassifier, NoJudgesWarning

__version__ = "0.1.0.dev0"

_HOME = {
    "ContradictionWarning": "aggregator",
    "VoteAggregator": "aggregator",
    "Votes": "votes.matrix",
    "LabelCorrelations": "correlations",
    "lower_bounds": "correlations",
    "UnboundedGameWarning": "game.api",
    "solve_game": "game.api",
    "Certificate": "game.certificates",
    "certificate": "game.certificates",
    "Contradiction": "game.contradiction",
    "Relaxation": "game.contradiction",
    "smallest_relaxation": "game.contradiction",
    "Loss": "game.losses",
    "abstention_loss": "game.losses",
    "cost_weighted_loss": "game.losses",
    "GameSolution": "game.solution",
    "HedgeClipperClassifier": "forest",
    "ShiftWarning": "semi_supervised",
    "AbstentionDisplay": "plots.abstention",
    "ConvergenceDisplay": "plots.convergence",
    "LiveMargins": "plots.live",
    "MarginDisplay": "plots.margins",
    "ReliabilityDisplay": "plots.reliability",
    "VoterDisplay": "plots.voters",
    "write_report": "report.api",
    "MemberFailedWarning": "panel.members",
    "ModelFileError": "saving",
    "load": "saving",
    "save": "saving",
    "HedgedVotingClassifier": "voting",
    "NoJudgesWarning": "voting",
    "NoUnlabeledRowsWarning": "semi_supervised",
    "SemiSupervisedSplit": "semi_supervised",
}

__all__ = [
    "AbstentionDisplay",
    "Certificate",
    "Contradiction",
    "ContradictionWarning",
    "ConvergenceDisplay",
    "GameSolution",
    "HedgeClipperClassifier",
    "HedgedVotingClassifier",
    "LabelCorrelations",
    "LiveMargins",
    "Loss",
    "MarginDisplay",
    "MemberFailedWarning",
    "ModelFileError",
    "NoJudgesWarning",
    "NoUnlabeledRowsWarning",
    "Relaxation",
    "ReliabilityDisplay",
    "SemiSupervisedSplit",
    "ShiftWarning",
    "UnboundedGameWarning",
    "VoteAggregator",
    "VoterDisplay",
    "Votes",
    "abstention_loss",
    "certificate",
    "cost_weighted_loss",
    "load",
    "lower_bounds",
    "save",
    "smallest_relaxation",
    "solve_game",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hedgeclipper' has no attribute {name!r}")
    return getattr(import_module(f"hedgeclipper.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
