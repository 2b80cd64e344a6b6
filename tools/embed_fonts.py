"""Rebuild the fonts that pictures carry: `python tools/embed_fonts.py FOLDER_WITH_PACKAGE`; needs fonttools.

The package comes from `apt-get download fonts-inter` (Debian 12), which holds Inter 3.19. Each font is held against its
SHA-256, cut down to Latin, Greek and Cyrillic letters and common signs, given a family name of its own (so that it is
never taken for a full Inter on the machine) and written to src/safear/plots/fonts, beside its licence and a table of
how wide each letter is, by which texts are laid out.
Nothing in it depends on the time or the machine, so that a second run changes nothing.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

from fontTools.subset import Options, Subsetter, parse_unicodes
from fontTools.ttLib import TTFont

TARGET = Path(__file__).parent.parent / "src" / "safear" / "plots" / "fonts"
FAMILY = "SafeAR Sans"
SOURCE = "./usr/share/fonts/opentype/inter/"
FONTS = {  # file in the package -> its SHA-256, style, name here
    "Inter-Regular.otf": ("a7e791e8f5a0fb02b65663f7fca73e1d1ca9543f772ad480cbd76f4e3fe3f8cc", "Regular", "regular"),
    "Inter-Bold.otf": ("1e9dfd6a6e33ac63a8fe3b4ed7ae0df9eac2d0b25e444e8e7daef4ac77943fc1", "Bold", "bold"),
}
LICENCE, LICENCE_SOURCE = "LICENSE_INTER", "./usr/share/doc/fonts-inter/copyright"
LETTERS = (
    "20-7E A0-17F 192 218-21B 259 2C6-2DD 300-304 306-30C 327-328 386-3CE 400-45F 490-491 1E9E 2010-2027 202F 2030 "
    "2032-2033 2039-203A 20A0-20BF 2122 2190-2193 2212 2248 2260 2264-2265 25A1 2713 2717 FFFD"
)
UNKNOWN, BOX = 0xFFFD, 0x25A1  # Inter has no sign for what cannot be shown; a box stands for it
NAMES = {1: FAMILY, 3: FAMILY, 4: FAMILY, 6: FAMILY.replace(" ", ""), 16: FAMILY}


def cut_down(content: bytes, style: str) -> tuple[bytes, dict[str, float]]:
    """The font with our letters only, under our name; and how wide they are, in font sizes."""
    font = TTFont(io.BytesIO(content), recalcTimestamp=False)
    for table in font["cmap"].tables:
        if table.isUnicode() and BOX in table.cmap:
            table.cmap[UNKNOWN] = table.cmap[BOX]
    options = Options(hinting=False, layout_features=["kern", "mark", "ccmp"], drop_tables=["FFTM"], name_languages="*")
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=parse_unicodes(LETTERS.replace(" ", ",")))
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in NAMES:
            ending = "" if record.nameID in {1, 16} else f"-{style}"
            record.string = NAMES[record.nameID] + ending
    font["CFF "].cff.fontNames = [f"{NAMES[6]}-{style}"]
    packed = io.BytesIO()
    font.save(packed)
    widths, size = font["hmtx"].metrics, font["head"].unitsPerEm
    advances = {chr(code): round(widths[name][0] / size, 3) for code, name in sorted(font.getBestCmap().items())}
    return packed.getvalue(), advances


def open_package(path: Path) -> tarfile.TarFile:
    """The files of a Debian package: an `ar` archive, each member after a header of 60 bytes."""
    content, place = path.read_bytes(), 8
    while place < len(content):
        name, size = content[place : place + 16].strip(b" /"), int(content[place + 48 : place + 58])
        if name == b"data.tar.xz":
            return tarfile.open(fileobj=io.BytesIO(content[place + 60 : place + 60 + size]))
        place += 60 + size + size % 2
    sys.exit(f"{path}: no data.tar.xz in it")


def read_file(package: tarfile.TarFile, name: str) -> bytes:
    """A file of the package."""
    file = package.extractfile(name)
    if file is None:
        sys.exit(f"no {name} in the package")
    return file.read()


def embed(folder: Path, target: Path) -> None:
    """Write both fonts, how wide their letters are, and their licence."""
    found = sorted(folder.glob("fonts-inter_*.deb"))
    if not found:
        sys.exit(f"{folder}: no package; apt-get download fonts-inter")
    target.mkdir(parents=True, exist_ok=True)
    package, advances = open_package(found[-1]), {}
    for name, (sha256, style, file) in FONTS.items():
        content = read_file(package, SOURCE + name)
        digest = hashlib.sha256(content).hexdigest()
        if digest != sha256:
            sys.exit(f"{found[-1]}: {name} has the SHA-256 {digest}, not {sha256}")
        small, advances[file] = cut_down(content, style)
        (target / f"{file}.otf").write_bytes(small)
        sys.stdout.write(f"{target / file}.otf: {len(small)} bytes\n")
    table = json.dumps(advances, ensure_ascii=False, separators=(",", ":"))
    (target / "advances.json").write_text(f"{table}\n", encoding="utf-8")
    (target / LICENCE).write_bytes(read_file(package, LICENCE_SOURCE))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/embed_fonts.py FOLDER_WITH_PACKAGE")
    embed(Path(sys.argv[1]), TARGET)
