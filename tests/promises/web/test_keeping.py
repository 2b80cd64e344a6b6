"""What people take with them and bring along again: plans and answers, as files, without a script."""

from __future__ import annotations

import hashlib
import json
import re
from html import unescape
from typing import Any

import pytest

import safear as sa
from promises.web.conftest import APPLICANT, CREDIT, MOST_BYTES, Site, grant, serve
from promises.web.test_person_page import LOAN, START, ask, field, months, words
from safear.errors import ClassifierError


def save(site: Site, path: str, **fields: Any) -> str:
    with site.client() as client:
        answer = client.post(path, data={**START, **fields, "do": "again"})
    assert answer.headers["content-disposition"] == f"attachment; filename={path[1:]}.json"
    return answer.text


def open_again(site: Site, text: str, **fields: str) -> str:
    with site.client() as client:
        answer = client.post("/open", data={**fields, "do": "open"}, files={"file": ("mine.json", text.encode())})
    assert answer.status_code == 200
    return answer.text


def fields_of(page: str) -> dict[str, str]:
    """All that a browser would send of a page, as far as it is in inputs and choices."""
    found = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    found |= dict(
        re.findall(r'<select id="(\w+)"[^>]*>(?:(?!</select>).)*?<option value="([^"]+)" selected', page, re.S)
    )
    found |= dict(re.findall(r'<input id="((?:cost|chance|feature|given)\d+)"[^>]*? value="([^"]*)"', page))
    found |= dict.fromkeys(re.findall(r'name="(cannot\d)" value="1" checked', page), "1")
    return {name: unescape(value) for name, value in found.items()}


def test_the_plan_that_is_looked_at_is_saved(loan: Site) -> None:
    menu = sa.recommend(LOAN)
    assert save(loan, "/plan", position="0") == sa.SavedPlan.of(menu["safest"]).text
    assert save(loan, "/plan", position="2") == sa.SavedPlan.of(menu["cheapest"]).text
    with loan.client() as client:
        none = client.post("/plan", data={**START, "feature2": "rich", "do": "again"})
        wrong = client.post("/plan", data={**START, "feature2": "?", "do": "again"})
    assert "Your application was approved" in words(none.text)
    assert "Please check this again" in words(wrong.text)


def test_a_saved_plan_is_opened_and_a_step_failed(loan: Site) -> None:
    """`I did step 1, it failed`: the plan's own steps go on, and new plans have the time that is left."""
    text = save(loan, "/plan", position="2")
    page = open_again(loan, text)
    assert "Your saved plan: cheapest on average" in words(page)
    assert "Now: change job" in words(page)
    assert fields_of(page)["feature1"] == "school"
    with loan.client() as client:
        failed = client.post("/", data={**fields_of(page), "do": "outcome:1"}).text
        assert "change job: failed, 1 month (you lose your job)" in words(failed)
        assert "Now: find work" in words(failed)
        german = client.post("/", data={**fields_of(failed), "do": "speak:de"}).text
        assert "Jetzt: Arbeit finden" in words(german)
        here = client.post("/", data={**fields_of(failed), "do": "here"}).text
        told = words(here)
        assert "Spent so far: 1 month, which the figures below do not count. You can make 23 more tries." in told
        menu = sa.replan(sa.SavedPlan.read(text), LOAN, outcomes=[1])
        for offer in menu:
            assert months(offer.mean) in told
        again = client.post("/plan", data={**fields_of(here), "do": "again", "position": "0"}).text
        edited = client.post("/", data={**fields_of(failed), "feature1": "degree", "do": "draft"}).text
    saved = sa.SavedPlan.read(again)
    assert (saved.spent_before, saved.mdp.horizon) == (1.0, 23)
    assert saved.person_hash == sa.SavedPlan.read(text).person_hash
    assert "Your saved plan" not in words(edited)


