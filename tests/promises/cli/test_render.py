"""What the terminal shows."""

from __future__ import annotations

from pathlib import Path

from promises.cli.conftest import Safear


def test_names_stay_as_they_are(safear: Safear, tmp_path: Path) -> None:
    """They are neither markup nor pictures."""
    file, text = tmp_path / "problem.yaml", safear("examples", "loan").out
    file.write_text(text.replace("change job:", '"change [bold] job :smile:":'), encoding="utf-8")
    assert "change [bold] job :smile:" in safear("recommend", file).out
