"""Build the compiled core: `python tools/build_core.py [BUILD ...]`, or `--needs` for what must be installed first.

Cython writes C from src/safear/core/*.py, with the types in the .pxd beside each, and a C compiler builds it, several
times from one source. Each build has a folder of its own in src/safear/core:

    avx2      for x86-64 processors of the last ten years, which add four numbers at a time
    baseline  for every processor
    checked   with each index checked, and whether whole numbers overflow, for `make test-bounds`
    asan      with gcc's AddressSanitizer, for `make test-asan`

Where there is no C compiler, the one in the package ziglang serves. What is up to date stays as it is. Each import in a
checkout asks this file whether it is, so what only building needs is imported late.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "src" / "safear" / "core"
NEEDS = ("cython>=3.2", "setuptools>=77")
ZIG = "ziglang>=0.15"
SHARED = "safear.core.shared"  # what all modules have from Cython, once
RECORD = "built.txt"  # in the folder of a build: what its modules were made from, and "with" which tools
RENEWAL = '''"""Written by tools/build_core.py into a checkout: its core is built again when its sources change."""

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

tool = Path(__file__).resolve().parents[3] / "tools" / "build_core.py"
if not tool.exists():
    raise ImportError(f"{__file__} is for a whole checkout, and there is no {tool}: copy that too, or remove this file")
module = ModuleType("build_core")
module.__file__ = str(tool)
SourceFileLoader("build_core", str(tool)).exec_module(module)
renew = module.renew
'''
DIRECTIVES: dict[str, int] = {
    "language_level": 3,
    "infer_types": True,
    "annotation_typing": False,  # the types are in the .pxd
    "cdivision": True,
    "binding": False,
    "auto_pickle": False,
}
UNCHECKED: dict[str, int] = {"boundscheck": False, "wraparound": False, "initializedcheck": False}
CHECKED: dict[str, int] = {**dict.fromkeys(UNCHECKED, True), "wraparound": False, "overflowcheck": True}
LIMITED = [("Py_LIMITED_API", "0x030B0000"), ("CYTHON_LIMITED_API", "1")]  # one build for every Python from 3.11 on
# The same bytes everywhere: no sum in another order, no product and sum rounded as one.
STRICT = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"]
PROCESSORS = {  # what a build is for, in the words of a common compiler, of zig, and of Microsoft's
    "avx2": (["-mavx2"], ["-mcpu=baseline+avx2"], ["/arch:AVX2"]),
    "baseline": ([], ["-mcpu=baseline"], []),
    "checked": ([], ["-mcpu=baseline"], []),
    "asan": (["-fsanitize=address", "-O1", "-g1"], [], []),
}


def list_builds() -> list[str]:
    """Return the builds that a wheel for this machine has."""
    return ["avx2", "baseline"] if platform.machine().lower() in {"x86_64", "amd64"} else ["baseline"]


def name_compiler() -> str:
    """Return the C compiler that setuptools takes by itself."""
    return os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"


@cache  # once, since building tells setuptools to take what was found
def find_compiler() -> str:
    """Return this machine's C compiler, or nothing if it has none. On Windows setuptools looks for one by itself."""
    import shutil

    names = (name_compiler(), "cc", "gcc", "clang")
    return next((name for name in names if os.name == "nt" or shutil.which(shlex.split(name)[0])), "")


def list_needs() -> list[str]:
    """Return the packages that building takes, as requirements."""
    return [*NEEDS, *([] if find_compiler() else [ZIG])]


# ------------------------------------------------------------------------------------------------------------- digests


def list_types(name: str, texts: Mapping[str, bytes]) -> set[str]:
    """Return the modules whose types a module takes, its own among them."""
    found, waiting = set[str](), [name]
    while waiting:
        found.add(here := waiting.pop())
        names = re.findall(rb"from safear\.core\.(\w+) cimport", texts[here])
        waiting += {each.decode() for each in names} & set(texts) - found
    return found


def digest_sources() -> dict[str, str]:
    """Return a digest of all that each compiled module is made from, and of the system that it is for."""
    libc = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", ()) else ""
    common = [f"{sysconfig.get_platform()} {libc}".encode(), Path(__file__).read_bytes()]
    found = {"shared": hashlib.sha256(b"\0".join(common)).hexdigest()}
    texts = {path.stem: path.read_bytes() for path in CORE.glob("*.pxd")}
    for name in texts:
        parts = [(CORE / f"{name}.py").read_bytes(), *(texts[each] for each in sorted(list_types(name, texts)))]
        found[name] = hashlib.sha256(b"\0".join([*common, *parts])).hexdigest()
    return found


def read_record(build: str) -> dict[str, str]:
    """Return what the modules of a build were made from; if that cannot be read, none is built."""
    try:
        return dict(line.split(" ", 1) for line in (CORE / build / RECORD).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError):
        return {}


def write_record(build: str, built: Mapping[str, str]) -> None:
    """Write it in one step, since whoever imports the core reads it at any time."""
    record = CORE / build / RECORD
    fresh = record.with_suffix(".new")
    fresh.write_text("".join(f"{name} {digest}\n" for name, digest in built.items()), encoding="utf-8")
    fresh.replace(record)


def find_stale(build: str, digests: Mapping[str, str]) -> list[str]:
    """Return the modules that must be built, in the order of their names."""
    built, there = read_record(build), {path.name.partition(".")[0] for path in (CORE / build).glob("*.*")}
    return sorted(name for name, digest in digests.items() if built.get(name) != digest or name not in there)


# ------------------------------------------------------------------------------------------------------------ building


