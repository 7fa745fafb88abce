"""LabelingLoop: asks for labels, learns from them, and stops when the file is proved.

The loop begins with random rows, then chooses those of which the model is least certain, and when
that no longer pays (`stopping`), it makes an attempt to prove (`attempt`): predictions are frozen,
and random ones of the rows that are left test them. What the test does not accept is reviewed, and
these labels train the model for another attempt, if that pays.

All state is made of events: the lines of the session file. `_apply` is the only method that changes
it, for new events and for those of a file that is resumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hedgeclipper.bounds.auto_labels import check_max_error
from hedgeclipper.bounds.finishing import FileClaim, Plan
from hedgeclipper.bounds.sample import draw_sample
from hedgeclipper.bounds.whole_file import AttemptSchedule, error_limit
from hedgeclipper.io.frames import as_frame, as_plain_array, is_frame, is_missing, missing_labels
from hedgeclipper.labeling.attempt import Attempt, attempt_seed, draw_order
from hedgeclipper.labeling.choosing import choose_rows
from hedgeclipper.labeling.fitting import FitJob, FitResult, default_model
from hedgeclipper.labeling.marks import DISPUTED, NONE, REASONS, SKIPPED, Mark, Marks
from hedgeclipper.labeling.progress import LabelingResult, LabelingStatus
from hedgeclipper.labeling.session import (
    VERSION,
    SessionError,
    SessionFile,
    check_start,
    digest_arrays,
    read_arrays,
    write_arrays,
)
from hedgeclipper.labeling.stopping import (
    ErrorCurve,
    Proof,
    expected_proof,
    fit_error_curve,
    is_time_to_prove,
)
from hedgeclipper.votes.aggregator import VoteAggregator
from hedgeclipper.votes.matrix import Votes

# random rows to begin with, and how many of them are for the first fit: the others test it
N_START, N_FIRST_FIT = 50, 20
N_ATTEMPTS = 2
# a fit is due after so many new labels, or this share of those of the last fit
LEAST_NEW, NEW_SHARE = 10, 0.1
# labels that show how far uncertainties are right: the last ones, since the model learns
N_RECENT = 300
CHOOSE_STREAM = 0xC405
PLAN_ERRORS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)


class LabelingLoop:
    """Asks which rows to label, until at most a share of all labels of a file is wrong.

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
            raise TypeError("max_error must be one number here. Got limits of classes.")
        if not isinstance(random_state, int | np.integer) or random_state < 0:
            raise ValueError(
                f"random_state must be a whole number and not negative: it is part of the record. "
                f"Got {random_state!r}."
            )
        X, n_rows, digest = _check_rows(X, model)
        names = _check_classes(classes)
        known = _known_labels(y, n_rows)
        start = {
            "event": "session",
            "version": VERSION,
            "rows": n_rows,
            "digest": digest,
            "target": str(target),
            "classes": names.tolist(),
            "max_error": check_max_error(max_error),
            "confidence_level": float(confidence_level),
            "attempts": N_ATTEMPTS,
            "seed": int(random_state),
            "known": known,
        }
        self._set_up(X, model, start)
        self._file: SessionFile | None = None
        if session is not None:
            self._file = SessionFile.create(session)
            self._file.append([start])

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
        file, events, note = SessionFile.open(path)
        try:
            start = events[0]
            check_start(path, start)
            X, n_rows, digest = _check_rows(X, model)
            if (n_rows, digest) != (start.get("rows"), start.get("digest")):
                raise SessionError(
                    f"The rows are not those that the session {path} began with, or their order "
                    f"has changed: got {n_rows:,} rows with digest {digest}, and the session has "
                    f"{start.get('rows')} with digest {start.get('digest')}."
                )
            try:
                loop._set_up(X, model, start)
                loop._file = file
                for event in events[1:]:
                    loop._apply(event)
            except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
                if isinstance(error, SessionError):
                    raise
                raise SessionError(
                    f"A line of {path} cannot be followed ({error!r}). The file is damaged, or "
                    "was changed."
                ) from error
        except BaseException:
            file.close()
            raise
        loop.note = note
        return loop

    def _set_up(self, X: Any, model: Any, start: dict[str, Any]) -> None:
        """Set what the first line of a session holds."""
        self.note = ""
        self._X, self.n_rows, self._seed = X, int(start["rows"]), int(start["seed"])
        self.classes = _check_classes(start["classes"])
        self.max_error = float(start["max_error"])
        self.confidence_level = float(start["confidence_level"])
        self._schedule = AttemptSchedule(1.0 - self.confidence_level, start["attempts"])
        self._limit = error_limit(self.max_error, self.n_rows)
        self._model = default_model(self._seed) if model is None else model
        self._codes_of = {name: code for code, name in enumerate(self.classes.tolist())}
        self._marks = Marks(self.n_rows)
        for row, label in zip(*start["known"], strict=True):
            self._marks.add(self._row(row), Mark(self._code(label), "known"))
        self._start = draw_order(self._codes, attempt_seed(self._seed, 0))
        self._attempts: list[Attempt] = []
        self._fit: FitResult | None = None
        self._open: dict[int, str] = {}
        self._again: list[int] = []
        self._n_asked = 0
        self._cache: dict[str, Any] = {}
        self._proofs: dict[int, Proof] = {}  # by limit, since the last fit

    # what people do

    def ask(self, n: int = 1, *, refit: bool = True) -> np.ndarray:
        """Return the next rows to label; none if the file is finished.

        Parameters
        ----------
        n : int, default=1
            How many rows at most. Fewer are returned where another step comes next.
        refit : bool, default=True
            Fit the model first if that is due. False never fits: see `fit_job`.

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
        rows = self._next_rows(n) or self._open_rows()[:n]
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
        events, source = [], self._attempt or self._fit
        for row, value, text in zip(given, values, texts, strict=True):
            number, code = self._row(row), self._code(value)
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
        number = self._row(row)
        if not self._marks.of(number) or self._marks.of(number)[-1].reason == "known":
            raise ValueError(f"Row {number} has no label that could be taken back.")
        self._record([{"event": "undo", "row": number}])

    def reason(self, row: int) -> str:
        """Return why a row was asked: "start", "chosen", "test" or "review"."""
        number = self._row(row)
        if number in self._open:
            return self._open[number]
        marks = self._marks.of(number)
        found = marks[-1].reason if marks else self._why(number)
        return "review" if found == "settle" else found

    # fits

    def fit_job(self) -> FitJob | None:
        """Return the fit that is due, which may run in another process; None if none is."""
        rows = np.flatnonzero(self._codes >= 0)
        if self._fit is None:
            is_due = rows.size >= N_FIRST_FIT or self.phase != "start"
        else:
            is_due = rows.size - self._fit.n_labels >= self._n_between_fits()
        if not is_due or self._level is None or self.phase in ("prove", "finished"):
            return None
        return FitJob(self._X, self.n_rows, rows, self._codes[rows], self.classes, self._model)

    def receive(self, result: FitResult) -> None:
        """Take the result of a fit; it is ignored if an attempt to prove has begun since."""
        if result.predicted.shape != (self.n_rows,):
            raise ValueError(
                f"The result must have a prediction for each of the {self.n_rows:,} rows. Got "
                f"shape {result.predicted.shape}."
            )
        is_stale = self._fit is not None and result.n_labels < self._fit.n_labels
        if self._attempt is None and not is_stale:
            self._fit = result
            self._cache.clear()
            self._proofs.clear()

    def _n_between_fits(self) -> int:
        last = 0 if self._fit is None else self._fit.n_labels
        if self.phase == "start":
            return N_START
        return max(LEAST_NEW, int(NEW_SHARE * last))

    # what is known

    @property
    def phase(self) -> str:
        """What labels are asked for now."""
        if self._attempt is not None:
            return "prove"
        if not self._needs_review().any():
            return "finished"
        if self._best() is not None:
            return "review"
        if np.sum(self._codes >= 0) < N_START and np.any(self._codes == NONE):
            return "start"
        is_open = self._level is not None and bool(np.any(self._codes == NONE))
        return "choose" if is_open else "review"

    @property
    def n_attempts(self) -> int:
        """Number of attempts to prove so far."""
        return len(self._attempts)

    def status(self) -> LabelingStatus:
        """Return where the loop stands, in numbers and words."""
        codes, needs_review = self._codes, self._needs_review()
        best, last = self._best(), self._attempts[-1] if self._attempts else None
        both, agreed = self._marks.agreement()
        estimate, interval = self._estimated_error()
        n_left, more = int(needs_review.sum()), None
        if self._attempt is not None:
            more = self._attempt.expected(codes, self._curve()).cost
        elif best is not None or self._level is None:
            more = n_left
        elif self._fit is not None:
            more = self._expected_proof(self._limit).cost
        return LabelingStatus(
            phase=self.phase,
            n_rows=self.n_rows,
            n_labeled=int(np.sum(codes >= 0)),
            n_test=0 if last is None else last.tested(codes)[0].size,
            n_skipped=int(np.sum(codes == SKIPPED)),
            estimated_error=estimate,
            interval=interval,
            error_upper=None if best is None else self._claim().errors_left / self.n_rows,
            n_needs_no_review=self.n_rows - n_left,
            n_left_to_review=n_left,
            n_more_labels=more,
            plan=self._plan(),
            agreement=agreed / both if both else None,
            max_error=self.max_error,
            confidence_level=self.confidence_level,
        )

    def result(self) -> LabelingResult:
        """Return labels of all rows, which of them need review, and what is proved."""
        codes, best, needs_review = self._codes, self._best(), self._needs_review()
        predicted, uncertainties = np.full(self.n_rows, NONE), np.zeros(self.n_rows)
        source = best or self._fit
        if source is not None:
            predicted, uncertainties = source.predicted, source.uncertainties
        final = np.where(codes >= 0, codes, predicted)
        labels = np.full(self.n_rows, None, object)
        labels[final >= 0] = self.classes[final[final >= 0]].tolist()
        order = np.argsort(-uncertainties, kind="stable")
        return LabelingResult(
            labels if np.any(final < 0) else np.array(labels.tolist()),
            codes >= 0,
            needs_review,
            order[needs_review[order]],
            self._claim(),
        )

    def _claim(self) -> FileClaim:
        codes, best = self._codes, self._best()
        n_automatic = int(np.sum(~self._needs_review() & (codes < 0)))
        proved = None if best is None else best.accept(codes)
        left = 0 if proved is None else min(proved.errors_left, n_automatic)
        level = self.confidence_level
        return FileClaim(
            self.n_rows, n_automatic, left, self.max_error, level, "guarantee", is_recorded=True
        )

    def prediction(self, row: int) -> tuple[Any, float] | None:
        """Return what the last fit predicts for a row, with its probability; None without one."""
        if self._fit is None:
            return None
        number = self._row(row)
        name = self.classes[self._fit.predicted[number]].item()
        return name, 1.0 - float(self._fit.uncertainties[number])

    def close(self) -> None:
        """Release the session file."""
        if self._file is not None:
            self._file.close()

    # events

    def _record(self, events: list[dict[str, Any]]) -> None:
        """Write events, then apply them."""
        if self._file is not None:
            self._file.append(events)
        for event in events:
            self._apply(event)

    def _apply(self, event: Mapping[str, Any]) -> None:
        {
            "label": self._apply_label,
            "undo": self._apply_undo,
            "attempt": self._apply_attempt,
        }[event["event"]](event)
        self._cache.clear()
        self._proofs.pop(self._limit, None)  # those of other limits are for a curve alone

    def _apply_label(self, event: Mapping[str, Any]) -> None:
        row, reason = self._row(event["row"]), event["reason"]
        if reason not in REASONS[1:]:
            raise SessionError(f"Row {row} has the unknown reason {reason!r}.")
        predicted, uncertainty = event.get("predicted"), event.get("uncertainty")
        if uncertainty is not None and not 0.0 <= uncertainty <= 1.0:
            raise SessionError(f"Row {row} has the uncertainty {uncertainty!r}.")
        mark = Mark(
            self._code(event["label"]),
            reason,
            str(event["annotator"]),
            str(event.get("note", "")),
            None if predicted is None else self._code(predicted),
            uncertainty,
        )
        self._marks.add(row, mark)
        self._open.pop(row, None)
        if row in self._again:
            self._again.remove(row)

    def _apply_undo(self, event: Mapping[str, Any]) -> None:
        row = self._row(event["row"])
        self._marks.undo(row)
        self._open.pop(row, None)
        self._again = [row, *(one for one in self._again if one != row)]

    def _apply_attempt(self, event: Mapping[str, Any]) -> None:
        number, level, n_test = (event[name] for name in ("attempt", "level", "tests"))
        seed = attempt_seed(self._seed, number)
        if self._attempt is not None or number != len(self._attempts) + 1:
            raise SessionError(f"Attempt {number} is not the next one.")
        if level != self._level or event["seed"] != seed:
            raise SessionError(f"Attempt {number} has another level or seed than was fixed before.")
        arrays = event.get("arrays")
        if arrays is None:
            assert self._file is not None
            arrays = read_arrays(self._file.arrays_path(number), event["digest"])
        order, predicted = arrays["order"], arrays["predicted"]
        if not np.array_equal(order, draw_order(self._codes, seed)):
            raise SessionError(f"The test rows of attempt {number} are not those that were drawn.")
        uncertainties = arrays["uncertainties"]
        if predicted.shape != (self.n_rows,) or uncertainties.shape != (self.n_rows,):
            raise SessionError(f"Attempt {number} does not have a prediction for each row.")
        is_class = (predicted >= 0) & (predicted < self.classes.size)
        if not is_class.all() or not np.isfinite(uncertainties).all():
            raise SessionError(f"Attempt {number} has predictions that are none.")
        if not isinstance(n_test, int) or not 0 < n_test <= order.size:
            raise SessionError(f"Attempt {number} cannot have {n_test!r} test rows.")
        predicted = predicted.astype(np.int64)
        self._proofs.clear()
        self._attempts.append(
            Attempt(level, self._limit, n_test, seed, order, predicted, uncertainties)
        )

    # steps

    @property
    def _codes(self) -> np.ndarray:
        return self._marks.codes

    @property
    def _attempt(self) -> Attempt | None:
        """The last attempt, if test labels are missing."""
        last = self._attempts[-1] if self._attempts else None
        return last if last is not None and last.untested(self._codes).size else None

    @property
    def _level(self) -> float | None:
        """The level of the next attempt; None if there is none."""
        return self._schedule.level(len(self._attempts) + 1)

    def _best(self) -> Attempt | None:
        """Return the attempt that leaves the fewest rows to review, if any has proved something."""
        if "best" not in self._cache:
            sizes = [int(one.accepted_rows(self._codes).sum()) for one in self._attempts]
            most = max(sizes, default=0)
            self._cache["best"] = self._attempts[sizes.index(most)] if most else None
        return self._cache["best"]

    def _needs_review(self) -> np.ndarray:
        if "needs_review" not in self._cache:
            best, rest = self._best(), self._codes < 0
            accepted = best.accepted_rows(self._codes) if best is not None else False
            self._cache["needs_review"] = rest & ~np.asarray(accepted)
        return self._cache["needs_review"]

    def _is_time_to_prove(self) -> bool:
        if self._fit is None or self._level is None:
            return False
        proof = self._expected_proof(self._limit)
        pays = proof.cost < int(self._needs_review().sum())
        return pays and is_time_to_prove(proof, int(np.sum(self._codes >= 0)))

    def _begin_attempt(self) -> None:
        assert self._fit is not None
        number = len(self._attempts) + 1
        seed, fit = attempt_seed(self._seed, number), self._fit
        arrays = {
            "order": draw_order(self._codes, seed),
            "predicted": fit.predicted.astype(np.int32),
            "uncertainties": fit.uncertainties,
        }
        event = {
            "event": "attempt",
            "attempt": number,
            "level": self._level,
            "seed": seed,
            "tests": min(self._expected_proof(self._limit).n_test, arrays["order"].size),
            "digest": digest_arrays(arrays),
        }
        if self._file is not None:
            write_arrays(self._file.arrays_path(number), arrays)
            self._file.append([event])
        self._apply({**event, "arrays": arrays})

    def _next_rows(self, n: int) -> list[int]:
        """Return rows to ask next, and remember why."""
        phase, codes = self.phase, self._codes
        disputed = np.flatnonzero(codes == DISPUTED).tolist()
        rows = self._fresh([*self._again, *disputed], n)
        for row in rows:
            self._open[row] = "review" if codes[row] == DISPUTED else self._why(row)
        attempt = self._attempt
        if phase == "start":
            n_start = N_START - int(np.sum(codes >= 0)) - len(self._open)
            more, reason = self._unmarked(self._start), "start"
            more = more[: max(n_start, 0)]
        elif attempt is not None:
            more, reason = self._unmarked(attempt.untested(codes)), "test"
        elif phase == "choose":
            is_free, reason = codes == NONE, "chosen"
            is_free[list(self._open)] = False
            sequence = np.random.SeedSequence(
                self._seed, spawn_key=(CHOOSE_STREAM, int(np.sum(codes != NONE)), self._n_asked)
            )
            rng, self._n_asked = np.random.default_rng(sequence), self._n_asked + 1
            known = self._fit.uncertainties if self._fit is not None else np.zeros(self.n_rows)
            more = choose_rows(np.flatnonzero(is_free), known, n, rng).tolist()
        else:
            more, reason = self._review_rows(), "review"
        for row in self._fresh(more, n - len(rows)):
            self._open[row] = reason
            rows.append(row)
        return rows

    def _unmarked(self, rows: Any) -> list[int]:
        """Return those of the rows that nobody has marked and that are not open."""
        numbers = np.asarray(rows, np.int64)
        free = numbers[self._codes[numbers] == NONE].tolist()
        return [row for row in free if row not in self._open]

    def _open_rows(self) -> list[int]:
        return [] if self.phase == "finished" else list(self._open)

    def _fresh(self, rows: Sequence[int], n: int) -> list[int]:
        return [row for row in dict.fromkeys(rows) if row not in self._open][:n]

    def _review_rows(self) -> list[int]:
        """Return rows to review: undecided ones last, and those only once more."""
        order = self.result().review_order
        skips = [sum(m.code == SKIPPED for m in self._marks.of(row)) for row in order.tolist()]
        rows = [(n, int(row)) for n, row in zip(skips, order, strict=True) if n < 2]
        return [row for n, row in sorted(rows, key=lambda pair: pair[0])]

    def _why(self, row: int) -> str:
        """Return why a row is labeled now."""
        if self._codes[row] == DISPUTED:
            return "settle"
        if row in self._open:
            return self._open[row]
        phase, attempt = self.phase, self._attempt
        if attempt is not None:
            return "test" if np.any(attempt.pool == row) else "review"
        return {"choose": "chosen", "start": "start"}.get(phase, "review")

    # estimates

    def _curve(self) -> ErrorCurve:
        """Return how often predictions are wrong, by the labels given after them."""
        if "curve" not in self._cache:
            own = [m for _, m in self._marks.last() if m.uncertainty is not None and m.code >= 0]
            recent = own[-N_RECENT:]
            wrong = [m.code != m.predicted for m in recent]
            self._cache["curve"] = fit_error_curve(wrong, [m.uncertainty for m in recent])
        return self._cache["curve"]

    def _expected_proof(self, limit: int) -> Proof:
        """Return what is expected to be left to do if an attempt begins; an estimate."""
        assert self._fit is not None
        left = np.flatnonzero(self._codes == NONE)
        n_undecided = int(np.sum(self._codes < NONE))
        if self._level is None:
            return Proof(0, left.size + n_undecided)
        if limit not in self._proofs:
            errors, spread = self._curve()(self._fit.uncertainties[left]), self._curve().spread()
            proof = expected_proof(np.sort(errors), limit=limit, delta=self._level, spread=spread)
            self._proofs[limit] = Proof(proof.n_test, proof.n_review + n_undecided)
        return self._proofs[limit]

    def _plan(self) -> Plan | None:
        if self._fit is None:
            return None
        errors = np.array(sorted({*PLAN_ERRORS, self.max_error}))
        limits = [error_limit(one, self.n_rows) for one in errors.tolist()]
        by_hand = np.array([self._expected_proof(limit).cost for limit in limits])
        n_left = int(np.sum(self._codes < 0))
        return Plan(errors, by_hand, {}, n_left, self.n_rows, self.confidence_level)

    def _estimated_error(self) -> tuple[float | None, tuple[float, float] | None]:
        source = self._attempts[-1] if self._attempts else self._fit
        if source is None:
            return None, None
        curve, rest = self._curve(), source.uncertainties[self._codes < 0]
        estimate = float(curve(rest).sum()) / self.n_rows
        low, high = np.minimum(curve.spread((0.05, 0.95)) * estimate, 1.0).tolist()
        return estimate, (low, high)

    def _row(self, row: Any) -> int:
        is_number = isinstance(row, int | np.integer) and not isinstance(row, bool)
        if not is_number or not 0 <= row < self.n_rows:
            raise ValueError(f"A row must be a number from 0 to {self.n_rows - 1}. Got {row!r}.")
        return int(row)

    def _code(self, label: Any) -> int:
        """Return the number of a class; that of skipped rows for a missing label."""
        if is_missing(label):
            return SKIPPED
        value = label.item() if isinstance(label, np.generic) else label
        if value not in self._codes_of:
            raise ValueError(
                f"A label must be one of {self.classes.tolist()}, or None. Got {value!r}."
            )
        return self._codes_of[value]


def _check_rows(X: Any, model: Any) -> tuple[Any, int, str]:
    """Return the rows as fits take them, their number and their digest."""
    if isinstance(model, VoteAggregator):
        X = Votes.of(X, abstain_label=model.abstain_label)
        sample = draw_sample(X.matrix, 1)
        return X, sample.n_rows, sample.digest
    X = as_frame(X) if is_frame(X) else X
    X = X.tocsr() if hasattr(X, "tocsr") else X if hasattr(X, "shape") else np.asarray(X)
    sample = draw_sample(X, 1)
    return X, sample.n_rows, sample.digest


def _check_classes(classes: Sequence[Any]) -> np.ndarray:
    names = np.asarray(classes)
    if names.ndim != 1 or len(set(names.tolist())) != names.size or names.size < 2:
        raise ValueError(f"classes must be two or more different labels. Got {classes!r}.")
    if names.dtype.kind not in "biuU":
        raise ValueError(
            f"classes must be strings, whole numbers or booleans, all of one kind. Got {classes!r}."
        )
    return names


def _known_labels(y: Any, n_rows: int) -> list[list[Any]]:
    """Return rows and labels that are known, in lists of plain values."""
    if y is None:
        return [[], []]
    labels = as_plain_array(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y must have one entry for each of {n_rows} rows. Got {labels.shape}.")
    rows = np.flatnonzero(~missing_labels(labels))
    values = [v.item() if isinstance(v, np.generic) else v for v in labels[rows].tolist()]
    # labels with missing ones among them may have become floats
    return [
        rows.tolist(),
        [int(v) if isinstance(v, float) and v.is_integer() else v for v in values],
    ]
