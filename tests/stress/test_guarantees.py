"""Guarantees under generated worst cases, and records that an enemy has changed.

Each test of a whole file is drawn many times on a pool in which one error more is left than is
allowed, where it hurts most. The proportion of draws that break the promise may exceed delta by
four standard errors.
"""

import contextlib
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgeclipper import draw_sample
from hedgeclipper.bounds.sequential import accept_rows_so_far
from hedgeclipper.bounds.whole_file import accept_rows
from hedgeclipper.cli import main
from tests.cli.test_finish_commands import N_ROWS, make, review
from tests.stress.mutations import mutated
from tests.stress.tally import Tally, tries
from tests.stress.test_files import assert_ends_well, run

N_DRAWS = tries(50, 150)


def make_pool(rng):
    """Return rows of a pool that are wrong, in the order of their uncertainty, and the limit."""
    n_pool = int(rng.integers(20, 400))
    limit = int(rng.integers(0, n_pool // 3))
    n_wrong = min(n_pool, limit + 1 + int(rng.integers(0, 3)))
    wrong = np.zeros(n_pool, bool)
    where = rng.choice(["first", "last", "spread", "among the first"])
    if where == "spread":
        wrong[rng.choice(n_pool, n_wrong, replace=False)] = True
    else:
        begin = {"first": 0, "last": n_pool - n_wrong}.get(
            where, rng.integers(n_pool - n_wrong + 1)
        )
        wrong[begin : begin + n_wrong] = True
    return wrong, limit


def left(wrong, found):
    """Return how many wrong rows are accepted without a test."""
    return int(np.sum(wrong & found.is_accepted))


def fixed(rng, wrong, limit, delta):
    """Test as many rows as are fixed before; who skips rows knows the truth."""
    tested = rng.permutation(wrong.size)[: rng.integers(1, wrong.size + 1)]
    skipped = ~wrong[tested] & (rng.random(tested.size) < rng.choice([0.0, 0.3]))
    order = np.arange(wrong.size)
    found = accept_rows(order, tested, wrong[tested] | skipped, limit=limit, delta=delta)
    return left(wrong, found) > limit


def at_every_look(rng, wrong, limit, delta):
    """Look after every few labels, and stop at the first look that is broken."""
    drawn, order = rng.permutation(wrong.size), np.arange(wrong.size)
    for n in range(1, wrong.size + 1, max(1, wrong.size // 25)):
        tested = drawn[:n]
        found = accept_rows_so_far(order, tested, wrong[tested], limit=limit, delta=delta)
        if left(wrong, found) > limit:
            return True
    return False


def in_attempts(rng, wrong, limit, delta):
    """Make two attempts; the second on the rows without a label, ordered with the truth in view."""
    for _ in range(2):
        if fixed(rng, wrong, limit, delta / 2):
            return True
        tested = rng.permutation(wrong.size)[: wrong.size // 4]
        rest = np.delete(wrong, tested)
        wrong = rest[np.argsort(~rest, kind="stable")]
        if not wrong.size:
            return False
    return False


@pytest.mark.parametrize("test", [fixed, at_every_look, in_attempts])
def test_promises_are_broken_no_more_often_than_delta(test):
    rng = np.random.default_rng(0)
    with Tally(f"worst cases of a whole file: {test.__name__.replace('_', ' ')}") as tally:
        for number in range(tries(2, 150)):
            delta = float(rng.choice([0.05, 0.2, 0.5]))
            wrong, limit = make_pool(rng)
            with tally.attempt(f"pool {number}"):
                n_broken = sum(test(rng, wrong, limit, delta) for _ in range(N_DRAWS))
                most = N_DRAWS * delta + 4 * np.sqrt(N_DRAWS * delta * (1 - delta))
                assert n_broken <= most, (n_broken, wrong.size, limit, delta)


AUDIT = ["audit", "predictions.csv", "--labels", "checked.csv", "--confidence-column", "score"]
AUDIT += ["--max-error", "0.1", "-q"]
FINISH = ["finish", "labels.csv", "--reviewed", "reviewed.csv", "-o", "finished.csv", "-q"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Predictions, a sample with its labels, the file of an audit, and rows that were reviewed."""
    monkeypatch.chdir(tmp_path)
    review(make(lambda *words: main([*map(str, words), "-q"])))
    return tmp_path


def test_mutated_files_of_audit_and_finish(folder):
    """One line of error and nothing written, or a whole output."""
    rng = np.random.default_rng(0)
    cases = [
        ([*AUDIT, "-o", "out.csv"], "predictions.csv", "out.csv"),
        ([*AUDIT, "-o", "out.csv"], "checked.csv", "out.csv"),
        (FINISH, "labels.csv", "finished.csv"),
        (FINISH, "reviewed.csv", "finished.csv"),
    ]
    with Tally("audit and finish with mutated files") as tally:
        for number in range(tries(8, 600)):
            words, name, output = cases[number % len(cases)]
            whole = Path(name).read_bytes()
            Path(name).write_bytes(mutated(whole, rng))
            with tally.attempt(f"{number}: {words[0]} {name}"):
                code, error = run(words)
                assert_ends_well(code, error)
                assert Path(output).exists() == (code == 0)
                assert code != 0 or len(pd.read_csv(output)) >= 1
            Path(output).unlink(missing_ok=True)
            Path(name).write_bytes(whole)


def forge_cell(table, rng):
    """Change a cell of what is recorded of the draw, in one row or in all of them."""
    names = [name for name in table if name not in ("id", "label")]
    name, rows = rng.choice(names), slice(None)
    if rng.random() < 0.5:
        rows = int(rng.integers(len(table)))
    old = str(table[name].iloc[0])
    digits = "".join(str(rng.integers(10)) if c.isdigit() else c for c in old)
    values = [digits, "", "0", "-1", "999999", "nan", "1e9", old[::-1], old + " ", "x=1"]
    table.loc[table.index[rows], name] = values[rng.integers(len(values))]
    return table


def choose_rows(table, rng):
    """Keep the record, and swap in other rows than those that were drawn."""
    others = pd.read_csv("predictions.csv").sort_values("score", ascending=False)
    n = int(rng.integers(1, 50))
    table = table.copy()
    table.loc[table.index[:n], "id"] = others["id"].to_numpy()[:n]
    if "row" in table:
        table.loc[table.index[:n], "row"] = others.index.to_numpy()[:n].astype(str)
    return table


def keep_good_rows(table, rng):
    """Drop rows whose predictions are wrong: they must count as wrong still."""
    right = pd.read_csv("predictions.csv").set_index("id")["prediction"]
    return table[table["label"] == table["id"].map(right)]


def test_forged_samples_prove_nothing_that_the_draw_refutes(folder):
    """A guarantee comes from the rows of the draw alone, and never from fewer errors than there."""
    rng = np.random.default_rng(0)
    whole = pd.read_csv("checked.csv", dtype=str)
    code, _ = run([*AUDIT, "-o", "out.csv"])
    assert code == 0
    Path("out.csv").unlink()
    honest = audited()
    with Tally("forged records of samples") as tally:
        for number in range(tries(12, 600)):
            forge = (forge_cell, choose_rows, keep_good_rows)[number % 3]
            forge(whole.copy(), rng).to_csv("checked.csv", index=False)
            with tally.attempt(f"{number} {forge.__name__}"):
                found = audited()
                if found is None or found["kind"] != "guarantee" or not found["is_recorded"]:
                    continue
                drawn = set(draw_sample(N_ROWS, 200, seed=1).rows.tolist())
                kept = pd.read_csv("checked.csv", dtype=str)
                ids = set(kept["id"].str.removeprefix("doc-").astype(int))
                assert ids <= drawn, "rows that were not drawn"
                assert found["error_upper"] >= honest["error_upper"] - 1e-12
    whole.to_csv("checked.csv", index=False)


def audited():
    """Return the result of an audit as JSON; None if it is refused."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main([*AUDIT, "--json"])
    assert_ends_well(code, error.getvalue())
    return json.loads(out.getvalue()) if code == 0 else None
