"""Parts of letters and reports: ways, schedules, summaries, and the page of an audit."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from audit_examples import audit_of, make_audit, make_people
from doors import (
    OPENING,
    Duration,
    find_longest,
    load_environment,
    make_schedule,
    require_writable,
    tell_rest,
    tell_summary,
    tell_ways,
)
from letter_menus import make_guessed, make_hopeless, make_loan, make_long, make_single
from promises.reports.test_audit_page import pages_in_german
from safear.errors import MissingExtraError
from safear.recourse import Teller
from safear.reports import Page, report_audit, report_menu
from safear.texts import Texts, load_texts

# ------------------------------------------------- How a plan may go, in lines and words: they are those of its traces


TELL = Teller.of("en")


def spans_of(line: str) -> list[float]:
    return [float(number) for number in re.findall(r'x[12]="([\d.]+)%"', line)]


def test_ways_have_the_chances_and_costs_of_the_traces() -> None:
    menu = make_loan()
    ends = []
    for offer in menu:
        traces, ways = offer.traces, tell_ways(offer, find_longest(menu), TELL)
        assert any(map(traces.is_worst, traces.shown))
        for way, trace in zip(ways, traces.shown, strict=True):
            assert way.chance == TELL.percent(trace.chance)
            assert ("worst 5%" in way.end) == traces.is_worst(trace)
            assert TELL.cost(trace.cost, "months") in way.end
            spans = spans_of(way.line)
            assert spans == sorted(spans)
            ends.append(spans[-1])
        rest = tell_rest(offer, TELL)
        assert traces.rest is not None
        assert rest is not None
        assert rest[0] == TELL.percent(traces.rest.chance)
    assert max(ends) == pytest.approx(100)


def test_ways_that_are_all_unlikely_are_left_out() -> None:
    (offer,) = make_long()
    assert tell_ways(offer, 1.0, TELL) == []


def test_ways_in_words(snapshot: SnapshotAssertion) -> None:
    safest = make_loan()[0]
    rest = tell_rest(safest, TELL)
    assert rest is not None
    assert "\n".join([*(way.words for way in tell_ways(safest, 1.0, TELL)), rest[1]]) == snapshot
    hopeless = [way for offer in make_hopeless() for way in tell_ways(offer, 1.0, TELL)]
    assert "not in time; 0.2 units spent" in [way.end for way in hopeless if not way.success]
    words = " ".join(way.words for way in hopeless)
    assert "work 2 times" in words
    assert "dither fails 2 times" in words


# ------------------------------------------------------------------------------------------ Dates along the main route


DAY = date(2026, 11, 17)


def test_costs_in_time_are_dates() -> None:
    menu = make_loan()
    found = make_schedule(menu[0].plan, menu.problem, DAY, original=menu.problem)
    assert found is not None
    assert found.done == {1: date(2026, 12, 17), 2: date(2027, 1, 17)}
    days = make_single()
    found = make_schedule(days[0].plan, days.problem, DAY, original=days.problem)
    assert found is not None
    assert list(found.done.values()) == [date(2026, 11, 18), date(2026, 11, 19)]


def test_durations_come_before_costs() -> None:
    menu = make_loan()
    actions = tuple(replace(action, duration=Duration.read("2 weeks")) for action in menu.problem.actions)
    found = make_schedule(menu[0].plan, replace(menu.problem, actions=actions), DAY, original=menu.problem)
    assert found is not None
    assert list(found.done.values()) == [date(2026, 12, 1), date(2026, 12, 15)]


def test_what_steps_cost_on_own_terms_is_no_time() -> None:
    loan = make_loan().problem
    route = {step.action for step in make_loan()[0].plan.steps if step.is_main}
    for terms in (sa.Terms.of(rank=[*sorted(route)]), sa.Terms.of(cost=dict.fromkeys(route, 1.1))):
        menu = sa.recommend(loan, terms=terms)
        assert {step.action for step in menu[0].plan.steps if step.is_main} & route
        assert make_schedule(menu[0].plan, menu.problem, DAY, original=loan) is None
        assert "done by" not in report_menu(menu, dated=DAY).html
    lasting = replace(loan, actions=tuple(replace(action, duration=Duration(days=14)) for action in loan.actions))
    menu = sa.recommend(lasting, terms=sa.Terms.of(rank=[*sorted(route)]))
    found = make_schedule(menu[0].plan, menu.problem, DAY, original=lasting)
    assert found is not None
    assert found.done[1] == date(2026, 12, 1)
    surer = sa.recommend(loan, terms=sa.Terms.of(chance=dict.fromkeys(route, 0.95)))
    assert make_schedule(surer[0].plan, surer.problem, DAY, original=loan) is not None


def test_no_dates_without_a_day_or_a_time() -> None:
    menu = make_loan()
    assert make_schedule(menu[0].plan, menu.problem, None, original=menu.problem) is None
    other = make_hopeless()
    assert make_schedule(other[1].plan, other.problem, DAY, original=other.problem) is None
    actions = tuple(replace(action, duration=Duration.read("9000 years")) for action in menu.problem.actions)
    endless = replace(menu.problem, actions=actions)
    assert make_schedule(menu[0].plan, endless, DAY, original=menu.problem) is None
    assert make_schedule(replace(menu[0].plan, steps=()), menu.problem, DAY, original=menu.problem) is None


# ------------------------------------------------------------------------------------------- A plan in a few sentences


def test_sentences(snapshot: SnapshotAssertion) -> None:
    menu = make_loan()
    tell = Teller.of("en", menu.problem.glossary)
    assert "\n".join(tell_summary(menu[0], menu, tell)) == snapshot


def test_how_far_they_can_be_off() -> None:
    menu = make_guessed()
    tell = Teller.of("en", menu.problem.glossary)
    spans = tell.spans(menu[0])
    assert spans.mean
    assert f"({spans.mean} if our estimates are off)." in tell_summary(menu[0], menu, tell)[2]


# -------------------------------------------------- No text of the catalogue that pages about audits have is left over


def test_no_text_is_left_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every text of the page is on one of the pages."""
    seen: set[str] = set()
    real = Texts.__call__

    def record(self: Texts, key: str, /, **values: object) -> str:
        seen.add(key)
        return real(self, key, **values)

    monkeypatch.setattr(Texts, "__call__", record)
    pages_in_german.cache_clear()
    pages_in_german()
    report_audit(sa.audit(make_audit().problem, None, make_people(), groups=["gender"], method="optimal"))
    spoiled = make_people()[:600].replace({"x": {"mid": "middle"}})
    report_audit(audit_of(spoiled, groups=["gender"], skip_bad=tmp_path / "bad"))
    tested = ("audit.conclusion.", "audit.helpless.", "audit.gives_up.")  # sentence by sentence, in test_findings
    texts = [key for key in load_texts("en").entries if key.startswith("audit.") and not key.startswith(tested)]
    assert set(texts) - seen == set()


