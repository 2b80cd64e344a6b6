"""Mistakes in the words of each language: by code and values, in English where a language has no words."""

from __future__ import annotations

from decimal import Decimal

import pytest

import safear as sa
from doors import merge_terms, missing_given, out_of_limits, person_mistakes, tell_mistake
from safear.errors import Mistake, format_path, mistake
from safear.problem import Feature
from safear.texts import languages, load_texts

LOAN = sa.load_example("loan")
FOUND: list[Mistake] = [
    *person_mistakes(LOAN, {"savings": "ritch", "aeg": 3}),
    missing_given("age"),
    *(out_of_limits(Feature("term", "numeric", (), least=Decimal(6), most=Decimal(60)), Decimal(n)) for n in (5, 61)),
    *merge_terms(LOAN, sa.Terms.of(cost={"jump": 1, "find work": -1}, chance={"change job": 2}))[1],
]


def test_the_mistakes_of_applicants_have_codes() -> None:
    told = {(item.code, format_path(item.place.path)) for item in FOUND}
    assert {
        ("unknown_feature", "aeg"),
        ("missing", "age"),
        ("missing_given", "age"),
        ("too_low", "term"),
        ("too_high", "term"),
        ("unknown_level", "savings"),
        ("unknown_action", "actions.jump"),
        ("cost_out_of_range", "actions.find work.cost"),
        ("chance_out_of_range", "actions.change job.chance"),
    } <= told


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("item", FOUND, ids=lambda item: item.code)
def test_every_language_has_words_for_them(item: Mistake, language: str) -> None:
    texts = load_texts(language)
    assert f"mistake.{item.code}" in texts
    told = tell_mistake(item, texts)
    assert item.cause not in told
    assert item.code.startswith("missing") or any(texts.quote(str(value)) in told for value in item.values.values())


def test_words() -> None:
    item = mistake(("cost0",), "'x' is no cost", code="not_a_cost", value="x\u202e", most=1_000_000)
    assert tell_mistake(item, load_texts("en")) == (
        "“x\ufffd” is not a number from 0 to 1,000,000 with at most four decimals."
    )
    assert tell_mistake(item, load_texts("de")).startswith("„x\ufffd“ ist keine Zahl von 0 bis 1.000.000 mit")


def test_what_has_no_words_is_told_in_english() -> None:
    item = mistake(("goal", "threshold"), "2 is not between 0 and 1", "write 0.5", code="out_of_range", value=2)
    assert tell_mistake(item, load_texts("de")) == "goal.threshold: 2 is not between 0 and 1: write 0.5"
