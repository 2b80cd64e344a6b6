"""Rebuild the fonts that pictures carry: `python tools/embed_fonts.py FOLDER_WITH_WHEELS`; needs fonttools.

The wheel comes from `pip download --no-deps --dest FOLDER matplotlib`, which holds DejaVu 2.35. Each font is held
against its SHA-256, cut down to Latin, Greek and Cyrillic letters and common signs, given a family name of its own
(so that it is never taken for a full DejaVu on the machine) and written to src/safear/plots/fonts, beside its licence.
Nothing in it depends on the time or the machine, so that a second run changes nothing.
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from pathlib import Path

from fontTools.subset import Options, Subsetter, parse_unicodes
from fontTools.ttLib import TTFont

TARGET = Path(__file__).parent.parent / "src" / "safear" / "plots" / "fonts"
FAMILY = "SafeAR Sans"
SOURCE = "matplotlib/mpl-data/fonts/ttf/"
FONTS = {  # file in the wheel -> its SHA-256, style, file here
    "DejaVuSans.ttf": (
        "3fdf69cabf06049ea70a00b5919340e2ce1e6d02b0cc3c4b44fb6801bd1e0d22",
        "Regular",
        "regular.ttf",
    ),
    "DejaVuSans-Bold.ttf": (
        "b184b89e3c1075f22f6b71575b6fc20d4972b3cfd3b23322ca6fd596dcaef167",
        "Bold",
        "bold.ttf",
    ),
}
LICENCE = "LICENSE_DEJAVU"
LETTERS = (
    "20-7E A0-17F 192 218-21B 259 2C6-2DD 300-304 306-30C 327-328 386-3CE 400-45F 490-491 1E9E 2010-2027 202F 2030 "
    "2032-2033 2039-203A 20A0-20BF 2122 2190-2193 2212 2248 2260 2264-2265 2713 2717 FFFD"
)
NAMES = {1: FAMILY, 3: FAMILY, 4: FAMILY, 6: FAMILY.replace(" ", ""), 16: FAMILY}


def cut_down(content: bytes, style: str) -> bytes:
    """The font with our letters only, under our name."""
    font = TTFont(io.BytesIO(content), recalcTimestamp=False)
    options = Options(hinting=False, layout_features=["kern", "mark", "ccmp"], drop_tables=["FFTM"], name_languages="*")
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=parse_unicodes(LETTERS.replace(" ", ",")))
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in NAMES:
            ending = "" if record.nameID in {1, 16} else f"-{style}"
            record.string = NAMES[record.nameID] + ending
    packed = io.BytesIO()
    font.save(packed)
    return packed.getvalue()


def embed(folder: Path, target: Path) -> None:
    """Write both fonts and their licence."""
    wheels = sorted(folder.glob("matplotlib-*.whl"))
    if not wheels:
        sys.exit(f"{folder}: no wheel of matplotlib; pip download --no-deps --dest {folder} matplotlib")
    target.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheels[-1]) as wheel:
        for name, (sha256, style, file) in FONTS.items():
            content = wheel.read(SOURCE + name)
            found = hashlib.sha256(content).hexdigest()
            if found != sha256:
                sys.exit(f"{wheels[-1]}: {name} has the SHA-256 {found}, not {sha256}")
            small = cut_down(content, style)
            (target / file).write_bytes(small)
            sys.stdout.write(f"{target / file}: {len(small)} bytes\n")
        (target / LICENCE).write_bytes(wheel.read(SOURCE + LICENCE))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/embed_fonts.py FOLDER_WITH_WHEELS")
    embed(Path(sys.argv[1]), TARGET)
