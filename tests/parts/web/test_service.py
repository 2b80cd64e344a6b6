"""What is done before the first visitor comes."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from doors import Service
from doors import serve_module as serve
from safear.cli.main import cli


@pytest.mark.parametrize("watched", [True, False])
def test_who_waits_is_told_before_anything_is_warmed_up(monkeypatch: pytest.MonkeyPatch, watched: bool) -> None:
    """Of a large problem that takes a while. Nothing is told where nobody looks, as with bars."""

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Service, "warm_up", stop)
    monkeypatch.setattr(serve, "is_watched", lambda: watched)
    result = CliRunner().invoke(cli, ["serve", "loan", "--port", "0"])
    assert ("getting ready: Loan approval" in result.stderr) == watched
    assert result.stdout == ""