# ------------------------------------------ Pages as files: what they begin with, and what they are never written over


OPENINGS = {language: OPENING.format(language=language) for language in ("en", "de", "pt-BR")}
PAGE = Page(f'{OPENINGS["en"]} 0">\n', ("said",))


def test_a_page_is_written_and_written_again(tmp_path: Path) -> None:
    target = tmp_path / "a.html"
    PAGE.save(target)
    assert target.read_text(encoding="utf-8") == PAGE.html
    for opening in OPENINGS.values():
        Page(f'{opening} 0">\nmore').save(str(target))
        assert target.read_text(encoding="utf-8").startswith(opening)


def test_nothing_else_is_written_over(tmp_path: Path) -> None:
    target = tmp_path / "mine.html"
    for text in ("", "<!doctype html>\n<html lang='en'>my own page", OPENINGS["en"][:-1], OPENING):
        target.write_text(text, encoding="utf-8")
        with pytest.raises(sa.InputError) as caught:
            PAGE.save(target)
        cause = "already exists and is not a page of SafeAR"
        assert str(caught.value) == f"{target}: {cause}\n    name a new file"
        assert target.read_text(encoding="utf-8") == text


def test_files_that_no_page_can_be_in(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    folder = tmp_path / "no"
    for name, told in {
        "a.pdf": "pages are written as .html, not as '.pdf'\n    name it a.html",
        "a": "pages are written as .html, not as 'a'\n    name it a.html",
        "folder.html": "cannot be written: Is a directory\n    name a file",
        "no/a.html": f"cannot be written: there is no such folder\n    make the folder '{folder}', or name another",
    }.items():
        with pytest.raises(sa.InputError) as caught:
            require_writable(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: {told}"
    require_writable(tmp_path / "a.HTM")


def test_what_is_no_file_is_written_into(tmp_path: Path) -> None:
    for name in ("/dev/null", "/dev/stdout"):
        require_writable(name)
    PAGE.save("/dev/null")
    (tmp_path / "page.html").symlink_to("/dev/null")
    PAGE.save(tmp_path / "page.html")
    assert Path("/dev/null").is_char_device()


def test_without_jinja(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    load_environment.cache_clear()
    with pytest.raises(MissingExtraError) as caught:
        require_writable(tmp_path / "a.html")
    assert str(caught.value) == "Jinja2 is not installed; install it with: pip install 'safear[report]'"
