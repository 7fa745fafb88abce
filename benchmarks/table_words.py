"""What follows from the table, in plain words; every figure is computed from the results."""

from __future__ import annotations

import numpy as np

from benchmarks.comparison import LEVEL, paired_p_value
from benchmarks.data import DATA
from benchmarks.draws import MAX_UNLABELED
from benchmarks.figures import OURS, first_counts, row_name, when, with_what
from benchmarks.methods import METHODS
from benchmarks.pages import listed
from benchmarks.panel_text import panel_gains
from benchmarks.results_file import EVERY_ROW
from benchmarks.table_text import (
    CONTROLS,
    FAR_OFF,
    FOREST,
    ONLY_IN_A,
    PAPERS,
    REPRODUCED,
    SMALL_ALPHA,
    Figures,
    Gain,
    distances,
    far_off,
    gains,
)


def words_on_run(figures: Figures) -> str:
    """Return when, with what, how often and how long it was run."""
    draws = len({result.draw for result in figures.results})
    return (
        f"Run on {when(figures.results)} with {with_what(figures.results)}. {draws} draws of the "
        f"labels for each row. All fits together took {_hours(figures):.1f} hours, in processes "
        "side by side."
    )


def _hours(figures: Figures) -> float:
    """Return the hours of all fits; the mean's are those of its members, the stacking's not all."""
    seconds = {
        name: np.nansum([r.seconds for r in figures.results if r.method == name])
        for name in {result.method for result in figures.results}
    }
    folds = seconds.pop("stacking") - seconds.pop("mean")
    return float(sum(seconds.values()) + folds) / 3600


def words_on_protocol(figures: Figures) -> str:
    """Return what table (a) says about the paper's figures."""
    hard, scores = distances(figures), distances(figures, measure="auc")
    shifted = distances(figures, shift=10)
    own = {m: distances(figures, [PAPERS, SMALL_ALPHA], m) for m in ("auc", "auc_hard")}
    lines = [
        "Mean distance from the published values over the rows that the paper has: "
        + listed([f"{METHODS[name].title} {hard[name]:.3f}" for name in REPRODUCED])
        + f"; {_average(hard):.3f} on average. By scores it would be {_average(scores):.3f}. So "
        "the published values fit comparators that were judged by their predicted classes; the "
        "paper does not say.",
        "HedgeClipper's own column, with the paper's settings, is this far from its published "
        "values: "
        + listed(
            [
                f"{title} with alpha = 1 {own[m][PAPERS]:.3f} and with alpha = 0.3 "
                f"{own[m][SMALL_ALPHA]:.3f}"
                for m, title in (("auc", "by scores"), ("auc_hard", "by classes"))
            ]
        )
        + ". The paper chose alpha for each data set, and does not say which of the two it "
        "reports; the table shows scores.",
        "With ssl-secstr's rows read as 100, 1K and 10K labels instead of the printed 10, 100 and "
        f"1K, the comparators' distance is {_average(shifted):.3f}.",
    ]
    remarks = [_remark(row, names) for row, names in far_off(figures)]
    if remarks:
        lines.append(f"Further off than {FAR_OFF}:\n\n" + "\n".join(f"- {r}" for r in remarks))
    return "\n\n".join(lines)


def _remark(row: tuple[str, int], names: list[str]) -> str:
    data = next(data for data in DATA if data.name == row[0])
    titles = listed([METHODS[name].title for name in names])
    if row[1] not in data.remarks:
        raise ValueError(
            f"{row_name(row)} is further than {FAR_OFF} from the paper's print in the columns "
            f"{titles}: write a remark on it in benchmarks/data/{data.name.replace('-', '_')}.py."
        )
    return f"{row_name(row)} ({titles}): {data.remarks[row[1]]}."


def words_on_first(figures: Figures) -> str:
    """Return who is first in AUC, in how many rows."""
    first, alone = first_counts(figures, "auc")
    order = sorted(figures.methods(without=[ONLY_IN_A]), key=lambda name: -first[name])
    who = listed([f"{METHODS[name].title} {first[name]} ({alone[name]} alone)" for name in order])
    return f"First or tied with the first in AUC, of {len(figures.rows)} rows: {who}."


def words_on_scores(figures: Figures) -> str:
    """Return what table (b) says: who is first, what unlabeled rows give, what they do not."""
    return "\n\n".join(
        [
            words_on_first(figures),
            words_on_panel(figures),
            words_on_gains(gains(figures)),
            words_on_others(figures, figures.methods(without=[ONLY_IN_A])),
            words_on_self_training(figures),
            words_on_probabilities(figures),
            words_on_every_row(figures),
        ]
    ).strip()


def words_on_panel(figures: Figures) -> str:
    """Return how the hedged panel does against single methods and against its own members."""
    found = panel_gains(figures)
    ahead = sum(gain.over_best > 0 for gain in found)
    below = sum(gain.is_below for gain in found)
    means = [
        np.mean([getattr(gain, name) for gain in found])
        for name in ("over_reference", "over_mean", "over_stacking")
    ]
    return (
        f"The hedged panel's AUC is {means[0]:+.3f} over the random forest's on average, "
        f"{means[1]:+.4f} over the mean of its own members and {means[2]:+.4f} over stacking them. "
        f"Its mean is above all eight single methods in {ahead} of {len(found)} rows, and below "
        f"the best of them significantly in {below}."
    )


