"""Speed of the game, as ratios to linear models and to the linear program, in one run.

    python -m benchmarks.game_speed

Votes are generated: a hidden label z, voters right with probability 0.55 to 0.8, b from 2,000
labeled rows. The linear models fit z on the same matrix. alpha = 1, relative gap 1e-3.
"""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression, SGDClassifier

from benchmarks.generated import GeneratedVotes, soft_votes, sparse_votes
from benchmarks.timing import interleaved, print_rows
from hedgeclipper.game.solve import play, set_up_game

TOL = 1e-3


def ours(data: GeneratedVotes, method: str = "batch"):
    game = set_up_game(data.votes, data.label_correlations)
    return play(game, TOL, method=method)


def dense_row() -> tuple[str, ...]:
    data = soft_votes(1_000_000, 50)
    seconds = interleaved(
        {
            "ours": lambda: ours(data),
            "theirs": lambda: LogisticRegression().fit(data.votes, data.labels),
        }
    )
    return _row("1,000,000 x 50 dense, soft", "LogisticRegression", seconds)


def sparse_row() -> tuple[str, ...]:
    data = sparse_votes(1_000_000, 1_000, 20)
    seconds = interleaved(
        {
            "ours": lambda: ours(data),
            "theirs": lambda: SGDClassifier(max_iter=5, tol=None).fit(data.votes, data.labels),
        }
    )
    return _row("1,000,000 x 1,000 sparse, 20 a row", "SGDClassifier, 5 epochs", seconds)


def exact_row() -> tuple[str, ...]:
    data = soft_votes(5_000, 500)
    seconds = interleaved(
        {"ours": lambda: ours(data), "theirs": lambda: ours(data, "exact")}, n_rounds=3
    )
    return _row("5,000 x 500 dense, soft", "linear program", seconds)


def _row(problem: str, peer: str, seconds: dict[str, float]) -> tuple[str, ...]:
    ratio = seconds["ours"] / seconds["theirs"]
    return (
        problem,
        f"{seconds['ours']:.3f} s",
        f"{peer} {seconds['theirs']:.3f} s",
        f"{ratio:.3f}",
    )


def main() -> None:
    print(__doc__)
    rows = [("problem", "solve_game", "peer", "ratio")]
    rows += [dense_row(), sparse_row(), exact_row()]
    print_rows(rows)


if __name__ == "__main__":
    main()
