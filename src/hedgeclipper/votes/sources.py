"""Votes from whatever a user passes, files and batches among it."""

from __future__ import annotations

from typing import Any

from hedgeclipper.batches import as_source, is_batched
from hedgeclipper.votes.matrix import Votes


def read_votes(L: Any, abstain_label: Any) -> Votes:
    """Return votes, read batch by batch where they come so.

    Parameters
    ----------
    L : Votes, array-like, sparse matrix, frame, batches or files
        Votes.
    abstain_label : object
        The label that means no vote.
    """
    if isinstance(L, Votes) or not is_batched(L):
        return Votes.of(L, abstain_label=abstain_label)
    source = as_source(L)
    voters = source.column_names
    parts = [Votes.of(rows, abstain_label=abstain_label, voters=voters) for rows in source]
    return Votes.stack(*parts)
