"""Problems, terms and people from files, texts and dictionaries.

The way of a file: text -> tree (with positions) -> document (its shape checked) -> problem (its meaning checked).
Mistakes from all stages are collected, given their position, and raised together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from safear.arguments import FILE, TEXT, ArgumentKind, takes
from safear.errors import Mistake, Path, PersonError, ProblemError, TermsError, mistake
from safear.files import read_text
from safear.problem.build import build_problem, build_terms
from safear.problem.checks import check_problem
from safear.problem.model import PROBLEM, Problem, Record
from safear.problem.person import read_person, read_texts_of
from safear.problem.plain_document import read_plainly
from safear.problem.terms import Terms, merge_terms
from safear.problem.tree import Tree, in_order, plain_tree, read_tree

SOURCE = ArgumentKind(
    "a problem as text or as a mapping", "give YAML text or a dictionary; load_problem reads a file", (str, Mapping)
)


@takes(path=FILE)
def load_problem(path: str | os.PathLike[str]) -> Problem:
    """Read a problem file (YAML, or JSON if its name ends in .json); its mistakes are raised as one ProblemError."""
    file = FilePath(path)
    return _problem_from(read_tree(read_text(file, ProblemError), os.fspath(path), ProblemError))


def locate_mistakes(path: FilePath, mistakes: Sequence[Mistake]) -> list[Mistake]:
    """Mistakes that were found later, with their positions in the problem's file if it is one."""
    if not path.is_file():
        return list(mistakes)
    tree = read_tree(read_text(path, ProblemError), str(path), ProblemError)
    return [_locate(tree, item) for item in mistakes]


@takes(source=SOURCE, name=TEXT)
def parse_problem(source: str | Mapping[str, Any], name: str = "<problem>") -> Problem:
    """A problem from YAML text, or from a dictionary in the vocabulary of the problem file."""
    if isinstance(source, str):
        return _problem_from(read_tree(source, name, ProblemError))
    return _problem_from(plain_tree(dict(source), ProblemError))


@takes(path=FILE, problem=PROBLEM)
def load_terms(path: str | os.PathLike[str], problem: Problem) -> Terms:
    """Read personal terms for a problem from a YAML or JSON file."""
    return _terms_from(read_tree(read_text(FilePath(path), TermsError), os.fspath(path), TermsError), problem)


@takes(source=SOURCE, problem=PROBLEM, name=TEXT)
def parse_terms(source: str | Mapping[str, Any], problem: Problem, *, name: str = "<terms>") -> Terms:
    """Personal terms from YAML text or a dictionary."""
    tree = read_tree(source, name, TermsError) if isinstance(source, str) else plain_tree(dict(source), TermsError)
    return _terms_from(tree, problem)


@takes(path=FILE, problem=PROBLEM)
def load_record(path: str | os.PathLike[str], problem: Problem) -> tuple[dict[str, object], Tree]:
    """A person as filed in a YAML or JSON file, and its tree, by which mistakes can be located."""
    tree = read_tree(read_text(FilePath(path), PersonError), os.fspath(path), PersonError)
    mistakes = list(tree.mistakes)
    if not isinstance(tree.data, dict):
        mistakes.append(tree.locate(mistake((), "a person is a mapping of features to levels", code="not_a_mapping")))
    else:
        nested = [name for name, value in tree.data.items() if not isinstance(value, str)]
        mistakes += [tree.locate(mistake((name,), "write a single level here", code="not_a_text")) for name in nested]
    if mistakes:
        raise PersonError(mistakes)
    quoted = [name for name in tree.data if tree.positions[(name,)].is_quoted]
    return read_texts_of(tree.data, problem.feature_by_name, quoted=quoted), tree


def load_person(path: str | os.PathLike[str], problem: Problem) -> Record:
    """Read a person from a YAML or JSON file: the record as filed, with everything in it."""
    record, tree = load_record(path, problem)
    try:
        read_person(problem, record)
    except PersonError as error:
        raise PersonError(in_order([tree.locate(item) for item in error.mistakes])) from None
    return record


def _problem_from(tree: Tree) -> Problem:
    mistakes, pruned = list(tree.mistakes), set[Path]()
    document = None if mistakes else read_plainly(tree.data)
    if document is None:
        from safear.problem.document import Document  # noqa: PLC0415  # pydantic takes a moment to load
        from safear.problem.shape import read_document  # noqa: PLC0415  # as above

        document, mistakes, pruned = read_document(tree, Document, ProblemError)
    problem, misread = build_problem(document)
    vague = {("actions", item.place.path[1], "outcomes") for item in misread if item.place.path[0] == "actions"}
    found = [*misread, *(item for item in check_problem(problem) if item.place.path not in vague)]
    pruned |= {("features",) for item in tree.mistakes if item.place.path[:1] == ("features",)}
    mistakes += [_locate(tree, item) for item in found if not _follows_from(item, pruned)]
    if mistakes:
        raise ProblemError(in_order(mistakes))
    return problem


def _terms_from(tree: Tree, problem: Problem) -> Terms:
    from safear.problem.document import TermsDocument  # noqa: PLC0415  # as above
    from safear.problem.shape import read_document  # noqa: PLC0415  # as above

    document, mistakes, pruned = read_document(tree, TermsDocument, TermsError)
    terms, misread = build_terms(document, problem)
    found = [*misread, *merge_terms(problem, terms)[1]]
    mistakes += [_locate(tree, item) for item in found if not _follows_from(item, pruned)]
    if mistakes:
        raise TermsError(in_order(mistakes))
    return terms


def _follows_from(item: Mistake, pruned: set[Path]) -> bool:
    """Whether a mistake may only be there because another part was cut out."""
    if any(item.place.path[: len(path)] == path for path in pruned):
        return True
    if ("features",) in pruned and item.place.path[:1] == ("people",):
        return True
    return item.code == "unknown_feature" and bool({("features",), ("features", item.values["feature"])} & pruned)


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
