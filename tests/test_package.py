"""The public surface, and rules that hold for all of the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import safear as sa

SOURCE = Path(sa.__file__).parent


def test_the_public_surface_is_one_sorted_list() -> None:
    assert sa.__all__ == sorted(sa.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


def test_every_public_name_is_there_and_documented() -> None:
    for name in sa.__all__:
        value = getattr(sa, name)
        assert name == "__version__" or value.__doc__, name
    assert set(dir(sa)) == set(sa.__all__)


def test_type_checkers_see_what_is_loaded_late() -> None:
    """The imports for type checkers and the table for run time say the same."""
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == sa._HOMES
    assert {*seen, "__version__"} == set(sa.__all__)


def test_unknown_names_are_attribute_errors() -> None:
    assert not hasattr(sa, "nothing_like_this")


def test_import_is_light() -> None:
    """`import safear` and `--help` load neither NumPy, pandas nor pydantic."""
    code = (
        "import sys, safear, safear.cli.main; print([m for m in ('numpy', 'pandas', 'pydantic') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.strip() == "[]"


def test_the_library_neither_prints_nor_asserts() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*assert ", text, re.MULTILINE), path
        assert not re.search(r"^\s*print\(", text, re.MULTILINE), path
        # DiCE draws from the global generators: that module seeds them around its call and puts their states back.
        assert "np.random.seed" not in text or path.name == "dice.py", path


def test_files_stay_small() -> None:
    sizes = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name: size for name, size in sizes.items() if size > 420} == {}
