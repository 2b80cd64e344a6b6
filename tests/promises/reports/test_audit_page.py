"""The page about an audit: all figures are there, nothing runs, and everybody can read it."""

from __future__ import annotations

import hashlib
import platform
import re
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import safear as sa
from audit_examples import NASTY, audit_of, make_audit, make_even_audit, make_nasty_audit, make_people
from english import english_in
from page_html import Node, read_page, read_table
from safear.plots import disparity
from safear.reports import Page, Sources, report_audit

MEASURES = ("success", "mean", "variance", "var", "cvar", "sparsity", "proximity")


@cache
def make_page() -> Page:
    return report_audit(make_audit())


@cache
def page() -> Node:
    return read_page(make_page().html)


PAGES = [make_audit, make_nasty_audit, make_even_audit, lambda: audit_of(make_people()[:80], groups=["gender"])]


# ------------------------------------------------------------------------------------------------------------ figures


@pytest.mark.parametrize("by", [("gender",), ("town",), ("gender", "town")], ids=str)
def test_means_and_intervals_are_those_of_the_audit(by: tuple[str, ...]) -> None:
    audit: Any = make_audit()
    name = " × ".join(by)
    rows = read_table(page(), f"What the rejected can expect, by {name}: means, and their 95% bootstrap intervals")
    table = audit.table(by)
    shown = {row[0].rstrip("*"): row for row in rows[1:]}
    intervals = {(row["group"], row["measure"]): row for row in audit.intervals(by).to_dict("records")}
    for cell in audit.groups(by):
        (row,) = (row for _, row in table.loc[[cell.names if len(by) > 1 else cell.names[0]]].iterrows())
        starred = [line[0] for line in rows if line[0].endswith("*")]
        assert (f"{cell.name}*" in starred) == row["small"]
        for place, measure in enumerate(MEASURES, start=1):
            text = shown[cell.name][place]
            if row[measure] is None:
                assert text == "n/a"
            elif measure == "mean":
                ends = intervals[cell.name, measure]
                assert text == f"{row[measure]:.2f}{ends['low']:.2f} – {ends['high']:.2f}"
    gap = audit.difference(by)["mean"]
    assert shown["largest difference"][2] == (f"{gap:.2f}" if gap >= 0.1 else f"{gap:.2g}")
    assert shown["smallest ratio"][2] == f"{audit.ratio(by)['mean']:.3f}"
    assert shown["everybody"][2] == f"{audit.overall['mean']:.2f}"


def test_pictures_are_never_shown_smaller_than_they_are_drawn() -> None:
    """Narrow screens scroll; so all letters have the size that `tests/promises/plots` asks for."""
    html = make_page().html
    (least,) = re.findall(r"\.picture svg \{[^}]*min-width: ([\d.]+)rem", html)
    assert "html { font: 16px/" in html
    widths = [float(width) for width in re.findall(r'<svg [^>]*viewBox="0 0 ([\d.]+) [^>]*role="img"', html)]
    assert widths
    assert max(widths) <= 16 * float(least)


def test_people_are_counted() -> None:
    rows = {row[0]: row[1:] for row in read_table(page(), "People by town")}
    table: Any = make_audit().table("town")
    assert rows["Elend"] == ["40", "0%", "40", "100%40", "0%"]
    assert rows["Dorf*"][:3] == ["49", f"{100 * 40 / 49:.0f}%", "9"]
    assert rows["Goslar*"] == ["35", "100%", "0", "n/a", "n/a"]
    total = rows["everybody"]
    assert (total[0], total[2]) == (str(table["n"].sum()), str(table["rejected"].sum()))


def test_comparisons_with_their_verdicts() -> None:
    tests = {row["measure"]: row for row in make_audit().tests("gender").to_dict("records")}
    rows = read_table(page(), "Comparisons by gender: the first group minus the second")
    assert [row[1:3] for row in rows[1:]] == [["female", "male"]] * 7
    found = {row[0]: row for row in rows[1:]}
    mean = tests["mean"]
    assert found["average"][3] == f"{mean['difference']:+.2f}".replace("-", "−")
    assert found["average"][6] == f"{mean['p (Holm)']:.2g}"
    words = {"more than chance", "ranks only", "averages only", "within chance", "not compared"}
    assert {row[7] for row in rows[1:]} <= words


