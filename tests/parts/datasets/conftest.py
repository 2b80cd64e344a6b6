"""The data sets with their forests of seed 0, trained once, in a cache of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from safear.datasets import Dataset, load


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAFEAR_CACHE", str(folder))
        yield folder


@pytest.fixture
def german() -> Dataset:
    return load("german")


@pytest.fixture
def insurance() -> Dataset:
    return load("insurance")
