"""How simple are plans, and what does that cost? `python -m benchmarks.simplest` tells.

People of Adult and German whom the paper's forest rejects and who have a way, drawn at random, always the same: their
menus with the best plans (`exact`) and with the simplest ones that are nearly as good.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from safear.paper.study import Study
from safear.recourse.case import Case
from safear.recourse.menu import Request, make_menu
from safear.recourse.offer import Offer
from safear.recourse.simplest import FEW_RULES as FEW


@dataclass(frozen=True)
class Seen:
    """What was seen of one kind of menu: of each plan its rules and words, and how long each menu took."""

    rules: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)

    def look(self, case: Case, *, simple: bool) -> None:
        """Make the menu and look at its plans."""
        began = time.process_time()
        menu = make_menu(case, Request(exact=not simple))
        self.seconds.append(time.process_time() - began)
        for offer in menu:
            self.rules.append(offer.rules)
            self.words.append(len(" ".join(offer.plan.lines()).split()))
            self.offers.append(offer)

    def describe(self) -> str:
        """In a line."""
        rules, seconds = np.array(self.rules), 1000 * np.array(self.seconds)
        return (
            f"{len(rules)} plans, at most {FEW} rules {(rules <= FEW).mean():.1%}, "
            f"rules mean {rules.mean():.2f} max {rules.max()}, "
            f"words mean {np.mean(self.words):.0f} max {max(self.words)}, "
            f"ms per menu median {np.median(seconds):.0f} mean {seconds.mean():.0f} max {seconds.max():.0f}"
        )


def describe(name: str, people: int) -> Iterator[str]:
    """The people of a data set."""
    study = Study.of(name)
    codes = study.dataset.codes[study.rejected]
    drawn = np.sort(np.random.default_rng(0).permutation(len(codes))[:people])
    before, after = Seen(), Seen()
    features = study.problem.features
    for number, code in enumerate(codes[drawn]):
        person = {feature.name: feature.levels[level] for feature, level in zip(features, code, strict=True)}
        if number == 0:
            make_menu(study.desk.open(person))  # what is loaded once
        for seen, simple in ((before, False), (after, True)):
            case = study.desk.open(person)  # anew, so that nothing is known from the other menu
            if case.needs_plan:
                seen.look(case, simple=simple)
    yield f"{name}: {len(drawn)} people, {len(before.seconds)} with a plan"
    yield f"  before: {before.describe()}"
    yield f"  after:  {after.describe()}"
    told = [offer.simplified for offer in after.offers if offer.simplified is not None]
    everyone = [0.0 if offer.simplified is None else max(offer.simplified.loss, 0.0) for offer in after.offers]
    if told:
        losses, dearer = [max(one.loss, 0.0) for one in told], [one.dearer for one in told]
        lower, kept = max(one.success for one in told), sum(o.first_action == o.best.first_action for o in after.offers)
        yield f"  simplified {len(told)}: certified loss mean {np.mean(losses):.2%} max {max(losses):.2%}"
        yield f"  mean or tail dearer mean {np.mean(dearer):.2%} max {max(dearer):.2%}; success lower max {lower:.4f}"
        yield f"  loss over all plans mean {np.mean(everyone):.2%}; first step kept by {kept}"


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=500, help="people who are drawn of each data set")
    people = parser.parse_args().people
    for name in ("adult", "german"):
        for line in describe(name, people):
            print(line, flush=True)


if __name__ == "__main__":
    main()
