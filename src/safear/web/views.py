"""What the person's page shows, worked out and in words, so that the template only sets it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from safear.errors import InputError, Mistake
from safear.problem.glossary import choose
from safear.problem.model import Feature
from safear.problem.person import read_level
from safear.recourse.card import make_card
from safear.recourse.card_teller import MOST_MARKS, CardTeller
from safear.recourse.case import Desk
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.plan_teller import StepText
from safear.recourse.selection import find_trade_off
from safear.recourse.teller import Figure, Teller
from safear.recourse.walk import Situation
from safear.recourse.walk_teller import WalkTeller
from safear.reports.hundred import Hundred
from safear.reports.ways import LineKey, WayText
from safear.texts import Texts
from safear.texts.mistakes import tell_mistake
from safear.texts.names import capital
from safear.web.asked import Asked
from safear.web.forms import SEAL, is_number, list_choices, name_fields, seal_person
from safear.web.stops import Stop, neighbours
from safear.web.terms_view import ActionField

Outcome = Literal["yes", "no", "none", "wrong", "empty", "failed", "plan"]


@dataclass(frozen=True, slots=True)
class FeatureField:
    """A field about the person: a choice of levels, a number, or whatever the classifier sees as filed."""

    name: str
    label: str
    value: str
    hint: str
    levels: tuple[tuple[str, str], ...] = ()  # each with what it is called; empty unless it is a choice
    help: str = ""
    keys: str = "text"  # what is typed on a telephone
    is_hidden: bool = False  # carried along, but nobody fills it in


@dataclass(frozen=True, slots=True)
class CardView:
    """A plan beside the others, to be read in seconds: the sentences of its card, and its figures."""

    position: int
    rank: int  # from 0, the safest, to 4: its colour
    name: str
    marks: Sequence[bool]  # five, filled or not
    risk: str
    chain: str
    fallback: str
    done: str
    missed: str
    troubles: Sequence[str]
    can_fail: bool
    worst: str
    figures: tuple[Figure, ...]
    sentence: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Slider:
    """Where the slider stands, and what it says."""

    position: int
    last: int
    weight: float
    spoken: str


@dataclass(frozen=True, slots=True)
class Ending:
    """A button: how a step ended."""

    outcome: int
    label: str
    works: bool


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was taken."""

    words: str
    works: bool


@dataclass(frozen=True, slots=True)
class WalkView:
    """Where the person is on the way."""

    history: str
    taken: tuple[Done, ...]
    now: str
    detail: str
    endings: tuple[Ending, ...]
    ahead: str
    kind: str


