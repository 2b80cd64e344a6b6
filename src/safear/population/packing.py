"""A job as bytes, for other processes: those of a cluster, and workers on this machine."""

from __future__ import annotations

import pickle
import sys

from safear.classifier.python_objects import FILE_MODULE
from safear.population.parts import Job


def pack_job(job: Job) -> bytes:
    """The job with its classifier, for `pickle.loads` in a process that has SafeAR; raises whatever hinders that.

    With cloudpickle, which comes with Dask, functions and classes of scripts and notebooks are sent along.
    """
    try:
        import cloudpickle  # noqa: PLC0415  # comes with an extra
    except ImportError:
        return pickle.dumps(job)
    # What was read from a file of the user's is in no module that another process could import: it is sent along.
    modules = [module for name, module in sys.modules.items() if name.startswith(FILE_MODULE)]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        packed: bytes = cloudpickle.dumps(job)
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)
    return packed
