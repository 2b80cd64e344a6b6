"""The builds of the compiled core: which one serves, and that an edited kernel is built again."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import safear

ROOT = Path(__file__).parents[2]
CORE = ROOT / "src" / "safear" / "core"
LOOK = """
import numpy as np
from safear.core import BUILD
from safear.core.arrays import sort_keys

order = np.arange(3)
sort_keys(np.array([5, 3, 4]), order, np.zeros(3, np.int64))
print(BUILD, *order)
"""


def look(source: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Have the core in a folder sort three keys."""
    return subprocess.run(
        [sys.executable, "-c", LOOK],
        env={**os.environ, "PYTHONPATH": str(source), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize("build", ["baseline", "python"])
def test_a_build_that_is_named_serves(build: str) -> None:
    assert look(ROOT / "src", SAFEAR_CORE=build).stdout == f"{build} 1 2 0\n"


def test_a_build_that_nobody_knows_is_refused() -> None:
    said = look(ROOT / "src", SAFEAR_CORE="fast").stderr
    assert (
        "ImportError: $SAFEAR_CORE is 'fast': SafeAR's core has the builds avx2, baseline, checked, asan, python"
        in said
    )


@pytest.mark.skipif(not shutil.which("gcc") or platform.machine() != "x86_64", reason="gcc tells what it takes")
def test_the_fast_build_takes_nothing_that_was_not_looked_for() -> None:
    """NumPy before 2.4 knows of AVX2, but not of BMI, LZCNT and MOVBE, which some virtual machines hide."""
    flags = load(ROOT / "tools" / "build_core.py").PROCESSORS["avx2"][0]
    macros = subprocess.run(
        ["gcc", *flags, "-dM", "-E", "-x", "c", os.devnull], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    assert "__AVX2__" in macros
    assert {"__BMI__", "__BMI2__", "__LZCNT__", "__MOVBE__", "__FMA__", "__F16C__"}.isdisjoint(macros)


def test_no_loop_swallows_an_error() -> None:
    """Whatever makes room can fail. A function that is `noexcept` would print that and go on with nonsense.

    So do those of the checked build, whose tests fail by what is printed.
    """
    found = (Path(safear.__file__).parent / "core").glob("*/*")
    built = [path for path in found if path.suffix in {".so", ".pyd"} and path.parent.name != "checked"]
    assert len(built) > 10
    assert [path for path in built if b"PyErr_WriteUnraisable" in path.read_bytes()] == []


def copy_core(folder: Path, *without: str) -> None:
    """Copy the core, and nothing else of the package."""
    shutil.copytree(CORE, folder / "safear" / "core", ignore=shutil.ignore_patterns("__pycache__", *without))
    (folder / "safear" / "__init__.py").touch()


def test_sources_do_not_stand_in_for_a_build_that_is_missing(tmp_path: Path) -> None:
    """They are some thousand times slower: nobody should be served so without a word."""
    copy_core(tmp_path, "baseline", "_renew.py")
    said = look(tmp_path, SAFEAR_CORE="baseline").stderr
    assert "SafeAR was installed without the build 'baseline' of its compiled core: install it again" in said


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the smallest kernels with what builds them, up to date."""
    small = {"__init__", "arrays", "exponentials", "shared", "built"}
    others = {path.name for path in CORE.rglob("*.*") if path.name.partition(".")[0] not in small}
    copy_core(tmp_path / "here" / "src", *others)
    (tmp_path / "here" / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "build_core.py", tmp_path / "here" / "tools")
    load_tool(tmp_path / "here").write_renewal()
    return tmp_path / "here"


def load_tool(checkout: Path) -> ModuleType:
    """Load what builds the core of a checkout, as importing the core does."""
    return load(checkout / "tools" / "build_core.py")


def load(path: Path) -> ModuleType:
    """Run a file as a module of its own."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(path.read_bytes(), path, "exec"), module.__dict__)
    return module


def test_an_edited_kernel_is_built_again(checkout: Path) -> None:
    kernel = checkout / "src" / "safear" / "core" / "arrays.py"
    before = look(checkout / "src", SAFEAR_CORE="baseline")
    assert (before.stdout, before.stderr) == ("baseline 1 2 0\n", "")
    text = kernel.read_text(encoding="utf-8")
    kernel.write_text(text.replace("> keys[moved]", "< keys[moved]"), encoding="utf-8")
    after = look(checkout / "src", SAFEAR_CORE="baseline")
    assert after.stdout == "baseline 0 2 1\n"
    assert after.stderr == "safear: building the compiled core again, since it is not up to date\n"
    kernel.write_text(text.replace("= order.shape[0], 1", "= order.shape[0], nothing"), encoding="utf-8")
    broken = look(checkout / "src", SAFEAR_CORE="baseline")
    assert re.search(r"arrays\.py:\d+:\d+: ", broken.stderr)
    assert "ImportError: the compiled core cannot be built: see above" in broken.stderr


def test_a_checkout_that_was_moved_or_copied_builds_its_own(checkout: Path) -> None:
    other = checkout.rename(checkout.with_name("there"))
    assert other == load(other / "src" / "safear" / "core" / "_renew.py").module.ROOT
    (other / "tools" / "build_core.py").unlink()
    with pytest.raises(ImportError, match=r"is for a whole checkout, and there is no .*there/tools/build_core\.py"):
        load(other / "src" / "safear" / "core" / "_renew.py")


def test_an_import_loads_only_what_comparing_takes() -> None:
    code = "import numpy, sys; old = set(sys.modules); import build_core; print(*sys.modules.keys() - old)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "tools", capture_output=True, text=True, check=True, timeout=60
    )
    assert not {"argparse", "importlib.metadata", "json", "shutil", "subprocess"} & set(done.stdout.split())


@pytest.fixture
def tool(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What builds the core of a checkout, up to date; without Cython and a compiler, it notes what it would build."""
    loaded = load_tool(checkout)
    monkeypatch.chdir(checkout)  # building changes to it
    monkeypatch.setattr("importlib.metadata.version", lambda _: "3.2")
    monkeypatch.setattr(loaded.sysconfig, "get_path", lambda _: checkout)
    (checkout / "Python.h").touch()
    asked: list[list[str]] = []

    def compile_c(names: list[str], _: Path, build: str) -> None:
        asked.append(names)
        for name in names:
            (loaded.CORE / build / f"{name}.abi3.so").touch()

    vars(loaded).update(asked=asked, write_c=lambda *_: None, compile_c=compile_c)
    loaded.build_core(["baseline"])
    asked.clear()
    loaded.build_core(["baseline"])
    assert asked == []
    return loaded


ALL = ["arrays", "exponentials", "shared"]


def test_what_is_edited_while_it_is_built_is_built_the_next_time(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tool.CORE / "exponentials.py"
    kernel.write_bytes(kernel.read_bytes() + b"# one\n")
    monkeypatch.setattr(tool, "compile_c", lambda *_: kernel.write_bytes(kernel.read_bytes() + b"# two\n"))
    tool.build_core(["baseline"])
    assert tool.find_stale("baseline", tool.digest_sources()) == ["exponentials"]


def test_what_was_interrupted_and_edited_back_is_built_again(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tool.CORE / "exponentials.py"
    text = kernel.read_bytes()
    kernel.write_bytes(text + b"# other\n")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tool, "compile_c", stop)
    with pytest.raises(KeyboardInterrupt):
        tool.build_core(["baseline"])
    kernel.write_bytes(text)
    assert tool.find_stale("baseline", tool.digest_sources()) == ["exponentials"]


def test_a_module_that_is_gone_is_built_again(tool: ModuleType) -> None:
    next((tool.CORE / "baseline").glob("exponentials.*")).unlink()
    tool.build_core(["baseline"])
    assert tool.asked == [["exponentials"]]


def test_what_no_source_makes_is_removed(tool: ModuleType) -> None:
    (tool.CORE / "baseline" / "older.abi3.so").touch()
    tool.build_core(["baseline"])
    assert not list((tool.CORE / "baseline").glob("older.*"))


@pytest.mark.parametrize("kept", [b"", b"exponentials", b"\xff\n", None])
def test_without_a_record_that_can_be_read_nothing_is_built(tool: ModuleType, kept: bytes | None) -> None:
    record = tool.CORE / "baseline" / tool.RECORD
    record.unlink() if kept is None else record.write_bytes(kept)
    assert tool.find_stale("baseline", tool.digest_sources()) == ALL


def test_another_system_builds_everything(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout is copied into the containers in which wheels are made."""
    monkeypatch.setattr(tool.sysconfig, "get_platform", lambda: "linux-s390x")
    tool.build_core(["baseline"])
    monkeypatch.setattr(os, "confstr_names", {"CS_GNU_LIBC_VERSION": 2}, raising=False)
    monkeypatch.setattr(os, "confstr", lambda _: "glibc 1.0", raising=False)
    tool.build_core(["baseline"])
    monkeypatch.setattr(os, "confstr_names", {})
    tool.build_core(["baseline"])
    assert tool.asked == [ALL, ALL, ALL]


def test_other_tools_build_everything_but_only_where_something_is_built(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "3.99")
    assert tool.find_stale("baseline", tool.digest_sources()) == []
    tool.build_core(["baseline"])
    monkeypatch.setattr(tool, "find_compiler", lambda: "other")
    tool.build_core(["baseline"])
    assert tool.asked == [ALL, ALL]


def test_a_checkout_that_cannot_be_written_says_what_to_do(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    tool.renew("baseline")
    (tool.CORE / "exponentials.py").touch()
    tool.renew("baseline")
    (tool.CORE / "exponentials.py").write_text("", encoding="utf-8")
    with pytest.raises(ImportError, match=r"run `python .*build_core\.py baseline` as one who may write to .*core$"):
        tool.renew("baseline")


def test_a_python_that_cannot_build_is_refused(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    (tool.CORE / "baseline" / tool.RECORD).unlink()
    monkeypatch.setattr(tool.sysconfig, "get_path", lambda _: "nowhere")
    with pytest.raises(SystemExit, match=r"needs Python\.h: on Debian and Ubuntu install python3-dev"):
        tool.build_core(["baseline"])
    monkeypatch.setattr(tool.sysconfig, "get_config_var", {"Py_GIL_DISABLED": 1}.get)
    with pytest.raises(SystemExit, match="needs an ordinary Python: a free-threaded one"):
        tool.build_core(["baseline"])


def choose(
    monkeypatch: pytest.MonkeyPatch, named: str, there: set[str], system: str = "linux-x86_64", libc: str = "glibc"
) -> tuple[list[str], str, str]:
    """Return the last of the flags that are chosen for AVX2, twice, and the compiler that setuptools is given."""
    tool = load_tool(ROOT)
    monkeypatch.setattr(os, "environ", {"PATH": ""})
    monkeypatch.setattr(tool.sys, "executable", "python")
    monkeypatch.setattr(tool.platform, "machine", lambda: system.partition("-")[2])
    monkeypatch.setattr(tool.platform, "libc_ver", lambda: (libc, ""))
    monkeypatch.setattr(tool.sysconfig, "get_platform", lambda: system)
    monkeypatch.setattr(tool.sysconfig, "get_config_var", {"CC": named}.get)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    once, twice = tool.choose_flags("avx2"), tool.choose_flags("avx2")
    assert once == twice
    return once[len(tool.STRICT) :], os.environ.get("CC", ""), os.environ.get("LDSHARED", "")


COMMON, ZIG = ["-mavx2"], ["-mcpu=baseline+avx2"]


@pytest.mark.skipif(sys.platform == "win32", reason="setuptools looks for a compiler by itself")
def test_the_compiler_that_is_there_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(monkeypatch, "gcc -pthread", {"gcc", "clang"}) == (COMMON, "", "")
    assert choose(monkeypatch, "clang-99", {"gcc"}) == (COMMON, "gcc", "gcc -shared")
    slice_only = (["-Xarch_x86_64", *COMMON], "", "")
    assert choose(monkeypatch, "clang", {"clang"}, "macosx-11.0-universal2") == slice_only


@pytest.mark.skipif(sys.platform == "win32", reason="setuptools looks for a compiler by itself")
def test_zig_serves_where_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    zig = "python -m ziglang cc"
    old = f"{zig} -target x86_64-linux-gnu.2.17"
    assert choose(monkeypatch, "gcc", set()) == (ZIG, old, f"{old} -shared")
    assert choose(monkeypatch, "gcc", set(), libc="") == (ZIG, zig, f"{zig} -shared")
    assert choose(monkeypatch, "gcc", set(), "linux-armv7l") == (ZIG, zig, f"{zig} -shared")
