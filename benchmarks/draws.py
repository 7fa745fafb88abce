"""Draws: some rows get labels, the others are unlabeled, and some of those are scored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from benchmarks.data.frames import CSV_FILES, FRAMES, read_frame
from benchmarks.data.sources import fetch

LEAST_PER_CLASS = 2
MOST_OF_FRAME = 5_000  # unlabeled rows


@dataclass(frozen=True, eq=False)
class Draw:
    """What every method gets, and the labels that only the scorer sees.

    Parameters
    ----------
    X : ndarray or DataFrame of shape (n_labels, n_features)
        Labeled rows; those of some files are a frame.
    y : ndarray of shape (n_labels,)
        Their labels, numbers from 0.
    X_unlabeled : ndarray or DataFrame of shape (n_unlabeled, n_features)
        Unlabeled rows, those to score first.
    y_scored : ndarray of shape (n_scored,)
        Labels of the leading unlabeled rows, hidden from the methods.
    seed : int
        Number of the draw; also the seed of the methods.
    is_sparse : bool
        Whether most entries are zero by nature (counts, indicators).
    """

    X: Any
    y: np.ndarray
    X_unlabeled: Any
    y_scored: np.ndarray
    seed: int
    is_sparse: bool

    @property
    def n_scored(self) -> int:
        """Return the number of rows to score."""
        return self.y_scored.size

    @property
    def X_scored(self) -> Any:
        """Return the rows to score."""
        return self.X_unlabeled[: self.n_scored]

    def fold(self, kept: np.ndarray, held_out: np.ndarray, n_unlabeled: int) -> Draw:
        """Return the draw in which held-out labeled rows are the ones to score.

        Only the first ``n_unlabeled`` of the other unlabeled rows, which lie in random order,
        come along.
        """
        return replace(
            self,
            X=self.X[kept],
            y=self.y[kept],
            X_unlabeled=np.vstack([self.X[held_out], self.X_unlabeled[:n_unlabeled]]),
            y_scored=self.y[held_out],
        )


@cache
def whole(name: str) -> Any:
    """Return the data set, kept for the next draw."""
    return fetch(name)


def make_draw(name: str, n_labels: int, seed: int, *, max_unlabeled: int | None = None) -> Draw:
    """Return a random draw of a data set or frame; "adult 5 %" has 5% positives.

    Labels are drawn from the training rows until each class has two. Scored are the test rows
    where the file has a split, and the unused training rows otherwise. The other unlabeled rows
    are the unused training rows and the extra ones. Where all are more than
    ``max_unlabeled``, as many are drawn, up to half of them from the rows that are not scored.
    """
    if name in FRAMES:
        return _frame_draw(name, n_labels, seed, max_unlabeled)
    if name.endswith("%"):
        data, percent, _ = name.split()
        return _rare_draw(data, int(percent), n_labels, seed, max_unlabeled)
    bunch = whole(name)
    rng = np.random.default_rng([seed, n_labels])
    labeled, unused = draw_labels(bunch.target[: bunch.n_train], n_labels, rng)
    test = rng.permutation(np.arange(bunch.n_train, bunch.target.size))
    scored, others = (test, unused) if test.size else (unused, test)
    extra = bunch.data_unlabeled
    n_extra = 0 if extra is None else extra.shape[0]
    n_scored, n_others = _row_counts(scored.size, others.size + n_extra, max_unlabeled)
    scored = scored[:n_scored]
    picked = rng.permutation(others.size + n_extra)[:n_others]
    parts = [bunch.data[scored], bunch.data[others[picked[picked < others.size]]]]
    if n_extra:
        parts.append(extra[np.sort(picked[picked >= others.size]) - others.size])
    return Draw(
        X=to_dense(bunch.data[labeled]),
        y=bunch.target[labeled],
        X_unlabeled=_stack(parts),
        y_scored=bunch.target[scored],
        seed=seed,
        is_sparse=sparse.issparse(bunch.data),
    )


def _rare_draw(data: str, percent: int, n_labels: int, seed: int, n_unlabeled: int) -> Draw:
    """Return a draw of rows of which that percentage is positive; all unlabeled ones are scored."""
    bunch = whole(data)
    rng = np.random.default_rng([seed, n_labels, percent])
    n_rows = n_labels + n_unlabeled
    n_positive = round(n_rows * percent / 100)
    parts = [
        rng.permutation(np.flatnonzero(bunch.target == label))[:size]
        for label, size in ((1, n_positive), (0, n_rows - n_positive))
    ]
    rows = rng.permutation(np.concatenate(parts))
    labeled, others = (rows[own] for own in draw_labels(bunch.target[rows], n_labels, rng))
    return Draw(
        X=to_dense(bunch.data[labeled]),
        y=bunch.target[labeled],
        X_unlabeled=to_dense(bunch.data[others]),
        y_scored=bunch.target[others],
        seed=seed,
        is_sparse=False,
    )


def _frame_draw(name: str, n_labels: int, seed: int, max_unlabeled: int | None) -> Draw:
    """Return a draw of a frame in which two classes at least have two labels each.

    Rows of classes without a label are not scored: nothing can predict them.
    """
    frame, y = read_frame(name)
    n_unlabeled = min(max_unlabeled or MOST_OF_FRAME, MOST_OF_FRAME)
    # of mixed columns other draws than those that chose how they are treated
    rng = np.random.default_rng(seed if name in CSV_FILES else [1_000 + seed, n_labels])
    while True:
        order = rng.permutation(len(y))
        drawn, rest = order[:n_labels], order[n_labels:][:n_unlabeled]
        classes, codes = np.unique(y[drawn], return_inverse=True)
        if np.sum(np.bincount(codes) >= LEAST_PER_CLASS) >= 2:
            break
    rest = rest[np.isin(y[rest], classes)]
    X, X_unlabeled = (frame.iloc[rows].reset_index(drop=True) for rows in (drawn, rest))
    return Draw(X, codes, X_unlabeled, np.searchsorted(classes, y[rest]), seed, is_sparse=False)


def one_hot(draw: Draw) -> Draw:
    """Return the draw with numbers imputed and scaled, and strings as columns of 0 and 1."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    strings = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    encoder = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (strings, make_column_selector(dtype_exclude="number")),
    )
    return _encoded(draw, encoder)


