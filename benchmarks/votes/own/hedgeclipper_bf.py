"""VoteAggregator with An and Dasgupta's settings: no initial model, symmetric bounds at 95 %."""

from benchmarks.votes.own.aggregator import as_peer

PEER = as_peer(initial_model=None, constraints="accuracy", bound="wilson_symmetric")
