"""``hedgeclipper demo``: what it does for you, on bundled real data, in about a minute.

A file of 32,561 people, 1,000 of whom get labels: which rows need no review, and what is really
wrong. The same promise for many splits, beside a tuned threshold. The loop that labels a file. And
a panel of language-model judges.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from hedgeclipper import HedgeClipperClassifier, LabelingLoop, VoteAggregator, draw_sample
from hedgeclipper.bounds.whole_file import accept_rows, error_limit, order_by_uncertainty
from hedgeclipper.cli.app import Demo
from hedgeclipper.cli.output import Output
from hedgeclipper.datasets import load_adult, load_judges
from hedgeclipper.report.page import write_report

N_LABELS, MAX_ERROR, LEVEL = 1000, 0.05, 0.95
N_SPLITS = 100
N_LOOP, LOOP_ERROR = 1500, 0.1
N_GOLD, N_DRAWS = 50, 5


def show_all(options: Demo, output: Output, folder: Path = Path()) -> None:
    """Show a finished file, the promise on many splits, the loop and the judges."""
    people = load_adult(as_frame=True).frame
    truth = people.pop("income")
    finish_file(people, truth, output, folder)
    X, _ = load_adult(return_X_y=True)
    label_in_a_loop(X[:N_LOOP].toarray(), truth[:N_LOOP].tolist(), output)
    combine_judges(output)


def finish_file(people: Any, truth: Any, output: Output, folder: Path) -> None:
    """Label a sample, fit, and tell which rows need no review and what is really wrong."""
    output.say(
        f"1. Who earns more than $50,000? A file of {len(people):,} people. You label "
        f"{N_LABELS:,}, drawn at random.\n"
    )
    # seed 0 is one of the samples for which the promise breaks, so this is the usual case, chosen
    sample = draw_sample(people, N_LABELS, seed=1)
    rows = people.assign(income=truth[sample.rows])
    model = HedgeClipperClassifier(confidence_level=LEVEL, random_state=0)
    with output.working("Fitting"):
        model.fit(rows, "income", sample=sample)
    found = model.auto_label(max_error=MAX_ERROR)
    is_wrong = found.labels != truth.drop(sample.rows).to_numpy()
    n_left = int(np.sum(is_wrong & ~found.needs_review))
    output.say(f"{found.describe()}\n")
    output.say(f"In fact {n_left / len(people):.1%} of the finished file is wrong.\n")
    ours, theirs = broken_promises(model.tested_predictions_, is_wrong, len(people))
    output.say(
        "95% confidence means that this promise may break for 5 of 100 samples (drawn with seed 0, "
        f"it does). With {N_SPLITS} other samples to test the same model it breaks {ours} times. A "
        f"threshold that is tuned on the same test labels breaks it {theirs} times.\n"
    )
    path = folder / "hedgeclipper-demo.html"
    with output.working("Writing a report"):
        write_report(
            model, path, X_unlabeled=people.drop(sample.rows), title="Who earns more", force=True
        )
    output.say(f"The report for a person who decides: {path}\n")


def broken_promises(rule: Any, is_wrong: np.ndarray, n_rows: int) -> tuple[int, int]:
    """Return how often more is wrong than allowed, over other random test rows of the same model.

    That of the exact test, and that of a threshold tuned on the test rows.
    """
    wrong = np.append(rule.wrong, is_wrong)
    order = order_by_uncertainty(np.append(rule.uncertainties, rule.unlabeled_uncertainties), 0)
    rank, limit = np.argsort(order), error_limit(MAX_ERROR, n_rows)
    n_broken = np.zeros(2, dtype=int)
    for split in range(N_SPLITS):
        tested = np.random.default_rng(split).permutation(wrong.size)[: rule.wrong.size]
        is_left = wrong.copy()
        is_left[tested] = False  # people have labeled these
        proved = accept_rows(order, tested, wrong[tested], limit=limit, delta=1 - LEVEL)
        # as many errors among the test rows as if they were all of the file
        ends = np.sort(rank[tested[wrong[tested]]])
        n_allowed = int(limit / wrong.size * tested.size)
        end = ends[n_allowed] if n_allowed < ends.size else wrong.size
        n_broken += [np.sum(is_left & kept) > limit for kept in (proved.is_accepted, rank < end)]
    return int(n_broken[0]), int(n_broken[1])


def label_in_a_loop(rows: np.ndarray, truth: list[str], output: Output) -> None:
    """Let the true labels answer the loop, and draw what would be wrong after so many of them."""
    output.say(
        f"2. The loop chooses what you label, and tells you when to stop. {len(rows):,} of these "
        f"people, at most {LOOP_ERROR:.0%} wrong:\n"
    )
    model, y = RandomForestClassifier(random_state=0), np.array(truth)
    loop = LabelingLoop(rows, classes=sorted(set(truth)), max_error=LOOP_ERROR, model=model)
    with output.working("Labeling"):
        while (asked := loop.ask(60)).size:
            loop.tell(asked, y[asked])
            status = loop.status()
            if status.estimated_error is not None:
                bar = "#" * round(40 * status.estimated_error / 0.3)
                output.say(
                    f"{status.n_labeled:6,} labels  {status.phase:8}  {bar} about "
                    f"{status.estimated_error:.1%} of the file would be wrong"
                )
    result = loop.result()
    error = np.mean(np.asarray(result.labels) != y)
    output.say(f"\n{result.describe()}\n\nIn fact {error:.1%} are wrong.\n")


def combine_judges(output: Output) -> None:
    """Compare the votes of judges with a logistic regression on the same labels."""
    judges = load_judges()
    verdicts = judges.verdicts
    output.say(
        f"3. {len(verdicts)} pairs of answers, {verdicts.shape[1]} verdicts of language models on "
        f"each. You label {N_GOLD} pairs.\n"
    )
    columns = (verdicts == "A").astype(float) - (verdicts == "B")
    right: dict[str, list[float]] = {}
    with output.working("Weighing judges"):
        for draw in range(N_DRAWS):
            gold = judges.gold.sample(N_GOLD, random_state=draw)
            is_new = ~judges.gold.index.isin(gold.index)
            model = VoteAggregator().fit(verdicts, gold)
            logistic = LogisticRegression(C=0.1).fit(columns.loc[gold.index], gold)
            for name, predicted in {
                "HedgeClipper": model.transduction_,
                "logistic regression on the verdicts": logistic.predict(columns),
                "majority vote, without labels": verdicts.mode(axis=1)[0].to_numpy(),
            }.items():
                is_right = np.asarray(predicted) == judges.gold.to_numpy()
                right.setdefault(name, []).append(float(is_right[is_new].mean()))
    rows = [[name, f"{np.mean(values):.1%}"] for name, values in right.items()]
    output.table([f"right on the other pairs, mean of {N_DRAWS} draws", ""], rows)
    output.say(f"And the panel says of itself: {model.certificate_.describe()}.")
