"""SVG as PNG and PDF by vl-convert, with letters from the fonts beside this file.

vl-convert draws text only in fonts that it finds, and leaves out the rest without a word. So the pictures bring their
own: Latin, Greek and Cyrillic letters look the same on every machine; others need a font of the system.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

from safear.errors import MissingExtraError
from safear.plots.letters import FOLDER
from safear.plots.svg import FONTS, escape

FAMILY = "SafeAR Sans"  # the name inside the files
SCALE = 2.0  # pixels per unit of the SVG, for screens with fine dots


def render_png(svg: str, *, scale: float = SCALE) -> bytes:
    """The picture as PNG, `scale` pixels per unit."""
    image: bytes = load_converter().svg_to_png(_with_own_fonts(svg), scale=scale)
    return image


def render_pdf(svg: str) -> bytes:
    """The picture as PDF."""
    document: bytes = load_converter().svg_to_pdf(_with_own_fonts(svg))
    return document


def _with_own_fonts(svg: str) -> str:
    return svg.replace(f'font-family="{escape(FONTS)}"', f'font-family="{FAMILY}"', 1)


@cache
def load_converter() -> ModuleType:
    """vl-convert, with our fonts; a MissingExtraError if it is not installed."""
    try:
        import vl_convert  # noqa: PLC0415  # an extra
    except ImportError:
        raise MissingExtraError("vl-convert", "plots") from None
    vl_convert.register_font_directory(str(FOLDER))
    return vl_convert
