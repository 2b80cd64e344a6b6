"""What cards say, and that it is true."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from syrupy.assertion import SnapshotAssertion

import safear as sa
from compare import read_both
from doors import CardRecord, CardTeller, make_card, make_offer
from drawn_menus import hopeless, menu_of
from lanes import scaled
from safear.recourse import Menu, Offer, Teller
from safear.texts import Texts, languages
from strategies import problems

AMOUNTS = ("at_least", "about", "below", "above", "exactly")


def tell(offer: Offer, language: str = "en", beside: Menu | None = None) -> CardTeller:
    return CardTeller(make_card(offer, beside or ()), Teller.of(language, offer.glossary))


def lines(name: str, language: str = "en") -> list[list[str]]:
    menu = menu_of(name)
    return [tell(offer, language, menu).lines() for offer in menu]


def cards(name: str, language: str = "en") -> str:
    return "\n\n".join(map("\n".join, lines(name, language)))


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", ["loan", "health-insurance"])  # where steps repeat, and one cannot fail
def test_cards(name: str, language: str, snapshot: SnapshotAssertion) -> None:
    assert cards(name, language) == snapshot


def test_who_does_not_get_there_is_told(snapshot: SnapshotAssertion) -> None:
    assert cards("gamble") == snapshot
    assert tell(hopeless()).done() == "Nobody gets there in time."
    assert tell(hopeless(), "de").done() == "Niemand kommt rechtzeitig ans Ziel."
    assert not tell(hopeless()).missed()


def test_costs_that_are_no_time_are_for_not_in(snapshot: SnapshotAssertion) -> None:
    problem = replace(sa.load_example("loan"), cost_unit="EUR")
    menu, units = sa.recommend(problem), sa.recommend(replace(problem, cost_unit="units"))
    told = [tell(menu[0]).done(), tell(menu[0], "de").done(), tell(units[1]).done()]
    assert "\n".join(told) == snapshot


def test_estimates_that_are_off_are_told(snapshot: SnapshotAssertion) -> None:
    assert cards("guesses") == snapshot


def test_a_setback_without_a_name_is_told_by_what_changes() -> None:
    problem = sa.load_example("loan")
    change = next(action for action in problem.actions if action.name == "change job")
    unnamed = replace(change, outcomes=tuple(replace(outcome, label=None) for outcome in change.outcomes))
    actions = tuple(unnamed if action is change else action for action in problem.actions)
    menu = sa.recommend(replace(problem, actions=actions))
    card = tell(menu["cheapest on average"])
    assert card.troubles() == ["“change job” fails and job becomes unemployed (1 of 10 people)"]


def beside_falling(*chances: object) -> Offer:
    """A plan of one step that may end in a fall."""
    fall = {"chance": list(chances) if len(chances) > 1 else chances[0], "change": {"legs": "no"}, "label": "you fall"}
    document = {
        "safear": 1,
        "title": "A step",
        "horizon": 1,
        "goal": {"failure_cost": 9},
        "cost": {"unit": "days"},
        "features": {name: {"kind": "nominal", "levels": ["no", "yes"]} for name in ("there", "legs")},
        "classifier": {"rule": "there == yes and legs == yes"},
        "actions": {"go": {"cost": 1, "outcomes": [{"change": {"there": "yes"}}, fall]}},
        "people": {"p": {"there": "no", "legs": "yes"}},
    }
    return sa.recommend(sa.parse_problem(document))[0]


@pytest.mark.parametrize(
    ("chances", "words"),
    [
        ([0.002], "you fall (2 of 1000 people)"),
        ([0.0001], "you fall (fewer than 1 of 1000 people)"),
        ([0.00009], "hardly anything"),
        ([1e-9], "hardly anything"),
        ([0, 1e-9, 0.0009], "hardly anything"),
    ],
)
def test_what_hardly_ever_happens_is_not_told(chances: list[float], words: str) -> None:
    offer = beside_falling(*chances)
    assert tell(offer).troubles() == [words]
    assert offer.gist.troubles[0].chance == pytest.approx(chances[len(chances) // 2])
    record = CardRecord.of(offer, [])
    assert [one.text for one in record.troubles] == [words] * (words != "hardly anything")
    assert f"What can go wrong: {words}." in record.text


def test_what_may_happen_often_is_told() -> None:
    [words] = tell(beside_falling(0, 1e-9, 0.01)).troubles()
    assert words.startswith("you fall (fewer than 1 of 1000 people;")


def test_marks() -> None:
    menu = menu_of("loan")
    assert [tell(offer, beside=menu).marks() for offer in menu] == ["●●○○○", "●●●●●"]
    assert [tell(offer, "de", menu).risk() for offer in menu] == ["Risiko: 2 von 5", "Risiko: 5 von 5"]


def test_the_worst_case_is_no_average() -> None:
    offer = replace(menu_of("health-insurance")["cheapest on average"], level=1.0)
    assert tell(offer).worst() == "In the worst case: 8 quarters"


@pytest.mark.parametrize("language", languages())
@given(problems())
@settings(max_examples=scaled(30))
def test_every_number_is_true(language: str, document: dict[str, Any]) -> None:
    """Held against the exact distribution: as many as are told, or more, are done for what is told, or less."""
    problem, _, _ = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    for objective in (sa.Mean(), sa.MeanStd(1.0)):
        offer = make_offer(sa.solve(mdp, objective))
        card, texts, done = tell(offer, language), Teller.of(language).texts, offer.gist.done
        if done is not None:
            limit = read_cost(card.done().partition(":")[2].partition(". ")[0], texts)
            within = offer.cost.success_within(limit)
            check_at_least(card.done(), within, texts)
            if not any(re.match(pattern(texts, f"card.done.{kind}.at_most"), card.done()) for kind in ("time", "cost")):
                assert limit == pytest.approx(min(cost for cost, _, good in offer.cost.points() if good))
        missed = 1 - offer.cost.success
        assert bool(card.missed()) == (missed >= 0.001 and done is not None)
        if card.missed():
            check_about(card.missed(), missed, texts)
        for trouble, words in zip(card.told_troubles(), card.troubles(), strict=False):
            check_about(words, trouble.chance, texts)


def pattern(texts: Texts, key: str) -> str:
    """What a text looks like once it is filled in; numbers of people can be read from it."""
    text = texts.entries[key]
    parts = re.split(r"{(\w+)}", text if isinstance(text, str) else text[texts.forms[-1]])
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = [r"(\d+)" if name in {"count", "base"} else ".+" for name in parts[1::2]]
    return "".join(parts)


def read_people(words: str, texts: Texts) -> tuple[str, int, int] | None:
    """How many of how many people some words tell of first, and whether it is about as many; None of everybody."""
    found = [(re.search(pattern(texts, f"format.people.{kind}"), words, re.IGNORECASE), kind) for kind in AMOUNTS]
    told = min(((match.start(), kind, int(match[1]), int(match[2])) for match, kind in found if match), default=None)
    if told is None:
        assert texts("format.people.every") in words.lower()
        return None
    return told[1:]


def read_cost(words: str, texts: Texts) -> float:
    """The only number in some words."""
    [digits] = re.findall(r"\d[\d.,]*(?:e-?\d+)?", words)
    return float(digits.rstrip(".,").replace(texts("format.group"), "").replace(",", "."))


def check_at_least(words: str, share: float, texts: Texts) -> None:
    told = read_people(words, texts)
    if told is None:
        assert share == pytest.approx(1)
        return
    kind, count, base = told
    if kind == "below":
        assert share < count / base
        return
    assert share >= count / base - 1e-9
    assert share < (count + 1) / base  # and not far more
    is_exact = abs(share - count / base) < 1e-9
    assert kind == ("exactly" if is_exact else "at_least")


def check_about(words: str, chance: float, texts: Texts) -> None:
    told = read_people(words, texts)
    if told is None:
        assert chance == pytest.approx(1)
        return
    kind, count, base = told
    assert 0 < count < base
    if kind == "below":
        assert chance < count / base
    elif kind == "above":
        assert chance > count / base
    elif kind == "about":
        assert abs(chance - count / base) <= count / base / 10 + 1e-12
    else:
        assert kind == "exactly"
        assert chance == pytest.approx(count / base, abs=1e-9)


def test_records_have_values_and_words() -> None:
    menu = menu_of("loan")
    record = CardRecord.of(menu[1], menu)
    assert (record.marks, record.text) == (5, lines("loan")[1])
    assert [(link.action, link.times) for link in record.chain] == [("change job", 1)]
    assert [(link.action, link.times) for link in record.fallback] == [("find work", 1), ("change job", 1)]
    assert record.done is not None
    assert (record.done.share, record.done.cost) == pytest.approx((0.9, 1.0))
    [trouble] = record.troubles
    assert (trouble.kind, trouble.action, trouble.outcome) == ("setback", "change job", 1)
    assert trouble.chance == pytest.approx(0.1)
    diet = menu_of("health-insurance")
    assert [(link.action, link.times) for link in CardRecord.of(diet[0], diet).chain] == [
        ("healthy diet", 2),
        ("exercise", 1),
    ]


def test_a_menu_has_the_cards_of_its_plans() -> None:
    menu = menu_of("loan")
    assert [str(card) for card in menu.cards] == ["\n".join(told) for told in lines("loan")]
    assert [card.marks for card in menu.cards] == [2, 5]
