"""The rules that a plan is told in: a step each, or several that repeat an action until it has worked so often."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from safear.recourse.plan import Branch, Plan, PlanStep

Rule = tuple["PlanStep", ...]  # the steps that it tells, in order


def group_rules(plan: Plan) -> list[Rule]:
    """The steps of a plan, those that repeat an action together."""
    coming: dict[int | None, set[int]] = {}
    for step in plan.steps:
        for branch in step.branches:
            for follow_up in branch.follow_ups:
                coming.setdefault(follow_up.step, set()).add(step.number)
    rules: list[Rule] = []
    for step in plan.steps:
        last = rules[-1][-1] if rules else None
        if (
            last is not None
            and coming.get(step.number, set()) <= {last.number, step.number}
            and _repeats(plan, last, step)
        ):
            rules[-1] = (*rules[-1], step)
        else:
            rules.append((step,))
    return rules


def _repeats(plan: Plan, step: PlanStep, after: PlanStep) -> bool:
    """Whether a step does again what the one before it did, once that has worked, and both are tried until they do.

    Not if the second has a reason of its own: a rule tells only that of its first step.
    """
    works = [[branch for branch in one.branches if branch.works] for one in (step, after)]
    fails = [[branch for branch in one.branches if not branch.works] for one in (step, after)]
    again, or_too_late = [after.number], [after.number, "out of time"]
    return (
        (step.action, step.cost, step.hope, step.is_main) == (after.action, after.cost, after.hope, after.is_main)
        and after.reason is None
        and [len(branches) for branches in works] == [1, 1]
        and _list_ways(plan, works[0][0], step) == [after.number]
        and all(_list_ways(plan, branch, step) == [step.number] for branch in fails[0])
        and all(_list_ways(plan, branch, after) in (again, or_too_late) for branch in fails[1])
        and len({(branch.cost, branch.label, branch.changes) for branch in fails[0] + fails[1]}) <= 1
    )


def _list_ways(plan: Plan, branch: Branch, step: PlanStep) -> list[int | str]:
    """The steps that likely come after an outcome, by number, and the ends, by kind."""
    ways = [turn.follow_up for turn in plan.find_turns(branch, step)]
    return [way.kind if way.step is None else way.step for way in ways]
