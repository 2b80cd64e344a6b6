"""Compile what a server needs while a container is built, so that nothing is left to compile when it starts.

A server never compiles what takes a minute (the search for simple plans), but uses it where it was compiled before.
"""

from __future__ import annotations

import pandas as pd

import safear as sa
from safear.loading import expect_many
from safear.web.service import Service
from safear.web.work import Deadline


def main() -> None:
    """Answer everybody of the bundled problems as the page does, and audit them."""
    for name in ("loan", "health-insurance"):
        service = Service.of(sa.load_example(name))
        people = service.problem.people
        expect_many()
        for person in people.values():
            for robust in (False, True):
                service.answer(person, deadline=Deadline.never(), robust=robust)
        service.warm_up()
        features = service.problem.shown_features
        everybody = pd.DataFrame([dict(person) for person in people.values()])
        sa.audit(service.problem, None, everybody, groups=[features[0].name])


if __name__ == "__main__":
    main()
