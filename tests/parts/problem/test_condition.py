"""The condition language: what is read, what it means, and that printing and reading are inverse."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import (
    And,
    ConditionSyntaxError,
    Constant,
    FeatureTest,
    LevelTest,
    Membership,
    Not,
    Or,
    comparisons,
    condition_features,
    holds,
    name_features,
)
from safear.problem import Condition, Feature, parse_condition
from strategies import Drawn, Said, conditions, features_


def plain(condition: Condition) -> Any:
    """A condition as nested tuples, without the columns."""
    match condition:
        case Constant(value):
            return value
        case LevelTest(feature, operator, level):
            return (feature, operator, level)
        case FeatureTest(feature, operator, other):
            return (feature, operator, f"the feature {other}")
        case Membership(feature, levels):
            return (feature, "in", list(levels))
        case Not(part):
            return ("not", plain(part))
        case And(parts):
            return ("and", *map(plain, parts))
        case Or(parts):
            return ("or", *map(plain, parts))


A, B, C = (("a", "==", "1"), ("b", "<", "2"), ("c", "!=", "3"))


@pytest.mark.parametrize(
    "text, meaning",
    [
        ("a == 1", A),
        ("a==1", A),
        ("  a\t==\n1  ", A),
        ("(a == 1)", A),
        ("((a == 1))", A),
        ("a <= 1", ("a", "<=", "1")),
        ("a >= 1", ("a", ">=", "1")),
        ("a > 1", ("a", ">", "1")),
        ("true", True),
        ("false", False),
        ("a == true", ("a", "==", "true")),
        ("a in [true, false]", ("a", "in", ["true", "false"])),
        ("not a == 1", ("not", A)),
        ("not not a == 1", ("not", ("not", A))),
        ("a in [1]", ("a", "in", ["1"])),
        ("a in[1,2 , 3]", ("a", "in", ["1", "2", "3"])),
        ("a not in [1, 2]", ("not", ("a", "in", ["1", "2"]))),
        ("not a in [1, 2]", ("not", ("a", "in", ["1", "2"]))),
        # `not` binds tighter than `and`, `and` tighter than `or`
        ("a == 1 or b < 2 and c != 3", ("or", A, ("and", B, C))),
        ("a == 1 and b < 2 or c != 3", ("or", ("and", A, B), C)),
        ("(a == 1 or b < 2) and c != 3", ("and", ("or", A, B), C)),
        ("not a == 1 and b < 2", ("and", ("not", A), B)),
        ("not a == 1 or b < 2", ("or", ("not", A), B)),
        ("not (a == 1 and b < 2)", ("not", ("and", A, B))),
        ("a == 1 and not b < 2", ("and", A, ("not", B))),
        ("a == 1 and b < 2 and c != 3", ("and", A, B, C)),
        ("a == 1 or b < 2 or c != 3", ("or", A, B, C)),
        ("a == 1 and (b < 2 and c != 3)", ("and", A, ("and", B, C))),
    ],
)
def test_what_is_read(text: str, meaning: object) -> None:
    assert plain(parse_condition(text)) == meaning


@pytest.mark.parametrize(
    "written, name",
    [
        ("resting heart rate", "resting heart rate"),
        ("resting   heart\trate", "resting heart rate"),
        ("job-status", "job-status"),
        ("b.m.i", "b.m.i"),
        ("_x", "_x"),
        ("007", "007"),
        ("1.5", "1.5"),
        ("+1", "+1"),
        ("-1", "-1"),
        (".5", ".5"),
        ("20-25", "20-25"),
        ("größe", "größe"),
        ("日本", "日本"),
        # letters, digits, spaces, `_`, `-` and `.` need no quotes, wherever in the name they stand
        ("college - no degree", "college - no degree"),
        ("-x", "-x"),
        (".x", ".x"),
        ("a ...", "a ..."),
        ("'a/b'", "a/b"),
        ('"a/b"', "a/b"),
        ("'Little (Res)'", "Little (Res)"),
        ("'say \"so\"'", 'say "so"'),
        ('"it\'s"', "it's"),
        (r"'it\'s'", "it's"),
        (r'"say \"so\""', 'say "so"'),
        (r"'back\\slash'", r"back\slash"),
        (r"'\a'", "a"),
        ("'and'", "and"),
        ("'true'", "true"),
        ("'rent or own'", "rent or own"),
        ("'  '", "  "),
        ("'a == b'", "a == b"),
        ("'[1, 2]'", "[1, 2]"),
    ],
)
def test_names(written: str, name: str) -> None:
    assert plain(parse_condition(f"{written} == {written}")) == (name, "==", name)
    assert plain(parse_condition(f"x in [y, {written}]")) == ("x", "in", ["y", name])
    assert plain(parse_condition(str(LevelTest(name, "<", name)))) == (name, "<", name)


@pytest.mark.parametrize(
    "text, cause, column, remedy",
    [
        ("", "the condition is empty", 0, None),
        ("   ", "the condition is empty", 0, None),
        ("job", "expected a comparison ('==', '<', 'in', ...), found the end", 3, None),
        ("job == ", "expected a level, found the end", 7, None),
        ("== employed", "expected a feature, found '=='", 0, None),
        ("job == and", "expected a level, found 'and'", 7, None),
        ("job == employed and", "expected a feature, found the end", 19, None),
        ("job == a or or b == c", "expected a feature, found 'or'", 12, None),
        ("not", "expected a feature, found the end", 3, None),
        ("true == a", "expected 'and', 'or' or the end, found '=='", 5, None),
        ("(job == a", "expected ')', found the end", 9, None),
        ("job == a)", "expected 'and', 'or' or the end, found ')'", 8, None),
        ("job == 'a' b", "expected 'and', 'or' or the end, found 'b'", 11, None),
        ("job == a skill == b", "expected 'and', 'or' or the end, found '=='", 15, None),
        ("()", "expected a feature, found ')'", 1, None),
        ("job in a", "expected '[', found 'a'", 7, None),
        ("job in []", "expected a level, found ']'", 8, None),
        ("job in [a", "expected ']', found the end", 9, None),
        ("job in [a,]", "expected a level, found ']'", 10, None),
        ("job in [a b c == d]", "expected ']', found '=='", 14, None),
        ("job not a", "expected 'in', found 'a'", 8, None),
        ("job = a", "unexpected '='", 4, "write '==' to compare"),
        ("job == a & b == c", "unexpected '&'", 9, "write 'and'"),
        ("job == a || b == c", "unexpected '|'", 9, "write 'or'"),
        ("!job == a", "unexpected '!'", 0, "write 'not' or '!='"),
        ("job == 'a", "unexpected '''", 7, "the quote is never closed"),
        ('job == "a', "unexpected '\"'", 7, "the quote is never closed"),
        ("job == Little (Res)", "expected 'and', 'or' or the end, found '('", 14, None),
        ("job == a/b", "unexpected '/'", 8, "put names with such characters in quotes"),
        ("pay ($) > 3", "unexpected '$'", 5, "put names with such characters in quotes"),
    ],
)
def test_what_is_no_condition(text: str, cause: str, column: int, remedy: str | None) -> None:
    with pytest.raises(ConditionSyntaxError) as caught:
        parse_condition(text)
    assert (caught.value.cause, caught.value.column, caught.value.remedy) == (cause, column, remedy)
    assert str(caught.value) == cause


def test_comparisons_know_where_they_start() -> None:
    condition = parse_condition("  job == a and not (skill in [b, c] or 'x y' < d)")
    assert [(item.feature, getattr(item, "column", None)) for item in comparisons(condition)] == [
        ("job", 2),
        ("skill", 20),
        ("x y", 39),
    ]
    assert condition_features(condition) == {"job", "skill", "x y"}
    assert condition_features(Constant(True)) == frozenset()


def test_where_a_comparison_starts_is_no_part_of_what_it_says() -> None:
    assert parse_condition("a == 1 and b in [2]") == parse_condition("  (a==1)   and 'b' in [ 2 ]")
    assert hash(parse_condition("a == 1")) == hash(parse_condition(" a == 1"))


@pytest.mark.parametrize("opening, closing", [("(", ")"), ("not ", ""), ("not (", ")")])
def test_nesting_has_a_limit(opening: str, closing: str) -> None:
    each = opening.count("not") + opening.count("(")
    deepest = 99 // each
    condition = parse_condition(opening * deepest + "true" + closing * deepest)
    assert str(condition) == "not " * (deepest * opening.count("not")) + "true"
    for depth in (100, 5_000):
        with pytest.raises(ConditionSyntaxError, match=r"^nested too deeply$") as caught:
            parse_condition(opening * depth + "true" + closing * depth)
        # the 101st of the parts that are open at once is one too many
        assert caught.value.column == len(opening) * (100 // each) + (100 % each) * len("not ")


def test_length_has_no_limit() -> None:
    condition = parse_condition(" or ".join(["a == 1 and b == 2"] * 5_000))
    assert isinstance(condition, Or)
    assert len(condition.parts) == 5_000


_names = st.text() | st.sampled_from(
    ["a", "resting heart rate", "a - b", "- x", "a .", "and", "not in", "true", "it's", '"', "\\", "", " ", "+1", "-1"]
)
_atoms = st.one_of(
    st.builds(Constant, st.booleans()),
    st.builds(LevelTest, _names, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), _names),
    st.builds(Membership, _names, st.lists(_names, min_size=1, max_size=3).map(tuple)),
)


def _combined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(Not, parts), st.builds(And, several), st.builds(Or, several))


@given(st.recursive(_atoms, _combined, max_leaves=8))
def test_what_is_printed_reads_as_the_same(condition: Condition) -> None:
    again = parse_condition(str(condition))
    assert plain(again) == plain(condition)
    assert str(again) == str(condition)


@st.composite
def _drawn_conditions(draw: st.DrawFn) -> tuple[tuple[Drawn, ...], Said]:
    drawn = draw(features_())
    return drawn, draw(conditions(drawn))


def _feature(drawn: Drawn) -> Feature:
    edges = tuple(Decimal(str(edge)) for edge in drawn.edges)
    closed: Any = drawn.closed
    kind: Any = drawn.kind
    return Feature(drawn.name, kind, drawn.levels, edges=edges, closed=closed, values=drawn.values)


@given(_drawn_conditions())
def test_conditions_hold_where_they_should(pair: tuple[tuple[Drawn, ...], Said]) -> None:
    drawn, said = pair
    features = {feature.name: _feature(feature) for feature in drawn}
    states = list(itertools.product(*(range(len(feature.levels)) for feature in drawn)))
    codes = {feature.name: np.array([state[i] for state in states], np.int16) for i, feature in enumerate(drawn)}
    expected = [said.holds({feature.name: state[i] for i, feature in enumerate(drawn)}) for state in states]
    condition = name_features(parse_condition(said.text), features)
    assert holds(condition, codes, features).tolist() == expected
    assert name_features(parse_condition(str(condition)), features) == condition
    assert condition_features(condition) <= set(features)


@given(st.text(alphabet="ab1 '\"\\()[],=<>!&|+-._\t\nnotrandi") | st.text())
def test_any_text_is_a_condition_or_a_syntax_error(text: str) -> None:
    error = condition = None
    try:
        condition = parse_condition(text)
    except ConditionSyntaxError as caught:
        error = caught
    if condition is not None:
        assert plain(parse_condition(str(condition))) == plain(condition)
    else:
        assert error is not None
        assert error.cause
        assert 0 <= error.column <= len(text)


# ------------------------------------------------------------------------------------------------------- long texts


class Counted(str):
    """A text that counts the letters that are copied out of it."""

    copied = 0

    def __getitem__(self, key: object) -> str:
        found = super().__getitem__(key)  # type: ignore[index]
        Counted.copied += len(found)
        return found


def _count_copies(act: Callable[[], object]) -> int:
    Counted.copied = 0
    act()
    return Counted.copied


def test_long_rules_are_read_without_copying_what_is_left() -> None:
    def read(terms: int) -> Callable[[], object]:
        return lambda: parse_condition(Counted(" or ".join(["x == a"] * terms)))

    assert _count_copies(read(2000)) <= 2.5 * _count_copies(read(1000)) + 10_000
