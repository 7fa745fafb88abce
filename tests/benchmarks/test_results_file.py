"""The runner: what is missing is run, once, and kept; and methods in other environments."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from benchmarks.environments import Environment, load, save
from benchmarks.results_file import Key, Line, read_results, run_missing, write_results

KEYS = [Key("a", 10, draw, method) for draw in range(2) for method in ("x", "y")]


@dataclass(frozen=True)
class Counted(Line):
    value: int = 0


class Work:
    """Counts what it is asked for, and fails at the key that it is told to."""

    def __init__(self, bad=None):
        self.done, self.bad = [], bad

    def __call__(self, keys):
        if self.bad in keys:
            raise KeyboardInterrupt
        self.done.append(keys)
        return [Counted(*key, value=len(self.done)) for key in keys]


def test_only_what_is_missing_is_run_and_all_is_kept(tmp_path):
    path, work = tmp_path / "r.csv", Work()
    write_results(path, [Counted(*KEYS[1], value=9)], Counted)
    found = run_missing(KEYS, work, path, Counted, together=lambda key: key.draw)
    assert work.done == [[KEYS[0]], KEYS[2:]]
    assert sorted(found, key=lambda one: one.key) == read_results(path, Counted)
    assert {one.key: one.value for one in found}[KEYS[1]] == 9
    assert run_missing(KEYS, work, path, Counted) == read_results(path, Counted)
    assert len(work.done) == 2


def test_what_was_run_before_an_interrupt_is_in_the_file(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_missing(KEYS, Work(bad=KEYS[2]), tmp_path / "r.csv", Counted)
    assert [one.key for one in read_results(tmp_path / "r.csv", Counted)] == KEYS[:2]


def test_keys_that_are_run_again_leave_the_others_alone(tmp_path):
    path = tmp_path / "r.csv"
    write_results(path, [Counted(*key, value=9) for key in KEYS], Counted)
    found = run_missing(KEYS[:1], Work(), path, Counted, again=True)
    assert {one.key: one.value for one in found} == dict.fromkeys(KEYS, 9) | {KEYS[0]: 1}


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "r.csv"
    write_results(path, [Counted(*key) for key in KEYS], Counted)
    before = path.read_bytes()
    with pytest.raises(AttributeError):
        write_results(path, ["not a result"], Counted)
    assert path.read_bytes() == before


def test_arrays_frames_and_options_arrive_as_they_were(tmp_path):
    frame = pd.DataFrame({"color": ["red", None], "size": [1.0, np.nan]})
    save(tmp_path, "task", X=np.eye(2), frame=frame, seed=3, name="x")
    found = load(tmp_path, "task")
    pd.testing.assert_frame_equal(found["frame"], frame)
    np.testing.assert_array_equal(found["X"], np.eye(2))
    assert (found["seed"], found["name"]) == (3, "x")


FAKE = """
import os, sys
from benchmarks.environments import load, save
task = load(sys.argv[1], "task")
assert task["seed"] == 5, "another seed"
save(sys.argv[1], "answer", twice=2 * task["X"], threads=os.environ.get("OMP_NUM_THREADS", "all"))
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """An interpreter that runs the fake, whatever module it is told to run."""
    (tmp_path / "fake.py").write_text(FAKE)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/fake.py" "$3"\n')
    python.chmod(0o755)
    monkeypatch.setenv("HEDGECLIPPER_FAKE", str(python))
    return Environment("the fake", ".venv-fake", "HEDGECLIPPER_FAKE")


@pytest.mark.skipif(sys.platform == "win32", reason="the fake interpreter is a shell script")
def test_another_environment_gets_the_task_and_the_cores_and_tells_its_errors(fake):
    for n_jobs, threads in ((1, "1"), (-1, "all")):
        answer = fake.run("m", n_jobs=n_jobs, X=np.eye(2), seed=5)
        np.testing.assert_array_equal(answer["twice"], 2 * np.eye(2))
        assert answer["threads"] == threads
    with pytest.raises(RuntimeError, match=r"m: exit code 1[\s\S]*another seed"):
        fake.run("m", X=np.eye(2), seed=6)


def test_an_absent_environment_says_how_to_build_it(monkeypatch):
    monkeypatch.setenv("HEDGECLIPPER_FAKE", "nowhere/python")
    with pytest.raises(FileNotFoundError, match=r"make \.venv-fake/\.ready"):
        Environment("the fake", ".venv-fake", "HEDGECLIPPER_FAKE").run("m")
