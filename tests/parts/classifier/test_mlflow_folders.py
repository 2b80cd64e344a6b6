"""Models that the real MLflow has saved."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml

import safear as sa
from doors import Splits
from heavy import require
from parts.classifier.test_columns import filed, make_problem
from small_sources import refusal
from trained_models import MODELS, applications, ask_directly, trained

TRUSTED = ["sklearn.tree._tree.Tree", "numpy.dtype"]  # which MLflow asks for, to no purpose of ours
KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "scikit-learn": ("sklearn", "one-hot forest", {"serialization_format": "skops", "skops_trusted_types": TRUSTED}),
    "LightGBM": ("lightgbm", "LightGBM", {}),
    "LightGBM's Booster": ("lightgbm", "LightGBM booster", {}),
    "XGBoost": ("xgboost", "XGBoost", {}),
    "XGBoost's Booster": ("xgboost", "XGBoost booster", {}),
    "XGBoost as JSON": ("xgboost", "XGBoost", {"model_format": "json"}),
    "CatBoost": ("catboost", "CatBoost", {}),
}


def save(kind: str, folder: Path) -> str:
    """Have MLflow save a model, and say which it is."""
    flavour, name, options = KINDS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module, model = require(f"mlflow.{flavour}"), trained(name)
        module.save_model(model, str(folder), pip_requirements=[], **options)
    return name


@pytest.mark.parametrize("file", ["", "MLmodel"], ids=["folder", "description"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_decides_like_the_model_inside(kind: str, file: str, tmp_path: Path) -> None:
    folder, problem = tmp_path / "model", make_problem()
    name = save(kind, folder)
    frame = applications(100, seed=7)
    frame = MODELS[name][0](frame) if "CatBoost" in name else frame
    classifier: Any = sa.load_classifier(str(folder / file), problem)
    assert classifier.favourable(filed(frame, problem)).tolist() == ask_directly(name, frame)
    splits: Splits = classifier.splits(filed(frame, problem).frame())
    assert splits is not None


def test_an_onnx_model_inside(tmp_path: Path) -> None:
    from parts.classifier.test_onnx_models import NUMBERS, matrix_model, numbers_inputs, numbers_problem  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, _ = matrix_model("forest", tmp_path / "model.onnx")
        saved = require("onnx").load(tmp_path / "model.onnx")
        require("mlflow.onnx").save_model(saved, str(tmp_path / "folder"), pip_requirements=[])
    frame = applications(50, seed=7, gaps=False)
    classifier = sa.load_classifier(str(tmp_path / "folder"), numbers_problem(favourable="1"))
    answers = classifier.favourable(numbers_inputs(frame))
    assert answers.tolist() == (model.predict(frame[NUMBERS].to_numpy(dtype="float32")) == 1).tolist()


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("form", ["cloudpickle", "pickle"])
def test_a_pickle_is_never_opened(form: str, trust: bool, tmp_path: Path) -> None:
    """Whatever is trusted: MLflow has better ways."""
    folder = tmp_path / "model"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flavour = require("mlflow.sklearn")
        flavour.save_model(trained("one-hot forest"), str(folder), serialization_format=form, pip_requirements=[])
    (folder / "model.pkl").write_bytes(b"cos\nmkdir\n(S'" + str(tmp_path / "opened").encode() + b"'\ntR.")
    assert refusal(folder, trust_pickle=trust) == (
        f"{folder / 'MLmodel'}: this MLflow model is a pickle, which can run any code when it is opened\n"
        "    save it with serialization_format='skops'; or serve it ('mlflow models serve -m FOLDER') and give its "
        "address, http://.../invocations"
    )
    assert not (tmp_path / "opened").exists()


# ------------------------------------------------------------------------------------------------ without the library


def describe(folder: Path, content: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "MLmodel").write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return folder


@pytest.mark.parametrize(
    "content, told",
    [
        ("- a: [", "not an MLflow model: "),
        ("just words", "not an MLflow model: it lists no flavors"),
        ({"flavors": ["sklearn"]}, "not an MLflow model: it lists no flavors"),
        (
            {"flavors": {"python_function": {}, "tensorflow": {}}},
            "this MLflow model has no flavor that we can read: 'python_function', 'tensorflow'\n    serve it ",
        ),
        ({"flavors": {"lightgbm": {"data": "model.lgb"}}}, "the model's file 'model.lgb' is not in its folder"),
        ({"flavors": {"lightgbm": {}}}, "the model's file 'None' is not in its folder"),
        ({"flavors": {"lightgbm": {"data": "../other.txt"}}}, "the model's file '../other.txt' is not in its folder"),
        ({"flavors": {"sklearn": {"pickled_model": "model.bin"}}}, "this MLflow model is a pickle"),
    ],
)
def test_a_folder_that_cannot_be_read(content: object, told: str, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("a file of somebody else")
    folder = describe(tmp_path / "model", content)
    (folder / "model.bin").write_text("")
    assert refusal(folder).startswith(f"{folder / 'MLmodel'}: {told}")


def test_a_lightgbm_file_that_was_cut_off_in_a_folder(tmp_path: Path) -> None:
    folder = describe(tmp_path / "model", {"flavors": {"lightgbm": {"data": "model.lgb"}}})
    whole = trained("LightGBM").booster_.model_to_string()
    (folder / "model.lgb").write_text(whole[: len(whole) // 2], encoding="utf-8")
    assert refusal(folder).startswith(f"{folder / 'model.lgb'}: the end of this LightGBM model is missing")


def test_a_list_of_trusted_types_beside_the_model_is_not_looked_at(tmp_path: Path) -> None:
    """Whoever writes the model could write it."""
    from skops import io  # noqa: PLC0415

    description = {"sklearn": {"pickled_model": "model.skops", "skops_trusted_types": ["os.system", "operator.add"]}}
    folder = describe(tmp_path / "model", {"flavors": description})
    io.dump(describe, folder / "model.skops")
    assert f"holds types that are not known to be safe: '{__name__}.describe'" in refusal(folder)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path}: this folder holds no MLflow model: it has no file MLmodel"
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("source", ["models:/credit/1", "runs:/0af/model", "s3://bucket/model"])
def test_models_elsewhere_are_not_fetched(source: str) -> None:
    assert refusal(source) == (
        f"{source}: we fetch no models\n"
        "    download it ('mlflow artifacts download -u ADDRESS -d FOLDER') and name the folder"
    )
