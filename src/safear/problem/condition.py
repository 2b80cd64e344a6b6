"""The condition language: `skill < manager and not (job == unemployed or savings in [none, little])`.

::

    condition  = both, { "or", both } ;
    both       = single, { "and", single } ;
    single     = "not", single | "(", condition, ")" | "true" | "false" | comparison ;
    comparison = name, ( "==" | "!=" | "<" | "<=" | ">" | ">=" ), name (a level, or another feature)
               | name, [ "not" ], "in", "[", name, { ",", name }, "]" ;

A name is one or more plain words (letters, digits, `_`, `-`, `.`; numbers may have a sign), or stands in quotes.
Conditions are data: they are parsed, checked and evaluated here, never handed to Python's `eval`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from safear.problem.model import Move, Shift

Operator = Literal["==", "!=", "<", "<=", ">", ">="]
ORDER_OPERATORS: frozenset[Operator] = frozenset({"<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class Constant:
    """`true` or `false`."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True, slots=True)
class LevelTest:
    """A feature compared with one of its levels. `column` is where it starts in the text, from 0."""

    feature: str
    operator: Operator
    level: str
    column: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{_write_name(self.feature)} {self.operator} {_write_name(self.level)}"


@dataclass(frozen=True, slots=True)
class FeatureTest:
    """A feature compared with another one: by the values of their levels, or by position if they share their levels."""

    feature: str
    operator: Operator
    other: str
    column: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{_write_name(self.feature)} {self.operator} {_write_name(self.other)}"


@dataclass(frozen=True, slots=True)
class Membership:
    """A feature that is at one of several levels."""

    feature: str
    levels: tuple[str, ...]
    column: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{_write_name(self.feature)} in [{', '.join(map(_write_name, self.levels))}]"


@dataclass(frozen=True, slots=True)
class Within:
    """A feature no further from another than `most` (levels, or an amount with its unit). Only `limits` makes it."""

    feature: str
    other: str
    most: Move | Shift

    def __str__(self) -> str:
        return f"{_write_name(self.feature)} at most {self.most} from what was filed"


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of `part`."""

    part: Condition

    def __str__(self) -> str:
        return f"not ({self.part})" if isinstance(self.part, And | Or) else f"not {self.part}"


@dataclass(frozen=True, slots=True)
class And:
    """All of `parts`."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, And | Or) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of `parts`."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)


Test = LevelTest | FeatureTest | Membership | Within
Condition = Constant | Test | Not | And | Or
ALWAYS = Constant(value=True)


class ConditionSyntaxError(ValueError):
    """A text that is not a condition; `column` (from 0) is where reading stopped."""

    def __init__(self, cause: str, column: int, remedy: str | None = None) -> None:
        super().__init__(cause)
        self.cause, self.column, self.remedy = cause, column, remedy


def parse_condition(text: str) -> Condition:
    """Read a condition, or raise ConditionSyntaxError."""
    return _Parser(text).parse()


