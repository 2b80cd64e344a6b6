"""Pickled models, with pickle or joblib: opened only if the operator says so, because opening one runs its code."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

from safear.classifier.reading import on_path, read_foreign, require_file, unreadable

logger = logging.getLogger("safear")


def load_pickle(path: Path, *, trusted: bool) -> Any:
    """The model of a pickle, if it is trusted."""
    require_file(path)
    if not trusted:
        cause = "a pickle can run any code when it is opened"
        remedy = "save the model with skops; or, if you trust whoever made this file like a program, add --trust-pickle"
        raise unreadable(path, cause, remedy, code="untrusted_pickle")
    logger.warning("%s: opening a pickle runs whatever code is in it, with all your rights", path)
    with on_path(Path.cwd()):  # for the functions and classes of the user's own that it names
        return read_foreign(path, "a pickle that can be opened here", lambda: _read(path))


def _read(path: Path) -> Any:
    try:
        import joblib  # noqa: PLC0415  # it comes with scikit-learn, and reads plain pickles too
    except ImportError:
        with path.open("rb") as file:
            return pickle.load(file)  # noqa: S301  # the operator trusts it
    return joblib.load(path)