def test_a_plan_on_other_terms_says_so(loan: Site) -> None:
    """Terms are not in its file, and what would be asked again is on those of the form."""
    text, note = save(loan, "/plan", position="0", cost1="4"), "This plan was made with other costs"
    assert note in words(open_again(loan, text))
    assert note not in words(open_again(loan, text, cost1="4"))
    assert note not in words(open_again(loan, save(loan, "/plan", position="0")))


def test_a_plan_that_today_s_model_does_not_accept_says_so(loan: Site, credit: Site) -> None:
    """The page goes on with the plan of the file, and asking again counts on today's model."""
    asked, note = sa.SavedPlan.of(sa.recommend(LOAN)["cheapest"]), "The model that decides has changed"
    record = CREDIT["people"]["Ada"]
    filed = sa.SavedPlan.of(sa.recommend(credit.service.problem, grant, record)[0])

    def refuse(frame: Any) -> Any:
        raise RuntimeError(f"out of order: {len(frame)} rows")

    for site, plan, stricter in (
        (loan, asked, lambda frame: frame["savings"] == "rich"),
        (credit, filed, lambda frame: grant(frame) & (frame["term"] < 12)),
    ):
        assert note not in words(open_again(site, plan.text))
        with serve(site.service.problem, stricter) as other:
            assert note in words(open_again(other, plan.text))
            assert "Das Modell, das entscheidet, ist" in words(open_again(other, plan.text, language="de"))
    nameless = sa.SavedPlan.of(sa.recommend(credit.service.problem, grant, record)[0], personal_data=False)
    with serve(credit.service.problem, refuse) as broken:
        assert note not in words(open_again(broken, nameless.text))
        told = words(open_again(broken, filed.text))  # the plan can be followed though the model is silent
    assert note not in told
    assert "Your saved plan" in told


def test_a_plan_without_personal_data_asks_for_them(loan: Site) -> None:
    plan = sa.SavedPlan.of(sa.recommend(LOAN)["cheapest"], personal_data=False)
    page = open_again(loan, plan.text)
    assert "Now: change job" in words(page)
    with loan.client() as client:
        here = client.post("/", data={**fields_of(page), "history": "1", "do": "here"}).text
    assert "What is decided about you, and what can you do?" in words(here)
    kept = open_again(loan, plan.text, **START)
    assert fields_of(kept)["feature1"] == "school"


def test_asking_again_keeps_the_time_that_is_left(loan: Site) -> None:
    page = ask(loan, "here", position="2", history="1")
    assert "You can make 23 more tries." in words(page)
    assert (field(page, "left"), field(page, "spent")) == ("23", "1.0")
    later = ask(loan, "here", position="0", history="1,1", **{name: field(page, name) for name in ("left", "spent")})
    assert field(later, "left") == "21"
    fresh = words(ask(loan, "fresh", left="3", spent="1.0"))
    assert "steps left." not in fresh.partition("Step by step")[0]
    assert "You can make 24 more tries." in fresh
    for left, spent in (("0", "1"), ("25", "1"), ("x", "1"), ("3", "1e500"), ("3", "-1"), ("3", "")):
        assert 'name="left"' not in ask(loan, left=left, spent=spent)


def test_once_no_step_is_left_the_full_time_begins_again() -> None:
    with serve(LOAN.with_horizon(1)) as site:
        page = ask(site, "here", position="0", history="1")
    assert (field(page, "left"), field(page, "spent")) == ("1", "1.0")


def test_answers_are_saved_and_opened(loan: Site) -> None:
    text = save(loan, "/answers", cost1="2.5", chance2="50", cannot3="1", left="20", spent="3.5")
    assert json.loads(text) == {
        "safear_answers": 1,
        "problem": "Loan approval",
        "person": APPLICANT,
        "terms": {
            "actions": {"change job": {"cost": "2.5"}, "study part-time": {"chance": "0.5"}},
            "forbid": ["increase savings"],
        },
        "steps_left": 20,
        "spent": 3.5,
    }
    page = open_again(loan, text, language="de", feature0="senior", cost0="9")
    assert '<html lang="de">' in page
    assert [field(page, name) for name in ("cost0", "cost1", "chance2", "left")] == ["", "2,5", "50", "20"]
    assert fields_of(page)["feature0"] == "young"
    assert 'name="cannot3" value="1" checked' in page
    assert "Noch 20 Versuche" in words(page)


