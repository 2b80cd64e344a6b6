"""One engine for many people: exact figures of everybody's plan, computed once per distinct person.

People who share their immutable features are in one block; blocks that share rows and edges make a family. From there
the engine goes the cheapest way that gives what is asked for, and all ways give the same:

    a family at a time    greedy plans, and those with the least mean, of all its states (`family_figures`)
    person after person   the same with terms of one's own, or figures over all runs, in the core (`own_terms`)
    a block at a time     other objectives: one sweep solves all who are in it
    one by one            everything else: through the door (`Desk.open`), or with their part of the block

Where the classifier sees records, everybody is a block of their own (`filed_families`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from safear.classifier.filed import Filed
from safear.errors import InputError, ProblemError, TermsError, TooLargeError
from safear.evaluation.backward import evaluate_states
from safear.evaluation.forward import run_exactly
from safear.mdp.arrays import MDP
from safear.mdp.compiled import CompiledMDP
from safear.mdp.expand import MAX_DIGITS
from safear.mdp.families import Family, FamilyCompiler, count_block_states, immutable_positions
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.goals import Goals
from safear.mdp.ground import restrict, restrict_to
from safear.population.crowd import Crowd
from safear.population.family_figures import FAMILY_MEASURES, measure_room, solve_family, summarise
from safear.population.figures import FAVOURABLE, NO_RECOURSE, PLANNED, READ, PeopleFigures
from safear.population.filed_families import meet_records
from safear.population.own_terms import KERNEL_MEASURES, Units, VariantCompiler, Variants, count_units, solve_people
from safear.problem.model import Problem
from safear.progress import Progress
from safear.recourse.budgets import exceeds_budget
from safear.recourse.case import Desk
from safear.recourse.offer import TAIL
from safear.risk.distribution import check_level
from safear.risk.objectives import Mean, Objective
from safear.solvers.fine_costs import needs_rounding
from safear.solvers.solution import Solution
from safear.solvers.solve import Method, choose_method, solve
from safear.solvers.success import highest_success, sweep_success
from safear.solvers.sweep import Stepwise
from safear.threads import work_ahead

MAX_BLOCK = 500_000  # states; the people of a larger block are solved one by one
WORTH_IT = 20_000  # states of a block per distinct person, up to which the block is less work than each on their own
FEW = 10  # people; so few are solved one by one: 3 times as fast, on 1% of the inputs (5 of Adult: 6 ms, 195 inputs)
WIDE = 2**28  # bytes of distributions; people of a block that takes more are followed one by one
NO_CHANCE = 0.5 * 10.0**-MAX_DIGITS  # a smaller chance counts as none, as in `expand`

Found = tuple[NDArray[np.int64], PeopleFigures]  # of whom, and what
Task = Callable[[], Found]


@dataclass(frozen=True, slots=True)
class Purpose:
    """What everybody's plan is for; `level` is that of VaR, CVaR and the tail mean."""

    objective: Objective
    method: Method | None = None
    level: float = TAIL

    def __post_init__(self) -> None:
        check_level(self.level)
        choose_method(self.objective, self.method)

    @property
    def stepwise(self) -> Stepwise | None:
        """The objective, if one sweep over states solves it, for any number of blocks at once."""
        objective, is_greedy = self.objective, choose_method(self.objective, self.method) == "greedy"
        return objective if isinstance(objective, Mean) or (is_greedy and isinstance(objective, Stepwise)) else None


