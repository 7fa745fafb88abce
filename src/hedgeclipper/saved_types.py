"""Our types that a saved model is made of: `persistence.load` creates no others of ours.

Files name them by module and class. Whenever one of them is renamed or moved, or stores something
else, `persistence.FORMAT` is raised.
"""

# ruff: noqa: F401
from hedgeclipper.base.columns import ColumnEncoder, ColumnPlan, ColumnScale
from hedgeclipper.base.predictions import TablePredictor
from hedgeclipper.base.semi_supervised import BatchCheck, SemiSupervisedSplit
from hedgeclipper.base.table_classifier import NamedColumns
from hedgeclipper.bounds.certificate import Certificate
from hedgeclipper.bounds.class_rates import RateEvidence
from hedgeclipper.bounds.tested_predictions import TestedPredictions
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.game.losses import (
    LogLoss,
    MulticlassLogLoss,
    MulticlassSquareLoss,
    MulticlassZeroOneLoss,
    SquareLoss,
    ZeroOneLoss,
)
from hedgeclipper.table_inspection import TestedRows, UnlabeledGain
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
