"""Conditions in words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from doors import FeatureTest, Glossary, Within, tell_condition
from safear.problem import Move, Shift, parse_condition
from safear.recourse import Teller

WORDS = Glossary(features={"a": {"de": "Alter"}}, levels={"a": {"low": {"de": "jung"}}})


@pytest.mark.parametrize(
    ("written", "english", "german"),
    [
        ("a == low", "a is low", "Alter ist jung"),
        ("a != low", "a is not low", "Alter ist nicht jung"),
        ("a < b", "a is below b", "Alter liegt unter b"),
        ("a >= low and b > 2", "a is at least low and b is above 2", "Alter ist mindestens jung und b liegt über 2"),
        ("a <= low", "a is at most low", "Alter ist höchstens jung"),
        ("a in [low, high]", "a is low or high", "Alter ist jung oder high"),
        (
            "not (a == low or b == 1) and b != 3",
            "it is not so that a is low or b is 1 and b is not 3",
            "es gilt nicht, dass Alter ist jung oder b ist 1 und b ist nicht 3",
        ),
        ("(a == low or b == 1) and b != 3", "(a is low or b is 1) and b is not 3", "(Alter ist jung oder b ist 1) und"),
        ("true", "always", "immer"),
        ("false", "never", "nie"),
    ],
)
def test_in_words(written: str, english: str, german: str) -> None:
    condition = parse_condition(written)
    assert tell_condition(condition, Teller.of()) == english
    assert tell_condition(condition, Teller.of("de", WORDS)).startswith(german)


def test_limits_and_features() -> None:
    assert tell_condition(Within("a", "b", Move(2)), Teller.of()) == "a is within 2 levels of what was filed"
    shift = Within("a", "b", Shift(Decimal(500), "EUR"))
    assert tell_condition(shift, Teller.of("de", WORDS)) == "Alter weicht höchstens um 500 EUR von der Angabe ab"
    assert tell_condition(FeatureTest("a", "<", "b"), Teller.of("de", WORDS)) == "Alter liegt unter b"
