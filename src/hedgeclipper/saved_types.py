"""Our types that a saved model is made of, under the names that files have for them.

Files know no modules of ours but this one: they say ``hedgeclipper.saved_types.Votes``. A class
that moves is imported from its new place, one that is renamed keeps its old name here (``import
NewName as OldName``), and a new one is added; `persistence.load` makes no others. Where what a
class stores changes, so that older files cannot be read, `persistence.FORMAT` is raised.
"""

# ruff: noqa: F401
from hedgeclipper.base.columns import ColumnEncoder, ColumnPlan
from hedgeclipper.base.predictions import Calibration, PanelGame, ProbabilityScale, VoteScale
from hedgeclipper.base.semi_supervised import BatchCheck, SemiSupervisedSplit
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.checked_rule import CheckedRule
from hedgeclipper.bounds.class_rates import RateEvidence
from hedgeclipper.forest.classifier import HedgeClipperClassifier
from hedgeclipper.forest.forest_inspection import UnlabeledGain
from hedgeclipper.forest.groups import GroupPredictor, GroupScorer, ScoredGroups
from hedgeclipper.forest.trees import PackedTrees
from hedgeclipper.forest.views import Components, ViewedTrees
from hedgeclipper.game.losses import (
    LogLoss,
    MulticlassLogLoss,
    MulticlassSquareLoss,
    MulticlassZeroOneLoss,
    SquareLoss,
    ZeroOneLoss,
)
from hedgeclipper.panel.classifier import HedgedVotingClassifier
from hedgeclipper.panel.fitting import NamedColumns, PanelPredictor
from hedgeclipper.panel.panel_views import QuantileColumns
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.initial_model import InitialModel, VotePredictor
from hedgeclipper.votes.labeled_votes import LabeledVotes
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.vote_game import Constraints, VoterBounds
