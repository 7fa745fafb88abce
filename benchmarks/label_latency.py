"""How long the page of ``hedgeclipper label`` waits for the next row while a model is fitted.

    python -m benchmarks.label_latency

The command runs with the default model on generated rows, and a client labels as the page does: it
posts a label, gets the next row, and asks for the progress apart from it. Times are those of labels
that were posted while a fit ran.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

PAUSE = 0.2


class Page:
    """A client that posts as the page does."""

    def __init__(self, address: str) -> None:
        self.port = int(re.search(r":(\d+)/", address)[1])  # type: ignore[index]
        self.headers = {"Origin": f"http://127.0.0.1:{self.port}"}
        answer = self._request("GET", address.partition(str(self.port))[2])
        self.headers["Cookie"] = answer.getheader("set-cookie").split(";")[0]

    def _request(self, method: str, path: str, body: str | None = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self.port)
        connection.request(method, path, body, self.headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()  # type: ignore[attr-defined]
        return answer

    def ask(self, what: str, **given: Any) -> dict[str, Any]:
        """Return the answer to a post."""
        answer = self._request("POST", f"/{what}", json.dumps({"tab": "a", **given}))
        return json.loads(answer.text)


def measure(page: Page, truth: np.ndarray, n_labels: int) -> dict[str, list[float]]:
    """Return seconds of labels that were posted during a fit, by the phase of the loop."""
    found: dict[str, list[float]] = {}
    row = page.ask("next")["row"]["row"]
    for _ in range(n_labels):
        state = page.ask("state")
        start = time.perf_counter()
        answer = page.ask("label", row=row, label=int(truth[row]))
        seconds = time.perf_counter() - start
        if state["fitting"]:
            found.setdefault(state["phase"], []).append(seconds)
        while answer["row"] is None:
            answer = page.ask("next")
        row = answer["row"]["row"]
        time.sleep(PAUSE)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=250)
    options = parser.parse_args()
    X, truth = make_classification(options.rows, 20, n_informative=8, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        pd.DataFrame(X).add_prefix("x").to_csv(Path(folder) / "rows.csv", index=False)
        words = ["label", "rows.csv", "--target", "y", "--classes", "0,1", "--no-browser"]
        command = [sys.executable, "-m", "hedgeclipper.cli", *words]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            address = re.search(r"http\S+", process.stdout.readline())
            assert address is not None
            found = measure(Page(address[0]), truth, options.labels)
        finally:
            process.kill()
    for phase, seconds in found.items():
        shown = 1000 * np.quantile(seconds, [0.5, 0.95, 1])
        print(
            f"{phase}: {len(seconds)} labels of {options.rows:,} rows during a fit, next row after "
            f"{shown[0]:.0f} ms (median), {shown[1]:.0f} ms (95%), {shown[2]:.0f} ms (longest)"
        )


if __name__ == "__main__":
    main()
