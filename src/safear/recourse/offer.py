"""One plan that is offered to a person, with everything that can be said of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from safear.arguments import ArgumentKind, takes
from safear.evaluation.extremes import FigureRanges, evaluate_ranges
from safear.evaluation.forward import Ends, Runs, find_possible_ends, run_exactly
from safear.evaluation.policy import Policy
from safear.problem.glossary import NO_LABELS, Glossary
from safear.problem.model import Record
from safear.recourse.gist import Gist, find_gist
from safear.recourse.plan import Plan
from safear.recourse.plan_making import make_plan
from safear.recourse.promises import Promises, Verification, find_promises, verify_ends
from safear.recourse.rules import count_rules
from safear.recourse.teller import Teller
from safear.recourse.traces import Traces, find_traces
from safear.risk.distribution import CostDistribution
from safear.risk.objectives import Objective
from safear.solvers.solution import Solution
from safear.texts.notebook import html_table, show_lines

if TYPE_CHECKING:
    from safear.recourse.simplified import Simplified

TAIL = 0.95  # the worst 5%
LONG_PLAN = 60
Kind = Literal["safest", "cheapest", "cheapest_and_safest", "balanced", "likeliest", "asked"]


class OfferFigures(NamedTuple):
    """What plans are compared by, over all runs."""

    success: float
    mean: float
    tail: float

    def gains_over(self, other: OfferFigures) -> tuple[float, float, float]:
        """By how much they are better in success, and relatively, to the larger of two, in mean and tail."""
        return self.success - other.success, _gain(other.mean, self.mean), _gain(other.tail, self.tail)


def _gain(its: float, mine: float) -> float:
    """By how much a cost is lower than another, relatively to the larger of the two."""
    larger = max(its, mine)
    return (its - mine) / larger if larger > 0 else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Offer:
    """One plan of a menu. It was computed for `objectives`: several if their plans are equal.

    `kind` is its role in the menu, or "asked" if somebody asked for its objective; `number` tells balanced plans apart.
    The tail is the mean cost of the worst 1 - `level` of all runs. `trade_off` is what the plan gains and
    gives up beside the others of its menu, None if it is not compared; `label` is a name somebody gave it. `simplified`
    says what it is beside the best plan; None if it is that plan itself.
    """

    kind: Kind
    objectives: tuple[Objective, ...]
    solution: Solution
    runs: Runs
    level: float = TAIL
    number: int | None = None
    trade_off: TradeOff | None = None
    label: str | None = None
    simplified: Simplified | None = None

    def __repr__(self) -> str:
        return f"{self.name}: {self}"

    def __str__(self) -> str:
        return Teller.of(glossary=self.glossary).offer(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        tell = Teller.of(glossary=self.glossary)
        return html_table(tell.overview_headings(self.level), tell.overview(self)) + show_lines(str(self.plan))

    @property
    def code(self) -> str:
        """Its name for programs, the same in every language: `safest`, `balanced-2`, or the objective asked for."""
        if self.kind == "asked":
            return str(self.objective)
        return self.kind if self.number is None else f"{self.kind}-{self.number}"

    @property
    def name(self) -> str:
        """Its English name, or the name somebody gave it."""
        return Teller.of().name_plan(self)

    @property
    def best(self) -> Offer:
        """The best plan for its objective: itself, or what it was simplified from."""
        return self if self.simplified is None else self.simplified.best

    @cached_property
    def rules(self) -> int:
        """How many rules it is told in."""
        return count_rules(self.solution, self.start) if self.simplified is None else self.simplified.rules

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return self.solution.mdp.unit

    @property
    def glossary(self) -> Glossary:
        """What people read instead of names."""
        return self.solution.mdp.glossary

    @property
    def policy(self) -> Policy:
        """What to do in every situation."""
        return self.solution.policy

    @property
    def start(self) -> int:
        """The state of the person, in which it begins."""
        return self.runs.start

    @property
    def record(self) -> Record | None:
        """The person as filed; None if the MDP was not made for one."""
        return self.solution.mdp.record

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

    @cached_property
    def figures(self) -> OfferFigures:
        """Its figures at the nominal chances."""
        return OfferFigures(self.cost.success, self.mean, self.tail)

    @property
    def worst_figures(self) -> OfferFigures:
        """The worst that each of its figures can be: the nominal ones if it meets no interval."""
        found = self.ranges
        return self.figures if found is None else OfferFigures(found.success.low, found.mean.high, found.tail.high)

    @property
    def judged(self) -> OfferFigures:
        """What it is compared with other plans by: the worst of its figures if it is robust, else the nominal ones."""
        return self.worst_figures if self.is_guarded else self.figures

    @property
    def is_guarded(self) -> bool:
        """Whether it was made for the worst chances, and some of them are intervals: the worst is what it goes by."""
        return self.solution.robust and self.solution.mdp.has_intervals

    @cached_property
    def ranges(self) -> FigureRanges | None:
        """How far its figures can be off if chances lie anywhere in their intervals; None if it meets no interval."""
        return evaluate_ranges(self.solution, self.runs.start, level=self.level)

    @property
    def value(self) -> float:
        """The exact objective of the total cost over all runs, at the nominal chances.

        That at the worst chances, for which a robust plan was made, is `solution.value`.
        """
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
    def ends(self) -> Ends:
        """Every goal at which a run may end if chances lie anywhere in their intervals."""
        return find_possible_ends(self.policy, self.start)

    @cached_property
    def _promised(self) -> tuple[Promises, Verification]:
        return find_promises(self.solution.mdp, self.ends.state)

    @cached_property
    def promises(self) -> Promises:
        """What the plan brings numbers to, by feature and level; empty where the classifier sees levels only."""
        return self._promised[0]

    @cached_property
    def verification(self) -> Verification:
        """How the plan was checked with the classifier, on the record as it was filed."""
        return self._promised[1]

    @cached_property
    def plan(self) -> Plan:
        """The contingent plan: its likely steps."""
        return make_plan(self.solution, self.runs.start, promises=self.promises)

    @cached_property
    def long_plan(self) -> Plan:
        """The contingent plan with more of its likely steps than a terminal has room for."""
        return make_plan(self.solution, self.runs.start, limit=LONG_PLAN, promises=self.promises)

    @cached_property
    def full_plan(self) -> Plan:
        """The contingent plan with every situation that can come up, however rare."""
        return make_plan(self.solution, self.runs.start, limit=None, promises=self.promises)

    @cached_property
    def traces(self) -> Traces:
        """The most probable ways things may go, and one of the worst."""
        return find_traces(self.solution, self.runs.start, level=self.level, runs=self.runs)

    @cached_property
    def gist(self) -> Gist:
        """Its gist, to be told to others: the likely chain, how many are done when, what can go wrong."""
        return find_gist(self.policy, self.runs, is_sure=self.ranges is None)


OFFER = ArgumentKind("a plan of a menu", "take one: recommend(...)[0]", (Offer,))


@takes(offer=OFFER)
def verify(offer: Offer, classifier: object, record: Record) -> Verification:
    """Ask a classifier about every end of a plan, wherever in what it promises the person lands.

    The classifier may be another one than the plan was made with, such as a retrained model, and the record another:
    what has not changed on the way to an end is as filed there.
    """
    return verify_ends(offer.solution.mdp, offer.ends.state, offer.promises, classifier=classifier, record=record)


def make_offer(solution: Solution, *, level: float = TAIL) -> Offer:
    """The offer of a plan that was asked for by its objective."""
    return Offer("asked", (solution.objective,), solution, run_exactly(solution), level)


@dataclass(frozen=True, slots=True, repr=False)
class TradeOff:
    """What a plan gains and gives up beside another (`code` is then "beside"; "beside_worst" at each one's worst case).

    Both plans' `success`, and by how much its mean and its tail are higher; None where a person would not notice the
    difference. A plan that is alone has no `other`: "none" is noticeably better ("none_worst": if estimates are off),
    or "others_give_up", those that are cheaper. With "margin", the other is the plan for the same objective that counts
    on the model in force alone.
    """

    code: Literal["beside", "beside_worst", "none", "none_worst", "others_give_up", "margin"]
    other: Offer | None = None
    success: tuple[float, float] | None = None
    mean: float | None = None
    tail: float | None = None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return Teller.of(glossary=NO_LABELS if self.other is None else self.other.glossary).trade_off(self)
