"""What `safear check` found, in the words of a language."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from safear.mdp.space import StateSpace
from safear.recourse.teller import Teller
from safear.texts.names import show_name

if TYPE_CHECKING:
    from safear.problem.model import Problem
    from safear.recourse.diagnose import Hint, PersonDiagnosis, SpaceDiagnosis
    from safear.recourse.failure import GivingUp


MOST_NAMED = 8  # actions whose guesses are named


@dataclass(frozen=True, slots=True)
class CheckTeller:
    """Tells what was found in a problem."""

    teller: Teller

    @staticmethod
    @cache
    def of(language: str = "en") -> CheckTeller:
        """The teller of a language; an InputError if there are no texts in it."""
        return CheckTeller(Teller.of(language))

    def head(self, problem: Problem) -> str:
        """How large a problem is written."""
        whole = self.teller.texts.whole
        counts = {"features": whole(len(problem.shown_features)), "actions": whole(len(problem.actions))}
        return self.teller(
            "check.head", title=self.teller.text(problem.title), horizon=self.teller.steps(problem.horizon), **counts
        )

    def space(self, problem: Problem) -> str:
        """How many states there are, without bookkeeping."""
        shown = problem.shown_features
        fixed = tuple(feature for feature in shown if not feature.mutable)
        states, blocks = (StateSpace(features, {}).size for features in (shown, fixed))
        return self.teller("check.space", states=self.teller.texts.whole(states), count=blocks)

    def person(self, found: PersonDiagnosis) -> str:
        """Whether a person is accepted or can be."""
        name = show_name(found.name)
        if found.favourable or not found.goals:
            return self.teller("check.accepted" if found.favourable else "check.no_way", person=name)
        states = self.teller.texts.whole(found.states)
        return self.teller("check.rejected", person=name, count=found.goals, states=states)

    def giving_up(self, found: GivingUp) -> str:
        """That giving up is cheaper than trying, and what failing would have to cost."""
        values = {
            "failure": self.teller.cost(found.failure_cost, found.unit),
            "success": self.teller.percent(found.success),
            "possible": self.teller.percent(found.possible),
        }
        if found.enough is None:
            return self.teller("check.gives_up", **values)
        enough = math.ceil(100 * found.enough - 1e-9) / 100  # words have two decimals; rounded down they would be false
        return self.teller("check.gives_up_below", **values, enough=self.teller.cost(enough, found.unit))

    def hint(self, hint: Hint) -> str:
        """What is allowed, but may not be meant."""
        if hint.code == "guesses":
            return self._guesses(hint)
        if hint.blocked is not None:
            why, action = self.teller.blocked(hint.blocked), show_name(hint.blocked.action)
            return self.teller("check.hints.never_offered", action=action, why=why)
        return self.teller(f"check.hints.{hint.code}", feature=show_name(hint.feature))

    def _guesses(self, hint: Hint) -> str:
        """How many numbers are guesses, and which, action by action."""
        say = self.teller.texts.part("check.hints")
        words: dict[str, dict[str, None]] = {}
        for path in hint.places:
            words.setdefault(str(path[1]), {})[say(str(path[-1]))] = None
        named = [f"{show_name(action)} ({', '.join(which)})" for action, which in words.items()]
        shown, more = named[:MOST_NAMED], len(named) - MOST_NAMED
        names = ", ".join([*shown, say("and_more", count=more)] if more > 0 else shown)
        return say("guesses", count=len(hint.places), names=names)

    def whole(self, found: SpaceDiagnosis) -> str:
        """How many of all states are goals, and how many of the others have no way to one."""
        counts = {"goals": found.goals, "states": found.states, "helpless": found.without_recourse}
        counts["rejected"] = found.states - found.goals
        return self.teller("check.whole", **{name: self.teller.texts.whole(count) for name, count in counts.items()})
