"""Models that MLflow has saved: the native model inside the folder. MLflow itself is not needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from safear.classifier.native_files import load_catboost, load_lightgbm, load_xgboost
from safear.classifier.onnx_models import load_onnx
from safear.classifier.reading import Trust, read_foreign, unreadable
from safear.classifier.skops_files import load_skops
from safear.errors import quote_list

DESCRIPTION = "MLmodel"
FLAVOURS: Mapping[str, tuple[str, Callable[[Path], Any] | None]] = {  # where each names its file, and who reads it
    "lightgbm": ("data", load_lightgbm),
    "xgboost": ("data", load_xgboost),
    "catboost": ("data", load_catboost),
    "onnx": ("data", load_onnx),
    "sklearn": ("pickled_model", None),
}
PICKLES = (".pkl", ".pickle", ".joblib")
SERVE = "serve it ('mlflow models serve -m FOLDER') and give its address, http://.../invocations"


def load_mlflow(folder: Path, trust: Trust) -> Any:
    """The model of a folder.

    Which types a skops file may hold is ours to know and the operator's to say: the list that MLflow keeps beside the
    model is not looked at. Pickles are never opened, whatever is trusted.
    """
    path = folder / DESCRIPTION
    if not path.is_file():
        raise unreadable(folder, f"this folder holds no MLflow model: it has no file {DESCRIPTION}", code="no_file")
    content = read_foreign(path, "an MLflow model", lambda: yaml.safe_load(path.read_text(encoding="utf-8")))
    flavours = content.get("flavors") if isinstance(content, dict) else None
    if not isinstance(flavours, dict):
        raise unreadable(path, "not an MLflow model: it lists no flavors")
    name = next((known for known in FLAVOURS if isinstance(flavours.get(known), dict)), None)
    if name is None:
        cause = f"this MLflow model has no flavor that we can read: {quote_list([str(other) for other in flavours])}"
        raise unreadable(path, cause, SERVE, code="unknown_format")
    key, load = FLAVOURS[name]
    file = _find_file(path, flavours[name].get(key))
    if file.suffix == ".skops":
        return load_skops(file, trust.types)
    if load is None or file.suffix in PICKLES:
        cause = "this MLflow model is a pickle, which can run any code when it is opened"
        remedy = f"save it with serialization_format='skops'; or {SERVE}"
        raise unreadable(path, cause, remedy, code="untrusted_pickle")
    return load(file)


def _find_file(path: Path, named: object) -> Path:
    """A file of the folder; one outside of it is none of the model's."""
    file = (path.parent / str(named)).resolve()
    if named is None or not file.is_relative_to(path.parent.resolve()) or not file.is_file():
        raise unreadable(path, f"the model's file '{named}' is not in its folder", code="no_file")
    return path.parent / str(named)
