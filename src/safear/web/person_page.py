"""The person's page: from a form to what is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from safear.errors import ClassifierError, InputError, Mistake
from safear.plans.durability import holds_today
from safear.plans.resume import resume
from safear.plans.saved_plan import SavedPlan
from safear.plots import dots, traces
from safear.problem.model import Problem
from safear.problem.terms import apply_terms
from safear.recourse.advice_teller import AdviceTeller
from safear.recourse.case import Desk
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.plan_teller import PlanTeller
from safear.recourse.teller import Teller
from safear.recourse.walk import walk
from safear.reports.basis import Basis
from safear.reports.hundred import tell_hundred
from safear.reports.ways import find_longest, tell_keys, tell_rest, tell_ways
from safear.texts import Texts
from safear.web.answers import read_saved
from safear.web.asked import Asked
from safear.web.error_pages import FailureText
from safear.web.examples import fill_example, keep_example, name_example
from safear.web.forms import find_empty, find_mistakes, read_record
from safear.web.onward import go_on_from, read_onward
from safear.web.service import Service
from safear.web.stops import Stop, find_stops, stop_at
from safear.web.terms_form import is_ranked, read_terms
from safear.web.terms_view import show_actions
from safear.web.views import (
    Outcome,
    PersonView,
    Pictures,
    PlansView,
    link_mistakes,
    list_mistakes,
    name_stop,
    show_cards,
    show_fields,
    show_slider,
    show_walk,
    tell_mistakes,
)
from safear.web.work import Deadline

MOST_EXAMPLES = 6  # that are offered; who wants to see more asks the analyst


def make_view(service: Service, asked: Asked, texts: Texts, *, deadline: Deadline) -> PersonView:
    """What is shown for a form. Mistakes in it are shown too."""
    problem, desk = service.problem, service.desk
    if asked.wish == "fill":
        asked = fill_example(desk, asked, texts)
    teller = Teller(texts).about(problem)
    if asked.saved_plan:
        try:
            plan = read_saved(asked.saved_plan)
            if asked.wish != "here":
                return _show_saved(_Frame(desk, asked, teller), plan)
            asked = go_on_from(desk, plan, asked, texts=texts)
        except InputError as error:
            return _Frame(desk, asked, teller).refuse(error)
    frame = _Frame(desk, asked, teller)
    found = find_mistakes(desk, asked, texts=texts)
    empty = find_empty(found)
    if (asked.is_unfinished and empty) or not (found or read_record(desk, asked, texts=texts)):
        return frame.invite({name: item for name, item in found.items() if name not in empty})
    if wrong := tell_mistakes(found, texts):
        return frame.show("wrong", texts("web.decision.wrong"), texts("web.decision.wrong_lead"), wrong=wrong)
    try:
        if asked.wish == "here":
            asked = _move_here(service, asked, texts, deadline=deadline)
            frame = _Frame(desk, asked, teller)
        menu = answer_form(service, asked, texts, deadline=deadline)
        headline = teller.decision(problem, favourable=menu.favourable)
        notices = list(map(teller.notice, menu.notices))
        if menu.no_recourse is not None:
            deadline.check()
            advice = [] if menu.advice is None else AdviceTeller(menu.advice, teller).lines(to_person=True)
            return frame.show("none", headline, teller.no_recourse(menu.no_recourse), notices=notices, advice=advice)
        if menu.favourable:
            return frame.show("yes", headline, texts("web.decision.yes_lead"), notices=notices)
        deadline.check()
        plans = _show_plans(menu, asked, teller, problem)
        return frame.show("no", headline, texts("web.decision.no_lead"), notices=notices, plans=plans)
    except ClassifierError:  # not the person's mistake
        raise
    except InputError as error:
        return frame.refuse(error)


def _show_saved(frame: _Frame, plan: SavedPlan) -> PersonView:
    """A saved plan, and where somebody is along it: from its file alone, but for whether it still holds."""
    teller = frame.teller.speaking(plan.policy.mdp.glossary)
    name, told = teller.name_plan(plan.form.plan), PlanTeller(plan.plan, teller)
    shown = PlansView(
        slider=None,
        weight=1.0 if frame.asked.weight is None else frame.asked.weight,
        chosen=name,
        steps=told.steps(),
        notes=tuple(told.notes()),
        walk=show_walk(resume(plan, frame.asked.outcomes), teller),
        saved=plan.text,
    )
    notices = [teller("web.saved.outdated")] if holds_today(frame.desk, plan) is False else []
    notices += [] if _has_terms_of(plan, frame) else [teller("web.saved.other_terms")]
    title = teller("web.saved.title", name=name)
    return frame.show("plan", title, teller("web.saved.lead"), plans=shown, notices=notices)


def _has_terms_of(plan: SavedPlan, frame: _Frame) -> bool:
    """Whether the form has the terms that a plan was made on, as far as they can be read."""
    problem, texts = frame.desk.problem.with_horizon(plan.mdp.horizon), frame.teller.texts
    terms = read_terms(problem, frame.asked, texts=texts)
    return not plan.find_differences(apply_terms(problem, terms))


def refuse_file(service: Service, asked: Asked, texts: Texts, error: InputError) -> PersonView:
    """The form as it was, beside why a file cannot be opened."""
    say = texts.part("web.files")
    frame = _Frame(service.desk, asked, Teller(texts).about(service.problem))
    return frame.show("wrong", say("refused"), say("refused_lead"), mistakes=list_mistakes(error, texts))


def show_failure(service: Service, asked: Asked, texts: Texts, failure: FailureText) -> PersonView:
    """The form as it was filled in, beside what went wrong here."""
    lead = f"{failure.lead} {failure.reference}".strip()
    return _Frame(service.desk, asked, Teller(texts).about(service.problem)).show("failed", failure.title, lead)


def answer_form(service: Service, asked: Asked, texts: Texts, *, deadline: Deadline) -> Menu:
    """The menu for a form. Its mistakes are raised."""
    record, terms = read_record(service.desk, asked, texts=texts), read_terms(service.problem, asked, texts=texts)
    onward = read_onward(service.desk, asked)
    steps = None if onward is None else onward.left
    return service.answer_again(asked.ticket, record, terms, deadline=deadline, steps=steps)


def choose_plan(menu: Menu, asked: Asked, teller: Teller) -> Offer | None:
    """The plan that the slider stands at, by the name that the page gives it; None if there is no slider."""
    stops = find_stops(menu)
    if not stops:
        return None
    position = _find_position(stops, asked)
    stop = stops[position]
    return stop.offer if stop.is_offered else replace(stop.offer, label=name_stop(stops, position, teller))


def save_chosen(service: Service, asked: Asked, texts: Texts, *, deadline: Deadline) -> SavedPlan | None:
    """The plan that the slider stands at, as it can be saved; None if there is none."""
    menu = answer_form(service, asked, texts, deadline=deadline)
    chosen, onward = choose_plan(menu, asked, Teller(texts).about(menu.problem)), read_onward(service.desk, asked)
    before = None if onward is None else onward.before
    return None if chosen is None else SavedPlan.of(chosen, before=before)


def _show_plans(menu: Menu, asked: Asked, teller: Teller, original: Problem) -> PlansView:
    stops = find_stops(menu)
    position = _find_position(stops, asked)
    offer = stops[position].offer
    name, told = name_stop(stops, position, teller), PlanTeller(offer.plan, teller)
    return PlansView(
        slider=show_slider(stops, position, teller),
        # A menu of one plan says nothing about what somebody weighs how much.
        weight=stops[position].weight if len(stops) > 1 else 1.0 if asked.weight is None else asked.weight,
        cards=show_cards(menu, stops, position, teller),
        rules=Basis(menu, original, teller).list_rules()[:2],
        chosen=name,
        pictures=_draw(replace(offer, label=name), menu, teller.texts.language),
        ways=tell_ways(offer, find_longest([offer, *menu]), teller),
        keys=tell_keys(teller.quoted_goal(menu.problem), teller),
        rest=tell_rest(offer, teller),
        steps=told.steps(),
        notes=tuple(told.notes()),
        checked=teller.verification(offer.verification) if menu.case.sight else "",
        walk=show_walk(walk(offer, asked.outcomes), teller),
        hundred=tell_hundred(offer, teller),
    )


def _draw(offer: Offer, menu: Menu, language: str) -> Pictures:
    """The pictures of a plan, on the axis of all that the menu offers; the page has their headings."""
    return Pictures(
        traces([offer], beside=menu, language=language, heading=False).svg,
        dots(offer, beside=menu, language=language, heading=False).svg,
    )


def _find_position(stops: Sequence[Stop], asked: Asked) -> int:
    """Where the slider stands: as it was set, or, after other changes, where the person's weight puts it."""
    if asked.position is None:
        return stop_at(stops, asked.weight)
    return min(asked.position, len(stops) - 1)


