"""Control: HedgeClipper without trees on columns and components together, as many trees in all."""

from dataclasses import replace
from functools import partial

from sklearn.base import clone

from benchmarks.methods.hedgeclipper import scores_of_plan
from benchmarks.methods.method import Method
from hedgeclipper.forest.growing import Ensemble, default_ensembles


def ensembles_apart(n_trees: int, names: list[str], n_jobs: int | None) -> list[Ensemble]:
    """Return the default ensembles without the last one, whose trees the one before it gets."""
    if not names:
        return default_ensembles(n_trees, names, n_jobs)
    forest, extra, _ = default_ensembles(n_trees, names, n_jobs)
    n_extra = n_trees - forest.model.n_estimators
    return [forest, replace(extra, model=clone(extra.model).set_params(n_estimators=n_extra))]


METHOD = Method(
    "hedgeclipper-apart",
    "without trees on both",
    partial(scores_of_plan, plan=ensembles_apart),
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
