"""From an offer to what is saved of it: the states that its plan can reach, and what is done there."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear._version import __version__
from safear.errors import PlanError
from safear.evaluation.forward import follow
from safear.mdp.arrays import MDP
from safear.mdp.compiled import CompiledMDP
from safear.plans.plan_file import (
    FORMAT,
    ActionForm,
    AnswersForm,
    BeforeForm,
    ChoiceForm,
    FiguresForm,
    OutcomeForm,
    PersonForm,
    PlanForm,
    ProblemForm,
    PromiseForm,
    RangesForm,
    Scalar,
    StateForm,
    WhenForm,
    WordsForm,
    digest_value,
)
from safear.problem.dump import dump_problem
from safear.problem.glossary import Label
from safear.problem.model import Problem, Record
from safear.recourse.offer import Offer
from safear.recourse.records import as_scalars

ASIDE = ("safear", "title", "description", "people")  # what a plan does not depend on


def write_plan(
    offer: Offer, *, personal_data: bool = True, seed: int | None = None, before: BeforeForm | None = None
) -> PlanForm:
    """What is saved of an offer: `seed` belongs to methods that draw at random, `before` is what came before."""
    mdp = offer.policy.mdp
    if not isinstance(mdp, CompiledMDP):
        cause, remedy = "this plan is for arrays that were made by hand", "save plans for a problem"
        raise PlanError.at((), cause, remedy, code="not_compiled")
    states, stretches = _follow(offer)
    people = [mdp.person(int(state)) for state in states]
    start = mdp.person(offer.start)
    changed = [{name: level for name, level in one.items() if level != start[name]} for one in people]
    moving = {name for one in changed for name in one}
    levels = {name: level for name, level in start.items() if personal_data or name in moving}
    record = None if offer.record is None else clean_record(offer.record)
    actions, choices = _write_choices(mdp, states, stretches)
    return PlanForm(
        safear_plan=FORMAT,
        safear=__version__,
        problem=_write_problem(mdp, _write_words(mdp, [{**levels, **one} for one in changed], actions)),
        answers=AnswersForm(states=mdp.n_states, hash=hash_answers(mdp)) if personal_data else None,
        person=PersonForm(
            record=record if personal_data else None,
            hash=None if record is None or not personal_data else hash_record(record),
            levels=levels,
            hidden={item.name: item.counts for item in mdp.features if item.hidden and item.name in levels},
        ),
        before=before if before is None or personal_data else BeforeForm(spent=before.spent),
        plan=offer.code,
        objectives=[str(objective) for objective in offer.objectives],
        method=offer.solution.method,
        robust=offer.solution.robust,
        seed=seed,
        level=offer.level,
        figures=_write_figures(offer),
        promises=_write_promises(offer, start, people, personal_data=personal_data),
        actions=actions,
        states=[
            StateForm(
                changed=changed[number],
                goal=bool(mdp.goal[state]),
                stuck=bool(mdp.dead_end[state] and mdp.depth[state] < mdp.horizon),
                away=_write_away(mdp, state),
                do=choices.get(state, []),
            )
            for number, state in enumerate(states.tolist())
        ],
        start=int(np.searchsorted(states, offer.start)),
    )


def hash_problem(problem: Problem) -> tuple[str, dict[str, str]]:
    """The hash of what a plan depends on, and short ones of its parts: features, actions, goal ..."""
    content = {name: part for name, part in dump_problem(problem.without_labels()).items() if name not in ASIDE}
    return digest_value(content), {name: digest_value(part)[:16] for name, part in content.items()}


def clean_record(record: Record) -> dict[str, Scalar]:
    """A record as the file holds it, its names in order."""
    plain = as_scalars(record)
    for name, value in dict(record).items():
        if isinstance(value, float | np.floating) and math.isinf(value):
            raise PlanError.at(("record", name), "is infinite, which a file cannot hold", code="out_of_range")
    return {name: plain[name] for name in sorted(plain)}


def hash_record(record: Mapping[str, Scalar]) -> str:
    """The hash of a record, without salt: 12 and 12.0 are the same, and an empty cell is none."""
    known = {name: value for name, value in record.items() if value is not None}
    return digest_value({name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in known.items()})


def hash_answers(mdp: CompiledMDP) -> str:
    """The hash of which states of an MDP are goals."""
    codes = mdp.codes(np.arange(mdp.n_states))
    return hashlib.sha256(codes.astype("<i2").tobytes() + mdp.goal.astype("u1").tobytes()).hexdigest()


def _write_problem(mdp: CompiledMDP, words: WordsForm) -> ProblemForm:
    whole, parts = hash_problem(mdp.problem)
    return ProblemForm(
        title=mdp.problem.title,
        hash=whole,
        parts=parts,
        horizon=mdp.horizon,
        unit=mdp.unit,
        stop=mdp.stops,
        quantum=str(mdp.quantum),
        failure_cost=mdp.to_cost(mdp.failure_cost),
        goal=mdp.goal_name,
        words=words,
    )


def _write_words(mdp: CompiledMDP, people: Sequence[Mapping[str, str]], actions: Sequence[ActionForm]) -> WordsForm:
    """The labels of everything that the file names, and of nothing else."""
    glossary, features = mdp.glossary, mdp.problem.feature_by_name
    met = {name: sorted({person[name] for person in people}) for name in people[0]}
    levels = {name: _choose(glossary.levels.get(name, {}), known) for name, known in met.items()}
    labels = [outcome.label for action in actions for outcome in action.outcomes if outcome.label is not None]
    units = [features[name].unit for name in met if name in features]
    return WordsForm(
        features=_choose(glossary.features, met),
        levels={name: labels for name, labels in levels.items() if labels},
        actions=_choose(glossary.actions, dict.fromkeys(action.action for action in actions)),
        goal=None if glossary.goal is None else dict(glossary.goal),
        texts=_choose(glossary.texts, dict.fromkeys((mdp.problem.title, mdp.unit, *units, *labels))),
    )


def _choose(labels: Mapping[str, Label], names: Iterable[str]) -> dict[str, dict[str, str]]:
    return {name: dict(labels[name]) for name in names if name in labels}


def _write_away(mdp: CompiledMDP, state: int) -> int | None:
    """How many steps a goal is away, where one can be reached."""
    steps = int(mdp.steps_to_goal[state])
    return steps if 0 < steps <= mdp.horizon else None


def _write_figures(offer: Offer) -> FiguresForm:
    costs, found = offer.cost, offer.ranges
    ends = None if found is None else (found.success, found.mean, found.var, found.tail)
    return FiguresForm(
        success=min(costs.success, 1.0),
        mean=offer.mean,
        var=costs.all_runs.var(offer.level),
        cvar=offer.tail,
        ranges=None
        if ends is None
        else RangesForm(**dict(zip(RangesForm.model_fields, map(astuple, ends), strict=True))),
    )


def _write_promises(
    offer: Offer, start: Mapping[str, str], people: Sequence[Mapping[str, str]], *, personal_data: bool
) -> list[PromiseForm]:
    """Those of levels that the plan can come to; of what was filed only with personal data."""
    met = {pair for one in people for pair in one.items()}
    return [
        PromiseForm(**asdict(promise))
        for (name, level), promise in offer.promises.items()
        if (name, level) in met and (personal_data or start[name] != level)
    ]


Spent = tuple[int, int | None] | None  # from so much to so much, in quanta, or on without end; None: it does not matter


class _Stretch(NamedTuple):
    """Something is done in a state at a step with so much spent."""

    state: int
    row: int
    step: int
    spent: Spent


def _follow(offer: Offer) -> tuple[NDArray[np.int64], list[_Stretch]]:
    """The states that a plan can come to, and all that it does there.

    What it does with an amount that it comes to holds for all amounts around it for which the policy does the same,
    so that somebody who has spent another one still gets the policy's own answer, or none.
    """
    policy = offer.policy
    found: dict[_Stretch, None] = {}
    opening = int(policy.accounts[offer.start])
    choosing, counts = policy.choosing(opening), policy.looks_at_spent
    cells = follow(policy.mdp, choosing, offer.start, counts_spent=counts, possible=True).cells
    last: _Stretch | None = None
    columns = (np.asarray(column).tolist() for column in (cells.step, cells.state, cells.row, cells.spent))
    for step, state, row, spent in zip(*columns, strict=True):
        if row < 0 or (last and (last.step, last.state) == (step, state) and _holds(last.spent, spent)):
            continue
        low, high = policy.steady(step, state, opening - spent)
        least, most = 0 if high is None else max(opening - high, 0), None if low is None else opening - low
        last = _Stretch(state, row, step, None if (least, most) == (0, None) else (least, most))
        found[last] = None
    return np.unique(cells.state), list(found)


def _holds(limits: Spent, spent: int) -> bool:
    """Whether an amount, which is no less than the lower one, is within limits."""
    return limits is None or limits[1] is None or spent <= limits[1]


def _join(mdp: MDP, stretches: Sequence[_Stretch]) -> list[WhenForm]:
    """When a row is taken: steps that follow each other with the same limits are one."""
    found: list[tuple[int, int, Spent]] = []
    for spent, group in groupby(sorted(stretches, key=_by_spent), key=lambda one: one.spent):
        for one in group:
            if found and found[-1][2] == spent and found[-1][1] == one.step - 1:
                found[-1] = (found[-1][0], one.step, spent)
            else:
                found.append((one.step, one.step, spent))
    found.sort(key=lambda item: (item[0], (item[2] or (0, None))[0]))
    return [WhenForm(steps=(first, last), spent=_as_costs(mdp, spent)) for first, last, spent in found]


def _as_costs(mdp: MDP, spent: Spent) -> tuple[float, float | None] | None:
    if spent is None:
        return None
    low, high = spent
    return mdp.to_cost(low), None if high is None else mdp.to_cost(high)


def _by_spent(one: _Stretch) -> tuple[tuple[int, float], int]:
    low, high = (-1, -1) if one.spent is None else one.spent
    return (low, math.inf if high is None else high), one.step


def _write_choices(
    mdp: CompiledMDP, states: NDArray[np.int64], stretches: Sequence[_Stretch]
) -> tuple[list[ActionForm], dict[int, list[ChoiceForm]]]:
    """Every action as it is offered, each once, and by state what is done when."""
    by_row: dict[int, list[_Stretch]] = {}
    for one in stretches:
        by_row.setdefault(one.row, []).append(one)
    offered = {row: _write_action(mdp, row) for row in by_row}
    order = sorted({(int(mdp.row_action[row]), offered[row].model_dump_json()): row for row in by_row}.items())
    numbers = {text: number for number, ((_, text), _) in enumerate(order)}
    choices: dict[int, list[ChoiceForm]] = {}
    for row in sorted(by_row):
        edges = slice(int(mdp.edge_start[row]), int(mdp.edge_start[row + 1]))
        choice = ChoiceForm(
            action=numbers[offered[row].model_dump_json()],
            when=_join(mdp, by_row[row]),
            next=np.searchsorted(states, mdp.edge_next[edges]).tolist(),
        )
        choices.setdefault(by_row[row][0].state, []).append(choice)
    return [offered[row] for _, row in order], choices


def _write_action(mdp: CompiledMDP, row: int) -> ActionForm:
    edges = range(int(mdp.edge_start[row]), int(mdp.edge_start[row + 1]))
    return ActionForm(
        action=mdp.actions[int(mdp.row_action[row])], outcomes=[_write_outcome(mdp, edge) for edge in edges]
    )


def _write_outcome(mdp: CompiledMDP, edge: int) -> OutcomeForm:
    written, low, high = mdp.outcome(edge), float(mdp.edge_low[edge]), float(mdp.edge_high[edge])
    return OutcomeForm(
        outcome=int(mdp.edge_outcome[edge]),
        works=mdp.works(edge),
        chance=float(mdp.edge_chance[edge]),
        low=low if low < high else None,
        high=high if low < high else None,
        cost=mdp.to_cost(int(mdp.edge_cost[edge])),
        label=written.label,
        change=list(written.change),
    )
