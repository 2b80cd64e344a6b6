"""How often an action may be tried, and how far a feature may go: spelled out as bookkeeping, here and nowhere else.

    at_most on an action   a hidden feature counts its tries, from 0 to the most: each try moves it up by one, and where
                           it is at the end the action is not offered
    at_most on a feature   a hidden, immutable feature keeps the filed level, and a constraint keeps the feature near it

A problem is spelled out when it is made, so that whoever compiles it needs to know of hidden features only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from safear.problem.condition import Condition, Within

if TYPE_CHECKING:
    from safear.problem.model import Action, Feature

MOST_TRIES_COUNTED = 1000  # no plan has more steps


def spell_out(
    features: Sequence[Feature], actions: Sequence[Action], constraints: Sequence[Condition]
) -> tuple[tuple[Feature, ...], tuple[Action, ...], tuple[Condition, ...]]:
    """The same with the bookkeeping that limits need, made anew from them: nothing is left of a limit that is gone.

    Only counters of actions that are gone stay: states keep their form if somebody's terms forbid an action. And an
    action that is counted by another's counter, with the same limit, stays so: they are variants of one action.
    """
    own = {action.name: count_tries(action) for action in actions if action.at_most is not None}
    before = {feature.name: feature for feature in features if feature.counts}
    copies = {feature.name: keep_filed(feature) for feature in features if feature.at_most is not None}
    gone = {feature.counts for feature in features if feature.counts} - {action.name for action in actions}
    counters: dict[str, Feature] = {}
    for action in actions:
        old = before.get(action.counted_by)
        shared = None if old is None else own.get(old.counts, old if old.counts in gone else None)
        if action.name in own:
            fits = shared is not None and len(shared.levels) == len(own[action.name].levels)
            counters[action.name] = shared if shared is not None and fits else own[action.name]
    known: list[Feature] = []  # those that were there before stay in their places
    for feature in features:
        made = counters.get(feature.counts) or copies.get(feature.copy_of) if feature.is_derived else feature
        known += [made] if made is not None else [feature] if feature.counts in gone else []
    needed = {feature.name: feature for feature in (*counters.values(), *copies.values())}
    known += [feature for feature in needed.values() if feature not in known]
    names = {name: counter.name for name, counter in counters.items()}
    told = [_count_by(action, names.get(action.name, "")) for action in actions]
    near = [Within(one.name, filed_name(one.name), one.at_most) for one in features if one.at_most is not None]
    others = [condition for condition in constraints if not isinstance(condition, Within)]
    return tuple(known), tuple(told), (*others, *near)


def _count_by(action: Action, name: str) -> Action:
    """The action with this counter; the same one if it has it already."""
    return action if action.counted_by == name else replace(action, counted_by=name)


def count_tries(action: Action) -> Feature:
    """The counter of an action."""
    from safear.problem.model import Feature  # noqa: PLC0415  # which calls this when a problem is made

    most = min(max(action.at_most or 0, 0), MOST_TRIES_COUNTED)
    levels = tuple(str(count) for count in range(most + 1))
    name = f"tries of '{action.name}'"
    return Feature(name, "ordinal", levels, actionable=False, seen_by_classifier=False, hidden=True, counts=action.name)


def keep_filed(feature: Feature) -> Feature:
    """The copy of a feature that stays as it was filed."""
    return replace(
        feature,
        name=filed_name(feature.name),
        mutable=False,
        actionable=False,
        seen_by_classifier=False,
        hidden=True,
        missing="",  # it then begins where the original does
        copy_of=feature.name,
        at_most=None,
    )


def filed_name(name: str) -> str:
    """What the copy of a feature is called."""
    return f"'{name}' as filed"
