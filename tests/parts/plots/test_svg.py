"""Drawing: letters, and SVG."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import (
    FOLDER,
    LABEL_GAP,
    OTHER,
    Label,
    blue,
    document,
    element,
    escape,
    nice_ticks,
    number,
    place_labels,
    render_png,
    shorten,
    spread,
    text_width,
    wrap,
    write,
)
from drawings import read
from pixels import read_png
from safear.texts import languages

# ---------------------------------------------------------------------------------------------------- The small writer


floats = st.floats(0, 1000)


@given(st.text())
def test_any_text_is_valid(text: str) -> None:
    svg = document(10, 10, title=text, description=text, body=[element("g", escape(text), data_name=text)])
    assert read(svg).find("{http://www.w3.org/2000/svg}g") is not None


def test_numbers_have_one_form() -> None:
    assert [number(value) for value in (0, -0.001, 1.0, 2.345678, 100, -1.5)] == ["0", "0", "1", "2.35", "100", "-1.5"]


def test_what_is_shortened_is_told_in_full() -> None:
    assert write(1, 2, "long words", size=10, room=33) == (
        '<text x="1" y="2" font-size="10"><title>long words</title>long…</text>'
    )


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(1, 12))
def test_ticks_cover_the_range(low: float, length: float, about: int) -> None:
    ticks = nice_ticks(low, low + length, about)
    assert ticks[0] <= low + 1e-6 * length + 1e-9
    assert ticks[-1] >= low + length * (1 - 1e-6) - 1e-9
    assert len(ticks) <= about + 3


@given(st.lists(st.tuples(floats, st.floats(1, 80)), min_size=1, max_size=12))
def test_spread_keeps_order_and_room(items: list[tuple[float, float]]) -> None:
    items.sort()
    widths = [width for _, width in items]
    found = spread([centre for centre, _ in items], widths, 0, 1000)
    assert found is not None
    edges = [(centre - width / 2, centre + width / 2) for centre, width in zip(found, widths, strict=True)]
    assert edges[0][0] >= -1e-6
    assert edges[-1][1] <= 1000 + 1e-6
    assert all(one[1] <= other[0] + 1e-6 for one, other in pairwise(edges))


def test_spread_without_room() -> None:
    assert spread([1, 2], [60, 60], 0, 100) is None
    assert spread([10, 90], [20, 20], 0, 100) == pytest.approx([10, 90])


@given(st.lists(st.tuples(st.floats(0, 200), st.integers(0, 40)), max_size=10))
def test_labels_never_overlap(items: list[tuple[float, int]]) -> None:
    labels, at = [], 50.0
    for width, length in items:
        forms = tuple("m" * count for count in range(length, -1, -1))
        labels.append(Label(at, at + width, forms, forms[0]))
        at += width
    placed = place_labels(labels, 13, 46, 1000)
    edges = [(centre - text_width(text, 13) / 2, centre + text_width(text, 13) / 2) for _, text, centre in placed]
    assert all(one[1] + LABEL_GAP <= other[0] + 1e-6 for one, other in pairwise(edges))
    assert all(left >= 46 - 1e-6 and right <= 1000 + 1e-6 for left, right in edges)


def test_the_ramp_darkens() -> None:
    for count in range(2, 9):
        brightness = [sum(bytes.fromhex(blue(place, count)[1:])) for place in range(count)]
        assert brightness == sorted(brightness, reverse=True)
        assert len(set(brightness)) == count


# ---------------------------------------- How wide texts are: held against pixels, and against what the catalogues say


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
