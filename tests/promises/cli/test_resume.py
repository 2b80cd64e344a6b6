"""`safear resume`: the plan that `safear recommend --save` has kept, step by step, and a new menu on the way."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import safear as sa
from promises.cli.conftest import Safear

LOAN = sa.load_example("loan")


def keep(safear: Safear, *options: str) -> None:
    answer = safear("recommend", "loan", "--save", "plan.json", *options)
    assert answer.code == 0
    assert "is saved in plan.json" in answer.err


@pytest.mark.parametrize("options", [("--plan", "cheapest"), ("--objective", "mean"), ()])
@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_it_says_what_walk_says(safear: Safear, options: tuple[str, ...], language: str) -> None:
    walked = safear("walk", "loan", *options, "--outcome", "failed", "--language", language)
    keep(safear, *options)
    answer = safear("resume", "plan.json", "--outcome", "failed", "--language", language)
    assert (answer.code, answer.err, answer.out) == (0, "", walked.out)


def test_json_is_that_of_walk(safear: Safear) -> None:
    walked = safear("walk", "loan", "--outcome", "failed", "--json")
    keep(safear)
    assert safear("resume", "plan.json", "--outcome", "failed", "--json").json == walked.json


def test_a_new_menu(safear: Safear) -> None:
    keep(safear)
    answer = safear("resume", "plan.json", "--outcome", "failed", "--menu", "--problem", "loan", "--json")
    menu = safear("recommend", "loan", "--horizon", 23, "--json").json
    assert answer.json == {"spent": 1.0, "steps_left": 23, "menu": menu}
    told = safear("resume", "plan.json", "--outcome", "failed", "--menu", "--problem", "loan", "--save", "new.json")
    assert told.out.startswith(
        "Spent so far: 1 month, which the figures below do not count. You can make 23 more tries.\nLoan"
    )
    assert sa.load_plan("new.json", LOAN.with_horizon(23)).form.problem.horizon == 23
    for plan in menu["plans"]:
        named = ("--menu", "--problem", "loan", "--plan", plan["name"], "--save", "named.json")
        assert safear("resume", "plan.json", "--outcome", "failed", *named).code == 0
        figures = sa.load_plan("named.json").figures
        assert (figures.success, figures.mean) == (plan["success"], plan["all_runs"]["mean"])


def test_the_example_of_its_help(safear: Safear) -> None:
    """Every line runs, in order; none of them only says that it cannot."""
    example = safear("resume", "--help").out.split("Example:")[1].split("Exit codes")[0]
    calls = [line.split()[1:] for line in example.splitlines() if line.strip().startswith("safear ")]
    answers = [safear(*call) for call in calls]
    assert [answer.code for answer in answers] == [0] * len(calls), [answer.err for answer in answers]
    assert [call[0] for call in calls] == ["recommend", *["resume"] * 4]
    assert "You can make 12 more tries." in answers[-1].out


def test_a_plan_of_a_menu_on_the_way_goes_on(safear: Safear) -> None:
    """The second restart is of the same problem and counts what was spent before the first."""
    keep(safear)
    menu = ("--outcome", "failed", "--menu", "--problem", "loan")
    assert safear("resume", "plan.json", *menu, "--save", "new.json").code == 0
    assert "Spent so far: 1 month." in safear("resume", "new.json").out
    again = safear("resume", "new.json", *menu, "--json").json
    assert (again["spent"], again["steps_left"]) == (2, 22)


def test_when_time_is_up_there_may_be_more(safear: Safear) -> None:
    keep(safear)
    late = ("resume", "plan.json", "--now", "savings=little", "--steps", "24")
    assert "Time is up" in safear(*late).out
    assert "--menu --horizon" in safear(*late, "--menu", "--problem", "loan").refusal
    told = safear(*late, "--menu", "--problem", "loan", "--horizon", "12", "--json").json
    assert (told["steps_left"], told["menu"]["horizon"]) == (12, 12)


def test_a_row_of_a_batch(safear: Safear, tmp_path: Path) -> None:
    pd.DataFrame([LOAN.default_person]).to_csv(tmp_path / "people.csv", index=False)
    assert safear("batch", "loan", "people.csv", "--objective", "mean", "--plans", "--out", "answers").code == 0
    keep(safear, "--objective", "mean")
    [file] = (tmp_path / "answers").glob("*.parquet")
    assert (
        safear("resume", f"{file}:1", "--outcome", "failed").out
        == safear("resume", "plan.json", "--outcome", "failed").out
    )
    assert "FILE.parquet:1" in safear("resume", file).refusal


def test_what_nobody_foresaw(safear: Safear) -> None:
    keep(safear)
    there = ("resume", "plan.json", "--now", "education=degree", "--cost", "2", "--steps", "3")
    assert "the plan does not foresee this" in safear(*there).refusal
    answer = safear(*there, "--menu", "--problem", "loan")
    assert answer.out.startswith(
        "Spent so far: 2 months, which the figures below do not count. You can make 21 more tries."
    )
    assert "approved" in answer.out


def test_a_cost_between_quanta_is_told_as_it_is(safear: Safear) -> None:
    """The loan's costs are multiples of 0.2; 0.05 is less than one."""
    keep(safear, "--objective", "mean")
    there = ("resume", "plan.json", "--outcome", "failed", "--now", "job=employed", "--cost", "0.05")
    assert safear(*there, "--json").json["spent"] == 1.05
    assert safear(*there, "--menu", "--problem", "loan", "--json").json["spent"] == 1.05


