"""`safear recommend`: plans for one person, for people and for programs."""

from __future__ import annotations

import importlib
import json
import math
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from skops import io

import safear as sa
from safear.problem import dump_problem_text

if TYPE_CHECKING:
    from cli.conftest import Safear

APPLICANT = {"age": "young", "education": "school", "savings": "little", "job": "employed", "housing": "rent"}
OTHER_WAYS_THAN_A_HOUSE = ["--forbid", "change job", "--forbid", "study part-time", "--forbid", "increase savings"]
NO_WAY = ["--horizon", "1", "--forbid", "own a house", "--forbid", "change job"]


def plans(safear: Safear, *arguments: object) -> list[dict[str, Any]]:
    answer = safear("recommend", *arguments, "--json")
    assert (answer.code, answer.err) == (0, "")
    found: list[dict[str, Any]] = answer.json["plans"]
    return found


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    return name


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


def test_the_menu_for_people(safear: Safear) -> None:
    answer = safear("recommend", "loan")
    assert (answer.code, answer.err) == (0, "")
    gained = "Compared with “safest”: 0.69 months less on average; 4.83 months more in the worst 5 of 100 cases."
    for part in (
        "Today’s decision: not “approved”.",
        "\nPlan 1: safest\n",
        "\nPlan 2: cheapest on average\n",
        gained,
        "✓",
    ):
        assert part in answer.out
    greedy = safear("recommend", "loan", "--method", "greedy")
    assert "Plan 1: safest (greedy, mean-std:0.5, mean-std:1)" in greedy.out
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


def test_nothing_to_do(safear: Safear) -> None:
    answer = safear("recommend", "loan", "--set", "savings=rich")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "Loan approval\nToday’s decision: “approved”. There is nothing you need to do.\n"
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
def test_no_way_to_a_goal(arguments: list[str], reason: str, safear: Safear) -> None:
    shown = safear("recommend", "loan", *arguments)
    assert (shown.code, shown.out) == (3, "")
    assert shown.err.count("\n") == 1
    answer = safear("recommend", "loan", *arguments, "--json")
    assert (answer.code, answer.err) == (3, shown.err)
    assert answer.json["decision"] == "unfavourable"
    assert answer.json["plans"] == []
    assert answer.json["no_recourse"] == {"code": reason, "text": shown.err.strip()}


# ----------------------------------------------------------------------------------------------------------- the person


BODY = """\
safear: 1
title: Health
horizon: 4
features:
  bmi: {kind: numeric, edges: [25, 30]}
  smoker: {kind: nominal, levels: [yes, no]}
goal: {favourable: insured, failure_cost: 9}
classifier: {rule: bmi < 25 and smoker == no}
actions:
  eat less: {cost: 1, chance: 0.5, change: {bmi: -1}}
  quit: {cost: 2, chance: 0.5, change: {smoker: no}}
constraints:
  - not (bmi >= 30 and smoker == yes)
people:
  anna: {bmi: 27, smoker: yes}
  ben: {bmi: 32, smoker: no}
"""


@pytest.fixture
def body(safear: Safear, tmp_path: Path) -> str:
    assert safear is not None  # it has changed into the directory
    return write(tmp_path, "body.yaml", BODY)


