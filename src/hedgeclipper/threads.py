"""How many threads work at a time: never more than there are cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

OWN_JOBS = {"n_jobs", "nthread", "thread_count"}


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
    # the limit of BLAS is one for all threads, so that it is set around all of them
    with one_thread():
        yield from parallel(delayed(_run)(work, call, n_jobs > 1) for call in calls)


def _run(work: Callable[..., Any], arguments: tuple, shares_cores: bool) -> Any:
    with one_thread():
        return work(*arguments, shares_cores=shares_cores)


@contextmanager
def one_thread(model: Any = None) -> Iterator[None]:
    """Keep BLAS and OpenMP, and a model's own jobs, to one thread.

    Parameters
    ----------
    model : estimator, optional
        Its parameters that number jobs or threads are 1 inside, and as before outside.
    """
    asked = _own_jobs(model)
    if asked:
        model.set_params(**dict.fromkeys(asked, 1))
    try:
        with threadpool_limits(1):
            yield
    finally:
        if asked:
            model.set_params(**asked)


def _own_jobs(model: Any) -> dict[str, Any]:
    """Return a model's parameters that number jobs or threads, those of its parts too."""
    if not hasattr(model, "get_params"):
        return {}
    parameters = model.get_params(deep=True)
    return {name: n for name, n in parameters.items() if name.split("__")[-1] in OWN_JOBS}
