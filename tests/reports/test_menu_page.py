"""The letter to the person: all figures are those of the menu, nothing runs, and everybody can read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

import safear as sa
from reports.examples import NASTY
from reports.html import Node, read_page, read_table
from reports.menus import (
    MENUS,
    NOTICES,
    make_accepted,
    make_asked,
    make_filed,
    make_likeliest,
    make_loan,
    make_long,
    make_nasty,
    make_none,
    make_noted,
    make_own,
    make_single,
)
from safear.problem import apply_terms, dump_problem, parse_terms
from safear.problem.glossary import Provider
from safear.recourse import make_plan
from safear.recourse.menu import Menu
from safear.recourse.notices import REASONS, NoRecourse, NoticeCode, ReasonCode
from safear.recourse.plan_teller import PlanTeller
from safear.recourse.teller import Teller
from safear.reports import Page, report_menu
from safear.reports.reference import make_reference
from safear.reports.summary import tell_summary
from safear.texts import Texts, languages, load_texts

SOURCE = Path(sa.__file__).parent
IN_EVERY_WAY = [(name, language) for name in MENUS for language in languages()]


@cache
def page(name: str, language: str = "en") -> Node:
    return read_page(make_page(name, language).html)


@cache
def make_page(name: str, language: str) -> Page:
    return report_menu(MENUS[name](), language=language, original=sa.load_example("loan") if "own" in name else None)


def section(tree: Node, key: str) -> Node:
    (found,) = tree.find("section", id=key)
    return found


def facts_of(tree: Node) -> dict[str, str]:
    (facts,) = tree.find("dl", class_="record")
    return dict(zip([node.text for node in facts.find("dt")], [node.text for node in facts.find("dd")], strict=True))


# ------------------------------------------------------------------------------------------------------------ figures


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", ["loan", "own terms", "health", "asked", "long", "single", "hopeless", "guessed"])
def test_the_plan_and_the_others_have_the_figures_of_the_menu(name: str, language: str) -> None:
    menu = MENUS[name]()
    tell = Teller.of(language, menu.problem.glossary)
    first, *others = menu
    told = [node.text for node in page(name, language).find("ul", class_="summary")[0].find("li")]
    assert told[:4] == list(map(plain, tell_summary(first, menu, tell)))
    assert plain(tell.percent(first.cost.success)) in told[1]
    assert tell.cost(first.mean, first.unit) in told[2]
    assert tell.cost(first.tail, first.unit) in told[2]
    assert bool(page(name, language).find("section", id="others")) == bool(others)
    rows = read_table(page(name, language), tell("report.others.title", count=len(others)))[1:] if others else []
    for row, offer in zip(rows, others, strict=True):
        spans = tell.spans(offer)
        figures = (
            tell.cost(offer.mean, offer.unit),
            tell.cost(offer.tail, offer.unit),
            tell.percent(offer.cost.success),
        )
        off = (spans.mean, spans.tail, spans.success)
        assert row[1] == tell.action(offer.first_action)
        assert row[2:] == [plain(f"{each}{span}") for each, span in zip(figures, off, strict=True)]


@pytest.mark.parametrize(("chosen", "place"), [("cheapest", 1), (1, 1), ("safest", 0), (None, 0)])
def test_the_plan_that_was_chosen(chosen: str | int | None, place: int) -> None:
    menu = make_loan()
    result = report_menu(menu, chosen)
    tree = read_page(result.html)
    assert (
        tree.find("h2")[0].text
        == [
            "Your plan: safest (plan 1 of 2)",
            "Your plan: cheapest on average (plan 2 of 2)",
        ][place]
    )
    assert read_table(tree, "The other plan")[1][0] == ["Plan 2: cheapest on average", "Plan 1: safest"][place]
    assert ("none has been chosen yet" in result.summary[1]) == (chosen is None)
    assert report_menu(menu, menu[place]).html == report_menu(menu, place).html


def test_a_plan_between_those_of_the_menu() -> None:
    menu = sa.recommend(sa.load_example("health-insurance"))
    between = next(offer for offer in menu.frontier if all(offer.solution is not each.best.solution for each in menu))
    tree = read_page(report_menu(menu, replace(between, label="in the middle")).html)
    assert tree.find("h2")[0].text == "Your plan: in the middle"
    assert len(read_table(tree, "The other plans")) == len(menu) + 1


def test_what_each_plan_gains_and_gives_up() -> None:
    safest, cheapest = make_loan()
    more, less = cheapest.tail - safest.tail, safest.mean - cheapest.mean
    said = f"{more:.2f} months less in the worst 5 of 100 cases; {less:.2f} months more on average."
    assert f"Compared with “cheapest on average”: {said}" in page("loan").text
    assert "No other plan is noticeably cheaper, safer or likelier to succeed." in page("single").text
    assert "Every plan that is noticeably cheaper gives up too early." in page("likeliest").text
    assert "Compared with" not in page("asked").text
    assert [offer.name for offer in make_likeliest()] == ["most likely to succeed"]


def test_chances_that_differ_are_compared() -> None:
    text = read_page(report_menu(MENUS["uneven"](), 1, language="de").html).text
    assert (
        "Im Vergleich zu „mean“: führt in 36 % der Fälle zum Ziel statt in 0 %; im Durchschnitt 4,6 units mehr" in text
    )


@pytest.mark.parametrize(("name", "language"), IN_EVERY_WAY)
def test_steps_are_those_of_the_plan(name: str, language: str) -> None:
    for place, offer in enumerate(MENUS[name]()):
        tree = read_page(report_menu(MENUS[name](), place, language=language).html)
        items = {item.attributes["value"]: item for item in tree.find("li") if "value" in item.attributes}
        steps = PlanTeller(offer.long_plan, Teller.of(language, offer.glossary)).steps()
        assert set(items) == {str(step.number) for step in steps}
        for step in steps:
            item = items[str(step.number)]
            words = (step.situation, step.action, step.facts, *map(str, step.endings), step.note)
            assert item.text == plain(" ".join(word for word in words if word))
            endings = [node for node in item.find("li") if node is not item]
            assert ["class" in node.attributes for node in endings] == [not ending.works for ending in step.endings]


def test_the_main_route_comes_first() -> None:
    route, detours = section(page("loan"), "plan").find("ol")
    assert [item.attributes["value"] for item in route.find("li") if "value" in item.attributes] == ["1", "2"]
    assert [item.attributes["value"] for item in detours.find("li") if "value" in item.attributes] == ["3", "4"]


def test_dates_of_the_main_route() -> None:
    tree = read_page(report_menu(make_loan(), dated=date(2026, 11, 17)).html)
    assert [node.text for node in tree.find("span", class_="done")] == [
        "done by 17 December 2026",
        "done by 17 January 2027",
    ]
    assert "The dates hold if you begin on 17 November 2026 and each step works the first time." in tree.text
    german = read_page(report_menu(make_loan(), dated=date(2026, 3, 1), language="de").html)
    assert german.find("span", class_="done")[0].text == "fertig bis 1. April 2026"
    undated, costs = page("loan"), read_page(report_menu(MENUS["hopeless"](), dated=date(2026, 11, 17)).html)
    assert not undated.find("span", class_="done")
    assert not costs.find("span", class_="done")  # its costs are no time


def plain(text: str) -> str:
    """As `Node.text` has it: narrow spaces are spaces."""
    return " ".join(text.split())


def clean(name: str) -> str:
    return plain(re.sub("[\u202e\u0007]", "\ufffd", name))


def test_long_plans_go_on_at_the_end() -> None:
    (offer,) = make_long()
    assert len(offer.plan.steps) == 20
    everything = make_plan(offer.solution, limit=60)
    tree = page("long")
    main, more = section(tree, "plan"), section(tree, "more")
    numbers = [
        sorted(int(node.attributes["value"] or 0) for node in part.find("li") if "value" in node.attributes)
        for part in (main, more)
    ]
    assert numbers == [list(range(1, 9)), list(range(9, len(everything.steps) + 1))]
    assert f"Steps 9 to {len(everything.steps)} are at the end of this letter." in main.text
    assert "that is not listed" not in tree.text  # there is room for all likely steps
    assert not page("loan").find("section", id="more")


def test_a_hundred_people() -> None:
    texts = load_texts("en")
    for name in ("loan", "health", "hopeless", "single"):
        for place, offer in enumerate(MENUS[name]()):
            tree = read_page(report_menu(MENUS[name](), place).html)
            (part,) = section(tree, "plan").find("div", class_="hundred")
            (dots,) = part.find("div", class_="dots")
            full = [node for node in dots.find("circle") if "stroke" not in node.attributes]
            rings, crosses = len(dots.find("circle")) - len(full), len(dots.find("path"))
            assert len(full) + rings + crosses == 100
            assert crosses == pytest.approx(100 * (1 - offer.cost.success), abs=1)
            told = [node.text for node in part.find("li")]
            costs = [offer.solution.mdp.to_cost(int(units)) for units in offer.cost.succeeded_units]
            quick = [
                cost for cost in costs if told[0].endswith(f"at a cost of {texts.exact_cost(cost, offer.unit)} or less")
            ]
            assert (len(quick) == 1) == bool(full)
            if quick:
                assert int(told[0].split()[0]) == len(full)
                assert len(full) == pytest.approx(100 * offer.cost.success_within(quick[0]), abs=1)
    told = [node.text for node in section(page("loan"), "plan").find("div", class_="hundred")[0].find("li")]
    assert told == [
        "83 get there, at a cost of 2 months or less",
        "17 get there at a higher cost, nearly always 4 months or less",
        "fewer than 1 does not get there in time",
    ]


# ---------------------------------------------------------------------------------------------- what it is based on


def test_what_is_known_and_what_was_reckoned_with() -> None:
    basis = section(page("loan"), "basis")
    assert facts_of(basis) == make_loan().person
    rows = read_table(page("loan"), "Costs and chances used for you")
    assert rows == [
        ["step", "cost", "works"],
        ["own a house", "1 month", "30%"],  # only if all else takes too long
        ["change job", "1 month", "90%"],
        ["study part-time", "1 month", "90%"],
        ["increase savings", "1 month", "92%"],
        ["find work", "1.4 months", "40%"],
    ]
    assert "Where these numbers come from is not stated." in basis.text
    assert "Also considered" not in basis.text
    assert "Time: at most 24 steps." in basis.text
    assert "counts as 24 months more in the figures" in basis.text


def test_own_terms_are_marked() -> None:
    rows = {row[0]: row[1:] for row in read_table(page("own terms"), "Costs and chances used for you")}
    assert rows["own a house"] == ["–", "–", "ruled out for you"]
    assert rows["study part-time"] == ["2.5 months", "70%", "your own figures; usually 1 month, 90%"]
    assert rows["change job"] == ["1 month", "90%", ""]
    assert "Time: at most 10 steps. Every try counts as a step, even one that fails. Usually: 24 steps." in (
        section(page("own terms"), "basis").text
    )


def test_ranges_and_steps_that_nobody_can_take() -> None:
    rows = {row[0]: row[1:] for row in read_table(page("single"), "Costs and chances used for you")}
    assert rows["climb"] == ["1 to 1.5 days", "70%", "known only roughly: 50% to 70%; 1 number is a guess"]
    assert "Also considered, but in no plan: dream." in section(page("single"), "basis").text
    own_dream = sa.recommend(make_single().problem, terms=sa.Terms.of(cost={"dream": 2}))
    rows = {
        row[0]: row[1:] for row in read_table(read_page(report_menu(own_dream).html), "Costs and chances used for you")
    }
    assert rows["dream"] == ["–", "–", "your own figures; usually 1 day, 100%; not open to you"]
    assert "No step changes eyes." in section(page("single"), "basis").text
    usual, own = sa.load_example("loan"), make_by_age()
    caption = "Costs and chances used for you"
    rows = {
        row[0]: row[1:] for row in read_table(read_page(report_menu(sa.recommend(own), original=usual).html), caption)
    }
    assert rows["change job"] == ["1 to 2 months", "90%", "your own figures; usually 1 month, 90%"]
    rows = {
        row[0]: row[1:] for row in read_table(read_page(report_menu(sa.recommend(usual), original=own).html), caption)
    }
    assert rows["change job"] == ["1 month", "90%", "your own figures"]  # what is usual is not one number


def test_what_outcomes_cost_by_themselves_is_not_told_as_one_number() -> None:
    document = sa.dump_problem(make_loan().problem)
    outcomes = [{"chance": 0.9, "change": {"savings": "rich"}, "cost": 2}, {"cost": 1}]
    document["actions"]["change job"] |= {"cost": 9, "outcomes": outcomes}
    menu = sa.recommend(sa.parse_problem(document), terms=sa.Terms.of(chance={"change job": 0.8}))
    table = read_table(read_page(report_menu(menu).html), "Costs and chances used for you")
    (row,) = [row for row in table if row[0] == "change job"]
    assert row[1:3] == ["1 to 2 months", "80%"]
    assert row[3].split(";")[0] == "your own figures"
    assert "9 months" not in row[3]


@cache
def make_by_age() -> sa.Problem:
    """The loan, where changing jobs costs more at an age."""
    cost = [{"when": "age == adult", "cost": 2}, 1]
    problem = sa.load_example("loan")
    return apply_terms(problem, parse_terms({"actions": {"change job": {"cost": cost}}}, problem))


@cache
def make_sourced() -> sa.Problem:
    """The loan, with numbers that come from somewhere."""
    written = dump_problem(sa.load_example("loan"))
    chances = {
        "study part-time": {"worked": 36, "tried": 40, "source": "intake of 2025"},
        "increase savings": {"worked": 46, "tried": 50},
        "find work": 0.725,
    }
    for action, chance in chances.items():
        worked, *_ = written["actions"][action]["outcomes"]
        written["actions"][action]["outcomes"] = [worked | {"chance": chance}, {}]
    written["actions"]["study part-time"]["cost"] = {"value": 1, "source": "college prospectus"}
    return sa.parse_problem(written)


def test_where_the_numbers_come_from() -> None:
    tree = read_page(report_menu(sa.recommend(make_sourced())).html)
    rows = {row[0]: row[1:] for row in read_table(tree, "Costs and chances used for you")}
    assert rows["study part-time"][2].endswith("; college prospectus; 36 of 40 tries worked (intake of 2025)")
    assert rows["increase savings"][2].endswith("; 46 of 50 tries worked")
    assert rows["find work"] == ["1.4 months", "72.5%", ""]  # as in the steps: 725 times in 1000
    assert "works 725 times in 1000" in tree.text
    lacking = "Where the numbers come from is not stated for: own a house, change job, increase savings and find work."
    assert lacking in section(tree, "basis").text


def test_failing_may_cost_nothing() -> None:
    assert "the figures count only what you have spent" in section(page("hopeless"), "basis").text


def test_notices_in_both_languages() -> None:
    told = [node.text for node in section(page("noted"), "notices").find("li")]
    assert told[0] == "No plan leads to “approved” in more than 12% of cases."
    assert told[1].startswith("Plan 1 leads to “approved” in 10% of cases, though 90%")
    assert told[2] == "Costs are rounded to multiples of 0.5 months; a total may be off by up to 0.25 months."
    german = [node.text for node in section(page("noted", "de"), "notices").find("li")]
    assert len(told) == len(german) == len(NOTICES) == len(make_noted().notices)
    assert german[0] == "Kein Plan führt in mehr als 12 % der Fälle zu „bewilligt“."
    assert not page("loan").find("section", id="notices")


def test_everything_that_menus_tell_has_words() -> None:
    assert {notice.code for notice in NOTICES} == set(get_args(NoticeCode))


# --------------------------------------------------------------------------------------------- no plan, or none needed


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("no_action", "As things are, no step is open to you."),
        ("horizon", "Nothing you can do leads to “approved” within 1 step. It takes at least 3 steps."),
        ("never", "Whatever you do with these steps, and however long it takes, nothing leads to “approved”."),
        ("unknown", "Nothing you can do leads to “approved” within 1 step. Whether more time would be enough is not"),
        ("budget", "Nothing you can do leads to “approved” within 1 step for 2 months. It takes at least 3 months."),
    ],
)
def test_no_recourse_is_told_with_its_reason(reason: ReasonCode, words: str) -> None:
    result = report_menu(without_recourse(reason), original=sa.load_example("loan"))
    tree = read_page(result.html)
    assert result.summary == (
        "Your application was not approved",
        "With the steps we know of, we found no plan that leads you to “approved”.",
    )
    assert section(tree, "answer").text.startswith(f"Why there is no plan {words}")
    assert "Ask for a person to review the decision." in tree.text
    basis = section(tree, "basis").text
    assert "Steps considered: study part-time, increase savings and find work." in basis
    assert "Ruled out for you and not considered: own a house and change job." in basis
    assert not tree.find("section", id="plan")


def without_recourse(code: ReasonCode) -> sa.Menu:
    menu = replace(make_none(), case=replace(make_none().case))
    found = NoRecourse(code, menu.problem, 7, horizon=3 if code == "horizon" else None, budget=2, least=3)
    menu.case.__dict__["no_recourse"] = found  # in place of what is worked out
    return menu


def test_already_favourable() -> None:
    result = report_menu(make_accepted())
    tree = read_page(result.html)
    assert result.summary == ("Your application was approved", "There is nothing you need to do.")
    assert "No step is needed." in section(tree, "answer").text
    assert "plan" not in section(tree, "answer").text
    assert not tree.find("table")


def accepted_without_a_name() -> sa.Menu:
    case = make_single().case
    return replace(make_accepted(), case=replace(case, decision=replace(case.decision, favourable=True)))


def test_a_goal_without_a_name() -> None:
    assert page("single").find("h1")[0].text == "Today’s decision is not the favourable one"
    assert page("single", "de").find("h1")[0].text == "Die heutige Entscheidung ist nicht die günstige"
    menu = accepted_without_a_name()
    assert read_page(report_menu(menu).html).find("h1")[0].text == "Today’s decision is favourable"


# ------------------------------------------------------------------------------------------------------- what it says


@pytest.mark.parametrize("name", MENUS)
def test_it_says_what_it_is_and_what_not(name: str) -> None:
    about = section(page(name), "about").text
    assert "It is not the statement of reasons that the law may require for the decision" in about
    assert "estimates, not promises" in about
    assert about.endswith("Where to ask To be filled in by the provider: name, telephone, e-mail")
    german = section(page(name, "de"), "about").text
    assert "Er ist nicht die Begründung der Entscheidung, die das Gesetz verlangen kann" in german
    assert "Schätzungen, keine Zusagen" in german


def test_contact_date_and_reference() -> None:
    letter = report_menu(make_loan(), contact="Ms <Weber>\n0531 1234", dated=date(2026, 5, 1), reference="KR/<17>")
    tree = read_page(letter.html)
    assert tree.find("p", class_="contact")[0].text == "Ms <Weber> 0531 1234"
    assert "To be filled in" not in tree.text
    assert tree.find("dl", class_="marks")[0].text == "Date 1 May 2026 Reference KR/<17>"
    assert tree.find("footer")[0].text.startswith("All figures with all their digits can be had as a file, under")
    assert "@bottom-left" not in letter.html  # what could break out of a style sheet is not in it
    made = report_menu(make_loan(), dated=date(2026, 5, 1)).html
    assert f'@bottom-left {{ content: "{make_reference(make_loan(), make_loan()[0], dated=date(2026, 5, 1))}"' in made


def test_the_provider_and_where_to_appeal() -> None:
    provider = Provider("First Bank", "555-0100", "Ombudsman, 1 Main Street")
    menu = sa.recommend(replace(sa.load_example("loan"), provider=provider))
    tree = read_page(report_menu(menu).html)
    assert tree.find("p", class_="sender")[0].text == "First Bank Loan approval · what you can do"
    assert tree.find("p", class_="contact")[0].text == "First Bank 555-0100 To appeal: Ombudsman, 1 Main Street"
    other = read_page(report_menu(menu, contact="Ms Weber").html)
    assert other.find("p", class_="contact")[0].text == "Ms Weber To appeal: Ombudsman, 1 Main Street"


def test_plans_are_named_after_what_was_asked_for() -> None:
    menu = make_asked()
    first, *others = read_table(page("asked", "de"), "Die anderen Pläne")
    assert first[0] == "Plan"
    assert page("asked", "de").find("h2")[0].text == "Ihr Plan: geringster Aufwand im Durchschnitt (Plan 1 von 13)"
    assert len(others) == len(menu) - 1
    assert [row[0].partition(":")[0] for row in others] == [f"Plan {number}" for number in range(2, len(menu) + 1)]
    assert [row[0].partition(": ")[2] for row in others] == [
        "geringer Aufwand im Durchschnitt bei geringer Streuung (Gewicht 0,5)",
        "geringer Aufwand im Durchschnitt bei geringer Varianz (Gewicht 0,5)",
        "geringer Aufwand, wobei teure Fälle am meisten zählen (Gewicht 0,5)",
        "beste Aussicht auf Erfolg bei höchstens diesem Aufwand: 6 Monate",
        "geringster Aufwand, der in 95 % der Fälle ausreicht",
        "geringster Aufwand in den schlechtesten 5 von 100 Fällen",
        (
            "zwischen geringstem Aufwand im Durchschnitt und geringstem Aufwand in den schlechtesten 5 von 100 Fällen "
            "(Gewicht 0,5)"
        ),
        "beste Aussicht auf Erfolg; unter solchen Plänen: geringster Aufwand im Durchschnitt",
        "beste Aussicht auf Erfolg; unter solchen Plänen: geringster Aufwand in den schlechtesten 5 von 100 Fällen",
        "geringster Aufwand in den schlechtesten 1,2 % der Fälle",
        "geringster Aufwand im schlechtesten Fall",
        "geringer Aufwand im Durchschnitt bei wenigen teuren Fällen (Gewicht 0,5)",
    ]
    assert [row[0] for row in read_table(page("health"), "The other plans")[1:]] == [
        "Plan 2: balanced",
        "Plan 3: cheapest on average",
    ]


def test_no_text_is_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text of the report is on one of the pages."""
    seen: set[str] = set()
    real = Texts.__call__

    def record(self: Texts, key: str, /, **values: object) -> str:
        seen.add(key)
        return real(self, key, **values)

    monkeypatch.setattr(Texts, "__call__", record)
    for name, make in MENUS.items():
        report_menu(make(), original=sa.load_example("loan") if name in {"own terms", "none"} else None)
    report_menu(make_own(), original=make_own().problem, contact="x", dated=date(2026, 5, 1))
    for reason in REASONS:
        report_menu(without_recourse(reason))
    report_menu(accepted_without_a_name())
    report_menu(make_loan(), original=make_by_age())
    safest = make_loan().offers[0]
    same = replace(make_loan(), offers=(safest, replace(safest, kind="balanced")))
    report_menu(same)
    report_menu(sa.recommend(make_single().problem, terms=sa.Terms.of(cost={"dream": 2})), contact="x")
    report_menu(sa.recommend(make_sourced()), 1)
    left = {key for key in load_texts("en").entries if key.startswith("report.")} - seen
    assert left == set()


