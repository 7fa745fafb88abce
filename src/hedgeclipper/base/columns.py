"""Columns: how those of frames become numbers, and what is suspicious about them.

Frames are those of pandas, polars and Arrow, read through narwhals. Labeled and unlabeled rows
together decide what is done with a column: strings, categories, booleans and dates become numbers.
Numbers that mark missing values get a note, and copies of the labels are refused.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, normalize
from sklearn.utils import check_array, murmurhash3_32
from threadpoolctl import threadpool_limits

from hedgeclipper.base.dates import (
    date_formats,
    date_numbers,
    date_texts,
    dates_of,
    formats_of,
    varying_parts,
)
from hedgeclipper.io import (
    are_numbers,
    as_text,
    frame_arrays,
    is_frame,
    listed,
    missing_labels,
)
from hedgeclipper.io.arrays import cut, draw_rows, is_array
from hedgeclipper.io.frames import is_float, plain_spelling, unique_values
from hedgeclipper.io.messages import counted, warn_user
from hedgeclipper.sklearn_private import _safe_indexing

_NINES = [sign * (10.0**n - 1) for n in range(2, 8) for sign in (-1, 1)]
LARGEST_ACCIDENT = 1e-6
LEAST_OTHERS = 20
COPIES = "its values alone tell the classes apart"
ABSENT = "it tells their classes apart, and is empty or the same on the unlabeled rows"
APART = "its numbers separate the classes"


class ColumnWarning(UserWarning):
    """A column is not used, or may not be what it seems."""


def mark_note(numbers: np.ndarray) -> str:
    """Return a note if numbers such as -999 seem to mark missing ones; else nothing.

    They are written in nines, are there twice or more, and lie beyond the others: below zero if no
    other number does, or farther away than the others are from each other.

    Examples
    --------
    >>> mark_note(np.array([3.0, 7.0, -999.0, 5.0, -999.0]))
    '-999 in 2 of 5 rows may mark missing values, and is used as a number; leave them empty'
    >>> mark_note(np.array([95.0, 97.0, 99.0, 99.0]))
    ''
    """
    numbers = numbers[np.isfinite(numbers)]
    for mark in {numbers.min(), numbers.max()} if numbers.size else ():
        others = numbers[numbers != mark]
        count = numbers.size - others.size
        is_marked = mark in _NINES
        if not is_marked or count < 2 or np.unique(others).size < 2:
            continue
        if (mark < 0 <= others.min()) or np.abs(others - mark).min() > np.ptp(others):
            return (
                f"{mark:.0f} in {count:,} of {numbers.size:,} rows may mark missing values, and is "
                "used as a number; leave them empty"
            )
    return ""


def notes_on_numbers(parts: Sequence[np.ndarray], scale: Any = None) -> dict[int, str]:
    """Return `mark_note` of the columns that have one, by position.

    Rows come in parts, arrays of the same columns; ``scale`` is what they were scaled by.
    """
    width = parts[0].shape[1]
    factor = np.ones(width) if scale is None else scale.factor
    center = np.zeros(width) if scale is None else scale.center
    ends = [end.reduce(part, axis=0) for part in parts for end in (np.fmin, np.fmax) if len(part)]
    is_likely = [np.isin((end / factor + center).round(6), _NINES) for end in ends]
    notes = {}
    for k in np.flatnonzero(np.any(is_likely, axis=0)):
        column = np.concatenate([part[:, k] for part in parts]).astype(float)
        notes[int(k)] = mark_note((column / factor[k] + center[k]).round(6))
    return {k: note for k, note in notes.items() if note}


def find_leaks(
    X: np.ndarray, codes: np.ndarray, others: np.ndarray | None, sources: np.ndarray
) -> dict[int, str]:
    """Return which columns seem to be made of the labels, and why.

    A column is one if on the labeled rows each class has one value that no other class has. To be
    missing is a value, too, and with some more labels one of the classes may have several values,
    as dates that only the rows of one class have. Or if each of its values there is of one class,
    or its numbers are in intervals that do not overlap, while it is missing or constant on the
    unlabeled rows. Labels in random order must be so with a probability of at most 1e-6: with two
    classes of the same size this takes 24 labels. Numbers in intervals that do not overlap may also
    be a very good column: where unlabeled rows have them too, the reason is ``APART``.

    Parameters
    ----------
    X : ndarray of shape (n_labeled, n_encoded)
        Labeled rows as numbers.
    codes : ndarray of shape (n_labeled,)
        Classes, numbered from 0.
    others : ndarray of shape (n_unlabeled, n_encoded) or None
        Unlabeled rows, or some of them.
    sources : ndarray of shape (n_encoded,)
        The column that each of them is made of.
    """
    counts = np.bincount(codes)
    n_classes = counts.size
    limit = np.log(LARGEST_ACCIDENT) - log_accident(counts)
    if gammaln(n_classes + 1) > limit:
        return {}
    starts = np.cumsum([0, *counts[:-1]])
    in_order = _filled(X)[np.argsort(codes, kind="stable")]
    low, high = (end.reduceat(in_order, starts) for end in (np.minimum, np.maximum))
    n_told: Counter[int] = Counter()  # classes that have a value of their own, by column
    for least, most, n_own in zip(low, high, counts, strict=True):
        has_own = (least == most) & ((in_order == least).sum(axis=0) == n_own)
        n_told.update({*_whole(sources, least == most)} & {*sources[has_own].tolist()})
    # a column has at most as many values as rows, of which each class but one has one
    one_may_vary = np.log(n_classes) + (n_classes - 1) * np.log(codes.size) <= limit
    found = {k: COPIES for k in sorted(n_told) if n_told[k] >= n_classes - one_may_vary}
    are_apart = _are_apart(low, high)
    apart = dict.fromkeys(sources[are_apart].tolist(), APART)
    if others is None or len(others) < LEAST_OTHERS:
        return dict(sorted((apart | found).items()))
    for k in _whole(sources, np.ptp(_filled(others), axis=0) == 0):
        own = sources == k
        groups = np.unique(in_order[:, own], axis=0, return_inverse=True)[1].ravel()
        pairs = np.unique(np.column_stack([groups, np.sort(codes)]), axis=0)
        n_groups = groups.max() + 1
        is_pure = len(pairs) == n_groups > 1 and n_groups * np.log(n_classes) <= limit
        if is_pure or are_apart[own].any():
            found.setdefault(k, ABSENT)
    return dict(sorted((apart | found).items()))


def warn_of_spellings(classes: np.ndarray) -> None:
    """Warn of classes that differ in case or in blanks alone: they may be one."""
    known: dict[str, str] = {}
    for label in classes.tolist():
        other = known.setdefault(plain_spelling(label), label) if isinstance(label, str) else label
        if other != label:
            warn_user(
                f"{other!r} and {label!r} are two classes, and differ in case or blanks alone. "
                "Write them alike if they are one.",
                ColumnWarning,
            )


def log_accident(counts: np.ndarray) -> float:
    """Return the logarithm of the probability of one order of so many labels of each class."""
    return float(gammaln(counts + 1).sum() - gammaln(counts.sum() + 1))


def _filled(X: np.ndarray) -> np.ndarray:
    """Return numbers with one that is below all others in place of missing ones."""
    return np.where(np.isnan(X), np.float32(-3e38), X)


def _whole(sources: np.ndarray, is_so: np.ndarray) -> list[int]:
    """Return the columns all of whose encoded columns are so."""
    return sorted({*sources[is_so].tolist()} - {*sources[~is_so].tolist()})


def _are_apart(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return in which columns the intervals of the classes, in rows, do not overlap."""
    order = np.argsort(low, axis=0)
    low, high = (np.take_along_axis(end, order, axis=0) for end in (low, high))
    return np.all(high[:-1] < low[1:], axis=0)


