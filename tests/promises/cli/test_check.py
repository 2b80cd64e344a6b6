"""`safear check`: every mistake at once, with its place; then, can people reach the goal?"""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from english import english_in
from promises.cli.conftest import Safear
from safear.errors import ProblemError

GOOD = """\
safear: 1
title: A better job
horizon: 3
cost: {unit: months}
features:
  skill: {kind: ordinal, levels: [basic, skilled, expert]}
  luck: {kind: nominal, levels: [bad, good], seen_by_classifier: false}
  gender: {kind: nominal, levels: [female, male], mutable: false}
goal: {favourable: hired, failure_cost: 12}
classifier: {rule: skill == expert}
actions:
  learn: {cost: 1.5, chance: 0.8, change: {skill: +1}}
  pray: {cost: 0.5, chance: 0.1, change: {luck: good}}
people:
  novice: {skill: basic, luck: bad, gender: male}
  expert: {skill: expert, luck: bad, gender: female}
"""
BAD = """\
safear: 1
title: A better job
horizon: 3
features:
  skill: {kind: ordinal, levels: [basic, skilled, expert]}
goal: {favourable: hired, failure_cost: 12}
classifier: {rule: skill == master}
actions:
  learn: {cost: -1.5, chance: 0.8, change: {skill: +1}}
  train:
    cost: 2
    outcomes:
      - {chance: 0.8, change: {skil: +1}}
  rest: {cost: 1, chnage: {skill: -1}}
people:
  novice: {skill: basics}
"""


