"""Models in ONNX files, which onnxruntime runs: pipelines with an input per column, or models of one matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safear.classifier.column_types import NUMBER, TEXT, ColumnType
from safear.classifier.columns import ModelColumns
from safear.classifier.decisions import Chances, second_of_pairs
from safear.classifier.raw_answers import label_name
from safear.classifier.reading import read_foreign, require_file, require_package, unreadable
from safear.classifier.thresholds import Splits, last_below, merge_splits
from safear.errors import ClassifierError
from safear.problem.model import as_decimal, is_missing

FLOATS = {"tensor(float)": np.float32, "tensor(double)": np.float64}
INTEGERS: dict[str, Any] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
DTYPES: dict[str, Any] = INTEGERS | {"tensor(string)": object, "tensor(bool)": np.bool_}
WANTED = dict.fromkeys(INTEGERS, "a whole number") | {"tensor(string)": "a text", "tensor(bool)": "true or false"}
KINDS = dict.fromkeys((*FLOATS, *INTEGERS), NUMBER) | {
    "tensor(string)": TEXT,
    "tensor(bool)": ColumnType("known", (False, True)),
}
CLASS_LABELS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
TREES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor")
SINGLE_NUMBERS = (b"BRANCH_EQ", b"BRANCH_NEQ")
BELOW, STRICTLY_BELOW = (b"BRANCH_LEQ", b"BRANCH_GT"), (b"BRANCH_LT", b"BRANCH_GTE")


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """What an ONNX file holds, with the face of a scikit-learn classifier. What is sent elsewhere is that alone."""

    content: bytes = field(repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self.content}

    @cached_property
    def session(self) -> Any:
        """What runs it."""
        runtime = require_package("onnxruntime", "onnxruntime", "onnx")
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # what goes wrong is told by its exceptions
        return runtime.InferenceSession(self.content, options, providers=["CPUExecutionProvider"])

    @cached_property
    def graph(self) -> Any:
        """The nodes."""
        return require_package("onnx", "onnx", "onnx").load_model_from_string(self.content).graph

    @cached_property
    def classes_(self) -> list[Any] | None:
        """The names of the classes, if a node of the graph keeps them."""
        constants = {tensor.name: tensor for tensor in self.graph.initializer}
        for node in reversed(self.graph.node):
            for attribute in node.attribute:
                if attribute.name in CLASS_LABELS and (attribute.strings or attribute.ints):
                    return [text.decode() for text in attribute.strings] or list(attribute.ints)
            if node.op_type == "ArrayFeatureExtractor" and node.input[0] in constants:  # one name for each row
                found = require_package("onnx", "onnx", "onnx").numpy_helper.to_array(constants[node.input[0]])
                return [value.decode() if isinstance(value, bytes) else value for value in found.ravel().tolist()]
        return None

    @cached_property
    def own_columns(self) -> ModelColumns:
        """One column for each input, by name; or those of a matrix, which have no names."""
        inputs = self.session.get_inputs()
        if len(inputs) > 1:
            return ModelColumns(
                tuple(column.name for column in inputs),
                tuple(KINDS[column.type] for column in inputs),
                spaces_lost=True,
            )
        width = inputs[0].shape[-1]
        return ModelColumns(None, (KINDS[inputs[0].type],) * width if isinstance(width, int) else None)

    def own_splits(self) -> Splits | None:
        """Where trees on the only input split; None if something else looks at it."""
        inputs = {column.name for column in self.graph.input}
        if len(inputs) != 1:
            return None
        found: list[Splits | None] = []
        for node in self.graph.node:
            if not inputs & set(node.input):
                continue
            if node.op_type not in TREES:
                return None
            found.append(_tree_splits({attribute.name: attribute for attribute in node.attribute}))
        return merge_splits(found)

    @cached_property
    def own_chances(self) -> Callable[[Any], Chances] | None:
        """For a model without names for classes: how it gives chances of the class 1."""
        kinds = {output.type for output in self.session.get_outputs()}
        if self.classes_ is not None or "tensor(string)" in kinds or not any("float" in kind for kind in kinds):
            return None

        def find(table: Any) -> Chances:
            chances: Chances = self.predict_proba(table)
            if chances.ndim != 2 or chances.shape[1] > 2:
                return chances
            return chances[:, 0] if chances.shape[1] == 1 else second_of_pairs(chances, "the ONNX model")

        return find

    def predict(self, table: Any) -> Any:
        """Labels."""
        labels, chances = self._run(table)
        return np.array(self.classes_)[chances.argmax(axis=1)] if labels is None else labels

    def predict_proba(self, table: Any) -> Any:
        """Chances, one per row and class."""
        return self._run(table)[1]

    def _run(self, table: Any) -> tuple[Any, Any]:
        outputs = self.session.run(None, self.feed(table))
        labels, chances = None, None
        for output in outputs:
            if isinstance(output, list):  # of mappings from class to chance
                names = self.classes_ or list(output[0])
                chances = np.array([[row[name] for name in names] for row in output], dtype=np.float32)
            elif output.dtype.kind == "f":
                chances = output if chances is None else chances
            else:
                labels = output if labels is None else labels
        return labels, chances

    def feed(self, table: Any) -> dict[str, Any]:
        """What the network is given for a table: tensors by the names of its inputs."""
        inputs = self.session.get_inputs()
        if len(inputs) == 1:
            matrix, kind = np.asarray(table), inputs[0].type
            parts = [_as_tensor(column, kind, f"column {number}") for number, column in enumerate(matrix.T, 1)]
            return {inputs[0].name: np.stack(parts, axis=1)}
        columns = {str(name): values.to_numpy() for name, values in table.items()}
        return {
            column.name: _as_tensor(columns[column.name], column.type, f"'{column.name}'").reshape(
                (-1, *[1] * (len(column.shape) - 1))
            )
            for column in inputs
        }


def load_onnx(path: Path) -> OnnxModel:
    """The model of an ONNX file."""
    for package in ("onnxruntime", "onnx"):
        require_package(package, package, "onnx")
    require_file(path)
    model = OnnxModel(path.read_bytes())
    read_foreign(path, "an ONNX model", lambda: (model.session, model.graph))
    inputs = model.session.get_inputs()
    for column in inputs:
        is_column = len(column.shape) == 1 or (len(column.shape) == 2 and (len(inputs) == 1 or column.shape[1] == 1))
        if column.type not in KINDS or not is_column or (len(inputs) == 1 and len(column.shape) != 2):
            shape = " x ".join(str(size or "?") for size in column.shape)
            cause = f"its input '{column.name}' is a {column.type} of {shape}"
            remedy = "convert it with an input of one column for each feature, or with one matrix"
            raise unreadable(path, cause, remedy, code="wrong_shape")
    return model


def _as_tensor(values: NDArray[Any], kind: str, name: str) -> NDArray[Any]:
    """A column in the type of an input. What has no such form is refused: a cast would make up another value."""
    if kind in FLOATS:
        return np.asarray(values, dtype=np.float64).astype(FLOATS[kind])
    known: dict[tuple[type, object], object] = {}  # of each value once: True is no 1 here
    for value in values.tolist():
        if (key := (type(value), value)) not in known:
            form = None if is_missing(value) else _form(value, kind)
            if form is None:
                cause = f"the ONNX model wants {WANTED[kind]} in {name}, and '{label_name(value)}' is none"
                remedy = "fill it in as in training, or convert the model with an input of another type"
                raise ClassifierError.at(("classifier",), cause, remedy, code="no_form", column=name, value=value)
            known[key] = form
    return np.array([known[type(value), value] for value in values.tolist()], dtype=DTYPES[kind])


def _form(value: object, kind: str) -> object | None:
    if kind == "tensor(string)":
        return label_name(value)
    if kind == "tensor(bool)":
        return KINDS[kind].find(value)
    number, limits = as_decimal(int(value) if isinstance(value, bool) else value), np.iinfo(INTEGERS[kind])
    is_whole = number is not None and number == number.to_integral_value() and limits.min <= number <= limits.max
    return int(number) if number is not None and is_whole else None


def _tree_splits(attributes: dict[str, Any]) -> Splits | None:
    """Of a node of trees, which compares in single precision."""
    if "nodes_values" not in attributes:  # or in double precision, or of a later form
        return None
    modes, columns = np.array(attributes["nodes_modes"].strings), np.array(attributes["nodes_featureids"].ints)
    values = np.array(attributes["nodes_values"].floats, dtype=np.float32)
    found: list[Splits] = [dict.fromkeys(columns[np.isin(modes, SINGLE_NUMBERS)].tolist())]
    for which, strict in ((BELOW, False), (STRICTLY_BELOW, True)):
        here = np.isin(modes, which)
        numbers = last_below(values[here], single=True, strict=strict, unique=False)
        found += [{int(column): numbers[columns[here] == column]} for column in np.unique(columns[here])]
    return merge_splits(found)