def refuse_leaks(found: Mapping[Any, str], n_labeled: int, keep: Sequence[Any], what: str) -> None:
    """Raise if columns or voters that are not to be kept seem to be made of the labels.

    Of numbers that may be a very good column there is a warning alone.
    """
    apart = [name for name, why in found.items() if why == APART and name not in keep]
    wrong = {name: why for name, why in found.items() if why != APART and name not in keep}
    if wrong:
        (name, why), *more = wrong.items()
        also = f" So do {listed([other for other, _ in more])}." if more else ""
        raise ValueError(
            f"{what} {name!r} seems to be made of the labels: on the {n_labeled:,} labeled rows "
            f"{why}.{also} Leave it out (--drop at the command line). If it is known before the "
            f"label, pass keep={[*keep, *wrong]!r}, or --keep at the command line."
        )
    if apart:
        warn_user(
            f"On {n_labeled:,} labeled rows one column alone separates the classes: "
            f"{listed(apart, 5)}. Leave it out (--drop at the command line) if it is known only "
            f"after the label. If not, keep={[*keep, *apart]!r}, or --keep, ends this warning.",
            ColumnWarning,
        )


MOST_VALUES = 50
ROWS_FOR_TEXT, N_HASHES, N_TEXT_COMPONENTS = 10_000, 1 << 12, 3
TEXTS_AT_ONCE = 1 << 12  # memory grows with the number of their letters
_LETTER = (1 << 21) - 1  # letters are numbers of 21 bits
# strings are numbers if at most this part of them is not, and so many numbers differ
MOST_STRAYS = 0.1
LEAST_NUMBERS = 10
MOST_NOTES = 5
# digits in groups of three or without commas, with a currency before or after, or a percent sign
_AMOUNT = re.compile(
    r"([-+]?[$€£¥]?\s?|[$€£¥]?\s?[-+])(?=\.?\d)"
    r"(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?(e[-+]?\d+)?\s?[$€£¥%]?",
    re.I,
)
# with a decimal comma, and points between thousands: it stays a string, with a note
_COMMA_NUMBER = re.compile(r"[-+]?[$€£¥]?\s?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?\s?[$€£¥%]?")