def write_c(names: list[str], folder: Path, directives: Mapping[str, int]) -> None:
    """Have Cython write the C of some modules."""
    arguments = [f"-X{key}={value}" for key, value in directives.items()]
    cython = [sys.executable, "-m", "cython", *arguments]
    for name in names:
        target = str(folder / f"{name}.c")
        if name == "shared":
            run([*cython, f"--generate-shared={target}"])
        else:
            module = f"--module-name=safear.core.{name}"
            run([*cython, f"--shared={SHARED}", module, "-I", str(CORE.parents[1]), "-o", target, f"{name}.py"], CORE)


def run(command: list[str], folder: Path = ROOT) -> None:
    """Run a program; what it says is shown only if it fails."""
    import subprocess

    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")


def choose_flags(build: str) -> list[str]:
    """Return the flags of a build, and have setuptools take the C compiler that was found, or zig."""
    common, zig, microsoft = PROCESSORS[build]
    compiler = find_compiler()
    if not compiler:
        # Wheels for old systems; elsewhere (not tried yet: musl, ARM of 32 bits, POWER) zig takes this machine's.
        is_known = platform.libc_ver()[0] == "glibc" and platform.machine() in {"x86_64", "aarch64"}
        target = ["-target", f"{platform.machine()}-linux-gnu.2.17"] if is_known else []
        common, compiler = zig, shlex.join([sys.executable, "-m", "ziglang", "cc", *target])
    elif sysconfig.get_platform().endswith("universal2"):  # not for the half that is for ARM; not tried yet
        common = [word for flag in common for word in ("-Xarch_x86_64", flag)]
    if compiler != name_compiler():
        link = "-shared -undefined dynamic_lookup" if sys.platform == "darwin" else "-shared"
        os.environ |= {"CC": compiler, "LDSHARED": f"{compiler} {link}"}
    return ["/O2", "/fp:precise", *microsoft] if os.name == "nt" else STRICT + common


def compile_c(names: list[str], folder: Path, build: str) -> None:
    """Compile the C of some modules, and put the results where they are looked for."""
    from setuptools import Distribution, Extension

    flags = choose_flags(build)
    modules = [
        Extension(
            f"safear.core.{name}",
            [str((folder / f"{name}.c").relative_to(ROOT))],
            define_macros=LIMITED,
            py_limited_api=True,
            extra_compile_args=flags,
        )
        for name in names
    ]
    command = Distribution({"name": "safear", "ext_modules": modules}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(folder / build / "lib"), str(folder / build)
    command.parallel, command.force = os.cpu_count(), True
    command.ensure_finalized()
    command.run()
    for name in names:
        found = Path(command.get_ext_fullpath(f"safear.core.{name}"))
        found.replace(CORE / build / found.name)


def build_core(builds: list[str]) -> None:
    """Build what is not up to date. Several processes may ask at once: the first builds, and the others wait."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("building SafeAR needs an ordinary Python: a free-threaded one does not have the limited API")
    from importlib.metadata import version

    tools = f"Cython {version('cython')}, {find_compiler() or 'zig'}"
    work = ROOT / "build" / "core"
    work.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    with (work / "lock").open("w") as lock:
        if os.name != "nt":  # there, nobody else builds
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        digests = digest_sources()  # once, before building: what is edited meanwhile is built the next time
        written: dict[str, set[str]] = {}
        for build in builds:
            (CORE / build).mkdir(exist_ok=True)
            for path in (CORE / build).glob("*.*"):
                if path.name != RECORD and path.name.partition(".")[0] not in digests:
                    path.unlink()
            built = read_record(build)
            stale = find_stale(build, digests) if built.get("with") == tools else sorted(digests)
            if not stale:
                continue
            if not Path(sysconfig.get_path("include"), "Python.h").exists():
                sys.exit("building SafeAR needs Python.h: on Debian and Ubuntu install python3-dev")
            kind = "checked" if build == "checked" else "unchecked"
            folder = work / kind
            folder.mkdir(exist_ok=True)
            fresh = [name for name in stale if name not in written.setdefault(kind, set())]
            write_c(fresh, folder, DIRECTIVES | (CHECKED if kind == "checked" else UNCHECKED))
            written[kind].update(fresh)
            write_record(build, {name: built[name] for name in built if name not in stale})  # if this is interrupted
            compile_c(stale, folder, build)
            write_record(build, {"with": tools, **digests})


def renew(build: str) -> None:
    """Build again what was edited; a checkout asks for it when the core is imported."""
    if not find_stale(build, digest_sources()):
        return
    if not os.access(CORE, os.W_OK):
        raise ImportError(f"the core is not up to date: run `python {__file__} {build}` as one who may write to {CORE}")
    import subprocess

    sys.stderr.write("safear: building the compiled core again, since it is not up to date\n")
    done = subprocess.run([sys.executable, __file__, build], check=False)  # noqa: S603
    if done.returncode:
        raise ImportError("the compiled core cannot be built: see above, and install what `make .venv/.base` does")


def write_renewal() -> None:
    """Have this checkout's core renew itself."""
    (CORE / "_renew.py").write_text(RENEWAL, encoding="utf-8")


def main() -> None:
    """Build what is asked for; without a name, what a wheel for this machine has."""
    import argparse

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", choices=[[], *PROCESSORS], metavar="BUILD", help=", ".join(PROCESSORS))
    parser.add_argument("--needs", action="store_true", help="print what must be installed first, and end")
    asked = parser.parse_args()
    if asked.needs:
        sys.stdout.write("".join(f"{need}\n" for need in list_needs()))
    else:
        build_core(asked.builds or list_builds())


if __name__ == "__main__":
    main()