def test_answers_in_another_language_and_ranked(credit: Site) -> None:
    ada = {"feature1": "8.750,5", "given1": "small", "by": "rank", "rank0": "2", "rank1": "1", "language": "de"}
    with credit.client() as client:
        text = client.post("/answers", data=ada).text
    found = json.loads(text)
    assert found["person"] == {"amount": "8750.5", "account": "small"}
    assert found["terms"] == {"rank": [["ask for less"], ["shorten"]]}
    page = open_again(credit, text)
    assert field(page, "feature1") == "8750.5"
    assert "counts as 0.83 months" in words(page)  # of 1 and 1.5


@pytest.mark.parametrize(
    ("terms", "filled", "named"),
    [
        ({"chance": [0.1, 0.2]}, {"chance1": "15"}, True),
        ({"chance": {"worked": 1, "tried": 3}}, {"chance1": "33.33"}, True),
        ({"cost": 1.23456}, {"cost1": "1.23"}, True),
        ({"cost": [{"when": "age == young", "cost": 2}, 3]}, {"cost1": ""}, True),
        ({"cost": 2.5, "chance": 0.333333}, {"cost1": "2.5", "chance1": "33.3333"}, False),
        ({"cost": 10**15}, {"cost1": str(10**15)}, False),  # the form says that it is too much
    ],
)
def test_terms_that_say_more_than_the_form_are_named(
    loan: Site, terms: dict[str, Any], filled: dict[str, str], named: bool
) -> None:
    """Files may be written by hand, as the command line takes them."""
    answers = {"safear_answers": 1, "problem": "Loan approval", "person": APPLICANT}
    page = open_again(loan, json.dumps(answers | {"terms": {"actions": {"change job": terms}}}))
    assert {name: field(page, name) for name in filled} == filled
    assert ("The file says more about “change job”." in words(page)) == named


