"""What somebody without recourse can be told besides the reason: how near they can come, and what would help."""

from __future__ import annotations

from dataclasses import dataclass

from safear.evaluation.forward import evaluate
from safear.mdp.compiled import CompiledMDP
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.space import person_codes
from safear.problem.model import Problem
from safear.recourse.approach import Approach, find_closest
from safear.recourse.budgets import least_budget
from safear.recourse.case import Case
from safear.recourse.relaxations import Relaxation, find_relaxations
from safear.risk.objectives import Budget
from safear.solvers.solve import solve


@dataclass(frozen=True, slots=True)
class Advice:
    """How near a person can come (`closest`), and the cheapest changes that would give them a plan.

    `is_complete`: all single changes were tried. `levels_accepted`: somebody with the same levels, and with the values
    of these for numbers, is accepted; None if the classifier sees nothing but levels.
    """

    problem: Problem
    closest: Approach | None
    relaxations: tuple[Relaxation, ...]
    is_complete: bool
    levels_accepted: bool | None


def find_advice(case: Case) -> Advice | None:
    """Advice for somebody without recourse; None for others."""
    if case.reach is None:
        return None
    found = find_relaxations(case)
    return Advice(case.problem, find_closest(case), found.found, found.is_complete, accepts_levels(case))


def advise_on_budget(case: Case) -> Advice:
    """Advice for somebody whose budget is too small for any plan: one that is not, and what it can do."""
    enough = least_budget(case.mdp)[1]
    cost = evaluate(solve(case.mdp, Budget(enough)))
    found = Relaxation("budget", cost.success_within(enough), cost.all_runs.mean, value=enough)
    return Advice(case.problem, None, (found,), is_complete=True, levels_accepted=accepts_levels(case))


def accepts_levels(case: Case) -> bool | None:
    """What is decided about somebody with the same levels and the values of these; None if only levels are seen."""
    goals = case.mdp.goals if isinstance(case.mdp, CompiledMDP) else None
    if not isinstance(goals, FiledGoals) or not case.sight.numbers:
        return None
    return bool(goals.in_force.at_values(person_codes(case.problem.features, case.person)[None, :])[0])
