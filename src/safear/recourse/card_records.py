"""Records of cards: what somebody can repeat of a plan, as values and words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Literal, Self

from pydantic import Field

from safear.recourse.card import Card, make_card
from safear.recourse.card_teller import MOST_MARKS, CardTeller
from safear.recourse.figure_records import ResultRecord
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller
from safear.recourse.traces import TraceStep
from safear.recourse.troubles import Trouble


class LinkRecord(ResultRecord):
    """An action of a chain, and how often in a row."""

    action: str
    times: int


class DoneRecord(ResultRecord):
    """A share of all people who reach the goal within a cost."""

    share: float
    share_if_off: float = Field(description="the least that it can be if estimates are off")
    cost: float


class TroubleRecord(ResultRecord):
    """Something that may go wrong, and the chance that it happens at least once."""

    kind: Literal["setback", "failure"] = Field(
        description="a setback makes things worse; a failure is any try of the action that does not work"
    )
    action: str
    outcome: int | None = Field(description="of a setback: which outcome of the action it is, of several the likeliest")
    chance: float
    low: float
    high: float
    text: str

    @classmethod
    def of(cls, found: Trouble, text: str) -> Self:
        """With its words."""
        ends = {"low": found.within.low, "high": found.within.high}
        return cls(kind=found.kind, action=found.action, outcome=found.outcome, chance=found.chance, **ends, text=text)


class CardRecord(ResultRecord):
    """A plan in short: what to do if all goes well, how many are done when, what can go wrong, its risk in marks."""

    marks: int = Field(ge=1, le=MOST_MARKS, description="1, the least risk, to 5")
    chain: list[LinkRecord] = Field(description="the steps if all of them work")
    fallback: list[LinkRecord] = Field(
        description="the steps after the first if that alone fails; empty if they depend on how, or miss the goal"
    )
    done: DoneRecord | None = Field(description="null if nobody gets there")
    missed: float = Field(description="the chance not to get there in time")
    troubles: list[TroubleRecord] = Field(description="none that hardly ever happens")
    text: list[str]

    @classmethod
    def of(cls, offer: Offer, beside: Iterable[Offer]) -> Self:
        """With its words; the plans beside it are those of its menu."""
        card: Card = make_card(offer, beside)
        gist, tell = card.gist, CardTeller(card, Teller.of(glossary=offer.glossary))
        done, words = gist.done, zip(tell.told_troubles(), tell.troubles(), strict=False)
        return cls(
            marks=card.marks,
            chain=_list_links(gist.chain.steps),
            fallback=[] if gist.fallback is None else _list_links(gist.fallback.steps[1:]),
            done=None if done is None else DoneRecord(share=done.share, share_if_off=done.share_if_off, cost=done.cost),
            missed=gist.missed,
            troubles=[TroubleRecord.of(found, text) for found, text in words],
            text=tell.lines(),
        )


def _list_links(steps: Iterable[TraceStep]) -> list[LinkRecord]:
    return [
        LinkRecord(action=action, times=len(list(group)))
        for action, group in groupby(steps, key=lambda step: step.action)
    ]
