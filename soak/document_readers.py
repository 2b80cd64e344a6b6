"""Broken problems, conditions, terms, people, plans and small texts, and what must come of them."""

from __future__ import annotations

import json
import math
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import safear as sa
from safear.errors import ObjectiveError
from safear.plans.plan_file import digest
from safear.plans.resume import resume
from safear.problem.condition import ConditionSyntaxError, parse_condition
from safear.problem.dump import dump_problem, dump_problem_text
from safear.problem.durations import Duration
from safear.problem.load import parse_terms
from safear.problem.person import read_person
from safear.problem.terms import apply_terms
from soak.judging import judge_message, require
from soak.mutating import ODD_TEXTS, mutate_bytes, mutate_text, mutate_tree, odd_value
from soak.seeds import RANKED, SMALL, TERMS, plan_texts, problem_documents, problem_texts, small_problem, tiny_problem
from soak.targets import Target, scratch

MOST_STATES = 2000  # that a problem may have to be solved on the way
MOST_STEPS = 8


def check_read_problem(problem: sa.Problem, *, solved: bool) -> None:
    """It says the same once it was written and read again; if it is small, its plans have figures that can be."""
    require(not sa.check_problem(problem), "check_problem finds mistakes in what was read")
    require(sa.parse_problem(dump_problem(problem)) == problem, "another problem once dumped and read")
    states = math.prod(len(feature.levels) for feature in problem.features)
    if solved and states <= MOST_STATES and problem.horizon <= MOST_STEPS and problem.people:
        menu = sa.recommend(problem, person=next(iter(problem.people)))
        for offer in menu:
            check_costs(offer.cost)


def check_costs(cost: sa.CostDistribution) -> None:
    """Chances are chances and add up, and the tail costs no less than the mean."""
    chances = [chance for _, chance, _ in cost.points()]
    require(all(-1e-12 <= chance <= 1 + 1e-12 for chance in chances), f"chances {chances[:5]}")
    require(abs(math.fsum(chances) - 1) < 1e-9, f"chances that add up to {math.fsum(chances)!r}")
    require(-1e-12 <= cost.success <= 1 + 1e-12, f"a success of {cost.success!r}")
    every = cost.all_runs
    require(math.isfinite(every.mean), f"a mean of {every.mean!r}")
    require(every.cvar(0.95) >= every.mean - 1e-9 * (1 + abs(every.mean)), f"a tail below the mean: {every!r}")


# ----------------------------------------------------------------------------------------------------------- problems


def _draw_yaml(rng: Random) -> str:
    text = rng.choice(problem_texts())
    return mutate_text(rng, text)


def _read_yaml(text: Any) -> None:
    check_read_problem(sa.parse_problem(text), solved=text.count("\n") < 22)


def _draw_json(rng: Random) -> str:
    document = mutate_tree(rng, rng.choice(problem_documents()))
    return json.dumps(document, ensure_ascii=rng.random() < 0.5)


def _read_json(text: Any) -> None:
    check_read_problem(sa.parse_problem(text, "problem.json"), solved=False)


def _draw_document(rng: Random) -> Any:
    return mutate_tree(rng, rng.choice(problem_documents()))


def _read_document(document: Any) -> None:
    check_read_problem(sa.parse_problem(document), solved=False)


def _draw_small_document(rng: Random) -> Any:
    return mutate_tree(rng, dump_problem(small_problem() if rng.random() < 0.2 else tiny_problem()))


def _read_small_document(document: Any) -> None:
    problem = sa.parse_problem(document)
    check_read_problem(problem, solved=True)
    require(sa.parse_problem(dump_problem_text(problem)) == problem, "another problem once written as YAML and read")


def _draw_file(rng: Random) -> bytes:
    return mutate_bytes(rng, rng.choice((SMALL, rng.choice(problem_texts()))).encode())


def _read_file(content: Any) -> None:
    path = scratch() / "problem.yaml"
    path.write_bytes(content)
    check_read_problem(sa.load_problem(path), solved=False)


# --------------------------------------------------------------------------------------------------------- conditions

_NAMES = ("skill", "age", "gender", "'a b'", "basic", "expert", "30", "-1.5", "male", "a b", '"x"', "<30", "30-50")


