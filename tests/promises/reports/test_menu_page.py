"""The letter to the person: all figures are those of the menu, nothing runs, and everybody can read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from audit_examples import NASTY
from letter_menus import (
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
    make_single,
)
from page_html import Node, read_page, read_table
from safear.reports import Page, report_figures, report_menu
from spoken import LANGUAGES

SOURCE = Path(sa.__file__).parent
IN_EVERY_WAY = [(name, language) for name in MENUS for language in LANGUAGES]
READ = ("own terms", "none", "accepted", "single", "uneven", "likeliest", "filed")
CHECKED = {
    "en": "Checked with the model itself, on your own figures: the situation in which this plan succeeds, with all 9 "
    "combinations of its numbers that can make a difference. None was refused.",
    "de": "Mit dem Modell selbst geprüft, mit Ihren eigenen Angaben: die Situation, in der dieser Plan gelingt, mit "
    "allen 9 Kombinationen der genannten Zahlen, die einen Unterschied machen können. Nichts davon wurde abgelehnt.",
}
INLINE = {"a", "b", "bdi", "span", "svg"}


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


# -------------------------------------------------------------------------------------------------- letters, as read


def lines(node: Node) -> Iterator[str]:
    """All that is read, with a line for each paragraph, item and row."""
    text = ""
    for child in node.children:
        if isinstance(child, str):
            text += child
        elif child.tag in INLINE:
            text += child.text
        elif child.tag == "tr":
            yield " | ".join(cell.text for cell in child.walk() if cell.tag in {"th", "td"})
        else:
            yield text
            text = ""
            yield from lines(child)
    yield text


def letter(node: Node) -> str:
    return "\n".join(plain(line) for line in lines(node) if line.strip())


@pytest.mark.parametrize(
    ("name", "language"),
    [*(("loan", language) for language in LANGUAGES), *((name, "en") for name in READ), ("asked", "de")],
)
def test_whole_letters(name: str, language: str, snapshot: SnapshotAssertion) -> None:
    (body,) = page(name, language).find("main")  # around it are the reference and the version
    assert letter(body) == snapshot


# ------------------------------------------------------------------------------------------------------------ figures


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
    (said,) = [line for line in letter(page("loan")).splitlines() if line.startswith("Compared with")]
    assert re.findall(r"\d\.\d\d", said) == [f"{more:.2f}", f"{less:.2f}"]
    assert "Compared with" not in page("asked").text
    assert [offer.name for offer in make_likeliest()] == ["most likely to succeed"]


def test_chances_that_differ_are_compared(snapshot: SnapshotAssertion) -> None:
    (text,) = re.findall(
        "Im Vergleich zu .*? mehr", read_page(report_menu(MENUS["uneven"](), 1, language="de").html).text
    )
    assert text == snapshot


def test_the_main_route_comes_first() -> None:
    route, detours = section(page("loan"), "plan").find("ol")
    assert [item.attributes["value"] for item in route.find("li") if "value" in item.attributes] == ["1", "2"]
    assert [item.attributes["value"] for item in detours.find("li") if "value" in item.attributes] == ["3", "4"]


def test_dates_of_the_main_route(snapshot: SnapshotAssertion) -> None:
    tree = read_page(report_menu(make_loan(), dated=date(2026, 11, 17)).html)
    german = read_page(report_menu(make_loan(), dated=date(2026, 3, 1), language="de").html)
    told = [line for each in (tree, german) for line in letter(each).splitlines() if re.search("202[67]", line)]
    assert "\n".join(told) == snapshot
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
    tree = page("long")
    main, more = section(tree, "plan"), section(tree, "more")
    numbers = [
        sorted(int(node.attributes["value"] or 0) for node in part.find("li") if "value" in node.attributes)
        for part in (main, more)
    ]
    assert numbers == [list(range(1, 9)), list(range(9, 29))]
    assert "Steps 9 to 28 are at the end of this letter." in main.text
    assert "that is not listed" not in tree.text  # there is room for all likely steps
    assert not page("loan").find("section", id="more")


def test_a_hundred_people() -> None:
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
            quick = [cost for cost in costs if re.search(rf"at a cost of {cost:g} \w+ or less$", told[0])]
            assert (len(quick) == 1) == bool(full)
            if quick:
                assert int(told[0].split()[0]) == len(full)
                assert len(full) == pytest.approx(100 * offer.cost.success_within(quick[0]), abs=1)


# ---------------------------------------------------------------------------------------------- what it is based on


def test_what_is_known_and_what_was_reckoned_with() -> None:
    basis = section(page("loan"), "basis")
    assert facts_of(basis) == make_loan().person
    assert "Also considered" not in basis.text


def test_ranges_and_steps_that_nobody_can_take() -> None:
    own_dream = sa.recommend(make_single().problem, terms=sa.Terms.of(cost={"dream": 2}))
    rows = {
        row[0]: row[1:] for row in read_table(read_page(report_menu(own_dream).html), "Costs and chances used for you")
    }
    assert rows["dream"] == ["–", "–", "your own figures; usually 1 day, 100%; not open to you"]
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
    written = sa.dump_problem(sa.load_example("loan"))
    written["actions"]["change job"]["cost"] = cost
    return sa.parse_problem(written)


@cache
def make_sourced() -> sa.Problem:
    """The loan, with numbers that come from somewhere."""
    written = sa.dump_problem(sa.load_example("loan"))
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


def test_where_the_numbers_come_from(snapshot: SnapshotAssertion) -> None:
    tree = read_page(report_menu(sa.recommend(make_sourced())).html)
    assert "works 725 times in 1000" in tree.text  # and not about 72 in 100
    assert letter(section(tree, "basis")) == snapshot


def test_notices_in_both_languages(snapshot: SnapshotAssertion) -> None:
    told = [node.text for node in section(page("noted"), "notices").find("li")]
    german = [node.text for node in section(page("noted", "de"), "notices").find("li")]
    assert len(told) == len(german) == len(NOTICES) == len(make_noted().notices)
    assert "\n".join([*told, *german]) == snapshot
    assert not page("loan").find("section", id="notices")


# --------------------------------------------------------------------------------------------- no plan, or none needed


@pytest.mark.parametrize("reason", ["no_action", "horizon", "never", "unknown", "budget"])
def test_no_recourse_is_told_with_its_reason(reason: str, snapshot: SnapshotAssertion) -> None:
    result = report_menu(without_recourse(reason), original=sa.load_example("loan"))
    tree = read_page(result.html)
    assert "\n".join([*result.summary, *letter(section(tree, "answer")).splitlines()[:2]]) == snapshot
    assert "Ruled out for you and not considered: own a house and change job." in section(tree, "basis").text
    assert not tree.find("section", id="plan")


def without_recourse(code: Any) -> sa.Menu:
    menu = replace(make_none(), case=replace(make_none().case))
    assert menu.no_recourse is not None
    steps = 3 if code == "horizon" else None
    found = replace(menu.no_recourse, code=code, states=7, blocked=(), horizon=steps, budget=2, least=3)
    menu.case.__dict__["no_recourse"] = found  # in place of what is worked out
    return menu


def test_already_favourable() -> None:
    result = report_menu(make_accepted())
    tree = read_page(result.html)
    assert result.summary == ("Your application was approved", "There is nothing you need to do.")
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
    assert f'@bottom-left {{ content: "{report_figures(make_loan(), dated=date(2026, 5, 1)).reference}"' in made


def test_the_provider_and_where_to_appeal(snapshot: SnapshotAssertion) -> None:
    provider = {"name": "First Bank", "contact": "555-0100", "appeal": "Ombudsman, 1 Main Street"}
    menu = sa.recommend(sa.parse_problem(sa.dump_problem(sa.load_example("loan")) | {"provider": provider}))
    tree = read_page(report_menu(menu).html)
    other = read_page(report_menu(menu, contact="Ms Weber").html)
    found = [*tree.find("p", class_="sender"), *tree.find("p", class_="contact"), *other.find("p", class_="contact")]
    assert "\n".join(node.text for node in found) == snapshot


def test_plans_are_named_after_what_was_asked_for() -> None:
    menu = make_asked()
    _, *others = read_table(page("asked", "de"), "Die anderen Pläne")
    assert [row[0].partition(":")[0] for row in others] == [f"Plan {number}" for number in range(2, len(menu) + 1)]
    assert [row[0] for row in read_table(page("health"), "The other plans")[1:]] == [
        "Plan 2: balanced",
        "Plan 3: cheapest on average",
    ]


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
    assert notes.count(CHECKED[language]) == 1
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


@pytest.mark.parametrize("language", LANGUAGES)
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
    assert isinstance(make_loan(), sa.Menu)
