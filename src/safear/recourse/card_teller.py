"""The words of a card, for page, terminal, letter and records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from safear.recourse.teller import Teller
from safear.texts import load_texts
from safear.texts.names import capital
from safear.texts.numbers import round_number

if TYPE_CHECKING:
    from safear.recourse.card import Card
    from safear.recourse.troubles import Trouble

MOST_MARKS = 5
HARDLY_ANYBODY = 0.001  # fewer who do not get there in time are not told of
MARK, NO_MARK = "●", "○"


@dataclass(frozen=True, slots=True)
class CardTeller:
    """Words a card."""

    card: Card
    teller: Teller

    def chain(self) -> str:
        """What to do if all goes well: `Study part-time, then increase savings`."""
        return capital(self.teller.trace(self.card.gist.chain))

    def fallback(self) -> str:
        """What to do if the first step fails, as in `If the first step fails: try again`; may be empty."""
        chain, way = self.card.gist.chain.steps, self.card.gist.fallback
        if way is None or len(way.steps) < 2:
            return ""
        rest = way.steps[1:]
        again = [step.action for step in rest] == [step.action for step in chain]
        words = self.teller("step.again") if again else self.teller.trace(replace(way, steps=rest))
        return self.teller("card.fallback", what=words)

    def done(self) -> str:
        """How many are done when, as in `9 of 10 people: done in 2 months`.

        Costs are rounded up and shares down, so that it stays true.
        """
        say, texts, done = self.teller.texts.part("card"), self.teller.texts, self.card.gist.done
        if done is None:
            return say("nobody")
        unit = self.card.offer.unit
        cost, is_exact = self._write_limit(done.cost)
        key = "time" if self._is_time(unit) else "cost"
        key += ".exactly" if done.at_once and is_exact else ".at_most"
        said = say(f"done.{key}", people=capital(texts.people_at_least(done.share)), cost=cost)
        people, off = texts.people_at_least(done.share), texts.people_at_least(done.share_if_off)
        return said if off == people else f"{said} {say('done.if_off', people=off)}"

    def missed(self) -> str:
        """Who does not get there in time; empty if hardly anybody."""
        missed = self.card.gist.missed
        if missed < HARDLY_ANYBODY or self.card.gist.done is None:
            return ""
        return self.teller("card.missed", people=capital(self.teller.texts.people(missed)))

    def told_troubles(self) -> list[Trouble]:
        """What can go wrong and is told, likeliest first: what hardly ever happens is not."""
        return [trouble for trouble in self.card.gist.troubles if not trouble.is_rare]

    def troubles(self) -> list[str]:
        """What can go wrong, likeliest first; that nothing can, or hardly anything, is told too."""
        nothing = "card.hardly_any_trouble" if self.card.gist.troubles else "card.no_trouble"
        return [self._tell_trouble(one) for one in self.told_troubles()] or [self.teller(nothing)]

    def worst(self) -> str:
        """What the worst cases cost: `In the worst 5 of 100 cases: 8.21 months on average`."""
        offer, tell = self.card.offer, self.teller
        key = "card.worst" if offer.level < 1 else "card.worst_case"
        said = tell(key, worst=capital(tell.worst(offer.level)), cost=tell.cost(offer.tail, offer.unit))
        off = tell.if_off(tell.spans(offer).tail)
        return f"{said} ({off})" if off else said

    def risk(self) -> str:
        """`Risk: 2 of 5`."""
        return self.teller("card.risk", marks=self.card.marks, most=MOST_MARKS)

    def marks(self) -> str:
        """The same as signs: `●●○○○`."""
        return MARK * self.card.marks + NO_MARK * (MOST_MARKS - self.card.marks)

    def wrong(self) -> str:
        """What can go wrong, in a sentence."""
        return self.teller("card.wrong", what="; ".join(self.troubles()))

    def lines(self) -> list[str]:
        """All of the card, a sentence each."""
        parts = (self.fallback(), self.done(), self.missed(), self.wrong(), f"{self.worst()}.", f"{self.risk()}.")
        return [f"{self.chain()}.", *filter(None, parts)]

    def _tell_trouble(self, trouble: Trouble) -> str:
        """`you lose your job (about 1 of 10 people)`."""
        return self.teller("card.trouble", what=self._name_trouble(trouble), people=self._tell_people(trouble))

    def _name_trouble(self, trouble: Trouble) -> str:
        say, tell = self.teller.texts.part("card"), self.teller
        if trouble.kind == "failure":
            return say("fails", action=tell.quote_action(trouble.action))
        if trouble.label is not None:
            return tell.text(trouble.label)
        changes = tell.texts.join(tell.changes(trouble.changes, "becomes"))
        return say("changes", action=tell.quote_action(trouble.action), changes=changes)

    def _tell_people(self, trouble: Trouble) -> str:
        """How many it happens to, and how many it may if estimates are off, where one would notice."""
        tell, people = self.teller, self.teller.texts.people(trouble.chance)
        off = tell.if_off(tell.span(trouble.within, trouble.chance, write=tell.percent))
        return f"{people}; {off}" if off else people

    def _write_limit(self, cost: float) -> tuple[str, bool]:
        """A cost, rounded up if it has too many decimals, and whether it is exact."""
        unit = self.card.offer.unit
        if cost < 0.1 or float(round_number(cost)) == cost:
            return self.teller.exact_cost(cost, unit), True
        limit = Decimal(repr(cost)).quantize(Decimal("0.01"), rounding=ROUND_CEILING)
        return self.teller.cost(float(limit), unit), False

    def _is_time(self, unit: str) -> bool:
        """Whether costs are counted in a time, as the texts of this language, or the English ones, name them."""
        known = {*self.teller("card.times").split("|"), *load_texts()("card.times").split("|")}
        return not known.isdisjoint({unit.lower(), self.teller.text(unit).lower()})