def ordinal(draw: Draw) -> Draw:
    """Return the draw with strings as codes, numbers as they are, and missing values as NaN."""
    selector = make_column_selector(dtype_exclude="number")
    return _encoded(
        draw, make_column_transformer((OrdinalEncoder(), selector), remainder="passthrough")
    )


def _encoded(draw: Draw, encoder: Any) -> Draw:
    """Return the draw with frames encoded, by what all of its rows show; arrays stay as they are.

    Dates become year, month, day and weekday, as ours makes them.
    """
    if not isinstance(draw.X, pd.DataFrame):
        return draw
    rows = pd.concat([draw.X, draw.X_unlabeled], ignore_index=True)
    for name in rows.select_dtypes("datetime").columns:
        date = rows.pop(name).dt
        for part in ("year", "month", "day", "day_of_week"):
            rows[f"{name} {part}"] = getattr(date, part)
    rows = rows.where(rows.notna(), np.nan)  # None would be a category
    X = to_dense(encoder.fit_transform(rows)).astype(float)
    return replace(draw, X=X[: draw.y.size], X_unlabeled=X[draw.y.size :])


def draw_labels(
    y: np.ndarray, n_labels: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of rows that get labels, of each class at least two, and of the others."""
    while True:
        order = rng.permutation(y.size)
        counts = np.bincount(y[order[:n_labels]], minlength=np.max(y) + 1)
        if counts.min() >= LEAST_PER_CLASS:
            return order[:n_labels], order[n_labels:]


def _row_counts(n_scored: int, n_others: int, limit: int | None) -> tuple[int, int]:
    """Return how many rows of either kind are drawn."""
    if limit is None or n_scored + n_others <= limit:
        return n_scored, n_others
    n_scored = min(n_scored, max(limit - n_others, limit // 2))
    return n_scored, min(n_others, limit - n_scored)


def to_dense(rows: Any) -> np.ndarray:
    """Return rows as an array."""
    return rows.toarray() if sparse.issparse(rows) else rows


def _stack(parts: list[Any]) -> np.ndarray:
    """Return the parts one below the other, dense, filled in one after the other."""
    X = np.empty((sum(part.shape[0] for part in parts), parts[0].shape[1]), dtype=np.float32)
    start = 0
    for part in parts:
        X[start : start + part.shape[0]] = to_dense(part)
        start += part.shape[0]
    return X
