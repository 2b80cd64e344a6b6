"""Memory: what a computation needs is said (`--verbose`) and, if there is not so much, refused before it begins."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import NamedTuple

from safear.errors import TooLargeError

if sys.platform != "win32":
    import resource

logger = logging.getLogger("safear")

NEGLIGIBLE = 2**26  # bytes
MAX_BYTES = 4 * 2**30  # for what has a way that takes less; whoever wants more says so


class _Container(NamedTuple):
    """The files in which a container's memory is told."""

    limit: str
    used: str
    details: str
    cached: str


_CONTAINERS = (  # new and old style
    _Container("memory.max", "memory.current", "memory.stat", "inactive_file"),
    _Container(
        "memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"
    ),
)


def require_room(need: int, what: str, *, max_bytes: int | None = MAX_BYTES, remedy: str | None = None) -> None:
    """Refuse what needs more than `max_bytes` (None: no limit but the machine's) or than the machine has left."""
    logger.info("%s: about %s of memory", what, format_bytes(need), extra={"need": need})
    if max_bytes is not None and need > max_bytes:
        cause = f"{what} would need about {format_bytes(need)}; the limit is {format_bytes(max_bytes)}"
        raise TooLargeError.at((), cause, remedy)
    left = available() if need > NEGLIGIBLE else None  # what is asked for again and again, and little, need not wait
    if left is not None and need > left:
        cause = f"{what} would need about {format_bytes(need)}; this machine has {format_bytes(left)} left"
        raise TooLargeError.at((), cause, remedy)


def format_bytes(count: float) -> str:
    """`1.2 GiB`, `340 MiB`."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count / 2**10:,.0f} KiB"


def available(root: Path = Path("/")) -> int | None:
    """The bytes that can still be had: of the machine, in a container, and by `ulimit -v`; None if nobody tells."""
    found = [
        _read_meminfo(root / "proc/meminfo"),
        _read_container(root / "sys/fs/cgroup"),
        _read_own_limit(root / "proc/self/statm"),
    ]
    return min((count for count in found if count is not None), default=None)


def _read_meminfo(path: Path) -> int | None:
    kilobytes = _read_fields(path).get("MemAvailable:")
    return None if kilobytes is None else kilobytes * 1024


def _read_container(folder: Path) -> int | None:
    """What is left of a container's limit; what it uses to cache files can be had, too."""
    for names in _CONTAINERS:
        try:
            limit, used = (int((folder / name).read_text()) for name in (names.limit, names.used))
        except (OSError, ValueError):  # no such file, or the limit is "max"
            continue
        return max(0, limit - used + _read_fields(folder / names.details).get(names.cached, 0))
    return None


def _read_own_limit(path: Path) -> int | None:
    """What is left of the addresses that this process may have."""
    if sys.platform == "win32":
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        used = int(path.read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):  # the system has no such file
        return limit
    return max(0, limit - used)


def _read_fields(path: Path) -> dict[str, int]:
    """The lines of a file that consist of a name and a number (and a unit)."""
    try:
        lines = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {line[0]: int(line[1]) for line in lines if len(line) > 1 and line[1].isdecimal()}
