"""The mutants of a file: its text with one operator, number, condition or name changed, as Cosmic Ray changes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parent.parent

# One replacement for each mistake that people make; Cosmic Ray has each operator become each other, four times as many.
BINARY = (
    "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul", "BitOr_BitAnd", "BitAnd_BitOr",
    "LShift_RShift", "RShift_LShift",
)  # fmt: skip
COMPARISON = (
    "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt", "Eq_NotEq", "NotEq_Eq",
    "Is_IsNot", "IsNot_Is",
)  # fmt: skip
OTHERS = (
    "ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_Delete_Invert",
    "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ExceptionReplacer", "NumberReplacer",
    "ZeroIterationForLoop",
)  # fmt: skip
OPPOSITES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "floor": "ceil"}
OPPOSITES |= {there: here for here, there in OPPOSITES.items()}


class OppositeName(Operator):
    """`max` for `min`, `ceil` for `floor`, which Cosmic Ray leaves alone."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Where such a function is called, or handed on."""
        if node.type == "name" and node.value in OPPOSITES and not node.is_definition():
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:  # noqa: ARG002  # each place has one mutant
        """The opposite."""
        node.value = OPPOSITES[node.value]
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        """None; Cosmic Ray wants them for its own tests."""
        return ()


class AugmentedAssignment(OppositeName):
    """`-=` and `=` for `+=`, which Cosmic Ray leaves alone."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Where something is added to a variable."""
        if node.type == "operator" and node.value == "+=":
            yield node.start_pos, node.end_pos
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """The variable less that, or that alone."""
        node.value = ("-=", "=")[index]
        return node


class Mutant(NamedTuple):
    """One change of one file: what changes which occurrence, and where that is.

    `owner` is the outermost function around it, with the class that it belongs to; there is none outside of functions.
    """

    path: str
    operator: str
    occurrence: int
    function: str
    line_number: int
    owner: str

    @property
    def is_outside(self) -> bool:
        """Whether it is part of what happens when the file is imported."""
        return not self.owner

    @property
    def source(self) -> str:
        """The whole text of the changed file."""
        return _mutate(self.path, self.operator, self.occurrence)

    @property
    def change(self) -> tuple[str, str]:
        """The changed line, before and after."""
        both = zip(read(self.path).splitlines(), self.source.splitlines(), strict=True)
        return next((" ".join(old.split()), " ".join(new.split())) for old, new in both if old != new)


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file, in the order of its lines."""
    name = str(path.relative_to(ROOT))
    owners = dict(_owners(ast.parse(read(name)).body, ""))
    nodes, found = list(ast_nodes(get_ast(read(name)))), []
    for operator_name, operator in _operators().items():
        places = [(node, begin) for node in nodes for begin, _ in operator.mutation_positions(node)]
        for occurrence, (node, (line, _)) in enumerate(places):
            if _says_nothing(node):
                continue
            function = ASTQuery(node).get_definition_name() or ""
            found.append(Mutant(name, operator_name, occurrence, function, line, owners.get(line, "")))
    return sorted(found, key=lambda mutant: (mutant.line_number, mutant.operator, mutant.occurrence))


@cache
def _mutate(name: str, operator: str, occurrence: int) -> str:
    return str(mutate_code(read(name), _operators()[operator], occurrence))


@cache
def read(name: str) -> str:
    """The text of a file of this repository."""
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def _operators() -> dict[str, Operator]:
    names = [f"ReplaceBinaryOperator_{pair}" for pair in BINARY]
    names += [f"ReplaceComparisonOperator_{pair}" for pair in COMPARISON]
    found = {name: get_operator(f"core/{name}")() for name in (*names, *OTHERS)}
    return found | {"OppositeName": OppositeName(), "AugmentedAssignment": AugmentedAssignment()}


def _says_nothing(node: Any) -> bool:
    """Whether a node is no code that computes: a decorator, an annotation, the mark of keyword-only arguments."""
    if node.type == "operator" and node.parent.type in {"parameters", "param", "arglist", "argument", "dictorsetmaker"}:
        return True
    inner = node
    while (outer := inner.parent) is not None:
        if outer.type in {"decorator", "tfpdef"}:
            return True
        if outer.type == "annassign" and inner is outer.children[1]:
            return True
        if isinstance(outer, parso.python.tree.Function) and inner is outer.annotation:
            return True
        inner = outer
    return False


def _owners(body: list[ast.stmt], within: str) -> Iterator[tuple[int, str]]:
    """The lines inside of functions, with the names of those."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            for line in range(statement.body[0].lineno, (statement.end_lineno or 0) + 1):
                yield line, within + statement.name
        elif isinstance(statement, ast.ClassDef):
            yield from _owners(statement.body, f"{within}{statement.name}.")
