"""How many threads work at a time: never more than there are cores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

from joblib import cpu_count, effective_n_jobs
from sklearn.frozen import FrozenEstimator
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

JOB_PARAMETERS = {"n_jobs", "nthread", "thread_count"}


def n_workers(n_jobs: int | None) -> int:
    """Return how many jobs run at a time: ``n_jobs`` as in joblib, but at most one per core."""
    return min(effective_n_jobs(n_jobs), cpu_count())


def run_jobs(
    work: Callable[..., Any], calls: Iterable[tuple], n_jobs: int | None, **options: Any
) -> Iterator[Any]:
    """Yield the result of the work for each tuple of arguments, each job in one thread.

    The work also gets, as ``shares_cores``, whether other jobs run beside it. Options are those of
    ``joblib.Parallel``.
    """
    n_jobs = n_workers(n_jobs)
    parallel = Parallel(n_jobs=n_jobs, **{"return_as": "generator", **options})
    # the limit of BLAS is one for all threads, so that it is set around all of them
    with threadpool_limits(1):
        yield from parallel(delayed(_run)(work, call, n_jobs > 1) for call in calls)


def _run(work: Callable[..., Any], arguments: tuple, shares_cores: bool) -> Any:
    # the limit of OpenMP is one for each thread
    with threadpool_limits(1) if shares_cores else nullcontext():
        return work(*arguments, shares_cores=shares_cores)


@contextmanager
def own_jobs(model: Any, shares_cores: bool) -> Iterator[None]:
    """Set a model's own parameters for jobs and threads to 1, and back, if it shares the cores."""
    model = model.estimator if isinstance(model, FrozenEstimator) else model
    parameters = model.get_params() if shares_cores and hasattr(model, "get_params") else {}
    asked = {}
    for name, n_jobs in parameters.items():
        owner, _, parameter = name.rpartition("__")
        # in scikit-learn None is one job, and setting n_jobs may be deprecated
        is_one = n_jobs is None and type(parameters.get(owner, model)).__module__[:8] == "sklearn."
        if parameter in JOB_PARAMETERS and not is_one:
            asked[name] = n_jobs
    if not asked:
        yield
        return
    try:
        model.set_params(**dict.fromkeys(asked, 1))
        yield
    finally:
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