def test_all_figures_can_be_read_back() -> None:
    audit: Any = make_audit()
    rows = read_table(page(), "By gender × town: means and bootstrap intervals")[1:]
    exact = {(row[0], row[1]): row[2:] for row in rows}
    ends = {(row["group"], row["measure"]): (row["low"], row["high"]) for row in audit.intervals().to_dict("records")}
    for cell in audit.groups(("gender", "town")):
        for measure in MEASURES:
            people, *figures = (None if text == "n/a" else float(text) for text in exact[cell.name, measure])
            assert people == cell.sample(measure).n
            assert tuple(figures) == (cell.mean(measure), *ends.get((cell.name, measure), (None, None)))
    tests = audit.tests("gender").to_dict("records")
    for row, test in zip(read_table(page(), "By gender: rank tests")[1:], tests, strict=True):
        assert row[:3] == [test["measure"], test["group"], test["other"]]
        assert row[4] == test["test"] == "approximation"
        assert [float(row[i]) for i in (3, 5, 6)] == [test["effect"], test["p"], test["p (Holm)"]]
    gaps = read_table(page(), "By gender: differences (group minus other) and bootstrap intervals")[1:]
    assert [[float(text) for text in row[3:]] for row in gaps] == [
        [test[name] for name in ("difference", "low", "high")] for test in tests
    ]
    overall = dict(read_table(page(), "Everybody: all figures")[1:])
    assert overall == {name: repr(value) for name, value in audit.overall.items()}


def test_where_gaps_come_from() -> None:
    parts = make_audit().decompose("gender")
    assert parts
    caption = "By gender: where gaps come from (group minus other)"
    rows = read_table(page(), caption)[1:]
    assert [[float(text) for text in row[3:]] for row in rows] == [[p.gap, p.start, p.model, p.covered] for p in parts]
    shown = read_table(page(), "Where the gaps by gender come from: the first group minus the second")[1:]
    assert shown[1][:3] == ["average", "female", "male"]  # as in the comparisons, whatever the order of the levels
    sign = 1 if parts[1].group == "female" else -1
    assert shown[1][3] == f"{sign * parts[1].gap:+.2f}".replace("-", "−")
    assert not [node for node in page().find("caption") if "gaps by town" in node.text]  # no feature, nothing to swap


def test_for_the_file() -> None:
    sources = Sources("job.yaml", "model.skops", ["a.csv", "b.csv"])
    facts = facts_of(read_page(report_audit(make_audit(), sources=sources).html), "file")
    written = yaml.safe_dump(sa.dump_problem(make_audit().problem), sort_keys=False, allow_unicode=True, width=120)
    digest = hashlib.sha256(written.encode()).hexdigest()
    assert facts["SHA-256 of the problem used, as SafeAR writes it"] == digest
    assert (facts["SafeAR"], facts["Python"], facts["NumPy"]) == (
        sa.__version__,
        platform.python_version(),
        np.__version__,
    )
    assert (facts["problem"], facts["who decides"], facts["people"]) == ("job.yaml", "model.skops", "a.csv, b.csv")
    assert facts["rows read"] == str(make_audit().population.rows)
    assert facts["bootstrap"].startswith("seed 0, 2000 resamples")
    assert facts_of(page(), "file")["people"] == "a table in memory"


def facts_of(tree: Node, section: str) -> dict[str, str]:
    (part,) = tree.find("section", id=section)
    (facts,) = [node for node in part.find("dl") if (node.attributes["class"] or "").startswith("facts")]
    return dict(zip([node.text for node in facts.find("dt")], [node.text for node in facts.find("dd")], strict=True))


