"""Every data set of the paper by name: bundled, in a folder, in the cache, or downloaded."""

from hedgeclipper.datasets.fetchers import (
    fetch,
    fetch_a1a,
    fetch_covtype_binary,
    fetch_epsilon,
    fetch_higgs,
    fetch_kagg_cred,
    fetch_kagg_prot,
    fetch_ssl_secstr,
    fetch_ssl_text,
    fetch_susy,
    fetch_w1a,
    fetch_webspam_uni,
)
from hedgeclipper.datasets.registry import dataset_names

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
]
