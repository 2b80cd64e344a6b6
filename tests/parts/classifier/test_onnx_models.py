"""Models in ONNX files, converted from scikit-learn, LightGBM, XGBoost and CatBoost, and run by onnxruntime."""

from __future__ import annotations

import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import safear as sa
from doors import ask, load_onnx
from heavy import require
from parts.classifier.test_columns import filed, make_problem
from parts.classifier.test_splits import check_cells
from safear.classifier import Inputs
from safear.errors import ClassifierError, MissingExtraError
from small_sources import PROBLEM, refusal
from trained_models import CAT, FOREST, LGBM, XGB, applications, granted

NUMBERS = ["duration", "credit amount"]
TEXTS = ["purpose", "phone", "housing"]
OPSET = {"": 17, "ai.onnx.ml": 3}


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """As a converted pipeline takes them: texts and numbers."""
    return frame.assign(phone=frame["phone"].map({True: "true", False: "false"}), stage=frame["stage"].astype(float))


def convert(model: Any, path: Path, frame: pd.DataFrame, *, zipmap: bool = True) -> None:
    """With an input for each column, as skl2onnx does with data frames."""
    types = require("skl2onnx.common.data_types")
    texts, numbers = types.StringTensorType([None, 1]), types.FloatTensorType([None, 1])
    inputs = [(name, texts if name in TEXTS else numbers) for name in frame]
    options = {id(model): {"zipmap": zipmap}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about newer versions of scikit-learn
        found = require("skl2onnx").convert_sklearn(model, initial_types=inputs, options=options, target_opset=OPSET)
    path.write_bytes(found.SerializeToString())


def pipeline(last: Any) -> Any:
    """Scaled in single precision, a number may fall on the other side of a split: trees get numbers as they are."""
    encoder, scaler = OneHotEncoder(handle_unknown="ignore"), StandardScaler()
    numbers = scaler if isinstance(last, LogisticRegression) else "passthrough"
    return make_pipeline(make_column_transformer((encoder, TEXTS), (numbers, [*NUMBERS, "stage"])), last)


@pytest.mark.parametrize("zipmap", [True, False], ids=["mappings", "matrix"])
@pytest.mark.parametrize(
    "last",
    [
        RandomForestClassifier(**FOREST),
        LogisticRegression(max_iter=500),
        CalibratedClassifierCV(DecisionTreeClassifier(max_depth=4, random_state=0), cv=2),
    ],
    ids=lambda last: type(last).__name__,
)
def test_a_pipeline_with_an_input_for_each_column(last: Any, zipmap: bool, tmp_path: Path) -> None:
    """Names, numbers and whole numbers of records as filed; a name with a space, which conversion takes away."""
    frame, file = applications(400, seed=1, gaps=False), tmp_path / "model.onnx"
    model = pipeline(last).fit(as_texts(frame), np.where(granted(frame), "good", "bad"))
    convert(model, file, as_texts(frame), zipmap=zipmap)
    people = applications(200, seed=7, gaps=False)
    chances = model.predict_proba(as_texts(people))[:, 1]
    for goal, expected in (
        ({"favourable": "good"}, model.predict(as_texts(people)) == "good"),
        ({"favourable": "good", "threshold": 0.7}, chances >= 0.7),
        ({"favourable": "bad", "threshold": 0.4}, 1 - chances >= 0.4),
    ):
        problem = make_problem(**goal)
        sure = np.min([abs(chances - limit) for limit in (0.5, 0.6, 0.7)], axis=0) > 1e-5  # in single precision too
        answers = ask(sa.load_classifier(str(file), problem), filed(people, problem))
        assert answers[sure].tolist() == expected[sure].tolist()
        assert sure.mean() > 0.7
        assert 20 < answers.sum() < 180


def numbers_problem(**goal: Any) -> sa.Problem:
    """Two numbers and nothing else, as a matrix has them."""
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "a test",
            "horizon": 1,
            "features": {
                "duration": {"kind": "numeric", "edges": [24], "values": [12, 36]},
                "credit amount": {"kind": "numeric", "edges": [3000], "values": [1000, 5000]},
            },
            "goal": goal,
            "actions": {"shorten": {"cost": 1, "change": {"duration": "-1"}}},
        }
    )


def numbers_inputs(frame: pd.DataFrame) -> Inputs:
    numbers = {name: frame[name].to_numpy(dtype=float) for name in NUMBERS}
    return Inputs(numbers_problem().features, np.zeros((len(frame), 2), dtype=np.int16), numbers)


