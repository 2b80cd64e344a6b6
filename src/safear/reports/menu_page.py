"""The letter to the person: the decision, the plan that was chosen, what it rests on, and the other plans in short.

All words are those of the catalogue of a language; names are as the problem has them. Figures with all their digits are
in a file of their own (`figures_file`) under the same reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from safear.problem.model import Problem
from safear.recourse.advice_teller import AdviceTeller
from safear.recourse.caution import find_caution
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.plan_teller import PlanTeller, StepText
from safear.recourse.teller import Teller
from safear.reports.audit_tables import Cell, Table
from safear.reports.basis import Basis
from safear.reports.hundred import Hundred, tell_hundred
from safear.reports.page import Page, render
from safear.reports.reference import choose_offer, name_reference
from safear.reports.schedule import make_schedule
from safear.reports.summary import tell_summary
from safear.texts import Texts
from safear.texts.names import capital, show_name

PLAIN = re.compile(r"[\w .:/-]+")  # references that can stand in a style sheet, and so on the foot of every page
MOST_STEPS = 8  # of a plan on the first pages; the others stand at the end


@dataclass(frozen=True, slots=True)
class PlanPart:
    """What the letter says of the plan: its main route, what to do if things go differently, and how it was made."""

    title: str
    summary: tuple[str, ...]
    route: tuple[StepText, ...]
    detours: tuple[StepText, ...]
    more_steps: tuple[StepText, ...]
    done: dict[int, str]
    notes: tuple[str, ...]
    hundred: Hundred


def report_menu(
    menu: Menu,
    chosen: Offer | str | int | None = None,
    *,
    language: str = "en",
    original: Problem | None = None,
    contact: str | None = None,
    dated: date | None = None,
    reference: str | None = None,
) -> Page:
    """The letter about a plan of a menu, for the person, in one of `safear.texts.languages()`.

    `chosen` is the plan, by its place (from 0), its name or itself; None: the first, and the letter says that nobody
    has chosen yet. `original` is the problem before their own terms were put in, so that these can be marked; `contact`
    says where to ask (None: as the problem's `provider` says). `dated` is the day of the letter, on which the plan
    would begin; a menu knows none. `reference` is one of your own (None: made from the content). The same arguments
    give the same bytes.
    """
    offer = choose_offer(menu, chosen)
    original = menu.case.original if original is None else original
    writer = _Writer(menu, offer, Teller.of(language, menu.problem.glossary), dated, original)
    basis = Basis(menu, original, writer.teller)
    marked = name_reference(menu, offer, dated=dated, given=reference)
    title, lead = writer.title, writer.tell_lead(is_chosen=chosen is not None)
    return render(
        "menu.html.jinja",
        writer.texts,
        summary=(title, lead),
        say=writer.texts.part("report"),
        tell=writer.texts,
        title=title,
        about=writer.teller.text(menu.problem.title),
        sender=writer.teller.text(menu.problem.provider.name),
        reference=marked,
        mark=marked if PLAIN.fullmatch(marked) else "",
        dated=None if dated is None else writer.texts.date(dated),
        lead=lead,
        favourable=menu.favourable,
        plan=None if offer is None else writer.make_plan(offer),
        others=writer.make_others(),
        goal=writer.goal,
        why="" if menu.no_recourse is None else writer.teller.no_recourse(menu.no_recourse),
        advice=[] if menu.advice is None else AdviceTeller(menu.advice, writer.teller).lines(to_person=True),
        table=None if offer is None else basis.make_table([offer, *menu]),
        considered=writer.texts.join([writer.teller.action(action.name) for action in menu.problem.actions]),
        ruled_out=writer.texts.join(basis.ruled_out),
        person=basis.list_person(),
        rules=[*basis.list_rules(), *writer.tell_check(), *basis.tell_fixed()],
        notices=list(map(writer.teller.notice, menu.notices)),
        contact=writer.list_contact(contact),
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """Says what a menu says in a language; `offer` is the plan that the letter is about.

    `original` is the problem without the person's own terms.
    """

    menu: Menu
    offer: Offer | None
    teller: Teller
    dated: date | None
    original: Problem

    @property
    def texts(self) -> Texts:
        return self.teller.texts

    @property
    def goal(self) -> str:
        return self.teller.quoted_goal(self.menu.problem)

    @property
    def title(self) -> str:
        return self.teller.decision(self.menu.problem, favourable=self.menu.favourable)

    def tell_lead(self, *, is_chosen: bool) -> str:
        """What follows from the decision, and which plan the letter is about."""
        say = self.texts.part("report.lead")
        if self.menu.favourable:
            return say("accepted")
        if self.offer is None:
            reason = self.menu.no_recourse
            return say("none", goal=self.goal if reason is None else self.teller.goal_missed(reason))
        if not self._others:
            return say("only")
        plan = self.texts.quote(self.teller.describe_plan(self.offer))
        return say("chosen" if is_chosen else "first", plan=plan, count=len(self.menu))

    @property
    def _others(self) -> list[Offer]:
        """The plans of the menu that the letter is not about."""
        return [other for other in self.menu if self.offer is None or other.solution is not self.offer.solution]

    def make_plan(self, offer: Offer) -> PlanPart:
        """The plan, step by step."""
        told = PlanTeller(offer.long_plan, self.teller)
        steps = tuple(told.steps())
        # A single step more would be a reference to the end of the letter for nothing.
        shown = MOST_STEPS if len(steps) > MOST_STEPS + 1 else len(steps)
        schedule = make_schedule(offer.long_plan, self.menu.problem, self.dated, original=self.original)
        days = {} if schedule is None else schedule.done
        done = {step.number: self._tell_done(days[step.last]) for step in steps if step.last in days}
        dates = [] if schedule is None else [self.texts("report.steps.dates", date=self.texts.date(schedule.begins))]
        return PlanPart(
            self._name(offer),
            (*tell_summary(offer, self.menu, self.teller), *self._tell_trade_off(offer)),
            tuple(step for step in steps[:shown] if step.is_main),
            tuple(step for step in steps[:shown] if not step.is_main),
            steps[shown:],
            done,
            (
                *dates,
                self.texts("report.summary.reading", worst=capital(self.teller.worst(offer.level))),
                *told.notes(),
                *self._refer(steps[shown:]),
                *self._tell_simplified(offer),
                *self._tell_margin(offer),
                *self._tell_caution(offer),
            ),
            tell_hundred(offer, self.teller),
        )

    def _name(self, offer: Offer) -> str:
        """What stands above the plan: its name and, if the menu has others, its number there."""
        name, places = self.teller.describe_plan(offer), [other.solution is offer.solution for other in self.menu]
        if True not in places or len(places) == 1:
            return self.texts("report.plan", plan=name)
        number = self.texts.whole(places.index(True) + 1)
        return self.texts("report.plan_numbered", plan=name, number=number, count=len(places))

    def make_others(self) -> Table | None:
        """The other plans, a row each; None if there are none."""
        others, say = self._others, self.texts.part("report.others")
        if not others:
            return None
        headings = ("plan", "first", "mean", "tail", "success")
        values = {"goal": self.goal, "worst": self.teller.worst(self.menu.level)}
        numbers = {id(offer): number for number, offer in enumerate(self.menu, start=1)}
        rows = tuple(self._make_row(numbers[id(other)], other) for other in others)
        is_off = any(cell.below for row in rows for cell in row)
        note = say("note_off") if is_off else say("note")
        cells = tuple(Cell(say(name, **values)) for name in headings)
        return Table(say("title", count=len(others)), cells, rows, 2, note)

    def _make_row(self, number: int, offer: Offer) -> tuple[Cell, ...]:
        spans = self.teller.spans(offer)
        off = (spans.mean, spans.tail, spans.success)
        figures = self.teller.figures(offer, ("", "", ""))
        return (
            Cell(self.teller.heading(number, offer, alone=False)),
            Cell(self.teller.action(offer.first_action)),
            *(Cell(figure.value, below=span) for figure, span in zip(figures, off, strict=True)),
        )

    def tell_check(self) -> list[str]:
        """How the plan was checked; where only levels are seen, that goes without saying."""
        if self.offer is None or not self.menu.case.sight:
            return []
        return [self.teller.verification(self.offer.verification)]

    def list_contact(self, given: str | None) -> list[str]:
        """Whom to ask, as given or as the problem says, and where to appeal."""
        told = self.teller.provider(self.menu.problem)
        appeal = told[-1:] if self.menu.problem.provider.appeal else []
        return told if given is None else [show_name(given), *appeal]

    def _tell_done(self, day: date) -> str:
        return self.texts("report.steps.done", date=self.texts.date(day))

    def _tell_trade_off(self, offer: Offer) -> list[str]:
        """What the plan gains and gives up beside another of the menu."""
        return [] if offer.trade_off is None else [self.teller.trade_off(offer.trade_off)]

    def _tell_simplified(self, offer: Offer) -> list[str]:
        """What it costs to be simple; the best plan does without."""
        return [] if offer.simplified is None else [self.teller.simplified(offer.simplified)]

    def _tell_margin(self, offer: Offer) -> list[str]:
        """What it costs to count on more than today's model, if that is asked for."""
        found = self.menu.margin_cost(offer)
        return [] if found is None else [self.teller.trade_off(found)]

    def _tell_caution(self, offer: Offer) -> list[str]:
        """What it costs to be careful; plans that are not robust do without."""
        found = find_caution(offer)
        return [] if found is None else [found.tell(self.teller)]

    def _refer(self, steps: Sequence[StepText]) -> list[str]:
        """Where the steps are that have no room here."""
        say = self.texts.part("plan_notes")
        return [say("at_the_end", first=steps[0].number, last=steps[-1].last)] if steps else []
