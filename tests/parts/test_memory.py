"""How much memory is left, and what is refused because it needs more."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import safear as sa
from doors import MAX_BYTES, available, format_bytes, memory, require_room, solve_family, summarise
from safear.errors import TooLargeError
from safear.mdp import compile_families

KIB, MIB, GIB = 2**10, 2**20, 2**30
MEMINFO = "MemTotal:       32000000 kB\nMemFree:         1000000 kB\nMemAvailable:    8388608 kB\nBuffers: 12 kB\n"
NO_LIMIT_V1 = "9223372036854771712\n"  # what an old kernel says for none


# ----------------------------------------------------------------------------------------------------- how much is left


def write(root: Path, **files: str) -> Path:
    """A root folder with these files: `meminfo`, and those of a container, of a new kernel (v2) or an old one (v1)."""
    places = {
        "meminfo": "proc/meminfo",
        "v2_limit": "sys/fs/cgroup/memory.max",
        "v2_used": "sys/fs/cgroup/memory.current",
        "v2_stat": "sys/fs/cgroup/memory.stat",
        "v1_limit": "sys/fs/cgroup/memory/memory.limit_in_bytes",
        "v1_used": "sys/fs/cgroup/memory/memory.usage_in_bytes",
        "v1_stat": "sys/fs/cgroup/memory/memory.stat",
    }
    for name, text in files.items():
        path = root / places[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"meminfo": MEMINFO}, 8 * GIB),
        ({"meminfo": MEMINFO, "v2_limit": "max\n", "v2_used": f"{6 * GIB}\n"}, 8 * GIB),
        ({"meminfo": MEMINFO, "v2_limit": f"{4 * GIB}\n", "v2_used": f"{GIB}\n"}, 3 * GIB),
        ({"meminfo": MEMINFO, "v2_limit": f"{64 * GIB}\n", "v2_used": f"{GIB}\n"}, 8 * GIB),
        ({"meminfo": MEMINFO, "v2_limit": f"{GIB}\n", "v2_used": f"{GIB + 1}\n"}, 0),
        ({"meminfo": MEMINFO, "v1_limit": f"{4 * GIB}\n", "v1_used": f"{GIB}\n"}, 3 * GIB),
        ({"meminfo": MEMINFO, "v1_limit": NO_LIMIT_V1, "v1_used": f"{GIB}\n"}, 8 * GIB),
        (
            {
                "meminfo": MEMINFO,
                "v2_limit": "max\n",
                "v2_used": "0\n",
                "v1_limit": f"{2 * GIB}\n",
                "v1_used": f"{GIB}\n",
            },
            GIB,
        ),
        ({"meminfo": MEMINFO, "v2_limit": f"{4 * GIB}\n"}, 8 * GIB),
        ({"meminfo": MEMINFO, "v2_limit": "\n", "v2_used": "0\n"}, 8 * GIB),
        ({"v2_limit": f"{4 * GIB}\n", "v2_used": f"{GIB}\n"}, 3 * GIB),
        ({"meminfo": "MemTotal: 32000000 kB\n", "v1_limit": f"{4 * GIB}\n", "v1_used": "0\n"}, 4 * GIB),
        ({"meminfo": "MemTotal: 32000000 kB\n"}, None),
        ({"meminfo": "MemAvailable: unknown\n"}, None),
        ({"meminfo": "MemAvailable:\n"}, None),
        ({"meminfo": "not such a file\n"}, None),
        ({"meminfo": ""}, None),
        ({}, None),
    ],
    ids=[
        "machine",
        "container without a limit",
        "container",
        "limit above the machine",
        "limit passed",
        "old container",
        "old container without a limit",
        "both kinds",
        "no usage",
        "empty limit",
        "no meminfo",
        "old meminfo, container",
        "old meminfo",
        "not a number",
        "nothing",
        "other text",
        "empty",
        "not Linux",
    ],
)
def test_what_is_left(files: dict[str, str], left: int | None, tmp_path: Path) -> None:
    assert available(write(tmp_path, **files)) == left


@pytest.mark.parametrize(
    "files",
    [
        {
            "v2_limit": f"{4 * GIB}",
            "v2_used": f"{4 * GIB}",
            "v2_stat": f"anon {GIB}\nfile {3 * GIB}\ninactive_file {3 * GIB}\nactive_file 0\n",
        },
        {
            "v1_limit": f"{4 * GIB}",
            "v1_used": f"{4 * GIB}",
            "v1_stat": f"cache 0\ninactive_file 0\ntotal_cache {3 * GIB}\ntotal_inactive_file {3 * GIB}\n",
        },
    ],
    ids=["new", "old"],
)
def test_what_caches_files_can_be_had(files: dict[str, str], tmp_path: Path) -> None:
    """A container counts pages of files that were read as used, and gives them up as soon as anybody wants them.

    Whoever has read a large file would else be told that there is no room at all.
    """
    assert available(write(tmp_path, meminfo=MEMINFO, **files)) == 3 * GIB


def test_here() -> None:
    """Whatever this machine is."""
    left = available()
    assert left is None or left > 0


# ------------------------------------------------------------------------------------------------------------- in words


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 KiB"),
        (1, "0 KiB"),
        (KIB, "1 KiB"),
        (10 * KIB, "10 KiB"),
        (1000 * KIB, "1,000 KiB"),
        (MIB, "1.0 MiB"),
        (1.25 * MIB, "1.2 MiB"),
        (340 * MIB, "340.0 MiB"),
        (1000 * MIB, "1,000.0 MiB"),
        (GIB, "1.0 GiB"),
        (1.2 * GIB, "1.2 GiB"),
        (13_000 * GIB, "13,000.0 GiB"),
    ],
)
def test_bytes_in_words(count: float, text: str) -> None:
    assert format_bytes(count) == text


# -------------------------------------------------------------------------------------------------------------- refusal


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """What the machine has left; tests may change it."""
    values: list[int | None] = [8 * GIB]
    monkeypatch.setattr(memory, "available", lambda: values[0])
    return values


def test_what_fits_is_not_refused(left: list[int | None]) -> None:
    require_room(GIB, "a table", max_bytes=GIB)
    require_room(MAX_BYTES, "a table")
    require_room(8 * GIB, "a table", max_bytes=None)
    left[0] = 0
    require_room(0, "nothing")


def test_more_than_the_limit(left: list[int | None]) -> None:
    del left
    with pytest.raises(TooLargeError) as refused:
        require_room(3 * GIB, "a table of 7 rows", max_bytes=GIB, remedy="make it smaller")
    expected = "a table of 7 rows would need about 3.0 GiB; the limit is 1.0 GiB\n    make it smaller"
    assert str(refused.value) == expected
    assert refused.value.exit_code == 2
    with pytest.raises(TooLargeError):
        require_room(GIB + 1, "a table", max_bytes=GIB)


def test_the_limit_unless_somebody_gives_one(left: list[int | None]) -> None:
    del left
    with pytest.raises(TooLargeError, match=r"the limit is 4\.0 GiB"):
        require_room(MAX_BYTES + 1, "a table")


def test_more_than_the_machine_has(left: list[int | None]) -> None:
    left[0] = 512 * MIB
    expected = "a table would need about 1.0 GiB; this machine has 512.0 MiB left\n    buy another"
    for limit in (None, 2 * GIB):
        with pytest.raises(TooLargeError) as refused:
            require_room(GIB, "a table", max_bytes=limit, remedy="buy another")
        assert str(refused.value) == expected


def test_where_nobody_tells_only_the_limit_counts(left: list[int | None]) -> None:
    left[0] = None
    require_room(2**80, "a table", max_bytes=None)
    with pytest.raises(TooLargeError, match="the limit is 1 KiB"):
        require_room(2 * KIB, "a table", max_bytes=KIB)


# --------------------------------------------------------------------------------------------------------- what is said


def test_what_is_needed_is_said(left: list[int | None], caplog: pytest.LogCaptureFixture) -> None:
    """Also of what is refused; by the logger of the package."""
    del left
    with caplog.at_level(logging.INFO, logger="safear"):
        require_room(340 * MIB, "the block of 12 states")
        with pytest.raises(TooLargeError):
            require_room(5 * GIB, "100% of it")
    assert [(record.name, record.levelno, record.getMessage()) for record in caplog.records] == [
        ("safear", logging.INFO, "the block of 12 states: about 340.0 MiB of memory"),
        ("safear", logging.INFO, "100% of it: about 5.0 GiB of memory"),
    ]


def test_solving_a_whole_block_says_what_it_needs(caplog: pytest.LogCaptureFixture) -> None:
    problem = sa.load_example("loan")
    with caplog.at_level(logging.INFO, logger="safear"):
        summarise(solve_family(next(compile_families(problem)), sa.Mean()))
    said = [text for text in caplog.messages if text.endswith(" of memory")]
    space, distributions = (text.removesuffix(" KiB of memory").split(": about ") for text in said)
    assert space[0] == "the state space of 96 states"
    assert distributions[0] == "the distributions of a block of 96 states with 169 possible totals"
    assert all(int(need) > 0 for _, need in (space, distributions))


@pytest.mark.skipif(sys.platform != "linux", reason="systems count what a process has each in their own way")
def test_what_a_process_may_have() -> None:
    """By `ulimit -v`; what it has already is taken off."""
    code = """
import resource
from safear.memory import available, require_room
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
left = available()
assert 0 < left < 2**30, left
require_room(left // 2, "half of it")
taken = bytearray(left // 2)
require_room(left * 3 // 4, "more than is left")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert "TooLargeError: more than is left would need about" in done.stderr
