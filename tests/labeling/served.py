"""`hedgeclipper label` as a process with a model that is fast, and a client of its page."""

import json
import os
import re
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from uuid import uuid4

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgeclipper.cli import main
from hedgeclipper.labeling import loop
from tests.command_line import forking_context

CLASSES = ["benign", "malignant"]


def write_rows(folder, n_rows=300, seed=0):
    """Write rows.csv, whose classes a linear model learns, and return the true label of each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    truth = (X @ [2.0, -1.0, 0.5] + 0.4 * rng.normal(size=n_rows) > 0).astype(int)
    pd.DataFrame(X, columns=["radius", "texture", "area"]).to_csv(folder / "rows.csv", index=False)
    return truth


def run_fast(words, folder, stream=None, largest_file=None):
    """Run the command with a fast model; what it prints goes to a file, if one is named."""
    os.chdir(folder)
    for number in (1, 2) if stream else ():
        os.dup2(os.open(stream, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    loop.HedgeClipperClassifier = lambda random_state: make_pipeline(
        StandardScaler(), LogisticRegression()
    )
    if largest_file is not None:  # as if the disk were full
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    sys.exit(main(words))


class Served:
    """The command, running in a folder; ``ask`` posts to it as its own page would."""

    def __init__(self, folder, *words, target="diagnosis", largest_file=None):
        command = ["label", "rows.csv", "--target", target, "--no-browser"]
        command += [] if "--classes" in words else ["--classes", ",".join(CLASSES)]
        context = forking_context()
        printed = folder / f"{uuid4()}.txt"
        arguments = ([*command, *words], str(folder), str(printed), largest_file)
        self.process = context.Process(target=run_fast, args=arguments)
        self.process.start()
        while not (found := re.search(r"http\S+", text := self._read(printed))):
            if not self.process.is_alive():
                raise RuntimeError(text + self._read(printed))
            time.sleep(0.02)
        self.address = found[0]
        self.port = int(re.search(r":(\d+)/", self.address)[1])
        self.origin = f"http://127.0.0.1:{self.port}"
        answer = self.request("GET", self.address.removeprefix(self.origin))
        self.cookie = answer.getheader("set-cookie").split(";")[0]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.join()

    @staticmethod
    def _read(path):
        return path.read_text() if path.exists() else ""

    def request(self, method, path, body=None, **headers):
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.content = answer.read()
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
