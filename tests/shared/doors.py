"""Side doors: the names inside the package by which tests enter it, each listed once, in `doors.pyi`.

A test uses a public name where there is one: those of `safear` and its public modules, the program, the server. Whoever
moves a module changes its lines in the stub and no test. The list may only shrink (`parts/test_layout.py`). Names are
loaded on first use: a test of one module does not pay for the others.
"""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
HOMES = {
    alias.asname: (str(node.module), alias.name)
    for node in STUB.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}


def __getattr__(name: str) -> Any:
    """Load a name, or a module."""
    if name not in HOMES:
        raise AttributeError(f"module 'doors' has no attribute '{name}'")
    home, inside = HOMES[name]
    is_package = find_spec(home).submodule_search_locations is not None  # type: ignore[union-attr]
    return import_module(f"{home}.{inside}") if is_package else getattr(import_module(home), inside)
