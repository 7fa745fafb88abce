"""Memory of a fit from files does not grow with the number of rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
ROOT = Path(__file__).parents[2]
ROWS_PER_FILE, N_FEW, N_MANY = 40_000, 8, 32

FIT = """
import json, sys
from benchmarks.generated import rows_and_labels
from benchmarks.memory import AnonymousMemory
from benchmarks.out_of_core import LABELED_BLOCK, warm_up
from hedgeclipper import HedgeClipperClassifier

X, y = rows_and_labels(LABELED_BLOCK, 5_000)
warm_up(X, y, sys.argv[1])
with AnonymousMemory() as memory:
    model = HedgeClipperClassifier(n_estimators=160, random_state=0)
    model.fit(X, y, X_unlabeled=sys.argv[1:])
print(json.dumps({"peak": memory.peak - memory.first, "n_rows": model.n_unlabeled_}))
"""


def fit(files):
    """Fit in a fresh process and return its peak memory in bytes and its number of rows.

    Arrow's own allocator gives memory back after a while, so that its peak depends on the clock.
    """
    done = subprocess.run(
        [sys.executable, "-c", FIT, *map(str, files)],
        cwd=ROOT,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    generated = pytest.importorskip("benchmarks.generated")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("rows")
    paths = [folder / f"{number}.parquet" for number in range(N_MANY)]
    for number, path in enumerate(paths):
        rows, _ = generated.rows_and_labels(number, ROWS_PER_FILE)
        columns = {f"x{k}": rows[:, k] for k in range(rows.shape[1])}
        pq.write_table(pa.table(columns), path)
    return paths


def test_four_times_the_rows_in_the_same_memory(files):
    few, many = fit(files[:N_FEW]), fit(files)
    assert [found["n_rows"] // ROWS_PER_FILE for found in (few, many)] == [N_FEW, N_MANY]
    assert many["peak"] == pytest.approx(few["peak"], rel=0.1)
