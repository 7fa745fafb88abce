"""What is known about each data set of the paper, read from ``data/datasets.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE_DATA = Path(__file__).parents[1] / "data"
N_SYMBOLS_SECSTR = 21


@dataclass(frozen=True)
class Dataset:
    """A data set of the paper, and where its files are published."""

    name: str  # the paper's
    title: str  # what is predicted, in one sentence
    shape: Sequence[int]  # rows with a label, columns
    archives: Sequence[str]  # NumPy: the labeled rows, then the unlabeled ones if they are apart
    origin: str  # where the data come from
    license: str = "none stated"
    layout: str = ""  # of the published files, a key of file_formats.LAYOUTS
    # Published files, as paths below the data folder, with their SHA-256 ("" if it is not known).
    files: dict[str, str] = field(default_factory=dict)
    # Where to download them, as in pooch: base_url/file, or its entry in urls; empty if by hand.
    base_url: str = ""
    urls: dict[str, str] = field(default_factory=dict)
    n_test: int = 0  # how many of the last rows are test rows
    n_unlabeled: int = 0  # further rows, without a label
    is_sparse: bool = False  # whether rows are given as a csr_array
    is_bundled: bool = False  # whether the archives come with the package
    column_names: str | Sequence[str] = "column_{number}"  # one for each column, or a pattern
    target_name: str = "target"  # of the label in a frame

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns."""
        if not isinstance(self.column_names, str):
            return list(self.column_names)
        places = (divmod(column, N_SYMBOLS_SECSTR) for column in range(self.shape[1]))
        return [
            self.column_names.format(number=number, place=place + 1, symbol=symbol)
            for number, (place, symbol) in enumerate(places, start=1)
        ]

    @property
    def is_downloadable(self) -> bool:
        """Whether the published files can be downloaded without an account."""
        return bool(self.base_url or self.urls)

    @property
    def size(self) -> str:
        """How many rows and columns there are, as a sentence."""
        n_rows, n_columns = self.shape
        text = f"{n_rows:,} rows x {n_columns:,} columns"
        if self.n_test:
            text += f", the first {n_rows - self.n_test:,} rows for training"
        if self.n_unlabeled:
            text += f"; {self.n_unlabeled:,} more without labels"
        return text + "."


with (PACKAGE_DATA / "datasets.toml").open("rb") as _file:
    DATASETS = [Dataset(name=name, **record) for name, record in tomllib.load(_file).items()]


def dataset_names() -> list[str]:
    """Return the paper's names of its data sets, in the order of its table.

    Examples
    --------
    >>> from hedgeclipper.datasets import dataset_names
    >>> dataset_names()[:4]
    ['kagg-prot', 'ssl-text', 'kagg-cred', 'a1a']
    """
    return [dataset.name for dataset in DATASETS]


def find_dataset(name: str) -> Dataset:
    """Return the record of a data set; case does not matter, and ``_`` stands for ``-``."""
    for dataset in DATASETS:
        if dataset.name.lower() == str(name).lower().replace("_", "-"):
            return dataset
    raise ValueError(f"There is no data set {name!r}. Choose one of {', '.join(dataset_names())}.")
