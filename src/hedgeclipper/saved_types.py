"""Our types that a saved model is made of, under the names that files have for them.

Files know no modules of ours but this one: they say ``hedgeclipper.saved_types.Votes``. A class
that moves is imported from its new place, one that is renamed keeps its old name here (``import
NewName as OldName``), and a new one is added; `persistence.load` makes no others. Where what a
class stores changes, so that older files cannot be read, `persistence.FORMAT` is raised.
"""

# ruff: noqa: F401
from hedgeclipper.base.columns import ColumnEncoder, ColumnPlan
from hedgeclipper.base.predictions import TablePredictor
from hedgeclipper.base.semi_supervised import BatchCheck, SemiSupervisedSplit
from hedgeclipper.base.semi_supervised_classifier import NamedColumns
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.checked_rule import CheckedRule
from hedgeclipper.bounds.class_rates import RateEvidence
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.game.losses import (
    LogLoss,
    MulticlassLogLoss,
    MulticlassSquareLoss,
    MulticlassZeroOneLoss,
    SquareLoss,
    ZeroOneLoss,
)
from hedgeclipper.table_inspection import UnlabeledGain
from hedgeclipper.voters.tree_groups import TreeGroup, TreeScorer
from hedgeclipper.voters.trees import PackedTrees
from hedgeclipper.voters.views import Components, QuantileColumns
from hedgeclipper.voters.voters import VoterScorer
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.initial_model import InitialModel, VotePredictor
from hedgeclipper.votes.labeled_votes import LabeledVotes
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.vote_game import Constraints, VoterBounds
from hedgeclipper.weighing import Calibration, RankScale, TreeScale, WeightedVote