@pytest.mark.parametrize(
    "arguments, person",
    [
        ([], ("25-30", "yes")),
        (["--person", "ben"], (">=30", "no")),
        (["--set", "bmi=31", "--set", "smoker=no"], (">=30", "no")),
        (["--set", " bmi = 29.9 "], ("25-30", "yes")),
        (["--set", "bmi=>=30", "--set", "smoker=no"], (">=30", "no")),
        (["--person", "ben", "--set", "smoker=yes", "--set", "bmi=20"], ("<25", "yes")),
        (["--person", "carla.yaml"], ("25-30", "no")),
        (["--person", "carla.json"], ("25-30", "no")),
        (["--person", "half.yaml", "--set", "bmi=35"], (">=30", "no")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_who_it_is_for(
    arguments: list[str], person: tuple[str, str], body: str, safear: Safear, tmp_path: Path
) -> None:
    write(tmp_path, "carla.yaml", "bmi: 26.5\nsmoker: no\n")
    write(tmp_path, "half.yaml", "smoker: no\n")
    write(tmp_path, "carla.json", json.dumps({"smoker": "no", "bmi": 26.5}))
    record = safear("recommend", body, *arguments, "--json").json
    assert (record["person"]["bmi"], record["person"]["smoker"]) == person


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--set", "bmi"], "--set bmi: should be FEATURE=LEVEL\n"),
        (["--set", "bmy=20"], "--set bmy=20: there is no feature 'bmy'\n    did you mean 'bmi'?\n"),
        (
            ["--set", "bmi=fat"],
            "bmi: 'fat' is neither a number nor a level of 'bmi'\n    possible: '<25', '25-30', '>=30'\n",
        ),
        (["--set", "smoker=No"], "smoker: 'No' is not a level of 'smoker'\n    did you mean 'no'?\n"),
        (["--set", "bmi=35"], "breaks the constraint "),
        (["--person", "nobody.yaml"], "nobody.yaml: no such file\n"),
        (["--person", "list.yaml"], "list.yaml:1:1: a person is a mapping of features to levels\n"),
        (["--person", "short.yaml"], "short.yaml:1:1: smoker: 'smoker' is missing\n"),
        (["--person", "wrong.yaml"], "wrong.yaml:2:9: smoker: 'maybe' is not a level of 'smoker'\n"),
        (["--person", "deep.yaml"], "deep.yaml:1:1: bmi: write a single level here\n"),
        (["--person", "broken.json"], "broken.json:1:"),
        (["--person", "wrong.yaml", "--set", "bmi=fat"], "bmi: 'fat' is neither a number nor a level of 'bmi'\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_people_that_are_not_understood(
    arguments: list[str], told: str, body: str, safear: Safear, tmp_path: Path
) -> None:
    write(tmp_path, "list.yaml", "- bmi\n- 20\n")
    write(tmp_path, "short.yaml", "bmi: 20\n")
    write(tmp_path, "wrong.yaml", "bmi: 20\nsmoker: maybe\n")
    write(tmp_path, "deep.yaml", "bmi: {kg: 80}\nsmoker: no\n")
    write(tmp_path, "broken.json", '{"bmi": 20, "smoker": }')
    assert safear("recommend", body, *arguments, "--json").refusal.startswith(told)


def test_a_name_that_is_nearly_one_of_the_people(body: str, safear: Safear) -> None:
    assert "did you mean 'anna'?" in safear("recommend", body, "--person", "anne").refusal


NEAR_THE_EDGE = BODY.replace("edges: [25, 30]", "edges: [25, 30], values: [22, 27, 33]")


@pytest.mark.parametrize(
    "bmi, decision, kept",
    [(25.5, "favourable", 25.5), (26.5, "unfavourable", 26.5), ("25-30", "unfavourable", "25-30")],
)
def test_a_number_that_is_decided_otherwise_than_its_level(
    bmi: object, decision: str, kept: object, safear: Safear, tmp_path: Path
) -> None:
    """The model draws the line at 26; 25.5 is below it, but the level that it falls into stands for 27."""
    write(tmp_path, "body.yaml", NEAR_THE_EDGE)
    write(tmp_path, "mine.py", "def decide(frame):\n    return frame['bmi'] < 26\n")
    record = safear("recommend", "body.yaml", "--classifier", "mine.py:decide", "--set", f"bmi={bmi}", "--json").json
    assert (record["decision"], record["record"]["bmi"]) == (decision, kept)


def test_all_that_is_missing_is_told_at_once(safear: Safear, tmp_path: Path) -> None:
    problem = write(tmp_path, "body.yaml", BODY.partition("people:")[0])
    assert safear("recommend", problem).refusal == (
        "bmi: 'bmi' is missing\n    one of: <25, 25-30, >=30\nsmoker: 'smoker' is missing\n    one of: yes, no\n"
    )
    assert safear("recommend", problem, "--set", "bmi=26", "--set", "smoker=no").code == 0


# ----------------------------------------------------------------------------------------- horizon, terms, restrictions


@pytest.mark.parametrize("horizon", [1, 2, 5])
def test_another_horizon(horizon: int, safear: Safear) -> None:
    answer = safear("recommend", "health-insurance", "--objective", "mean", "--horizon", horizon, "--json")
    [plan] = answer.json["plans"]
    assert answer.json["horizon"] == horizon
    assert plan["first_action"] == "quit drinking"
    assert plan["success"] == pytest.approx(1 - 0.5**horizon, abs=1e-12)


def test_personal_terms(safear: Safear, tmp_path: Path) -> None:
    terms = write(tmp_path, "terms.yaml", "actions:\n  own a house: {cost: 1.2, chance: 1}\n")
    [plan] = plans(safear, "loan", "--objective", "mean", "--terms", terms)
    assert (plan["first_action"], plan["value"], plan["success"]) == ("own a house", 1.2, 1)
    [other] = plans(safear, "loan", "--objective", "mean", "--terms", terms, "--forbid", "own a house")
    assert other["first_action"] == "change job"


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
    assert record["no_recourse"]["text"] == answer.err.strip()


def test_a_file_is_written_whole_or_not_at_all(safear: Safear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plan.json").write_text("old")
    answer = safear("recommend", "loan", "--set", "savings=lots", "--output", "plan.json")
    assert answer.code == 2

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    assert (
        safear("recommend", "loan", "--output", "plan.json").refusal
        == "plan.json: cannot be written: No space left on device\n"
    )
    assert (tmp_path / "plan.json").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["plan.json"]


def test_names_in_other_scripts(safear: Safear, tmp_path: Path) -> None:
    text = dump_problem_text(sa.load_example("loan")).replace("change job", "転職する [1/2]")
    (tmp_path / "loan.yaml").write_text(text, encoding="utf-8")
    answer = safear("recommend", "loan.yaml", "--objective", "mean", "--json")
    assert answer.json["plans"][0]["first_action"] == "転職する [1/2]"
    assert "転職する [1/2]" in answer.out
    assert "転職する [1/2]" in safear("recommend", "loan.yaml", "--objective", "mean").out


# ------------------------------------------------------------------------------------------------------- the classifier


def test_a_skops_model(safear: Safear, tmp_path: Path) -> None:
    """A model that has learnt the rule gives the plans of the rule."""
    problem = sa.load_example("loan")
    mdp = sa.compile_mdp(problem)
    people = pd.DataFrame([mdp.person(state) for state in range(mdp.n_states)])
    model = make_pipeline(OneHotEncoder(), DecisionTreeClassifier(random_state=0))
    io.dump(model.fit(people, ["approved" if goal else "rejected" for goal in mdp.goal]), tmp_path / "model.skops")
    write(tmp_path, "mine.yaml", dump_problem_text(replace(problem, rule=None)))
    trusted = ["--trust", "sklearn.tree._tree.Tree"]  # which skops knows, but not as safe
    assert plans(safear, "mine.yaml", "--classifier", "model.skops", *trusted) == plans(safear, "loan")


def test_a_type_that_must_be_trusted(safear: Safear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "own_steps.py", "def same(frame):\n    return frame\n")
    monkeypatch.syspath_prepend(tmp_path)
    same = importlib.import_module("own_steps").same
    people = pd.DataFrame([APPLICANT, APPLICANT | {"savings": "rich"}])
    encoder = OneHotEncoder(categories=[list(feature.levels) for feature in sa.load_example("loan").features])
    model = make_pipeline(FunctionTransformer(same), encoder, LogisticRegression(C=1000))
    io.dump(model.fit(people, ["rejected", "approved"]), tmp_path / "model.skops")
    assert safear("recommend", "loan", "--classifier", "model.skops").refusal == (
        "model.skops: holds types that are not known to be safe: 'own_steps.same'\n"
        "    if you know them, add --trust own_steps.same\n"
    )
    [plan] = plans(safear, "loan", "--classifier", "model.skops", "--trust", "own_steps.same", "--objective", "mean")
    assert plan["first_action"] == "increase savings"  # it has learnt that few savings are bad
    monkeypatch.delitem(sys.modules, "own_steps")


def test_without_skops(safear: Safear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "skops.io", raising=False)
    monkeypatch.setitem(sys.modules, "skops", None)
    answer = safear("recommend", "loan", "--classifier", "model.skops")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "skops is not installed; install it with: pip install 'safear[skops]'\n"


CLASSIFIERS = """\
import numpy as np

class Own:
    def __init__(self, answer):
        self.answer = answer

    def favourable(self, inputs):
        return self.answer(len(inputs))

rich = lambda frame: frame["savings"] == "rich"
labels = lambda frame: frame["savings"]
raises = lambda frame: 1 / 0
short = lambda frame: [True] * (len(frame) + 1)
ragged = lambda frame: [[1], [1, 2]]
nan = lambda frame: [float("nan")] * len(frame)
leaves = lambda frame: exit(7)
own_raises = Own(lambda count: 1 / 0)
own_short = Own(lambda count: np.ones(count + 1, dtype=bool))
number = 3
"""


def test_a_function_in_a_file(safear: Safear, tmp_path: Path) -> None:
    """To whom only the rich are good enough: then changing the job is the only way."""
    write(tmp_path, "mine.py", CLASSIFIERS)
    options = ["--classifier", "mine.py:rich", "--objective", "mean"]
    [plan] = plans(safear, "loan", *options)
    assert plan["first_action"] == "change job"
    assert plan["sparsity"] == pytest.approx(1)
    assert safear("recommend", "loan", *options, "--forbid", "change job").code == 3


@pytest.mark.parametrize(
    "name",
    ["raises", "short", "ragged", "nan", "leaves", "own_raises", "own_short", "Own", "number", "number.x", "nobody"],
)
def test_no_classifier_brings_a_traceback(name: str, safear: Safear, tmp_path: Path) -> None:
    write(tmp_path, "mine.py", CLASSIFIERS)
    answer = safear("recommend", "loan", "--classifier", f"mine.py:{name}", "--json")
    assert (answer.code, answer.out) == (2, "")
    assert "classifier" in answer.err or "mine.py" in answer.err


def test_no_rule_and_no_classifier(body: str, safear: Safear, tmp_path: Path) -> None:
    write(tmp_path, body, BODY.replace("classifier: {rule: bmi < 25 and smoker == no}\n", ""))
    assert safear("recommend", body).refusal == (
        "classifier: the problem has no rule, and no classifier was given\n"
        "    give a classifier, or write 'classifier: {rule: ...}' into the problem\n"
    )


def test_all_steps_of_a_plan(safear: Safear) -> None:
    some = safear("recommend", "loan", "--objective", "mean")
    everything = safear("recommend", "loan", "--objective", "mean", "--all-steps")
    assert "4 rare situations are not listed." in some.out
    assert "not listed" not in everything.out
    assert "From here, “approved” is out of reach. You may as well stop." in everything.out
    [plan] = safear("recommend", "loan", "--objective", "mean", "--json").json["plans"]
    numbers = [step["number"] for step in plan["steps"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 6  # what is done early and late, but not in between, is two steps
    assert {follow_up["kind"] for step in plan["steps"] for o in step["outcomes"] for follow_up in o["next"]} <= {
        "step",
        "goal",
        "out of time",
        "stuck",
    }


# ------------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "arguments, told",
    [
        ("--objective mean --objective men", "objective 'men' is not known\n    did you mean 'mean'?\n"),
        ("--objective mean-lower-std:1 --method optimal", "there is no optimal method for 'mean-lower-std:1'\n"),
        ("--objective cvar:0.9 --method greedy", "'cvar:0.9' needs method 'optimal'\n"),
        ("--level nan", "level: nan is not between 0 and 1\n    0.95 is the worst 5%\n"),
        ("--terms terms.yaml", "terms.yaml: no such file\n"),
        ("--forbid own", "--forbid own: there is no such action\n"),
        ("--set savings=little --set savings=rich", "--set savings=rich: 'savings' is set twice\n"),
        ("--output no/such/plan.json", "no/such/plan.json: cannot be written: No such file or directory\n"),
    ],
)
def test_mistakes_are_told_and_nothing_else_is_printed(arguments: str, told: str, safear: Safear) -> None:
    assert safear("recommend", "loan", *arguments.split(), "--json").refusal.startswith(told)
