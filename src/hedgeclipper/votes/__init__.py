"""Votes of many voters on many rows, most of whom abstain, from whatever form they come in."""

from hedgeclipper.votes.matrix import Votes

__all__ = ["Votes"]
