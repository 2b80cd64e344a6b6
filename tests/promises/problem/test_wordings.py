"""The whole text of the error for each way to get the file wrong that `mistakes.txt` lists."""

from __future__ import annotations

import pytest

from mistakes import edited, listed_mistakes, shown, told


@pytest.mark.parametrize("old, new, mistake, remedy", listed_mistakes(), ids=lambda text: str(text) or "nothing")
def test_what_is_said(old: str, new: str, mistake: str, remedy: str | None) -> None:
    text = edited((old, new))
    assert told(text) == shown(text, (mistake, remedy))
