"""What a classifier for tables shows of itself: its voters, what matters, and what it gains."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from hedgeclipper.base.columns import ColumnEncoder, ColumnPlan
from hedgeclipper.base.evaluation import SeenRowsWarning, evaluate_predictions, placements
from hedgeclipper.base.semi_supervised import RowReader
from hedgeclipper.io import split_target
from hedgeclipper.io.digests import hash_rows
from hedgeclipper.io.messages import import_extra, warn_user
from hedgeclipper.sklearn_private import _safe_indexing
from hedgeclipper.voters.classifiers import LabeledRows
from hedgeclipper.voters.tree_groups import FittedTrees, fit_trees, see
from hedgeclipper.voters.voters import FittedVoters

# columns are shuffled so often, and once where there are more of them than this
N_SHUFFLES, COLUMNS_TO_REPEAT = 3, 100
# rows of the fit are recognized if so many of them differ, and if so many rows for each of them are
# equal to one: with more, columns are coarse, and new rows are equal to rows of the fit by chance
LEAST_DIFFERENT, MOST_EQUAL = 0.9, 1.5


@dataclass(frozen=True, eq=False)
class TestedRows:
    """Labeled rows that tested the model, and what was predicted for them without their labels."""

    y: np.ndarray  # (n_tested,): labels
    raw: np.ndarray  # (n_tested, n_games): log-odds
    hashes: np.ndarray  # (n_tested,): by which the rows are recognized


class TableInspectionMixin:
    """Adds what is measured out of sample, and what reports need, to `HedgeClipperClassifier`.

    Measures are made when they are first asked for.
    """

    classes_: np.ndarray
    n_features_in_: int
    _reader: RowReader
    n_estimators: int
    n_jobs: int | None
    shift_score_: float
    _predictor: Any
    _voters: FittedVoters
    _voter_columns: list[dict[str, np.ndarray]]
    _seconds: np.ndarray
    _importances: np.ndarray
    _column_notes: dict[int, str]
    _grown_from: tuple[LabeledRows, np.random.RandomState]
    _tested_rows: TestedRows
    _fitted_hashes: np.ndarray
    _batches: Any
    _games: Any
    _check_more: Any
    _labels_to_score: Any

    def voter_summary(self):
        """Return a frame that describes the voters, one row each.

        Columns: ``weight``, ``correlation`` (b with both classes counting the same, out of sample)
        and its ``standard_error``, ``auc`` (out of sample), ``agreement`` (correlation of its votes
        with the mean vote of the others on unlabeled rows), ``contribution`` (proportion of the
        spread of the result that comes from it) and ``seconds`` (time of its fits). With more than
        two classes there is a row for each voter and class, and a column ``class``.

        Returns
        -------
        pandas.DataFrame
            The summary, largest contribution first.
        """
        check_is_fitted(self)
        pandas = import_extra("pandas", "io", "voter_summary")
        names, seconds = self._predictor.scorer.names, self._seconds
        parts = []
        for label, columns in zip(self._targets(), self._voter_columns, strict=True):
            part = pandas.DataFrame({"voter": names, **columns, "seconds": seconds})
            if len(self._voter_columns) > 1:
                part.insert(1, "class", label)
            parts.append(part)
        frame = pandas.concat(parts, ignore_index=True)
        return frame.sort_values("contribution", ascending=False, ignore_index=True)

    def leaderboard(self, X, y):
        """Return a frame that compares the model with its voters on new labeled rows.

        Columns: ``voter`` ("all voters" for the model itself), ``auc``, ``accuracy`` and
        ``log_loss`` as in ``evaluate``, and ``seconds`` as in ``voter_summary``.

        Parameters
        ----------
        X : array-like, frame or sparse matrix
            Rows, as in ``fit``. They should be new to the model.
        y : array-like of shape (n_samples,), or str
            Labels, as in ``evaluate``.

        Returns
        -------
        pandas.DataFrame
            The comparison, largest AUC first.
        """
        pandas = import_extra("pandas", "io", "leaderboard")
        X, y = split_target(X, y)
        known, true = self._labels_to_score(y)
        rows = _safe_indexing(self._check_more(X, "X"), np.flatnonzero(known))
        predictor, classes = self._predictor, self.classes_
        scores = predictor.scorer.score(rows, self.n_jobs).astype(float)
        raw = predictor.raw_of(scores)
        probabilities = [predictor.probabilities(raw), *_probabilities(scores)]
        codes = [predictor.classes(raw), *(own.argmax(axis=1) for own in probabilities[1:])]
        lines = []
        for own, code in zip(probabilities, codes, strict=True):
            found = evaluate_predictions(true, classes[code], own, classes)
            lines.append((found.auc, found.accuracy, found.log_loss))
        frame = pandas.DataFrame(lines, columns=["auc", "accuracy", "log_loss"])
        frame.insert(0, "voter", ["all voters", *predictor.scorer.names])
        frame["seconds"] = [np.nan, *self._seconds]
        return frame.sort_values("auc", ascending=False, ignore_index=True)

    def tested_probabilities(self):
        """Return labels that tested the model, and probabilities of their rows.

        With a ``confidence_level`` these are the held-out rows. Without, they are labeled rows of
        the fit: each voter has scored them by trees or fits without the row, and the weights were
        found without the labels of the row's fold. These labels have helped to fit the voters that
        scored the other rows, which may flatter the model a little.

        Returns
        -------
        y : ndarray of shape (n_tested,)
            Labels.
        probabilities : ndarray of shape (n_tested, n_classes)
            Probabilities.
        """
        check_is_fitted(self)
        return self._tested_rows.y, self._predictor.probabilities(self._tested_rows.raw)

    @property
    def encoder_(self) -> ColumnEncoder | None:
        """What makes numbers of the columns of frames; None if these are numbers already."""
        return self._reader.encoder

    @property
    def encoding_(self):
        """What was done with the columns of ``fit``: a frame with a row for each.

        Columns: ``column`` is its name ("x0" for the first one if there are no names), ``kind`` is
        "numbers", "categories", "dates" or "left out" ("as given" where your classifiers get frames
        as they are), ``what`` is done with it, and ``note`` tells why that may be wrong.
        """
        check_is_fitted(self)
        plans = self._number_plans() if self.encoder_ is None else self.encoder_.plans_
        rows = [(plan.name, plan.kind, plan.what, plan.note) for plan in plans]
        pandas = import_extra("pandas", "io", "encoding_")
        return pandas.DataFrame(rows, columns=["column", "kind", "what", "note"])

    def _predict_unseen(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return labels and probabilities of rows, and which of them can be scored.

        If most labeled rows of the fit are among them, these are predicted without their labels,
        by what tested the model, and cannot be scored where there is no such prediction.
        """
        predictor, tested = self._predictor, self._tested_rows
        raw, hashes = [np.empty((0, predictor.n_games))], [tested.hashes[:0]]
        for batch in self._batches(X, "X", "pass X.compute()"):
            raw.append(predictor.raw_predictions(batch, self.n_jobs))
            hashes.append(hash_rows(batch))
        found, own = np.concatenate(raw), np.concatenate(hashes)
        fitted, is_scored = np.unique(self._fitted_hashes), np.ones(own.size, dtype=bool)
        n_fitted = self._fitted_hashes.size
        is_seen = np.isin(own, fitted)
        are_different = fitted.size >= LEAST_DIFFERENT * n_fitted
        are_few = is_seen.sum() <= MOST_EQUAL * n_fitted
        if are_different and are_few and np.isin(fitted, own).sum() > 0.5 * n_fitted:
            places = {key: place for place, key in enumerate(tested.hashes.tolist())}
            place = np.array([places.get(key, -1) for key in own.tolist()])
            found[place >= 0] = tested.raw[place[place >= 0]]
            is_scored = ~is_seen | (place >= 0)
            lost = f", and the {(~is_scored).sum():,} others are left out"
            warn_user(
                f"{is_seen.sum():,} of these rows are rows of the fit. They are scored by "
                "predictions made without their labels, those by which the error is estimated"
                f"{'' if is_scored.all() else lost}. Pass new rows for an independent test.",
                SeenRowsWarning,
            )
        return self.classes_[predictor.classes(found)], predictor.probabilities(found), is_scored

    def _column_sources(self) -> np.ndarray:
        """Return the column of ``fit`` that each column which voters see is made of."""
        if self.encoder_ is None:
            return np.arange(self.n_features_in_)
        return self.encoder_.sources_

    def _number_plans(self) -> list[ColumnPlan]:
        """Return what is done with columns that are not encoded, and notes on them."""
        numbered = [f"x{k}" for k in range(self.n_features_in_)]
        names = getattr(self, "feature_names_in_", numbered)
        kind, notes = "as given" if self._reader.frame_columns else "numbers", self._column_notes
        return [
            ColumnPlan(name, kind, "as they are", note=notes.get(k, ""))
            for k, name in enumerate(names)
        ]

    def _repr_html_inner(self) -> str:
        """Return the summary of the fit, with the encoding of columns folded below it."""
        summary = super()._repr_html_inner()  # type: ignore[misc]
        if getattr(self, "encoder_", None) is None:
            return summary
        table = self.encoding_.to_html(index=False, border=0, justify="left")
        return f"{summary}<details><summary>columns</summary>{table}</details>"

    @property
    def estimators_(self) -> dict[str, Any]:
        """The fitted classifiers other than trees, by their names."""
        if not hasattr(self, "_predictor"):
            raise AttributeError("estimators_ is known after fit.")
        return self._predictor.scorer.classifiers

    @property
    def costs_(self) -> np.ndarray | None:
        """Cost of predicting the class of the column for rows of the class of the row.

        It is made of ``class_weight``; None if all errors cost the same.
        """
        check_is_fitted(self)
        return self._predictor.costs

    @property
    def unlabeled_gain_(self) -> UnlabeledGain:
        """What the unlabeled rows have brought to the trees, measured out of bag.

        It is computed when it is first asked for, which takes about as long as growing the trees:
        they are grown once more, on components that are learned from the labeled rows alone. A
        saved model has no rows to do so, and knows it only if it was asked for before.
        """
        if not hasattr(self, "_gain"):
            trees, rows, random_state = self._trees_and_rows("unlabeled_gain_")
            if trees.scorer.components is None:
                raise AttributeError("unlabeled_gain_ is about components, and there are none.")
            control = fit_trees(
                rows.X,
                rows.codes,
                self._games(),
                None,
                n_trees=self.n_estimators,
                random_state=deepcopy(random_state),
                n_jobs=self.n_jobs,
            )
            self._gain = unlabeled_gain(trees, control, rows, self._games())
        return self._gain

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each column matters to the trees: what their out-of-bag AUC loses without it.

        The columns of the labeled rows are shuffled one after the other. The array has the shape
        ``(n_features_in_,)``, in the order of the columns of ``fit``, also where strings were
        encoded. It is computed when it is first asked for; a saved model has no rows to do so, and
        knows it only if it was asked for before.
        """
        if not hasattr(self, "_importances"):
            trees, rows, _ = self._trees_and_rows("feature_importances_")
            # columns made of one are shuffled together
            sources = self._column_sources()
            columns = [np.flatnonzero(sources == k) for k in range(self.n_features_in_)]
            found = permutation_importances(trees, rows, self._games(), columns, self.n_jobs)
            self._importances = found
        return self._importances

    def _trees_and_rows(self, name: str) -> tuple[FittedTrees, LabeledRows, np.random.RandomState]:
        """Return what an attribute of this name is measured by; raise if it is not there."""
        check_is_fitted(self)
        if self._predictor.scorer.trees is None:
            raise AttributeError(f"{name} is measured on trees, and no voter has any.")
        if not hasattr(self, "_grown_from"):
            raise AttributeError(f"{name} needs the labeled rows, and a copy of a model has none.")
        assert self._voters.trees is not None
        return self._voters.trees, *self._grown_from

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: all but the rows, and what is measured with them."""
        state: Any = super().__getstate__()
        with_rows = ("_grown_from", "_voters", "_random_state")
        return {name: value for name, value in state.items() if name not in with_rows}

    def _targets(self) -> list[Any]:
        """Return the class of each game: the second of two, or all."""
        return [self.classes_[k] for k in self._games()]

    def _contributions(self) -> tuple[list[str], np.ndarray]:
        by_game = [columns["contribution"] for columns in self._voter_columns]
        return self._predictor.scorer.names, np.max(by_game, axis=0)


