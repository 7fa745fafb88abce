"""HedgedVotingClassifier: any classifiers, weighed by few labels and many unlabelled rows."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import _BaseComposition

from hedgeclipper.console import member_reporter
from hedgeclipper.estimator import SemiSupervisedClassifier
from hedgeclipper.game.losses import Loss
from hedgeclipper.panel.calibration import calibrate
from hedgeclipper.panel.defaults import default_panel
from hedgeclipper.panel.members import (
    Member,
    MemberRows,
    check_estimators,
    choose_folds,
    cross_fit,
    judge_prefit,
)
from hedgeclipper.panel.panel_certificate import HardVotes, certify_panel
from hedgeclipper.panel.panel_predictor import PanelGame, PanelPredictor, panel_scores
from hedgeclipper.panel.regions import KINDS
from hedgeclipper.panel.scales import VoteScale
from hedgeclipper.panel.summary import summarise
from hedgeclipper.panel.weighing import JudgedVotes, PanelSolution, play_panel_game
from hedgeclipper.rows import RowBatches, is_dask, sample_rows
from hedgeclipper.semi_supervised import SemiSupervisedRows

ROWS_FOR_VIEWS = 10_000
ROWS_IN_GAME = 100_000
SHARE_HELD_OUT = 0.5
