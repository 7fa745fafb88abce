"""The data sets by name, as scikit-learn gives its own."""

from __future__ import annotations

import os
from importlib.resources import files
from typing import Any, Protocol

from scipy import sparse
from sklearn.utils import Bunch

from hedgeclipper.datasets.archives import read_archives, read_bundled
from hedgeclipper.datasets.contents import Contents
from hedgeclipper.datasets.downloads import Location, locate, note_hashes
from hedgeclipper.datasets.originals import read_originals
from hedgeclipper.datasets.registry import Dataset, find_dataset
from hedgeclipper.io.extras import import_extra

_PARAMETERS = """data_home : path or None
        The cache for downloaded files; ``~/hedgeclipper_data`` if None.
    download_if_missing : bool
        Whether to download what is found nowhere; if False, that is an OSError.
    return_X_y : bool
        Whether to return ``(data, target)`` alone.
    as_frame : bool
        Whether data and target are pandas objects (needs the "io" extra); sparse rows become dense.
"""


def fetch(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Return a data set of the paper by its name.

    It is looked for in this order: in the package (a1a), in the folder named by the environment
    variable HEDGECLIPPER_DATA, in the cache, on the web. That folder may hold the files as they are
    published or as NumPy archives; the cache holds published files. A download that is not
    whole, or has not the known SHA-256, is thrown away. Of some files none is known (those of w1a,
    webspam-uni and ssl-text): of them the size and the shape are checked when they come, and the
    SHA-256 they have then is noted beside them and checked whenever they are read.

    Parameters
    ----------
    name : str
        One of `dataset_names`, in upper or lower case, with ``-`` or ``_``.
    data_home : path or None
        The cache for downloaded files; ``~/hedgeclipper_data`` if None.
    download_if_missing : bool
        Whether to download what is found nowhere; if False, that is an OSError.
    return_X_y : bool
        Whether to return ``(data, target)`` alone.
    as_frame : bool
        Whether data and target are pandas objects (needs the "io" extra); sparse rows become dense.

    Returns
    -------
    Bunch
        ``data`` (float32, shape (n_rows, n_columns): an array where NaN is missing, or a
        csr_array), the training rows first; ``target`` (0 or 1); ``n_train``, how many rows are
        training rows; ``data_unlabeled``, further rows without labels, or None; ``labeled_splits``,
        for the ssl sets the benchmark's own labeled rows by number of labels, shape
        (n_splits, n_labels) each; ``feature_names``; ``frame``; ``DESCR``; ``source``, where it
        was read from.

    Examples
    --------
    >>> adult = fetch("a1a")
    >>> adult.data.shape, adult.n_train
    ((32561, 123), 1605)
    """
    dataset = find_dataset(name)
    bunch = load(dataset, data_home=data_home, download_if_missing=download_if_missing)
    if as_frame:
        _to_frames(bunch, dataset)
    return (bunch.data, bunch.target) if return_X_y else bunch


def load(
    dataset: Dataset,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Return the data set of a record: found, read, and its shape checked."""
    location = locate(dataset, data_home, download_if_missing)
    try:
        contents = _read(dataset, location)
        _check_shape(dataset, contents, location)
    except (OSError, ValueError) as error:
        _remove_unproven(location, error)
        raise
    if location.in_cache:
        note_hashes(dataset, location.paths)
    return Bunch(
        data=contents.data,
        target=contents.target,
        n_train=contents.n_train,
        data_unlabeled=contents.data_unlabeled,
        labeled_splits=contents.labeled_splits,
        feature_names=dataset.feature_names,
        frame=None,
        DESCR=_description(dataset),
        source=str(location),
    )


def _read(dataset: Dataset, location: Location) -> Contents:
    if location.kind == "bundled":
        return read_bundled(dataset)
    if location.kind == "archives":
        return read_archives(dataset, location.paths)
    return read_originals(dataset, location.paths)


def _remove_unproven(location: Location, error: Exception) -> None:
    """Remove what was just downloaded, has no published hash, and cannot be read."""
    for path in location.unproven:
        path.unlink(missing_ok=True)
        error.add_note(f"{path} had just been downloaded and has been deleted again.")


def _check_shape(dataset: Dataset, contents: Contents, location: Location) -> None:
    """Raise unless the numbers of rows and columns are those of the paper."""
    n_rows, n_columns = contents.data.shape
    extra = contents.data_unlabeled
    n_extra, n_extra_columns = (0, dataset.n_columns) if extra is None else extra.shape
    for what, expected, got in (
        ("labeled rows", dataset.n_rows, n_rows),
        ("labels", dataset.n_rows, contents.target.size),
        ("columns", dataset.n_columns, n_columns),
        ("training rows", dataset.n_train, contents.n_train),
        ("unlabeled rows", dataset.n_unlabeled, n_extra),
        ("columns of the unlabeled rows", dataset.n_columns, n_extra_columns),
    ):
        if expected != got:
            raise ValueError(
                f"{dataset.name} should have {expected:,} {what}, but {got:,} were read from "
                f"{location}. A file is cut short or another one; put the right one in its place."
            )


def _description(dataset: Dataset) -> str:
    """Return what the data set is, in words."""
    parts = [dataset.name, dataset.title, dataset.size_in_words]
    parts += [f"Source: {dataset.origin}", f"License: {dataset.license}"]
    if dataset.is_bundled:
        parts.append((files("hedgeclipper") / "data" / "README.md").read_text(encoding="utf-8"))
    return "\n\n".join(parts)


def _to_frames(bunch: Bunch, dataset: Dataset) -> None:
    """Make pandas objects of the arrays."""
    pandas = import_extra("pandas", "io", f"fetch({dataset.name!r}, as_frame=True)")

    def frame_of(rows: Any) -> Any:
        dense = rows.toarray() if sparse.issparse(rows) else rows
        return pandas.DataFrame(dense, columns=dataset.feature_names)

    bunch.data = frame_of(bunch.data)
    if bunch.data_unlabeled is not None:
        bunch.data_unlabeled = frame_of(bunch.data_unlabeled)
    bunch.target = pandas.Series(bunch.target, name=dataset.target_name)
    bunch.frame = bunch.data.assign(**{dataset.target_name: bunch.target})


class _Fetcher(Protocol):
    """The signature of the functions below."""

    def __call__(
        self,
        *,
        data_home: str | os.PathLike[str] | None = None,
        download_if_missing: bool = True,
        return_X_y: bool = False,
        as_frame: bool = False,
    ) -> Any: ...


def _fetcher(function_name: str, dataset_name: str, example: str = "") -> _Fetcher:
    """Return `fetch` with the name filled in, documented from the record."""
    dataset = find_dataset(dataset_name)

    def fetch_named(
        *,
        data_home: str | os.PathLike[str] | None = None,
        download_if_missing: bool = True,
        return_X_y: bool = False,
        as_frame: bool = False,
    ) -> Any:
        return fetch(
            dataset_name,
            data_home=data_home,
            download_if_missing=download_if_missing,
            return_X_y=return_X_y,
            as_frame=as_frame,
        )

    fetch_named.__name__ = fetch_named.__qualname__ = function_name
    fetch_named.__doc__ = f"""Return {dataset.name}: {dataset.title[0].lower()}{dataset.title[1:]}

    {dataset.size_in_words} Source: {dataset.origin}. License: {dataset.license}.

    Parameters
    ----------
    {_PARAMETERS}
    Returns
    -------
    Bunch
        As `fetch` returns it.
    {example}"""
    return fetch_named


fetch_kagg_prot = _fetcher("fetch_kagg_prot", "kagg-prot")
fetch_ssl_text = _fetcher("fetch_ssl_text", "ssl-text")
fetch_kagg_cred = _fetcher("fetch_kagg_cred", "kagg-cred")
fetch_a1a = _fetcher(
    "fetch_a1a",
    "a1a",
    example="""
    Examples
    --------
    >>> X, y = fetch_a1a(return_X_y=True)
    >>> X.shape, round(float(y.mean()), 3)
    ((32561, 123), 0.241)
    """,
)
fetch_w1a = _fetcher("fetch_w1a", "w1a")
fetch_covtype_binary = _fetcher("fetch_covtype_binary", "covtype")
fetch_ssl_secstr = _fetcher("fetch_ssl_secstr", "ssl-secstr")
fetch_susy = _fetcher("fetch_susy", "SUSY")
fetch_higgs = _fetcher("fetch_higgs", "HIGGS")
fetch_epsilon = _fetcher("fetch_epsilon", "epsilon")
fetch_webspam_uni = _fetcher("fetch_webspam_uni", "webspam-uni")
