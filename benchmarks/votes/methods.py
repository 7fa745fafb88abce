"""The columns of the table of votes, in its order."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.figures import OURS


@dataclass(frozen=True)
class VoteMethod:
    """A column of the table.

    Parameters
    ----------
    name : str
        Key in the results, and name of the file that has it.
    title : str
        Heading.
    uses_labels : bool
        Whether it uses labels. A method that does not gets the rows to
        predict only, is run once on each set, and is scored on every draw.
    many_votes : int or None
        Number of votes above which it is run on few draws, since it is slow.
    few_draws : int
        How many these are.
    too_many_votes : int or None
        Number of votes above which it is not run at all.
    is_simple : bool
        Whether it is one of `own.simple`, which run in this process.
    """

    name: str
    title: str
    uses_labels: bool = True
    many_votes: int | None = None
    few_draws: int = 3
    too_many_votes: int | None = None
    is_simple: bool = False


BF = "hedgeclipper-bf"
ON_A_MILLION_ROWS = (OURS, "label_model", "dawid_skene")
METHODS = {
    method.name: method
    for method in (
        VoteMethod(OURS, "HedgeClipper"),
        VoteMethod(BF, "HedgeClipper, An & Dasgupta's setting"),
        VoteMethod("majority", "Majority vote", uses_labels=False),
        VoteMethod("naive_bayes", "Naive Bayes", is_simple=True),
        VoteMethod("accuracy_weights", "Accuracy weights", is_simple=True),
        VoteMethod("ridge", "Ridge logistic regression", is_simple=True),
        VoteMethod("best_voter", "Best voter", is_simple=True),
        VoteMethod("label_model", "Snorkel LabelModel", many_votes=50_000),
        VoteMethod("dawid_skene", "Dawid-Skene"),
        VoteMethod("glad", "GLAD", many_votes=20_000, few_draws=1, too_many_votes=50_000),
        VoteMethod("mace", "MACE", uses_labels=False),
    )
}
