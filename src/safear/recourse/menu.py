"""The menu: plans for a person side by side, alike ones merged, each with its exact risk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from safear.arguments import FLAG, NUMBER, PROGRESS, WHOLE, ArgumentKind, opens, takes
from safear.errors import ObjectiveError, quote_list
from safear.problem.model import Person, Problem
from safear.problem.terms import Terms
from safear.progress import Progress
from safear.recourse.budgets import exceeds_budget, least_budget
from safear.recourse.card import Card, make_card
from safear.recourse.case import Case, Desk
from safear.recourse.caution import find_margin_costs
from safear.recourse.failure import find_giving_up, gives_up
from safear.recourse.frontier import Frontier, find_frontier
from safear.recourse.notices import NoRecourse, Notice
from safear.recourse.offer import TAIL, Offer, TradeOff, make_offer
from safear.recourse.selection import MOST_PLANS, choose_offers, keep_unbeaten, merge_alike, name_offers
from safear.recourse.simplified import simplify_offer
from safear.recourse.teller import Teller
from safear.risk.distribution import check_level
from safear.risk.objectives import Budget, Mean, MeanStd, Objective, parse_objective
from safear.solvers.episodic import Episodic
from safear.solvers.robust import require_robust
from safear.solvers.solve import Method, choose_method, solve
from safear.texts.notebook import html_paragraphs, html_table

if TYPE_CHECKING:
    import pandas as pd

    from safear.recourse.advice import Advice
    from safear.recourse.case import PersonLike

RARE = 0.5  # if even the likeliest plan succeeds less often, that is said
PAPER_AVERSIONS = (0.0, 0.25, 0.5, 1.0)
BOTH = ("safest", "cheapest")  # what a plan may be at once


@dataclass(frozen=True, eq=False, repr=False)
class Menu:
    """What a person can do. Empty if the decision is already favourable, or if there is no recourse.

    `offers` are the plans, `notices` what a person should know about them. `frontier` has all plans they were chosen
    from, if any, named after their objectives. `level` says which runs count as the worst. `over_budget` is set if
    no plan meets the budget that was asked for.
    """

    case: Case
    offers: tuple[Offer, ...]
    notices: tuple[Notice, ...] = ()
    frontier: tuple[Offer, ...] = ()
    level: float = TAIL
    over_budget: NoRecourse | None = None

    @property
    def problem(self) -> Problem:
        """The problem, with the person's own terms."""
        return self.case.problem

    @property
    def person(self) -> Person:
        """The person, a level per feature."""
        return self.case.person

    @property
    def favourable(self) -> bool:
        """Whether there is nothing to do."""
        return self.case.favourable

    @property
    def no_recourse(self) -> NoRecourse | None:
        """Why no plan reaches the goal, or does so within the budget; None if one does, or none is needed."""
        return self.over_budget or self.case.no_recourse

    @cached_property
    def advice(self) -> Advice | None:
        """What would help somebody whom no plan helps; None for others. It is worked out when it is first asked for."""
        from safear.recourse.advice import advise_on_budget, find_advice  # noqa: PLC0415  # 5.7 ms that most people need not wait

        return find_advice(self.case) if self.over_budget is None else advise_on_budget(self.case)

    @cached_property
    def margin_costs(self) -> tuple[TradeOff, ...]:
        """What each plan gains and gives up beside one that counts on the model in force alone.

        Empty if no margin and no agreement of several models is asked for.
        """
        return find_margin_costs(self.case, self.offers)

    def margin_cost(self, offer: Offer) -> TradeOff | None:
        """That of one of its plans; None if there is no margin, or if the plan is none of them."""
        found = zip(self.offers, self.margin_costs, strict=False)
        return next((cost for one, cost in found if one.solution is offer.solution), None)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self.favourable:
            return Teller.of(glossary=self.problem.glossary).decision(self.problem, favourable=True)
        if self.no_recourse is not None:
            return str(self.no_recourse)
        return "\n".join(repr(offer) for offer in self.offers)

    @property
    def cards(self) -> tuple[Card, ...]:
        """Each plan in short, to be repeated to others: `print(menu.cards[0])`."""
        return tuple(make_card(offer, self.offers) for offer in self.offers)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        if not self.offers:
            return html_paragraphs((self, *self.notices))
        tell = Teller.of(glossary=self.problem.glossary)
        rows = []
        for offer in self:
            figures, *ranges = tell.overview(offer)
            rows += [(*figures, str(offer.trade_off or "")), *((*row, "") for row in ranges)]
        return html_table((*tell.overview_headings(self.level), ""), rows) + html_paragraphs(self.notices)

    def to_frame(self) -> pd.DataFrame:
        """A row per plan: its figures over all runs, `var` and `cvar` at the level of the menu.

        Where a plan meets chances that are intervals, `mean_low` and `mean_high` and so on are its range, else missing.
        """
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        columns = ("plan", "objective", "first_action", "success", "mean", "var", "cvar")
        rows = [
            (o.name, str(o.objective), o.first_action, o.cost.success, o.mean, o.cost.all_runs.var(o.level), o.tail)
            for o in self
        ]
        frame = pd.DataFrame(rows, columns=columns)
        for name, figure in zip(columns[3:], ("success", "mean", "var", "tail"), strict=True):
            for end in ("low", "high"):
                ends = [None if o.ranges is None else getattr(getattr(o.ranges, figure), end) for o in self]
                frame[f"{name}_{end}"] = pd.Series(ends, dtype="Float64")
        return frame

    def __getitem__(self, name: str | int) -> Offer:
        """A plan by its place, its code or its English name."""
        if isinstance(name, int):
            return self.offers[name]
        for offer in self.offers:
            codes = (offer.code, *(BOTH if offer.kind == "cheapest_and_safest" else ()))
            if name in codes or name in map(Teller.of().name_plan, codes):
                return offer
        raise KeyError(f"there is no plan '{name}'; there are {quote_list([offer.name for offer in self.offers])}")

    def __iter__(self) -> Iterator[Offer]:
        return iter(self.offers)

    def __len__(self) -> int:
        return len(self.offers)