def comparisons(condition: Condition) -> Iterator[Test]:
    """All comparisons in a condition, from left to right."""
    match condition:
        case LevelTest() | FeatureTest() | Membership() | Within():
            yield condition
        case Not(part):
            yield from comparisons(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from comparisons(part)


def condition_features(condition: Condition) -> frozenset[str]:
    """The names of the features that a condition looks at."""
    names = {item.feature for item in comparisons(condition)}
    return frozenset(names | {item.other for item in comparisons(condition) if isinstance(item, FeatureTest | Within)})


def replace_tests(condition: Condition, change: Callable[[LevelTest], Test]) -> Condition:
    """The condition with each comparison of a feature with a level changed into another."""
    match condition:
        case LevelTest():
            return change(condition)
        case Not(part):
            return Not(replace_tests(part, change))
        case And(parts):
            return And(tuple(replace_tests(part, change) for part in parts))
        case Or(parts):
            return Or(tuple(replace_tests(part, change) for part in parts))
    return condition


_WORD = r"(?:[\w.\-]+|\+\.?\d[\w.\-]*)"
_TOKEN = re.compile(
    rf"""\s*(?:
        (?P<word>{_WORD})
      | (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<operator>==|!=|<=|>=|<|>)
      | (?P<mark>[()\[\],])
    )""",
    re.VERBOSE,
)
_PLAIN = re.compile(rf"{_WORD}(?: {_WORD})*")
_KEYWORDS = frozenset({"and", "or", "not", "in", "true", "false"})
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class _Token:
    kind: Literal["word", "quoted", "operator", "mark", "end"]
    text: str
    column: int

    def is_keyword(self, word: str) -> bool:
        return self.kind == "word" and self.text == word


def _tokenize(text: str) -> Iterator[_Token]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            column = len(text) - len(text[position:].lstrip())
            raise _unexpected_character(text[column], column)
        kind = match.lastgroup
        value = match.group(kind)
        column = match.start(kind)
        if kind == "quoted":
            value = re.sub(r"\\(.)", r"\1", value[1:-1])
        yield _Token(kind, value, column)  # type: ignore[arg-type]  # the group names are the kinds
        position = match.end()
    yield _Token("end", "", len(text))


def _unexpected_character(character: str, column: int) -> ConditionSyntaxError:
    remedies = {
        "=": "write '==' to compare",
        "&": "write 'and'",
        "|": "write 'or'",
        "!": "write 'not' or '!='",
        "'": "the quote is never closed",
        '"': "the quote is never closed",
    }
    remedy = remedies.get(character, "put names with such characters in quotes")
    return ConditionSyntaxError(f"unexpected '{character}'", column, remedy)


class _Parser:
    """Recursive descent over the grammar at the top of this file."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokenize(text))
        self.position = 0
        self.depth = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def advance(self) -> _Token:
        token = self.token
        self.position += 1
        return token

    def parse(self) -> Condition:
        if len(self.tokens) == 1:
            raise ConditionSyntaxError("the condition is empty", 0)
        condition = self.either()
        if self.token.kind != "end":
            raise self.unexpected("'and', 'or' or the end")
        return condition

    def either(self) -> Condition:
        parts = [self.both()]
        while self.token.is_keyword("or"):
            self.advance()
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def both(self) -> Condition:
        parts = [self.single()]
        while self.token.is_keyword("and"):
            self.advance()
            parts.append(self.single())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def single(self) -> Condition:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ConditionSyntaxError("nested too deeply", self.token.column)
        try:
            if self.token.is_keyword("not"):
                self.advance()
                return Not(self.single())
            if self.token.text == "(" and self.token.kind == "mark":
                self.advance()
                inner = self.either()
                self.expect(")")
                return inner
            for word, value in (("true", True), ("false", False)):
                if self.token.is_keyword(word):
                    self.advance()
                    return Constant(value)
            return self.comparison()
        finally:
            self.depth -= 1

    def comparison(self) -> Condition:
        column = self.token.column
        feature = self.name("a feature")
        if self.token.kind == "operator":
            operator = self.advance().text
            return LevelTest(feature, operator, self.name("a level"), column)  # type: ignore[arg-type]  # by the token
        negated = self.token.is_keyword("not")
        if negated:
            self.advance()
        if not self.token.is_keyword("in"):
            raise self.unexpected("'in'" if negated else "a comparison ('==', '<', 'in', ...)")
        self.advance()
        self.expect("[")
        levels = [self.name("a level")]
        while self.token.text == "," and self.token.kind == "mark":
            self.advance()
            levels.append(self.name("a level"))
        self.expect("]")
        membership = Membership(feature, tuple(levels), column)
        return Not(membership) if negated else membership

    def name(self, wanted: str) -> str:
        if self.token.kind == "quoted":
            return self.advance().text
        words: list[str] = []
        while self.token.kind == "word" and self.token.text not in _KEYWORDS:
            words.append(self.advance().text)
        if not words and self.token.text in {"true", "false"} and wanted == "a level":
            words.append(self.advance().text)  # a level that is called so
        if not words:
            raise self.unexpected(wanted)
        return " ".join(words)

    def expect(self, mark: str) -> None:
        if self.token.kind != "mark" or self.token.text != mark:
            raise self.unexpected(f"'{mark}'")
        self.advance()

    def unexpected(self, wanted: str) -> ConditionSyntaxError:
        found = "the end" if self.token.kind == "end" else f"'{self.token.text}'"
        return ConditionSyntaxError(f"expected {wanted}, found {found}", self.token.column)


def _write_name(name: str) -> str:
    """A name as it is written in a condition: plain if it can be, else in quotes."""
    if _PLAIN.fullmatch(name) and not _KEYWORDS & set(name.split(" ")):
        return name
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
