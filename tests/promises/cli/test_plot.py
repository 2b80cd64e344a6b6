"""`safear plot`: pictures as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import safear as sa
from crowds import JOB
from hidden_packages import hide_package
from promises.cli.conftest import Safear

NO_WAY = ["--horizon", "1", "--forbid", "own a house", "--forbid", "change job"]
PEOPLE = "skill,age,gender\n" + "basic,20,female\n" * 40 + "basic,40,male\n" * 40 + "skilled,40,male\n"


def draw(safear: Safear, *arguments: object, file: str = "x.svg") -> str:
    answer = safear("plot", *arguments, "--out", file)
    told = "Das Bild steht in" if "de" in arguments else "The picture is in"
    assert (answer.code, answer.out, answer.err) == (0, f"{told} {file}.\n", "")
    return Path(file).read_text(encoding="utf-8")


def test_pictures_of_a_menu(safear: Safear) -> None:
    menu = sa.recommend(sa.load_example("loan"))
    assert draw(safear, "traces", "loan") == sa.plots.traces(menu).svg
    assert draw(safear, "distribution", "loan") == sa.plots.distribution(menu).svg
    assert draw(safear, "cdf", "loan") == sa.plots.cdf(menu).svg
    assert draw(safear, "frontier", "loan") == sa.plots.frontier(menu).svg


def test_pictures_of_a_plan(safear: Safear) -> None:
    menu = sa.recommend(sa.load_example("loan"))
    assert draw(safear, "tree", "loan") == sa.plots.tree(menu["safest"]).svg
    assert draw(safear, "dots", "loan") == sa.plots.dots(menu["safest"], beside=menu).svg
    named = ("--plan", "cheapest on average")
    assert draw(safear, "tree", "loan", *named) == sa.plots.tree(menu["cheapest on average"]).svg
    assert draw(safear, "dots", "loan", *named) == sa.plots.dots(menu["cheapest on average"], beside=menu).svg


def test_every_picture_speaks_german(safear: Safear) -> None:
    menu = sa.recommend(sa.load_example("loan"))
    for kind in ("traces", "distribution", "cdf", "frontier"):
        assert draw(safear, kind, "loan", "--language", "de") == getattr(sa.plots, kind)(menu, language="de").svg
    for kind in ("tree", "dots"):
        axis = {"beside": menu} if kind == "dots" else {}
        wanted = getattr(sa.plots, kind)(menu["safest"], language="de", title="Mein Plan", **axis).svg
        assert draw(safear, kind, "loan", "--language", "de", "--title", "Mein Plan") == wanted
    learned = draw(safear, "learning", "health-insurance", "--episodes", "60", "--language", "de")
    assert "der letzten 60 Episoden" in learned
    answer = safear("plot", "dots", "no such problem", "--language", "xx", "-o", "x.svg")
    assert (answer.code, answer.err.splitlines()[0]) == (2, "there are no texts in the language 'xx'")


def test_the_person_the_classifier_and_the_terms(safear: Safear) -> None:
    Path("mine.py").write_text("def accept(frame):\n    return frame['housing'] == 'own'\n")
    Path("terms.yaml").write_text("actions: {own a house: {cost: 7}}\n")
    Path("me.json").write_text(json.dumps(dict(sa.load_example("loan").default_person or {}) | {"age": "senior"}))
    problem = sa.load_example("loan").with_horizon(5)
    terms = sa.Terms.of(cost={"own a house": 7}, forbid=["study part-time"])
    person = dict(problem.default_person or {}) | {"age": "senior", "savings": "moderate"}
    wanted = sa.recommend(problem, sa.load_classifier("mine.py:accept", problem), person, terms=terms, level=0.8)
    found = draw(
        safear, "distribution", "loan", "--classifier", "mine.py:accept", "--person", "me.json",
        "--terms", "terms.yaml", "--set", "savings=moderate", "--forbid", "study part-time", "--horizon", "5",
        "--level", "0.8",
    )  # fmt: skip
    assert found == sa.plots.distribution(wanted).svg
    assert "7 months" in draw(safear, "tree", "loan", "--classifier", "mine.py:accept", "--terms", "terms.yaml")


def test_plans_that_are_asked_for_stand_safest_first(safear: Safear) -> None:
    asked = sa.recommend(sa.load_example("loan"), objectives=["mean", "cvar:0.95"])
    assert [offer.name for offer in asked] == ["mean", "cvar:0.95"]
    found = draw(safear, "cdf", "loan", "--objective", "mean", "--objective", "cvar:0.95", "--title", "Mine")
    assert found == sa.plots.cdf([asked["cvar:0.95"], asked["mean"]], title="Mine").svg


def test_the_frontier_with_greedy_plans(safear: Safear) -> None:
    problem = sa.load_example("health-insurance")
    greedy = sa.recommend(problem, objectives=["mean-std:0.5", "mean-std:1"], method="greedy")
    found = draw(safear, "frontier", "health-insurance", "--greedy", "mean-std:0.5", "--greedy", "mean-std:1")
    assert found == sa.plots.frontier(sa.recommend(problem), greedy).svg


def test_learning(safear: Safear) -> None:
    svg = draw(safear, "learning", "health-insurance", "--episodes", "60", "--seed", "3")
    assert svg == draw(safear, "learning", "health-insurance", "--episodes", "60", "--seed", "3")
    assert svg != draw(safear, "learning", "health-insurance", "--episodes", "60", "--seed", "4")
    assert "of the last 60 episodes" in svg
    assert all(f"mean-std:{aversion}" in svg for aversion in ("0<", "0.5<", "1<"))
    one = draw(safear, "learning", "health-insurance", "--episodes", "60", "--objective", "mean")
    assert "mean-std" not in one


def test_disparity(safear: Safear) -> None:
    Path("job.yaml").write_text(JOB)
    Path("people.csv").write_text(PEOPLE)
    Path("mine.py").write_text("def accept(frame):\n    return frame['skill'] == 'expert'\n")
    problem = sa.load_problem("job.yaml")
    audit = sa.audit(
        problem, sa.load_classifier("mine.py:accept", problem), "people.csv", groups=["gender"], objective=sa.CVaR(0.95)
    )
    given = [
        "job.yaml",
        "people.csv",
        "--group",
        "gender",
        "--classifier",
        "mine.py:accept",
        "--objective",
        "cvar:0.95",
    ]
    assert draw(safear, "disparity", *given) == sa.plots.disparity(audit).svg
    assert "fewer than 100 rejected" in draw(safear, "disparity", *given, "--minimum", "100")
    answer = safear("plot", "disparity", "job.yaml", "--group", "gender", "--out", "x.svg")
    assert (answer.code, answer.err.splitlines()[0]) == (2, "there are no people")


def test_other_formats(safear: Safear) -> None:
    for name, start in (("x.png", b"\x89PNG"), ("x.pdf", b"%PDF")):
        answer = safear("plot", "dots", "loan", "-o", name)
        assert (answer.code, answer.err) == (0, "")
        assert Path(name).read_bytes().startswith(start)


def test_what_cannot_be_written_is_refused_before_anything_is_computed(
    safear: Safear, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = safear("plot", "dots", "no such problem", "-o", "x.jpg")
    assert (answer.code, answer.err.splitlines()[0]) == (
        2,
        "x.jpg: pictures are written as .svg, .png or .pdf, not as '.jpg'",
    )
    hide_package("vl_convert", monkeypatch)
    answer = safear("plot", "dots", "no such problem", "-o", "x.png")
    assert (answer.code, answer.err) == (
        2,
        "vl-convert is not installed; install it with: pip install 'safear[plots]'\n",
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["cdf", "loan", "--plan", "safest"], "--plan does not go with cdf"),
        (["dots", "loan", "--greedy", "mean"], "--greedy does not go with dots"),
        (["dots", "loan", "--group", "age"], "--group does not go with dots"),
        (["disparity", "loan", "--group", "age", "--set", "age=old"], "--set does not go with disparity"),
        *(
            (["disparity", "loan", "--group", "age", *option], f"{said} does not go with disparity")
            for option, said in (
                (["--robust"], "--robust"),
                (["--exact"], "--exact/--simple"),
                (["--simple"], "--exact/--simple"),
                (["--most", "3"], "--most"),
                (["--row", "1"], "--row"),
                (["--episodes", "5"], "--episodes"),
            )
        ),
        (["disparity", "loan"], "disparity needs --group"),
        (["disparity", "loan", "--group", "age", "--method", "episodic"], "disparity takes one --objective"),
        (["dots", "loan", "people.csv"], "'people.csv': only disparity takes people"),
        (["frontier", "loan", "--objective", "mean"], "frontier draws the menu of optimal plans"),
        (["dots", "loan", "--episodes", "5"], "--episodes goes with --method episodic"),
        (["pie", "loan"], "'pie' is not one of 'traces', 'distribution', 'cdf', 'frontier', 'tree', 'dots'"),
    ],
)
def test_options_that_do_not_go_together(safear: Safear, arguments: list[str], message: str) -> None:
    answer = safear("plot", *arguments, "--out", "x.svg")
    assert answer.code == 2
    assert message in " ".join(answer.err.split())
    assert not Path("x.svg").exists()


def test_no_plan_to_draw(safear: Safear) -> None:
    answer = safear("plot", "dots", "loan", *NO_WAY, "--out", "x.svg")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.startswith("Nothing you can do leads to “approved”")
    for kind in ("traces", "frontier", "tree", "dots", "learning"):
        answer = safear("plot", kind, "loan", "--set", "savings=rich", "--out", "x.svg")
        assert (answer.code, answer.err) == (2, "there is no plan to draw: the decision is already favourable\n")
    answer = safear("plot", "tree", "loan", "--plan", "safe", "--out", "x.svg")
    assert (answer.code, answer.err) == (2, "--plan safe: there is no such plan\n    did you mean 'safest'?\n")
    assert not Path("x.svg").exists()