@pytest.mark.parametrize(
    ("language", "known"),
    [
        ("en", ["40 months", "23.5 (counts as: below 25)", "employed", "12,345.5", "none", "yes", "n/a"]),
        ("de", ["40 months", "23,5 (zählt als: unter 25)", "employed", "12.345,5", "none", "ja", "–"]),
    ],
)
def test_the_person_is_told_what_they_filed_and_what_was_checked(language: str, known: list[str]) -> None:
    tree, (offer,) = page("filed", language), make_filed()
    names = ["term", "bmi", "job", "amount", "account", "owner", "phone"]
    assert facts_of(section(tree, "basis")) == dict(zip(names, known, strict=True))
    moved = {"en": "Steps change nothing but term.", "de": "Die Schritte ändern nur: term."}
    assert moved[language] in [node.text for node in section(tree, "basis").find("li")]
    notes = [node.text for node in section(tree, "basis").find("li")]
    assert notes.count(plain(Teller.of(language).verification(offer.verification))) == 1
    assert "12-24" not in section(tree, "plan").text
    assert str(offer.promises["term", "12-24"]) == "12 to 20 months"


# ------------------------------------------------------------------------------------------- nothing runs nor loads


@pytest.mark.parametrize(("name", "language"), IN_EVERY_WAY)
def test_the_page_stands_alone(name: str, language: str) -> None:
    text, tree = make_page(name, language).html, page(name, language)
    tags = {node.tag for node in tree.walk()}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "form", "base", "input"})
    for node in tree.walk():
        assert not [one for one in node.attributes if one.startswith("on") or one in {"src", "srcset", "style"}]
        assert (node.attributes.get("href") or "#").startswith("#")
    (style,) = tree.find("style")
    assert not re.search(r"@import|url\(|@font-face", style.text)
    assert "http" not in text.replace("http-equiv", "")