def _probabilities(scores: np.ndarray) -> np.ndarray:
    """Return scores of shape (n_rows, n_voters, n_games) by voter, with a column per class."""
    own = np.moveaxis(scores, 1, 0)
    if own.shape[2] == 1:
        return np.concatenate([1.0 - own, own], axis=2)
    sums = own.sum(axis=2, keepdims=True)
    return np.divide(own, sums, out=np.full_like(own, 1.0 / own.shape[2]), where=sums > 0)


def permutation_importances(
    trees: FittedTrees,
    rows: LabeledRows,
    games: Sequence[int],
    columns: Sequence[np.ndarray],
    n_jobs: int | None,
) -> np.ndarray:
    """Return by how much the out-of-bag AUC falls if columns of the labeled rows are shuffled.

    Each entry is for columns that are shuffled together, and is the mean over classes against the
    rest. Trees count the same.
    """
    X = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
    is_positive = rows.codes[:, None] == np.asarray(games)
    known = ~np.isnan(trees.out_of_bag).any(axis=(1, 2))
    sizes, components = trees.scorer.sizes, trees.scorer.components

    def mean_auc(scores: np.ndarray) -> float:
        means = _mean_of_trees(scores[known], sizes)
        pairs = zip(is_positive[known].T, means.T, strict=True)
        return float(np.mean([placements(own, mean)[0].mean() for own, mean in pairs]))

    rng, whole = np.random.default_rng(0), mean_auc(trees.out_of_bag)
    n_repeats = N_SHUFFLES if len(columns) <= COLUMNS_TO_REPEAT else 1
    lost = np.zeros(len(columns))
    shuffled = X.copy()
    for number, own in enumerate(columns):
        for _ in range(n_repeats if own.size else 0):
            shuffled[:, own] = X[np.ix_(rng.permutation(X.shape[0]), own)]
            scores = trees.out_of_bag_in(see(shuffled, components), n_jobs)
            lost[number] += (whole - mean_auc(scores)) / n_repeats
        shuffled[:, own] = X[:, own]
    return lost


