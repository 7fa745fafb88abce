"""Tables to try the command line on, and a way to call it."""

import json
import os
import signal
from multiprocessing import get_context

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris

from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.cli import main


def fast(words):
    """Return the words of a command; a fit without a method is that of a forest, for speed."""
    if words[:1] == ["fit"] and "--estimators" not in words:
        return ["fit", "--estimators", "trees", *words[1:]]
    return words


def forking_context():
    """Return how processes are forked from one that has imported what they need: that is faster."""
    if os.name != "posix":
        return get_context("spawn")
    context = get_context("forkserver")
    commands = ("model_commands", "label_commands")
    context.set_forkserver_preload(
        ["tests.labeling.served", "hedgeclipper.labeling.server"]
        + [f"hedgeclipper.cli.{name}" for name in commands]
    )
    return context


def start_command(words, folder, stream=os.devnull):
    """Start a command in a process of its own; what it prints goes to a file."""
    arguments = (words, str(folder), str(stream))
    process = forking_context().Process(target=_run_command, args=arguments)
    process.start()
    return process


def _run_command(words, folder, stream):
    os.chdir(folder)
    stream = os.open(stream, os.O_WRONLY | os.O_CREAT)
    os.dup2(stream, 1)
    os.dup2(stream, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    HedgeClipperClassifier.__init__.__kwdefaults__["n_estimators"] = 20
    raise SystemExit(main(fast(words)))


class Command:
    """Calls the command line and keeps what it printed.

    Parameters
    ----------
    capsys : fixture
        Catches the output.
    """

    def __init__(self, capsys):
        self.capsys = capsys
        self.code = self.out = self.err = None

    def __call__(self, *words):
        self.capsys.readouterr()
        self.code = main(fast([str(word) for word in words]))
        self.out, self.err = self.capsys.readouterr()
        return self

    @property
    def result(self):
        return json.loads(self.out)


def flowers(n_labeled=60):
    """Return iris with strings, dates, booleans and missing values; some rows have no species."""
    rng = np.random.default_rng(0)
    frame = load_iris(as_frame=True).frame
    species = np.array(["setosa", "versicolor", "virginica"])[frame.pop("target")]
    frame.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    frame["color"] = rng.choice(["red", "blue", None], len(frame))
    frame["seen"] = pd.date_range("2020-01-01", periods=len(frame)).strftime("%d/%m/%Y")
    frame["wet"] = rng.choice([True, False], len(frame))
    frame["note"] = [f"flower {number}" for number in range(len(frame))]
    frame["planet"] = "earth"
    frame.loc[::10, "petal_width"] = np.nan
    frame["species"] = species
    frame.loc[rng.permutation(len(frame))[n_labeled:], "species"] = None
    return frame


def cancer(n_labeled=100):
    """Return the breast cancer data with six columns of numbers; some rows have no target."""
    frame = load_breast_cancer(as_frame=True).frame
    target = frame.pop("target").astype("Int64")
    frame = frame.iloc[:, :6].rename(columns=lambda name: name.replace(" ", "_"))
    frame["benign"] = target
    order = np.random.default_rng(0).permutation(len(frame))
    frame.loc[order[n_labeled:], "benign"] = pd.NA
    return frame


def tumors():
    """Return six columns of the breast cancer data, and all labels in words."""
    data = load_breast_cancer(as_frame=True)
    return data.frame.iloc[:, :6], np.where(data.target == 1, "benign", "malignant")


def crowd(n_rows=120):
    """Return a wide table of votes on pets, keyed by item, and the truth of all of them."""
    rng = np.random.default_rng(0)
    truth = rng.choice(["cat", "dog", "fish"], n_rows)
    votes = {"item": np.arange(n_rows) + 1000}
    for voter, accuracy in {"ann": 0.9, "bob": 0.7, "eve": 0.6}.items():
        cast = np.where(rng.random(n_rows) < accuracy, truth, rng.permutation(truth)).astype(object)
        cast[rng.random(n_rows) < 0.2] = None
        votes[voter] = cast
    return pd.DataFrame(votes), pd.DataFrame({"item": votes["item"], "truth": truth})
