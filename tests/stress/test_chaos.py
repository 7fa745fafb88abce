"""Kills, rivals, folders that cannot be written in, files that change, workers that die."""

import os
import signal
import time
from contextlib import contextmanager
from threading import Timer

import numpy as np
import pandas as pd
import pytest

from hedgeclipper import HedgeClipperClassifier, load
from hedgeclipper.cli.output import ExitCode
from tests.command_line import cancer, start_command
from tests.stress.tally import Tally, tries

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals and forks")
FIT = ["fit", "rows.csv", "-t", "benign", "-m", "m.skops", "--jobs", "1", "-q", "--force"]
PREDICT = ["predict", "old.skops", "rows.csv", "-o", "p.csv", "-q", "--force"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chaos")
    cancer().to_csv(folder / "rows.csv", index=False)
    process = start_command([*FIT[:5], "old.skops", *FIT[6:]], folder)
    process.join()
    assert process.exitcode == 0
    return folder


def seconds_of(words, folder):
    """Return how long a command takes that is not disturbed."""
    started = time.monotonic()
    process = start_command(words, folder)
    process.join()
    assert process.exitcode == 0
    return time.monotonic() - started


def hidden_files(folder):
    return {name for name in os.listdir(folder) if name.startswith(".")}


def is_whole(path):
    if path.suffix == ".skops":
        return load(path).n_labeled_ == 100
    return len(pd.read_csv(path)) == 569


@pytest.mark.parametrize(
    "words", [FIT, pytest.param(PREDICT, marks=pytest.mark.slow)], ids=["fit", "predict"]
)
def test_killed_commands_leave_whole_files_or_none(folder, words):
    rng = np.random.default_rng(0)
    output = folder / words[words.index("-m" if "-m" in words else "-o") + 1]
    usual = seconds_of(words, folder)
    with Tally("kills of fit and predict") as tally:
        for number in range(tries(1, 52)):
            if number % 2:
                output.unlink(missing_ok=True)
            was_there = output.exists()
            with tally.attempt(f"kill {number}"):
                process = start_command(words, folder)
                # writing is the end of a run, so that most kills come there
                time.sleep(usual * (rng.random() if number % 3 else rng.uniform(0.7, 1.0)))
                (process.kill if rng.random() < 0.5 else process.terminate)()
                process.join()
                assert output.exists() or not was_there
                assert not output.exists() or is_whole(output)
                assert (folder / "old.skops").exists()
        seconds_of(words, folder)
        assert output.name in os.listdir(folder)


@pytest.mark.slow
def test_of_two_who_write_the_same_file_one_whole_file_stays(folder):
    words = [word for word in FIT if word != "--force"]
    output = folder / "m.skops"
    left = hidden_files(folder)  # by commands that other tests have killed
    with Tally("two writers of one file") as tally:
        for number in range(tries(2, 10)):
            output.unlink(missing_ok=True)
            with tally.attempt(f"pair {number}"):
                pair = [start_command(words, folder) for _ in range(2)]
                for process in pair:
                    process.join()
                codes = sorted(process.exitcode for process in pair)
                assert codes == [ExitCode.DONE, ExitCode.OUTPUT]
                assert is_whole(output)
                assert hidden_files(folder) == left


class Rows:
    """Batches of rows that change, or go, on a later pass."""

    def __init__(self, X, when, what):
        self.X, self.when, self.what, self.n_passes = X, when, what, 0

    def __call__(self):
        self.n_passes += 1
        X = self.X.copy()
        if self.n_passes > self.when:
            if self.what == "gone":
                raise FileNotFoundError("rows.parquet is gone. Keep files in place.")
            X = X[:-1] if self.what == "shorter" else X + (self.what == "other")
        return np.array_split(X, 3)


@pytest.mark.filterwarnings("ignore:The unlabeled rows look unlike")  # some are, all of them
def test_rows_that_change_between_passes_are_told_or_do_no_harm():
    """A fit is that of the rows as they were, or an error; never one of a mixture."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    y = X[:60, 0] + 0.3 * rng.normal(size=60) > 0
    told = (ValueError, OSError)

    def fit(rows):
        model = HedgeClipperClassifier("trees", n_estimators=12, random_state=0)
        return model.fit(X[:60], y, X_unlabeled=rows).predict_proba(X)

    with Tally("rows that change between passes") as tally:
        for number in range(tries(8, 40)):
            what = ("gone", "shorter", "other", "same")[number % 4]
            when = 1 + number // 4 % 10
            with tally.attempt(f"{what} {when}"):
                if what == "same":
                    found = fit(Rows(X, when, what))
                else:
                    try:
                        found = fit(Rows(X, when, what))
                    except told:
                        continue
                changed = X[:-1] if what == "shorter" else X + (what == "other")
                wholes = [fit(X), fit(changed)]
                assert any(np.allclose(found, whole, atol=1e-6) for whole in wholes)


@contextmanager
def cluster(n_workers):
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=n_workers, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_fits_outlive_dask_workers():
    """Each try has a cluster of its own: Dask does not always replace a worker that was killed."""
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4)).astype(np.float32)
    y = X[:200, 0] + 0.3 * rng.normal(size=200) > 0

    def fit(rows):
        model = HedgeClipperClassifier("trees", n_estimators=20, random_state=0)
        return model.fit(X[:200], y, X_unlabeled=rows).predict_proba(X[:500])

    expected = fit(X)
    rows = da.from_array(X, chunks=(2_000, 4))
    with Tally("kills of Dask workers") as tally:
        for number in range(tries(2, 20)):
            with cluster(2) as client:
                fit(rows)
                started = time.monotonic()
                fit(rows)
                usual = time.monotonic() - started
                worker = list(client.run(os.getpid).values())[number % 2]
                kill = Timer(
                    usual * rng.uniform(0.05, 0.9),
                    os.kill,
                    [worker, signal.SIGKILL if number % 3 else signal.SIGTERM],
                )
                with tally.attempt(f"worker {number}"):
                    kill.start()
                    np.testing.assert_allclose(fit(rows), expected, atol=1e-6)
                kill.join()