def _mean_of_trees(scores: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the mean over all trees of scores by group, shape (n_rows, n_games)."""
    return np.einsum("rgk,g->rk", scores, sizes)


@dataclass(frozen=True)
class UnlabeledGain:
    """What the unlabeled rows have changed, as far as the labels tell.

    Trees are compared with those whose views were learned from the labeled rows alone; both predict
    labeled rows by trees grown without them, and all trees count the same.

    Parameters
    ----------
    auc : float
        Difference in AUC: the mean over classes against the rest, without those of fewer than two
        labels; NaN if there are no others.
    auc_error : float
        Its standard error.
    """

    auc: float
    auc_error: float

    @property
    def is_significant(self) -> bool:
        """Whether the gain in AUC is more than two standard errors."""
        return self.auc > 2.0 * self.auc_error

    def describe(self) -> str:
        """Return it in one sentence.

        Examples
        --------
        >>> UnlabeledGain(0.031, 0.011).describe()
        'unlabeled rows: +0.031 AUC (± 0.011)'
        >>> UnlabeledGain(0.001, 0.004).describe()
        'unlabeled rows: no significant gain (+0.001 AUC, ± 0.004)'
        >>> UnlabeledGain(-0.089, 0.033).describe()
        'unlabeled rows: a loss (-0.089 AUC, ± 0.033)'
        """
        if np.isnan(self.auc):
            return "unlabeled rows: too few labels to measure what they bring"
        if self.is_significant:
            return f"unlabeled rows: {self.auc:+.3f} AUC (± {self.auc_error:.3f})"
        what = "a loss" if self.auc < -2.0 * self.auc_error else "no significant gain"
        return f"unlabeled rows: {what} ({self.auc:+.3f} AUC, ± {self.auc_error:.3f})"


def unlabeled_gain(
    trees: FittedTrees, control: FittedTrees, rows: LabeledRows, games: Sequence[int]
) -> UnlabeledGain:
    """Return the gain of trees over those with components of the labeled rows alone."""
    pairs = [_mean_of_trees(own.out_of_bag, own.scorer.sizes) for own in (trees, control)]
    known = ~np.isnan(pairs).any(axis=(0, 2))
    is_positive = (rows.codes[:, None] == np.asarray(games))[known]
    compared = [
        auc_difference(own, *(scores[known, k] for scores in pairs))
        for k, own in enumerate(is_positive.T)
        if 2 <= own.sum() <= own.size - 2
    ]
    gains, variances = zip(*compared, strict=True) if compared else ((np.nan,), (np.nan,))
    # classes share their rows, so that their errors do not cancel
    return UnlabeledGain(float(np.mean(gains)), float(np.mean(np.sqrt(variances))))


def auc_difference(
    is_positive: np.ndarray, scores: np.ndarray, others: np.ndarray
) -> tuple[float, float]:
    """Return the AUC of scores less that of others on the same rows, and its variance.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more
    correlated receiver operating characteristic curves", Biometrics 44, 1988.
    """
    positive, negative = placements(is_positive, scores)
    other_positive, other_negative = placements(is_positive, others)
    by_positive, by_negative = positive - other_positive, negative - other_negative
    variance = by_positive.var(ddof=1) / by_positive.size
    variance += by_negative.var(ddof=1) / by_negative.size
    return float(by_positive.mean()), float(variance)