def _move_here(service: Service, asked: Asked, texts: Texts, *, deadline: Deadline) -> Asked:
    """The form of somebody who asks again from where the walk has brought them."""
    plan = save_chosen(service, asked, texts, deadline=deadline)
    return asked if plan is None else go_on_from(service.desk, plan, asked, texts=texts)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Puts an answer into the page with the form that it answers."""

    desk: Desk
    asked: Asked
    teller: Teller

    def invite(self, wrong: Mapping[str, Mistake]) -> PersonView:
        """To fill in what is still empty. What is filled in and wrong is told already."""
        say = self.teller.texts.part("web.begin")
        return self.show("empty", say("title"), say("lead"), wrong=tell_mistakes(wrong, self.teller.texts))

    def refuse(self, error: InputError) -> PersonView:
        """To answer what cannot be answered."""
        say, mistakes = self.teller.texts.part("web.decision"), list_mistakes(error, self.teller.texts)
        return self.show("wrong", say("wrong"), say("none"), mistakes=mistakes)

    def show(
        self,
        kind: Outcome,
        headline: str,
        lead: str,
        *,
        notices: Sequence[str] = (),
        wrong: Mapping[str, str] | None = None,
        mistakes: Sequence[str] = (),
        advice: Sequence[str] = (),
        plans: PlansView | None = None,
    ) -> PersonView:
        features = show_fields(self.desk, self.asked, self.teller)
        actions = show_actions(self.desk.problem, self.asked, self.teller)
        onward, unit = read_onward(self.desk, self.asked), self.teller.text(self.desk.problem.cost_unit)
        summary = link_mistakes(wrong or {}, features, actions, self.teller.texts) if kind == "wrong" else ()
        told = [lead] if kind == "failed" else [words for _, words in summary]
        said = [headline, *told, *mistakes, *self._speak(plans)]
        return PersonView(
            kind=kind,
            features=features,
            actions=actions,
            people=tuple(self.desk.problem.people)[:MOST_EXAMPLES],
            example=name_example(self.desk, self.asked),
            example_fields=keep_example(self.desk, self.asked),
            is_ranked=is_ranked(self.asked),
            has_terms=any(action.changed for action in actions),
            headline=headline,
            lead=lead,
            spoken=". ".join(part.rstrip(".") for part in said),
            wrong=wrong or {},
            summary=summary,
            mistakes=tuple(mistakes),
            notices=tuple(notices),
            onward="" if onward is None else onward.tell(self.teller, unit),
            onward_fields={} if onward is None else onward.fields,
            advice=tuple(advice),
            plans=plans,
        )

    def _speak(self, plans: PlansView | None) -> list[str]:
        """What is said of the plans to those who hear the page."""
        if plans is None:
            return []
        if plans.walk.taken or plans.saved:
            return [plans.walk.now, plans.walk.detail]
        return [plans.slider.spoken if plans.slider else self.teller("web.decision.one", count=len(plans.cards))]
