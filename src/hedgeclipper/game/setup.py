"""What is known of each voter, and the `Game` that it makes: parameters are checked here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgeclipper.game.equations import Game, WeightTerms
from hedgeclipper.game.losses import Loss, resolve_loss
from hedgeclipper.game.specialists import Specialists, as_vote_matrix, with_constant_voter

ENTRIES_WHEN_SMALL = 20_000
VOTERS_WHEN_SMALL = 100


@dataclass(frozen=True, eq=False)
class LabelCorrelations:
    """Correlations of voters with the labels, and bounds on them, as `lower_bounds` returns.

    Parameters
    ----------
    estimate : ndarray of shape (n_voters,)
        Mean of vote times label over the labeled rows a voter is awake on; NaN where there is none.
    lower, upper : ndarray of shape (n_voters,)
        Bounds; -1 and 1, which claim nothing, for a voter without a labeled row.
    n_labeled : ndarray of shape (n_voters,)
        Labeled rows each voter is awake on (the sum of its participation).
    method : {"plug_in", "wilson", "exact"}
        How the bounds were made.
    confidence_level : float or None
        Probability that the bounds hold: each voter's by itself for "wilson", all of them together
        for "exact", None for "plug_in".
    is_guarantee : bool
        Whether the bounds hold for the unlabeled rows with that probability. Everything else is an
        estimate.
    n_unlabeled : ndarray of shape (n_voters,) or None, default=None
        For "exact": the number of unlabeled rows, awake on, that each bound was made for.
    """

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    n_labeled: np.ndarray
    method: str
    confidence_level: float | None
    is_guarantee: bool
    n_unlabeled: np.ndarray | None = None

    @property
    def centers(self) -> np.ndarray:
        """Middle of each interval, for a game with two-sided correlations."""
        return (self.lower + self.upper) / 2

    @property
    def widths(self) -> np.ndarray:
        """Half the length of each interval, for a game with two-sided correlations."""
        return (self.upper - self.lower) / 2

    def select(self, voters: Any) -> LabelCorrelations:
        """Return those of some voters; a simultaneous bound goes on counting all of them."""
        parts = ["estimate", "lower", "upper", "n_labeled"]
        parts += [] if self.n_unlabeled is None else ["n_unlabeled"]
        return replace(self, **{name: getattr(self, name)[voters] for name in parts})


def set_up_game(
    votes: Any,
    label_correlations: Any,
    participation: Any = None,
    widths: Any = None,
    class_balance: Any = None,
    *,
    loss: str | Loss = "zero_one",
    cap: float | None = 1.0,
    ridge: float = 0.0,
    anchor: Any = None,
    unlabeled_weight: float = 1.0,
) -> Game:
    """Check everything and return the game; parameters as in `solve_game`."""
    resolved_loss = resolve_loss(loss)
    alpha = check_positive("unlabeled_weight", unlabeled_weight)
    bound = np.inf if cap is None else check_positive("cap", cap, hint=" Pass None for no cap.")
    strength = check_positive("ridge", ridge, or_zero=True)
    specialists: Specialists = as_vote_matrix(votes, participation)
    p = specialists.n_voters
    b, eps = _check_knowledge(label_correlations, widths, p)
    center = _per_voter("anchor", 0.0 if anchor is None else anchor, p)
    if anchor is not None and strength == 0:
        raise ValueError("An anchor acts only with a ridge. Got ridge=0: set it, or no anchor.")
    lower = np.zeros(p) if eps is None else np.full(p, -bound)
    eps = np.zeros(p) if eps is None else eps
    if class_balance is not None:
        positive, width = _check_balance(class_balance)
        specialists = with_constant_voter(specialists)
        b, eps = np.append(b, 2 * positive - 1), np.append(eps, 2 * width)
        center, lower = np.append(center, 0.0), np.append(lower, -bound)
    c = specialists.coverage
    terms = WeightTerms(c * b, c * eps, strength * c, center, lower, np.full(c.size, bound))
    return Game(specialists, terms, resolved_loss, alpha, class_balance is not None)


def is_small(game: Game) -> bool:
    """Return whether the game is small enough for the linear program."""
    n, p = game.specialists.n_samples, game.specialists.n_voters
    return p <= VOTERS_WHEN_SMALL and n * p <= ENTRIES_WHEN_SMALL


def _check_knowledge(
    known: Any, widths: Any, n_voters: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the correlations and the widths around them, None for one-sided knowledge."""
    if isinstance(known, LabelCorrelations):
        if widths is not None and not (isinstance(widths, str) and widths == "bounds"):
            raise ValueError(
                "LabelCorrelations have bounds of their own: pass widths='bounds' to use both, or "
                f"arrays for label_correlations and widths. Got widths={widths!r}."
            )
        known, widths = (known.lower, None) if widths is None else (known.centers, known.widths)
    elif isinstance(widths, str):
        raise ValueError(
            f"widths={widths!r} takes them from LabelCorrelations, as lower_bounds returns. "
            f"Got label_correlations of type {type(known).__name__}."
        )
    b = _numbers("label_correlations", known)
    if b.shape != (n_voters,):
        raise ValueError(
            f"label_correlations must have one entry per voter, shape ({n_voters},). Got shape "
            f"{b.shape}."
        )
    unknown = np.flatnonzero(np.isnan(b))
    if unknown.size:
        raise ValueError(
            f"label_correlations has NaN for voter {unknown[0]} ({unknown.size} in all). Drop "
            "voters nothing is known of from votes and label_correlations, or pass -1, which "
            "claims nothing."
        )
    outside = np.flatnonzero(np.abs(b) > 1)
    if outside.size:
        raise ValueError(
            f"label_correlations must lie in [-1, 1]. Got {b[outside[0]]:g} for voter "
            f"{outside[0]}. From an accuracy it is 2 * accuracy - 1."
        )
    eps = None if widths is None else _per_voter("widths", widths, n_voters)
    if eps is not None and np.any(eps < 0):
        raise ValueError(f"widths must not be negative. Got {eps.min():g}.")
    return b, eps


def _per_voter(name: str, value: Any, n_voters: int) -> np.ndarray:
    array = _numbers(name, value)
    if array.shape not in ((), (n_voters,)):
        raise ValueError(
            f"{name} must be a number or have one entry per voter, shape ({n_voters},). Got shape "
            f"{array.shape}."
        )
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite. Got {array[~np.isfinite(array)].flat[0]}.")
    return np.broadcast_to(array, (n_voters,)).copy()


def _check_balance(class_balance: Any) -> tuple[float, float]:
    pair = _numbers("class_balance", class_balance)
    positive, width = pair if pair.shape == (2,) else (pair, 0.0)
    if pair.shape not in ((), (2,)) or not (0.0 <= positive <= 1.0 and 0.0 <= width <= 1.0):
        raise ValueError(
            "class_balance must be the proportion of + among the rows, in [0, 1], or a pair "
            f"(proportion, width). Got {class_balance!r}."
        )
    return float(positive), float(width)


def _numbers(name: str, value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be numbers. Got {value!r} of dtype {array.dtype}.")
    return array.astype(float)


def check_positive(name: str, value: Any, hint: str = "", *, or_zero: bool = False) -> float:
    """Return the parameter as a float if it is a positive finite number, else raise."""
    is_number = isinstance(value, (int, float, np.number)) and np.isfinite(value)
    if not (is_number and (value > 0 or (or_zero and value == 0))):
        wanted = "a number >= 0" if or_zero else "a positive number"
        raise ValueError(f"The '{name}' parameter must be {wanted}.{hint} Got {value!r}.")
    return float(value)
