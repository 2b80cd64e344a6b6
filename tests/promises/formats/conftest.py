"""The command line and the page, as the tests of each have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import safear as sa
from doors import Service
from promises.cli.conftest import safear  # noqa: F401  # a fixture
from promises.formats.reading import load_model
from promises.web.conftest import Site, run_site


@pytest.fixture(scope="module")
def open_site() -> Iterator[Callable[[Path], Site]]:
    """Serve the problem of a golden folder, once for all tests."""
    sites: dict[Path, Site] = {}
    with ExitStack() as stack:

        def serve(folder: Path) -> Site:
            if folder not in sites:
                problem = sa.load_problem(folder / "problem.yaml")
                sites[folder] = stack.enter_context(run_site(Service.of(problem, load_model(folder, problem))))
            return sites[folder]

        yield serve