def matrix_model(name: str, path: Path) -> tuple[Any, Any]:
    """A model of one matrix, and its file."""
    frame = applications(400, seed=1, gaps=False)
    table, answers = frame[NUMBERS].to_numpy(dtype=np.float32), granted(frame).to_numpy()
    require("onnx")
    match name:
        case "LightGBM" | "XGBoost":
            tools = require("onnxmltools")
            kind = require("onnxmltools.convert.common.data_types").FloatTensorType([None, 2])
            is_light = name == "LightGBM"
            model: Any = lightgbm.LGBMClassifier(**LGBM) if is_light else xgboost.XGBClassifier(**XGB)
            model.fit(table, answers)
            make = tools.convert_lightgbm if is_light else tools.convert_xgboost
            path.write_bytes(make(model, initial_types=[("x", kind)], target_opset=15).SerializeToString())
        case "CatBoost":
            model = require("catboost").CatBoostClassifier(**CAT).fit(table, answers)
            model.save_model(str(path), format="onnx")
        case _:
            kinds = {
                "forest": RandomForestClassifier(**FOREST),
                "gradients": GradientBoostingClassifier(n_estimators=10),
            }
            model = kinds[name].fit(table, answers)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about newer versions of scikit-learn
                found = require("skl2onnx").to_onnx(model, table[:1], target_opset=OPSET)
            path.write_bytes(found.SerializeToString())
    return model, table


MATRIX = ["forest", "gradients", "LightGBM", "XGBoost", "CatBoost"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", MATRIX)
def test_a_model_of_one_matrix(name: str, tmp_path: Path) -> None:
    """It decides as before it was converted, and where its trees split is known to the last digit."""
    file = tmp_path / "model.onnx"
    model, _ = matrix_model(name, file)
    frame = applications(300, seed=7, gaps=False)
    chances = model.predict_proba(frame[NUMBERS].to_numpy(dtype=np.float32))[:, 1]
    for goal, limit in (({"favourable": "1"}, 0.5), ({"favourable": "1", "threshold": 0.75}, 0.75)):
        answers = ask(sa.load_classifier(str(file), numbers_problem(**goal)), numbers_inputs(frame))
        sure = abs(chances - limit) > 1e-5
        assert answers[sure].tolist() == (chances >= limit)[sure].tolist()
        assert sure.mean() > 0.9
    people = frame[NUMBERS].iloc[:3].astype(float).reset_index(drop=True)
    assert check_cells(load_onnx(file), people) > 20
    sent = pickle.loads(pickle.dumps(load_onnx(file)))  # to other processes, for instance
    assert np.array_equal(sent.predict_proba(people), load_onnx(file).predict_proba(people))


def save_graph(path: Path, *outputs: Any, nodes: Any, inputs: Any = None) -> Path:
    onnx = require("onnx")
    floats = onnx.TensorProto.FLOAT
    given = inputs or [onnx.helper.make_tensor_value_info("x", floats, [None, 2])]
    graph = onnx.helper.make_graph(nodes, "graph", given, list(outputs))
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("operator, width", [("Sigmoid", 1), ("Softmax", 2)])
def test_a_network_that_gives_chances_alone(operator: str, width: int, tmp_path: Path) -> None:
    """One of class 1, or one of each of 0 and 1; there are no names."""
    onnx = require("onnx")
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    output = helper.make_tensor_value_info("y", floats, [None, width])
    scaled = np.array([[0.0, -1 / 12], [0.0, 0.0]]) if width == 2 else np.array([[-1 / 12], [0.0]])
    weights = helper.make_node("Constant", [], ["w"], value=onnx.numpy_helper.from_array(scaled.astype(np.float32)))
    shifted = np.array([0.0, 2.0]) if width == 2 else np.array([2.0])
    shift = helper.make_node("Constant", [], ["b"], value=onnx.numpy_helper.from_array(shifted.astype(np.float32)))
    sums = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Add", ["a", "b"], ["z"])]
    last = helper.make_node(operator, ["z"], ["y"])
    file = save_graph(tmp_path / "net.onnx", output, nodes=[weights, shift, *sums, last])
    frame = applications(100, seed=7, gaps=False)
    chances = 1 / (1 + np.exp(frame["duration"].to_numpy() / 12 - 2))
    sure = (abs(chances - 0.5) > 1e-6) & (abs(chances - 0.3) > 1e-6)
    for goal, expected in (({}, chances >= 0.5), ({"favourable": "0", "threshold": 0.7}, 1 - chances >= 0.7)):
        classifier: Any = sa.load_classifier(str(file), numbers_problem(**goal))
        assert ask(classifier, numbers_inputs(frame))[sure].tolist() == expected[sure].tolist()
        assert classifier.splits(frame[NUMBERS].astype(float)) is None
    with pytest.raises(ClassifierError, match="OnnxModel has no names for its classes, so 'good' is none"):
        ask(sa.load_classifier(str(file), numbers_problem(favourable="good")), numbers_inputs(frame[:2]))


def test_two_numbers_that_are_no_chances(tmp_path: Path) -> None:
    """A network without its last layer: what it gives happens to lie between 0 and 1."""
    onnx = require("onnx")
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    scaled = onnx.numpy_helper.from_array(np.array([[0.001, 0.002], [0.0, 0.0]], dtype=np.float32))
    nodes = [helper.make_node("Constant", [], ["w"], value=scaled), helper.make_node("MatMul", ["x", "w"], ["y"])]
    file = save_graph(tmp_path / "net.onnx", helper.make_tensor_value_info("y", floats, [None, 2]), nodes=nodes)
    with pytest.raises(ClassifierError, match="the ONNX model answered with pairs that do not add up to 1"):
        ask(sa.load_classifier(str(file), numbers_problem()), numbers_inputs(applications(5, seed=7, gaps=False)))


@pytest.mark.parametrize("is_matrix", [False, True], ids=["columns", "matrix"])
@pytest.mark.parametrize(
    "kind, fine, forms, wrong, wanted",
    [
        (
            "INT64",
            [40, 3.0, "7", True, 2**60],
            [40, 3, 7, 1, 2**60],
            [40.9, np.nan, None, "x", 2**63],
            "a whole number",
        ),
        ("INT32", [40, -3.0], [40, -3], [2**31, np.inf, ""], "a whole number"),
        (
            "BOOL",
            [True, 0, 1.0, "false", "1"],
            [True, False, True, False, True],
            [None, np.nan, "x", 2],
            "true or false",
        ),
        ("STRING", ["a", 1.0, 1, True], ["a", "1", "1", "true"], [None, np.nan, pd.NA, ""], "a text"),
    ],
)
def test_values_that_an_input_cannot_hold(
    kind: str, fine: list[Any], forms: list[Any], wrong: list[Any], wanted: str, *, is_matrix: bool, tmp_path: Path
) -> None:
    """Nothing is made up for them: 40.9 is no 40, nothing is no "nan"."""
    onnx = require("onnx")
    helper, type_of = onnx.helper, getattr(onnx.TensorProto, kind)
    inputs = [helper.make_tensor_value_info("x", type_of, [None, 2 if is_matrix else 1])]
    if not is_matrix:
        inputs.append(helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [None, 1]))
    output = helper.make_tensor_value_info("y", type_of, None)
    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    model = load_onnx(save_graph(tmp_path / "net.onnx", output, nodes=nodes, inputs=inputs))

    def feed(values: list[Any]) -> list[Any]:
        column = pd.Series(values, dtype=object)
        table = pd.DataFrame({"x": column, "z": column if is_matrix else 0.5})
        fed = model.feed(table.to_numpy(dtype=object) if is_matrix else table)["x"]
        return list(fed[:, 0].tolist())

    assert feed(fine) == forms
    for value in wrong:
        with pytest.raises(ClassifierError) as refused:
            feed([fine[0], value])
        place = "column 1" if is_matrix else "'x'"
        assert f"the ONNX model wants {wanted} in {place}, and '" in str(refused.value)
        assert refused.value.mistakes[0].code == "no_form"