@pytest.mark.parametrize("language", languages())
def test_names_that_would_run_or_break_the_page(language: str) -> None:
    html, tree = make_page("nasty", language).html, page("nasty", language)
    assert "<script" not in html
    assert "\u202e" not in html  # it would turn around all that follows
    assert "\u0007" not in html
    shown = clean(NASTY)
    assert f"{shown} {{goal}} 2" in tree.find("h1")[0].text
    other = read_page(report_menu(make_nasty(), 1, language=language).html)
    assert f"{shown} {{goal}} 9" in section(other, "plan").text
    assert f"({shown} {{goal}} 10)" in section(other, "plan").text
    assert facts_of(section(tree, "basis"))[f"{shown} {{goal}} 3"] == f"{shown} {{goal}} 4"


@pytest.mark.parametrize("name", MENUS)
def test_the_same_bytes(name: str) -> None:
    again = report_menu(MENUS[name](), original=sa.load_example("loan") if "own" in name else None)
    assert again == make_page(name, "en")
    assert make_page(name, "de").html != again.html
    fresh = sa.recommend(sa.load_example("loan"))
    assert name != "loan" or report_menu(fresh).html == again.html


def test_a_letter_about_what_comes_after_two_failures(tmp_path: Path) -> None:
    sa.save_plan(make_loan()[0], tmp_path / "plan.json")
    menu = sa.replan(sa.load_plan(tmp_path / "plan.json"), make_loan().problem, outcomes=["failed", "failed"])
    tree = read_page(report_menu(menu, dated=date(2026, 11, 17)).html)
    assert "reach “approved” within 22 steps." in tree.find("ul", class_="summary")[0].text
    assert "Time: at most 22 steps." in section(tree, "basis").text
    assert report_menu(menu).html != report_menu(make_loan()).html