def test_what_was_asked(tmp_path: Path) -> None:
    people = make_people().replace({"x": {"mid": "middle"}})
    audit = audit_of(people, groups="gender", skip_bad=tmp_path / "bad.csv", objective=sa.CVaR(0.9), level=0.8)
    tree = read_page(report_audit(audit, dated="1 May").html)
    lead = " ".join(node.text for node in tree.find("p", class_="lead"))
    bad = (people["x"] == "middle").sum()
    assert (
        f"{len(people) - bad} people were read; {bad} rows of {len(people)} could not be used and were set aside"
        in lead
    )
    assert "follows a plan of their own within 4 steps: least cost in the worst 10 of 100 cases." in lead
    facts = facts_of(tree, "asked")
    assert (facts["problem"], facts["goal"], facts["objective"]) == ("A better job", "hired", "cvar:0.9")
    assert (facts["level of “within” and “worst”"], facts["rows set aside"]) == ("80%", str(bad))
    assert tree.find("p", class_="product")[0].text == "SafeAR · audit of risk · 1 May"


def test_the_page_says_first_what_it_says_in_short() -> None:
    (short,) = page().find("section", id="short")
    assert tuple(node.text for node in short.find("li")) == make_page().summary
    assert make_page().summary[0].startswith("By gender: ")
    (main,) = page().find("main")
    assert [node.attributes["id"] for node in main.find("section")] == [
        "short", "asked", "groups-1", "groups-2", "groups-3", "origins", "reading", "file",
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------- nothing runs nor loads


@pytest.mark.parametrize("audit", PAGES)
def test_the_page_stands_alone(audit: Any) -> None:
    text = report_audit(audit()).html
    tree = read_page(text)
    tags = {node.tag for node in tree.walk()}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "form", "base", "b-town"})
    for node in tree.walk():
        assert not [name for name in node.attributes if name.startswith("on") or name in {"src", "srcset", "style"}]
        assert (node.attributes.get("href") or "#").startswith("#")
    (style,) = tree.find("style")
    assert not re.search(r"@import|url\(|@font-face", style.text)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    (policy,) = [node for node in tree.find("meta") if node.attributes.get("http-equiv")]
    assert policy.attributes["content"] == "default-src 'none'; style-src 'unsafe-inline'"


def test_names_that_would_run_or_break_the_page() -> None:
    tree = read_page(report_audit(make_nasty_audit()).html)
    shown = {row[0].rstrip("*") for row in read_table(tree, "People by <b>town</b>")[1:]}
    assert {"(missing)", "Dorf", "Elend"} < shown
    (nasty,) = [name for name in shown if name.startswith("<script>")]
    assert nasty.endswith(NASTY[-60:])
    assert "\u202e" not in nasty  # it would turn around all that follows
    assert "\u0007" not in nasty
    (title,) = [node for node in tree.find("h2") if node.attributes["id"] == "groups-1-title"]
    assert title.text == "By <b>town</b>"
    assert tree.find("script") == []


def test_the_same_bytes_each_time() -> None:
    again = report_audit(audit_of(make_people(), groups=["gender", "town"]))
    assert again.html.encode() == make_page().html.encode()
    other = report_audit(audit_of(make_people(), groups=["gender", "town"], seed=1))
    assert other.html != again.html


# ---------------------------------------------------------------------------------------------- for everybody to read


