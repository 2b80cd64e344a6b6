"""YAML and JSON as plain data plus the position of every part, so that a mistake can be shown where it is.

Scalars are kept as they are written (`no`, `1` and `1.50` stay texts); what they mean is decided by who reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from safear.errors import InputError, Mistake, Path, Place, mistake

MAX_PARTS = 200_000  # a dozen seconds of reading; aliases can blow a small file up, and no honest problem comes near
MAX_DEPTH = 100  # levels of nesting; the format has eight


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column, both from 1; `text_column` is where a one-line scalar's text begins.

    A scalar that `is_quoted` is a text, whatever it looks like.
    """

    line: int
    column: int
    text_column: int | None = None
    is_quoted: bool = False


@dataclass(slots=True)
class Tree:
    """A document: its data (dicts, lists and strings) and where each part of it stands."""

    file: str
    lines: list[str]
    data: Any = None
    positions: dict[Path, Position] = field(default_factory=dict)
    keys: dict[Path, Position] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def locate(self, item: Mistake) -> Mistake:
        """The mistake with file, line and column filled in; a part that is missing is shown at what should hold it."""
        path, offset = item.place.path, item.place.offset
        if not self.positions:  # built in Python
            return replace(item, place=Place(path))
        at = path
        while at not in self.positions and at:
            at = at[:-1]
        position = self.positions.get(at, Position(1, 1))
        if at != path or item.place.on_key:
            position = self.keys.get(at, position)
        column = position.column
        if offset and at == path and position.text_column is not None:
            column = position.text_column + offset
        return replace(item, place=self.place(path, position.line, column))

    def place(self, path: Path, line: int, column: int) -> Place:
        """A place in this document, with its line."""
        source = self.lines[line - 1] if 0 < line <= len(self.lines) else None
        return Place(path, self.file, line, column, source)


def read_tree(text: str, file: str, error: type[InputError]) -> Tree:
    """Parse YAML, or JSON if the file's name ends so. Syntax errors are raised, doubled keys collected."""
    tree = Tree(file, text.splitlines())
    if file.lower().endswith(".json"):
        text = _check_json(text, tree, error)
    try:
        documents = list(yaml.compose_all(text, Loader=_Loader))
    except (_TooDeep, _TooMany) as problem:
        raise _refuse(problem, tree, error) from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise error.at(tree.place((), line, column), *_explain_yaml(problem), code="syntax") from None
    except yaml.YAMLError as problem:  # characters that YAML does not allow
        raise error.at(Place(file=file), f"not YAML: {str(problem).splitlines()[0]}", code="syntax") from None
    if not documents or documents[0] is None:
        raise error.at(Place(file=file), "the file is empty", code="empty")
    if len(documents) > 1:
        second = tree.place((), documents[1].start_mark.line + 1, 1)
        raise error.at(second, "a second document starts here", "keep one document in a file", code="too_many")
    try:
        tree.data = _convert(documents[0], (), tree, set())
    except (_TooDeep, _TooMany) as problem:
        raise _refuse(problem, tree, error) from None
    return tree


def _refuse(problem: _TooDeep | _TooMany, tree: Tree, error: type[InputError]) -> InputError:
    """The error about a file that is too deep or too large, where it becomes so."""
    place = tree.place((), problem.mark.line + 1, problem.mark.column + 1)
    if isinstance(problem, _TooDeep):
        remedy = f"a file has at most {MAX_DEPTH} levels, one in another"
        return error.at(place, "nested too deeply", remedy, code="too_deep")
    remedy = "keep people in a table of their own (CSV or Parquet), and cut long scales into fewer levels"
    return error.at(place, f"more than {MAX_PARTS:,} parts up to here", remedy, code="too_many")


