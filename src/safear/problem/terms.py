"""Personal terms: what actions cost one person, how often they work for them, and what they cannot do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from safear.arguments import show
from safear.errors import Mistake, TermsError, mistake
from safear.problem.checks import check_action, check_problem, trust_problem
from safear.problem.model import Action, Outcome, Problem
from safear.problem.quantity import Amount, Quantity
from safear.problem.quantity_checks import check_amount
from safear.problem.ranking import Ranking, check_ranking, make_ranking, price_ranking
from safear.problem.wrong_names import unknown_action


@dataclass(frozen=True, slots=True)
class ActionTerms:
    """What one action means for one person; None leaves the problem's own value.

    `chance` is that of the first outcome, and the only other outcome gets the rest; `outcomes` replaces all of them.
    """

    cost: Quantity | None = None
    chance: Quantity | None = None
    outcomes: tuple[Outcome, ...] | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """Personal terms for some of the actions of a problem; `forbid` names actions that are out of the question.

    `rank` has actions from easy to hard, instead of their costs: see `safear.problem.ranking`.
    """

    actions: Mapping[str, ActionTerms] = field(default_factory=dict)
    forbid: tuple[str, ...] = ()
    rank: Ranking = ()

    @classmethod
    def of(
        cls,
        *,
        cost: Mapping[str, float | Decimal] | None = None,
        chance: Mapping[str, float | Decimal] | None = None,
        forbid: Sequence[str] = (),
        rank: Sequence[str | Sequence[str]] = (),
    ) -> Terms:
        """Terms from plain numbers: `Terms.of(cost={"improve skill": 2}, forbid=["change job"])`.

        Or by rank, from easy to hard: `Terms.of(rank=["increase savings", ["improve skill", "change job"]])`.
        """
        costs = {name: Amount.exactly(value) for name, value in (cost or {}).items()}
        chances = {name: Amount.exactly(value) for name, value in (chance or {}).items()}
        names = dict.fromkeys((*costs, *chances))
        forbidden = (forbid,) if isinstance(forbid, str) else tuple(forbid)
        own = {name: ActionTerms(costs.get(name), chances.get(name)) for name in names}
        return cls(own, forbidden, make_ranking(rank))


def apply_terms(problem: Problem, terms: Terms) -> Problem:
    """The problem as it is for this person. Mistakes in the terms are raised as a TermsError."""
    if not isinstance(terms, Terms):
        remedy = "use Terms.of(...), parse_terms or load_terms"
        raise TermsError.at((), f"{show(terms)} are not terms", remedy, code="wrong_type")
    if terms == Terms():
        return problem
    changed, mistakes = merge_terms(problem, terms)
    if mistakes:
        raise TermsError(mistakes)
    return changed if check_problem(problem) else trust_problem(changed)


def merge_terms(problem: Problem, terms: Terms) -> tuple[Problem, list[Mistake]]:
    """The problem with the terms put in, and every mistake in them."""
    named: list[tuple[tuple[str | int, ...], str]] = [(("forbid", i), name) for i, name in enumerate(terms.forbid)]
    named += [(("actions", name), name) for name in terms.actions]
    mistakes = [unknown_action(path, name, problem) for path, name in named if name not in problem.action_by_name]
    ranked, unclear = _price_ranked(problem, terms)
    mistakes += unclear
    actions: list[Action] = []
    for action in problem.actions:
        own = terms.actions.get(action.name, ActionTerms())
        if action.name in ranked:
            own = replace(own, cost=Amount.exactly(ranked[action.name]))
        if own.chance is not None and own.outcomes is None and len(action.outcomes) > 2:
            cause = f"'{action.name}' has {len(action.outcomes)} outcomes, so one chance is not enough"
            path = ("actions", action.name, "chance")
            mistakes.append(
                mistake(path, cause, "give 'outcomes' with all chances", code="one_chance", action=action.name)
            )
            continue
        merged = merge_action(action, own)
        if not is_sound(problem, own):
            mistakes += [item if own.outcomes else _in_short_form(item) for item in check_action(problem, merged)]
        if action.name not in terms.forbid:
            actions.append(merged)
    return replace(problem, actions=tuple(actions)), mistakes


def is_sound(problem: Problem, own: ActionTerms) -> bool:
    """Whether terms are numbers of their kind: nothing else can then be wrong with an action that was right before.

    The rest goes to the other outcome, so chances add up to 1 whatever the number is.
    """
    if own.outcomes is not None or check_problem(problem):
        return False
    numbers = {"cost": own.cost, "chance": own.chance}
    return all(
        number is None
        or (
            isinstance(number, Amount)
            and number.counts is None
            and not any(check_amount(number, (name,), is_chance=name == "chance"))
        )
        for name, number in numbers.items()
    )


def _price_ranked(problem: Problem, terms: Terms) -> tuple[dict[str, Decimal], list[Mistake]]:
    """What ranked actions cost, and what is wrong with the ranking."""
    if not terms.rank:
        return {}, []
    if mistakes := list(check_ranking(problem, terms.rank)):
        return {}, mistakes
    ranked = price_ranking(problem, terms.rank, forbid=terms.forbid)
    twice = [name for name, own in terms.actions.items() if name in ranked and own.cost is not None]
    mistakes = [
        mistake(("actions", name, "cost"), f"'{name}' is ranked, and has a cost", "drop one of them", code="both")
        for name in twice
    ]
    for number, tier in enumerate(terms.rank):
        for name in tier:
            if merge_action(problem.action_by_name[name], terms.actions.get(name, ActionTerms())).prices_outcomes:
                cause = (
                    f"'{name}' cannot be ranked: its outcomes have costs of their own, which a rank would not change"
                )
                remedy = "leave it out of the ranking, or give its 'outcomes' with your costs"
                mistakes.append(mistake(("rank", number), cause, remedy, code="outcome_costs", action=name))
    return ranked, mistakes


def _in_short_form(item: Mistake) -> Mistake:
    """The chance of the first outcome stands in the action's terms themselves."""
    path = item.place.path
    if path[2:5] == ("outcomes", 0, "chance"):
        return replace(item, place=replace(item.place, path=(*path[:2], *path[4:])))
    return item


def merge_action(action: Action, own: ActionTerms) -> Action:
    """The action with the terms put in: the same one if there are none."""
    if own == ActionTerms():
        return action
    outcomes = action.outcomes if own.outcomes is None else own.outcomes
    if own.chance is not None and own.outcomes is None:
        first, *others = outcomes
        rest = replace(others[0], chance=None) if others else Outcome()
        outcomes = (replace(first, chance=own.chance), rest)
    return replace(action, cost=action.cost if own.cost is None else own.cost, outcomes=outcomes)
