"""Conditions under which services run: another user, full disks, folders that cannot be written."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

NOBODY = 65534  # the user whom containers and services are given, on every Linux
USER = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
# Python may lie in root's home, which others cannot enter: then a user who may read everything, but writes as nobody.
READER = [*USER, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
# All of the system is read-only, for one process: folders for temporary files too.
FREEZE = """
while read -r _ folder kind _; do
    case $kind in proc | sysfs | dev* | cgroup* | mqueue) ;; *) mount -o remount,bind,ro "$folder" ;; esac
done < /proc/self/mounts 2> /dev/null
exec "$@"
"""
FROZEN = ["unshare", "--mount", "sh", "-c", FREEZE, "sh"]

only_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can run as another user")


def as_nobody() -> list[str]:
    """What stands before a command that another user runs; skips the test where that is impossible."""
    for way in (USER, READER):
        if _runs((*way, sys.executable, "-c", "import numpy")):
            return way
    pytest.skip(f"no other user can run {sys.executable}")


def frozen() -> list[str]:
    """What stands before a command (as root) that can write nowhere; skips the test where that is impossible."""
    if not _runs((*FROZEN, "sh", "-c", "! touch /tmp/frozen && ! touch /dev/shm/frozen")):
        pytest.skip("file systems cannot be made read-only for one process here")
    return FROZEN


@cache
def _runs(command: tuple[str, ...]) -> bool:
    try:
        return not subprocess.run(command, cwd="/", capture_output=True, check=False, timeout=120).returncode
    except FileNotFoundError:
        return False


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can be made longer than 100 bytes, which is enough for semaphores."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
