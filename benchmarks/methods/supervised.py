"""Classifiers of scikit-learn and LightGBM, fitted to the labeled rows; most have their defaults.

LightGBM also has settings for few labels: small trees, a slow rate, and leaves of a twentieth of
the labels; they are the best of eight on a fourth draw of the settings in `benchmarks.rivals`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression

from benchmarks.draws import Draw, one_hot
from benchmarks.methods.method import Method, imputed, scaled
from hedgeclipper import HedgeClipperClassifier

N_TREES = HedgeClipperClassifier().n_estimators
EQUAL_FOREST = f"random-forest-{N_TREES}"


def method(
    name: str, title: str, make: Callable[[Draw, int], Any], is_member: bool = True
) -> Method:
    def probabilities(draw: Draw, n_jobs: int) -> np.ndarray:
        draw = one_hot(draw)
        return make(draw, n_jobs).fit(draw.X, draw.y).predict_proba(draw.X_scored)

    return Method(name, title, probabilities, is_member)


def forest(n_trees: int) -> Callable[[Draw, int], Any]:
    return lambda draw, n: RandomForestClassifier(n_trees, n_jobs=n, random_state=draw.seed)


def papers_forest(draw: Draw, n_jobs: int) -> RandomForestClassifier:
    """Return the forest of the paper: at least 10 rows a leaf, or 4 with few labels."""
    least = 10 if draw.y.size >= 1000 else 4
    return RandomForestClassifier(min_samples_leaf=least, n_jobs=n_jobs, random_state=draw.seed)


def adaboost(draw: Draw, n_jobs: int) -> Any:
    return imputed(AdaBoostClassifier(random_state=draw.seed))


def mart(draw: Draw, n_jobs: int) -> Any:
    return imputed(GradientBoostingClassifier(random_state=draw.seed))


def logistic(draw: Draw, n_jobs: int) -> Any:
    return scaled(LogisticRegression(max_iter=1000), draw)


def unscaled(draw: Draw, n_jobs: int) -> Any:
    """Return what the paper's figures suggest; for table (a) alone. It does not converge."""
    return imputed(LogisticRegression())


def lightgbm(draw: Draw, n_jobs: int) -> LGBMClassifier:
    return LGBMClassifier(n_jobs=n_jobs, verbose=-1, random_state=draw.seed)


def lightgbm_for_few_labels(draw: Draw, n_jobs: int) -> LGBMClassifier:
    return LGBMClassifier(
        n_estimators=200,
        learning_rate=0.03,
        num_leaves=8,
        min_child_samples=int(np.clip(draw.y.size // 20, 3, 20)),  # 20 by default
        min_data_in_bin=1,
        subsample=0.8,
        subsample_freq=1,
        colsample_bytree=0.5,
        reg_lambda=1.0,
        n_jobs=n_jobs,
        verbose=-1,
        random_state=draw.seed,
    )


METHODS = (
    method(EQUAL_FOREST, f"Random Forest, {N_TREES} trees", forest(N_TREES), is_member=False),
    method("random-forest", "Random Forest", forest(100)),
    method("base-forest", "Base RF", papers_forest),
    method("adaboost", "AdaBoost Trees", adaboost),
    method("mart", "MART", mart),
    method("logistic-regression", "Logistic Regression", logistic),
    method("logistic-unscaled", "Logistic Regression, unscaled", unscaled, is_member=False),
    method("lightgbm", "LightGBM", lightgbm),
)
FOR_FEW_LABELS = method(
    "lightgbm-few-labels", "LightGBM for few labels", lightgbm_for_few_labels, is_member=False
)
