"""How wide texts are: held against pixels, and against what the catalogues say."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import FOLDER, OTHER, document, render_png, shorten, text_width, wrap, write
from pixels import read_png
from safear.texts import languages

SIZE = 40.0


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize(
    "text", ["Häufigkeiten messen", "1,234.5 months", "Žluťoučký kůň", "ПРИВЕТ", "iIl1|.,", "95% → 3"]
)
def test_widths_are_those_of_the_letters_that_are_drawn(text: str, bold: bool) -> None:
    svg = document(1200, 80, title="t", description="d", body=[write(20, 55, text, size=SIZE, bold=bold)])
    inked = np.flatnonzero((read_png(render_png(svg, scale=1.0)) < 200).any(axis=0))
    drawn, width = inked[-1] + 1 - 20, text_width(text, SIZE, bold=bold)
    assert width - 0.25 * SIZE < drawn < width + 1  # the white beside the last letter, and kerning


def test_the_font_has_every_letter_of_the_catalogues() -> None:
    table = (FOLDER / "advances.json").read_text(encoding="utf-8")
    for language in languages():
        words = files("safear.texts").joinpath(f"{language}.yaml").read_text(encoding="utf-8")
        assert not {letter for letter in words if letter.isprintable() and letter not in table}


def test_letters_that_the_font_does_not_have() -> None:
    assert text_width("日本", 10) == 20
    assert text_width("ǻ", 10) == text_width("a", 10)
    assert text_width("e\u0323", 10) == text_width("e", 10)
    assert text_width("𓀀", 10) == 10 * OTHER


@given(st.text(max_size=60), st.floats(0, 300))
def test_shortened_text_fits(text: str, width: float) -> None:
    assert text_width(shorten(text, width, 13), 13) <= width


@given(st.text(max_size=60), st.floats(20, 300))
def test_wrapped_text_fits_and_is_all_there(text: str, width: float) -> None:
    lines = wrap(text, width, 13)
    assert all(text_width(line, 13) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
