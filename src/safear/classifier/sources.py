"""Classifiers from the command line: a skops file, a CSV table of decisions, or a Python object by name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from safear.classifier.adapters import as_classifier
from safear.classifier.protocol import Classifier
from safear.errors import ClassifierError, MissingExtraError, Place, quote_list, suggest
from safear.problem.model import Problem

FORMS = "use FILE.skops, a table of decisions FILE.csv, or a Python object MODULE:NAME or FILE.py:NAME"
FILE_MODULE = "_safear_classifier_"  # how the modules of Python files are called


def load_classifier(source: str, problem: Problem, *, trust: Sequence[str] = ()) -> Classifier:
    """The classifier that `source` names (see FORMS). `trust` lists further types that a skops file may hold."""
    path = Path(source)
    match path.suffix.lower():
        case ".skops":
            return as_classifier(_load_skops(path, trust), problem)
        case ".csv":
            return as_classifier(_load_csv(path), problem)
        case ".pkl" | ".pickle" | ".joblib":
            raise _error(source, "a pickle can run any code when it is opened", f"save the model with skops; {FORMS}")
    if ":" in source:
        return as_classifier(_load_object(source), problem)
    raise _error(source, "this is not a form of classifier that we know", FORMS, code="unknown_format")


def _load_csv(path: Path) -> Any:
    import pandas as pd  # noqa: PLC0415  # only those who read a table wait for it

    _require_file(path)
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise _error(str(path), f"not a CSV table: {error}") from None


def _load_skops(path: Path, trust: Sequence[str]) -> Any:
    try:
        from skops import io  # noqa: PLC0415  # an optional dependency
    except ImportError:
        raise MissingExtraError("skops", "skops") from None
    _require_file(path)
    try:
        untrusted = [name for name in io.get_untrusted_types(file=path) if name not in trust]
        with _on_path(Path.cwd()):
            model = None if untrusted else io.load(path, trusted=list(trust))
    except Exception as error:  # a broken or foreign file can fail anywhere inside skops
        raise _error(str(path), f"not a skops model: {type(error).__name__}: {error}") from error
    if untrusted:
        remedy = "if you know them, add " + " ".join(f"--trust {name}" for name in untrusted)
        raise _error(str(path), f"holds types that are not known to be safe: {quote_list(untrusted)}", remedy)
    return model


def _load_object(source: str) -> Any:
    place, _, name = source.rpartition(":")
    if not place:
        raise _error(source, "the module is missing", FORMS)
    value: Any = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    for part in name.split("."):
        if not hasattr(value, part):
            known = [other for other in getattr(value, "__dict__", ()) if not other.startswith("_")]
            raise _error(source, f"'{place}' has no '{part}'", suggest(part, known))
        value = getattr(value, part)
    return value


def _import_module(name: str) -> ModuleType:
    try:
        with _on_path(Path.cwd()):  # as `python -m` does
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # the user's own code may raise anything
        raise _error(name, f"cannot be imported: {type(error).__name__}: {error}", FORMS) from error


def _import_file(path: Path) -> ModuleType:
    _require_file(path)
    name = f"{FILE_MODULE}{path.stem}"  # no clash with a module that is installed
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _error(str(path), "cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look themselves up there
    try:
        with _on_path(path.parent.resolve()):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's own code may raise anything
        raise _error(str(path), f"cannot be imported: {type(error).__name__}: {error}") from error
    return module


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    """Let Python find modules in a folder for a while."""
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)


def _require_file(path: Path) -> None:
    if not path.is_file():
        raise _error(str(path), "no such file", code="no_file")


def _error(file: str, cause: str, remedy: str | None = None, *, code: str = "unreadable") -> ClassifierError:
    return ClassifierError.at(Place(file=file), cause, remedy, code=code)