def words_on_gains(all_gains: list[Gain]) -> str:
    """Return where unlabeled rows help HedgeClipper, where not, and by how much."""
    credited = [gain for gain in all_gains if gain.is_credited]
    worse = [gain for gain in all_gains if gain.is_worse]
    mean = np.mean([gain.over_forest for gain in all_gains])
    controls = np.mean([gain.over_controls for gain in all_gains])
    alone = np.mean([gain.over_alone for gain in all_gains])
    re_weighed = [gain for gain in all_gains if gain.beats_leaves and not gain.is_credited]
    text = (
        f"Against the forest it is built from, HedgeClipper's AUC is {mean:+.4f} on average over "
        f"the rows, against the better of the two controls on the same leaves {controls:+.4f}, and "
        f"against itself without unlabeled rows, the labeled ones in their place, {alone:+.4f}. "
    )
    if credited:
        where = listed([f"{row_name(gain.row)} ({gain.over_alone:+.4f})" for gain in credited])
        text += (
            "Unlabeled rows help significantly, which means more than the forest and all three "
            f"controls, in {len(credited)} of {len(all_gains)} rows: {where}, where the figure is "
            "the gain over HedgeClipper without them. "
        )
    else:
        text += (
            "In no row is it significantly ahead of the forest and of all three controls, so that "
            "no gain is credited to unlabeled rows. "
        )
    if re_weighed:
        where = listed([f"{row_name(gain.row)} ({gain.over_forest:+.4f})" for gain in re_weighed])
        text += (
            "It is ahead of the forest and of both controls on the same leaves, but not of itself "
            f"without unlabeled rows, in {len(re_weighed)} rows, where re-weighing leaves by "
            f"unseen labels is what pays: {where}, over the forest. "
        )
    if worse:
        where = listed([f"{row_name(gain.row)} ({gain.over_forest:+.4f})" for gain in worse])
        text += f"The forest itself is significantly ahead in {where}. "
    else:
        text += "In no row is the forest itself significantly ahead. "
    return text.strip()


def words_on_forest(all_gains: list[Gain]) -> str:
    """Return in short what HedgeClipper gains over its forest, and how much unlabeled rows do."""
    mean = np.mean([gain.over_forest for gain in all_gains])
    alone = np.mean([gain.over_alone for gain in all_gains])
    ahead = sum(gain.beats_leaves for gain in all_gains)
    worse = sum(gain.is_worse for gain in all_gains)
    credited = sum(gain.is_credited for gain in all_gains)
    return (
        f"HedgeClipper's AUC is {mean:+.4f} over that of the forest it re-weighs on average. It is "
        "ahead of that forest, and of two simpler votes of its leaves, significantly in "
        f"{ahead} of {len(all_gains)} rows; the forest is ahead in {worse}. Unlabeled rows add "
        f"{alone:+.4f} to what its labels do alone, and help significantly in {credited}."
    )


def words_on_others(figures: Figures, methods: list[str]) -> str:
    """Return how HedgeClipper does against the other columns."""
    parts = []
    for name in methods:
        if name in (OURS, FOREST, *CONTROLS):
            continue
        rows = [row for row in figures.rows if figures.has(row, name)]
        gaps = [figures.mean(r, OURS, "auc") - figures.mean(r, name, "auc") for r in rows]
        ahead = sum(gap > 0 for gap in gaps)
        parts.append(f"{METHODS[name].title} {np.mean(gaps):+.3f} ({ahead} of {len(gaps)})")
    return (
        "HedgeClipper's mean gain in AUC over the other columns, and in how many rows its mean is "
        f"higher: {listed(parts)}."
    )


def words_on_self_training(figures: Figures) -> str:
    """Return what unlabeled rows do for the logistic regression that trains itself."""
    differences, helped, hurt = [], 0, 0
    for row in figures.rows:
        ours = figures.values(row, "self-training", "auc")
        base = figures.values(row, "logistic-regression", "auc")
        differences.append((ours - base).mean())
        beyond_chance = paired_p_value(ours, base) < LEVEL
        helped += bool(beyond_chance and differences[-1] > 0)
        hurt += bool(beyond_chance and differences[-1] < 0)
    return (
        f"Self-training changes the logistic regression's AUC by {np.mean(differences):+.3f} on "
        f"average; it helps in {helped} rows and hurts in {hurt}, each row tested by itself."
    )


def words_on_probabilities(figures: Figures) -> str:
    """Return how HedgeClipper's log loss and accuracy compare with its forest's."""
    parts = []
    for measure, title in (("log_loss", "log loss"), ("accuracy", "accuracy")):
        gaps = [
            figures.mean(row, OURS, measure) - figures.mean(row, FOREST, measure)
            for row in figures.rows
        ]
        parts.append(f"{title} {np.mean(gaps):+.4f}")
    return f"Its other figures against its forest: {listed(parts)} (less is better in log loss)."


def words_on_every_row(figures: Figures) -> str:
    """Return what every row brings instead of 50,000, on the draw for which both were run."""
    known = {(r.data, r.n_labels): r for r in figures.results if r.method == EVERY_ROW}
    pairs = [
        (known[row].auc, figures.values(row, OURS, "auc")[0], known[row].n_unlabeled)
        for row in figures.rows
        if row in known and known[row].n_unlabeled > MAX_UNLABELED
    ]
    if not pairs:
        return ""
    gaps = [every - some for every, some, _ in pairs]
    return (
        f"With every unlabeled row (up to {max(n for *_, n in pairs):,}) instead of "
        f"{MAX_UNLABELED:,}, on one draw of each of the {len(pairs)} rows that have more, "
        "HedgeClipper's AUC changes by "
        f"{np.mean(gaps):+.4f} on average, between {min(gaps):+.4f} and {max(gaps):+.4f}; it is "
        "then also measured on more rows, so part of this is chance."
    )


def _average(values: dict[str, float]) -> float:
    return float(np.mean(list(values.values())))
