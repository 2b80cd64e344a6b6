"""The modules of the commands."""

from __future__ import annotations

from pathlib import Path

import safear as sa
from safear.cli.main import MODULES


def test_every_module_of_a_command_is_loaded_from() -> None:
    """One whose command is not listed would never run."""
    shared = {
        "__init__",
        "letter",
        "main",
        "options",
        "outputs",
        "person_options",
        "render",
        "render_audit",
        "results",
        "saving",
        "sources",
        "stopping",
        "verbose",
    }
    modules = {path.stem for path in (Path(sa.__file__).parent / "cli").glob("*.py")}
    assert modules - shared == set(MODULES.values())
