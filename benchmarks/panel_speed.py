"""Time of a panel's fit relative to fitting its members and predicting with them.

    python -m benchmarks.panel_speed [n_rounds]

1,000 labels and 100,000 unlabeled rows of 50 columns, two jobs. The members by themselves: views
learned, each member fitted once to all labels, and its scores of the unlabeled rows. The panel: its
whole ``fit``, which also fits all members but the forest in five folds, weighs them, and predicts
for the unlabeled rows. Both in one run, interleaved.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.timing import interleaved, print_rows
from hedgeclipper import HedgedVotingClassifier
from hedgeclipper.panel.defaults import default_panel
from hedgeclipper.panel.fitting import MemberRows
from hedgeclipper.panel.members import ROWS_FOR_VIEWS, ROWS_TO_LEARN_FROM, cross_fit, score_members

N_LABELED, N_UNLABELED, N_COLUMNS, N_JOBS = 1_000, 100_000, 50, 2


def members_alone(X: np.ndarray, y: np.ndarray, unlabeled: np.ndarray) -> np.ndarray:
    """Return the members' scores of the unlabeled rows, after one fit of each."""
    random_state = np.random.RandomState(0)
    everything = np.concatenate([X, unlabeled[:ROWS_FOR_VIEWS]])
    estimators = default_panel(everything, y.size, random_state)
    rows = MemberRows(X, y, 2, None, unlabeled[:ROWS_TO_LEARN_FROM])
    members = cross_fit(estimators, rows, [], n_jobs=N_JOBS)
    return score_members(members, unlabeled, 2, n_jobs=N_JOBS)[1]


def panel(X: np.ndarray, y: np.ndarray, unlabeled: np.ndarray) -> np.ndarray:
    """Return the panel's labels of the unlabeled rows."""
    model = HedgedVotingClassifier(n_jobs=N_JOBS, random_state=0)
    return model.fit(X, y, X_unlabeled=unlabeled).transduction_


def main(n_rounds: int = 3) -> None:
    print(__doc__)
    X, y = make_classification(
        N_LABELED + N_UNLABELED, N_COLUMNS, n_informative=15, flip_y=0.1, random_state=0
    )
    rows = X[:N_LABELED], y[:N_LABELED], X[N_LABELED:]
    with warnings.catch_warnings():
        # members that do not converge are no concern of a timing
        warnings.simplefilter("ignore")
        seconds = interleaved(
            {"members alone": lambda: members_alone(*rows), "panel": lambda: panel(*rows)}, n_rounds
        )
    print_rows([("run", "seconds"), *[(name, f"{value:.1f}") for name, value in seconds.items()]])
    ratio = seconds["panel"] / seconds["members alone"]
    print(f"\npanel over members alone: {ratio:.2f}")


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
