"""The mean of the comparators' probabilities."""

import numpy as np

from benchmarks.draws import Draw
from benchmarks.methods.method import Member, Method


def scores(draw: Draw, members: list[Member]) -> np.ndarray:
    return np.mean([member.scores for member in members], axis=0)


METHOD = Method("mean", "Mean", scores, combines=True)