def write(folder: Path, text: str, name: str = "job.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


@pytest.mark.parametrize("name", ["loan", "health-insurance"])
@pytest.mark.parametrize("whole", [[], ["--whole"]], ids=["people", "whole"])
def test_the_bundled_problems_are_sound(name: str, whole: list[str], safear: Safear) -> None:
    answer = safear("check", name, *whole)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[0].startswith(sa.load_example(name).title)
    assert answer.out.endswith("no mistakes found\n")


def test_a_good_file(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    answer = safear("check", write(tmp_path, GOOD))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


def test_the_whole_space(safear: Safear, tmp_path: Path) -> None:
    """Within one step, only the skilled get to be experts; of the 8 others 4 are basic."""
    one_step = GOOD.replace("horizon: 3", "horizon: 1").replace("novice: {skill: basic", "novice: {skill: skilled")
    answer = safear("check", write(tmp_path, one_step), "--whole")
    assert answer.code == 0
    assert "4 of 12 states are goals; 4 of the other 8 have no way to a goal\n" in answer.out


LIMITED = """
safear: 1
title: Limited
horizon: 4
features:
  skill: {kind: ordinal, levels: [basic, skilled, manager]}
  debt: {range: [0, 5], unit: EUR, at_most: 1 EUR}
  sex: {kind: nominal, levels: [m, f], mutable: false}
goal: {favourable: approved, failure_cost: 9}
classifier: {rule: "skill == manager or debt == 0"}
actions:
  learn: {cost: 1, chance: 0.5, change: {skill: manager}, when: skill == skilled, at_most: 2}
  repay: {cost: 2, chance: 0.5, change: {debt: -1 EUR}, once: true}
people:
  ann: {skill: basic, debt: 1, sex: m}
"""


def test_bookkeeping_is_not_counted(safear: Safear, tmp_path: Path) -> None:
    """Of 36 states 12 are managers' and 4 others' without debt; 2 * 4 basic ones owe more than they may repay."""
    answer = safear("check", write(tmp_path, LIMITED), "--whole")
    assert answer.code == 0
    assert "36 states in 2 blocks; " in answer.out
    assert "16 of 36 states are goals; 8 of the other 20 have no way to a goal\n" in answer.out
    assert "ann: rejected; 1 goal among 2 states within reach\n" in answer.out
    record = json.loads(safear("check", write(tmp_path, LIMITED), "--whole", "--json").out)
    assert (record["states"], record["whole"]) == (36, {"states": 36, "goals": 16, "without_recourse": 8})


def test_all_mistakes_are_told_and_recommend_tells_the_same(safear: Safear, tmp_path: Path) -> None:
    name = write(tmp_path, BAD)
    with pytest.raises(ProblemError) as wrong:
        sa.load_problem(name)
    assert len(wrong.value.mistakes) == 5
    assert safear("check", name).refusal == f"{wrong.value}\n"
    assert safear("recommend", name, "--json", "--output", "plan.json").refusal == f"{wrong.value}\n"
    assert [file.name for file in tmp_path.iterdir()] == [name]


# ------------------------------------------------------------------------------------------------------ can it be done?


NO_WAY = GOOD.replace("learn: {cost: 1.5, chance: 0.8, change: {skill: +1}}", "learn: {cost: 1, change: {luck: good}}")


def test_a_goal_that_nobody_can_reach(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    answer = safear("check", write(tmp_path, NO_WAY))
    assert answer.code == 2
    assert answer.out + answer.err == snapshot


def test_a_goal_that_is_too_far(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    answer = safear("check", write(tmp_path, GOOD.replace("horizon: 3", "horizon: 1")))
    assert answer.code == 2
    assert answer.err == snapshot


def test_a_goal_that_some_can_reach_is_no_mistake(safear: Safear, tmp_path: Path) -> None:
    text = GOOD.replace("horizon: 3", "horizon: 1") + "  skilled: {skill: skilled, luck: bad, gender: male}\n"
    answer = safear("check", write(tmp_path, text))
    assert (answer.code, answer.err) == (0, "")
    assert "novice: rejected; no way to a goal within reach\n" in answer.out
    assert "skilled: rejected; 1 goal among 3 states within reach\n" in answer.out


def test_without_a_rule_and_a_classifier_decisions_are_not_checked(safear: Safear, tmp_path: Path) -> None:
    name = write(tmp_path, GOOD.replace("classifier: {rule: skill == expert}\n", ""))
    answer = safear("check", name)
    assert (answer.code, answer.err) == (0, "")
    assert "no rule and no --classifier: decisions are not checked\n" in answer.out


def test_looking_at_every_state_needs_decisions(safear: Safear, tmp_path: Path) -> None:
    """--whole is not left out in silence."""
    name = write(tmp_path, GOOD.replace("classifier: {rule: skill == expert}\n", ""))
    answer = safear("check", name, "--whole")
    assert answer.code == 2
    assert "--classifier" in answer.err


@pytest.mark.parametrize(
    "classifier, text, code",
    [
        ("decisions.csv", "skill,gender,decision\n", 0),
        ("model.py:decide", "def decide(frame):\n    return frame['skill'] == 'expert'\n", 0),
        ("model.py:decide", "def decide(frame):\n    return frame['luck'] == 'good'\n", 2),
        ("model.py:decide", "def decide(frame):\n    return frame['skill'] == 'master'\n", 2),
    ],
    ids=["table", "function", "function that wants more", "function that accepts nobody"],
)
def test_a_classifier(classifier: str, text: str, code: int, safear: Safear, tmp_path: Path) -> None:
    name = write(tmp_path, GOOD.replace("classifier: {rule: skill == expert}\n", ""))
    if classifier.endswith(".csv"):
        rows = [(s, g) for s in ("basic", "skilled", "expert") for g in ("female", "male")]
        text += "".join(f"{s},{g},{'hired' if s == 'expert' else 'sorry'}\n" for s, g in rows)
    write(tmp_path, text, classifier.partition(":")[0])
    answer = safear("check", name, "--classifier", classifier)
    assert answer.code == code
    if code == 0:
        assert "novice: rejected; 2 goals among 6 states within reach\n" in answer.out
        assert safear("check", name, "--classifier", classifier, "--whole").code == 0
    else:
        assert re.match(
            r"classifier: the classifier failed: KeyError: 'luck'|job.yaml:14:3: people.novice: ", answer.err
        )


# --------------------------------------------------------------------------------------------------------------- hints


@pytest.mark.parametrize(
    "before, after",
    [
        ("failure_cost: 12", "failure_cost: 0"),
        ("chance: 0.8", "chance: [0.7, 0.9]"),
        ("chance: 0.8", "chance: {value: 0.8, source: guess}"),
        (", mutable: false", ""),
    ],
    ids=["free failure", "interval", "guess", "mutable"],
)
def test_hints_are_no_mistakes(
    before: str, after: str, safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    assert "hint" not in safear("check", write(tmp_path, GOOD)).out
    answer = safear("check", write(tmp_path, GOOD.replace(before, after)))
    assert (answer.code, answer.err) == (0, "")
    (hint,) = [line for line in answer.out.splitlines() if line.startswith("hint: ")]
    assert hint == snapshot


def test_giving_up_is_a_warning(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Within one step to learn costs 1.5 + 0.2 F, to pray 0.5 + F: trying is worth it from F = 1.25 on, that is 1.5."""
    text = GOOD.replace("horizon: 3", "horizon: 1").replace("skill == expert", "skill >= skilled")
    assert "warning" not in safear("check", write(tmp_path, text)).out
    answer = safear("check", write(tmp_path, text.replace("failure_cost: 12", "failure_cost: 1")))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.count("warning: ") == 1
    assert "at 1.5 months or more" in answer.out
    assert answer.out == snapshot
    enough = safear("check", write(tmp_path, text.replace("failure_cost: 12", "failure_cost: 1.5")))
    assert "warning" not in enough.out


def test_in_german(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """All that is told, but not the mistakes: those are for the one who writes the file."""
    text = GOOD.replace("horizon: 3", "horizon: 1").replace("skill == expert", "skill >= skilled")
    for before, after in (("failure_cost: 12", "failure_cost: 0"), (", mutable: false", ""), ("0.8", "[0.7, 0.9]")):
        text = text.replace(before, after, 1)
    name = write(tmp_path, text.replace("unit: months", "unit: Monate, resolution: 1"))
    answer = safear("check", name, "--whole", "--language", "de")
    assert (answer.code, answer.err) == (0, "")
    assert english_in(answer.out, "A better job", "goal.failure_cost") == []
    assert answer.out == snapshot
    undecided = write(tmp_path, GOOD.replace("classifier: {rule: skill == expert}\n", ""))
    assert english_in(safear("check", undecided, "--language", "de").out, "A better job", "months") == []


def test_costs_that_are_rounded(safear: Safear, tmp_path: Path) -> None:
    """1.5 is not a multiple of 1, nor is 0.5: three steps may be off by 0.5 each."""
    answer = safear("check", write(tmp_path, GOOD.replace("unit: months", "unit: months, resolution: 1")))
    assert answer.code == 0
    assert "costs are rounded; a total is off by at most 1.5 months\n" in answer.out


# --------------------------------------------------------------------------------------------------------- a huge space


def huge() -> dict[str, Any]:
    """10^12 states, of which a person can reach a few hundred in three steps."""
    names = [f"f{number}" for number in range(12)]
    return {
        "safear": 1,
        "title": "Huge",
        "horizon": 3,
        "features": {name: {"kind": "ordinal", "levels": [f"l{i}" for i in range(10)]} for name in names},
        "goal": {"favourable": "yes", "failure_cost": 9},
        "classifier": {"rule": "f0 >= l2"},
        "actions": {f"raise {name}": {"cost": 1, "chance": 0.9, "change": {name: "+1"}} for name in names},
        "people": {"somebody": dict.fromkeys(names, "l0")},
    }


def test_a_huge_space_is_refused_before_memory_is_touched(
    safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    name = write(tmp_path, json.dumps(huge()), "huge.json")
    tracemalloc.start()
    try:
        answer = safear("check", name, "--whole")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.code == 2
    assert answer.err == snapshot
    assert peak < 2**26


def test_one_person_in_a_huge_space(safear: Safear, tmp_path: Path) -> None:
    name = write(tmp_path, json.dumps(huge()), "huge.json")
    checked = safear("check", name)
    assert (checked.code, checked.err) == (0, "")
    assert "1,000,000,000,000 states in 1 block; costs are multiples of 1" in checked.out
    plan = safear("recommend", name, "--objective", "mean", "--json").json["plans"][0]
    assert plan["first_action"] == "raise f0"
    assert plan["success"] == pytest.approx(0.9**2 + 2 * 0.1 * 0.9**2, abs=1e-12)


# ---------------------------------------------------------------------------------------------------- people as filed


CREDIT = """\
safear: 1
title: A credit
horizon: 2
cost: {unit: months}
features:
  term: {kind: numeric, edges: [12, 24], values: [8, 18, 24], step: 1, min: 4, max: 60, unit: months}
  phone: {kind: nominal, levels: [no, yes]}
goal: {failure_cost: 5}
given: [age]
actions:
  shorten: {cost: 1, change: {term: -1}}
  get a phone: {cost: 1, change: {phone: yes}}
people:
  me: {term: 40, phone: no, age: 33}
"""
DECIDE = "def decide(frame):\n    return frame['term'] + frame['age'] / 10 < 33\n"
RECORDS = "term,phone,age,customer\n" + "".join(f"{term},no,20,{term}\n" for term in range(20, 40))


def write_credit(folder: Path) -> list[str]:
    name = write(folder, CREDIT)
    write(folder, DECIDE, "model.py")
    return [name, "--classifier", "model.py:decide", "--people", write(folder, RECORDS, "people.csv")]


def test_people_as_filed(safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Terms from 31 on are rejected, all of them in the level that is shown to the model as 24."""
    answer = safear("check", *write_credit(tmp_path))
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot
    german = safear("check", *write_credit(tmp_path), "--language", "de")
    assert english_in(german.out, "A credit", "term", "months") == []
    assert german.out == snapshot(name="de")


def test_a_check_as_json(safear: Safear, tmp_path: Path) -> None:
    arguments = write_credit(tmp_path)
    record = safear("check", *arguments, "--json", "--output", "check.json").json
    assert json.loads((tmp_path / "check.json").read_text(encoding="utf-8")) == record
    assert record["people"][0] | {"name": "me", "favourable": False} == record["people"][0]
    population = record["population"]
    assert (population["people"], population["rejected"], population["agree"]) == (20, 9, 11)
    worst = population["numbers"][0]["levels"][0]
    assert (worst["level"], worst["changed"], worst["cut"], worst["is_coarse"]) == (">=24", 9, 31, True)
    assert safear("check", *arguments[:-2], "--json").json == record | {"population": None}
    assert set(safear("schema", "check").json["properties"]) == set(record)


@pytest.mark.parametrize("rule", ["term < 24", "phone == yes"], ids=["no numbers as filed", "everybody is rejected"])
def test_a_rule_decides_on_levels(rule: str, safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    people = write_credit(tmp_path)[-1]
    problem = write(tmp_path, CREDIT.replace("given: [age]\n", f"classifier: {{rule: {rule}}}\n"))
    answer = safear("check", problem, "--people", people)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == snapshot


@pytest.mark.parametrize(
    "change",
    [lambda given: given[:1] + given[3:], lambda given: [*given, "--whole"], lambda given: [*given[:-1], "nobody.csv"]],
    ids=["nobody decides", "whole", "no file"],
)
def test_people_who_cannot_be_checked(change: Any, safear: Safear, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    answer = safear("check", *change(write_credit(tmp_path)))
    assert answer.code == 2
    assert answer.err.splitlines()[-1] == snapshot


def test_bad_rows_of_people(safear: Safear, tmp_path: Path) -> None:
    arguments = write_credit(tmp_path)
    write(tmp_path, RECORDS + "soon,no,20,99\n", "people.csv")
    assert safear("check", *arguments).code == 2
    answer = safear("check", *arguments, "--skip-bad", "bad.csv")
    assert (answer.code, answer.err) == (0, "")
    assert "20 people: 9 rejected as filed\n1 row could not be used\n" in answer.out
    assert "soon" in (tmp_path / "bad.csv").read_text(encoding="utf-8")
