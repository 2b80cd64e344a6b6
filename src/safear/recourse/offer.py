"""One plan that is offered to a person, with everything that can be said of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from safear.evaluation.forward import Runs, run_exactly
from safear.recourse.plan import Plan, make_plan
from safear.recourse.traces import Traces, find_traces
from safear.recourse.words import describe_worst, format_chance, format_cost
from safear.risk.distribution import CostDistribution
from safear.risk.objectives import Objective
from safear.solvers.solution import Solution

TAIL = 0.95  # the worst 5%


@dataclass(frozen=True, eq=False, repr=False)
class Offer:
    """One plan of a menu. `objectives` are those that it was computed for: more than one if their plans are equal.

    The tail is the mean cost of the worst 1 - `level` of all runs. `trade_off` says what the plan gains and gives up
    beside the others of its menu.
    """

    name: str
    objectives: tuple[Objective, ...]
    solution: Solution
    runs: Runs
    level: float = TAIL
    trade_off: str = ""

    def __repr__(self) -> str:
        return f"{self.name}: {self}"

    def __str__(self) -> str:
        return (
            f"first {self.first_action}; succeeds {format_chance(self.cost.success)}, "
            f"costs {format_cost(self.mean, self.unit)} on average, "
            f"{format_cost(self.tail, self.unit)} in the {describe_worst(self.level)}"
        )

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return self.solution.mdp.unit

    @property
    def objective(self) -> Objective:
        """The first of its objectives."""
        return self.objectives[0]

    @cached_property
    def cost(self) -> CostDistribution:
        """The exact distribution of the total cost."""
        return self.runs.distribution

    @property
    def mean(self) -> float:
        """The expected cost over all runs."""
        return self.cost.all_runs.mean

    @cached_property
    def tail(self) -> float:
        """The mean cost of the worst runs (CVaR)."""
        return self.cost.all_runs.cvar(self.level)

    @property
    def value(self) -> float:
        """The exact objective of the total cost over all runs."""
        return self.objective.of(self.cost)

    @property
    def planned_value(self) -> float:
        """What the solver's own recursion computed; greedy solvers add up deviations."""
        return self.solution.planned_value(self.runs.start)

    @property
    def first_action(self) -> str | None:
        """What to do first."""
        return self.solution.policy.action(self.runs.start)

    @cached_property
    def plan(self) -> Plan:
        """The contingent plan: its likely steps."""
        return make_plan(self.solution, self.runs.start)

    @cached_property
    def full_plan(self) -> Plan:
        """The contingent plan with every situation that can come up, however rare."""
        return make_plan(self.solution, self.runs.start, limit=None)

    @cached_property
    def traces(self) -> Traces:
        """The most probable ways in which it may go."""
        return find_traces(self.solution, self.runs.start, runs=self.runs)


def make_offer(solution: Solution, *, level: float = TAIL) -> Offer:
    """An offer named after its objective."""
    return Offer(str(solution.objective), (solution.objective,), solution, run_exactly(solution), level)
