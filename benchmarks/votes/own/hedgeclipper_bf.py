"""VoteAggregator as An and Dasgupta play the game: no opening, symmetric bounds at 95 %."""

from benchmarks.votes.own.aggregator import as_peer

PEER = as_peer(opening=None, specialists="voters", bound="wilson_symmetric")