OBJECTIVES = ArgumentKind(
    "a list of objectives",
    "give [Mean(), CVaR(0.95), ...] or texts such as 'cvar:0.95'",
    (object,),
    error=ObjectiveError,
    test=opens,
)


@takes(
    objectives=OBJECTIVES.or_none,
    level=NUMBER,
    most=WHOLE,
    robust=FLAG,
    exact=FLAG.or_none,
    progress=PROGRESS.or_none,
)
def recommend(  # noqa: PLR0913  # all but three by name, and each can be left out
    problem: Problem,
    classifier: object = None,
    person: PersonLike | None = None,
    *,
    objectives: Sequence[Objective | str] | Objective | str | None = None,
    method: Method | Episodic | None = None,
    level: float = TAIL,
    most: int = MOST_PLANS,
    robust: bool = False,
    exact: bool | None = None,
    terms: Terms | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Menu:
    """What a person can do: the plans between the cheapest on average and the safest, in few words.

    `classifier` is whatever `as_classifier` takes; None means the problem's own rule. `person` is a record (a mapping,
    a Series, a data frame of one row), a file that holds one, or the name of one of the problem's people; None means
    the first. From the whole frontier (`menu.frontier`) the menu offers at most `most` plans, which differ in ways a
    person would notice. "Safe" refers to the worst 1 - `level` of all runs. If nothing leads to a goal, the menu is
    empty and `menu.no_recourse` says why.

    Each plan of the menu is the one with the fewest rules that was found to be nearly as good as the best one (see
    `nearly`); `offer.simplified` says what that costs, and `offer.best` is the best plan. With `exact`, plans are the
    best ones; those for `objectives` are, unless it is False.

    With `objectives` (objects, or texts such as `"cvar:0.95"`) the menu has one plan for each, named after it. With a
    `method` other than "optimal" and no objectives, it has the method's plans for the paper's aversions 0, 0.25, 0.5
    and 1, with similar ones merged. For `method` and `rng` see `solve`.

    With `robust`, plans are the best against the worst chances within their intervals, and compared by the worst of
    their figures (`offer.judged`); the figures of an offer stay those at the nominal chances, with their ranges beside.
    """
    # All of the input is read before anything is computed, so that a mistake is told at once.
    request = Request.of(objectives, method=method, level=level, most=most, robust=robust, exact=exact)
    return make_menu(Desk.of(problem, classifier).open(person, terms=terms), request, rng=rng, progress=progress)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a case: the menu, or the plans for some objectives; see `recommend`."""

    objectives: tuple[Objective, ...] | None = None
    method: Method | Episodic | None = None
    level: float = TAIL
    most: int = MOST_PLANS
    robust: bool = False
    exact: bool | None = None

    @classmethod
    def of(
        cls,
        objectives: Sequence[Objective | str] | Objective | str | None = None,
        *,
        method: Method | Episodic | None = None,
        level: float = TAIL,
        most: int = MOST_PLANS,
        robust: bool = False,
        exact: bool | None = None,
    ) -> Request:
        """Read what the caller gave; raises mistakes."""
        check_level(level)
        if most < 1:
            raise ObjectiveError.at((), f"a menu of {most} plans is too small; it needs at least 1", code="too_few")
        wanted = None if objectives is None else _read_objectives(objectives)
        for objective in wanted or (MeanStd(0.0),):
            chosen = choose_method(objective, method)
            if robust:
                require_robust(objective if wanted else Mean(), chosen)
        return cls(wanted, method, level, most, robust, exact)

    @property
    def is_simple(self) -> bool:
        """Whether plans may be simpler than the best ones; who names an objective gets the best plan, unless asked."""
        return self.objectives is None if self.exact is None else not self.exact


MENU = Request()


def make_menu(
    case: Case,
    request: Request = MENU,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Menu:
    """The plans of a case: none if there is nothing to do, or no way to do it."""
    if not case.needs_plan:
        from safear.recourse.advice import accepts_levels  # noqa: PLC0415  # as above

        is_luck = case.favourable and accepts_levels(case) is False
        return Menu(case, (), (Notice("as_filed", case.problem),) if is_luck else (), level=request.level)
    if request.objectives is None and request.method in {None, "optimal"}:
        frontier = find_frontier(case.mdp, level=request.level, robust=request.robust, progress=progress)
        offers = choose_offers(frontier, request.most, simplify=simplify_offer if request.is_simple else None)
        notices = [*_warn_of_giving_up(case, frontier, offers), *_warn(case, offers)]
        if any(offer.is_guarded for offer in offers):
            notices.append(Notice("by_worst", case.problem))
        return Menu(case, tuple(offers), tuple(notices), frontier.offers, request.level)
    wanted = request.objectives or tuple(MeanStd(aversion) for aversion in PAPER_AVERSIONS)
    short = [objective for objective in wanted if isinstance(objective, Budget) and _is_short(case, objective)]
    asked = [objective for objective in wanted if objective not in short]
    least = least_budget(case.mdp)[0] if short else 0.0
    if not asked:
        budget = max(objective.limit for objective in short)
        reason = NoRecourse("budget", case.problem, budget=budget, least=least)
        return Menu(case, (), level=request.level, over_budget=reason)
    options: dict[str, Any] = {"method": request.method, "robust": request.robust, "rng": rng, "progress": progress}
    solutions = [solve(case.mdp, objective, **options) for objective in asked]
    if request.objectives is None:
        offers = name_offers(keep_unbeaten(merge_alike(solutions, level=request.level)), case.best_success)
    else:
        offers = [make_offer(solution, level=request.level) for solution in solutions]
        offers = [simplify_offer(offer) for offer in offers] if request.is_simple else offers
    figures = [{"budget": objective.limit, "least": least} for objective in short]
    notices = [*_warn(case, offers), *(Notice("over_budget", case.problem, values) for values in figures)]
    return Menu(case, tuple(offers), tuple(notices), level=request.level)


def _read_objectives(given: Sequence[Objective | str] | Objective | str) -> tuple[Objective, ...]:
    """Objectives as given: one or several, as objects or as texts."""
    several = [given] if isinstance(given, Objective | str) or not isinstance(given, Iterable) else given
    wanted = tuple(parse_objective(item) if isinstance(item, str) else item for item in several)
    if not wanted:
        raise ObjectiveError.at((), "the list of objectives is empty", "leave it out for the menu", code="no_objective")
    return wanted


def _is_short(case: Case, objective: Budget) -> bool:
    """Whether a budget is too small for any plan."""
    return bool(exceeds_budget(case.mdp, objective, np.array([case.mdp.locate()]))[0])


def _warn(case: Case, offers: Sequence[Offer]) -> Iterator[Notice]:
    """Warn of plans that succeed far less often than the person could, of poor chances, and of rounded costs."""
    problem, best = case.problem, case.best_success
    if best < RARE:
        yield Notice("unlikely", problem, {"success": best})
    for number, offer in enumerate(offers, start=1):
        if gives_up(offer.cost.success, best):
            yield Notice("gives_up", problem, {"plan": number, "success": offer.cost.success, "possible": best})
    if case.mdp.cost_error and problem.cost_resolution is not None:
        resolution = float(problem.cost_resolution)
        yield Notice("rounded", problem, {"resolution": resolution, "error": float(case.mdp.cost_error)})
    if not case.mdp.has_intervals and any(offer.solution.robust for offer in offers):
        yield Notice("no_intervals", problem)
    units = [offer.solution.search_unit for offer in offers if offer.solution.search_unit is not None]
    if units:
        yield Notice("searched_rounded", problem, {"resolution": max(units)})


def _warn_of_giving_up(case: Case, frontier: Frontier, offers: Sequence[Offer]) -> Iterator[Notice]:
    """Warn if a plan that is not offered, because it gives up, is cheaper than all that are."""
    cheapest = frontier.offers[0]
    if not any(offer.best.solution is cheapest.solution for offer in offers):
        found = find_giving_up(case.mdp)
        if found is not None:
            values = {"success": found.success, "possible": found.possible, "failure_cost": found.failure_cost}
            values |= {} if found.enough is None else {"enough": found.enough}
            yield Notice("cheaper_gives_up", case.problem, values)
