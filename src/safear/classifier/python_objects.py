"""Python objects by name: MODULE:NAME or FILE.py:NAME. This runs that code."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from safear.classifier.protocol import RAISED, tell_error
from safear.classifier.reading import on_path, require_file, unreadable
from safear.errors import suggest

FILE_MODULE = "_safear_classifier_"  # how the modules of Python files are called


def load_object(source: str) -> Any:
    """What a module or a Python file has under a name."""
    place, _, name = source.rpartition(":")
    if not place:
        raise unreadable(source, "the module is missing", "write MODULE:NAME or FILE.py:NAME")
    value: Any = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    for part in name.split("."):
        if not hasattr(value, part):
            known = [other for other in getattr(value, "__dict__", ()) if not other.startswith("_")]
            raise unreadable(source, f"'{place}' has no '{part}'", suggest(part, known))
        value = getattr(value, part)
    return value


def _import_module(name: str) -> ModuleType:
    try:
        with on_path(Path.cwd()):  # as `python -m` does
            return importlib.import_module(name)
    except RAISED as error:  # the user's own code may raise anything
        remedy = "name a module that Python finds, or a file: FILE.py:NAME" if isinstance(error, ImportError) else None
        raise unreadable(name, f"cannot be imported: {tell_error(error)}", remedy) from error


def _import_file(path: Path) -> ModuleType:
    require_file(path)
    name = f"{FILE_MODULE}{path.stem}"  # no clash with a module that is installed
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise unreadable(path, "cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look themselves up there
    try:
        with on_path(path.parent.resolve()):
            spec.loader.exec_module(module)
    except RAISED as error:  # the user's own code may raise anything
        raise unreadable(path, f"cannot be imported: {tell_error(error)}") from error
    return module
