"""From the form of a plan to arrays and a policy that can be followed, as those that it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.errors import InputError, Path, Place, PlanError, TooLargeError
from safear.evaluation.policy import NOTHING, Policy, SpentPolicy, StatePolicy
from safear.mdp.arrays import MDP
from safear.mdp.compiled import check_mdp
from safear.plans.plan_file import AS_SAVED, OutcomeForm, PlanForm
from safear.problem.glossary import Glossary
from safear.problem.model import MAX_ACTIONS, Feature, Outcome, Record, SetTo
from safear.recourse.promises import Promise, Promises

MOST_UNITS = 2**52  # a cost that is a float tells apart no more
MOST_SPANS = 20_000_000  # states, steps and amounts spent that a plan tells apart; 100 bytes each
HOWEVER_MUCH = 2**62  # quanta


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PlanMDP(MDP):
    """The arrays of a plan: the states that it can reach, with only what it does there.

    `people` has the levels of each state that the file tells of, and `outcomes` what each edge stands for.
    """

    form: PlanForm
    people: tuple[Mapping[str, str], ...]
    outcomes: tuple[OutcomeForm, ...]

    @property
    def record(self) -> Record | None:
        """The record as filed, if the file has it."""
        return self.form.person.record

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return self.form.problem.unit

    @cached_property
    def glossary(self) -> Glossary:
        """What people read instead of names."""
        return Glossary(**dict(self.form.problem.words))

    @property
    def goal_name(self) -> str | None:
        """What the person wants, in the problem's words, if it has any."""
        return self.form.problem.goal

    @cached_property
    def dead_end(self) -> NDArray[np.bool_]:
        """States in which no action is left; where the plan does nothing for other reasons it is none."""
        return np.array([state.stuck for state in self.form.states])

    @cached_property
    def steps_to_goal(self) -> NDArray[np.int64]:
        """The fewest steps in which any plan may reach a goal, not only this one."""
        never = self.horizon + 1
        away = [0 if state.goal else min(state.away or never, never) for state in self.form.states]
        return np.array(away, dtype=np.int64)

    def is_over(self, states: NDArray[np.int64], step: int | NDArray[np.int64]) -> NDArray[np.bool_]:
        """Where no plan does anything at a step: at goals, at the end, where nothing is left, where hope is lost."""
        lost = self.steps_to_goal[states] > self.horizon - step
        ended = self.goal[states] | self.dead_end[states] | (step >= self.horizon)
        return ended | lost if self.stops else ended

    def person(self, state: int) -> dict[str, str]:
        """The level names of a state."""
        return dict(self.people[state])

    def shown_person(self, state: int) -> dict[str, str]:
        """The same without what is hidden."""
        hidden = self.form.person.hidden
        return {name: level for name, level in self.people[state].items() if name not in hidden}

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """Those that the file tells of, with the levels that the plan comes to, in no order."""
        hidden = self.form.person.hidden
        met = {name: dict.fromkeys(person[name] for person in self.people) for name in self.form.person.levels}
        return tuple(
            Feature(name, "nominal", tuple(levels), hidden=name in hidden, counts=hidden.get(name, ""))
            for name, levels in met.items()
        )

    def codes(self, states: NDArray[np.int64]) -> NDArray[np.int16]:
        """The level number of each feature [state, feature]."""
        people = [self.people[state] for state in states.tolist()]
        codes = [[feature.levels.index(person[feature.name]) for feature in self.features] for person in people]
        return np.array(codes, dtype=np.int16).reshape(len(people), len(self.features))

    def outcome(self, edge: int) -> Outcome:
        """What an edge stands for."""
        written, after = self.outcomes[edge], self.people[int(self.edge_next[edge])]
        change = {name: SetTo(after[name]) for name in written.change if name in after}
        return Outcome(change=change, label=written.label, works=written.works)

    @cached_property
    def working(self) -> NDArray[np.bool_]:
        """Of each edge, whether it counts as its action having worked."""
        return np.array([outcome.works for outcome in self.outcomes], dtype=bool)


def read_policy(form: PlanForm, place: Place) -> Policy:
    """The policy of a plan. Raises a PlanError if the form is not one of a plan, whatever its checksum says."""
    try:
        _check_numbers(form)
        mdp = _read_mdp(form)
        check_mdp(mdp)
        return _read_choices(mdp, form)
    except InputError as error:
        first = error.mistakes[0]
        where = Place((*place.path, *first.place.path), file=place.file)
        if isinstance(error, TooLargeError):
            raise TooLargeError.at(where, first.cause, first.remedy, code=first.code) from None
        raise PlanError.at(where, f"is damaged: {first.cause}", AS_SAVED, code="damaged") from None


