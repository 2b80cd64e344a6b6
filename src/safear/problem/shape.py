"""The shape of a document, checked by pydantic: its mistakes in the words of the file, and the rest without them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from safear.errors import InputError, Mistake, Path, mistake, on_key, suggest
from safear.problem.document import Document, fields_at
from safear.problem.model import as_decimal
from safear.problem.tree import Tree, in_order
from safear.problem.written import TAGS, Written

W = TypeVar("W", bound=Written)
# What stands in for a required part that is missing or wrong, so that the rest of the file can still be checked.
_STAND_INS: dict[str, Any] = {
    "safear": 1,
    "title": "?",
    "horizon": 1,
    "features": {"?": {"kind": "nominal", "levels": ["?"]}},
    "actions": {"?": {"cost": 0, "change": {}}},
}


def read_document(tree: Tree, model: type[W], error: type[InputError]) -> tuple[W, list[Mistake], set[Path]]:
    """Check the shape. Parts of a wrong shape are reported, cut out, and the rest is read without them."""
    mistakes = list(tree.mistakes)
    pruned: set[Path] = set()
    data = tree.data
    if not isinstance(data, dict):
        raise error([tree.locate(mistake((), "the file must hold a mapping (name: value)", code="not_a_mapping"))])
    try:
        return model.model_validate(data), mistakes, pruned
    except ValidationError as problem:
        details = _list_details(problem, error)
    told = {item.place.path for item in tree.mistakes}
    for detail in details:
        if _clean(detail) not in told:
            mistakes.append(_explain(tree, model, detail))
        pruned.add(_part_of(detail))
    data = {key: dict(value) if isinstance(value, dict) else value for key, value in data.items()}
    for path in sorted(pruned, key=len, reverse=True):
        _cut(data, path)
    for name, stand_in in _STAND_INS.items():
        if model is Document and not data.get(name):
            data[name] = stand_in
            pruned.add((name,))
    try:
        return model.model_validate(data), mistakes, pruned
    except ValidationError:
        raise error(in_order(mistakes)) from None


def _list_details(problem: ValidationError, error: type[InputError]) -> list[ErrorDetails]:
    try:
        return problem.errors()
    except UnicodeEncodeError:  # pydantic cannot say where
        cause, remedy = "a name or a text holds half a character", "write it anew, as UTF-8"
        raise error.at((), cause, remedy, code="not_a_text") from None


def _part_of(detail: ErrorDetails) -> Path:
    """The part to cut out for a mistake: a whole feature, action or person, or else a whole top-level field."""
    path = _clean(detail)
    deep = path[:1] in {("features",), ("actions",), ("people",)}
    return path[:2] if deep and len(path) > 1 else path[:1]


def _cut(data: dict[str, Any], path: Path) -> None:
    holder: Any = data
    for part in path[:-1]:
        holder = holder.get(part, {}) if isinstance(holder, dict) else {}
    if isinstance(holder, dict) and path:
        holder.pop(path[-1], None)


def _clean(detail: ErrorDetails) -> Path:
    """A pydantic location as a path of the file: without the tags of unions and the marks of keys."""
    path = tuple(part for part in detail["loc"] if part not in TAGS)
    if detail["type"] == "name" and path[-1:] == ("[key]",):
        path = path[:-1]
    if detail["type"] == "feature":
        return (*path, detail["ctx"]["field"])
    return path[:4] if path[:1] == ("features",) and path[2:3] == ("values",) else path


# What pydantic calls a mistake in the shape, and what we do: code, cause and remedy.
_SHAPES: dict[str, tuple[str, str, str | None]] = {
    "missing": ("missing", "'{name}' is missing", None),
    "finite_number": ("not_finite", "{given} is not a finite number", None),
    "greater_than_equal": ("out_of_range", "{given} is below {ge}", None),
    "greater_than": ("out_of_range", "{given} is not above {gt}", None),
    "less_than": ("out_of_range", "{given} is not below {lt}", None),
    "less_than_equal": ("out_of_range", "{given} is above {le}", None),
    "int_parsing_size": ("out_of_range", "the number is too large", None),
    "literal_error": ("unknown_word", "{shown} should be {expected}", None),
    "string_type": ("not_a_text", "write a single text here", None),
    "empty": ("too_few", "this is empty", None),
    "too_short": ("too_few", "too few entries", None),
    "too_long": ("too_many", "too many numbers; an interval is [low, high] or [low, nominal, high]", None),
    "name": ("not_a_text", "{message}", None),
    "number": ("not_a_number", "{message}", None),
    "distance": ("not_a_number", "{message}", "write {by: 1}, or {by: 500 EUR} in the feature's own unit"),
    **dict.fromkeys(["bool_type", "bool_parsing"], ("not_a_truth", "{shown} is neither true nor false", None)),
    **dict.fromkeys(
        ["decimal_parsing", "decimal_type", "float_parsing", "float_type", "int_type"],
        ("not_a_number", "{shown} is not a number", None),
    ),
    **dict.fromkeys(["int_parsing", "int_from_float"], ("not_a_number", "{shown} is not a whole number", None)),
    "string_unicode": ("not_a_text", "{shown} holds half a character", "write it anew, as UTF-8"),
    "list_type": ("not_a_list", "{shown} should be a list", "write [a, b, c]"),
    **dict.fromkeys(
        ["dict_type", "model_type", "model_attributes_type"],
        ("not_a_mapping", "{shown} should be a mapping", "write {name: value, ...}"),
    ),
}


def _explain(tree: Tree, model: type[Written], detail: ErrorDetails) -> Mistake:
    """A mistake in the shape, in the file's words."""
    kind, path, given = detail["type"], _clean(detail), detail["input"]
    if kind == "extra_forbidden":
        cause, remedy = f"'{path[-1]}' is not a field here", suggest(str(path[-1]), fields_at(model, path[:-1]))
        return tree.locate(mistake(on_key(path), cause, remedy, code="unknown_field", field=path[-1]))
    if kind == "feature":
        said = detail["ctx"]
        return tree.locate(mistake(path, said["cause"], said["remedy"] or None, code=said["code"]))
    if kind == "too_short" and not given:
        kind = "empty"
    code, cause, remedy = _SHAPES.get(kind, ("invalid", "{message}", None))
    known = {
        "name": detail["loc"][-1] if detail["loc"] else "",
        "given": given,
        "shown": _show(given),
        "message": detail["msg"],
    }
    cause = cause.format(**known, **detail.get("ctx", {}))
    if kind == "greater_than_equal" and path[-1] == "failure_cost":
        remedy = "costs are positive"
    if code == "not_a_number" and str(given).endswith("%") and as_decimal(str(given)[:-1]) is not None:
        remedy = f"write {(Decimal(str(given)[:-1]) / 100).normalize():f}"
    if path[-1:] == ("range",):
        remedy = "write [first, last]"
    if path == ("safear",):
        remedy = "write 'safear: 1', the version of the file's format"
    return tree.locate(mistake(path, cause, remedy, code=code, value=_show(given)))


def _show(given: object) -> str:
    if isinstance(given, dict | list):
        return "a mapping" if isinstance(given, dict) else "a list"
    return f"'{given}'" if str(given) else "nothing"
