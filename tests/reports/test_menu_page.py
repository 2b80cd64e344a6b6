"""The page for the person: all figures are those of the menu, nothing runs, and everybody can read it."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
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
    make_none,
    make_noted,
    make_own,
    make_single,
)
from safear.problem import apply_terms, dump_problem_text, parse_terms
from safear.recourse import make_plan
from safear.recourse.menu import Menu
from safear.recourse.notices import REASONS, NoRecourse, NoticeCode, ReasonCode
from safear.recourse.plan_teller import PlanTeller
from safear.recourse.records import MenuRecord
from safear.recourse.teller import Teller
from safear.reports import Page, Sources, report_menu
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
    (facts,) = [node for node in tree.find("dl") if (node.attributes.get("class") or "").startswith("facts")]
    return dict(zip([node.text for node in facts.find("dt")], [node.text for node in facts.find("dd")], strict=True))


# ------------------------------------------------------------------------------------------------------------ figures


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", ["loan", "own terms", "health", "asked", "long", "single", "hopeless", "guessed"])
def test_plans_side_by_side_have_the_figures_of_the_menu(name: str, language: str) -> None:
    texts, menu = load_texts(language), MENUS[name]()
    tell = Teller.of(language, menu.problem.glossary)
    cards = page(name, language).find("li")
    cards = [node for node in cards if (node.attributes.get("class") or "").startswith("card")]
    assert len(cards) == len(menu)
    for card, offer in zip(cards, menu, strict=True):
        told = [node.text for node in card.find("dd") if node.attributes.get("class") != "off"]
        assert told == [
            tell.cost(offer.mean, offer.unit),
            tell.cost(offer.tail, offer.unit),
            plain(texts.percent(offer.cost.success)),
        ]
        spans = Teller.of(language).spans(offer)
        off = [texts("ranges.if_off", range=span) for span in (spans.mean, spans.tail, spans.success) if span]
        assert [node.text for node in card.find("dd", class_="off")] == list(map(plain, off))
        assert tell.action(offer.first_action) in card.find("p", class_="first")[0].text


def test_what_each_plan_gains_and_gives_up() -> None:
    safest, cheapest = make_loan()
    more, less = cheapest.tail - safest.tail, safest.mean - cheapest.mean
    cards = [node.find("div")[-1] for node in page("loan").find("ul", class_="cards")[0].find("li") if node.find("h3")]
    assert [card.text for card in cards] == [
        (
            "Compared with “cheapest on average”: "
            f"{more:.2f} months less in the worst 5 of 100 cases {less:.2f} months more on average"
        ),
        f"Compared with “safest”: {less:.2f} months less on average {more:.2f} months more in the worst 5 of 100 cases",
    ]
    assert [[item.attributes["class"] for item in card.find("li")] for card in cards] == [["gain", "loss"]] * 2
    assert "No other plan is noticeably cheaper, safer or likelier to succeed." in page("single").text
    assert "Every plan that is noticeably cheaper gives up too early." in page("likeliest").text
    assert "Compared with" not in page("asked").text
    assert [offer.name for offer in make_likeliest()] == ["most likely to succeed"]


def test_chances_that_differ_are_compared() -> None:
    text = page("uneven", "de").text
    assert (
        "Im Vergleich zu „mean“: führt in 36 % der Fälle zum Ziel statt in 0 % im Durchschnitt 4,6 units mehr" in text
    )


@pytest.mark.parametrize(("name", "language"), IN_EVERY_WAY)
def test_steps_are_those_of_the_plan(name: str, language: str) -> None:
    for number, offer in enumerate(MENUS[name](), start=1):
        items = [
            item for item in section(page(name, language), f"plan-{number}").find("li") if "value" in item.attributes
        ]
        steps = PlanTeller(offer.long_plan, Teller.of(language, offer.glossary)).steps()
        assert items
        for item, step in zip(items, steps, strict=False):
            assert item.attributes["value"] == str(step.number)
            words = (step.situation, step.action, step.facts, *map(str, step.endings), step.note)
            assert item.text == plain(" ".join(word for word in words if word))
            endings = [node for node in item.find("li") if node is not item]
            assert ["class" in node.attributes for node in endings] == [not ending.works for ending in step.endings]


def plain(text: str) -> str:
    """As `Node.text` has it: narrow spaces are spaces."""
    return " ".join(text.split())


def clean(name: str) -> str:
    return plain(re.sub("[\u202e\u0007]", "\ufffd", name))


def test_long_plans_go_on_in_the_appendix() -> None:
    (offer,) = make_long()
    assert len(offer.plan.steps) == 20
    everything = make_plan(offer.solution, limit=60)
    tree = page("long")
    main, file = section(tree, "plan-1"), section(tree, "file")
    numbers = [
        [int(node.attributes["value"] or 0) for node in part.find("li") if "value" in node.attributes]
        for part in (main, file)
    ]
    assert numbers == [list(range(1, 9)), list(range(9, len(everything.steps) + 1))]
    assert f"Steps 9 to {len(everything.steps)} are in the appendix." in main.text
    assert "Cheapest and safest: further steps" in file.text
    assert "that is not listed" not in tree.text  # there is room for all likely steps
    assert not section(page("loan"), "file").find("ol")


def test_ways_have_the_chances_and_costs_of_the_traces() -> None:
    for number, offer in enumerate(make_loan(), start=1):
        (ways,) = section(page("loan"), f"plan-{number}").find("div", class_="ways")
        rows = [node for node in ways.find("li") if node.find("div", class_="line")]
        texts = load_texts("en")
        traces = offer.traces
        assert any(map(traces.is_worst, traces.shown))
        for row, trace in zip(rows, traces.shown, strict=True):
            assert ("worst 5%" in row.text) == traces.is_worst(trace)
            assert row.find("b")[0].text == texts.percent(trace.chance)
            assert texts.cost(trace.cost, "months") in row.text
            lines = [node for node in row.find("line") if "x1" in node.attributes]
            spans = [float((node.attributes[name] or "").rstrip("%")) for node in lines for name in ("x1", "x2")]
            assert spans == sorted(spans)
            assert spans[-1] <= 100
        rest = ways.find("li", class_="rest")[0].text
        assert traces.rest is not None
        assert rest.startswith(texts.percent(traces.rest.chance))
    assert max(
        float((node.attributes["x2"] or "").rstrip("%"))
        for plan in ("plan-1", "plan-2")
        for node in section(page("loan"), plan).find("line")
        if (node.attributes.get("x2") or "").endswith("%")
    ) == pytest.approx(100)


def test_ways_that_are_all_unlikely_are_left_out() -> None:
    (ways,) = page("long").find("div", class_="ways")
    assert ways.text == (
        "How things may go Things may go in very many ways, none of them likely. The 100 people above sum them up."
    )


def test_ways_in_words() -> None:
    words = [node.text for node in page("loan").find("span", class_="words")]
    assert words[:6] == [
        "study part-time, then increase savings",
        "study part-time on try 2, then increase savings",
        "study part-time, then increase savings on try 2",
        "study part-time fails 2 times, then change job",
        "study part-time on try 2, then increase savings on try 2",
        "All other ways together: success after 4 to 32 months or not in time (<0.1%).",
    ]
    hopeless = [node.text for node in page("hopeless").find("span", class_="end wrong")]
    assert "not in time; 0.2 units spent" in hopeless
    assert "work 2 times" in page("hopeless").text
    assert "dither fails 2 times" in page("hopeless").text


def test_a_hundred_people() -> None:
    texts = load_texts("en")
    for name in ("loan", "health", "hopeless", "single"):
        for number, offer in enumerate(MENUS[name](), start=1):
            (part,) = section(page(name), f"plan-{number}").find("div", class_="hundred")
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
    told = [node.text for node in section(page("loan"), "plan-1").find("div", class_="hundred")[0].find("li")]
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
        ["own a house", "1 month", "30%"],
        ["change job", "1 month", "90%"],
        ["study part-time", "1 month", "90%"],
        ["increase savings", "1 month", "92%"],
        ["find work", "1.4 months", "40%"],
    ]
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
    assert rows["dream"] == ["–", "–", "not open to you"]
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


@cache
def make_by_age() -> sa.Problem:
    """The loan, where changing jobs costs more at an age."""
    cost = [{"when": "age == adult", "cost": 2}, 1]
    problem = sa.load_example("loan")
    return apply_terms(problem, parse_terms({"actions": {"change job": {"cost": cost}}}, problem))


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
    assert not tree.find("section", id="compare")
    assert facts_of(section(tree, "file")).get("reason") == reason


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
    assert facts_of(section(tree, "file"))["decision"] == "favourable"


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
    assert "Es ist nicht die Begründung der Entscheidung, die das Gesetz verlangen kann" in german
    assert "Schätzungen, keine Zusagen" in german


def test_contact_and_date() -> None:
    tree = read_page(report_menu(make_loan(), contact="Ms <Weber>\n0531 1234", dated="1 May").html)
    assert tree.find("p", class_="contact")[0].text == "Ms <Weber> 0531 1234"
    assert "To be filled in" not in tree.text
    assert tree.find("p", class_="product")[0].text == "SafeAR · Loan approval · your options · 1 May"


def test_plans_are_named_after_what_was_asked_for() -> None:
    headings = [node.text.partition(": ")[2] for node in page("asked", "de").find("h3")][: len(make_asked())]
    assert headings == [
        "geringster Aufwand im Durchschnitt",
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
    named = [node.text for node in page("health").find("h3")][:3]
    assert named == ["Plan 1: safest", "Plan 2: balanced", "Plan 3: cheapest on average"]


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
    report_menu(make_own(), original=make_own().problem, contact="x", dated="y", sources=Sources(seed=1))
    for reason in REASONS:
        report_menu(without_recourse(reason))
    report_menu(accepted_without_a_name())
    report_menu(make_loan(), original=make_by_age())
    safest = make_loan().offers[0]
    same = replace(make_loan(), offers=(safest, replace(safest, kind="balanced")))
    report_menu(same)
    left = {key for key in load_texts("en").entries if key.startswith("report.")} - seen
    assert left == set()


@pytest.mark.parametrize(
    ("language", "known"),
    [
        ("en", ["40 months", "23.5 (counts as: <25)", "employed", "12,345.5", "none", "yes", "n/a"]),
        ("de", ["40 months", "23,5 (zählt als: <25)", "employed", "12.345,5", "none", "ja", "–"]),
    ],
)
def test_the_person_is_told_what_they_filed_and_what_was_checked(language: str, known: list[str]) -> None:
    tree, (offer,) = page("filed", language), make_filed()
    names = ["term", "bmi", "job", "amount", "account", "owner", "phone"]
    assert facts_of(section(tree, "basis")) == dict(zip(names, known, strict=True))
    (fixed,) = [node.text for node in section(tree, "basis").find("li") if "bmi" in node.text]
    assert all(name in fixed for name in names[1:])
    notes = [node.text for node in section(tree, "plan-1").find("p", class_="note")]
    assert sum(Teller.of(language).verification(offer.verification) in text for text in notes) == 1
    assert "12-24" not in section(tree, "plan-1").text
    assert str(offer.promises["term", "12-24"]) == "12 to 20 months"


# -------------------------------------------------------------------------------------------------------- for the file


def test_for_the_file() -> None:
    sources = Sources("loan.yaml", "model.skops", ["ann.json"], 7)
    file = section(read_page(report_menu(make_loan(), sources=sources, dated="2026-05-01").html), "file")
    facts = facts_of(file)
    menu = make_loan()
    person = json.dumps(dict(menu.person), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert facts == {
        "SafeAR": sa.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "problem": "loan.yaml",
        "SHA-256 of the problem used, as SafeAR writes it": sha256(dump_problem_text(menu.problem)),
        "who decides": "model.skops",
        "person": "ann.json",
        "SHA-256 of what is known about the person, as JSON with sorted keys": sha256(person),
        "decision": "unfavourable",
        "level of “worst”": "0.95",
        "seed": "7",
        "date": "2026-05-01",
    }


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", ["loan", "asked", "long"])
def test_all_figures_can_be_read_back(name: str, language: str) -> None:
    say, menu, tree = load_texts(language).part("report.file"), MENUS[name](), page(name, language)
    table = {row[0]: row[1:] for row in read_table(tree, say("figures"))}
    columns = list(zip(*table.values(), strict=True))
    assert len(columns) == len(menu)
    for place, offer in enumerate(menu):
        found = {figure: cells[place] for figure, cells in table.items()}
        record: dict[str, Any] = MenuRecord.of(menu).model_dump()["plans"][place]
        assert (found["method"], found["objectives"]) == (offer.solution.method, ", ".join(record["objectives"]))
        assert float(found["success"]) == offer.cost.success
        assert float(found["all_runs mean"]) == offer.mean
        assert float(found[f"all_runs cvar {offer.level:g}"]) == offer.tail
        assert float(found["cost if it succeeds variance"]) == record["cost"]["variance"]
        assert float(found["value"]) == offer.value
        bound = record["bound"]
        assert found["bound"] == (load_texts(language)("format.none") if bound is None else repr(bound))
        steps = read_table(tree, say("steps", number=place + 1))[1:]
        told = [(step, branch) for step in offer.plan.steps for branch in step.branches]
        for row, (step, branch) in zip(steps, told, strict=False):
            assert row[0] == str(step.number)
            assert [float(text) for text in row[3:]] == [branch.chance, branch.cost, step.visits]
        ways = read_table(tree, say("ways", number=place + 1))[1:]
        assert [[float(text) for text in row[2:4]] for row in ways] == [
            [trace.chance, trace.cost] for trace in offer.traces.shown
        ]


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
    assert f"{shown} {{goal}} 9" in section(tree, "plan-2").text
    assert f"({shown} {{goal}} 10)" in section(tree, "plan-2").text
    assert facts_of(section(tree, "basis"))[f"{shown} {{goal}} 3"] == f"{shown} {{goal}} 4"


@pytest.mark.parametrize("name", MENUS)
def test_the_same_bytes(name: str) -> None:
    again = report_menu(MENUS[name](), original=sa.load_example("loan") if "own" in name else None)
    assert again == make_page(name, "en")
    assert make_page(name, "de").html != again.html
    fresh = sa.recommend(sa.load_example("loan"))
    assert name != "loan" or report_menu(fresh).html == again.html


def test_a_language_that_is_not_there() -> None:
    with pytest.raises(sa.InputError, match="there are no texts in the language 'deutsch'"):
        report_menu(make_loan(), language="deutsch")


# ---------------------------------------------------------------------------------------------- for everybody to read


@pytest.mark.parametrize(("name", "language"), IN_EVERY_WAY)
def test_landmarks_headings_and_tables(name: str, language: str) -> None:
    tree = page(name, language)
    assert tree.find("html")[0].attributes["lang"] == language
    for tag in ("header", "nav", "main", "footer", "h1"):
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
    turned = set(re.findall(r'\.plan \[(?:fill|stroke)="(#\w+)"\]', style.text))
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
