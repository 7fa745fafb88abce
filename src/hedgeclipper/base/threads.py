"""How many threads work at a time: never more than there are cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

JOB_PARAMETERS = {"n_jobs", "nthread", "thread_count"}


def n_workers(n_jobs: int | None) -> int:
    """Return how many jobs run at a time: what ``n_jobs`` asks for, at most one per core.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib: None is 1, -1 is all cores.
    """
    return min(effective_n_jobs(n_jobs), cpu_count())


def run_jobs(
    work: Callable[..., Any], calls: Iterable[tuple], n_jobs: int | None, **options: Any
) -> Iterator[Any]:
    """Yield the result of the work for each tuple of arguments, each job in one thread.

    Parameters
    ----------
    work : callable
        Gets the arguments, and as ``shares_cores`` whether other jobs run beside it.
    calls : iterable of tuple
        Arguments.
    n_jobs : int or None
        Jobs at a time.
    **options : dict
        For ``joblib.Parallel``.
    """
    n_jobs = n_workers(n_jobs)
    parallel = Parallel(n_jobs=n_jobs, **{"return_as": "generator", **options})
    run = _run_beside_others if n_jobs > 1 else _run_alone
    # the limit of BLAS is one for all threads, so that it is set around all of them
    with threadpool_limits(1):
        yield from parallel(delayed(run)(work, call) for call in calls)


def _run_alone(work: Callable[..., Any], arguments: tuple) -> Any:
    return work(*arguments, shares_cores=False)


def _run_beside_others(work: Callable[..., Any], arguments: tuple) -> Any:
    with threadpool_limits(1):  # that of OpenMP is one for each thread
        return work(*arguments, shares_cores=True)


@contextmanager
def own_jobs(model: Any, shares_cores: bool) -> Iterator[None]:
    """Set a model's own parameters for jobs and threads to 1, and back, if it shares the cores.

    Parameters
    ----------
    model : estimator
        Its parameters may be those of its parts, too.
    shares_cores : bool
        Whether other jobs run beside it.
    """
    asked = _job_parameters(model) if shares_cores else {}
    try:
        if asked:
            model.set_params(**dict.fromkeys(asked, 1))
        yield
    finally:
        if asked:
            model.set_params(**asked)


def _job_parameters(model: Any) -> dict[str, Any]:
    if not hasattr(model, "get_params"):
        return {}
    parameters = model.get_params(deep=True)
    return {name: n for name, n in parameters.items() if name.split("__")[-1] in JOB_PARAMETERS}
