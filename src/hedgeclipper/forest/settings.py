"""Settings of `HedgeClipperClassifier` that are rarely changed, in two groups."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from hedgeclipper.base.semi_supervised import parse_bytes
from hedgeclipper.forest.leaf_rows import STORAGES


class _Settings(BaseEstimator):
    """Parameters that can be cloned, searched over and checked."""

    _parameter_constraints: ClassVar[dict[str, Any]]

    def check(self) -> None:
        """Raise unless all parameters are what they must be."""
        validate_parameter_constraints(
            self._parameter_constraints, self.get_params(deep=False), type(self).__name__
        )


class LeafGame(_Settings):
    """How the game of a forest's leaves is set up and solved.

    Parameters
    ----------
    unlabeled_weight : float or "auto", default="auto"
        Weight of the unlabeled rows in the game (alpha). "auto" is 1, and 3 where that clips most
        rows. Below 1 every specialist with a correlation above alpha gets its largest weight, and
        the unlabeled rows have no effect.
    cap : float, "auto" or None, default="auto"
        Largest weight of a specialist. "auto" lets a leaf have between half and three times its
        weight in the forest's vote (``bound="shrunk"``), else up to 1. None is no cap, as in the
        paper.
    ridge : float or "auto", default="auto"
        Strength of the anchor, which pulls the weights to those of the forest's own vote. "auto"
        falls with the number of labels of the rarer class; 0 is the paper's problem.
    min_specialist_size : int or None, default=None
        Leave out specialists with fewer training rows than this. The default forest is then grown
        without a least leaf (the paper's alternative).
    method : {"batch", "stream", "sgd"}, default="batch"
        How the slack is minimized: quasi-Newton steps over all rows; stochastic steps and then full
        passes; or, as in the paper, a few passes of stochastic steps alone. Stochastic steps take
        place in this process: the leaf numbers of a Dask collection are fetched on each pass.
    batch_size : int, default=1024
        Rows of a stochastic step, for "stream" and "sgd".

    Examples
    --------
    >>> from hedgeclipper import HedgeClipperClassifier
    >>> HedgeClipperClassifier(game=LeafGame(cap=1.0, ridge=0.0))
    HedgeClipperClassifier(game=LeafGame(cap=1.0, ridge=0.0))
    """

    _parameter_constraints: ClassVar[dict] = {
        "unlabeled_weight": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "cap": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), None],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "min_specialist_size": [Interval(Integral, 1, None, closed="left"), None],
        "method": [StrOptions({"batch", "stream", "sgd"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        unlabeled_weight="auto",
        cap="auto",
        ridge="auto",
        min_specialist_size=None,
        method="batch",
        batch_size=1024,
    ):
        self.unlabeled_weight = unlabeled_weight
        self.cap = cap
        self.ridge = ridge
        self.min_specialist_size = min_specialist_size
        self.method = method
        self.batch_size = batch_size


class LeafStorage(_Settings):
    """Where the leaf numbers of the unlabeled rows are kept: two bytes for each row and tree.

    Not for Dask collections, whose leaf numbers the workers keep.

    Parameters
    ----------
    place : {"auto", "memory", "disk", "recompute"}, default="auto"
        "auto" goes by ``memory_limit`` and by the room on the disk; "recompute" keeps none and
        finds them anew on each pass.
    memory_limit : int, str or None, default=None
        Bytes to keep in memory, as a number or as "2GB"; more than that goes to a temporary file.
        None is no limit for rows that are in memory themselves, and 64 MB for files and other
        batches.

    Examples
    --------
    >>> from hedgeclipper import HedgeClipperClassifier
    >>> HedgeClipperClassifier(storage=LeafStorage("disk"))
    HedgeClipperClassifier(storage=LeafStorage(place='disk'))
    """

    _parameter_constraints: ClassVar[dict] = {
        "place": [StrOptions(set(STORAGES))],
        "memory_limit": [Interval(Integral, 0, None, closed="left"), str, None],
    }

    def __init__(self, place="auto", *, memory_limit=None):
        self.place = place
        self.memory_limit = memory_limit

    def check(self) -> None:
        """Raise unless both parameters are what they must be."""
        super().check()
        if self.memory_limit is not None:
            parse_bytes(self.memory_limit)

    @property
    def is_default(self) -> bool:
        """Whether nothing was asked for."""
        return (self.place, self.memory_limit) == ("auto", None)