@dataclass(frozen=True, slots=True)
class PersonView:
    """Everything on the page. `kind` is how it came out: yes, no, none (no plan), wrong (mistakes), empty, failed,
    or a saved plan.

    `wrong` says what is wrong with each field by its name, and `mistakes` what else is; `summary` has what stands at
    the top, each with the field that it is about. `advice` says what would help somebody without a plan.
    """

    kind: Outcome
    features: tuple[FeatureField, ...]
    actions: tuple[ActionField, ...]
    people: tuple[str, ...]  # who can be looked at as an example
    example: str  # who is; empty if nobody
    example_fields: Mapping[str, str]
    has_terms: bool  # whether they said anything about what steps mean to them
    is_ranked: bool  # whether they rank steps, instead of giving costs
    headline: str
    lead: str
    spoken: str
    wrong: Mapping[str, str] = field(default_factory=dict)
    summary: tuple[tuple[str, str], ...] = ()
    mistakes: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    onward: str = ""  # the time that is left to who has asked again on the way
    onward_fields: Mapping[str, str] = field(default_factory=dict)
    advice: tuple[str, ...] = ()
    plans: PlansView | None = None


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures for wide screens, as markup."""

    traces: str
    dots: str


@dataclass(frozen=True, slots=True)
class PlansView:
    """The plans on the page, and the one that is looked at. Of a saved plan, there is only what its file says."""

    slider: Slider | None
    weight: float
    chosen: str
    steps: Sequence[StepText]
    notes: Sequence[str]  # what to know to read them
    walk: WalkView
    cards: tuple[CardView, ...] = ()
    rules: Sequence[str] = ()
    pictures: Pictures | None = None
    ways: Sequence[WayText] = ()
    keys: Sequence[LineKey] = ()
    rest: tuple[str, str] | None = None
    checked: str = ""  # how the plan was checked; empty if there is nothing to say
    hundred: Hundred | None = None
    saved: str = ""  # the text of a saved plan


def show_fields(desk: Desk, asked: Asked, tell: Teller) -> tuple[FeatureField, ...]:
    """The fields about the person."""
    fields = [_show_field(desk, field, name, asked.text(field), tell) for field, name in name_fields(desk).items()]
    if any(field.is_hidden and field.value for field in fields):
        fields.append(FeatureField(SEAL, "", seal_person(desk, asked), "", is_hidden=True))
    return tuple(fields)


def _show_field(desk: Desk, field: str, name: str, value: str, tell: Teller) -> FeatureField:
    feature, label = desk.problem.feature_by_name.get(name), capital(tell.feature(name))
    helps = choose(desk.problem.glossary.feature_help.get(name), tell.language) or ""
    levels = tuple((level, tell.level(name, level)) for level in list_choices(desk, name))
    if feature is not None and feature.hidden:
        return FeatureField(field, "", value, "", is_hidden=True)
    if feature is None:
        marks = "" if levels or tell.texts.read_number(value) == value else tell.texts.echo_number(value)
        echo = [tell("web.about.read_as", value=marks)] if marks else []
        return FeatureField(field, label, value, ", ".join([*echo, tell("web.about.fixed")]), levels=levels, help=helps)
    hint = ", ".join(_list_hints(desk, feature, value, tell))
    if not is_number(feature):
        return FeatureField(field, label, value, hint, levels=levels, help=helps)
    unit = f" ({tell.text(feature.unit)})" if feature.unit else ""
    keys = "numeric" if feature.step is not None and feature.step % 1 == 0 else "decimal"
    return FeatureField(field, label + unit, value, hint, keys=keys, help=helps)


def _list_hints(desk: Desk, feature: Feature, value: str, tell: Teller) -> Iterator[str]:
    """Which numbers are possible, as which level one counts, and whether anything can change it."""
    texts, say = tell.texts, tell.texts.part("web.about")
    limits = {
        name: texts.exact_number(float(limit))
        for name, limit in (("least", feature.least), ("most", feature.most))
        if limit is not None
    }
    if limits:
        yield say("_".join(limits), **limits)
    if feature.step is not None and is_number(feature):
        yield say("whole") if feature.step == 1 else say("step", step=texts.exact_number(float(feature.step)))
    if is_number(feature) and (echo := texts.echo_number(value)):
        yield say("read_as", value=texts.name_unit(echo, tell.text(feature.unit)) if feature.unit else echo)
    if is_number(feature) and value and value not in feature.levels and feature.name not in desk.sight.numbers:
        level = read_level(feature, texts.read_number(value))
        if level is not None:
            yield texts("counts_as", level=tell.level(feature.name, level))
    if feature.name not in desk.problem.changed_features:
        yield say("fixed")


def tell_mistakes(found: Mapping[str, Mistake], texts: Texts) -> dict[str, str]:
    """What is wrong with each field that cannot be read, in words."""
    return {name: tell_mistake(item, texts) for name, item in found.items()}


def link_mistakes(
    wrong: Mapping[str, str], features: Sequence[FeatureField], actions: Sequence[ActionField], texts: Texts
) -> tuple[tuple[str, str], ...]:
    """What is wrong, in the order of the form: the field, and what is told of it under its label."""
    labels = {field.name: field.label for field in features}
    labels |= {f"{kind}{action.number}": action.label for action in actions for kind in ("cost", "chance")}
    say = texts.part("web.decision")
    return tuple((name, say("wrong_item", label=labels[name], mistake=told)) for name, told in wrong.items())


def list_mistakes(error: InputError, texts: Texts) -> tuple[str, ...]:
    """All mistakes of an error, in words."""
    return tuple(tell_mistake(item, texts) for item in error.mistakes)


def show_cards(menu: Menu, stops: Sequence[Stop], position: int, teller: Teller) -> tuple[CardView, ...]:
    """The plans of the menu, and the one that the slider stands at if it is between them."""
    shown = [number for number, stop in enumerate(stops) if stop.is_offered or number == position]
    return tuple(_show_card(menu, stops, number, position, teller) for number in shown)


def _show_card(menu: Menu, stops: Sequence[Stop], number: int, position: int, teller: Teller) -> CardView:
    offer = stops[number].offer
    card = CardTeller(make_card(offer, menu), teller)
    return CardView(
        position=number,
        rank=round(4 * number / (len(stops) - 1)) if len(stops) > 1 else 2,
        name=capital(name_stop(stops, number, teller)),
        marks=[number < card.card.marks for number in range(MOST_MARKS)],
        risk=card.risk(),
        chain=card.chain(),
        fallback=card.fallback(),
        done=card.done(),
        missed=card.missed(),
        troubles=[capital(words) for words in card.troubles()],
        can_fail=bool(card.told_troubles()),
        worst=card.worst(),
        figures=_list_figures(menu, offer, teller),
        sentence=_compare(menu, offer, teller),
        chosen=number == position,
    )


def _list_figures(menu: Menu, offer: Offer, teller: Teller) -> tuple[Figure, ...]:
    """The figures of a plan that its card has no sentence for, by name."""
    say, problem = teller.texts.part("web.figures"), menu.problem
    success = say("success", goal=teller.quoted_goal(problem), within=teller.within(problem))
    mean, _, chance = teller.figures(offer, (say("mean"), "", success))
    return mean, chance


def _compare(menu: Menu, offer: Offer, teller: Teller) -> str:
    """What a plan, of the menu or not, gains and gives up."""
    others = [other for other in menu if other.best.solution is not offer.best.solution]
    found = [offer.trade_off or find_trade_off(offer, [offer, *others]), menu.margin_cost(offer)]
    words = [teller.trade_off(one) for one in found if one is not None]
    return " ".join(words if offer.simplified is None else [*words, teller.simplified(offer.simplified)])


def name_stop(stops: Sequence[Stop], position: int, teller: Teller) -> str:
    """The name of a plan in the menu, or of those that it is between."""
    stop = stops[position]
    if stop.is_offered:
        return teller.name_plan(stop.offer)
    one, other = map(teller.name_plan, neighbours(stops, position))
    return teller("web.choose.between", one=one, other=other)


def show_slider(stops: Sequence[Stop], position: int, teller: Teller) -> Slider | None:
    """The slider, where there is a choice."""
    if len(stops) < 2:
        return None
    offer = stops[position].offer
    spoken = teller(
        "web.choose.spoken",
        name=name_stop(stops, position, teller),
        mean=teller.cost(offer.mean, offer.unit),
        tail=teller.cost(offer.tail, offer.unit),
        worst=teller.worst(offer.level),
        success=teller.percent(offer.cost.success),
    )
    return Slider(position, len(stops) - 1, stops[position].weight, spoken)


def show_walk(situation: Situation, teller: Teller) -> WalkView:
    """Where the person is, and what the buttons say."""
    tell = WalkTeller(situation, teller)
    history = ",".join(str(step.ending.outcome) for step in situation.taken)
    return WalkView(
        history,
        tuple(Done(tell.taken(step), step.ending.works) for step in situation.taken),
        tell.now(),
        tell.detail(),
        tuple(Ending(ending.outcome, tell.ending(ending), ending.works) for ending in situation.endings),
        tell.ahead(),
        situation.kind,
    )
