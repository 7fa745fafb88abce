"""`hedgeclipper label` as a process with a model that is fast, and a client of its page."""

import json
import re
import resource
import subprocess
import sys
import time
from functools import partial
from http.client import HTTPConnection

import numpy as np
import pandas as pd

CLASSES = ["benign", "malignant"]
FAST = (
    "import sys; from sklearn.linear_model import LogisticRegression as L; "
    "from sklearn.pipeline import make_pipeline as p; from sklearn.preprocessing import "
    "StandardScaler as S; from hedgeclipper import cli; import hedgeclipper.labeling.loop as loop; "
    "loop.default_model = lambda seed: p(S(), L()); sys.exit(cli.main(sys.argv[1:]))"
)


def write_rows(folder, n_rows=300, seed=0):
    """Write rows.csv, whose classes a linear model learns, and return the true label of each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    truth = (X @ [2.0, -1.0, 0.5] + 0.4 * rng.normal(size=n_rows) > 0).astype(int)
    pd.DataFrame(X, columns=["radius", "texture", "area"]).to_csv(folder / "rows.csv", index=False)
    return truth


def limit_files(largest):
    """Let no file of this process grow beyond so many bytes, as if the disk were full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))


class Served:
    """The command, running in a folder; ``ask`` posts to it as its own page would."""

    def __init__(self, folder, *words, target="diagnosis", largest_file=None):
        command = ["label", "rows.csv", "--target", target, "--no-browser"]
        command += [] if "--classes" in words else ["--classes", ",".join(CLASSES)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", FAST, *command, *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=partial(limit_files, largest_file) if largest_file else None,
        )
        lines = iter(self.process.stdout.readline, "")
        self.address = next((m[0] for m in (re.search(r"http\S+", s) for s in lines) if m), None)
        if self.address is None:
            raise RuntimeError(self.process.communicate()[1])
        self.port = int(re.search(r":(\d+)/", self.address)[1])
        self.origin = f"http://127.0.0.1:{self.port}"
        answer = self.request("GET", self.address.removeprefix(self.origin))
        self.cookie = answer.getheader("set-cookie").split(";")[0]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.communicate()

    def request(self, method, path, body=None, **headers):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.content = answer.read()
        connection.close()
        return answer

    def post(self, path, given, **headers):
        headers = {"Cookie": self.cookie, "Origin": self.origin, **headers}
        return self.request("POST", path, json.dumps(given), **headers)

    def ask(self, path, tab="a", **given):
        """Return what the page would get, or raise its error."""
        answer = self.post(path, {"tab": tab, **given})
        found = json.loads(answer.content)
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {found['error']}")
        return found

    def next_row(self, tab="a"):
        """Return the next row, once there is one; None at the end."""
        while (found := self.ask("/next", tab))["row"] is None and found["done"] is None:
            time.sleep(0.05)
        return found["row"]

    def label(self, truth, most=None):
        """Label rows by their true classes, no faster than the model learns, up to so many."""
        n_labels = 0
        while n_labels != most and (row := self.next_row()) is not None:
            self.ask("/label", row=row["row"], label=int(truth[row["row"]]))
            n_labels += 1
            while n_labels % 10 == 0 and self.ask("/state")["fitting"]:
                time.sleep(0.02)
        return n_labels
