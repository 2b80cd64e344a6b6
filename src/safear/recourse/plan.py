"""A policy as a contingent plan: what to do, what may happen, and what to do then.

A step of the plan is a situation together with what is done in it. Where a state asks for one thing now and for another
then, the situation says how many tries were made before, or what has been spent. How probable it is to go from one step
to the next is added up exactly over all times, so a step can say where each of its outcomes leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from safear.evaluation.extremes import Range
from safear.problem.glossary import NO_LABELS, Glossary
from safear.recourse.level_changes import Changes
from safear.recourse.plan_teller import PlanTeller
from safear.recourse.reasons import Reason
from safear.recourse.step_bounds import bound_working
from safear.recourse.teller import Teller
from safear.recourse.turns import RARE, PlanTurn, find_turns
from safear.texts.notebook import show_lines

if TYPE_CHECKING:
    import pandas as pd

Extent = Literal["nothing", "exactly", "at_most", "at_least", "between"]  # what is said of an amount or a count
Hope = Literal["yes", "not_with_this_plan", "none"]


class Tries(NamedTuple):
    """How often an action has been tried."""

    action: str
    times: int


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What comes after an outcome, with its share of the cases in which the outcome happens.

    `since` and `until` are after how many tries in all that first and last is so, and `spent` the least and the most
    that has been spent by then (None if the policy does not look at it). `share_if_off` is the share if what nominally
    never happens does so as often as its interval allows: the same where everything does happen.
    `step` is the number of a step of the plan, None where there is none: `kind` is then "goal", "out of time",
    "stuck" (no action is left), "lost" (no goal can be reached any more), "given up" (not with this plan) or
    "not shown".
    """

    kind: str
    step: int | None
    share: float
    share_if_off: float
    since: int
    until: int
    spent: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """One outcome of a step: how likely, what it costs, what it changes, and what comes next, in order of time.

    `low` and `high` are the least and the most that its chance may be: it may happen though its chance is 0.
    `label` is what the problem calls it, if it does; `changes` are in order of importance.
    """

    chance: float
    low: float
    high: float
    works: bool
    cost: float
    follow_ups: tuple[FollowUp, ...]
    label: str | None = None
    changes: Changes = ()


@dataclass(frozen=True, slots=True, repr=False)
class PlanStep:
    """A situation and what to do in it. `visits` is how often, on average, a run comes here.

    `person` has the levels of the situation, `shown` those that are not hidden.
    `changes` are the levels in which the situation differs from the start. `made` (tries of any kind), `steps_left` and
    `spent` (in `unit`; None if the policy does not look at it) are the least and the most of these with which a run
    comes here; `says_made` and `says_spent` are how the situation tells this step from others by them (None: not).
    `entered` is how many tries were made whenever a run comes here from elsewhere, if these are always as many.
    `is_main` is whether a run comes here if all goes well; if not, `reason` is why it does no longer do what it did
    before in the same situation, if it does not and that can be said.
    `tries` are those of limited actions, where they tell the situation from another.
    `hope`: whether a goal can still be reached from here, or only not with this plan, which goes on as plans do.
    `glossary` has the labels of what is named here.
    """

    number: int
    person: dict[str, str]
    shown: dict[str, str]
    changes: Changes
    action: str
    visits: float
    branches: tuple[Branch, ...]
    made: tuple[int, int]
    steps_left: tuple[int, int]
    entered: int | None = None
    spent: tuple[float, float] | None = None
    says_made: Extent | None = None
    says_spent: Extent | None = None
    is_main: bool = True
    reason: Reason | None = None
    tries: tuple[Tries, ...] = ()
    unit: str = "units"
    hope: Hope = "yes"
    glossary: Glossary = NO_LABELS

    @property
    def chance(self) -> float:
        """The probability that the action works."""
        return sum(branch.chance for branch in self.branches if branch.works)

    @property
    def within(self) -> Range:
        """The least and the most that this may be."""
        return bound_working(self.branches)

    @property
    def cost(self) -> float:
        """What the action costs if it works."""
        return next((branch.cost for branch in self.branches if branch.works), self.branches[0].cost)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return Teller.of(glossary=self.glossary).step(self)


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """A contingent plan: steps in the order in which they come if all goes well, then the others as these lead there.

    `goal` is the problem's name for the favourable decision, if it has one; `glossary` has its labels. If it
    `is_whole`, no step and no way on is too rare to be told. `repeating` are the numbers of the steps that are one rule
    with the step before.
    """

    steps: tuple[PlanStep, ...]
    goal: str | None
    hidden_steps: int = 0
    glossary: Glossary = NO_LABELS
    is_whole: bool = False
    repeating: frozenset[int] = frozenset()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return show_lines(str(self))

    def to_frame(self) -> pd.DataFrame:
        """A row per step and outcome: when to do what, how that may end, and which step most often comes then.

        `then` is the number of that step, or how it ends: "goal", "out of time", "stuck", "lost".
        """
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        tell = Teller.of(glossary=self.glossary)
        columns = ("step", "when", "action", "visits", "works", "outcome", "chance", "low", "high", "cost", "then")
        rows = []
        for step in self.steps:
            for branch in step.branches:
                likeliest = max(branch.follow_ups, key=lambda item: (item.share, item.share_if_off))
                then = likeliest.kind if likeliest.step is None else likeliest.step
                chances = (branch.chance, branch.low, branch.high)
                ending = (branch.works, tell.outcome(branch), *chances, branch.cost, then)
                rows.append((step.number, tell.situation(step), step.action, step.visits, *ending))
        return pd.DataFrame(rows, columns=columns)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def find_turns(self, branch: Branch, step: PlanStep) -> list[PlanTurn]:
        """The ways on from an outcome of a step that are told, in order."""
        return find_turns(branch, step, rare=0.0 if self.is_whole else RARE)

    @property
    def depends_on_spent(self) -> bool:
        """Whether one must know what has been spent to follow it."""
        counted = {step.number for step in self.steps if step.says_spent is not None}
        turns = [turn for step in self.steps for branch in step.branches for turn in self.find_turns(branch, step)]
        return any(turn.code == "spent" or (turn.code == "step" and turn.follow_up.step in counted) for turn in turns)

    def lines(self, language: str = "en") -> list[str]:
        """The plan in plain words, a line each."""
        return PlanTeller(self, Teller.of(language, self.glossary)).lines()