class Engine:
    """Figures of crowds at one desk; the classifier is asked about each state once. Threads may share it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._variants = VariantCompiler(desk.compiler)

    @property
    def problem(self) -> Problem:
        """The problem, without anybody's own terms."""
        return self.desk.problem

    @cached_property
    def _families(self) -> FamilyCompiler:
        return FamilyCompiler(self.desk.compiler, kept=8)

    def work_out(
        self,
        crowd: Crowd,
        aim: Purpose,
        measures: Sequence[str],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> PeopleFigures:
        """The decision, the first step and the measures of everybody who follows the plan for an aim.

        `measures` are those of `figures.READ`, `value` and `bound` of the objective, and `best_success`: the highest
        that any plan has.
        """
        if crowd.filed.shows_levels and self.problem.goal.promise != "range":
            crowd = replace(crowd, filed=Filed.on_levels(crowd.codes))
        first, kind = crowd.distinct()
        people = crowd.take(first)
        people = replace(people, chances=np.where(people.chances <= NO_CHANCE, 0.0, people.chances))
        asked = _Asked(people, aim, tuple(measures))
        count = np.bincount(kind, minlength=len(first))
        found, done = PeopleFigures.unknown(len(people), measures), 0
        for whom, figures in work_ahead(lambda task: task(), self._divide(asked), threads=threads):
            found.put(whom, figures)
            done += int(count[whom].sum())
            if progress is not None:
                progress(done, len(crowd))
        self.desk.vouch(people.filed)
        return found.take(kind)

    def blocks(self, crowd: Crowd) -> Iterator[tuple[CompiledMDP, NDArray[np.int64], NDArray[np.int64]]]:
        """Each block that somebody is in, who that is, and the state of each."""
        for family, members, lanes in meet(self._families, crowd.codes):
            for lane in np.unique(lanes):
                mdp, inside = family.block(int(lane)), members[lanes == lane]
                yield mdp, inside, mdp.positions(crowd.codes[inside])

    def _divide(self, asked: _Asked) -> Iterator[Task]:
        """What is to be done, piece by piece, each in the way that suits it."""
        people, stepwise, measures = asked.people, asked.aim.stepwise, set(asked.measures)
        own, together = people.brings_terms, self._is_worth_it(people) & (len(people) > FEW)
        rest = np.ones(len(people), dtype=bool)
        goals = self.desk.goals
        if people.filed.sight or goals.in_force is not goals:  # whoever is left is at no goal, either
            accepted = _decide(goals.in_force, people)
            rest &= ~accepted
            yield partial(_accept, asked, np.flatnonzero(accepted))
        meet_some = self._meet_records if people.filed.sight else _meet_some
        # A sweep over all states of a family is for many people in each lane.
        by_family = stepwise is not None and measures <= set(FAMILY_MEASURES) and not people.filed.sight
        compiled = np.zeros(len(people), dtype=bool)
        fits = self._variants.fits(people.chances, whole_blocks=not people.filed.sight)
        if stepwise is not None and measures <= set(KERNEL_MEASURES) and fits:
            units = count_units(self.problem, self.desk.compiler.lattice, people.costs)
            compiled = rest & together & units.fit & (own | (not by_family))
            variants, families = self._variants.get(people.chances[compiled])
            for family, whom, lanes in meet_some(families, people, compiled):
                yield partial(_solve_people, asked, family, whom, lanes, variants, units)
        alone = rest & ~compiled & (own | ~together)
        for family, whom, lanes in meet_some(self._families, people, rest & ~compiled & ~alone):
            if people.filed.sight:
                yield partial(_solve_lanes, asked, family, whom, lanes)
            elif by_family and measure_room(family.shared) <= WIDE:
                yield partial(_solve_family, asked, family, whom, lanes)
            else:
                for lane in np.unique(lanes):
                    yield partial(_solve_block, asked, family.block(int(lane)), whom[lanes == lane])
        for person in np.flatnonzero(alone).tolist():
            yield partial(_solve_alone, asked, self.desk, person)

    def _meet_records(
        self, families: FamilyCompiler, people: Crowd, some: NDArray[np.bool_]
    ) -> Iterator[tuple[Family, NDArray[np.int64], NDArray[np.int64]]]:
        """Each family with a lane for each of some people, who they are, and their lanes."""
        which = np.flatnonzero(some)
        for family, members, lanes in meet_records(families.compiler, people.filed.take(which)):
            yield family, which[members], lanes

    def _is_worth_it(self, people: Crowd) -> NDArray[np.bool_]:
        """Whose block is less work than they are on their own."""
        size = count_block_states(self.problem)
        if people.filed.sight or size > MAX_BLOCK:
            return np.full(len(people), bool(people.filed.sight))
        blocks = np.unique(people.codes[:, immutable_positions(self.problem)], axis=0, return_inverse=True)[1]
        worth: NDArray[np.bool_] = (size <= WORTH_IT * np.bincount(blocks.reshape(-1)))[blocks.reshape(-1)]
        return worth


@dataclass(frozen=True, eq=False)
class _Asked:
    """What an engine is asked: of whom (distinct people), for which aim, which measures."""

    people: Crowd
    aim: Purpose
    measures: tuple[str, ...]


def _solve_people(
    asked: _Asked, family: Family, whom: NDArray[np.int64], lanes: NDArray[np.int64], variants: Variants, units: Units
) -> Found:
    """Person after person in compiled code."""
    objective = asked.aim.stepwise
    if objective is None:
        raise TypeError(asked.aim)  # others are solved otherwise
    people, level = asked.people.take(whom), asked.aim.level
    solved = solve_people(variants, family, people, lanes, units=units.take(whom), objective=objective, level=level)
    figures = solved.figures[:, [KERNEL_MEASURES.index(name) for name in asked.measures]]
    masked = np.ma.array(figures, mask=np.isnan(figures))
    return whom, PeopleFigures(asked.measures, solved.decision, solved.first_action, masked)


def _solve_family(asked: _Asked, family: Family, whom: NDArray[np.int64], lanes: NDArray[np.int64]) -> Found:
    """All states of a family in one sweep."""
    solution, mdp = solve_family(family, asked.aim.objective), family.shared
    states = mdp.positions(asked.people.codes[whom])
    found = summarise(solution, level=asked.aim.level, measures=tuple({*asked.measures, "best_success"}))
    rows = mdp.row_start[states] + solution.choices[0, states, lanes]
    table = np.stack([found[name][states, lanes] for name in asked.measures], axis=1)
    best = found["best_success"][states, lanes]
    return whom, _tabulate(asked.measures, mdp, rows, table, family.goal[states, lanes], best)


def _solve_block(asked: _Asked, mdp: CompiledMDP, whom: NDArray[np.int64]) -> Found:
    """All people of a block in one sweep; one by one where costs are so fine that they are rounded for the search.

    For people differ in how much.
    """
    aim, positions = asked.aim, mdp.positions(asked.people.codes[whom])
    part = restrict_to(mdp, positions)  # where nobody begins or comes, nothing need be known
    mdp, states = part.mdp, np.searchsorted(part.states, positions)
    goal, best, short = mdp.goal[states], sweep_success(mdp)[0][states], exceeds_budget(mdp, aim.objective, states)
    is_optimal = choose_method(aim.objective, aim.method) == "optimal"
    is_wide = 2 * measure_room(mdp) > WIDE
    if is_wide or (is_optimal and needs_rounding(mdp, aim.objective, states[~goal])):
        found = PeopleFigures.unknown(len(states), asked.measures)
        for i, state in enumerate(states.tolist()):
            own = restrict(mdp, state).mdp
            found.put(np.array([i]), _solve_start(asked, own, favourable=bool(goal[i]), best=float(best[i])))
        return whom, found
    solution = solve(mdp, aim.objective, method=aim.method)
    table = _read_states(asked, solution, states, best)
    rows = solution.policy.rows(0, states, solution.policy.accounts[states])
    return whom, _tabulate(asked.measures, mdp, rows, table, goal, best, short)


def _decide(goals: Goals, people: Crowd) -> NDArray[np.bool_]:
    """Who is at one of the goals."""
    if not people.filed.sight:
        return goals.among(people.codes)
    return FiledGoals(goals, people.filed).among(people.codes, np.arange(len(people)))


def _accept(asked: _Asked, whom: NDArray[np.int64]) -> Found:
    """People who need no plan."""
    found = PeopleFigures.unknown(len(whom), asked.measures)
    found.decision[:] = FAVOURABLE
    return whom, found


def _solve_lanes(asked: _Asked, family: Family, whom: NDArray[np.int64], lanes: NDArray[np.int64]) -> Found:
    """Person after person, each with what they can reach of the family and their own goals."""
    states, found = family.shared.positions(asked.people.codes[whom]), PeopleFigures.unknown(len(whom), asked.measures)
    for i, (state, lane) in enumerate(zip(states.tolist(), lanes.tolist(), strict=True)):
        part = restrict(family.shared, state, goal=family.goal[:, lane]).mdp
        favourable = bool(family.goal[state, lane])
        best = 0.0 if favourable else highest_success(part)
        found.put(np.array([i]), _solve_start(asked, part, favourable=favourable, best=best))
    return whom, found


def _solve_alone(asked: _Asked, desk: Desk, person: int) -> Found:
    """One person, with what they bring, through the door."""
    people = asked.people
    try:
        case = desk.open(people.record(desk.problem, person), terms=people.terms(desk.problem, person))
        best = case.best_success if case.needs_plan else 0.0
        found = _solve_start(asked, case.mdp, favourable=case.favourable, best=best)
        actions = [action.name for action in desk.problem.actions]  # some of which a person may have forbidden
        numbers = np.array([*(actions.index(name) for name in case.mdp.actions), -1], dtype=np.int16)
        return np.array([person]), replace(found, first_action=numbers[found.first_action])
    except (ProblemError, TermsError, TooLargeError) as error:  # nobody could tell whose problem it is
        raise place_error(error, people, person) from None


def meet(
    families: FamilyCompiler, codes: NDArray[np.int16]
) -> Iterator[tuple[Family, NDArray[np.int64], NDArray[np.int64]]]:
    """Each family that somebody is in, who that is, and the lane of each."""
    immutable = immutable_positions(families.compiler.problem)
    blocks, member = np.unique(codes[:, immutable], axis=0, return_inverse=True)
    number_of = {levels.tobytes(): number for number, levels in enumerate(blocks)}
    for family in families.families(blocks):
        lane_of = np.full(len(blocks), -1, dtype=np.int64)
        lane_of[[number_of[levels.tobytes()] for levels in family.levels]] = np.arange(family.n_lanes)
        lanes = lane_of[member.reshape(-1)]
        members = np.flatnonzero(lanes >= 0)
        yield family, members, lanes[members]


def _meet_some(
    families: FamilyCompiler, people: Crowd, some: NDArray[np.bool_]
) -> Iterator[tuple[Family, NDArray[np.int64], NDArray[np.int64]]]:
    """The same for some of the people."""
    which = np.flatnonzero(some)
    for family, members, lanes in meet(families, people.codes[which]) if len(which) else ():
        yield family, which[members], lanes


def place_error(error: InputError, people: Crowd, person: int) -> InputError:
    """The same error, with where the person stands."""
    place = people.place(person)
    return type(error)(
        [replace(item, place=replace(place, path=(*place.path, *item.place.path))) for item in error.mistakes]
    )


def _solve_start(asked: _Asked, mdp: MDP, *, favourable: bool, best: float) -> PeopleFigures:
    """The figures of the person that an MDP was compiled for; `best` is the highest success, 0 if there is no way."""
    aim, measures, goal, highest = asked.aim, asked.measures, np.array([favourable]), np.array([best])
    short = exceeds_budget(mdp, aim.objective, mdp.starts)
    if favourable or not best or short[0]:
        return _tabulate(measures, mdp, np.array([-1]), np.full((1, len(measures)), np.nan), goal, highest, short)
    solution = solve(mdp, aim.objective, method=aim.method)
    runs = run_exactly(solution)
    cost = runs.distribution

    def read(name: str) -> float | None:
        match name:
            case "value":
                return aim.objective.of(cost)
            case "bound":
                return None if solution.certificate is None else solution.bound
            case "best_success":
                return best
        figure: float | None = READ[name](cost, runs, aim.level)
        return figure

    table = np.array([[np.nan if figure is None else figure for figure in map(read, measures)]])
    rows = solution.policy.rows(0, mdp.starts, solution.policy.accounts[mdp.starts])
    return _tabulate(measures, mdp, rows, table, goal, highest)


def _read_states(
    asked: _Asked, solution: Solution, states: NDArray[np.int64], best: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The measures [state, measure] of a solution for all states of a block; NaN where undefined."""
    everybody, aim = evaluate_states(solution, starts=states), asked.aim
    table = np.full((len(states), len(asked.measures)), np.nan)
    for column, name in enumerate(asked.measures):
        match name:
            case "value":
                table[:, column] = [aim.objective.of(everybody.distribution(state)) for state in states.tolist()]
            case "bound" if solution.certificate is not None:
                table[:, column] = solution.bounds[states]
            case "best_success":
                table[:, column] = best
            case _ if name in READ:
                table[:, column] = np.ma.filled(READ[name](everybody, everybody, aim.level), np.nan)[states]
    return table


def _tabulate(
    measures: Sequence[str],
    mdp: MDP,
    rows: NDArray[np.int64],
    table: NDArray[np.float64],
    goal: NDArray[np.bool_],
    best: NDArray[np.float64],
    short: NDArray[np.bool_] | None = None,
) -> PeopleFigures:
    """From the row of each person's first step (-1: none) and a table of figures (NaN: none).

    Whose budget is too `short` for any plan has no recourse, like those whom none leads to a goal.
    """
    helpless = ~goal & (np.equal(best, 0) if short is None else np.equal(best, 0) | short)
    table = np.where((goal | helpless)[:, None], np.nan, table)
    for name, figure in (("success", np.zeros(len(best))), ("best_success", best)):
        if name in measures:
            table[helpless, measures.index(name)] = figure[helpless]
    acting = ~goal & ~helpless & (rows >= 0)
    first = np.full(len(rows), -1, dtype=np.int16)
    first[acting] = mdp.row_action[rows[acting]]
    decision = np.where(goal, FAVOURABLE, np.where(helpless, NO_RECOURSE, PLANNED)).astype(np.uint8)
    return PeopleFigures(tuple(measures), decision, first, np.ma.array(table, mask=np.isnan(table)))