def read_promises(form: PlanForm) -> Promises:
    """By feature and level."""
    return {(one.feature, one.level): Promise(**dict(one)) for one in form.promises}


def _check_numbers(form: PlanForm) -> None:
    """Numbers of states and actions that exist, steps in time, and features that the person has."""
    count, levels, horizon = len(form.states), form.person.levels, form.problem.horizon
    _require(form.start < count, ("start",), "there is no such state")
    _require(len({one.action for one in form.actions}) <= MAX_ACTIONS, ("actions",), "has too many")
    for number, action in enumerate(form.actions):
        numbers = [outcome.outcome for outcome in action.outcomes]
        _require(numbers == sorted(set(numbers)), ("actions", number), "has outcomes out of order")
    counters = [name for name, counts in form.person.hidden.items() if counts and name in levels]
    for name in counters:
        counted = [levels[name], *(state.changed.get(name, "0") for state in form.states)]
        _require(all(level.isdecimal() for level in counted), ("person", "hidden", name), "does not count")
    for number, state in enumerate(form.states):
        at: Path = ("states", number)
        _require(state.changed.keys() <= levels.keys(), (*at, "changed"), "has a feature that is not among the levels")
        for choice in state.do:
            _require(choice.action < len(form.actions), (*at, "do"), "there is no such action")
            _require(all(one < count for one in choice.next), (*at, "do"), "there is no such state")
            fits = len(choice.next) == len(form.actions[choice.action].outcomes)
            _require(fits, (*at, "do"), "has not one next state per outcome")
            for when in choice.when:
                _require(when.steps[0] <= when.steps[1] < horizon, (*at, "do"), "has steps that are out of time")
                _require(_is_ordered(when.spent), (*at, "do"), "has limits out of order")


def _is_ordered(spent: tuple[float, float | None] | None) -> bool:
    return spent is None or spent[1] is None or spent[0] <= spent[1]


def _require(is_so: bool, path: Path, cause: str) -> None:  # noqa: FBT001
    if not is_so:
        raise PlanError.at(path, cause, code="damaged")


def _read_mdp(form: PlanForm) -> PlanMDP:
    rows = [(number, choice) for number, state in enumerate(form.states) for choice in state.do]
    edges = [(outcome, after) for _, choice in rows for outcome, after in _ways(form, choice.action, choice.next)]
    names = tuple(dict.fromkeys(action.action for action in form.actions))
    sizes = [len(choice.next) for _, choice in rows]
    quantum = Fraction(form.problem.quantum)
    return PlanMDP(
        horizon=form.problem.horizon,
        goal=np.array([state.goal for state in form.states]),
        row_start=np.cumsum([0, *(len(state.do) for state in form.states)]),
        row_action=np.array([names.index(form.actions[choice.action].action) for _, choice in rows], dtype=np.uint8),
        edge_start=np.cumsum([0, *sizes]),
        edge_next=np.array([after for _, after in edges], dtype=np.int64),
        edge_chance=np.array([outcome.chance for outcome, _ in edges], dtype=np.float64),
        edge_low=np.array([outcome.chance if outcome.low is None else outcome.low for outcome, _ in edges]),
        edge_high=np.array([outcome.chance if outcome.high is None else outcome.high for outcome, _ in edges]),
        edge_cost=np.array([_units(outcome.cost, quantum) for outcome, _ in edges], dtype=np.int64),
        edge_outcome=np.array([outcome.outcome for outcome, _ in edges], dtype=np.uint8),
        depth=_find_depths(form),
        actions=names,
        failure_cost=_units(form.problem.failure_cost, quantum),
        quantum=quantum,
        stops=form.problem.stop,
        form=form,
        people=tuple({**form.person.levels, **state.changed} for state in form.states),
        outcomes=tuple(outcome for outcome, _ in edges),
    )


def _ways(form: PlanForm, action: int, after: list[int]) -> Iterator[tuple[OutcomeForm, int]]:
    return zip(form.actions[action].outcomes, after, strict=True)


def _units(cost: float, quantum: Fraction) -> int:
    """A cost in quanta."""
    units = round(Fraction(cost) / quantum)
    if units > MOST_UNITS or float(units * quantum) != cost:
        raise PlanError.at((), f"{cost} is not a multiple of {quantum}", code="damaged")
    return units


