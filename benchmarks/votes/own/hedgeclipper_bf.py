"""VoteAggregator as An and Dasgupta play the game: no opening, bounds on accuracies at 95 %."""

from benchmarks.votes.own.aggregator import as_peer

PEER = as_peer(opening=None, specialists="voters")
