"""The game of a panel: how much weight each member gets.

Labels are weighted so that both classes weigh the same: b tells how well a member ranks (for votes
that are ranks it is the AUC less one half), and it is lowered by its standard error. The
anchor is equal weights; its ridge falls with the number of labels of the rarer class. This b is
not a statement about the rows and never enters a certificate.

How members agree is seen on the unlabeled rows, and on the labeled ones, too, where b comes from,
so that some of the noise in b cancels: b is corrected by a member's mean agreement with the
panel's predictions on the unlabeled rows, less that on the labeled ones, both classes weighing the
same there as they do in b. The share of that correction is one half when labels are twice as many
as voters, and rises with them: with thousands of labels unlabeled rows hardly change the weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hedgeclipper.game.equations import Game
from hedgeclipper.game.losses import Loss
from hedgeclipper.game.setup import set_up_game
from hedgeclipper.game.solution import GameSolution, Progress
from hedgeclipper.game.solve import play

RIDGE, RIDGE_WITHOUT_LABELS = 80.0, 1e6
LABELS_PER_VOTER = 2.0
CORRECTIONS = 2
LABELS_FOR_FREE_SIGNS = 100.0
LEAST_SCALE = 1.0
PRIOR_ROWS, SMALLEST = 3.0, 1e-12


@dataclass(frozen=True, eq=False)
class ScoredVotes:
    """Votes of all members, and the labels they are scored on.

    Parameters
    ----------
    labeled : ndarray of shape (n_labeled, n_voters)
        Votes on labeled rows that a member has not seen; NaN where a voter is asleep.
    is_positive : ndarray of shape (n_labeled,), bool
        Labels.
    weights : ndarray of shape (n_labeled,)
        Weights of the labeled rows.
    unlabeled : ndarray of shape (n_unlabeled, n_voters)
        Votes on unlabeled rows.
    n_members : int
        The first so many voters are whole members, the others regions of them.
    """

    labeled: np.ndarray
    is_positive: np.ndarray
    weights: np.ndarray
    unlabeled: np.ndarray
    n_members: int

    @property
    def n_rare(self) -> int:
        """Number of labels of the rarer class."""
        n_positive = int(self.is_positive.sum())
        return min(n_positive, self.is_positive.size - n_positive)

    @property
    def is_known(self) -> np.ndarray:
        """Whether a voter is a member, or a region that unlabeled rows and both classes know."""
        awake = ~np.isnan(self.labeled)
        known = awake[self.is_positive].any(axis=0) & awake[~self.is_positive].any(axis=0)
        known &= ~np.isnan(self.unlabeled).all(axis=0)
        known[: self.n_members] = True
        return known

    def select(self, voters: np.ndarray) -> ScoredVotes:
        """Return the votes of some voters, all members among them."""
        return replace(self, labeled=self.labeled[:, voters], unlabeled=self.unlabeled[:, voters])

    @property
    def signs(self) -> np.ndarray:
        """Labels as -1 and 1."""
        return np.where(self.is_positive, 1.0, -1.0)

    @property
    def balanced_weights(self) -> np.ndarray:
        """Weights of the labeled rows that add up to one half in each class."""
        shares = np.zeros_like(self.weights)
        for own in (self.is_positive, ~self.is_positive):
            shares[own] = 0.5 * self.weights[own] / max(self.weights[own].sum(), SMALLEST)
        return shares


@dataclass(frozen=True, eq=False)
class PanelSolution:
    """What came out.

    Parameters
    ----------
    weights : ndarray of shape (n_voters,)
        theta; 0 for regions of which nothing is known.
    label_correlations, errors : ndarray of shape (n_members,)
        b as the labels have it, with both classes weighing the same, and its standard error.
    game : GameSolution
        The game that was played last.
    """

    weights: np.ndarray
    label_correlations: np.ndarray
    errors: np.ndarray
    game: GameSolution


def play_panel_game(
    votes: ScoredVotes, loss: str | Loss, *, tol: float = 1e-3, max_iter: int = 200
) -> PanelSolution:
    """Weigh the members.

    Parameters
    ----------
    votes : ScoredVotes
        Votes and labels.
    loss : str or Loss
        What the game is played for.
    tol, max_iter
        Where to stop, as in `solve_game`.
    """
    is_known = votes.is_known
    votes = votes.select(is_known)
    b, errors = balanced_correlations(votes)
    lowered = b - errors
    setting = _set_up(votes, b, loss)

    def solve(correlations: np.ndarray) -> GameSolution:
        edge = setting.specialists.coverage * np.clip(correlations, -1.0, 1.0)
        game = replace(setting, terms=replace(setting.terms, edge=edge))
        return play(game, Progress(tol, max_iter), "batch")

    game, share = solve(lowered), _labels_share(votes)
    for _ in range(CORRECTIONS):
        game = solve(lowered + share * _sampling_correction(votes, game))
    weights = np.zeros(is_known.size)
    weights[is_known] = game.weights
    return PanelSolution(weights, b[: votes.n_members], errors[: votes.n_members], game)


def balanced_correlations(votes: ScoredVotes) -> tuple[np.ndarray, np.ndarray]:
    """Return b of each voter where it is awake, classes weighing the same, and its standard error.

    Few labels may show too small a spread: to the spread of the votes in a class, that on all
    unlabeled rows is added as if three more labels showed it. Without labels of one of the classes,
    b is 0 and its error 1.
    """
    if votes.n_rare == 0:
        return np.zeros(votes.labeled.shape[1]), np.ones(votes.labeled.shape[1])
    awake = ~np.isnan(votes.labeled)
    gained = np.where(awake, votes.signs[:, None] * votes.labeled, 0.0)
    share = votes.balanced_weights[:, None] * awake
    total = np.maximum(share.sum(axis=0), SMALLEST)
    b = (share * gained).sum(axis=0) / total
    variance, usual = np.zeros_like(b), np.nanvar(votes.unlabeled, axis=0)
    for own in (votes.is_positive, ~votes.is_positive):
        part = share[own]
        size = np.maximum(part.sum(axis=0), SMALLEST)
        mean = (part * gained[own]).sum(axis=0) / size
        spread = (part * (gained[own] - mean) ** 2).sum(axis=0) / size
        n_effective = size**2 / np.maximum((part**2).sum(axis=0), SMALLEST**2)
        squares = n_effective * spread + PRIOR_ROWS * usual
        spread = squares / (np.maximum(n_effective - 1.0, 0.0) + PRIOR_ROWS)
        variance += spread / np.maximum(n_effective, 1.0) * (size / total) ** 2
    return b, np.sqrt(variance)


def _set_up(votes: ScoredVotes, b: np.ndarray, loss: str | Loss) -> Game:
    """Return the game with its anchor, equal weights of the size that suits b, and their ridge."""
    n_members = votes.n_members
    mean_vote = votes.unlabeled[:, :n_members].mean(axis=1)
    size = float(np.mean(mean_vote**2))
    scale = max(float(b[:n_members].mean()) / size, LEAST_SCALE) if size > 0 else LEAST_SCALE
    has_free_signs = votes.n_rare > LABELS_FOR_FREE_SIGNS * b.size
    return set_up_game(
        votes.unlabeled,
        b,
        loss=loss,
        cap=None,
        anchor=np.where(np.arange(b.size) < n_members, scale / n_members, 0.0),
        ridge=RIDGE / (2.0 * votes.n_rare) if votes.n_rare else RIDGE_WITHOUT_LABELS,
        widths=0.0 if has_free_signs else None,
    )


def _labels_share(votes: ScoredVotes) -> float:
    """Return how much the labeled rows count when it comes to how members agree."""
    n_labeled, n_voters = votes.labeled.shape
    return n_labeled / (n_labeled + LABELS_PER_VOTER * n_voters)


def _sampling_correction(votes: ScoredVotes, game: GameSolution) -> np.ndarray:
    """Return each voter's mean agreement with the predictions, unlabeled less labeled rows."""
    everywhere = np.ones(votes.unlabeled.shape[0])
    on_unlabeled = _mean_agreement(votes.unlabeled, everywhere, game)
    return on_unlabeled - _mean_agreement(votes.labeled, votes.balanced_weights, game)


def _mean_agreement(votes: np.ndarray, weights: np.ndarray, game: GameSolution) -> np.ndarray:
    """Return the weighted mean of vote times prediction where each voter is awake."""
    filled = np.nan_to_num(votes)
    predictions = game.loss.link(filled @ game.weights)
    awake = weights @ ~np.isnan(votes)
    agreement = (weights * predictions) @ filled
    return np.divide(agreement, awake, out=np.zeros_like(agreement), where=awake > 0)
