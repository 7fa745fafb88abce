"""LabelingLoop: asks for labels, learns from them, and stops when the file is proved.

The loop begins with random rows, then chooses those of which the model is least certain, and when
that no longer pays (`policy`), it makes an attempt to prove (`attempt`): predictions are frozen,
and random ones of the rows that are left test them. What the test does not accept is reviewed.
These labels train the model for a second attempt, which has a small part of the level in reserve
and is made only if it saves at least half of what is left.

All that counts is made of events, the lines of the session file (`state`). A loop adds what need
not survive: the last fit, which rows are open, and estimates (`estimates`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hedgeclipper.bounds.auto_labels import check_max_error
from hedgeclipper.bounds.finishing import FileClaim
from hedgeclipper.bounds.intervals import check_level
from hedgeclipper.bounds.sample import draw_sample
from hedgeclipper.classifier import HedgeClipperClassifier
from hedgeclipper.io.frames import as_frame, as_plain_array, is_frame, listed, missing_labels
from hedgeclipper.labeling.attempt import attempt_seed, draw_order
from hedgeclipper.labeling.estimates import Estimates
from hedgeclipper.labeling.fitting import FitJob, FitResult
from hedgeclipper.labeling.marks import DISPUTED, NONE, SKIPPED
from hedgeclipper.labeling.policy import choose_rows, is_time_to_prove
from hedgeclipper.labeling.progress import LabelingResult, LabelingStatus
from hedgeclipper.labeling.session import VERSION, SessionError, SessionFile, digest_arrays
from hedgeclipper.labeling.state import SessionState, check_classes
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.matrix import Votes

# random rows to begin with, and how many of them are for the first fit: the others test it
N_START, N_FIRST_FIT = 30, 20
# parts of the level for the first attempt and for one in reserve, which must save this part
LEVEL_PARTS, RESERVE_SAVES = (0.95, 0.05), 0.5
# where there are several people, one label in so many is for a row that another one has labeled
SECOND_EVERY = 10
CHOOSE_STREAM, SECOND_STREAM = 0xC405, 0x5EC0


class LabelingLoop:
    """Asks which rows to label, until at most a few percent of all labels of a file are wrong.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features), or Votes
        All rows of the file. With a `VoteAggregator` as the model, their votes.
    classes : sequence
        All labels that a row can have: strings, whole numbers or booleans.
    max_error : float, default=0.05
        Largest proportion of wrong labels in the finished file.
    confidence_level : float, default=0.95
        Probability with which that holds.
    model : classifier or None, default=None
        What learns: any classifier of scikit-learn with ``predict_proba``, or a `VoteAggregator`.
        None is `HedgeClipperClassifier`.
    y : array-like of shape (n_rows,), default=None
        Labels that are known already, None or NaN for the others. They train, never test, and count
        as right.
    random_state : int, default=0
        Seed of all draws.
    session : str or Path, default=None
        A file to write all labels to; it must not exist yet. None: nothing is written.
    target : str, default=""
        Name of what is labeled, for who reads the session file.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(random_state=0)
    >>> loop = LabelingLoop(X, classes=[0, 1], max_error=0.05, model=model)
    >>> while (rows := loop.ask(20)).size:
    ...     loop.tell(rows, y[rows])  # here a person would look at the rows
    >>> result = loop.result()
    >>> result.kind, bool(np.mean(result.labels != y) <= 0.05)
    ('guarantee', True)
    """

    def __init__(
        self,
        X: Any,
        *,
        classes: Sequence[Any],
        max_error: float = 0.05,
        confidence_level: float = 0.95,
        model: Any = None,
        y: Any = None,
        random_state: int = 0,
        session: str | Path | None = None,
        target: str = "",
    ) -> None:
        if isinstance(max_error, Mapping):
            raise TypeError(
                "max_error must be one number here, such as 0.05. Got limits of classes."
            )
        if not isinstance(random_state, int | np.integer) or random_state < 0:
            raise ValueError(
                f"random_state must be a whole number and not negative: it is part of the record. "
                f"Got {random_state!r}."
            )
        check_level(confidence_level)
        X, n_rows, digest = _check_rows(X, model)
        delta = 1.0 - float(confidence_level)
        start = {
            "event": "session",
            "version": VERSION,
            "rows": n_rows,
            "digest": digest,
            "columns": _columns(X),
            "target": str(target),
            "classes": check_classes(classes).tolist(),
            "max_error": check_max_error(max_error),
            "confidence_level": float(confidence_level),
            "levels": [part * delta for part in LEVEL_PARTS],
            "seed": int(random_state),
            "known": _known_labels(y, n_rows),
        }
        self._file: SessionFile | None = None
        self._set_up(X, model, SessionState(start))
        if session is not None:
            self._file = SessionFile.create(session, start)

    @classmethod
    def resume(cls, path: str | Path, X: Any, model: Any = None) -> LabelingLoop:
        """Return the loop of a session file, as it was after the last label.

        Parameters
        ----------
        path : str or Path
            The session file.
        X : array-like, sparse matrix, frame or Votes
            The rows that the session began with.
        model : classifier or None, default=None
            As of the session's begin: models are not stored. The next fit is due at once.

        Returns
        -------
        LabelingLoop
            The loop; ``note`` says if the last line of the file was torn.
        """
        loop = cls.__new__(cls)
        file, session, note = SessionFile.open(path)
        try:
            X, n_rows, digest = _check_rows(X, model)
            if (n_rows, digest) != (session.n_rows, session.digest):
                differ = sorted({*_columns(X)} ^ {*session.columns})
                found = f" Only one of them has the columns {listed(differ, 5)}." if differ else ""
                raise SessionError(
                    f"The rows are not those that the session {path} began with, or their order "
                    f"has changed: got {n_rows:,} rows with digest {digest}, and the session has "
                    f"{session.n_rows:,} with digest {session.digest}.{found}"
                )
            loop._set_up(X, model, session.replay(file.read_arrays))
        except BaseException:
            file.close()
            raise
        loop._file, loop.note = file, note
        return loop

    def _set_up(self, X: Any, model: Any, state: SessionState) -> None:
        self.note = ""
        self._X, self._state = X, state
        self.n_rows, self.classes, self.target = state.n_rows, state.classes, state.target
        self.max_error, self.confidence_level = state.max_error, state.confidence_level
        default = HedgeClipperClassifier(random_state=state.seed)
        self._model = default if model is None else model
        self._fit: FitResult | None = None
        self._open: dict[int, str] = {}
        self._n_asked = 0
        self._estimates = Estimates(state, None, self._way)

    # what people do

    def ask(self, n: int = 1, *, refit: bool = True, annotator: str = "") -> np.ndarray:
        """Return the next rows to label; none if the file is finished.

        Parameters
        ----------
        n : int, default=1
            How many rows at most. Fewer are returned where another step comes next.
        refit : bool, default=True
            Fit the model first if that is due. False never fits: see `fit_job`.
        annotator : str, default=""
            Who asks. One row in ten is then one that somebody else has labeled, if there are any,
            to see whether people agree, also once the file is finished.

        Returns
        -------
        ndarray of int of shape (n_asked,)
            Numbers of rows without a label. Those that are asked already and still open are not
            among them, unless it cannot go on without these.
        """
        if n < 1:
            raise ValueError(f"n must be at least 1. Got {n!r}.")
        if refit and (job := self.fit_job()) is not None:
            self.receive(job.run())
        if self.phase in ("choose", "review") and self._is_time_to_prove():
            self._begin_attempt()
        second = self._second_rows(annotator, n) if annotator else []
        rows = second + self._next_rows(n - len(second)) if n > len(second) else second
        if not rows and self.phase != "finished":
            rows = list(self._open)[:n]
        return np.array(rows, dtype=np.int64)

    def tell(
        self, rows: Any, labels: Any, annotator: str = "", notes: Sequence[str] | None = None
    ) -> None:
        """Take labels of rows; they are on disk when this returns.

        Parameters
        ----------
        rows : int or array-like of int of shape (n,)
            The rows, asked or not.
        labels : object or array-like of shape (n,)
            Their labels; None if nobody can tell.
        annotator : str, default=""
            Who gives them. If labels of two people differ, the row comes back to be settled.
        notes : sequence of str, default=None
            A note for each row.
        """
        single = isinstance(rows, int | np.integer)
        given = [rows] if single else list(rows)
        values = [labels] if single else list(labels)
        texts = [""] * len(given) if notes is None else [str(note) for note in notes]
        if not len(given) == len(values) == len(texts):
            raise ValueError(
                f"There must be one label and one note for each row. Got {len(given)} rows, "
                f"{len(values)} labels and {len(texts)} notes."
            )
        events, source = [], self._state.running or self._fit
        for row, value, text in zip(given, values, texts, strict=True):
            number, code = self._state.row(row), self._state.code(value)
            event = {
                "event": "label",
                "row": number,
                "label": None if code == SKIPPED else self.classes[code].item(),
                "reason": self._why(number),
                "annotator": str(annotator),
            }
            if text:
                event["note"] = text
            if source is not None:
                event["predicted"] = self.classes[source.predicted[number]].item()
                event["uncertainty"] = round(float(source.uncertainties[number]), 6)
            events.append(event)
        self._record(events)

    def undo(self, row: int) -> None:
        """Take back the last label of a row, which is then asked again next."""
        number = self._state.row(row)
        self._state.marks.check_undo(number)
        self._record([{"event": "undo", "row": number}])

    def reason(self, row: int) -> str:
        """Return why a row was asked: "start", "chosen", "test", "review", "second", "settle"."""
        number = self._state.row(row)
        marks = self._state.marks.of(number)
        if number in self._open or not marks:
            return self._why(number)
        return marks[-1].reason

    def close(self) -> None:
        """Release the session file."""
        if self._file is not None:
            self._file.close()

    def _record(self, events: list[dict[str, Any]]) -> None:
        """Write events, then apply them."""
        if self._file is not None:
            self._file.append(events)
        for event in events:
            self._state.apply(event)
            self._open.pop(event.get("row", NONE), None)
        self._estimates.forget_labels()

    # fits

    def fit_job(self) -> FitJob | None:
        """Return the fit that is due, which may run in another process; None if none is."""
        rows, phase = np.flatnonzero(self._codes >= 0), self.phase
        if self._fit is None:
            is_due = rows.size >= (N_FIRST_FIT if phase == "start" else 1)
        else:
            n_between = max(10, int(0.1 * self._fit.n_labels))
            is_due = rows.size - self._fit.n_labels >= n_between
        if not is_due or self._state.level is None or phase in ("prove", "finished"):
            return None
        return FitJob(self._X, self.n_rows, rows, self._codes[rows], self.classes, self._model)

    def receive(self, result: FitResult) -> None:
        """Take the result of a fit; it is ignored if an attempt to prove has begun since."""
        if result.predicted.shape != (self.n_rows,):
            raise ValueError(
                f"The result must have a prediction for each of the {self.n_rows:,} rows. Got "
                f"shape {result.predicted.shape}."
            )
        written = np.round(result.uncertainties, 6)  # as `tell` writes them
        if not np.all((written >= 0.0) & (written <= 1.0)):
            raise ValueError(
                "The model must predict probabilities, numbers from 0 to 1. Got uncertainties from "
                f"{written.min()} to {written.max()}."
            )
        is_stale = self._fit is not None and result.n_labels < self._fit.n_labels
        if self._state.running is None and not is_stale:
            self._fit = result
            self._estimates = Estimates(self._state, result, self._way)

    def prediction(self, row: int) -> tuple[Any, float] | None:
        """Return what the last fit predicts for a row, with its probability; None without one."""
        if self._fit is None:
            return None
        number = self._state.row(row)
        name = self.classes[self._fit.predicted[number]].item()
        return name, 1.0 - float(self._fit.uncertainties[number])

    # what is known

    @property
    def phase(self) -> str:
        """What labels are asked for now."""
        codes = self._codes
        if self._state.running is not None:
            return "prove"
        if not self._state.needs_review.any():
            return "finished"
        if self._state.best is not None or not np.any(codes == NONE):
            return "review"
        if np.sum(codes >= 0) < N_START:
            return "start"
        return "review" if self._state.level is None else "choose"

    @property
    def is_answered(self) -> bool:
        """Whether each row has an answer or keeps its prediction: no fit can ask for more then."""
        return not np.any(self._state.needs_review & (self._codes == NONE))

    @property
    def n_attempts(self) -> int:
        """Number of attempts to prove so far."""
        return len(self._state.attempts)

    def status(self) -> LabelingStatus:
        """Return where the loop stands, in numbers and words."""
        codes, needs_review, running = self._codes, self._state.needs_review, self._state.running
        best, attempts = self._state.best, self._state.attempts
        both, agreed = self._state.marks.agreement()
        estimate, interval = self._estimates.error()
        n_left, more = int(needs_review.sum()), None
        if running is not None:
            more = running.expected(codes, self._estimates.curve).cost
        elif best is not None or self._state.level is None:
            more = n_left
        elif self._fit is not None:
            more = self._estimates.proof(self._state.limit).cost
        return LabelingStatus(
            phase=self.phase,
            n_rows=self.n_rows,
            n_labeled=int(np.sum(codes >= 0)),
            n_test=attempts[-1].tested(codes)[0].size if attempts else 0,
            n_skipped=int(np.sum(codes == SKIPPED)),
            estimated_error=estimate,
            interval=interval,
            error_upper=None if best is None else self._claim().errors_left / self.n_rows,
            n_needs_no_review=self.n_rows - n_left,
            n_left_to_review=n_left,
            n_more_labels=more,
            plan=self._estimates.plan(),
            n_second=both,
            agreement=agreed / both if both else None,
            max_error=self.max_error,
            confidence_level=self.confidence_level,
        )

    def result(self) -> LabelingResult:
        """Return labels of all rows, which of them need review, and what is proved."""
        codes, needs_review = self._codes, self._state.needs_review
        source = self._state.best or self._fit
        final = np.where(codes >= 0, codes, NONE if source is None else source.predicted)
        labels = np.full(self.n_rows, None, object)
        labels[final >= 0] = self.classes[final[final >= 0]].tolist()
        baseline = majority = None
        if self._state.best is not None:
            proportions = self._state.best.proportions(codes, self.classes.size)
            baseline, majority = float(1.0 - proportions.max()), self.classes[proportions.argmax()]
        return LabelingResult(
            labels if np.any(final < 0) else np.array(labels.tolist()),
            codes >= 0,
            needs_review,
            self._review_order(),
            self._claim(),
            self._state.marks.notes(),
            baseline,
            majority,
        )

    def _review_order(self) -> np.ndarray:
        source = self._state.best or self._fit
        rows = np.flatnonzero(self._state.needs_review)
        if source is None:
            return rows
        return rows[np.argsort(-source.uncertainties[rows], kind="stable")]

    def _claim(self) -> FileClaim:
        codes, best = self._codes, self._state.best
        n_automatic = int(np.sum(~self._state.needs_review & (codes < 0)))
        proved = None if best is None else best.accept(codes)
        left = 0 if proved is None else min(proved.errors_left, n_automatic)
        level = self.confidence_level
        return FileClaim(
            self.n_rows, n_automatic, left, self.max_error, level, "guarantee", is_recorded=True
        )

    @property
    def _codes(self) -> np.ndarray:
        return self._state.codes

    # steps

    @property
    def _way(self) -> str:
        """How rows to learn from are found: gold labels that are chosen would mislead votes."""
        return "random" if isinstance(self._model, VoteAggregator) else "chosen"

    def _is_time_to_prove(self) -> bool:
        if self._fit is None or self._state.level is None:
            return False
        proof = self._estimates.proof(self._state.limit)
        n_left, n_labels = int(self._state.needs_review.sum()), int(np.sum(self._codes >= 0))
        most = RESERVE_SAVES * n_left if self._state.attempts else n_left
        return proof.cost < most and is_time_to_prove(proof, n_labels, way=self._way)

    def _begin_attempt(self) -> None:
        assert self._fit is not None
        number, state, fit = len(self._state.attempts) + 1, self._state, self._fit
        seed = attempt_seed(state.seed, number)
        arrays = {
            "order": draw_order(self._codes, seed),
            "predicted": fit.predicted.astype(np.int32),
            "uncertainties": fit.uncertainties,
        }
        event = {
            "event": "attempt",
            "attempt": number,
            "level": state.level,
            "seed": seed,
            "tests": self._estimates.proof(state.limit).n_test,
            "digest": digest_arrays(arrays),
        }
        if self._file is not None:
            self._file.write_arrays(number, arrays)
            self._file.append([event])
        state.apply({**event, "arrays": arrays})
        self._estimates = Estimates(state, fit, self._way)

    def _next_rows(self, n: int) -> list[int]:
        """Return rows to ask next, and remember why."""
        phase, codes, running = self.phase, self._codes, self._state.running
        disputed = np.flatnonzero(codes == DISPUTED).tolist()
        rows = self._fresh([*self._state.again, *disputed])[:n]
        self._open |= {row: self._why(row) for row in rows}
        reason = "review"
        if phase == "start":
            n_start = N_START - int(np.sum(codes >= 0)) - len(self._open)
            more, reason = self._unmarked(self._state.start_order, max(n_start, 0)), "start"
        elif running is not None:
            more, reason = self._unmarked(running.untested(codes), n), "test"
        elif phase == "choose":
            is_free = codes == NONE
            is_free[list(self._open)] = False
            rng, self._n_asked = self._rng(CHOOSE_STREAM, self._n_asked), self._n_asked + 1
            known = self._fit.uncertainties if self._fit and self._way == "chosen" else None
            more, reason = choose_rows(np.flatnonzero(is_free), known, n, rng).tolist(), "chosen"
        else:
            more = self._fresh(self._review_rows())
        for row in more[: n - len(rows)]:
            self._open[row] = reason
            rows.append(row)
        return rows

    def _second_rows(self, annotator: str, n: int) -> list[int]:
        """Return which of the next n rows are to be some that another person has labeled."""
        marks = self._state.marks
        n_before = marks.n_by(annotator)
        n_due = (n_before + n) // SECOND_EVERY - n_before // SECOND_EVERY
        if "second" in self._open.values() or n_due == 0 or self._state.again:
            return []
        rows = np.array(self._fresh(marks.labeled_by_another(annotator).tolist()), np.int64)
        found = self._rng(SECOND_STREAM, 0).choice(rows, min(n_due, rows.size), replace=False)
        self._open |= dict.fromkeys(found.tolist(), "second")
        return found.tolist()

    def _rng(self, stream: int, number: int) -> np.random.Generator:
        key = stream, int(np.sum(self._codes != NONE)), number
        return np.random.default_rng(np.random.SeedSequence(self._state.seed, spawn_key=key))

    def _unmarked(self, rows: np.ndarray, n: int) -> list[int]:
        """Return the first n of the rows that nobody has marked and that are not open."""
        free = rows[self._codes[rows] == NONE]
        return self._fresh(free[: n + len(self._open)].tolist())[:n]

    def _fresh(self, rows: Sequence[int]) -> list[int]:
        return [row for row in dict.fromkeys(rows) if row not in self._open]

    def _review_rows(self) -> list[int]:
        """Return rows to review: undecided ones last, and those only once more."""
        marks, rows = self._state.marks, self._review_order().tolist()
        skips = {row: sum(mark.code == SKIPPED for mark in marks.of(row)) for row in rows}
        return sorted((row for row in rows if skips[row] < 2), key=skips.__getitem__)

    def _why(self, row: int) -> str:
        """Return why a row is labeled now."""
        if self._codes[row] == DISPUTED:
            return "settle"
        # also if the row was shown before the draw, or comes back since it was skipped
        is_open = self._codes[row] < 0
        if is_open and any(row in one.order[: one.n_test] for one in self._state.attempts):
            return "test"
        reason = self._state.again.get(row) or self._open.get(row)
        if reason:
            return reason
        if self._state.running is not None:
            return "review"
        # a row that nobody asked for was chosen by who labels it
        return "chosen" if self.phase in ("start", "choose") else "review"


def _check_rows(X: Any, model: Any) -> tuple[Any, int, str]:
    """Return the rows as fits take them, their number and their digest."""
    if isinstance(model, VoteAggregator):
        X = Votes.of(X, abstain_label=model.abstain_label)
    elif is_frame(X):
        X = as_frame(X)
    else:
        X = X.tocsr() if hasattr(X, "tocsr") else X if hasattr(X, "shape") else np.asarray(X)
    sample = draw_sample(X.matrix if isinstance(X, Votes) else X, 1)
    return X, sample.n_rows, sample.digest


def _columns(X: Any) -> list[str]:
    """Return the names of the columns; none if they have no names."""
    return [str(name) for name in X.columns] if is_frame(X) else []


def _known_labels(y: Any, n_rows: int) -> list[list[Any]]:
    """Return rows and labels that are known, in lists of plain values."""
    if y is None:
        return [[], []]
    labels = as_plain_array(y)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"y must have one entry for each of {n_rows:,} rows, None for those without a label. "
            f"Got shape {labels.shape}."
        )
    rows = np.flatnonzero(~missing_labels(labels))
    values = [v.item() if isinstance(v, np.generic) else v for v in labels[rows].tolist()]
    # labels with missing ones among them may have become floats
    return [
        rows.tolist(),
        [int(v) if isinstance(v, float) and v.is_integer() else v for v in values],
    ]
