"""Problems, terms and people from files, texts and dictionaries.

The way of a file: text -> tree (with positions) -> document (its shape checked) -> problem (its meaning checked).
Mistakes from all stages are collected, given their position, and raised together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from safear.errors import (
    InputError,
    Mistake,
    Path,
    PersonError,
    ProblemError,
    TermsError,
    mistake,
    on_key,
    suggest,
)
from safear.files import read_text
from safear.problem.build import build_problem, build_terms
from safear.problem.checks import check_problem
from safear.problem.document import Document, TermsDocument, fields_at
from safear.problem.model import Problem, Record, as_decimal
from safear.problem.person import read_person, read_texts_of
from safear.problem.terms import Terms, merge_terms
from safear.problem.tree import Tree, plain_tree, read_tree
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


def load_problem(path: str | FilePath) -> Problem:
    """Read a problem file (YAML, or JSON if its name ends in .json); its mistakes are raised as one ProblemError."""
    file = FilePath(path)
    return _problem_from(read_tree(read_text(file, ProblemError), str(path), ProblemError))


def locate_mistakes(path: FilePath, mistakes: Sequence[Mistake]) -> list[Mistake]:
    """Mistakes that were found later, with their positions in the problem's file if it is one."""
    if not path.is_file():
        return list(mistakes)
    tree = read_tree(read_text(path, ProblemError), str(path), ProblemError)
    return [_locate(tree, item) for item in mistakes]


def parse_problem(source: str | Mapping[str, Any], name: str = "<problem>") -> Problem:
    """A problem from YAML text, or from a dictionary in the vocabulary of the problem file."""
    if isinstance(source, str):
        return _problem_from(read_tree(source, name, ProblemError))
    return _problem_from(plain_tree(dict(source)))


def load_terms(path: str | FilePath, problem: Problem) -> Terms:
    """Read personal terms for a problem from a YAML or JSON file."""
    return _terms_from(read_tree(read_text(FilePath(path), TermsError), str(path), TermsError), problem)


def parse_terms(source: str | Mapping[str, Any], problem: Problem, *, name: str = "<terms>") -> Terms:
    """Personal terms from YAML text or a dictionary."""
    tree = read_tree(source, name, TermsError) if isinstance(source, str) else plain_tree(dict(source))
    return _terms_from(tree, problem)


def load_record(path: str | FilePath, problem: Problem) -> tuple[dict[str, object], Tree]:
    """A person as filed in a YAML or JSON file, and its tree, by which mistakes can be located."""
    tree = read_tree(read_text(FilePath(path), PersonError), str(path), PersonError)
    mistakes = list(tree.mistakes)
    if not isinstance(tree.data, dict):
        mistakes.append(tree.locate(mistake((), "a person is a mapping of features to levels", code="not_a_mapping")))
    else:
        nested = [name for name, value in tree.data.items() if not isinstance(value, str)]
        mistakes += [tree.locate(mistake((name,), "write a single level here", code="not_a_text")) for name in nested]
    if mistakes:
        raise PersonError(mistakes)
    return read_texts_of(tree.data, problem.feature_by_name), tree


def load_person(path: str | FilePath, problem: Problem) -> Record:
    """Read a person from a YAML or JSON file: the record as filed, with everything in it."""
    record, tree = load_record(path, problem)
    try:
        read_person(problem, record)
    except PersonError as error:
        raise PersonError(_in_order([tree.locate(item) for item in error.mistakes])) from None
    return record


def _problem_from(tree: Tree) -> Problem:
    document, mistakes, pruned = _read_document(tree, Document, ProblemError)
    problem, misread = build_problem(document)
    vague = {("actions", item.place.path[1], "outcomes") for item in misread if item.place.path[0] == "actions"}
    found = [*misread, *(item for item in check_problem(problem) if item.place.path not in vague)]
    pruned |= {("features",) for item in tree.mistakes if item.place.path[:1] == ("features",)}
    mistakes += [_locate(tree, item) for item in found if not _follows_from(item, pruned)]
    if mistakes:
        raise ProblemError(_in_order(mistakes))
    return problem


def _terms_from(tree: Tree, problem: Problem) -> Terms:
    document, mistakes, pruned = _read_document(tree, TermsDocument, TermsError)
    terms, misread = build_terms(document, problem)
    found = [*misread, *merge_terms(problem, terms)[1]]
    mistakes += [_locate(tree, item) for item in found if not _follows_from(item, pruned)]
    if mistakes:
        raise TermsError(_in_order(mistakes))
    return terms


def _read_document(tree: Tree, model: type[W], error: type[InputError]) -> tuple[W, list[Mistake], set[Path]]:
    """Check the shape. Parts of a wrong shape are reported, cut out, and the rest is read without them."""
    mistakes = list(tree.mistakes)
    pruned: set[Path] = set()
    data = tree.data
    if not isinstance(data, dict):
        raise error([tree.locate(mistake((), "the file must hold a mapping (name: value)", code="not_a_mapping"))])
    try:
        return model.model_validate(data), mistakes, pruned
    except ValidationError as problem:
        details = problem.errors()
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
        raise error(_in_order(mistakes)) from None


def _part_of(detail: ErrorDetails) -> Path:
    """The part to cut out for a mistake: a whole feature, action or person, or else a whole top-level field."""
    path = _clean(detail)
    deep = path[:1] in {("features",), ("actions",), ("people",)}
    return path[:2] if deep and len(path) > 1 else path[:1]


def _cut(data: dict[str, Any], path: Path) -> None:
    holder: Any = data
    for part in path[:-1]:
        holder = holder.get(part, {}) if isinstance(holder, dict) else {}
    if isinstance(holder, dict):
        holder.pop(path[-1], None)


def _follows_from(item: Mistake, pruned: set[Path]) -> bool:
    """Whether a mistake may only be there because another part was cut out."""
    if any(item.place.path[: len(path)] == path for path in pruned):
        return True
    if ("features",) in pruned and item.place.path[:1] == ("people",):
        return True
    return item.code == "unknown_feature" and bool({("features",), ("features", item.values["feature"])} & pruned)


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
    known = {"name": detail["loc"][-1], "given": given, "shown": _show(given), "message": detail["msg"]}
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


def _locate(tree: Tree, item: Mistake) -> Mistake:
    """Find the place of a mistake; in an action's short form, its outcome's parts stand in the action itself."""
    path = item.place.path
    if path[:1] == ("actions",) and len(path) > 2 and path[2] == "outcomes":
        written = tree.data.get("actions", {}).get(path[1], {})
        if isinstance(written, Mapping) and "outcomes" not in written:
            path = (*path[:2], *(path[4:] or ("chance",)))
    if path not in tree.positions:
        path = next((other for other in _other_places(path) if other in tree.positions), path)
    return tree.locate(replace(item, place=replace(item.place, path=path)))


def _other_places(path: Path) -> Iterator[Path]:
    """Where an amount of a chance or cost may stand: below its source, and in a table that names no feature."""
    at = next((i for i, part in enumerate(path) if i > 1 and part in {"chance", "cost"}), len(path))
    head, rest = path[: at + 1], path[at + 1 :]
    for part in (rest, rest[1:]) if len(rest) > 1 else (rest,):
        yield (*head, *part)
        yield (*head, "value", *part)


def _in_order(mistakes: list[Mistake]) -> list[Mistake]:
    """By position in the file, each once."""
    unique = list(dict.fromkeys(mistakes))
    return sorted(unique, key=lambda item: (item.place.line or 0, item.place.column or 0))
