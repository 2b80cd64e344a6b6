"""Plan files that were damaged or edited: refused with the reason, whatever was done to them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import safear as sa
from kept_plans import sign
from lanes import scaled
from safear import SavedPlan, walk
from safear.errors import PlanError, TooLargeError

MUTATIONS = 10_000
PLANS = [("loan", "cvar:0.8"), ("loan", "mean")]  # one looks at what was spent


@cache
def text_of(name: str, objective: str) -> str:
    problem = sa.load_example(name).with_horizon(6)
    return SavedPlan.of(sa.recommend(problem, objectives=objective)[0]).text


def refuse(text: str) -> str:
    """The code of the refusal; fails if there is none, or another error."""
    with pytest.raises(PlanError) as caught:
        SavedPlan.read(text)
    [mistake] = caught.value.mistakes
    assert str(mistake)
    return mistake.code


def mutate(text: str, rng: random.Random) -> str:
    """The text with some characters dropped, doubled, exchanged, moved, or with numbers and names changed."""
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        place, other = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        match rng.randrange(8):
            case 0:
                text = text[:place] + text[place + 1 :]
            case 1:
                text = text[:place] + rng.choice('0123456789.-eE"[]{},:\\ \n\tax\u00e4\x00') + text[place:]
            case 2:
                text = text[:place] + chr(rng.randrange(1, 0xD800)) + text[place + 1 :]
            case 3:
                text = text[:place]
            case 4:
                text = text[:place] + text[place:other] * 2 + text[other:]
            case 5:
                text = text[:place] + text[other:]
            case 6:
                lines = text.split("\n")
                rng.shuffle(lines)
                text = "\n".join(lines)
            case 7:
                one, another = rng.sample(["true", "false", "0", "1", "null", "0.9", "[]", "{}", "loan", " "], 2)
                text = text.replace(one, another, 1)
    return text


@pytest.mark.parametrize("plan", PLANS)
def test_no_mutated_file_is_accepted(plan: tuple[str, str]) -> None:
    """None is accepted that was changed, and none brings about anything but a refusal."""
    text, rng = text_of(*plan), random.Random(14)
    found: set[str] = set()
    for _ in range(scaled(MUTATIONS // len(PLANS), least=200)):
        changed = mutate(text, rng)
        if changed != text:
            found.add(refuse(changed))
    assert {"damaged", "edited"} <= found <= {"damaged", "edited", "newer"}


def _places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a document but its root."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, part in items:
        yield (*path, name)
        yield from _places(part, (*path, name))


WHOLE: list[Any] = [None, True, -1, 0, 1, 7, 255, 10**30, [], {}, [0, 0], [5, 2]]
ODD: list[Any] = [*WHOLE, 0.5, -0.5, 1e300, 1e-300, "", "x", "1/3", "0"]


def edit(part: Any, name: Any, rng: random.Random) -> None:
    """Put something else there, something from beside it, or nothing."""
    match rng.randrange(3):
        case 0:
            part[name] = rng.choice(ODD)
        case 1:
            part[name] = copy.deepcopy(rng.choice([*_parts(part)]))
        case 2:
            del part[name]


def _parts(content: Any) -> Iterator[Any]:
    yield from content.values() if isinstance(content, dict) else content


@pytest.mark.parametrize("plan", PLANS)
def test_made_up_files_with_a_fitting_checksum_are_plans_or_refused(plan: tuple[str, str]) -> None:
    """Whoever changes the checksum as well gets a plan that can be followed to its end, or a refusal."""
    content, rng = json.loads(text_of(*plan)), random.Random(14)
    del content["checksum"]
    text, places = json.dumps(content), [*_places(content)]
    accepted = 0
    for _ in range(scaled(1_500, least=150)):
        changed = json.loads(text)
        *above, name = rng.choice(places)
        part: Any = changed
        for step in above:
            part = part[step]
        edit(part, name, rng)
        try:
            made_up = SavedPlan.read(sign(changed))
        except PlanError:
            continue
        accepted += 1
        here = walk(made_up, outcomes := [])
        while here.kind == "step":
            outcomes.append(rng.choice(here.endings).outcome)
            here = walk(made_up, outcomes)
        assert made_up.cost.all_runs.mean >= 0
        assert str(made_up)
    assert accepted > 0


@pytest.mark.parametrize(
    "old, new, code",
    [
        ('"safear_plan": 1,', '"safear_plan": 2,', "newer"),
        ('"safear_plan": 1,', '"safear_plan": 0,', "damaged"),
        ('"works": true', '"works": false', "edited"),
        ('"horizon": 6', '"horizon": 6.0', "damaged"),
        ('"method": "optimal"', '"method": "optimal", "method": "optimal"', "edited"),
        ('"goal": true', '"goal": true, "stuck": false', "edited"),
        ("  ", " ", "edited"),
        ("\n}\n", "\n} \n", "edited"),
        ("\n}\n", "", "damaged"),
        ("0.9", "NaN", "damaged"),
        ("0.9", "1e999", "damaged"),
        ("0.9", "0.90", "edited"),
        ("Loan", "\\ud800", "damaged"),
        ("Loan", "\\u004coan", "edited"),
    ],
)
def test_refusals(old: str, new: str, code: str) -> None:
    text = text_of(*PLANS[0])
    assert old in text
    assert refuse(text.replace(old, new)) == code


def _more_actions(content: dict[str, Any]) -> None:
    """One more than a byte can choose from, and the last is taken."""
    first = content["actions"][0]
    names = {action["action"] for action in content["actions"]}
    content["actions"] += [first | {"action": f"another {number}"} for number in range(255 - len(names))]
    content["states"][content["start"]]["do"][0] |= {"action": len(content["actions"]) - 1}


def _two_choices(content: dict[str, Any]) -> None:
    """Another action for the first step."""
    [first, *_] = choices = content["states"][content["start"]]["do"]
    content["actions"].append(content["actions"][first["action"]] | {"action": "another"})
    choices.append(first | {"action": len(content["actions"]) - 1})


def _crossing(content: dict[str, Any]) -> None:
    """The same from 0 to 2 and from 1 on."""
    [first, *_] = content["states"][content["start"]]["do"]
    first["when"] = [{"steps": [0, 0], "spent": [0.0, 2.0]}, {"steps": [0, 0], "spent": [1.0, None]}]
    content["states"][content["start"]]["do"] = [first]


def _endless(content: dict[str, Any]) -> None:
    """A short file that tells apart more than anybody can keep."""
    content["problem"]["horizon"] = 1000
    [first, *_] = content["states"][content["start"]]["do"]
    first["when"] = [{"steps": [0, 999], "spent": [2.0 * one, 2.0 * one]} for one in range(20_001)]
    content["states"][content["start"]]["do"] = [first]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_more_actions, "too many"),
        (_two_choices, "more than once"),
        (_crossing, "more than once"),
    ],
)
@pytest.mark.parametrize("plan", PLANS)
def test_what_cannot_be_followed_is_refused_with_a_remedy(plan: tuple[str, str], change: Any, told: str) -> None:
    content = json.loads(text_of(*plan))
    change(content)
    with pytest.raises(PlanError, match=told) as caught:
        SavedPlan.read(sign(content))
    [mistake] = caught.value.mistakes
    assert (mistake.code, mistake.remedy) == ("damaged", "use the file as it was saved, or save the plan again")


@pytest.mark.parametrize("plan", PLANS)
def test_what_tells_apart_too_much_is_too_large(plan: tuple[str, str]) -> None:
    content = json.loads(text_of(*plan))
    _endless(content)
    with pytest.raises(TooLargeError, match=r"states: say what to do in more than 20,000,000 cases, by what was spent"):
        SavedPlan.read(sign(content))


def test_a_goal_may_be_as_far_away_as_one_likes() -> None:
    content = json.loads(text_of(*PLANS[0]))
    content["states"][content["start"]]["away"] = 10**30
    plan = SavedPlan.read(sign(content))
    assert plan.mdp.steps_to_goal[plan.start] == plan.mdp.horizon + 1
    assert str(plan)


@pytest.mark.parametrize("text", ["", "1", "[]", "{}", "[" * 100_000, "\ud800", '{"safear_plan": 1}'])
def test_what_is_no_plan(text: str) -> None:
    assert refuse(text) == "damaged"


def test_a_file_says_its_name_and_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    text, path = text_of(*PLANS[0]), tmp_path / "plan.json"
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert sa.load_plan(path).text == text
    path.write_text(text.replace("optimal", "greedy"), encoding="utf-8")
    with pytest.raises(PlanError, match=r"plan\.json: was changed after it was saved: its checksum does not fit"):
        sa.load_plan(path)