def draw_condition(rng: Random, depth: int = 0) -> str:
    """A condition of the grammar, with any names."""
    kind = rng.randrange(8) if depth < 4 else rng.randrange(5)
    name = rng.choice(_NAMES)
    if kind < 3:
        return f"{name} {rng.choice(('==', '!=', '<', '<=', '>', '>='))} {rng.choice(_NAMES)}"
    if kind == 3:
        levels = ", ".join(rng.choice(_NAMES) for _ in range(rng.choice((1, 2, 5))))
        return f"{name} {rng.choice(('', 'not '))}in [{levels}]"
    if kind == 4:
        return rng.choice(("true", "false"))
    parts = [draw_condition(rng, depth + 1) for _ in range(rng.choice((1, 2, 3)))]
    joined = rng.choice((" and ", " or ")).join(parts)
    return {5: f"not {parts[0]}", 6: f"({joined})"}.get(kind, joined)


def _draw_condition(rng: Random) -> str:
    text = draw_condition(rng)
    return mutate_text(rng, text) if rng.random() < 0.7 else text


def _read_condition(text: Any) -> None:
    """A condition has an error of its own, which becomes one of ours in the problem that it stands in."""
    try:
        condition = parse_condition(text)
    except ConditionSyntaxError as error:
        raise ObjectiveError.at(("rule",), error.cause, error.remedy) from error
    require(parse_condition(str(condition)) == condition, f"another condition once written: {condition}")


def _read_condition_in_place(text: Any) -> None:
    document = dump_problem(small_problem())
    document["classifier"] = {"rule": text}
    problem = sa.parse_problem(document)
    require(sa.parse_problem(dump_problem(problem)) == problem, "another problem once dumped and read")


# -------------------------------------------------------------------------------------------------- people and terms

_ADA: dict[str, object] = {"skill": "basic", "age": 33, "gender": "female"}


def _draw_record(rng: Random) -> dict[Any, Any]:
    record = mutate_tree(rng, _ADA)
    return record if isinstance(record, dict) else {"skill": record}


def _read_record(record: Any) -> None:
    problem = small_problem()
    person = read_person(problem, record)
    require(read_person(problem, person) == person, "another person once read")


def _draw_person_file(rng: Random) -> bytes:
    if rng.random() < 0.5:
        return mutate_text(rng, "skill: basic\nage: 33\ngender: female\n").encode("utf-8", "surrogatepass")
    return mutate_bytes(rng, json.dumps(mutate_tree(rng, _ADA)).encode())


def _read_person_file(content: Any) -> None:
    path = scratch() / "person.yaml"
    path.write_bytes(content)
    sa.load_person(path, small_problem())


def _draw_terms(rng: Random) -> str:
    return mutate_text(rng, rng.choice((TERMS, RANKED)))


def _draw_terms_tree(rng: Random) -> Any:
    terms = {
        "actions": {"learn": {"cost": 2, "chance": 0.5}, "study": {"cost": [{"when": "age < 30", "cost": 1}, 2]}},
        "forbid": ["gamble"],
        "rank": ["gamble", ["learn", "study"]],
    }
    del terms[rng.choice(("actions", "rank"))]
    return mutate_tree(rng, terms)


def _read_terms(source: Any) -> None:
    problem = apply_terms(small_problem(), parse_terms(source, small_problem()))
    require(not sa.check_problem(problem), "check_problem finds mistakes in what terms made of the problem")


# -------------------------------------------------------------------------------------------------------------- plans


def _draw_plan(rng: Random) -> str:
    return mutate_text(rng, rng.choice(plan_texts()))


def _draw_signed_plan(rng: Random) -> str:
    """With other contents and the checksum that fits them."""
    content = json.loads(rng.choice(plan_texts()))
    content.pop("checksum")
    content = mutate_tree(rng, content, times=rng.choice((1, 1, 2)))
    if not isinstance(content, dict):
        return json.dumps(content)
    text = _lay_out(content)
    return _lay_out({**content, "checksum": digest(text)})


