"""The paper's figures as pictures: the motivating example, the case studies, the learning curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from safear.datasets.bundled import load_example
from safear.datasets.dataset import load
from safear.paper.instances import INSTANCES, learn_instance, study_cases
from safear.paper.tables import Workshop, loan_offers
from safear.plots import Picture, learning_curves, traces
from safear.recourse.offer import Offer
from safear.recourse.selection import merge_alike


def draw(table: str, workshop: Workshop) -> Iterator[tuple[str, Picture]]:
    """The pictures that belong to a table, each with the name of its file."""
    if table == "loan":
        title = f"{load_example('loan').title}: what can happen under each plan"
        yield "loan.svg", traces(_by_risk(loan_offers().values()), title=title)
    elif table == "cases":
        for case in study_cases(workshop):
            if case.offers:
                title = f"{load(case.dataset).problem.title}, {case.group}: what can happen under each plan"
                yield (
                    f"cases-{case.dataset}-{case.group.replace(' ', '-')}.svg",
                    traces(_by_risk(_merge(case.offers)), title=title),
                )
    elif table == "episodic":
        for dataset, group in INSTANCES:
            problem = load(dataset).problem
            curves = learn_instance(dataset, group, workshop.seeds[0])
            title = f"{problem.title}, {group}: costs while learning"
            picture = learning_curves(curves, window=500, title=title, unit=problem.cost_unit)
            yield f"episodic-{dataset}-{group.replace(' ', '-')}.svg", picture


def _merge(offers: Iterable[Offer]) -> list[Offer]:
    """Alike plans as one, called by all of their objectives."""
    merged = merge_alike([offer.solution for offer in offers])
    return [replace(offer, label=", ".join(map(str, offer.objectives))) for offer in merged]


def _by_risk(offers: Iterable[Offer]) -> list[Offer]:
    """Safest first."""
    return sorted(offers, key=lambda offer: offer.tail)
