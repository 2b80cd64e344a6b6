"""Which step comes after an outcome, and by what a person can tell: how often it failed, or what has been spent.

After an outcome a run is in one state; what is done there may depend on how many tries were made and on what has been
spent. If one of the two tells the ways on apart, only that is said, in the order in which one would ask: "if you have
spent at most 3 months, A; otherwise, B".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from safear.recourse.plan import Branch, FollowUp, PlanStep

RARE = 0.01  # a way on that is taken in fewer of the cases is not spelled out

Code = Literal["always", "fails", "tries", "made", "spent", "step", "otherwise", "end"]
Bounds = Callable[["FollowUp"], tuple[float, float]]


class PlanTurn(NamedTuple):
    """A way on, and when it is taken if none of those before it is.

    `code` says by what one can tell, up to `most`:
    - "fails": when this has happened so many times;
    - "tries": on one of the first so many tries of this step;
    - "made": when at most so many tries, of any kind, were made;
    - "spent": when at most so much was spent;
    - "step": where the situation of the step that comes next applies;
    - "otherwise", or "end": when time is up. "always" is a way that needs no words.
    """

    code: Code
    follow_up: FollowUp
    most: float = 0


def find_likely(branch: Branch, rare: float = RARE) -> list[FollowUp]:
    """What comes after an outcome without what is rare, unless that is all."""
    likely = [f for f in branch.follow_ups if max(f.share, f.share_if_off) >= rare]
    return likely[:1] if all(f.kind == "not shown" for f in likely) else likely


def find_turns(branch: Branch, step: PlanStep, *, rare: float = RARE) -> list[PlanTurn]:
    """The likely ways on from an outcome of a step, in the order in which to tell them."""
    likely = find_likely(branch, rare)
    end = [PlanTurn("end" if len(likely) > 1 else "always", f) for f in likely if f.kind == "out of time"]
    ways = [f for f in likely if f.kind != "out of time"]
    return [*_tell_apart(ways, branch, step), *end]


def _tell_apart(ways: Sequence[FollowUp], branch: Branch, step: PlanStep) -> list[PlanTurn]:
    if len(ways) < 2:
        return [PlanTurn("always", way) for way in ways]
    entered = step.entered
    if entered is not None and (found := _sort_by(lambda way: (way.since - entered, way.until - entered), ways)):
        again, *others = found
        if again.step == step.number and _repeats_only_by(branch, step):
            return [PlanTurn("always", again), *(PlanTurn("fails", way, way.since - entered) for way in others)]
        return _list_in_order("tries", [(way, way.until - entered) for way in found])
    if all(way.spent for way in ways) and (found := _sort_by(lambda way: way.spent or (0.0, 0.0), ways)):
        return _list_in_order("spent", [(way, way.spent[1]) for way in found if way.spent])
    if found := _sort_by(lambda way: (way.since, way.until), ways):
        return _list_in_order("made", [(way, way.until) for way in found])
    named = sorted(ways, key=lambda way: way.step is None)
    others = [way for way in named if way.step is None] or named[-1:]
    return [PlanTurn("otherwise" if way in others else "step", way) for way in named]


def _list_in_order(code: Code, ways: Sequence[tuple[FollowUp, float]]) -> list[PlanTurn]:
    """Ways in rising order of their bounds: each is taken up to its own, and the last in all other cases."""
    *before, (last, _) = ways
    return [*(PlanTurn(code, way, most) for way, most in before), PlanTurn("otherwise", last)]


def _sort_by(bounds: Bounds, ways: Sequence[FollowUp]) -> list[FollowUp]:
    """The ways in rising order of their bounds; empty if these overlap."""
    found = sorted(ways, key=bounds)
    apart = all(bounds(one)[1] < bounds(other)[0] for one, other in pairwise(found))
    return found if apart else []


def _repeats_only_by(branch: Branch, step: PlanStep) -> bool:
    """Whether a step is tried again after this outcome only: so many tries are then so many times that it happened."""
    return all(
        other is branch or all(follow_up.step != step.number for follow_up in other.follow_ups)
        for other in step.branches
    )
