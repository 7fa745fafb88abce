"""What the unlabeled rows bring to a forest, measured on labeled rows out of bag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from hedgeclipper.base.evaluation import LEAST_PROBABILITY, placements
from hedgeclipper.base.weighing import panel_scores
from hedgeclipper.forest.groups import ScoredGroups, weigh_groups


@dataclass(frozen=True)
class UnlabeledGain:
    """What the unlabeled rows have changed, as far as the labels tell.

    The model is compared with one whose views were learned from the labeled rows alone; both
    predict labeled rows by trees grown without them.

    Parameters
    ----------
    auc, log_loss : float
        Difference in AUC (the mean over classes against the rest, without those of fewer than two
        labels; NaN if there are no others) and in log loss. A higher AUC and
        a lower log loss are better.
    auc_error, log_loss_error : float
        Their standard errors.
    """

    auc: float
    auc_error: float
    log_loss: float
    log_loss_error: float

    @property
    def is_significant(self) -> bool:
        """Whether the gain in AUC is more than two standard errors."""
        return self.auc > 2.0 * self.auc_error

    def describe(self) -> str:
        """Return it in one sentence.

        Examples
        --------
        >>> UnlabeledGain(0.031, 0.011, -0.02, 0.01).describe()
        'unlabeled rows: +0.031 AUC (± 0.011)'
        >>> UnlabeledGain(0.001, 0.004, 0.0, 0.01).describe()
        'unlabeled rows: no measurable gain (+0.001 AUC, ± 0.004)'
        """
        if np.isnan(self.auc):
            return "unlabeled rows: too few labels to measure what they bring"
        if self.is_significant:
            return f"unlabeled rows: {self.auc:+.3f} AUC (± {self.auc_error:.3f})"
        return f"unlabeled rows: no measurable gain ({self.auc:+.3f} AUC, ± {self.auc_error:.3f})"


def unlabeled_gain(model: ScoredGroups, control: ScoredGroups) -> UnlabeledGain:
    """Return the gain of a model over one that has learned its views from labeled rows alone."""
    scores = [out_of_bag_log_odds(groups) for groups in (model, control)]
    known = ~np.isnan(scores[0]).any(axis=1) & ~np.isnan(scores[1]).any(axis=1)
    is_positive = (model.codes[:, None] == np.asarray(model.games))[known]
    pairs = [own[known] for own in scores]
    compared = [
        auc_difference(own, *(scores[:, k] for scores in pairs))
        for k, own in enumerate(is_positive.T)
        if 2 <= own.sum() <= own.size - 2
    ]
    gains, variances = zip(*compared, strict=True) if compared else ((np.nan,), (np.nan,))
    losses = [_log_losses(is_positive, own) for own in pairs]
    difference = losses[0] - losses[1]
    return UnlabeledGain(
        auc=float(np.mean(gains)),
        # classes share their rows, so that their errors do not cancel
        auc_error=float(np.mean(np.sqrt(variances))),
        log_loss=float(difference.mean()),
        log_loss_error=float(difference.std() / np.sqrt(difference.size)),
    )


def out_of_bag_log_odds(groups: ScoredGroups) -> np.ndarray:
    """Return log-odds of labeled rows, the groups weighed on these rows alone; NaN if unknown."""
    known = ~np.isnan(groups.out_of_bag).any(axis=(1, 2))
    own = groups.out_of_bag[known]
    weights = None if groups.weights is None else groups.weights[known]
    scores = panel_scores(own, own, groups.codes[known], weights, groups.games)
    out = np.full((known.size, len(groups.games)), np.nan)
    games = [weigh_groups(one).game for one in scores]
    found = [game.log_odds(one.unlabeled) for game, one in zip(games, scores, strict=True)]
    out[known] = np.column_stack(found)
    return out


def auc_difference(
    is_positive: np.ndarray, scores: np.ndarray, others: np.ndarray
) -> tuple[float, float]:
    """Return the AUC of scores less that of others on the same rows, and its variance.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more
    correlated receiver operating characteristic curves", Biometrics 44, 1988.
    """
    positive, negative = placements(is_positive, scores)
    other_positive, other_negative = placements(is_positive, others)
    by_positive, by_negative = positive - other_positive, negative - other_negative
    variance = by_positive.var(ddof=1) / by_positive.size
    variance += by_negative.var(ddof=1) / by_negative.size
    return float(by_positive.mean()), float(variance)


def _log_losses(is_positive: np.ndarray, log_odds: np.ndarray) -> np.ndarray:
    """Return the log loss of each row, that of its class among all, shape (n_rows,)."""
    p = np.clip(expit(log_odds), LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    if p.shape[1] == 1:
        return -np.log(np.where(is_positive, p, 1.0 - p))[:, 0]
    return -np.log((p / p.sum(axis=1, keepdims=True))[is_positive])