def test_what_was_opened_stays_when_the_model_fails(loan: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ClassifierError.at((), "out of order", code="failed")

    text = save(loan, "/answers", cost1="2.5")
    monkeypatch.setattr(type(loan.service), "answer", fail)
    with loan.client() as client:
        answer = client.post("/open", data={"do": "open"}, files={"file": ("mine.json", text.encode())})
    assert answer.status_code == 502
    assert field(answer.text, "cost1") == "2.5"


def test_a_letter_has_no_dates_that_nobody_lives_to_see(loan: Site) -> None:
    with loan.client() as client:
        costs = {f"cost{number}": "1000000" for number in range(5)}
        letter = client.post("/report", data={**START, **costs, "do": "keep"})
    assert letter.status_code == 200
    assert letter.headers["content-disposition"] == "attachment; filename=letter.html"


@pytest.mark.parametrize(("language", "typed"), [("de", "6,143"), ("en", "6.143"), ("es", "6,143")])
def test_a_number_with_three_decimals_is_the_same_number_when_it_is_opened(
    credit: Site, language: str, typed: str
) -> None:
    with credit.client() as client:
        text = client.post("/answers", data={"feature1": typed, "given0": typed, "language": language}).text
    assert json.loads(text)["person"] == {"amount": "6.143", "age": "6.143"}
    page = open_again(credit, text, language=language)
    assert (field(page, "feature1"), field(page, "given0")) == (typed, typed)


def test_a_choice_that_looks_like_a_number_is_kept_as_it_is() -> None:
    features = {"a": {"kind": "nominal", "levels": ["1,000", "0.5"]}}
    actions = {"go": {"cost": 1, "change": {"a": "0.5"}}}
    parts: dict[str, Any] = {"safear": 1, "title": "t", "horizon": 1, "features": features, "actions": actions}
    with serve(sa.parse_problem({**parts, "classifier": {"rule": "a == '0.5'"}})) as site:
        for level in features["a"]["levels"]:
            with site.client() as client:
                text = client.post("/answers", data={"feature0": level, "language": "de"}).text
            assert json.loads(text)["person"] == {"a": level}
            assert fields_of(open_again(site, text, language="de"))["feature0"] == level


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Please choose a file first."),
        ("[" * 60_000, "These are neither answers nor a plan"),
        ("nonsense", "These are neither answers nor a plan"),
        ('{"safear_plan": 1}', "These are neither answers nor a plan"),
        ('{"safear_plan": 7}', "later version"),
        ('{"safear_plan": 7, "safear_plan": 7}', "These are neither answers nor a plan"),
        (
            '{"safear_answers": 1, "problem": "Loan approval", "person": {"age": "young", "age": "senior"}}',
            "These are neither answers nor a plan",
        ),
        ('{"safear_answers": 1, "problem": "Other", "person": {}}', "This file is for something else (“Other”)."),
        ('{"safear_answers": 1, "problem": "Loan approval", "person": {"x": "y"}}', "This file is for something else"),
        ('{"safear_answers": 1, "problem": "Loan approval", "person": {}, "terms": {"forbid": ["fly"]}}', "“fly”"),
    ],
)
def test_other_files_are_refused_and_nothing_is_lost(loan: Site, text: str, told: str) -> None:
    page = open_again(loan, text, **START)
    assert "This file cannot be opened" in words(page)
    assert told in words(page)
    assert fields_of(page)["feature1"] == "school"


def test_edited_and_foreign_plans_are_refused(loan: Site, credit: Site) -> None:
    text = save(loan, "/plan", position="0")
    assert "changed after it was saved" in words(open_again(loan, text.replace('"seed": null', '"seed": 7')))
    assert "This file is for something else" in words(open_again(credit, text))


def seal(content: dict[str, Any]) -> str:
    """The file of a plan, a line for each item of its lists, with a checksum that fits."""

    def write(content: dict[str, Any]) -> str:
        plain = {name: json.dumps(value, ensure_ascii=False) for name, value in content.items()}
        for name in ("promises", "actions", "states"):
            items = ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in content[name])
            plain[name] = f"[\n{items}\n  ]" if items else "[]"
        return "{\n" + ",\n".join(f'  "{name}": {value}' for name, value in plain.items()) + "\n}\n"

    return write(content | {"checksum": hashlib.sha256(write(content).encode()).hexdigest()})


def test_a_small_file_with_endless_ways_is_refused(loan: Site) -> None:
    """Costs of 1, 3, 9 ... make more amounts, step by step, than there is memory for."""
    saved, ways = save(loan, "/plan", position="0"), 12
    content = json.loads(saved)
    del content["checksum"]
    assert seal(content) == saved
    horizon = content["problem"]["horizon"]
    for action in content["actions"]:
        works = {**action["outcomes"][0], "outcome": 0, "chance": 0.5}
        fails = [{"outcome": i, "works": False, "chance": 0.5 / ways, "cost": 3.0**i} for i in range(1, ways + 1)]
        action["outcomes"] = [works, *fails]
    for number, state in enumerate(content["states"]):
        if state.get("do"):
            first = state["do"][0]
            when = [{"steps": [0, horizon - 1]}]
            state["do"] = [{"action": first["action"], "when": when, "next": [first["next"][0], *[number] * ways]}]
    text = seal(content)
    assert len(text) < MOST_BYTES
    assert "This is too much for us to work out here." in words(open_again(loan, text))
    assert "This is too much for us to work out here." in words(ask(loan, "again", plan=text))
