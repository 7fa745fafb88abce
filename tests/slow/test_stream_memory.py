"""Memory of the stream method does not grow with the number of rows."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


def test_four_times_the_rows_in_the_same_memory():
    if not (ROOT / "benchmarks").exists():
        pytest.skip("the benchmarks, which make the rows, are not part of this installation")
    peaks = []
    for n_samples in (1_000_000, 4_000_000):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.stream_memory", str(n_samples)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(float(done.stdout.split()[0]))
    assert peaks[1] < 1.05 * peaks[0]
