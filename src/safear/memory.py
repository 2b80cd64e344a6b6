"""Memory: what a computation needs is said (`--verbose`) and, if there is not so much, refused before it begins."""

from __future__ import annotations

import logging
from pathlib import Path

from safear.errors import TooLargeError

logger = logging.getLogger("safear")

MAX_BYTES = 4 * 2**30  # for what has a way that takes less; whoever wants more says so
_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of a container, new and old style
_USED = ("memory.current", "memory/memory.usage_in_bytes")


def require_room(need: int, what: str, *, max_bytes: int | None = MAX_BYTES, remedy: str | None = None) -> None:
    """Refuse what needs more than `max_bytes` (None: no limit but the machine's) or than the machine has left."""
    logger.info("%s: about %s of memory", what, format_bytes(need), extra={"need": need})
    if max_bytes is not None and need > max_bytes:
        cause = f"{what} would need about {format_bytes(need)}; the limit is {format_bytes(max_bytes)}"
        raise TooLargeError.at((), cause, remedy)
    left = available()
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
    """The bytes that can still be had: of the machine and, in a container, within its limit; None if nobody tells."""
    found = [_read_meminfo(root / "proc/meminfo"), _read_container(root / "sys/fs/cgroup")]
    return min((count for count in found if count is not None), default=None)


def _read_meminfo(path: Path) -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in path.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None  # not Linux


def _read_container(folder: Path) -> int | None:
    for limit, used in zip(_LIMITS, _USED, strict=True):
        try:
            return max(0, int((folder / limit).read_text()) - int((folder / used).read_text()))
        except (OSError, ValueError):  # no such file, or the limit is "max"
            continue
    return None
