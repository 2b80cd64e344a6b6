"""Parts of a batch on a Dask cluster.

The scheduler keeps what a task is made from, so that the parts of a worker that is lost are solved by another. Workers
need SafeAR and whatever the classifier needs, nothing else: people come from here and results go back.
"""

from __future__ import annotations

import logging
import pickle
import warnings
from asyncio import CancelledError
from collections.abc import Iterator
from threading import Lock
from types import ModuleType
from typing import Any

import pandas as pd

from safear.errors import ClassifierError, InputError, MissingExtraError, Place
from safear.population.crowd import Crowd
from safear.population.packing import pack_job
from safear.population.parts import Job, PartSolver

logger = logging.getLogger("safear")

AHEAD = 3  # parts per thread of the cluster that are sent before the first is back
_solvers: dict[str, PartSolver] = {}  # of this worker: the last job's
_lock = Lock()


def solve_on_cluster(job: Job, parts: Iterator[Crowd], scheduler: str) -> Iterator[tuple[int, pd.DataFrame]]:
    """The rows of all parts, in the order in which they are done."""
    distributed = _distributed()
    packed = _pack(job)
    with _connect(distributed, scheduler) as client:
        # A task, not scattered data: if the worker that holds its result is lost, it is run again.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # once, and a model is as large as it is
            remote_job = client.submit(pickle.loads, packed)
        threads = sum(client.nthreads().values())
        if not threads:
            logger.warning("%s: the cluster has no workers yet; waiting for some", scheduler)
        running = distributed.as_completed(loop=client.loop, raise_errors=False)
        key = remote_job.key

        def send() -> bool:
            part = next(parts, None)
            if part is not None:
                running.add(client.submit(solve_part, key, remote_job, part, pure=False))
            return part is not None

        waiting = sum(send() for _ in range(AHEAD * max(threads, 1)))
        while waiting:
            future = next(running)
            waiting += send() - 1
            yield _take(distributed, future, scheduler)
            future.release()


def _take(distributed: ModuleType, future: Any, scheduler: str) -> tuple[int, pd.DataFrame]:
    """What a task gave; that the cluster could not do it is told as such."""
    try:
        result: tuple[int, pd.DataFrame] = future.result()
    except distributed.KilledWorker as cause:
        message = "workers were lost again and again with the same part"
        remedy = "give the workers more memory, or make the parts smaller; then run the same again to continue"
        raise InputError.at(Place(file=scheduler), message, remedy, code="cluster") from cause
    except ImportError as cause:
        message, remedy = f"a worker lacks something: {cause}", "install what the classifier needs on every worker"
        raise InputError.at(Place(file=scheduler), message, remedy, code="cluster") from cause
    except (CancelledError, OSError) as cause:
        remedy = "start it again, then run the same again to continue"
        raise InputError.at(Place(file=scheduler), "the cluster is gone", remedy, code="cluster") from cause
    return result


def solve_part(key: str, job: Job, part: Crowd) -> tuple[int, pd.DataFrame]:
    """Solve a part on a worker; the solver is kept for the next one."""
    with _lock:
        if key not in _solvers:
            _solvers.clear()
            _solvers[key] = PartSolver(job)
        solver = _solvers[key]
    return part.number, solver.solve(part)


def _pack(job: Job) -> bytes:
    try:
        return pack_job(job)
    except Exception as cause:  # whatever a classifier of somebody's own raises
        message = f"the classifier cannot be sent to the cluster: {cause}"
        raise ClassifierError.at((), message, "give one that can be pickled, or leave out the scheduler") from cause


def _connect(distributed: ModuleType, scheduler: str) -> Any:
    try:
        distributed.comm.resolve_address(scheduler)  # a Client for an address that makes no sense waits for long
        client = distributed.Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as cause:
        message = f"there is no Dask scheduler: {str(cause).partition(chr(10))[0]}"
        raise InputError.at(Place(file=scheduler), message, "start one with: dask scheduler", code="cluster") from cause
    return client


def _distributed() -> ModuleType:
    try:
        import distributed  # noqa: PLC0415  # an optional dependency
    except ImportError:
        raise MissingExtraError("Dask", "cluster") from None
    return distributed
