"""`safear recommend`: plans for one person, for people and for programs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from calls import plans, write
from ladders import CLIMB
from promises.cli.conftest import Safear

OTHER_WAYS_THAN_A_HOUSE = ["--forbid", "change job", "--forbid", "study part-time", "--forbid", "increase savings"]
NO_WAY = ["--horizon", "1", "--forbid", "own a house", "--forbid", "change job"]


# --------------------------------------------------------------------------------------------- the figures of the issue


def test_the_health_insurance_example_of_the_paper(safear: Safear) -> None:
    objectives = [part for aversion in (0, 0.5, 1) for part in ("--objective", f"mean-std:{aversion}")]
    found = plans(safear, "health-insurance", *objectives, "--method", "greedy")
    assert [plan["name"] for plan in found] == ["mean-std:0", "mean-std:0.5", "mean-std:1"]
    assert [plan["first_action"] for plan in found] == ["quit drinking", "quit smoking", "healthy diet"]
    assert [plan["success"] for plan in found] == pytest.approx([0.99609375, 0.9999965, 1], abs=5e-8)
    costs = [plan["cost"] for plan in found]
    assert [cost["mean"] for cost in costs] == pytest.approx([1.968627, 2.222197, 3], abs=5e-7)
    assert [cost["variance"] for cost in costs] == pytest.approx([1.748035, 0.246751, 0], abs=5e-7)
    assert [cost["var"]["0.95"] for cost in costs] == [5, 3, 3]
    assert [cost["tail_mean"]["0.95"] for cost in costs[:2]] == pytest.approx([6.5714, 4.1501], abs=5e-5)
    assert costs[2]["tail_mean"]["0.95"] is None
    assert found[0]["success"] == 1 - 0.5**8
    assert found[2]["success"] == 1


def test_way_a_of_the_loan_example_own_a_house(safear: Safear) -> None:
    """3.3 = 1 / 0.3 on average, but for the 24 months that a run without success counts more."""
    [plan] = plans(safear, "loan", "--objective", "mean", *OTHER_WAYS_THAN_A_HOUSE)
    assert plan["first_action"] == "own a house"
    late = 0.7**24
    assert plan["success"] == pytest.approx(1 - late, abs=1e-12)
    assert plan["value"] == pytest.approx((1 - late) / 0.3 + 24 * late, abs=1e-9)
    assert round(plan["value"], 1) == 3.3
    assert round(plan["cost"]["mean"], 1) == 3.3


def test_way_c_of_the_loan_example_study_and_save(safear: Safear) -> None:
    """2.2 = 1 / 0.9 + 1 / 0.92."""
    [plan] = plans(safear, "loan", "--objective", "mean-std:0.5", "--method", "greedy")
    assert (plan["first_action"], plan["method"]) == ("study part-time", "greedy")
    assert plan["all_runs"]["mean"] == pytest.approx(1 / 0.9 + 1 / 0.92, abs=1e-9)
    within_3 = sum(point["chance"] for point in plan["distribution"] if point["success"] and point["cost"] <= 3)
    assert within_3 == pytest.approx(0.9 * 0.92 * (1 + 0.1 + 0.08), abs=1e-12)
    assert round(within_3, 2) == 0.98


# ------------------------------------------------------------------------------------------------------ the JSON object


def test_the_figures_follow_from_the_distribution(safear: Safear) -> None:
    for plan in plans(safear, "loan", "--objective", "mean-std:0.5", "--objective", "mean-std:1"):
        points = plan["distribution"]
        assert sum(point["chance"] for point in points) == pytest.approx(1, abs=1e-12)
        good = [point for point in points if point["success"]]
        success = sum(point["chance"] for point in good)
        assert plan["success"] == pytest.approx(success, abs=1e-12)
        mean = sum(point["chance"] * point["cost"] for point in points)
        assert plan["all_runs"]["mean"] == pytest.approx(mean, abs=1e-9)
        given = sum(point["chance"] * point["cost"] for point in good) / success
        assert plan["cost"]["mean"] == pytest.approx(given, abs=1e-9)
        aversion = float(plan["objective"].partition(":")[2])
        spread = math.sqrt(sum(point["chance"] * (point["cost"] - mean) ** 2 for point in points))
        assert plan["value"] == pytest.approx(mean + aversion * spread, abs=1e-9)
        shown = sum(trace["chance"] for trace in plan["traces"])
        assert shown + plan["other_traces"]["chance"] == pytest.approx(1, abs=1e-9)


def test_what_is_undefined_is_null(safear: Safear, tmp_path: Path) -> None:
    """Where failing costs nothing the cheapest plan may never succeed."""
    problem = write(
        tmp_path,
        "lazy.yaml",
        """\
        safear: 1
        title: Lazy
        horizon: 1
        features:
          grade: {kind: ordinal, levels: [low, high]}
          mood: {kind: ordinal, levels: [low, high]}
        classifier: {rule: grade == high}
        actions:
          try: {cost: 5, chance: 0.5, change: {grade: +1}}
          wait: {cost: 0, change: {mood: +1}}
        people:
          somebody: {grade: low, mood: low}
        """,
    )
    [plan] = plans(safear, problem, "--objective", "mean", "--simulate", "10")
    nothing = {"0.8": None, "0.95": None}
    undefined = {"mean": None, "variance": None, "var": nothing, "cvar": nothing, "tail_mean": nothing}
    assert plan["success"] == 0
    assert plan["cost"] == plan["simulated"]["cost"] == undefined
    assert plan["sparsity"] is plan["proximity"] is None
    assert plan["all_runs"]["mean"] == 0
    shown = safear("recommend", problem, "--simulate", "10")
    assert (shown.code, shown.err) == (0, "")
    assert "nan" not in shown.out


# ------------------------------------------------------------------------------------------------------------- the menu


def test_the_menu_of_the_paper_merges_equal_plans(safear: Safear) -> None:
    found = plans(safear, "loan", "--method", "greedy")
    assert [(plan["name"], plan["objectives"]) for plan in found] == [
        ("safest", ["mean-std:0.5", "mean-std:1"]),
        ("cheapest on average", ["mean-std:0", "mean-std:0.25"]),
    ]
    assert {plan["method"] for plan in found} == {"greedy"}
    greedy = safear("recommend", "loan", "--method", "greedy")
    assert "Plan 1: safest (greedy, mean-std:0.5, mean-std:1)" in greedy.out


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_the_menu_for_people(language: str, safear: Safear, snapshot: SnapshotAssertion) -> None:
    answer = safear("recommend", "loan", "--language", language)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot
    assert "\x1b" not in answer.out
    assert max(map(len, answer.out.splitlines())) <= 110


def test_a_plan_per_objective_in_the_order_given(safear: Safear) -> None:
    names = ["mean-lower-std:0.5", "mean", "mean-std:1"]
    found = plans(safear, "loan", *(part for name in names for part in ("--objective", name)))
    assert [plan["name"] for plan in found] == [plan["objective"] for plan in found] == names
    assert [plan["method"] for plan in found] == ["greedy", "optimal", "optimal"]


def test_the_menu_at_another_level(safear: Safear) -> None:
    answer = safear("recommend", "loan", "--level", "0.8")
    assert (answer.code, answer.err) == (0, "")
    assert "80% within" in answer.out
    assert "worst 20%" in answer.out
    record = safear("recommend", "loan", "--level", "0.8", "--json").json
    assert record["level"] == 0.8
    least = min(plan["all_runs"]["cvar"]["0.8"] for plan in record["plans"])
    [optimum] = plans(safear, "loan", "--objective", "cvar:0.8")
    assert least == pytest.approx(optimum["value"], abs=1e-9)


def test_the_frontier_is_in_the_json_object(safear: Safear) -> None:
    record = safear("recommend", "health-insurance", "--json").json
    frontier = record["frontier"]
    assert [point["mean"] for point in frontier] == sorted(point["mean"] for point in frontier)
    assert [point["cvar"] for point in frontier] == sorted((point["cvar"] for point in frontier), reverse=True)
    offered = {point["plan"] for point in frontier} - {None}
    assert offered == {plan["name"] for plan in record["plans"]}
    assert len(frontier) > len(offered)


# ------------------------------------------------------------------------------------ nothing to do, nothing to be done


def test_nothing_to_do(safear: Safear, snapshot: SnapshotAssertion) -> None:
    answer = safear("recommend", "loan", "--set", "savings=rich")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot
    record = safear("recommend", "loan", "--set", "savings=rich", "--simulate", "10", "--json").json
    assert (record["decision"], record["plans"]) == ("favourable", [])


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (NO_WAY, "horizon"),
        (["--set", "job=unemployed", *NO_WAY, "--horizon", "2"], "horizon"),
        (["--forbid", "own a house", "--forbid", "change job", "--forbid", "increase savings"], "never"),
        ([*OTHER_WAYS_THAN_A_HOUSE, "--forbid", "own a house"], "no_action"),
    ],
    ids=["too far", "two steps", "never", "no action"],
)
def test_no_way_to_a_goal(arguments: list[str], reason: str, safear: Safear, snapshot: SnapshotAssertion) -> None:
    shown = safear("recommend", "loan", *arguments)
    assert (shown.code, shown.out) == (3, "")
    assert shown.err == snapshot
    answer = safear("recommend", "loan", *arguments, "--json")
    assert (answer.code, answer.err) == (3, shown.err)
    assert answer.json["decision"] == "unfavourable"
    assert answer.json["plans"] == []
    said = answer.json["no_recourse"]
    blocked = said.pop("blocked")
    told, *advice = shown.err.splitlines()
    assert (said["code"], said["text"]) == (reason, told)
    assert [f"  {one['text']}" for one in answer.json["advice"]["relaxations"]] == advice
    assert bool(blocked) == (reason == "no_action")


# ---------------------------------------------------------------------------------------------- chance: learn, simulate


def test_an_episodic_solve_can_be_repeated(safear: Safear) -> None:
    def learn(seed: int) -> str:
        options = ["--objective", "mean-std:0.5", "--method", "episodic", "--episodes", "60", "--seed", seed]
        answer = safear("recommend", "loan", *options, "--json")
        assert (answer.code, answer.err) == (0, "")
        [plan] = answer.json["plans"]
        assert plan["method"] == "episodic"
        return answer.out

    learnt = [learn(seed) for seed in range(4)]
    assert [learn(seed) for seed in range(4)] == learnt
    assert len(set(learnt)) > 1


def test_a_simulation_can_be_repeated(safear: Safear) -> None:
    def simulate(seed: int) -> Any:
        return [
            plan["simulated"]["all_runs"]["mean"] for plan in plans(safear, "loan", "--simulate", 50, "--seed", seed)
        ]

    assert simulate(1) == simulate(1)
    assert simulate(1) != simulate(2)


def test_a_simulation_for_people(safear: Safear) -> None:
    answer = safear("recommend", "loan", "--objective", "mean", "--simulate", "1000")
    last = answer.out.splitlines()[-1]
    assert last.startswith("mean: 1000 simulated runs: success 1.0000 (exact 1.0000), average 1.")
    german = safear("recommend", "loan", "--objective", "mean", "--simulate", "1000", "--language", "de")
    assert german.out.splitlines()[-1].startswith("mean: 1000 simulierte Läufe: Erfolg 1,0000 (genau 1,0000), Durch")
    assert last.endswith("(exact 1.5002)")


# ----------------------------------------------------------------------------------------------------- output to a file


def test_the_json_object_can_be_written(safear: Safear, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("old " * 100_000)
    answer = safear("recommend", "loan", "--output", "plan.json")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    text = (tmp_path / "plan.json").read_text(encoding="utf-8")
    assert text == safear("recommend", "loan", "--json").out
    both = safear("recommend", "loan", "--json", "--output", "plan.json")
    assert (both.code, both.out) == (0, text)
    assert [file.name for file in tmp_path.iterdir()] == ["plan.json"]


def test_without_recourse_the_file_says_so(safear: Safear, tmp_path: Path) -> None:
    answer = safear("recommend", "loan", *NO_WAY, "--output", "plan.json")
    assert (answer.code, answer.out) == (3, "")
    record = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert record["plans"] == []
    assert record["no_recourse"]["text"] == answer.err.splitlines()[0]


def test_a_file_is_written_whole_or_not_at_all(safear: Safear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plan.json").write_text("old")
    answer = safear("recommend", "loan", "--set", "savings=lots", "--output", "plan.json")
    assert answer.code == 2

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    assert (
        safear("recommend", "loan", "--output", "plan.json").refusal
        == "plan.json: cannot be written: No space left on device\n    make room, or name a file elsewhere\n"
    )
    assert (tmp_path / "plan.json").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["plan.json"]


def test_names_in_other_scripts(safear: Safear, tmp_path: Path) -> None:
    text = safear("examples", "loan").out.replace("change job", "転職する [1/2]")
    (tmp_path / "loan.yaml").write_text(text, encoding="utf-8")
    answer = safear("recommend", "loan.yaml", "--objective", "mean", "--json")
    assert answer.json["plans"][0]["first_action"] == "転職する [1/2]"
    assert "転職する [1/2]" in answer.out
    assert "転職する [1/2]" in safear("recommend", "loan.yaml", "--objective", "mean").out


# ------------------------------------------------------------------------------------------------------- the classifier


def test_all_steps_of_a_plan(safear: Safear, snapshot: SnapshotAssertion) -> None:
    some = safear("recommend", "loan", "--objective", "mean")
    everything = safear("recommend", "loan", "--objective", "mean", "--all-steps")
    assert some.out != everything.out == snapshot
    [plan] = safear("recommend", "loan", "--objective", "mean", "--json").json["plans"]
    numbers = [step["number"] for step in plan["steps"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == 6  # what is done early and late, but not in between, is two steps
    assert {follow_up["kind"] for step in plan["steps"] for o in step["outcomes"] for follow_up in o["next"]} <= {
        "step",
        "goal",
        "out of time",
        "stuck",
        "lost",
    }


# ------------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "arguments",
    [
        "--objective mean --objective men",
        "--objective mean-lower-std:1 --method optimal",
        "--objective cvar:0.9 --method greedy",
        "--terms terms.yaml",
        "--forbid own",
        "--set savings=little --set savings=rich",
    ],
)
def test_mistakes_are_told_and_nothing_else_is_printed(
    arguments: str, safear: Safear, snapshot: SnapshotAssertion
) -> None:
    assert safear("recommend", "loan", *arguments.split(), "--json").refusal == snapshot


def test_plans_are_simple_if_that_is_asked_for(safear: Safear, tmp_path: Path) -> None:
    path = tmp_path / "climb.yaml"
    path.write_text(json.dumps(CLIMB), encoding="utf-8")  # which is YAML as well
    told = "This plan is simpler than the best one: 3 rules instead of 5."
    assert told in safear("recommend", path, "--objective", "mean", "--simple").out
    assert "simpler" not in safear("recommend", path, "--objective", "mean").out
    [plan] = plans(safear, path, "--objective", "mean", "--simple")
    record = plan["simplified"]
    assert (record["rules"], record["rules_before"], record["text"][: len(told)]) == (3, 5, told)
    assert 0 < record["loss"] < 0.001 < record["cvar"] < 0.008
    [best] = plans(safear, path, "--objective", "mean")
    assert best["simplified"] is None
    assert best["value"] < plan["value"] == pytest.approx(best["bound"] * (1 + record["loss"]))


def test_the_menu_has_as_many_plans_as_are_asked_for(safear: Safear) -> None:
    found = [len(plans(safear, "health-insurance", "--exact", *most)) for most in ((), ("--most", 1), ("--most", 5))]
    assert found[:2] == [3, 1]
    assert found[2] > 3
    wrong = safear("recommend", "health-insurance", "--most", 2, "--objective", "mean").refusal
    assert "--most goes with the menu of optimal plans" in wrong
