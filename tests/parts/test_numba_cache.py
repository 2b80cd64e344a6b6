"""Numba with our files: damaged, stale, written by several processes at once."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from accounts import full_disk
from lanes import scaled

SOURCE = """
from typing import NamedTuple
import numpy as np
from safear.compiling import njit

class Pair(NamedTuple):
    first: np.ndarray
    second: float

@njit(cache=True, nogil=True)
def add(pair):
    total = 0.0
    for one in pair.first:
        total += one * pair.second
    return total
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kernels, and nowhere to keep their code but beside them."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("SAFEAR_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    path = tmp_path / "some_kernels.py"
    path.write_text(SOURCE)
    return path


def load(path: Path) -> Any:
    """The module as a process has it that just started."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    sys.modules[path.stem] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(path: Path) -> tuple[float, bool]:
    """What the function gives, and whether it came from the disk."""
    import numpy as np  # noqa: PLC0415

    module = load(path)
    found = module.add(module.Pair(np.arange(4.0), 2.0))
    return found, bool(module.add.stats.cache_hits)


def kept(path: Path) -> Path:
    (file,) = path.parent.glob("__pycache__/*.nbc")
    return file


def test_what_one_process_compiles_others_load(module: Path) -> None:
    assert call(module) == (12.0, False)
    assert call(module) == (12.0, True)
    module.write_text("# moved\n" + SOURCE)
    from doors import stamp_source  # noqa: PLC0415

    stamp_source.cache_clear()
    assert call(module) == (12.0, False)
    assert call(module) == (12.0, True)
    assert kept(module).is_file()  # one file, not two


def test_damaged_code_is_compiled_again(module: Path) -> None:
    call(module)
    good = kept(module).read_bytes()
    half, last = len(good) // 2, len(good) - 1
    ways = (
        good[:half],
        good[:last] + bytes([good[last] ^ 1]),
        good[:half] + bytes([good[half] ^ 255]) + good[half + 1 :],
        b"",
        bytes(len(good)),
        b"nonsense" * 1000,
    )
    for damaged in ways[: scaled(len(ways), least=1)]:
        kept(module).write_bytes(damaged)
        assert call(module) == (12.0, False)
        assert call(module) == (12.0, True)


def test_a_named_tuple_that_was_renamed(module: Path) -> None:
    """What is on the disk names a class that is no longer there."""
    call(module)
    module.write_text(SOURCE.replace("Pair", "Couple") + "\n")
    couple = load(module)
    import numpy as np  # noqa: PLC0415

    assert couple.add(couple.Couple(np.arange(4.0), 2.0)) == 12.0


def test_a_full_disk(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would take the half of a .pyc for the whole
    with full_disk():
        assert call(module) == (12.0, False)
    assert list(module.parent.glob("__pycache__/*.nbc")) == []
    assert list(module.parent.glob("__pycache__/.*")) == []
    assert call(module) == (12.0, False)
    assert call(module) == (12.0, True)


def test_a_folder_that_cannot_be_written(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(module / "no folder"))
    assert call(module) == (12.0, False)
    assert call(module) == (12.0, False)


def test_whether_it_was_compiled_before(module: Path) -> None:
    from doors import is_at_hand  # noqa: PLC0415

    assert not is_at_hand(load(module).add)
    call(module)
    assert is_at_hand(load(module).add)
    kept(module).write_bytes(b"damaged")
    assert not is_at_hand(load(module).add)


PLACES = f"{Path(__file__).parent}:{Path(__file__).parents[1] / 'shared'}"  # of this module, and of its doors
RACE = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[1].split(":")
from test_numba_cache import call
path, rounds, vandal = Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
for number in range(rounds):
    for file in path.parent.glob("__pycache__/*.nbc") if number % 3 == 0 else ():
        try:
            if vandal == "truncates":
                with file.open("rb+") as stream:
                    stream.truncate(1000)
            elif vandal == "removes":
                file.unlink(missing_ok=True)
        except FileNotFoundError:
            pass
    found, _ = call(path)
    assert found == 12.0, found
print("same")
"""


def test_several_processes_at_once(module: Path) -> None:
    """Two only compile and load, one cuts files short while they are read, one removes them."""
    command = [sys.executable, "-W", "error", "-c", RACE, PLACES, str(module), "12"]
    with ExitStack() as stack:
        running = []
        for role in ("none", "none", "truncates", "removes"):
            process = subprocess.Popen([*command, role], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            running.append(stack.enter_context(process))
            stack.callback(process.kill)
        done = [(*process.communicate(timeout=300), process.returncode) for process in running]
    assert done == [("same\n", "", 0)] * 4
    assert list(module.parent.glob("__pycache__/.*")) == []  # nothing half-written


SORTS = """
import numpy as np
from safear.compiling import njit

@njit(cache=True)
def order(numbers):
    return np.argsort(numbers)

@njit(cache=True)
def sort(numbers):
    return np.sort(numbers)
"""
COMPILE = """
import re, sys
import numpy as np
from numba.core.bytecode import FunctionIdentity
import some_kernels

name, behind = sys.argv[1:]
for _ in range(int(behind)):
    next(FunctionIdentity._unique_ids)
function = getattr(some_kernels, name)
function(np.arange(30)[::-1] % 4)
compiled, = function.overloads.values()
print(*set(re.findall(r"B[0-9]+v([0-9]+)B", compiled.library.get_llvm_str())))
"""
USE = """
import numpy as np
import some_kernels

numbers = np.array([9, 3, 1, 2] * 10)
for _ in range(2):
    print((numbers[some_kernels.order(numbers)] == np.sort(numbers)).all())
    print((some_kernels.sort(numbers) == np.sort(numbers)).all())
"""


def run(script: str, *arguments: str, folder: Path) -> list[str]:
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.split()


def test_what_two_processes_compile_goes_together_in_a_third(module: Path) -> None:
    """Numbered from 1, parts of `sort` were called as those of `order` are, which move indices, and were not used."""
    module.write_text(SORTS)
    folder = module.parent
    names = [set(run(COMPILE, *wanted, folder=folder)) for wanted in (("order", "0"), ("sort", "3"))]
    assert all(names)
    assert not names[0] & names[1]
    assert run(USE, folder=folder) == ["True"] * 4


def test_forks_give_functions_different_numbers() -> None:
    script = """
import os
from numba.core.bytecode import FunctionIdentity
from safear.compiling import njit

for _ in range(2):
    if not os.fork():
        print(next(FunctionIdentity._unique_ids), flush=True)
        os._exit(0)
    os.wait()
"""
    one, other = run(script, folder=Path.cwd())
    assert one != other
