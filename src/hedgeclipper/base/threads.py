"""How many threads work at a time: never more than there are cores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from joblib import cpu_count, effective_n_jobs
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

JOB_PARAMETERS = {"n_jobs", "nthread", "thread_count"}


def n_workers(n_jobs: int | None) -> int:
    """Return how many jobs run at a time: ``n_jobs`` as in joblib, but at most one per core."""
    return min(effective_n_jobs(n_jobs), cpu_count())


@contextmanager
def one_thread(model: Any, shares_cores: bool) -> Iterator[None]:
    """If a model shares the cores, set its own parameters for jobs to 1, and back, and OpenMP's.

    The limit of OpenMP is one for each thread. That of BLAS is one for all of them: set it around.
    """
    if not shares_cores:
        yield
        return
    model = model.estimator if isinstance(model, FrozenEstimator) else model
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    asked = {}
    for name, n_jobs in parameters.items():
        owner, _, parameter = name.rpartition("__")
        # in scikit-learn None is one job, and setting n_jobs may be deprecated
        is_one = n_jobs is None and type(parameters.get(owner, model)).__module__[:8] == "sklearn."
        if parameter in JOB_PARAMETERS and not is_one:
            asked[name] = n_jobs
    try:
        if asked:
            model.set_params(**dict.fromkeys(asked, 1))
        with threadpool_limits(1):
            yield
    finally:
        if asked:
            model.set_params(**asked)


def map_in_threads(
    work: Callable[[Any], Any], items: Iterable[Any], n_jobs: int | None
) -> Iterator[Any]:
    """Yield the result of the work on each item, in order, with as many threads as jobs."""
    n_threads = n_workers(n_jobs)
    if n_threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        # a few items ahead and no more, since they may be large and made on the way
        waiting: deque[Future] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
