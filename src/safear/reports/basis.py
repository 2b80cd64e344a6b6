"""What a menu is based on, in the words of a language: the person, costs and chances, limits, and what to note."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safear.classifier.filed import as_number
from safear.mdp.arrays import MDP
from safear.problem.model import Action, Feature, Problem, as_decimal, is_missing
from safear.problem.quantity import GUESS, Amount, amounts
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.teller import Teller
from safear.reports.audit_tables import Cell, Table
from safear.texts import Texts
from safear.texts.names import show_name

OWN = "clear"  # the sign of what is the person's own


@dataclass(frozen=True, slots=True)
class Basis:
    """What is told of a menu's basis. `original` is the problem before somebody's own terms were put in."""

    menu: Menu
    original: Problem
    teller: Teller

    @property
    def texts(self) -> Texts:
        """The catalogue."""
        return self.teller.texts

    @property
    def goal(self) -> str:
        """What the person wants."""
        return self.teller.quoted_goal(self.menu.problem)

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return self.teller.text(self.menu.problem.cost_unit)

    @property
    def ruled_out(self) -> list[str]:
        """The actions that are out of the question for this person."""
        left = self.menu.problem.action_by_name
        return [self.teller.action(action.name) for action in self.original.actions if action.name not in left]

    def list_person(self) -> list[tuple[str, str]]:
        """What is known of the person, as it was filed."""
        record, sight = self.menu.case.decision.record, self.menu.case.sight
        known = [(feature.name, self._tell_filed(feature)) for feature in self.menu.problem.shown_features]
        known += [(name, self._tell_given(record[name])) for name in sight.given]
        return [(self.teller.feature(name), words) for name, words in known]

    def _tell_filed(self, feature: Feature) -> str:
        """The number that was filed and, if the classifier does not see it, the level it counts as; else the level."""
        case, level = self.menu.case, self.menu.person[feature.name]
        number = as_number(feature, case.decision.record[feature.name], level)
        if math.isnan(number):
            return self.teller.level(feature.name, level)
        words = self.teller.measure(number, feature.unit)
        if feature.name in case.sight.numbers:
            return words
        return f"{words} ({self.texts('counts_as', level=self.teller.level(feature.name, level))})"

    def _tell_given(self, value: object) -> str:
        """A column as it was filed."""
        if isinstance(value, bool | np.bool_):
            return self.texts("format.yes" if value else "format.no")
        if not isinstance(value, str) and is_missing(value):
            return self.texts("format.none")
        number = None if isinstance(value, str) else as_decimal(value)
        return show_name(str(value)) if number is None else self.texts.exact_number(float(number))

    def tell_fixed(self) -> list[str]:
        """What no step changes, or, if that is shorter, what alone they change."""
        problem, say = self.menu.problem, self.texts.part("report.basis")
        names = [feature.name for feature in problem.shown_features]
        moved = [name for name in names if name in problem.changed_features]
        fixed = [name for name in (*names, *self.menu.case.sight.given) if name not in moved]
        if not fixed:
            return []
        key, told = ("fixed", fixed) if len(fixed) <= len(moved) or not moved else ("moved", moved)
        return [say(key, features=self.texts.join(list(map(self.teller.feature, told))))]

    def make_table(self, offers: Sequence[Offer]) -> Table:
        """What was reckoned with for this person: the actions of some plans, and those of which they said something."""
        say = self.texts.part("report.basis")
        used = {step.action for offer in offers for step in offer.full_plan.steps}
        told = [action for action in self.original.actions if action.name in used or self._is_own(action)]
        headings = tuple(Cell(say(name)) for name in ("step", "cost", "works", "remark"))
        rows = tuple(self._make_row(action) for action in told)
        width = 4 if any(row[-1].text for row in rows) else 3
        notes = [*self._tell_unsourced(told), *self._tell_unused(told)]
        return Table(say("steps"), headings[:width], tuple(row[:width] for row in rows), note=" ".join(notes))

    def _is_own(self, usual: Action) -> bool:
        return self.menu.problem.action_by_name.get(usual.name) != usual

    def _tell_unsourced(self, told: Sequence[Action]) -> list[str]:
        """Of which steps nobody says where the numbers come from; those of the person come from them."""
        lacking = [
            action.name
            for action in told
            if not self._is_own(action)
            and not all(amount.source for amount in list_amounts(self.original, action.name))
        ]
        if not lacking:
            return []
        say, steps = self.texts.part("report.basis"), self.texts.join(list(map(self.teller.action, lacking)))
        return [say("unsourced") if len(lacking) == len(told) else say("unsourced_steps", steps=steps)]

    def _tell_unused(self, told: Sequence[Action]) -> list[str]:
        """The steps that were considered and are in no plan."""
        left = [self.teller.action(action.name) for action in self.original.actions if action not in told]
        return [self.texts("report.basis.also_considered", steps=self.texts.join(left))] if left else []

    def _make_row(self, usual: Action) -> tuple[Cell, ...]:
        say, name = self.texts.part("report.basis"), Cell(self.teller.action(usual.name))
        action = self.menu.problem.action_by_name.get(usual.name)
        if action is None:
            return name, Cell("–"), Cell("–"), Cell(say("ruled_out"), mark=OWN)
        found = find_figures(self.menu.offers[0].solution.mdp, action.name)
        remarks = [] if action == usual else [self._tell_own(usual)]
        if found is None:
            return name, Cell("–"), Cell("–"), Cell("; ".join([*remarks, say("unused")]))
        rough = [amount for amount in amounts(action.outcomes[0].chance or Amount.exactly(1)) if amount.is_interval]
        if rough:
            ends = min(amount.low for amount in rough), max(amount.high for amount in rough)
            least, most = (self.texts.exact_percent(float(end)) for end in ends)
            remarks.append(say("roughly", least=least, most=most))
        remarks += dict.fromkeys(map(self._tell_source, list_amounts(self.menu.problem, action.name)))
        guesses = sum(path[1] == usual.name for path in self.menu.problem.guesses)
        if guesses:
            remarks.append(say("guesses", count=guesses))
        costs, chances = found
        least, most = self.texts.number(costs[0]), self.texts.number(costs[1])
        cost = self.texts.cost(costs[1], self.unit)
        if least != most:
            cost = say("range", least=least, most=cost)
        least, most = map(self.texts.exact_percent, chances)
        works = most if least == most else say("range", least=least, most=most)
        remark = "; ".join(filter(None, remarks))
        return name, Cell(cost), Cell(works), Cell(remark, mark="" if action == usual else OWN)

    def _tell_own(self, usual: Action) -> str:
        """That figures are the person's own, and what they are otherwise, where that is one number each."""
        say, chance = self.texts.part("report.basis"), usual.outcomes[0].chance
        if usual.prices_outcomes or not isinstance(usual.cost, Amount) or not isinstance(chance, Amount):
            return say("own")
        cost = self.texts.cost(float(usual.cost.nominal), self.unit)
        return say("own_usual", usual=f"{cost}, {self.texts.exact_percent(float(chance.nominal))}")

    def _tell_source(self, amount: Amount) -> str:
        """Where a number comes from: as the file says, or from how many tries; empty for guesses, which are counted."""
        if amount.source == GUESS:
            return ""
        if amount.counts is None:
            return show_name(amount.source)
        counted = {"worked": self.texts.whole(amount.counts.worked), "count": amount.counts.tried}
        said = self.texts("report.basis.counted", **counted)
        named = amount.source != Amount.counted(amount.counts).source
        return f"{said} ({show_name(amount.source)})" if named else said

    def list_rules(self) -> list[str]:
        """Time, what failing counts, and that the rules stay as they are."""
        say, problem = self.texts.part("report.basis"), self.menu.problem
        horizon = say("horizon", steps=self.texts("steps", count=problem.horizon))
        if problem.horizon != self.original.horizon:
            usual = self.texts("steps", count=self.original.horizon)
            horizon = f"{horizon} {say('horizon_usual', steps=usual)}"
        failure = float(problem.goal.failure_cost)
        counts = say("failure", goal=self.goal, cost=self.texts.cost(failure, self.unit))
        return [horizon, counts if failure else say("failure_free", goal=self.goal), say("decides")]


def list_amounts(problem: Problem, action: str) -> list[Amount]:
    """The costs and chances of an action, as far as they are written."""
    return [amount for path, quantity in problem.quantities() if path[1] == action for amount in amounts(quantity)]


def find_figures(mdp: MDP, action: str) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """The least and the largest cost and chance to work of an action, wherever the person may come to take it.

    None if they never can.
    """
    rows = np.flatnonzero(mdp.row_action == mdp.actions.index(action))
    if not len(rows):
        return None
    edges = [range(mdp.edge_start[row], mdp.edge_start[row + 1]) for row in rows.tolist()]
    costs = [int(mdp.edge_cost[edge]) for part in edges for edge in part]
    chances = [sum(float(mdp.edge_chance[edge]) for edge in part if mdp.works(edge)) for part in edges]
    return (mdp.to_cost(min(costs)), mdp.to_cost(max(costs))), (min(chances), max(chances))
