"""Every data set of the paper by name: bundled, in a folder, in the cache, or downloaded."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import partial
from typing import Any, Concatenate, ParamSpec

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from hedgeclipper.datasets.file_formats import Contents, read_files
from hedgeclipper.datasets.registry import (
    PACKAGE_DATA,
    Dataset,
    dataset_names,
    find_dataset,
    located,
)
from hedgeclipper.io.extras import import_extra

__all__ = [
    "dataset_names",
    "fetch",
    "fetch_a1a",
    "fetch_covtype_binary",
    "fetch_epsilon",
    "fetch_higgs",
    "fetch_kagg_cred",
    "fetch_kagg_prot",
    "fetch_ssl_secstr",
    "fetch_ssl_text",
    "fetch_susy",
    "fetch_w1a",
    "fetch_webspam_uni",
    "load_judges",
]

_Options = ParamSpec("_Options")  # the keywords of fetch, for type checkers
ANSWERS = np.array(["A", "B", None], dtype=object)


def fetch(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Return a data set of the paper by its name.

    Its files are looked for in this order:

    1. in the package, which brings a1a;
    2. in the folder named by the environment variable ``HEDGECLIPPER_DATA``, as published (or
       unpacked, or packed by another of gzip, bzip2 and xz) or as NumPy archives;
    3. in the cache, as published;
    4. on the web, from which they are downloaded into the cache. This needs the "datasets" extra.

    Files in CSV as they are published (those of covtype, SUSY, HIGGS, kagg-prot and kagg-cred) are
    read with pyarrow, which comes with the "datasets" extra too.

    kagg-prot and kagg-cred need an account and ssl-secstr a conversion, so they have to be put
    into a folder by hand; the error tells which files, and where they come from. A download that
    is cut short or has not the published SHA-256 is deleted. No SHA-256 is published for the files
    of w1a, webspam-uni and ssl-text: their shape is checked when they come, and the SHA-256 they
    have then is noted beside them and checked whenever they are read.

    Parameters
    ----------
    name : str
        One of `dataset_names`, in upper or lower case, with ``-`` or ``_``.
    data_home : str or path, default=None
        The cache for downloaded files; ``~/hedgeclipper_data`` if None.
    download_if_missing : bool, default=True
        Whether to download what is found nowhere. If False, a FileNotFoundError tells what to do.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.
    as_frame : bool, default=False
        Whether data and target are pandas objects (needs the "io" extra); sparse rows become dense.

    Returns
    -------
    bunch : Bunch
        With these attributes, or ``(data, target)`` if ``return_X_y`` is True:

        - ``data``: float32 array, with NaN where a value is missing, or csr_array, of shape
          (n_rows, n_columns); the training rows come first;
        - ``target``: int64 array of shape (n_rows,), 0 or 1;
        - ``n_train``: how many of the rows are training rows;
        - ``data_unlabeled``: further rows without labels, of shape (n_unlabeled, n_columns), or
          None;
        - ``labeled_splits``: for ssl-text and ssl-secstr the benchmark's own labeled rows, a dict
          from the number of labels to row numbers of shape (n_splits, n_labels); else empty;
        - ``feature_names``: list of the names of the columns;
        - ``frame``: DataFrame of data and target, or None unless ``as_frame`` is True;
        - ``DESCR``: what the data set is, where it comes from, and its license;
        - ``source``: where it was read from.

    Examples
    --------
    >>> from hedgeclipper.datasets import fetch
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
    with located(dataset, data_home, download_if_missing) as paths:
        bundled = "the copy bundled with the package" if dataset.is_bundled else ""
        source = bundled or ", ".join(map(str, paths))
        contents = read_files(dataset, paths)
        _check_shape(dataset, contents, source)
    about = [dataset.name, dataset.title, dataset.size]
    about += [f"Source: {dataset.origin}", f"License: {dataset.license}"]
    if dataset.is_bundled:
        about.append((PACKAGE_DATA / "README.md").read_text(encoding="utf-8"))
    return Bunch(
        **vars(contents),
        feature_names=dataset.feature_names,
        frame=None,
        DESCR="\n\n".join(about),
        source=source,
    )


def _check_shape(dataset: Dataset, contents: Contents, source: str) -> None:
    """Raise unless the numbers of rows and columns are those of the paper."""
    n_rows, n_columns = dataset.shape
    extra = contents.data_unlabeled
    n_extra, n_extra_columns = (0, n_columns) if extra is None else extra.shape
    for what, expected, got in (
        ("labeled rows", n_rows, contents.data.shape[0]),
        ("labels", n_rows, contents.target.size),
        ("columns", n_columns, contents.data.shape[1]),
        ("training rows", n_rows - dataset.n_test, contents.n_train),
        ("unlabeled rows", dataset.n_unlabeled, n_extra),
        ("columns of the unlabeled rows", n_columns, n_extra_columns),
    ):
        if expected != got:
            raise ValueError(
                f"{dataset.name} should have {expected:,} {what}, but {got:,} were read from "
                f"{source}. A file is cut short or another one; put the right one in its place."
            )


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


def _fetcher(
    fetch_any: Callable[Concatenate[str, _Options], Any], dataset_name: str, suffix: str
) -> Callable[_Options, Any]:
    """Return `fetch` with the name filled in, documented from the record."""
    dataset = find_dataset(dataset_name)

    def fetch_named(*args: _Options.args, **options: _Options.kwargs) -> Any:
        return fetch_any(dataset_name, *args, **options)

    fetch_named.__name__ = fetch_named.__qualname__ = f"fetch_{suffix}"
    signature = inspect.signature(partial(fetch, dataset_name))
    fetch_named.__signature__ = signature  # type: ignore[attr-defined]
    _, _, shared = (fetch.__doc__ or "").partition("    data_home :")
    skip = "" if dataset.is_bundled else "  # doctest: +SKIP"
    fetch_named.__doc__ = f"""Return {dataset.name}: {dataset.title[0].lower()}{dataset.title[1:]}

    {dataset.size} Source: {dataset.origin}. License: {dataset.license}.

    Parameters
    ----------
    data_home :{shared.partition("    Examples")[0]}    Examples
    --------
    >>> from hedgeclipper.datasets import fetch_{suffix}
    >>> X, y = fetch_{suffix}(return_X_y=True){skip}
    >>> X.shape{skip}
    {tuple(dataset.shape)}
    """
    return fetch_named


fetch_kagg_prot = _fetcher(fetch, "kagg-prot", "kagg_prot")
fetch_ssl_text = _fetcher(fetch, "ssl-text", "ssl_text")
fetch_kagg_cred = _fetcher(fetch, "kagg-cred", "kagg_cred")
fetch_a1a = _fetcher(fetch, "a1a", "a1a")
fetch_w1a = _fetcher(fetch, "w1a", "w1a")
fetch_covtype_binary = _fetcher(fetch, "covtype", "covtype_binary")
fetch_ssl_secstr = _fetcher(fetch, "ssl-secstr", "ssl_secstr")
fetch_susy = _fetcher(fetch, "SUSY", "susy")
fetch_higgs = _fetcher(fetch, "HIGGS", "higgs")
fetch_epsilon = _fetcher(fetch, "epsilon", "epsilon")
fetch_webspam_uni = _fetcher(fetch, "webspam-uni", "webspam_uni")


def load_judges() -> Bunch:
    """Return verdicts of 65 prompts of language models, in both orders, on 419 pairs of LLMBar.

    It needs pandas.

    Returns
    -------
    Bunch
        ``verdicts``, a frame with a row for each pair and a column for each judge and order, of
        "A", "B" and missing ones; ``gold``, a Series of the better answers; ``subset``, a Series
        of the part of LLMBar that each pair is from; ``DESCR``, where they come from. All three
        have the same index.

    References
    ----------
    Z. Zeng, J. Yu, T. Gao, Y. Meng, T. Goyal, D. Chen. Evaluating Large Language Models at
    Evaluating Instruction Following. ICLR 2024.

    Examples
    --------
    >>> judges = load_judges()
    >>> judges.verdicts.shape
    (419, 130)
    """
    pandas = import_extra("pandas", "io", "load_judges")
    with np.load(PACKAGE_DATA / "judges_llmbar.npz", allow_pickle=False) as file:
        votes, gold, voters, subset = (file[name] for name in ("L", "y", "voters", "subset"))
    index = pandas.Index([f"pair-{k}" for k in range(len(gold))], name="pair")
    return Bunch(
        verdicts=pandas.DataFrame(ANSWERS[votes], index=index, columns=voters.tolist()),
        gold=pandas.Series(ANSWERS[gold], index=index, name="gold"),
        subset=pandas.Series(subset.tolist(), index=index, name="subset"),
        DESCR=(PACKAGE_DATA / "README.md").read_text(encoding="utf-8"),
    )
