"""What the advice hangs on: how far each chance and cost can move before it changes, and what each does to the figures.

Chances in a problem file are guesses. For each plan of a menu this says which of them matter: the nearest value of each
at which another first step would be better (`flips`), and by how much success, mean and tail of the plan move with it
(`derivatives`, `adjoint`), so that a provider sees which programme would help most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from safear.arguments import NUMBER, PROGRESS, takes
from safear.errors import ObjectiveError
from safear.evaluation.adjoint import Derivatives, differentiate
from safear.mdp.compiled import CompiledMDP
from safear.mdp.parameters import Parameter, find_parameters
from safear.problem.model import Problem
from safear.problem.terms import Terms
from safear.progress import Progress
from safear.recourse.choices import find_plan_leeway
from safear.recourse.flips import find_equals, find_leeway
from safear.recourse.march import TOLERANCE, Direction, Flip, Leeway
from safear.recourse.menu import Menu, recommend
from safear.recourse.offer import OFFER, TAIL, Offer
from safear.recourse.sensitivity_teller import SensitivityTeller, step_of
from safear.risk.objectives import Objective
from safear.texts.notebook import html_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from safear.recourse.case import PersonLike

DIRECTIONS: tuple[Direction, ...] = ("down", "up")


@dataclass(frozen=True, eq=False, repr=False)
class PlanSensitivity:
    """What one plan hangs on: a leeway per parameter and direction, and derivatives per parameter.

    `leeways` are up to where another first step is better, `choices` up to where another plan of the menu, as it is, is
    better for the objective of this one. `equals` are other first steps that are exactly as good as things stand.
    """

    offer: Offer
    leeways: tuple[Leeway, ...]
    choices: tuple[Leeway, ...]
    derivatives: tuple[Derivatives, ...]
    equals: tuple[str, ...]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n".join(SensitivityTeller.of(glossary=self.offer.glossary).lines(self))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        tell = SensitivityTeller.of(glossary=self.offer.glossary)
        return html_table(tell.flip_headings(), tell.flip_rows(self)) + html_table(
            tell.effect_headings(self), tell.effect_rows(self)
        )

    @property
    def problem(self) -> Problem:
        """The problem, with the person's own terms."""
        mdp = self.offer.solution.mdp
        if not isinstance(mdp, CompiledMDP):
            raise TypeError(mdp)  # arrays made by hand have no parameters
        return mdp.problem

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        """Where the advice changes, nearest first: 0.1 of a chance counts as much as a tenth of a cost."""
        return _nearest_first(self.leeways)

    @cached_property
    def rivals(self) -> tuple[Flip, ...]:
        """Where another plan of the menu is better for the objective of this one, nearest first."""
        return _nearest_first(self.choices)

    @cached_property
    def effects(self) -> tuple[Derivatives, ...]:
        """The derivatives, those that move the mean most (per ten percentage points, per unit of cost) first."""
        moving = [item for item in self.derivatives if item.mean or item.success or any(item.tail)]
        return tuple(sorted(moving, key=lambda item: -abs(item.mean) * step_of(item.parameter)))

    def leeway(self, parameter: Parameter, direction: Direction) -> Leeway:
        """How far a parameter can move in a direction before another first step is better."""
        return next(item for item in self.leeways if item.parameter is parameter and item.direction == direction)

    def leeway_of(self, flip: Flip) -> Leeway:
        """The leeway that a flip ends."""
        return next(item for item in (*self.leeways, *self.choices) if item.flip is flip)


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """What the plans of a menu hang on, in its order; none if there is nothing to do or no way to do it."""

    menu: Menu
    parameters: tuple[Parameter, ...]
    plans: tuple[PlanSensitivity, ...]
    tolerance: float

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return "\n\n".join(str(plan) for plan in self.plans) or str(self.menu)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return "".join(plan._repr_html_() for plan in self.plans) or self.menu._repr_html_()

    def __getitem__(self, name: str | int) -> PlanSensitivity:
        """That of a plan by its place, its code or its English name."""
        if isinstance(name, int):
            return self.plans[name]
        offer = self.menu[name]
        return next(plan for plan in self.plans if plan.offer is offer)

    def __iter__(self) -> Iterator[PlanSensitivity]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    def to_frame(self) -> pd.DataFrame:
        """A row per plan and parameter: how far it can move, what is done first then, and the derivatives."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        rows = []
        for plan in self.plans:
            for item in plan.derivatives:
                parameter = item.parameter
                row: dict[str, object] = {
                    "plan": plan.offer.name,
                    "place": ".".join(map(str, parameter.path)),
                    "value": float(parameter.value),
                }
                for direction in DIRECTIONS:
                    leeway = plan.leeway(parameter, direction)
                    row |= {
                        f"{direction}_to": None if leeway.flip is None else leeway.flip.value,
                        f"{direction}_action": None if leeway.flip is None else leeway.flip.action,
                        f"{direction}_certain_to": leeway.certain_to,
                    }
                rows.append(row | {"success": item.success, "mean": item.mean, "cvar": item.tail.up})
        return pd.DataFrame(rows)


@takes(tolerance=NUMBER, progress=PROGRESS.or_none)
def sensitivity(  # noqa: PLR0913  # all but three by name, and each can be left out
    problem: Problem,
    classifier: object = None,
    person: PersonLike | None = None,
    *,
    objectives: Sequence[Objective | str] | Objective | str | None = None,
    plan: str | None = None,
    level: float = TAIL,
    exact: bool | None = None,
    terms: Terms | None = None,
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
) -> Sensitivity:
    """What would change the advice: for each plan of the menu (or one, by name), or for each objective.

    Problem, classifier, person, objectives, level, exact and terms are those of `recommend`. Chances are tried in
    steps of `tolerance`, and costs in steps of about ten times that share of what they are.
    """
    menu = recommend(problem, classifier, person, objectives=objectives, level=level, exact=exact, terms=terms)
    return examine_menu(menu, plan, tolerance=tolerance, progress=progress)


def _pick(menu: Menu, plan: str | Offer) -> Offer:
    if isinstance(plan, str):
        try:
            return menu[plan]
        except KeyError as error:
            raise ObjectiveError.at(("plan",), error.args[0], "name one of them", code="unknown_name") from None
    OFFER.require(plan, "plan")
    return plan


def examine_menu(
    menu: Menu, plan: str | Offer | None = None, *, tolerance: float = TOLERANCE, progress: Progress | None = None
) -> Sensitivity:
    """The same for the plans of a menu, or one of them."""
    if not 1e-6 <= tolerance <= 0.1:
        cause = f"the tolerance {tolerance} is not between 0.000001 and 0.1"
        raise ObjectiveError.at(("tolerance",), cause, code="out_of_range")
    offers = menu.offers if plan is None else (_pick(menu, plan),)
    for offer in offers:
        if offer.solution.method != "optimal":
            cause = f"a plan by method '{offer.solution.method}' is not the best one, so nothing says when it changes"
            raise ObjectiveError.at((), cause, "use method 'optimal'", code="unsuited")
        if offer.solution.robust:
            cause = "a robust plan is the best one against the worst chances, whatever the nominal ones are"
            raise ObjectiveError.at((), cause, "ask without 'robust'; its ranges tell what chances do", code="unsuited")
    mdp = menu.case.mdp
    parameters = find_parameters(mdp) if isinstance(mdp, CompiledMDP) and offers else ()
    total, done = len(offers) * len(parameters) * len(DIRECTIONS), 0
    found = []
    for offer in offers:
        leeways, choices = [], []
        for parameter in parameters:
            for direction in DIRECTIONS:
                # A simple plan begins as the best one does: when that changes is what a flip tells.
                leeways.append(find_leeway(offer.best.solution, parameter, direction, tolerance=tolerance))
                if len(menu) > 1:
                    choices.append(find_plan_leeway(offer, menu.offers, parameter, direction, tolerance=tolerance))
                done += 1
                if progress is not None:
                    progress(done, total)
        derivatives = differentiate(offer.solution, parameters, level=offer.level)
        equals = find_equals(offer.best.solution)
        found.append(PlanSensitivity(offer, tuple(leeways), tuple(choices), derivatives, equals))
    return Sensitivity(menu, parameters, tuple(found), tolerance)


def _nearest_first(leeways: Iterable[Leeway]) -> tuple[Flip, ...]:
    found = [leeway.flip for leeway in leeways if leeway.flip is not None]
    return tuple(sorted(found, key=lambda flip: flip.distance))
