"""Mutated files and model files: an error that says what is wrong, or a valid result."""

import contextlib
import io
import os
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from hedgeclipper import (
    HedgeClipperClassifier,
    ModelFileError,
    VoteAggregator,
    load,
    save,
)
from hedgeclipper.cli import main
from hedgeclipper.cli.output import ExitCode
from tests.command_line import cancer, crowd, fast, flowers
from tests.stress.mutations import cut, flipped, hostile, mutated
from tests.stress.outcomes import assert_probabilities
from tests.stress.tally import Tally, tries

ERRORS = (ValueError, TypeError, AttributeError, LookupError)  # of parts that do not fit together
EXPECTED = {ExitCode.DONE, ExitCode.USAGE, ExitCode.DATA}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Whole files of all formats, and models of numbers and strings."""
    folder = tmp_path_factory.mktemp("files")
    before = os.getcwd()
    os.chdir(folder)
    numbers, strings = cancer(60)[:150], flowers(60)
    votes, gold = crowd(80)
    for name, frame in {"numbers": numbers, "strings": strings, "votes": votes}.items():
        frame.to_csv(f"{name}.csv", index=False)
        frame.to_csv(f"{name}.csv.gz", index=False)
        frame.to_parquet(f"{name}.parquet")
    gold[:30].to_csv("gold.csv", index=False)
    defaults = HedgeClipperClassifier.__init__.__kwdefaults__
    n_estimators = defaults["n_estimators"]
    defaults["n_estimators"] = 12
    for name, words in {
        "numbers": ["numbers.csv", "-t", "benign"],
        "strings": ["strings.csv", "-t", "species"],
    }.items():
        assert main(fast(["fit", *words, "-m", f"{name}.skops", "-q", "--jobs", "1"])) == 0
    yield folder
    defaults["n_estimators"] = n_estimators
    os.chdir(before)


def run(words):
    """Return how a command ends, and what it prints on standard error."""
    error = io.StringIO()
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(io.StringIO()):
        code = main(words)
    return code, error.getvalue()


def assert_ends_well(code, error):
    """A command ends as documented, with one line of error or none."""
    assert code in EXPECTED, (code, error)
    lines = [line for line in error.splitlines() if line.startswith("error: ")]
    assert len(lines) == (code != 0), error
    assert "Traceback" not in error


def commands(kind, name):
    """Return the commands that read a file of this kind."""
    if kind == "votes":
        return [["votes", name, "--gold", "gold.csv", "-o", "out.csv"]]
    target = {"numbers": "benign", "strings": "species"}[kind]
    return [
        ["predict", f"{kind}.skops", name, "-o", "out.csv"],
        ["predict", f"{kind}.skops", name, "-o", "out.parquet"],
        ["fit", name, "-t", target, "-m", "out.skops", "--jobs", "1"],
        ["evaluate", f"{kind}.skops", name],
    ]


def test_mutated_files_through_the_command_line(folder):
    rng = np.random.default_rng(0)
    names = [path.name for path in sorted(folder.iterdir()) if path.suffix != ".skops"]
    with Tally("files through the command line") as tally:
        for number in range(tries(30, 1000)):
            name = names[number % len(names)]
            kind, _, suffix = name.partition(".")
            kind = "votes" if kind == "gold" else kind
            content = mutated((folder / name).read_bytes(), rng)
            if name == "gold.csv":
                Path("bad.csv").write_bytes(content)
                words = ["votes", "votes.csv", "--gold", "bad.csv", "-o", "out.csv"]
            else:
                Path(f"bad.{suffix}").write_bytes(content)
                options = commands(kind, f"bad.{suffix}")
                words = options[0 if rng.random() < 0.6 else rng.integers(len(options))]
            before = set(os.listdir())
            with tally.attempt(f"{number}: {' '.join(words)}"):
                code, error = run([*words, "-q"])
                made = set(os.listdir()) - before
                assert_ends_well(code, error)
                outputs = {after for word, after in pairwise(words) if word in ("-o", "-m")}
                assert made == (outputs if code == 0 else set())
            for name in set(os.listdir()) - before:
                Path(name).unlink()


# each with compiled code that takes numbers of nodes and columns from the file
MEMBERS = [
    ("tree", DecisionTreeClassifier(max_depth=2)),
    ("boosted", GradientBoostingClassifier(n_estimators=2)),
    ("histograms", HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2)),
]


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.where(np.arange(60) % 2, X[:, 0] + rng.normal(size=60) > 0, -1)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Contents of small model files, and rows for their models."""
    folder = tmp_path_factory.mktemp("models")
    X, y = rows()
    rng = np.random.default_rng(0)
    cast = rng.integers(-1, 3, size=(60, 4))
    gold = np.where(rng.random(60) < 0.5, cast[:, 0], -1)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    found = {
        "forest": (HedgeClipperClassifier("trees", n_estimators=8, random_state=0).fit(X, y), X),
        "panel": (
            HedgeClipperClassifier([("linear", LogisticRegression())], random_state=0).fit(X, y),
            X,
        ),
        "members": (HedgeClipperClassifier(MEMBERS, random_state=0).fit(X, y), X),
        "named": (
            HedgeClipperClassifier("trees", n_estimators=8, random_state=0).fit(frame, y),
            frame,
        ),
        "votes": (VoteAggregator(random_state=0).fit(cast, gold), cast),
    }
    return {
        name: (save(model, folder / f"{name}.skops").read_bytes(), X)
        for name, (model, X) in found.items()
    }


def test_damaged_model_files_are_refused(models, tmp_path):
    """A checksum covers every byte, so that a damaged file is never another model."""
    rng, path = np.random.default_rng(0), tmp_path / "model.skops"
    with Tally("model files: damaged") as tally:
        for number in range(tries(60, 800)):
            content, _ = models[list(models)[number % len(models)]]
            changed = (flipped, flipped, cut, mutated)[number % 4](content, rng)
            if changed == content:
                continue
            path.write_bytes(changed)
            with tally.attempt(f"damaged {number}"), pytest.raises(ModelFileError):
                load(path)


def go_further(model, X):
    """Fit on, and look into it: compiled code runs over all that was saved."""
    if hasattr(model, "partial_fit"):
        model.partial_fit(X)
    if hasattr(model, "voter_summary"):
        model.voter_summary()


@pytest.mark.filterwarnings("ignore")
def test_hostile_model_files_are_refused_fail_or_predict_probabilities(models, tmp_path):
    """Whoever makes a file can make its checksum: nothing in it ends the process.

    What is loaded predicts probabilities, or raises where its parts do not fit together.
    """
    rng, path = np.random.default_rng(1), tmp_path / "model.skops"
    with Tally("model files: hostile, with a valid checksum") as tally:
        for number in range(tries(60, 900)):
            name = list(models)[number % len(models)]
            content, X = models[name]
            path.write_bytes(hostile(content, rng))
            with tally.attempt(f"hostile {number} {name}"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model = load(path)
                except ModelFileError:
                    continue
                if not hasattr(model, "predict_proba") or not hasattr(model, "_predictor"):
                    continue  # the description was changed to that of a part, or unfitted
                with contextlib.suppress(*ERRORS):
                    assert_probabilities(model.predict_proba(X), len(X), model.classes_.size)
                    assert model.predict(X).shape == (len(X),)
                with contextlib.suppress(Exception):  # no crash of the process is what counts
                    go_further(model, X)
