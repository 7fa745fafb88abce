"""VoteAggregator with its defaults."""

from benchmarks.votes.own.aggregator import as_peer

PEER = as_peer()
