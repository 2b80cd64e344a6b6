"""`--verbose`: what the library says of its work, on the error stream."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def show_log(*, verbose: bool) -> Iterator[None]:
    """Show the log while something is done, if asked for."""
    if not verbose:
        yield
        return
    logger = logging.getLogger("safear")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