def in_order(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """By position in the file, each once."""
    return sorted(dict.fromkeys(mistakes), key=lambda item: (item.place.line or 0, item.place.column or 0))


def plain_tree(data: Any, error: type[InputError]) -> Tree:
    """A tree of data that was built in Python: it has no positions."""
    refuse_halves(data, error)
    return Tree("", [], data)


def refuse_halves(data: Any, error: type[InputError]) -> None:
    """Refuse texts of nested data that hold half a character: Python can hold it, but no file can."""
    halves = [
        mistake(path, f"'{text}' holds half a character", "write it anew, as UTF-8", code="not_a_text")
        for path, text in _find_halves(data)
    ]
    if halves:
        raise error(halves)


def _find_halves(data: Any) -> Iterator[tuple[Path, str]]:
    """Texts of nested data that hold surrogates; what is too deep, or holds itself, is refused later."""
    seen = set[int]()
    waiting: list[tuple[Path, Any]] = [((), data)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            if _has_surrogates(value):
                yield path, value
        elif isinstance(value, Mapping | list | tuple) and id(value) not in seen and len(path) <= MAX_DEPTH:
            seen.add(id(value))
            for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
                inner = (*path, key if isinstance(key, int) else str(key))
                waiting += [(inner, item), (inner, key)]


class _Refused(Exception):  # noqa: N818  # leaves this module under another name
    def __init__(self, mark: yaml.Mark) -> None:
        super().__init__(mark)
        self.mark = mark


class _TooDeep(_Refused):
    pass


class _TooMany(_Refused):
    pass


class _Loader(yaml.SafeLoader):
    """Reads no further than where a file becomes too deep or too large: what comes after would take for ever."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.parts = self.depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """A part, with what is in it."""
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # PyYAML has no types for it
        self.parts += 1
        if self.parts > 2 * MAX_PARTS:  # names are parts here
            raise _TooMany(mark)
        if self.depth > MAX_DEPTH:
            raise _TooDeep(mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _check_json(text: str, tree: Tree, error: type[InputError]) -> str:
    """Check that the text is JSON; return it such that a YAML reader sees the same (tabs are not allowed there)."""
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        before = f"{text[: problem.pos]}^".splitlines()  # json counts only the ends of lines that it knows
        place = tree.place((), len(before), len(before[-1]))
        raise error.at(place, f"not JSON: {problem.msg}", code="syntax") from None
    except RecursionError:
        pass  # found again, with its place, by whoever reads on
    return text.replace("\t", " ")


def _explain_yaml(problem: yaml.MarkedYAMLError) -> tuple[str, str | None]:
    cause = problem.problem or "cannot be read"
    remedy = None
    if "\\t" in cause:
        remedy = "indent with spaces, not with tabs"
    elif "mapping values are not allowed" in cause:
        remedy = "put a text that contains ': ' in quotes, and check the indentation"
    elif "got '['" in cause or "'<scalar>'" in cause:
        remedy = "put a text that contains brackets or quotes in quotes as a whole"
    elif "while parsing a flow" in (problem.context or ""):
        remedy = "a bracket or a comma may be missing"
    return f"not YAML: {cause}", remedy


def _convert(node: yaml.Node, path: Path, tree: Tree, open_nodes: set[int]) -> Any:
    if len(path) > MAX_DEPTH:
        raise _TooDeep(node.start_mark)
    if len(tree.positions) > MAX_PARTS:
        raise _TooMany(node.start_mark)
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    if line <= len(tree.lines) and tree.lines[line - 1][column - 1 : column] == "!":
        cause, remedy = "'!' starts a YAML tag, which means nothing here", "write 'not', or put the text in quotes"
        tree.mistakes.append(mistake(tree.place(path, line, column), cause, remedy, code="syntax"))
    if isinstance(node, yaml.ScalarNode):
        is_quoted = node.style in {"'", '"'}
        start = column + is_quoted
        as_written = line <= len(tree.lines) and tree.lines[line - 1].startswith(node.value, start - 1)
        text_column = start if as_written else None
        tree.positions[path] = Position(line, column, text_column, is_quoted)
        return _join_surrogates(node.value)
    # A collection is shown at its key, where it has one: that is the line on which its name stands.
    tree.positions[path] = tree.keys.get(path, Position(line, column))
    if id(node) in open_nodes:
        tree.mistakes.append(mistake(tree.place(path, line, column), "refers to itself", code="circle"))
        return None
    open_nodes.add(id(node))
    try:
        if isinstance(node, yaml.SequenceNode):
            return [_convert(item, (*path, index), tree, open_nodes) for index, item in enumerate(node.value)]
        return _convert_mapping(node, path, tree, open_nodes)
    finally:
        open_nodes.discard(id(node))


def _convert_mapping(node: yaml.Node, path: Path, tree: Tree, open_nodes: set[int]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line, column = key_node.start_mark.line + 1, key_node.start_mark.column + 1
        if not isinstance(key_node, yaml.ScalarNode):
            place = tree.place(path, line, column)
            tree.mistakes.append(mistake(place, "a name must be a single text", code="not_a_text"))
            continue
        key = _join_surrogates(key_node.value)
        if key in result:
            first = tree.keys[(*path, key)].line
            place = tree.place((*path, key), line, column)
            cause, remedy = f"'{key}' is given twice (first on line {first})", "remove or rename one of the two"
            tree.mistakes.append(mistake(place, cause, remedy, code="twice", name=key))
            continue
        tree.keys[(*path, key)] = Position(line, column)
        result[key] = _convert(value_node, (*path, key), tree, open_nodes)
    return result


def _join_surrogates(text: str) -> str:
    r"""JSON writes some characters as two escapes (`\ud83d\ude00`); YAML readers leave them apart."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _has_surrogates(text) else text


def _has_surrogates(text: Iterable[str]) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
