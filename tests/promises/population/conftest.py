"""People in a folder, and processes that work on a batch of them, however small it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest

from crowds import job_people
from doors import workers
from promises.cli.conftest import safear  # noqa: F401  # a fixture


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with people in it."""
    folder = tmp_path_factory.mktemp("home")
    job_people(36, seed=5).to_csv(folder / "people.csv", index=False)
    return folder


class TuneWorkers(Protocol):
    """Says from how many people on a batch gets processes, which Python they run, and how long they have to end."""

    def __call__(
        self, *, many: int | None = None, python: object = None, stop_seconds: float | None = None
    ) -> None: ...


@pytest.fixture
def tune_workers(monkeypatch: pytest.MonkeyPatch) -> TuneWorkers:
    """Until the test ends; what is not given stays."""

    def tune(*, many: int | None = None, python: object = None, stop_seconds: float | None = None) -> None:
        given: dict[str, Any] = {"MANY": many, "STOP_SECONDS": stop_seconds}
        given["get_executable"] = None if python is None else lambda: str(python)
        for name, value in given.items():
            if value is not None:
                monkeypatch.setattr(workers, name, value)

    return tune
