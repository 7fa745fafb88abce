"""The example of docs/finish.md: 5,000 rows without labels become a finished file.

``python -m benchmarks.finish_example`` prints each command and what it prints. People's labels are
the true ones of the Adult data.
"""

import os
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from hedgeclipper.cli import main
from hedgeclipper.datasets import load_adult

N_ROWS = 5_000


def run(line):
    """Print a command, and run it."""
    print(f"\n$ hedgeclipper {line}", flush=True)
    assert main(shlex.split(line)) == 0


def fill_in(path, truth, skipped=()):
    """Fill in the labels of a table, as people would; some rows they cannot decide."""
    table = pd.read_csv(path)
    table["label"] = truth[table["row"]]
    table.loc[list(skipped), "label"] = None
    table.to_csv(path, index=False)


def finish_file():
    """Run all commands in the current folder."""
    X, y = load_adult(return_X_y=True)
    truth = np.where(y[:N_ROWS] == 1, "yes", "no")
    pd.DataFrame(X[:N_ROWS].toarray().astype(int)).add_prefix("c").to_csv("rows.csv", index=False)
    run("sample rows.csv -n 400 -o to_label.csv")
    fill_in("to_label.csv", truth, skipped=[3, 250])
    run("fit rows.csv --labels to_label.csv --model model.skops --confidence 0.95")
    run("predict model.skops rows.csv --max-error 0.1 -o labels.csv")
    run("finish labels.csv --to-review review.csv")
    fill_in("review.csv", truth)
    run("finish labels.csv --reviewed review.csv -o finished.csv")
    wrong = (pd.read_csv("finished.csv", usecols=["label"])["label"] != truth).mean()
    print(f"Truly wrong in finished.csv: {wrong:.1%}")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        finish_file()
        os.chdir(Path(folder).parent)