def test_inputs_that_are_no_columns(tmp_path: Path) -> None:
    onnx = require("onnx")
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    picture = helper.make_tensor_value_info("x", floats, [None, 3, 8, 8])
    nodes, output = [helper.make_node("Identity", ["x"], ["y"])], helper.make_tensor_value_info("y", floats, None)
    file = save_graph(tmp_path / "net.onnx", output, nodes=nodes, inputs=[picture])
    assert refusal(file) == (
        f"{file}: its input 'x' is a tensor(float) of ? x 3 x 8 x 8\n"
        "    convert it with an input of one column for each feature, or with one matrix"
    )


@pytest.mark.parametrize("content", [b"", b"hello"], ids=["empty", "text"])
def test_a_file_that_is_something_else(content: bytes, tmp_path: Path) -> None:
    require("onnxruntime")
    file = tmp_path / "model.onnx"
    file.write_bytes(content)
    assert refusal(file).startswith(f"{file}: not an ONNX model: ")


@pytest.mark.parametrize("package", ["onnxruntime", "onnx"])
def test_without_the_library_it_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if package == "onnx":
        require("onnxruntime")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as missing:
        sa.load_classifier("model.onnx", PROBLEM)
    assert str(missing.value) == f"{package} is not installed; install it with: pip install 'safear[onnx]'"
