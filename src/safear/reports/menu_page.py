"""The page about a menu, for the person: the decision, the plans side by side, each step by step, and what it rests on.

All words are those of the catalogue of a language; names are as the problem has them.
"""

from __future__ import annotations

from dataclasses import dataclass

from safear.problem.model import Problem
from safear.recourse.advice_teller import AdviceTeller
from safear.recourse.caution import find_caution
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.plan_teller import PlanTeller, StepText
from safear.recourse.teller import Difference, Figure, Teller
from safear.reports.appendix import Sources
from safear.reports.basis import Basis
from safear.reports.hundred import Hundred, tell_hundred
from safear.reports.menu_appendix import exact_menu_tables, list_menu_origin
from safear.reports.page import Page, render
from safear.reports.ways import WayText, find_longest, tell_keys, tell_rest, tell_ways
from safear.texts import Texts
from safear.texts.names import capital, show_name

MOST_STEPS = 8  # of a plan in the main part; the others are in the appendix


@dataclass(frozen=True, slots=True)
class PlanPart:
    """What the page says of one plan."""

    number: int
    heading: str
    first: str
    figures: tuple[Figure, ...]
    beside: str
    differences: tuple[Difference, ...]
    steps: tuple[StepText, ...]
    more_steps: tuple[StepText, ...]
    notes: tuple[str, ...]
    hundred: Hundred
    ways: tuple[WayText, ...]
    rest: tuple[str, str] | None


def report_menu(
    menu: Menu,
    *,
    language: str = "en",
    original: Problem | None = None,
    contact: str | None = None,
    sources: Sources | None = None,
    dated: str | None = None,
) -> Page:
    """The page about a menu, for the person, in one of `safear.texts.languages()`.

    `original` is the problem before their own terms were put in, so that these can be marked; `contact` says where to
    ask (None: as the problem's `provider` says). `sources` says where the input came from and `dated` when: a menu
    knows neither. The same arguments give the same bytes.
    """
    writer = _Writer(menu, Teller.of(language, menu.problem.glossary))
    basis = Basis(menu, menu.case.original if original is None else original, writer.teller)
    plans = writer.make_plans()
    origin = list_menu_origin(menu, writer.texts, sources=sources or Sources(), dated=dated)
    return render(
        "menu.html.jinja",
        writer.texts,
        summary=(writer.title, writer.lead),
        say=writer.texts.part("report"),
        tell=writer.texts,
        title=writer.title,
        about=writer.teller.text(menu.problem.title),
        dated=dated and show_name(dated),
        lead=writer.lead,
        favourable=menu.favourable,
        plans=plans,
        keyed=next((plan.number for plan in plans if plan.ways), None),
        ordered=bool(menu.frontier) and len(menu) > 1,
        worst=capital(writer.teller.worst(menu.level)),
        keys=tell_keys(writer.goal, writer.teller),
        goal=writer.goal,
        why="" if menu.no_recourse is None else writer.teller.no_recourse(menu.no_recourse),
        advice=[] if menu.advice is None else AdviceTeller(menu.advice, writer.teller).lines(to_person=True),
        table=basis.make_table() if menu.offers else None,
        considered=writer.texts.join([writer.teller.action(action.name) for action in menu.problem.actions]),
        ruled_out=writer.texts.join(basis.ruled_out),
        person=basis.list_person(),
        fixed=writer.texts.join(basis.list_fixed()),
        rules=basis.list_rules(),
        notices=list(map(writer.teller.notice, menu.notices)),
        contact=[show_name(contact)] if contact else writer.teller.provider(menu.problem),
        origin=origin,
        exact=list(exact_menu_tables(menu, writer.texts)),
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """Says what a menu says in a language."""

    menu: Menu
    teller: Teller

    @property
    def texts(self) -> Texts:
        return self.teller.texts

    @property
    def goal(self) -> str:
        return self.teller.quoted_goal(self.menu.problem)

    @property
    def title(self) -> str:
        return self.teller.decision(self.menu.problem, favourable=self.menu.favourable)

    @property
    def lead(self) -> str:
        if self.menu.favourable:
            return self.texts("report.lead.accepted")
        if self.menu.no_recourse is not None:
            return self.texts("report.lead.none", goal=self.teller.goal_missed(self.menu.no_recourse))
        return self.texts("report.lead.plans", count=len(self.menu))

    @property
    def within(self) -> str:
        return self.teller.within(self.menu.problem)

    def make_plans(self) -> list[PlanPart]:
        longest = find_longest(self.menu)
        return [self._make_plan(number, offer, longest) for number, offer in enumerate(self.menu, start=1)]

    def _make_plan(self, number: int, offer: Offer, longest: float) -> PlanPart:
        plan = PlanTeller(offer.long_plan, self.teller)
        steps = tuple(plan.steps())
        # A single step more would be a reference to the appendix for nothing.
        shown = MOST_STEPS if len(steps) > MOST_STEPS + 1 else len(steps)
        found = offer.trade_off
        return PlanPart(
            number,
            self.teller.heading(number, offer, alone=len(self.menu) == 1),
            steps[0].action,
            self._list_figures(offer),
            "" if found is None else self.teller.beside(found),
            () if found is None else tuple(self.teller.differences(found)),
            steps[:shown],
            steps[shown:],
            (
                *plan.notes(),
                *self._refer(shown, len(steps)),
                *self._tell_simplified(offer),
                *self._tell_margin(offer),
                *self._tell_check(offer),
                *self._tell_caution(offer),
            ),
            tell_hundred(offer, self.teller),
            tuple(tell_ways(offer, longest, self.teller)),
            tell_rest(offer, self.teller),
        )

    def _list_figures(self, offer: Offer) -> tuple[Figure, ...]:
        say, worst = self.texts.part("report.compare"), self.teller.worst(offer.level)
        names = (say("mean"), say("tail", worst=worst), say("success", goal=self.goal, within=self.within))
        return self.teller.figures(offer, names)

    def _tell_simplified(self, offer: Offer) -> list[str]:
        """What it costs to be simple; the best plan does without."""
        return [] if offer.simplified is None else [self.teller.simplified(offer.simplified)]

    def _tell_margin(self, offer: Offer) -> list[str]:
        """What it costs to count on more than today's model, if that is asked for."""
        found = self.menu.margin_cost(offer)
        return [] if found is None else [self.teller.trade_off(found)]

    def _tell_check(self, offer: Offer) -> list[str]:
        """How a plan was checked; where only levels are seen, that goes without saying."""
        return [self.teller.verification(offer.verification)] if self.menu.case.sight else []

    def _tell_caution(self, offer: Offer) -> list[str]:
        """What it costs to be careful; plans that are not robust do without."""
        found = find_caution(offer)
        return [] if found is None else [found.tell(self.teller)]

    def _refer(self, shown: int, steps: int) -> list[str]:
        """Where the steps are that have no room here."""
        return [self.texts("plan_notes.in_appendix", first=shown + 1, last=steps)] if steps > shown else []