def _lay_out(content: dict[str, Any]) -> str:
    """A line per item of the long lists, as in the files of plans."""
    lines = []
    for name, value in content.items():
        if name in {"promises", "actions", "states"} and value and isinstance(value, list):
            items = ",\n".join(f"    {json.dumps(item, ensure_ascii=False)}" for item in value)
            lines.append(f"  {json.dumps(name)}: [\n{items}\n  ]")
        else:
            lines.append(f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8", "replace").decode()


def _read_plan(text: Any) -> None:
    plan = sa.SavedPlan.read(text)
    situation = resume(plan)
    require(0 <= plan.form.figures.success <= 1, "a success that is no chance")
    if situation.action is not None:
        resume(plan, [0])


def _draw_plan_file(rng: Random) -> bytes:
    return mutate_bytes(rng, rng.choice(plan_texts()).encode())


def _read_plan_file(content: Any) -> None:
    path = scratch() / "plan.json"
    path.write_bytes(content)
    resume(sa.load_plan(path))


# -------------------------------------------------------------------------------------------------------- small texts

_OBJECTIVES = (
    "mean", "mean-std:0.5", "mean-lower-std:1", "cvar:0.95", "var:0.9", "mean-cvar:0.5:0.95", "budget:6",
    "entropic:0.2",
    "success-first", "success-first:cvar:0.95", "success-first:mean~0.01", "mean-variance:0.1",
)  # fmt: skip


def _draw_objective(rng: Random) -> str:
    return mutate_text(rng, rng.choice(_OBJECTIVES))


def _read_objective(text: Any) -> None:
    objective = sa.parse_objective(text)
    require(sa.parse_objective(str(objective)) == objective, f"another objective once written: {objective}")


def _draw_duration(rng: Random) -> str:
    text = f"{rng.choice((0, 1, 3, 1.5, 10**9, 99999999999))} {rng.choice(('days', 'Wochen', 'meses', 'years'))}"
    return rng.choice((mutate_text(rng, text, 1), text + rng.choice(ODD_TEXTS), rng.choice(ODD_TEXTS) + text))


def _read_duration(text: Any) -> None:
    """It is none, or it is over on a day, or on none that a calendar has."""
    duration = Duration.read(text)
    if duration is None:
        raise ObjectiveError.at(("takes",), "is no duration")
    require(not judge_message(str(duration)), "a duration that cannot be shown")
    require((duration + duration).after(date(2024, 2, 29)) is None or duration.after(date.min), "a day that cannot be")


def _draw_arguments(rng: Random) -> Any:
    return odd_value(rng) if rng.random() < 0.5 else [odd_value(rng), rng.randrange(4)]


def _read_arguments(value: Any) -> None:
    """Whatever Python has, where a problem, terms, a person or an objective is expected."""
    thing, which = value if isinstance(value, list) and len(value) == 2 else (value, 0)
    if which == 0 or not isinstance(which, int):
        sa.parse_problem(thing)
    elif which == 1:
        parse_terms(thing, small_problem())
    elif which == 2:
        sa.recommend(tiny_problem(), person=thing)
    else:
        sa.recommend(tiny_problem(), objectives=thing)


def list_targets() -> list[Target]:
    """All of them, with how often each is drawn."""
    return [
        Target("problem: YAML", _draw_yaml, _read_yaml, 10, problem_texts),
        Target("problem: JSON", _draw_json, _read_json, 6, lambda: map(json.dumps, problem_documents())),
        Target("problem: dictionary", _draw_document, _read_document, 40, problem_documents),
        Target(
            "problem: dictionary, solved",
            _draw_small_document,
            _read_small_document,
            15,
            lambda: map(dump_problem, (small_problem(), tiny_problem())),
        ),
        Target("problem: bytes", _draw_file, _read_file, 6, lambda: map(str.encode, problem_texts())),
        Target("condition", _draw_condition, _read_condition, 40),
        Target("condition in a problem", _draw_condition, _read_condition_in_place, 20),
        Target("person: record", _draw_record, _read_record, 40, lambda: [_ADA]),
        Target("person: file", _draw_person_file, _read_person_file, 20),
        Target("terms: YAML", _draw_terms, _read_terms, 10, lambda: [TERMS, RANKED]),
        Target("terms: dictionary", _draw_terms_tree, _read_terms, 20),
        Target("plan: text", _draw_plan, _read_plan, 10, plan_texts),
        Target("plan: with its checksum", _draw_signed_plan, _read_plan, 25, plan_texts),
        Target("plan: bytes", _draw_plan_file, _read_plan_file, 10, lambda: map(str.encode, plan_texts())),
        Target("objective", _draw_objective, _read_objective, 20, lambda: _OBJECTIVES),
        Target("duration", _draw_duration, _read_duration, 10),
        Target("Python values", _draw_arguments, _read_arguments, 10),
    ]


def keep(path: Path, value: object) -> None:
    """Write an input that broke something into a file."""
    path.write_bytes(value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass"))
