"""Differences of votes between labeled and unlabeled rows."""

import numpy as np

from hedgeclipper.votes.ballots import Ballots
from hedgeclipper.votes.matrix import Votes
from hedgeclipper.votes.shift import shift_of_votes
from tests.votes.vote_instances import ballots_of


def test_a_rare_vote_among_the_labeled_ones_is_no_shift():
    """One of 4,000 voters has two of its three rows among 100 labeled ones of 10,000."""
    rng = np.random.default_rng(0)
    columns = np.array([rng.choice(10_000, 3, replace=False) for _ in range(4000)])
    columns[0] = [0, 1, 5000]
    votes = Votes.from_long(
        {
            "task": np.r_[np.arange(10_000), columns.ravel()],
            "worker": np.r_[np.full(10_000, -1), np.repeat(np.arange(4000), 3)],
            "label": np.r_[np.arange(10_000) % 2, np.zeros(12_000, dtype=int)],
        }
    )
    labeled, unlabeled = votes.take(slice(0, 100)), votes.take(slice(100, None))
    assert shift_of_votes(Ballots(labeled), Ballots(unlabeled)) is None


def test_a_shift_names_the_voter_the_vote_and_how_often_it_is_cast():
    labeled = ballots_of(np.c_[np.arange(200) % 2, np.zeros(200, dtype=int)], 2)
    unlabeled = ballots_of(np.c_[np.arange(600) % 2, np.ones(600, dtype=int)], 2)
    found = shift_of_votes(labeled, unlabeled)
    assert found.voter == 1
    assert {found.labeled, found.unlabeled} == {0.0, 1.0}
