"""Menus as plain data, for `--json`, files and services."""

from __future__ import annotations

from typing import Any

from safear.recourse.menu import Menu
from safear.recourse.notices import NoRecourse, Notice
from safear.recourse.offer import Offer
from safear.recourse.plan import PlanStep
from safear.recourse.teller import Teller
from safear.recourse.traces import OtherTraces, Trace
from safear.risk.distribution import Costs

LEVELS = (0.8, 0.95)


def menu_record(menu: Menu) -> dict[str, Any]:
    """A menu as a dictionary of plain values; what is undefined is None."""
    return {
        "problem": menu.problem.title,
        "person": dict(menu.person),
        "decision": "favourable" if menu.favourable else "unfavourable",
        "no_recourse": None if menu.no_recourse is None else _told(menu.no_recourse),
        "unit": menu.problem.cost_unit,
        "horizon": menu.problem.horizon,
        "cost_error": max((float(offer.solution.mdp.cost_error) for offer in menu), default=0.0),
        "notices": [{**_told(notice), "values": dict(notice.values)} for notice in menu.notices],
        "level": menu.level,
        "plans": [offer_record(offer) for offer in menu],
        "frontier": [frontier_record(offer, menu) for offer in menu.frontier],
    }


def _told(item: Notice | NoRecourse) -> dict[str, Any]:
    return {"code": item.code, "text": str(item)}


def frontier_record(offer: Offer, menu: Menu) -> dict[str, Any]:
    """A plan of the frontier that a menu was chosen from; `plan` is its name in the menu, if it is offered."""
    return {
        "objective": str(offer.objective),
        "success": offer.cost.success,
        "mean": offer.mean,
        "cvar": offer.tail,
        "first_action": offer.first_action,
        "plan": next((other.name for other in menu if other.solution is offer.solution), None),
    }


def offer_record(offer: Offer) -> dict[str, Any]:
    """One plan: `plan` are its likely steps in words, `steps` all of them as data.

    `cost` is given success, `all_runs` counts failures with the failure cost.
    """
    return {
        "name": offer.name,
        "method": offer.solution.method,
        "objective": str(offer.objective),
        "objectives": [str(objective) for objective in offer.objectives],
        "value": offer.value,
        "planned_value": offer.planned_value,
        "bound": offer.solution.bound if offer.solution.certificate is not None else None,
        "value_error": offer.solution.value_error if offer.solution.certificate is not None else None,
        "trade_off": None if offer.trade_off is None else str(offer.trade_off),
        "success": offer.cost.success,
        "cost": costs_record(offer.cost.given_success),
        "all_runs": costs_record(offer.cost.all_runs),
        "sparsity": offer.runs.sparsity,
        "proximity": offer.runs.proximity,
        "first_action": offer.first_action,
        "plan": offer.plan.lines(),
        "steps": [step_record(step) for step in offer.full_plan.steps],
        "traces": [trace_record(trace) for trace in offer.traces.shown],
        "other_traces": rest_record(offer.traces.rest),
        "distribution": [
            {"cost": cost, "chance": chance, "success": success} for cost, chance, success in offer.cost.points()
        ],
    }


def costs_record(costs: Costs | None) -> dict[str, Any]:
    """The figures of a distribution of costs; None each where there is none."""
    return {
        "mean": None if costs is None else costs.mean,
        "variance": None if costs is None else costs.variance,
        "var": {f"{level:g}": None if costs is None else costs.var(level) for level in LEVELS},
        "cvar": {f"{level:g}": None if costs is None else costs.cvar(level) for level in LEVELS},
        "tail_mean": {f"{level:g}": None if costs is None else costs.tail_mean(level) for level in LEVELS},
    }


def step_record(step: PlanStep) -> dict[str, Any]:
    """One step of the contingent plan; `next` says what follows an outcome and in which share of the cases."""
    return {
        "number": step.number,
        "person": step.person,
        "situation": Teller.of().situation(step),
        "action": step.action,
        "visits": step.visits,
        "hope": step.hope,
        "steps_left": list(step.steps_left),
        "spent": None if step.spent is None else list(step.spent),
        "outcomes": [
            {
                "chance": branch.chance,
                "works": branch.works,
                "label": Teller.of().outcome(branch),
                "cost": branch.cost,
                "next": [
                    {"kind": follow_up.kind, "step": follow_up.step, "share": follow_up.share, "since": follow_up.since}
                    for follow_up in branch.follow_ups
                ],
            }
            for branch in step.branches
        ],
    }


def trace_record(trace: Trace) -> dict[str, Any]:
    """One way in which a run may go."""
    steps = [
        {"action": step.action, "outcome": step.outcome, "works": step.works, "cost": step.cost} for step in trace.steps
    ]
    return {"chance": trace.chance, "cost": trace.cost, "success": trace.success, "steps": steps}


def rest_record(rest: OtherTraces | None) -> dict[str, Any] | None:
    """All other traces together."""
    if rest is None:
        return None
    return {
        "chance": rest.chance,
        "success": rest.success,
        "mean_cost": rest.mean_cost,
        "least_cost": rest.least_cost,
        "largest_cost": rest.largest_cost,
    }
