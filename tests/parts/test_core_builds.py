"""The builds of the compiled core: which one serves, and that an edited kernel is built again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOOK = """
import numpy as np
from safear.core import BUILD
from safear.core.ahead import sweep_ahead
from safear.core.arrays import Arrays

whole, small = (lambda *x: np.array(x, np.int64)), np.zeros(1, np.uint8)
arrays = Arrays(whole(0, 1, 1), small, whole(0, 1), whole(1), np.array([0.5]), whole(4), small)
mean, success = np.zeros((2, 2)), np.array([[0.0, 1.0], [0.0, 1.0]])
sweep_ahead(arrays, np.array([[1, 0]], np.uint8), mean, success)
print(BUILD, mean[0, 0], success[0, 0])
"""


def look(source: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Ask the core in a folder for the least mean and the highest success of one step."""
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
    assert look(ROOT / "src", SAFEAR_CORE=build).stdout == f"{build} 2.0 0.5\n"


def test_a_build_that_nobody_knows_is_refused() -> None:
    told = look(ROOT / "src", SAFEAR_CORE="fast").stderr
    assert "ImportError: $SAFEAR_CORE is 'fast': SafeAR's core has the builds avx2, baseline, checked, python" in told


def copy_core(folder: Path, *without: str) -> None:
    """Copy the core, and nothing else of the package."""
    source = ROOT / "src" / "safear" / "core"
    shutil.copytree(source, folder / "safear" / "core", ignore=shutil.ignore_patterns("__pycache__", *without))
    (folder / "safear" / "__init__.py").touch()


def test_sources_do_not_stand_in_for_a_build_that_is_missing(tmp_path: Path) -> None:
    """They are some thousand times slower: nobody should be served so without a word."""
    copy_core(tmp_path, "baseline", "_renew.py")
    told = look(tmp_path, SAFEAR_CORE="baseline").stderr
    assert "SafeAR was installed without the build 'baseline' of its compiled core: install it again" in told


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the core with what builds it, up to date."""
    copy_core(tmp_path / "src")
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "build_core.py", tmp_path / "tools")
    code = "import build_core; build_core.write_renewal()"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "tools", check=True)
    return tmp_path


def test_an_edited_kernel_is_built_again(checkout: Path) -> None:
    kernel = checkout / "src" / "safear" / "core" / "ahead.py"
    before = look(checkout / "src", SAFEAR_CORE="baseline")
    assert (before.stdout, before.stderr) == ("baseline 2.0 0.5\n", "")
    text = kernel.read_text(encoding="utf-8")
    kernel.write_text(text.replace("wins += chance *", "wins += 0.5 * chance *"), encoding="utf-8")
    after = look(checkout / "src", SAFEAR_CORE="baseline")
    assert after.stdout == "baseline 2.0 0.25\n"
    assert after.stderr == "safear: building the compiled core again, since its sources have changed\n"
    kernel.write_text(text.replace("least, most = INF, 0.0", "least, most = INF, nothing"), encoding="utf-8")
    broken = look(checkout / "src", SAFEAR_CORE="baseline")
    assert re.search(r"ahead\.py:\d+:\d+: ", broken.stderr)
    assert "ImportError: the compiled core cannot be built: see above" in broken.stderr