def _find_depths(form: PlanForm) -> NDArray[np.int16]:
    """After how many steps each state is first met. What is stuck was so before the end."""
    horizon = form.problem.horizon
    depth = np.full(len(form.states), horizon, dtype=np.int16)
    depth[form.start] = 0
    for number, state in enumerate(form.states):
        for choice in state.do:
            first = min(when.steps[0] for when in choice.when)
            depth[choice.next] = np.minimum(depth[choice.next], first + 1)
            depth[number] = min(int(depth[number]), first)
    stuck = np.array([state.stuck for state in form.states])
    depth[stuck] = np.minimum(depth[stuck], horizon - 1)
    return depth


class _Spans(NamedTuple):
    """At a place (step * n_states + state), with `least` to `most` quanta spent, one choice is made.

    By place, and at each place what is for the most spent first.
    """

    place: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    choice: NDArray[np.int64]

    @property
    def follows(self) -> NDArray[np.bool_]:
        """Whether each has the place of the one before it."""
        return np.append(False, self.place[1:] == self.place[:-1])


def _read_choices(mdp: PlanMDP, form: PlanForm) -> Policy:
    """What to do by state and step and, where some of it depends on that, by what was spent."""
    told = np.array(
        [
            (number, *when.steps, *_limits(when.spent, mdp.quantum), position)
            for number, state in enumerate(form.states)
            for position, choice in enumerate(state.do)
            for when in choice.when
        ],
        dtype=np.int64,
    ).reshape(-1, 6)
    if not told[:, 3].any() and (told[:, 4] == HOWEVER_MUCH).all():
        return StatePolicy(mdp, _fill_in(mdp, told))
    spans = _spread(mdp, told)
    crossing = np.flatnonzero(spans.follows[1:] & (spans.most[1:] >= spans.least[:-1]))
    if len(crossing):
        raise _says_twice(int(spans.place[crossing[0]]) % mdp.n_states)
    opening = np.zeros(mdp.n_states, dtype=np.int64)
    return SpentPolicy.from_pieces(mdp, opening, *_cut(spans))


def _fill_in(mdp: PlanMDP, told: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The choice by step and state, of what the file says of several steps."""
    choices = np.full((mdp.horizon, mdp.n_states), NOTHING, dtype=np.uint8)
    for state, first, last, _, _, position in told.tolist():
        steps = choices[first : last + 1, state]
        if (steps != NOTHING).any():
            raise _says_twice(state)
        steps[:] = position
    return choices


def _spread(mdp: PlanMDP, told: NDArray[np.int64]) -> _Spans:
    """One span for each step of what the file says of several."""
    state, first, last, *others = told.T
    lengths = last - first + 1
    if lengths.sum() > MOST_SPANS:  # a short file can say so much
        cause = f"say what to do in more than {MOST_SPANS:,} cases, by what was spent"
        raise TooLargeError.at(("states",), cause, "save a plan with fewer steps or rounder costs", code="too_large")
    step = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths - first, lengths)
    place = step * mdp.n_states + np.repeat(state, lengths)
    least, most, choice = (np.repeat(column, lengths) for column in others)
    order = np.lexsort((-least, place))
    return _Spans(place[order], least[order], most[order], choice[order])


def _says_twice(state: int) -> PlanError:
    return PlanError.at(("states", state, "do"), "says more than once what to do at a step", code="damaged")


def _limits(spent: tuple[float, float | None] | None, quantum: Fraction) -> tuple[int, int]:
    """The least and the most that is spent, in quanta."""
    least, most = (0.0, None) if spent is None else spent
    return _units(least, quantum), HOWEVER_MUCH if most is None else _units(most, quantum)


def _cut(spans: _Spans) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """By place, from which account on what is chosen, which is nothing where no span is.

    An account is what was spent, negative: it rises from the span with the most spent. The first piece also holds for
    all that is below it (`SpentPolicy.choose`).
    """
    place, least, most, choice = spans
    ends, follows = most < HOWEVER_MUCH, spans.follows
    before = np.where(follows, 1 - np.roll(least, 1), -most - 1)  # where the span before ends; below the first, nothing
    gaps = ends & (before != -most)
    lasts = ~np.append(follows[1:], False) & (least > 0)
    of = np.concatenate([np.arange(len(place)), np.flatnonzero(gaps), np.flatnonzero(lasts)])
    account = np.concatenate([np.where(ends, -most, -least), before[gaps], (1 - least)[lasts]])
    return place[of], account, np.where(np.arange(len(of)) < len(place), choice[of], NOTHING).astype(np.uint8)
