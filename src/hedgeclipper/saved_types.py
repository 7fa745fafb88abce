"""Our types that a saved model is made of: `persistence.load` creates no others of ours.

Files name them by module and class. Whenever one of them is renamed or moved, or stores something
else, `persistence.FORMAT` is raised.
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
