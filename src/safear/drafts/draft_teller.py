"""What was drafted and how it does, in the words of a language."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from safear.drafts.draft import Draft, tell_taken
from safear.drafts.own_words import OTHER_WAY
from safear.drafts.table import Column
from safear.texts.catalogue import Texts, load_texts
from safear.texts.names import show_name

SHOWN = 4  # levels of a column that are shown when it is offered


@dataclass(frozen=True, slots=True)
class DraftTeller:
    """Tells what a draft is like, and asks what it needs to know."""

    texts: Texts

    @staticmethod
    @cache
    def of(language: str = "en") -> DraftTeller:
        """The teller of a language; an InputError if there are no texts in it."""
        return DraftTeller(load_texts(language))

    def __call__(self, key: str, /, **values: object) -> str:
        """A text about drafts."""
        return self.texts(f"draft.{key}", **values)

    def column(self, column: Column) -> str:
        """A column that can change, with what is in it."""
        if column.numbers is not None:
            low, high = (self.texts.number(float(end)) for end in column.limits)
            return self("column.numbers", name=show_name(column.name), low=low, high=high)
        some = [show_name(level) for level in column.levels[:SHOWN]]
        rest = ["..."] if len(column.levels) > SHOWN else []
        return self("column.words", name=show_name(column.name), words=", ".join([*some, *rest]))

    def summary(self, draft: Draft, file: str, table: str, model: Sequence[str]) -> Iterator[str]:
        """What was drafted, whether it agrees with the model, who has a way, and what to do next.

        `model` are the options by which commands find the model.
        """
        found, whole = draft.outlook, self.texts.whole
        goal = draft.problem.goal.favourable
        counts = {"count": found.people, "rejected": whole(found.rejected)}
        yield self("people", **counts) if goal is None else self("people_of", **counts, goal=show_name(goal))
        if draft.taken is not None:
            taken = tell_taken(self.texts, draft.taken, draft.problem.goal)
            yield self("taken", taken=taken, other=OTHER_WAY[draft.taken])
        yield self("agree", agree=whole(found.agree), people=whole(found.people))
        if draft.problem.given and not draft.is_told:
            yield self("given", names=", ".join(self.texts.quote(show_name(name)) for name in draft.problem.given))
        if draft.likely_target is not None:
            name = draft.likely_target
            yield self("looks_like_target", name=self.texts.quote(show_name(name)), option=shlex.quote(name))
        yield from self.ways(draft)
        for name in draft.idle:
            yield self("idle", name=self.texts.quote(show_name(name)))
        yield self("guesses", count=len(draft.problem.guesses))
        yield self("written", file=file)
        yield "  " + shlex.join(["safear", "recommend", file, *model])
        yield "  " + shlex.join(["safear", "check", file, *model, "--people", table])

    def ways(self, draft: Draft) -> Iterator[str]:
        """How many of the rejected have a plan, and why the others have none."""
        found, whole = draft.outlook, self.texts.whole
        key = "ways_of_sample" if found.is_sample else "ways"
        yield self(key, count=found.with_way, tried=whole(found.tried), rejected=whole(found.rejected))
        for code, count in sorted(found.reasons.items()):
            within, searched = (self.texts("within", count=steps) for steps in (draft.problem.horizon, found.steps))
            own = "_of_draft" if code == "horizon" and within != searched else ""
            yield "  " + self(f"reasons.{code}{own}", count=count, within=within, searched=searched)
