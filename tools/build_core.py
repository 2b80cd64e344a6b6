"""Build the compiled core: `python tools/build_core.py [BUILD ...]`, or `--needs` for what must be installed first.

Cython writes C from src/safear/core/*.py, with the types in the .pxd beside each, and a C compiler builds it, several
times from one source. Each build has a folder of its own in src/safear/core:

    avx2      for x86-64 processors of the last ten years, which add four numbers at a time
    baseline  for every processor
    checked   with each index checked, for `make test-bounds`

Where there is no C compiler, the one in the package ziglang serves. What is up to date stays as it is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "src" / "safear" / "core"
NEEDS = ("cython>=3.2", "setuptools>=77")
ZIG = "ziglang>=0.15"
SHARED = "safear.core.shared"  # what all modules have from Cython, once
RENEW = CORE / "_renew.py"
DIRECTIVES: dict[str, int] = {
    "language_level": 3,
    "infer_types": True,
    "annotation_typing": False,  # the types are in the .pxd
    "cdivision": True,
    "binding": False,
    "auto_pickle": False,
}
UNCHECKED: dict[str, int] = {"boundscheck": False, "wraparound": False, "initializedcheck": False}
CHECKED: dict[str, int] = {"boundscheck": True, "wraparound": False, "initializedcheck": True}
LIMITED = [("Py_LIMITED_API", "0x030B0000"), ("CYTHON_LIMITED_API", "1")]  # one build for every Python from 3.11 on
# The same bytes everywhere: no sum in another order, no product and sum rounded as one.
STRICT = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"]
PROCESSORS = {  # what a build is for, in the words of a common compiler, of zig, and of Microsoft's
    "avx2": (["-march=x86-64-v3"], ["-mcpu=x86_64_v3"], ["/arch:AVX2"]),
    "baseline": ([], ["-mcpu=baseline"], []),
    "checked": ([], ["-mcpu=baseline"], []),
}


def list_builds() -> list[str]:
    """Return the builds that a wheel for this machine has."""
    return ["avx2", "baseline"] if platform.machine().lower() in {"x86_64", "amd64"} else ["baseline"]


def has_compiler() -> bool:
    """Return whether this machine has a C compiler. On Windows setuptools looks for one by itself."""
    named = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return os.name == "nt" or any(shutil.which(name) for name in (shlex.split(named)[0], "cc", "gcc", "clang"))


def list_needs() -> list[str]:
    """Return the packages that building takes, as requirements."""
    return [*NEEDS, *([] if has_compiler() else [ZIG])]


# ------------------------------------------------------------------------------------------------------------- digests


def list_modules() -> list[str]:
    """Return the names of the modules that are compiled."""
    return sorted(path.stem for path in CORE.glob("*.pxd"))


def list_types(name: str) -> set[str]:
    """Return the modules whose types a module takes, its own among them."""
    found, waiting = set[str](), [name]
    while waiting:
        here = waiting.pop()
        found.add(here)
        text = (CORE / f"{here}.pxd").read_text(encoding="utf-8")
        waiting += set(re.findall(r"from safear\.core\.(\w+) cimport", text)) - found
    return found


def digest_sources() -> dict[str, str]:
    """Return a digest of all that each compiled module is made from."""
    common = Path(__file__).read_bytes()
    found = {"shared": hashlib.sha256(common).hexdigest()}
    for name in list_modules():
        parts = [CORE / f"{name}.py", *sorted(CORE / f"{each}.pxd" for each in list_types(name))]
        found[name] = hashlib.sha256(b"".join([common, *(path.read_bytes() for path in parts)])).hexdigest()
    return found


def find_stale(build: str) -> list[str]:
    """Return the modules that must be built, in the order of their names."""
    record = CORE / build / "built.json"
    built = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    return sorted(name for name, digest in digest_sources().items() if built.get(name) != digest)


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
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")


def compile_c(names: list[str], folder: Path, build: str) -> None:
    """Compile the C of some modules, and put the results where they are looked for."""
    from setuptools import Distribution, Extension

    has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    if not has_headers:
        sys.exit("building SafeAR needs Python.h: on Debian and Ubuntu install python3-dev")
    common, zig, microsoft = PROCESSORS[build]
    is_zig = not has_compiler()
    if is_zig:
        target = [] if sys.platform == "darwin" else ["-target", f"{platform.machine()}-linux-gnu.2.17"]
        os.environ["CC"] = shlex.join([sys.executable, "-m", "ziglang", "cc", *target])
        os.environ["LDSHARED"] = f"{os.environ['CC']} -shared"
    flags = ["/O2", "/fp:precise", *microsoft] if os.name == "nt" else STRICT + (zig if is_zig else common)
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
    target_folder = CORE / build
    target_folder.mkdir(exist_ok=True)
    for name in names:
        found = Path(command.get_ext_fullpath(f"safear.core.{name}"))
        found.replace(target_folder / found.name)


def wait_for(lock: IO[str]) -> None:
    """Wait until no other process has a lock; on Windows nobody else builds."""
    if os.name != "nt":
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)


def build_core(builds: list[str]) -> None:
    """Build what is not up to date. Several processes may ask at once: the first builds, and the others wait."""
    work = ROOT / "build" / "core"
    work.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    with (work / "lock").open("w") as lock:
        wait_for(lock)
        written: dict[str, set[str]] = {}
        for build in builds:
            stale = find_stale(build)
            if not stale:
                continue
            kind = "checked" if build == "checked" else "unchecked"
            folder = work / kind
            folder.mkdir(exist_ok=True)
            fresh = [name for name in stale if name not in written.setdefault(kind, set())]
            write_c(fresh, folder, DIRECTIVES | (CHECKED if kind == "checked" else UNCHECKED))
            written[kind].update(fresh)
            compile_c(stale, folder, build)
            left = {path.name.partition(".")[0] for path in (CORE / build).glob("*.*")} - {"built", *digest_sources()}
            for name in left:
                for path in (CORE / build).glob(f"{name}.*"):
                    path.unlink()
            record = CORE / build / "built.json"
            record.write_text(json.dumps(digest_sources(), indent=0), encoding="utf-8")


def renew(build: str) -> None:
    """Build again what was edited; a checkout asks for it when the core is imported."""
    if not find_stale(build):
        return
    sys.stderr.write("safear: building the compiled core again, since its sources have changed\n")
    done = subprocess.run([sys.executable, __file__, build], check=False)  # noqa: S603
    if done.returncode:
        raise ImportError("the compiled core cannot be built: see above, and install what `make .venv/.base` does")


def write_renewal() -> None:
    """Have this checkout's core renew itself."""
    RENEW.write_text(
        '"""Written by tools/build_core.py into a checkout: its core is built again when its sources change."""\n\n'
        f"from runpy import run_path\n\nrenew = run_path({str(Path(__file__))!r})['renew']\n",
        encoding="utf-8",
    )


def main() -> None:
    """Build what is asked for; without a name, what a wheel for this machine has."""
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