@pytest.mark.parametrize("audit", PAGES)
def test_landmarks_headings_and_tables(audit: Any) -> None:
    tree = read_page(report_audit(audit()).html)
    assert tree.find("html")[0].attributes["lang"] == "en"
    assert [node.tag for node in tree.find("head")[0].find("title")] == ["title"]
    for tag in ("header", "nav", "main", "footer", "h1"):
        assert len(tree.find(tag)) == 1, tag
    ids = [node.attributes["id"] for node in tree.walk() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for node in tree.walk():
        for name in ("aria-labelledby", "href"):
            for target in (node.attributes.get(name) or "").split():
                assert target.removeprefix("#") in ids
    for section in tree.find("section"):
        assert section.attributes["aria-labelledby"] == section.find("h2")[0].attributes["id"]
    for table in tree.find("table"):
        assert table.find("caption")[0].text
        (head,), (body,) = table.find("thead"), table.find("tbody")
        assert {node.attributes["scope"] for node in head.find("th")} == {"col"}
        for row in body.find("tr"):
            assert [node.attributes["scope"] for node in row.find("th")] == ["row"]
            assert len(row.find("th") + row.find("td")) == len(head.find("th") + head.find("td"))


def test_pictures_have_their_words_in_a_list() -> None:
    pictures = page().find("svg")
    assert len(pictures) == 3
    assert all(node.attributes["role"] == "img" for node in pictures)
    lists = [node.find("li") for node in page().find("details")]
    tables = [make_audit().table(by) for by in make_audit().columns]
    assert [len(items) for items in lists] == [len(table) for table in tables]
    assert lists[1][0].text.startswith("Bonn: ")
    assert disparity(make_audit(), "town").svg.strip() in make_page().html


def test_dark_and_print() -> None:
    (style,) = page().find("style")
    assert "@media screen and (prefers-color-scheme: dark)" in style.text  # not on paper
    assert "@media print" in style.text
    colours = set(re.findall(r'(?:fill|stroke)="(#\w+)"', make_page().html))
    turned = set(re.findall(r'\[(?:fill|stroke)="(#\w+)"\]', style.text))
    assert colours <= turned


# ----------------------------------------------------------------------------------------------------------- languages


@cache
def pages_in_german() -> tuple[tuple[sa.Audit, Node], ...]:
    cheap = replace(make_audit().problem, goal=replace(make_audit().problem.goal, failure_cost=Decimal(0)))
    audits = [
        *(make() for make in PAGES),  # type: ignore[operator]  # functions of several kinds
        sa.audit(cheap, None, make_people(), groups=["gender"]),
        sa.audit(cheap, None, make_people(), groups=["gender"], method="greedy", objective=sa.MeanStd(1)),
        *(
            audit_of(make_people()[:600].assign(town=[f"T{number % count}" for number in range(600)]), groups=["town"])
            for count in (6, 60)
        ),
    ]
    return tuple((audit, read_page(report_audit(audit, language="de", dated="1. Mai").html)) for audit in audits)


def shown(node: Node | str) -> str:
    """What is read of a page, also by those who listen to it."""
    if isinstance(node, str):
        return f" {node}"
    if node.tag == "style":
        return ""
    return " ".join([node.attributes.get("aria-label") or "", *map(shown, node.children)])


def test_the_page_speaks_german() -> None:
    for audit, tree in pages_in_german():
        assert tree.find("html")[0].attributes["lang"] == "de"
        for table in [table for part in tree.find("div", class_="exact") for table in part.find("table")]:
            table.children = [*table.find("caption"), *table.find("thead")]  # the rest is named as in the JSON
        assert english_in(shown(tree), audit.problem.title, "<script>alert('1')</script>", "goal.failure_cost") == []
    told = [node.text for node in pages_in_german()[0][1].find("section", id="short")[0].find("li")]
    assert told[0].startswith("Nach gender: Wer mehr Risiko trägt, hängt vom Maß ab (statistisch gesichert): „male“")
    assert told == [" ".join(text.split()) for text in report_audit(make_audit(), language="de").summary]


def test_both_languages_tell_the_same_figures() -> None:
    german = read_page(report_audit(make_audit(), language="de").html)
    for one, other in zip(page().find("table"), german.find("table"), strict=True):
        cells, others = ([re.sub(r"\D", "", cell.text) for cell in table.find("td")] for table in (one, other))
        assert cells == others


# ------------------------------------------------------------------------------------------------------------ odd ones


def test_a_single_group() -> None:
    audit = audit_of(make_people()[:80].assign(town="Ulm"), groups=["town"])
    result = report_audit(audit)
    assert result.summary[0] == "By town: Nothing can be compared; only “Ulm” has at least 30 rejected people."
    captions = [node.text for node in read_page(result.html).find("caption")]
    assert not [text for text in captions if text.startswith("Comparisons")]


def test_many_groups_keep_the_page_short() -> None:
    people = make_people()[:600].assign(town=[f"T{number % 6}" for number in range(600)])
    tree = read_page(report_audit(audit_of(people, groups=["town"])).html)
    assert len(read_table(tree, "Comparisons by town: the first group minus the second")) == 1 + 7
    assert "all 105 comparisons are in the appendix" in tree.text
    assert len(read_table(tree, "By town: rank tests")) == 1 + 105


def test_saving(tmp_path: Path) -> None:
    make_page().save(tmp_path / "audit.html")
    make_page().save(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_bytes() == make_page().html.encode()