@dataclass(frozen=True)
class ColumnPlan:
    """What is done with one column."""

    name: str
    kind: str  # "numbers", "categories", "text", "dates" or "left out"
    what: str  # what is done with it, as text
    date_format: str | None = None  # how dates that are strings are read
    note: str = ""  # why this may be wrong, as text
    parts: tuple[str, ...] = ()  # of dates, as `date_numbers` calls them
    has_strays: bool = False  # whether numbers are strings, and others among them are missing


class ColumnEncoder:
    """Encodes a frame as an array of numbers, its columns matched by name.

    Numbers and booleans stay as they are. Dates and times of day, and strings that are all written
    as such, become days since 1970, year, month, weekday and hour, those of them that vary. A
    column of 0 and 1 marks missing numbers and dates, if there are any. Of strings and categories
    each value becomes a column of 0 and 1, the 49 most common ones and one for the others if there
    are more than 50; a missing value is a value too. One that ``fit`` has not seen is among the
    others, or 0 in all columns if there is none for these. Text, that is strings of which most are
    different, becomes three components of its groups of three and four letters, and the logarithm
    of how often it was seen. Columns without information are left out: those with one value, or
    none, and strings that are all different.

    Attributes
    ----------
    plans_ : list of ColumnPlan
        What is done with each column.
    sources_ : ndarray of shape (n_columns_out,)
        Number of the column that each new one is made of.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"town": ["Ulm", "Bern", None], "size": [1.5, None, 2.0]})
    >>> encoder = ColumnEncoder().fit(rows)
    >>> encoder.transform(rows[:1])  # size, whether it is missing, and town: None, Bern, Ulm
    array([[1.5, 0. , 0. , 0. , 1. ]])
    """

    def fit(self, X, X_unlabeled=None):
        """Decide what is done with each column of frames; the second may be a sample of rows."""
        columns = _arrays(X)
        if X_unlabeled is not None:
            for name, more in _arrays(X_unlabeled, list(columns)).items():
                columns[name] = _joined(name, columns[name], more)
        self.plans_ = [plan_column(name, values) for name, values in columns.items()]
        if not self.used_names:
            reasons = "; ".join(f"{plan.name!r}: {plan.what}" for plan in self.plans_[:3])
            raise ValueError(f"No column can be used ({reasons}). Add columns to learn from.")
        numbers, categories = self.names_of("numbers"), self.names_of("categories")
        marked = [plan for plan in self.plans_ if plan.kind in ("numbers", "dates")]
        self._marked = [plan.name for plan in marked if _missing(plan, columns[plan.name]).any()]
        self._one_hot = {
            name: OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                max_categories=MOST_VALUES,
                sparse_output=False,
            ).fit(as_text(columns[name])[:, None])
            for name in categories
        }
        self._text = {name: TextView().fit(columns[name]) for name in self.names_of("text")}
        sources = [*numbers, *self._marked]
        for name, one in self._one_hot.items():
            sources += [name] * one.get_feature_names_out().size
        for name, text in self._text.items():
            sources += [name] * text.n_columns
        sources += [plan.name for plan in self.plans_ for _ in plan.parts]
        positions = {name: position for position, name in enumerate(columns)}
        self.sources_ = np.array([positions[name] for name in sources])
        return self

    def transform(self, X):
        """Return the rows of a frame as float64, NaN where a number or a date is missing.

        Columns beyond those of ``fit`` are not used, and the order does not matter.
        """
        columns = _arrays(X, self.used_names)
        plans = {plan.name: plan for plan in self.plans_}
        made = [_numbers(plans[name], columns[name]) for name in self.names_of("numbers")]
        made += [_missing(plans[name], columns[name]).astype(float) for name in self._marked]
        for name, one in self._one_hot.items():
            values, codes = unique_values(columns[name].astype(object))
            made.append(one.transform(as_text(values)[:, None])[codes])
        made += [text.transform(columns[name]) for name, text in self._text.items()]
        for plan in self.plans_:
            if plan.kind == "dates":
                found = date_numbers(dates_of(columns[plan.name], plan.date_format))
                made += [found[part] for part in plan.parts]
        return np.column_stack(made)

    def warn_of_unknown(self, X: Any) -> None:
        """Warn if of many rows of a frame none has a value of a column that can be used."""
        plans = self._readable if X.shape[0] >= LEAST_OTHERS else []
        # the first rows clear nearly all columns, so that no others have to become objects
        for rows in (_safe_indexing(X, slice(LEAST_OTHERS)), X):
            columns, suspects = _arrays(rows, [plan.name for plan in plans]), []
            for plan in plans:
                values, _, lost = self._lost(plan, columns[plan.name])
                if lost.sum() == (~missing_labels(values)).sum():
                    suspects.append((plan, values[lost]))
            plans = [plan for plan, _ in suspects]
        for plan, values in suspects:
            if values.size:
                warn_user(
                    f"Column {plan.name!r} has no value of the fit, but others such as "
                    f"{values[0]!r}: these rows are predicted by the other columns. Write its "
                    "values as in the fit.",
                    ColumnWarning,
                )

    @property
    def used_names(self) -> list[str]:
        """Names of the columns that are not left out."""
        return [plan.name for plan in self.plans_ if plan.kind != "left out"]

    @property
    def string_names(self) -> list[str]:
        """Names of the columns that are strings, also if those of other rows look like numbers."""
        others = [plan.name for plan in self.plans_ if plan.date_format or plan.has_strays]
        return [*self.names_of("categories"), *self.names_of("text"), *others]

    def names_of(self, kind):
        """Return the names of the columns of this kind, as in `ColumnPlan`."""
        return [plan.name for plan in self.plans_ if plan.kind == kind]

    def unknown_values(self, X):
        """Return how often values that cannot be used are in each column.

        These are categories that ``fit`` has not seen, and dates and numbers that cannot be read.
        """
        columns, found = _arrays(X, [plan.name for plan in self._readable]), {}
        for plan in self._readable:
            values, codes, lost = self._lost(plan, columns[plan.name])
            counts = np.bincount(codes, minlength=lost.size)
            pairs = zip(as_text(values[lost]), counts[lost].tolist(), strict=True)
            found[plan.name] = Counter(dict(pairs))
        return found

    @property
    def _readable(self) -> list[ColumnPlan]:
        """Plans of columns with values that may be unknown: not those of numbers alone or text."""
        return [p for p in self.plans_ if p.kind in ("categories", "dates") or p.has_strays]

    def _lost(
        self, plan: ColumnPlan, column: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return different values, the number of each row's, and which of them cannot be used."""
        if column.dtype.kind in {"categories": "", "dates": "M"}.get(plan.kind, "biuf"):
            column = column[:0]
        values, codes = unique_values(column.astype(object))
        if plan.kind == "categories":
            known = {*self._one_hot[plan.name].categories_[0].tolist()}
            lost = np.array([text not in known for text in as_text(values)], dtype=bool)
        elif plan.kind == "dates":
            lost = np.isnat(dates_of(values, plan.date_format))
        else:
            lost = _missing(plan, values)
        return values, codes, lost & ~missing_labels(values)


class TextView:
    """Makes numbers of strings that are mostly different, such as names, titles or remarks.

    These are components of TF-IDF weights of the groups of three and four letters in each word,
    which strings that are written alike share, and the logarithm of the number of rows of ``fit``
    with the same string. (Chosen among target encoding, counts alone, more components and those of
    all columns of more than 50 values on four of the mixed files of the benchmarks, which is few:
    docs/ablations.md.)
    """

    n_columns = N_TEXT_COMPONENTS + 1

    def fit(self, values):
        """Learn components and counts of a column of strings."""
        texts = as_text(values)
        some = draw_rows(texts, ROWS_FOR_TEXT, np.random.RandomState(0))
        svd = TruncatedSVD(N_TEXT_COMPONENTS, random_state=0)
        with threadpool_limits(limits=1, user_api="blas"):  # sums that depend on no thread
            self._components = make_pipeline(TfidfTransformer(), svd).fit(letter_groups(some))
        counts = Counter(texts.tolist())
        self._counts = {text: count for text, count in counts.items() if count > 1}
        return self

    def transform(self, values):
        """Return the components and the logarithm of the count, shape (n_rows, n_columns)."""
        values, codes = unique_values(values.astype(object))
        texts = as_text(values)
        counts = np.array([self._counts.get(text, 1) for text in texts.tolist()])
        made = np.empty((texts.size, self.n_columns))
        made[:, -1] = np.log(counts)
        for start in range(0, texts.size, TEXTS_AT_ONCE):
            some = slice(start, start + TEXTS_AT_ONCE)
            made[some, :-1] = self._components.transform(letter_groups(texts[some]))
        return made[codes]


def letter_groups(texts: np.ndarray) -> sparse.csr_matrix:
    """Return how often groups of three and four letters are in the words of each text, hashed.

    Rows have the norm 1. They are those of scikit-learn's ``HashingVectorizer``, with the analyzer
    "char_wb", but each different group is hashed once, and not in each text.
    """
    lines = [" ".join(text.lower().split()) for text in texts.tolist()]
    whole = f" {' '.join(lines)} ".encode("utf-32-le")
    letters = np.frombuffer(whole, np.uint32).astype(np.int64)
    # of the second letter of each group, which belongs to a word, as all but the first and last do
    rows = np.repeat(np.arange(len(lines)), [len(line) + 1 for line in lines])[:-1]
    starts = np.flatnonzero(letters[1:-1] != ord(" "))
    three = letters[starts] << 42 | letters[starts + 1] << 21 | letters[starts + 2]
    different, codes = np.unique(three, return_inverse=True)
    names = [chr(k >> 42) + chr(k >> 21 & _LETTER) + chr(k & _LETTER) for k in different.tolist()]
    # the third letter belongs to the word too where the next group begins one letter further
    is_longer = np.append(np.diff(starts) == 1, False)[: starts.size]
    four = codes[is_longer] << 21 | letters[starts[is_longer] + 3]
    longer, more_codes = np.unique(four, return_inverse=True)
    names += [names[k >> 21] + chr(k & _LETTER) for k in longer.tolist()]
    hashed = np.array([abs(murmurhash3_32(name)) % N_HASHES for name in names], dtype=np.intp)
    columns = hashed[np.append(codes, different.size + more_codes)]
    rows = np.append(rows[starts], rows[starts[is_longer]])
    counts = sparse.csr_matrix((np.ones(rows.size), (rows, columns)), (len(lines), N_HASHES))
    return normalize(counts, copy=False)


@dataclass(frozen=True, eq=False)
class ColumnScale:
    """Brings columns into the reach of float32 and of trees: (x - center) * factor.

    Trees and views see rows in float32, of seven digits, and trees take columns that vary by less
    than 1e-7 for constant ones. Columns far from zero, measured by their spread, are centered, and
    those of very small or large spread are multiplied by a power of two. Others stay as they are.
    """

    center: np.ndarray  # (n_columns,)
    factor: np.ndarray  # (n_columns,)

    @classmethod
    def of(cls, X: Any) -> ColumnScale | None:
        """Return the scale that the columns of these rows need, or None if they need none.

        Sparse columns are not centered: their zeros must stay zeros.

        Examples
        --------
        >>> scale = ColumnScale.of(np.array([[1e12, 1.0], [1e12 + 1, 2.0], [1e12 + 3, 4.0]]))
        >>> scale.transform(np.array([[1e12 + 2, 3.0]]))
        array([[1., 3.]], dtype=float32)
        """
        X = _float64(X)
        if sparse.issparse(X):
            center, spread = np.zeros(X.shape[1]), abs(X).max(axis=0).toarray().ravel()
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # columns without any number
                center = np.nanmedian(X, axis=0)
                distances = np.abs(X - center)
                # the median of the others: many values may be the same
                spread = np.nanmedian(np.where(distances > 0, distances, np.nan), axis=0)
        has_spread = np.isfinite(spread) & (spread > 0)
        is_far = has_spread & (np.abs(center) > 2.0**12 * spread)
        is_odd = has_spread & ((spread < 2.0**-10) | (spread > 2.0**60))
        if not np.any(is_far | is_odd):
            return None
        exponent = np.log2(spread, out=np.zeros_like(spread), where=is_odd).round()
        return cls(np.where(is_far, center, 0.0), np.exp2(-exponent))

    def transform(self, X: Any) -> Any:
        """Return rows, an array, CSR matrix or frame, as float32 in the new scale."""
        X = _float64(X)
        largest = 2.0**100  # of outliers, so that they are finite in float32
        if sparse.issparse(X):
            data = np.clip(X.data * self.factor[X.indices], -largest, largest)
            return type(X)((data.astype(np.float32), X.indices, X.indptr), shape=X.shape)
        out = np.empty(X.shape, np.float32)
        for rows in cut(X.shape[0], X):
            out[rows] = np.clip((X[rows] - self.center) * self.factor, -largest, largest)
        return out

    def check_arrays(self) -> None:
        """Raise unless each column has a center and a factor."""
        parts = (self.center, self.factor)
        if not all(
            is_array(own, "f", self.center.size) and np.isfinite(own).all() for own in parts
        ):
            raise ValueError("the scale of its columns has numbers that do not fit together")


def _float64(X: Any) -> Any:
    return check_array(
        X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
    )


def warn_of_columns(plans: Sequence[ColumnPlan]) -> None:
    """Warn of columns that may be wrong, in one warning."""
    notes = [
        f"Column {plan.name!r}{' is left out' * (plan.kind == 'left out')}: {plan.note}."
        for plan in plans
        if plan.note
    ]
    if notes:
        more = len(notes) - MOST_NOTES
        rest = f" And {more} more columns." if more > 0 else ""
        advice = " `encoding_` tells how each column is read."
        warn_user(" ".join(notes[:MOST_NOTES]) + rest + advice, ColumnWarning)


def needs_encoding(X: Any, names: list[str] | None = None, label: str | None = None) -> bool:
    """Return whether X has columns that are not numbers or booleans, as far as can be seen.

    X may be a frame, files, batches or a Dask frame. ``names`` are those of the columns that count,
    by default all but the label.
    """
    if is_frame(X):
        arrays = frame_arrays(X, names)
        return not set(map(kind_of, arrays.values())) <= {"numbers", "nothing"}
    return not are_numbers(getattr(X, "_meta", X), names, label)


def check_numbers(X: Any, names: list[Any] | None = None) -> None:
    """Raise if X is no frame, or with the name of a column, one of these, that has no numbers."""
    for name, values in _arrays(X).items():
        if names is None or name in names:
            _numbers(ColumnPlan(name, "numbers", ""), values)


def _arrays(X: Any, names: list[Any] | None = None) -> dict[Any, np.ndarray]:
    """Return the columns of a frame by name, all or those that are asked for."""
    if not is_frame(X):
        raise TypeError(
            "Rows must be a frame with named columns, since those of fit hold strings, categories "
            f"or dates. Got {type(X).__name__}. Pass a frame, or encode the columns first."
        )
    columns = frame_arrays(X, names)
    missing = [name for name in names or () if name not in columns]
    if missing:
        raise ValueError(
            f"The rows lack columns that the model knows: {listed(missing, 5)}. Pass rows with all "
            "columns of those it was fitted to."
        )
    return columns


def _joined(name: Any, values: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return the values of a column in two frames; they must be of the same kind in both.

    Dates of files may be strings in memory, and are then written as these are.
    """
    # those in nanoseconds would become whole numbers beside other objects
    parts = [part.astype("M8[us]") if part.dtype.kind == "M" else part for part in (values, more)]
    part_kinds = [kind_of(part) for part in parts]
    kinds = {*part_kinds} - {"nothing"}
    if len(kinds) > 1 and kinds & {"numbers", "dates"}:
        strings = parts[part_kinds.index("categories")] if "categories" in kinds else values[:0]
        texts = as_text(strings[~missing_labels(strings)]).tolist()
        formats = formats_of(texts) if "dates" in kinds else []
        if len(formats) == 1:
            own = part_kinds.index("dates")
            parts[own] = date_texts(parts[own], formats[0])
        elif "dates" in kinds or not (are_amounts(texts) or strays_of(texts) is not None):
            what = "dates" if "dates" in kinds else "numbers"
            raise ValueError(
                f"Column {name!r} holds {what} only in the labeled rows, or only in the unlabeled "
                "ones. Write it in the same way in both."
            )
    dtype = None if parts[0].dtype.kind == parts[1].dtype.kind else object
    return np.concatenate(parts, dtype=dtype, casting="unsafe")


def _numbers(plan: ColumnPlan, values: np.ndarray) -> np.ndarray:
    """Return a column as float64, NaN where it is missing, or raise if it does not hold numbers."""
    try:
        if values.dtype.kind == "O":
            missing = _missing(plan, values)
            numbers = [amount_of(x) if isinstance(x, str) else x for x in values[~missing]]
            values = np.full(values.shape, np.nan)
            values[~missing] = numbers
        elif values.dtype.kind not in "biuf":
            raise TypeError(f"got {values.dtype}")
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Column {plan.name!r} must hold numbers, as in the rows the model was fitted to "
            f"({error}). Correct it; leave the place of a missing number empty."
        ) from error


def _missing(plan: ColumnPlan, values: np.ndarray) -> np.ndarray:
    """Return which values are missing; strings that are no numbers too, if the plan says so."""
    if values.dtype.kind != "O":
        return missing_labels(values)
    values, codes = unique_values(values)
    missing = missing_labels(values)
    if plan.has_strays:
        are_strays = [isinstance(value, str) and not is_number(value) for value in values]
        missing |= np.array(are_strays, dtype=bool)
    return missing[codes]


def plan_column(name: Any, values: np.ndarray) -> ColumnPlan:
    """Return what to do with a column, given its values in all rows."""
    present = values[~missing_labels(values)]
    n_missing = len(values) - len(present)
    kind = kind_of(values)
    if kind == "nothing":
        return ColumnPlan(name, "left out", "all values are missing")
    if kind is None:
        raise ValueError(
            f"Column {name!r} must have numbers, booleans, strings, categories or dates. Got "
            f"{values.dtype}. Make one of these of it, or leave it out."
        )
    n_values = len(set(present.tolist()))
    note = ""
    if n_values == 1 and n_missing == 0:
        return ColumnPlan(name, "left out", "it has the same value everywhere")
    gaps = f"; {n_missing:,} missing" if n_missing else ""
    marked = gaps and f"{gaps}, marked in a column of their own"
    if kind == "numbers":
        numbers = present.astype(float)
        note = mark_note(numbers) or _note_on_numbers_as_dates(numbers)
        return ColumnPlan(name, kind, f"as they are{marked}", note=note)
    texts = as_text(present).tolist() if kind == "categories" else []
    if are_amounts(texts):
        signed = next(text for text in texts if not is_float(text))
        read = f"{signed.strip()!r} is read as {amount_of(signed):g}"
        return ColumnPlan(name, "numbers", f"amounts, read as numbers: {read}{marked}")
    strays = strays_of(texts)
    if strays is not None:
        n_lost, what = n_missing + len(strays), "read as numbers"
        if n_lost:
            what += f"; {n_lost:,} missing, marked in a column of their own"
        if strays:
            rows = counted(len(strays), "row")
            note = f"{strays[0]!r} and the like in {rows} are no numbers, and are read as missing"
        return ColumnPlan(name, "numbers", what, note=note, has_strays=True)
    formats = formats_of(texts)
    if kind == "dates" or formats:
        date_format = next(iter(formats), None)
        parts = varying_parts(dates_of(present, date_format))
        read = f", read as {date_format}" if date_format else ""
        if len(formats) > 1:
            first = "day" if formats[0].startswith("%d") else "month"
            both = f"{texts[0]} may begin with the day or the month"
            note = f"{both}, and is read with the {first} first"
        return ColumnPlan(
            name, "dates", f"{', '.join(parts)}{read}{marked}", date_format, note, parts
        )
    note = _note_on_categories(texts) or _note_on_dates(texts)
    is_long = n_values > MOST_VALUES
    if n_values == len(present) and (is_long or (n_missing == 0 and n_values >= 20)):
        what = f"text of its own in each row ({n_values:,} values)"
        note = note or "text that is different in each row, as an id is, cannot be used"
        return ColumnPlan(name, "left out", what, note=note)
    if is_long and n_values > 0.5 * len(present):
        what = f"text ({n_values:,} values): groups of letters, and how often it is there{gaps}"
        return ColumnPlan(name, "text", what, note=note)
    how = "a column of 0 and 1 for each"
    if len(set(texts)) + (n_missing > 0) > MOST_VALUES:  # a missing value is one more
        how = f"a column for each of the {MOST_VALUES - 1} most common and one for the others"
    also = gaps and f"{gaps} are a value too"
    return ColumnPlan(name, kind, f"{n_values:,} values, {how}{also}", note=note)


def kind_of(values: np.ndarray) -> str | None:
    """Return what a column holds: numbers, categories, dates or nothing; None for anything else."""
    present = values[~missing_labels(values)]
    if present.size == 0:
        return "nothing"
    if values.dtype.kind != "O":
        return {**dict.fromkeys("biuf", "numbers"), "M": "dates"}.get(values.dtype.kind)
    types = set(map(type, present))
    if all(issubclass(one, (Real, Decimal, np.bool_)) for one in types):
        return "numbers"
    if all(issubclass(one, (date, time, np.datetime64)) for one in types):
        return "dates"
    is_text = any(issubclass(one, str) for one in types)
    texts = all(issubclass(one, (str, Real, Decimal, np.bool_)) for one in types)
    return "categories" if is_text and texts else None


def are_amounts(texts: list[str]) -> bool:
    """Return whether strings are numbers, some with a currency, a percent sign or thousands."""
    different = [text.strip() for text in set(texts)]
    if all(map(is_float, different)) or not all(map(_AMOUNT.fullmatch, different)):
        return False
    return len({text.endswith("%") for text in different}) == 1


def amount_of(text: str) -> float:
    """Return a string as a number: ``"$1,234.50"`` is 1234.5, ``"12%"`` is 0.12."""
    digits = re.sub(r"[\s,$€£¥%]", "", text) if _AMOUNT.fullmatch(text.strip()) else text
    return float(digits) / (100.0 if "%" in text else 1.0)


def is_number(text: str) -> bool:
    """Return whether a string is a number or an amount."""
    return is_float(text) or bool(_AMOUNT.fullmatch(text.strip()))


def strays_of(texts: list[str]) -> list[str] | None:
    """Return the few strings that are no numbers where the others are; None if that is not so.

    Digits that begin with 0 are codes, and those with few different values may be.
    """
    by_text = {text: is_number(text) for text in set(texts)}
    strays = [text for text in texts if not by_text[text]]
    numbers = [text.strip() for text, own in by_text.items() if own]
    is_code = any(re.match(r"0\d", text) for text in numbers)
    is_code |= len({text.endswith("%") for text in numbers}) > 1
    is_code |= len(numbers) <= (LEAST_NUMBERS if strays else MOST_VALUES)
    if is_code or len(strays) > MOST_STRAYS * len(texts):
        return None
    return None if any(map(_COMMA_NUMBER.fullmatch, map(str.strip, strays))) else strays


def _note_on_categories(texts: list[str]) -> str:
    """Return why strings are not read as numbers, if nearly all of them are; else nothing."""
    strange = [text for text in texts if not is_number(text)]
    others = [text for text in strange if not _COMMA_NUMBER.fullmatch(text.strip())]
    # the same few beside many numbers mark missing ones, however often they are there
    n_others, n_numbers = len(set(others)), len(set(texts)) - len(set(strange))
    are_marks = n_others <= LEAST_NUMBERS and n_numbers > MOST_VALUES
    if not strange or (len(others) >= MOST_STRAYS * len(texts) and not are_marks):
        return ""
    wrong = others or strange
    return (
        f"{wrong[0]!r} and the like in {counted(len(wrong), 'row')} make its numbers "
        "strings; write numbers as 1234.5, and leave the place of a missing one empty"
    )


def _note_on_numbers_as_dates(numbers: np.ndarray) -> str:
    """Return a note if numbers seem to be dates, such as 20210629; else nothing."""
    values = np.unique(numbers)
    are_days = values.size >= LEAST_NUMBERS and values[0] > 1.9e7 and values[-1] < 2.1e7
    if not are_days or np.isnat(dates_of(as_text(values), "%Y%m%d")).any():
        return ""
    text = f"{numbers[0]:.0f}"
    return (
        f"{text} and the like may be dates, and are used as numbers; write them as "
        f"{text[:4]}-{text[4:6]}-{text[6:]}"
    )


def _note_on_dates(texts: list[str]) -> str:
    """Return why strings are not read as dates, if nearly all of them are; else nothing."""
    values = np.array(texts, dtype=object)
    for date_format in {one for text in texts[:3] for one in date_formats(text)}:
        others = values[np.isnat(dates_of(values, date_format))]
        if 0 < others.size <= MOST_STRAYS * values.size:
            rows = counted(others.size, "row")
            return (
                f"{others[0]!r} and the like in {rows} make its dates strings; write all dates "
                "alike, and leave the place of a missing one empty"
            )
    return ""
