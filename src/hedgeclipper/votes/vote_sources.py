"""Votes from whatever a user passes, files and batches among it."""

from __future__ import annotations

from typing import Any

from hedgeclipper.io import BatchSource, as_source, is_batched
from hedgeclipper.votes.matrix import Votes


def read_votes(L: Any, abstain_label: Any, classes: Any = None) -> Votes:
    """Return votes, read batch by batch where they come so.

    Parameters
    ----------
    L : Votes or list of these, array-like, sparse matrix, frame, batches or files
        Votes. Batches are read once, so that an iterator of them will do.
    abstain_label : object
        The label that means no vote.
    classes : array-like of shape (n_classes,), optional
        Labels of the classes, where votes must not have others.
    """
    if isinstance(L, (list, tuple)) and L and all(isinstance(part, Votes) for part in L):
        return Votes.stack(*L)
    if isinstance(L, Votes) or not is_batched(L):
        return Votes.of(L, abstain_label=abstain_label, classes=classes)
    source = as_source(L, strings=True, once=True)
    if isinstance(source, BatchSource):  # as they are, so that frames keep names that are numbers
        batches, voters = source.batches(), source.request.columns
    else:
        batches, voters = source, source.column_names
    return Votes.from_batches(batches, abstain_label=abstain_label, classes=classes, voters=voters)
