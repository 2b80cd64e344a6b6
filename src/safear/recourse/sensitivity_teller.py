"""What the advice hangs on, in the words of a language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from safear.mdp.parameters import FARTHEST
from safear.problem.glossary import NO_LABELS, Glossary
from safear.problem.quantity import ByCase, Quantity
from safear.recourse.teller import Teller
from safear.texts.names import capital

if TYPE_CHECKING:
    from safear.errors import Path
    from safear.mdp.parameters import Parameter
    from safear.problem.model import Action, Problem
    from safear.recourse.march import Flip
    from safear.recourse.sensitivity import PlanSensitivity, Sensitivity

PER_CHANCE = 0.1  # effects are told per ten percentage points of a chance, and per unit of a cost
OUTCOME = 4  # how long the path of an outcome is
LEAST = 5e-4  # smaller effects are none to people


def step_of(parameter: Parameter) -> float:
    """By how much a parameter moves where effects are told: ten percentage points, or a unit of cost."""
    return PER_CHANCE if parameter.is_chance else 1.0


@dataclass(frozen=True, slots=True)
class SensitivityTeller:
    """Tells what would change the advice, and what each chance and cost does to a plan."""

    teller: Teller

    @staticmethod
    def of(language: str = "en", glossary: Glossary = NO_LABELS) -> SensitivityTeller:
        """The teller of a language; an InputError if there are no texts in it."""
        return SensitivityTeller(Teller.of(language, glossary))

    # --------------------------------------------------------------------------------------------------------- names

    def parameter(self, parameter: Parameter, problem: Problem) -> str:
        """What an amount is: `chance that “study” works`, `cost of “move” (skill becomes high)`."""
        path = parameter.path
        if parameter.kind == "failure_cost":
            return self._say("name.failure_cost")
        action, kind = problem.action_by_name[str(path[1])], parameter.kind
        name = self.teller.quote_action(action.name)
        if path[2] != "outcomes":
            return self._detailed(self._say("name.cost", action=name), action.cost, path[3:])
        outcome = action.outcomes[int(path[3])]
        end = self._end(action, int(path[3]))
        quantity = outcome.chance if parameter.is_chance else outcome.cost
        if end in {"works", "fails"}:
            told = self._say(f"name.{kind}_{end}", action=name)
        else:
            told = self._say(f"name.{kind}_of", action=name, outcome=end)
        return told if quantity is None else self._detailed(told, quantity, path[OUTCOME + 1 :])

    def _end(self, action: Action, number: int) -> str:
        """How an outcome is called: by what it means if that tells it from the others, else by its label or number."""
        works = action.works(number)
        if sum(action.works(other) == works for other in range(len(action.outcomes))) == 1:
            return "works" if works else "fails"
        label = action.outcomes[number].label
        return self._say("name.outcome", number=number + 1) if label is None else self.teller.text(label)

    def _detailed(self, told: str, quantity: Quantity, rest: Path) -> str:
        """With the level or the case that the amount is for, if there are several."""
        if not rest:
            return told
        if not isinstance(quantity, ByCase):
            feature, level = self.teller.feature(str(rest[0])), self.teller.level(str(rest[0]), str(rest[1]))
            return self._say("name.level", what=told, feature=feature, level=level)
        case = int(rest[0])
        if case == len(quantity.cases):
            return self._say("name.otherwise", what=told)
        return self._say("name.case", what=told, condition=self.teller.condition(quantity.cases[case][0]))

    def value(self, parameter: Parameter, value: float, unit: str) -> str:
        """`97.6%`, `3.4 months`."""
        if parameter.is_chance:
            return self.teller("format.percent", number=self.teller.texts.exact_number(round(100 * value, 6)))
        return self.teller.exact_cost(value, unit)

    # --------------------------------------------------------------------------------------------------------- flips

    def lines(self, plan: PlanSensitivity) -> list[str]:
        """All of it: the plan, what is as good, where the advice changes, and what moves its figures."""
        lines = [self.head(plan), *self.notes(plan)]
        lines += [f"- {self.flip(flip, plan)}" for flip in (*plan.flips, *plan.rivals)]
        lines += [f"- {': '.join(row[:2])}: {', '.join(row[2:])}" for row in self.effect_rows(plan)]
        return lines

    def head(self, plan: PlanSensitivity) -> str:
        """The plan and its first step."""
        action = self.teller.quote_action(plan.offer.first_action)
        return self._say("plan", plan=capital(self.teller.describe_plan(plan.offer)), action=action)

    def notes(self, plan: PlanSensitivity) -> list[str]:
        """What is as good, and whether anything changes the advice at all."""
        notes = []
        if plan.equals:
            named = [self.teller.quote_action(name) for name in plan.equals]
            notes.append(self._say("equals", actions=self.teller.texts.join(named, last="or")))
        if not plan.flips:
            notes.append(self._say("none"))
        unsure = sum(not leeway.is_certain for leeway in plan.leeways if leeway.flip is None)
        if unsure:
            notes.append(self._say("sampled", count=unsure))
        return notes

    def flip(self, flip: Flip, plan: PlanSensitivity) -> str:
        """Where one amount changes the advice, in a sentence or two."""
        what, now, value, action, *note = self.flip_row(flip, plan)
        key = "flip" if flip.plan is None else "rival"
        told = self._say(key, what=what, now=now, value=value, action=self.teller.texts.quote(action))
        return " ".join([told, *(text for text in note if text)])

    def flip_headings(self) -> tuple[str, ...]:
        """The headings of `flip_rows`."""
        return tuple(self._say(f"heading.{name}") for name in ("what", "now", "flip", "action", "note"))

    def flip_rows(self, plan: PlanSensitivity) -> list[tuple[str, ...]]:
        """Where the advice changes, nearest first."""
        return [self.flip_row(flip, plan) for flip in plan.flips]

    def rival_headings(self) -> tuple[str, ...]:
        """The headings of `rival_rows`."""
        return tuple(self._say(f"heading.{name}") for name in ("what", "now", "flip", "rival", "note"))

    def rival_rows(self, plan: PlanSensitivity) -> list[tuple[str, ...]]:
        """Where another plan of the menu becomes better, nearest first."""
        return [self.flip_row(flip, plan) for flip in plan.rivals]

    def flip_row(self, flip: Flip, plan: PlanSensitivity) -> tuple[str, ...]:
        """What moves, what it is now, where the advice changes, what it is then (a step, a plan), and what to know."""
        parameter, unit = flip.parameter, plan.offer.unit
        now, value = (self.value(parameter, number, unit) for number in (float(parameter.value), flip.value))
        notes = [self._say("guessed")] if flip.is_guessed else []
        leeway = plan.leeway_of(flip)
        if not leeway.is_certain:
            notes.append(self._say("uncertain", certain=self.value(parameter, leeway.certain_to, unit)))
        what = self.parameter(parameter, plan.problem)
        then = self.teller.action(flip.action) if flip.plan is None else self.teller.describe_plan(flip.plan)
        return what, now, value, then, " ".join(notes)

    # ------------------------------------------------------------------------------------------------------- effects

    def effect_headings(self, plan: PlanSensitivity) -> tuple[str, ...]:
        """The headings of `effect_rows`."""
        names = tuple(self._say(f"heading.{name}") for name in ("what", "step", "success", "mean"))
        return (*names, self.teller.worst_name(plan.offer.level))

    def effect_rows(self, plan: PlanSensitivity) -> list[tuple[str, ...]]:
        """What each amount does to the figures of the plan, that which moves the mean most first."""
        unit, rows = plan.offer.unit, []
        for item in plan.effects:
            parameter, step = item.parameter, step_of(item.parameter)
            moved = self.points(step) if parameter.is_chance else self.signed(step, unit)
            costs = (item.mean, item.tail.up)
            if max(abs(effect) for effect in (item.success, *costs)) * step < LEAST:
                continue
            figures = (self.points(item.success * step), *(self.signed(cost * step, unit) for cost in costs))
            rows.append((self.parameter(parameter, plan.problem), moved, *figures))
        return rows

    def points(self, change: float) -> str:
        """`+10 points`."""
        number = self.teller.number(100 * change if abs(change) >= LEAST else 0.0)
        return self.teller("format.points", number=f"+{number}" if change >= LEAST else number)

    def signed(self, change: float, unit: str) -> str:
        """`+0.56 months`."""
        told = self.teller.cost(change if abs(change) >= LEAST else 0.0, unit)
        return f"+{told}" if change >= LEAST else told

    def reading(self, found: Sensitivity) -> str:
        """How it was looked for, and how exact it is."""
        values = {
            "chance": self.value_of_tolerance(found.tolerance),
            "cost": self.value_of_tolerance(10 * found.tolerance),
            "most": self.teller.texts.whole(FARTHEST),
        }
        return self._say("reading", **values)

    def value_of_tolerance(self, tolerance: float) -> str:
        """A share with all of its decimals."""
        return self.teller("format.percent", number=self.teller.texts.exact_number(round(100 * tolerance, 6)))

    def _say(self, key: str, **values: object) -> str:
        return self.teller(f"sensitivity.{key}", **values)
