"""What the terminal shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from safear.datasets.bundled import example_text

if TYPE_CHECKING:
    from cli.conftest import Safear


def test_names_stay_as_they_are(safear: Safear, tmp_path: Path) -> None:
    """They are neither markup nor pictures."""
    file = tmp_path / "problem.yaml"
    file.write_text(example_text("loan").replace("change job:", '"change [bold] job :smile:":'), encoding="utf-8")
    assert "change [bold] job :smile:" in safear("recommend", file).out
