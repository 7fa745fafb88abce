"""Control: HedgeClipper with random forests in place of its extra trees."""

from dataclasses import replace
from functools import partial

from sklearn.ensemble import RandomForestClassifier

from benchmarks.methods.hedgeclipper import scores_of_plan
from benchmarks.methods.method import Method
from hedgeclipper.forest.growing import Ensemble, default_ensembles


def random_forests(n_trees: int, names: list[str], n_jobs: int | None) -> list[Ensemble]:
    """Return the default ensembles, all of them random forests."""
    return [
        replace(one, model=RandomForestClassifier(one.model.n_estimators, n_jobs=n_jobs))
        for one in default_ensembles(n_trees, names, n_jobs)
    ]


METHOD = Method(
    "hedgeclipper-no-extra",
    "without extra trees",
    partial(scores_of_plan, plan=random_forests),
    uses_unlabeled=True,
    is_control=True,
    is_ablation=True,
)
