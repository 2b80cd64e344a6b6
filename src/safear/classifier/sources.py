"""Classifiers from the command line: which form a source has, and who reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from safear.arguments import FILE, takes
from safear.classifier.adapters import as_classifier
from safear.classifier.decision_tables import load_csv, load_parquet
from safear.classifier.http_models import load_http
from safear.classifier.mlflow_folders import DESCRIPTION, load_mlflow
from safear.classifier.native_files import load_catboost, load_lightgbm, load_xgboost
from safear.classifier.onnx_models import load_onnx
from safear.classifier.pickles import load_pickle
from safear.classifier.protocol import Classifier
from safear.classifier.python_objects import load_object
from safear.classifier.reading import Trust, unreadable
from safear.classifier.skops_files import load_skops
from safear.files import explain
from safear.files.current_folder import keep_folder
from safear.problem.model import PROBLEM, Problem

TIME_LIMIT = 300.0  # seconds


class Form(NamedTuple):
    """How a kind of source is written, by the ends of its name, and what reads it."""

    written: str
    endings: tuple[str, ...]
    load: Callable[[Path, Trust], Any]


FORMS = (
    Form("FILE.skops", (".skops",), lambda path, trust: load_skops(path, trust.types)),
    Form("LightGBM's FILE.txt", (".txt",), lambda path, _: load_lightgbm(path)),
    Form("XGBoost's FILE.json or FILE.ubj", (".json", ".ubj"), lambda path, _: load_xgboost(path)),
    Form("CatBoost's FILE.cbm", (".cbm",), lambda path, _: load_catboost(path)),
    Form("FILE.onnx", (".onnx",), lambda path, _: load_onnx(path)),
    Form("a table of decisions FILE.csv or FILE.parquet", (".csv",), lambda path, _: load_csv(path)),
    Form("", (".parquet",), lambda path, _: load_parquet(path)),
    Form(
        "FILE.pkl or FILE.joblib with --trust-pickle",
        (".pkl", ".pickle", ".joblib"),
        lambda path, trust: load_pickle(path, trusted=trust.pickles),
    ),
)
WRITTEN = (
    *(form.written for form in FORMS if form.written),
    "an MLflow FOLDER",
    "an address http://... or https://...",
)
KNOWN = f"use {', '.join(WRITTEN)}, or a Python object MODULE:NAME or FILE.py:NAME"
REMOTE = ("models:/", "runs:/", "mlflow-artifacts:/", "s3://", "gs://")


@takes(source=FILE, problem=PROBLEM)
def load_classifier(
    source: str | Path,
    problem: Problem,
    *,
    trust: Sequence[str] = (),
    trust_pickle: bool = False,
    time_limit: float | None = TIME_LIMIT,
) -> Classifier:
    """The classifier that `source` names (see FORMS).

    `trust` lists further types that a skops file may hold. `trust_pickle` allows pickles, which run their code.
    `time_limit` is how many seconds it may take for a question.
    """
    source = str(source)
    if source.lower().startswith(("http://", "https://")):  # has its time limit for each request, not for all of them
        return as_classifier(load_http(source, time_limit), problem)
    with keep_folder():
        found = _load(source, Trust(types=trust, pickles=trust_pickle))
        return as_classifier(found, problem, time_limit=time_limit)


def _load(source: str, trust: Trust) -> Any:
    path = Path(source)
    if source.startswith(REMOTE):
        remedy = "download it ('mlflow artifacts download -u ADDRESS -d FOLDER') and name the folder"
        raise unreadable(source, "we fetch no models", remedy, code="unknown_format")
    if "://" in source:
        cause, remedy = "of addresses, only http://... and https://... are taken", "download it and name the file"
        raise unreadable(source, cause, remedy, code="unknown_format")
    try:
        is_folder = bool(source) and path.is_dir()
    except OSError as error:  # the name is too long, or nobody may look there
        raise unreadable(source, explain(error)) from error
    if is_folder or path.name == DESCRIPTION:
        return load_mlflow(path if is_folder else path.parent, trust)
    for form in FORMS:
        if path.suffix.lower() in form.endings:
            return form.load(path, trust)
    if ":" in source:
        return load_object(source)
    raise unreadable(source, "this is not a form of classifier that we know", KNOWN, code="unknown_format")
