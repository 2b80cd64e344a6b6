"""Errors: how mistakes are shown, what is suggested, and that errors survive a journey between processes."""

from __future__ import annotations

import ast
import copy
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from safear import errors
from safear.errors import (
    ClassifierError,
    InputError,
    MissingExtraError,
    Mistake,
    Place,
    ProblemError,
    SafearError,
    TooLargeError,
    format_path,
    mistake,
    on_key,
    quote_list,
    suggest,
)


@pytest.mark.parametrize(
    "path, text",
    [
        ((), ""),
        (("horizon",), "horizon"),
        (("actions", "improve skill", "outcomes", 0), "actions.improve skill.outcomes[0]"),
        (("side_effects", 1, "change", "age"), "side_effects[1].change.age"),
        ((0,), "[0]"),
        ((0, "a"), "[0].a"),
        (("a", 0, 1), "a[0][1]"),
    ],
)
def test_paths(path: tuple[str | int, ...], text: str) -> None:
    assert format_path(path) == text


@pytest.mark.parametrize(
    "place, text",
    [
        (Place(), ""),
        (Place(("a", "b")), "a.b"),
        (Place(file="f.yaml"), "f.yaml"),
        (Place(("a",), "f.yaml"), "f.yaml: a"),
        (Place(("a",), "f.yaml", 3, 7), "f.yaml:3:7: a"),
        (Place((), "f.yaml", 3, 7), "f.yaml:3:7"),
    ],
)
def test_places(place: Place, text: str) -> None:
    assert str(place) == text


@pytest.mark.parametrize(
    "item, text",
    [
        (mistake((), "wrong"), "wrong"),
        (mistake(("a", 0), "wrong"), "a[0]: wrong"),
        (mistake(["a"], "wrong", "do right"), "a: wrong\n    do right"),
        (
            Mistake(Place(("a",), "f.yaml", 2, 6, "  a: b"), "wrong", "do right"),
            "f.yaml:2:6: a: wrong\n      a: b\n         ^\n    do right",
        ),
        (Mistake(Place(("a",), "f.yaml", 1, 1, ""), "wrong"), "f.yaml:1:1: a: wrong\n    \n    ^"),
        # the caret stands under its character however wide a tab is
        (
            Mistake(Place((), "f.json", 1, 4, "\ta\tb"), "wrong"),
            "f.json:1:4: wrong\n    \ta\tb\n    \t \t^",
        ),
        (Mistake(Place(("a",), "f.yaml", 9, 1), "wrong"), "f.yaml:9:1: a: wrong"),
    ],
)
def test_mistakes(item: Mistake, text: str) -> None:
    assert str(item) == text


def test_a_mistake_seen_from_outside() -> None:
    inside = mistake(on_key(("age",)), "wrong", "do right").inside("people", "ann")
    assert str(inside) == "people.ann.age: wrong\n    do right"
    assert inside.place.on_key
    assert not mistake(("age",), "wrong").place.on_key


@pytest.mark.parametrize(
    "word, known, text",
    [
        ("outcome", ["cost", "outcomes"], "did you mean 'outcomes'?"),
        ("SKILL", ["skill", "age"], "did you mean 'skill'?"),
        ("strasse", ["Straße", "x"], "did you mean 'Straße'?"),
        ("zzz", ["cost", "when"], "possible: 'cost', 'when'"),
        ("zzz", ["a", "a", "b"], "possible: 'a', 'b'"),
        ("zzz", [], None),
        ("", ["cost"], "possible: 'cost'"),
    ],
)
def test_suggestions(word: str, known: list[str], text: str | None) -> None:
    assert suggest(word, known) == text
    assert suggest(word, iter(known)) == text


def test_long_lists_are_cut_short() -> None:
    words = [f"w{number}" for number in range(20)]
    assert quote_list(words[:12]) == ", ".join(f"'w{number}'" for number in range(12))
    assert quote_list(words).endswith("'w11' and 8 more")
    assert quote_list(words, limit=2) == "'w0', 'w1' and 18 more"
    assert quote_list([]) == ""


KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, SafearError)]


@pytest.mark.parametrize("kind", KINDS)
def test_exit_codes(kind: type[SafearError]) -> None:
    expected = 1 if kind is SafearError else 2
    assert kind.exit_code == expected


def test_the_tree_at_the_top_of_the_file_is_complete() -> None:
    drawn = [
        line for line in (errors.__doc__ or "").splitlines() if "─" in line or line.strip().startswith("SafearError ")
    ]
    assert sorted(line.replace("│", " ").split("─ ")[-1].split()[0] for line in drawn) == sorted(
        kind.__name__ for kind in KINDS
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if issubclass(kind, InputError)])
def test_errors_with_mistakes(kind: type[InputError]) -> None:
    first, second = mistake(("a",), "wrong"), mistake(("b",), "bad", "do right")
    error = kind([first, second])
    assert str(error) == "a: wrong\nb: bad\n    do right"
    assert kind.at(("a",), "wrong", code="invalid").mistakes == [first]
    codes = {ClassifierError: "classifier", TooLargeError: "too_large"}
    assert kind.at((), "wrong").mistakes[0].code == codes.get(kind, "invalid")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is kind
        assert list(other.mistakes) == [first, second]
        assert str(other) == str(error)
    with pytest.raises(SafearError, match="a: wrong"):
        raise error


def test_errors_are_told_apart_by_identity() -> None:
    assert ProblemError.at((), "wrong") != ProblemError.at((), "wrong")
    assert len({ProblemError.at((), "wrong"), ProblemError.at((), "wrong")}) == 2


def test_a_missing_extra_says_what_to_install() -> None:
    error = MissingExtraError("skops", "skops")
    assert str(error) == "skops is not installed; install it with: pip install 'safear[skops]'"


@pytest.mark.parametrize("error", [MissingExtraError("onnxruntime", "onnx"), SafearError("something")])
def test_errors_travel_between_processes(error: SafearError) -> None:
    other = pickle.loads(pickle.dumps(error))
    assert type(other) is type(error)
    assert str(other) == str(error)


def calls_without_a_code(tree: ast.AST) -> Iterator[str]:
    """Mistakes that are made with the code that says nothing."""
    named = {"ClassifierError", "TooLargeError"}  # these have a code of their own
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or any(item.arg == "code" for item in node.keywords) or len(node.args) > 3:
            continue
        match node.func:
            case ast.Name(id="mistake" | "Mistake"):
                yield ast.unparse(node)
            case ast.Attribute(value=ast.Name(id=name), attr="at") if name.endswith("Error") and name not in named:
                yield ast.unparse(node)


def test_every_mistake_has_a_code() -> None:
    """Programs and other languages go by it."""
    sources = Path(errors.__file__).parent.rglob("*.py")
    found = {file.name: list(calls_without_a_code(ast.parse(file.read_text(encoding="utf-8")))) for file in sources}
    assert {name: calls for name, calls in found.items() if calls} == {}
    assert list(calls_without_a_code(ast.parse("InputError.at((), 'no'), mistake((), 'no', code='x')"))) == [
        "InputError.at((), 'no')"
    ]


def test_no_mistake_takes_more_than_two_thousand_letters() -> None:
    """Whatever is long in it, and whatever has to be escaped."""
    for long in ("a" * 5000, "\x1b" * 5000):
        place = Place(("a", long), file=f"{long}.yaml", line=1, column=130, source="a" * 5000)
        assert len(str(Mistake(place, f"'{long}' is wrong", f"possible: {long}"))) < 2000