def test_without_personal_data(safear: Safear, tmp_path: Path) -> None:
    keep(safear, "--no-personal-data")
    assert '"record": null' in (tmp_path / "plan.json").read_text(encoding="utf-8")
    menu = ("resume", "plan.json", "--menu", "--problem", "loan")
    assert "saved without personal data" in safear(*menu).refusal
    whole = ("--person", next(iter(LOAN.people)))
    assert safear(*menu, *whole).code == 0
    assert "There is nothing you need to do" in safear(*menu, *whole, "--set", "savings=rich", "--changed").out


def test_another_problem(safear: Safear) -> None:
    keep(safear)
    menu = ("resume", "plan.json", "--menu", "--problem", "loan", "--failure-cost", "30")
    assert "differs in 'goal'" in safear(*menu).refusal
    assert safear(*menu, "--changed").code == 0


@pytest.mark.parametrize(
    "options, told",
    [
        (["--menu"], "--menu needs --problem"),
        (["--problem", "loan"], "--problem: only with --menu"),
        (["--save", "new.json"], "--save: only with --menu"),
        (["--threshold", "0.7", "--aim", "0.8", "--agree", "all"], "--threshold, --aim, --agree: only with --menu"),
        (
            ["--trust", "x", "--trust-pickle", "--model-timeout", "300"],
            "--trust, --trust-pickle, --model-timeout: ",
        ),
        (["--failure-cost", "99", "--seed", "0"], "--failure-cost, --seed: only with --menu"),
        (["--episodes", "9", "--row", "1", "--robust"], "--row, --robust, --episodes: only with --menu"),
        (["--menu", "--problem", "loan", "--row", "1"], "--row goes with --person"),
        (["--cost", "1"], "go with --now"),
        (["--menu", "--problem", "loan", "--set", "savings=rich"], "--now says what is different now"),
        (["--now", "savings"], "should be NAME=VALUE"),
        (["--now", "savings=rich", "--now", "savings=little"], "set twice"),
        (["--outcome", "7"], "this step cannot end in outcome 7"),
        (["--plan", "safest"], "--plan: only with --menu"),
        (["--menu", "--problem", "loan", "--plan", "safest"], "goes with --save"),
        (["--objective", "mean", "--changed"], "--changed, --objective: only with --menu"),
    ],
)
def test_mistakes(safear: Safear, options: list[str], told: str) -> None:
    keep(safear)
    assert told in safear("resume", "plan.json", *options).refusal


def test_a_file_that_is_no_plan(safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    assert "plan.json: is not a saved plan" in safear("resume", "plan.json").refusal


def test_nothing_to_save(safear: Safear, tmp_path: Path) -> None:
    answer = safear("recommend", "loan", "--set", "savings=rich", "--save", "plan.json")
    assert (answer.code, answer.err) == (0, "There is no plan to save.\n")
    assert not (tmp_path / "plan.json").exists()