def test_a_language_that_is_not_there() -> None:
    with pytest.raises(sa.InputError, match="there are no texts in the language 'deutsch'"):
        report_menu(make_loan(), language="deutsch")


# ---------------------------------------------------------------------------------------------- for everybody to read


@pytest.mark.parametrize(("name", "language"), IN_EVERY_WAY)
def test_landmarks_headings_and_tables(name: str, language: str) -> None:
    tree = page(name, language)
    assert tree.find("html")[0].attributes["lang"] == language
    for tag in ("header", "main", "footer", "h1"):
        assert len(tree.find(tag)) == 1, tag
    assert tree.find("head")[0].find("title")[0].text == tree.find("h1")[0].text
    ids = [node.attributes["id"] for node in tree.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for node in tree.walk():
        for attribute in ("aria-labelledby", "href"):
            for target in (node.attributes.get(attribute) or "").split():
                assert target.removeprefix("#") in ids
    levels = [int(node.tag[1]) for node in tree.walk() if re.fullmatch("h[1-6]", node.tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for part in tree.find("section"):
        assert part.attributes["aria-labelledby"] == part.find("h2")[0].attributes["id"]
    for table in tree.find("table"):
        assert table.find("caption")[0].text
        (head,), (body,) = table.find("thead"), table.find("tbody")
        assert {node.attributes["scope"] for node in head.find("th")} == {"col"}
        for row in body.find("tr"):
            assert [node.attributes["scope"] for node in row.find("th")] == ["row"]
            assert len(row.find("th") + row.find("td")) == len(head.find("th") + head.find("td"))


@pytest.mark.parametrize(("name", "language"), IN_EVERY_WAY)
def test_lists_are_lists_and_lines_are_only_for_the_eye(name: str, language: str) -> None:
    tree = page(name, language)
    for node in tree.walk():
        children = [child.tag for child in node.children if isinstance(child, Node)]
        if node.tag in {"ul", "ol"}:
            assert set(children) == {"li"}, node.attributes
        if node.tag == "dl":
            assert set(children) <= {"dt", "dd", "div"}
    for drawing in outermost(tree, "svg"):
        assert drawing.attributes["aria-hidden"] == "true"
        assert drawing.text == ""  # all words are words of the page


def outermost(node: Node, tag: str) -> Iterator[Node]:
    for child in node.children:
        if isinstance(child, Node):
            if child.tag == tag:
                yield child
            else:
                yield from outermost(child, tag)


def test_dark_and_print() -> None:
    (style,) = page("loan").find("style")
    drawn = set(re.findall(r'(?:fill|stroke)="(#\w+)"', make_page("loan", "en").html.partition("</style>")[2]))
    turned = set(re.findall(r'\.hundred \[(?:fill|stroke)="(#\w+)"\]', style.text))
    assert drawn
    assert drawn <= turned
    assert style.text.count("@media print") == 2


def test_saving(tmp_path: Path) -> None:
    make_page("loan", "de").save(tmp_path / "plan.html")
    make_page("loan", "en").save(tmp_path / "plan.html")  # over one in another language
    assert (tmp_path / "plan.html").read_bytes() == make_page("loan", "en").html.encode()


def test_menus_are_as_they_say() -> None:
    assert [len(make()) for make in MENUS.values()] == [2, 3, 3, 13, 0, 0, 2, 1, 1, 3, 2, 2, 1, 1, 2, 3]
    assert isinstance(make_loan(), Menu)
