"""Pictures as files: SVG, PNG, PDF; letters are drawn whatever fonts a machine has."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

import safear as sa
from drawn_menus import menu_of
from hidden_packages import hide_package
from pixels import count_ink, read_png
from safear.errors import MissingExtraError
from safear.plots import Picture, cdf, distribution, dots, traces, tree

FAMILY = "SafeAR Sans"


def with_text(text: str, *, bold: bool = False) -> Picture:
    """A picture of one line, in the letters that all pictures have."""
    (fonts,) = set(re.findall('font-family="([^"]+)"', tree(menu_of("loan")["safest"]).svg))
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="400" height="70" font-family="{fonts}">'
    svg += '<rect width="400" height="70" fill="white"/>'
    weight = "bold" if bold else "normal"
    return Picture(f'{svg}<text x="5" y="30" font-size="20" font-weight="{weight}">{text}</text></svg>', {})


@pytest.fixture
def picture() -> Picture:
    return distribution(menu_of("loan"))


def test_an_svg_file(picture: Picture, tmp_path: Path) -> None:
    picture.save(tmp_path / "plans.svg")
    assert (tmp_path / "plans.svg").read_text(encoding="utf-8") == picture.svg
    picture.save(str(tmp_path / "PLANS.SVG"))
    assert (tmp_path / "PLANS.SVG").exists()


def test_a_png_file(picture: Picture, tmp_path: Path) -> None:
    picture.save(tmp_path / "plans.png")
    content = (tmp_path / "plans.png").read_bytes()
    assert content == picture.png()
    height, width = read_png(picture.png(scale=1.0)).shape
    assert read_png(content).shape == (2 * height, 2 * width)
    assert f'width="{width}" height="{height}"' in picture.svg


def test_a_pdf_file(picture: Picture, tmp_path: Path) -> None:
    picture.save(tmp_path / "plans.pdf")
    content = (tmp_path / "plans.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")


def test_the_data_are_frames(picture: Picture) -> None:
    data = picture.data
    assert list(data) == ["plans", "bars", "marks"]
    assert [len(frame) for frame in data.values()] == [len(rows) for rows in picture.tables.values()]
    assert data["bars"].loc[lambda bars: bars["plan"] == 1, "chance"].sum() == pytest.approx(1)
    (failed,) = data["bars"].loc[lambda bars: (bars["plan"] == 1) & (bars["kind"] == "not in time"), "low"]
    assert failed is None


def test_other_endings_are_refused(picture: Picture, tmp_path: Path) -> None:
    known = r"pictures are written as \.svg, \.png or \.pdf"
    for name, ending in (("plans.jpg", ".jpg"), ("plans.json", ".json"), ("plans", "plans")):
        with pytest.raises(sa.InputError, match=rf"{name}: {known}, not as '{ending}'\n    name it plans\.svg$"):
            picture.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_what_is_no_file_gets_svg(picture: Picture, tmp_path: Path) -> None:
    """`safear plot traces loan -o /dev/stdout > plans.svg`, or any pipe."""
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    picture.save(pipe)
    reader.join(30)
    assert read == [picture.svg]


@pytest.mark.parametrize("name", ["plans.svg", "plans.png", "plans.pdf"])
def test_a_folder_that_is_not_there(picture: Picture, tmp_path: Path, name: str) -> None:
    with pytest.raises(sa.InputError, match=rf"{name}: cannot be written: there is no such folder\n"):
        picture.save(tmp_path / "nowhere" / name)


@pytest.mark.parametrize("name", ["plans.png", "plans.pdf"])
def test_without_vl_convert(picture: Picture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    hide_package("vl_convert", monkeypatch)
    with pytest.raises(
        MissingExtraError, match=r"^vl-convert is not installed; install it with: pip install 'safear\[plots\]'$"
    ):
        picture.save(tmp_path / name)
    picture.save(tmp_path / "plans.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plans.svg"]


def test_notebooks_show_the_svg(picture: Picture) -> None:
    assert picture._repr_mimebundle_() == {"image/svg+xml": picture.svg}
    assert picture._repr_mimebundle_(include=None, exclude=None) == {"image/svg+xml": picture.svg}


# -------------------------------------------------------------------------------------------------------------- fonts


def test_the_fonts_are_small_and_licensed() -> None:
    folder = Path(sa.plots.__file__).parent / "fonts"
    fonts = sorted(folder.glob("*.otf"))
    assert [path.name for path in fonts] == ["bold.otf", "regular.otf"]
    assert sum(path.stat().st_size for path in fonts) < 160_000
    licence = (folder / "LICENSE_INTER").read_text(encoding="utf-8")
    assert "The Inter Project Authors" in licence
    assert "Open Font License (OFL)" in licence
    for path in fonts:
        assert FAMILY.encode("utf-16-be") in path.read_bytes()


@pytest.mark.parametrize("bold", [False, True])
def test_letters_are_drawn(bold: bool) -> None:
    assert count_ink(with_text("").png()) == 0
    for text in ("Hello", "Žluťoučký", "αβγ", "Привет", "≤ 95% → 3 €", "…", "\ufffd"):
        assert count_ink(with_text(text, bold=bold).png()) > 40, text
    assert count_ink(with_text("Hello", bold=True).png()) > count_ink(with_text("Hello").png())


def without_text(picture: Picture) -> Picture:
    return Picture(re.sub(r"<text.*?</text>", "", picture.svg, flags=re.DOTALL), {})


@pytest.mark.parametrize("draw", [traces, cdf, distribution])
def test_text_is_drawn_in_whole_pictures(draw: object) -> None:
    assert callable(draw)
    picture = draw(menu_of("loan"))
    bare = without_text(picture)
    assert count_ink(picture.png(scale=1.0)) > count_ink(bare.png(scale=1.0)) + 2000
    assert len(picture.pdf()) > len(bare.pdf()) + 2000


SCRIPT = """
import hashlib, sys
from safear.plots import Picture
picture = Picture(open(sys.argv[1], encoding="utf-8").read(), {})
print(hashlib.sha256(picture.png()).hexdigest(), len(picture.pdf()))
"""


def test_the_same_pixels_on_a_machine_without_fonts(tmp_path: Path) -> None:
    (tmp_path / "fonts").mkdir()
    config = tmp_path / "fonts.conf"  # with an empty folder: a list without any would mean the usual ones
    config.write_text(f"<?xml version='1.0'?><fontconfig><dir>{tmp_path / 'fonts'}</dir></fontconfig>")
    picture = dots(menu_of("loan")["safest"])
    picture.save(tmp_path / "dots.svg")
    environment = {**os.environ, "FONTCONFIG_FILE": str(config), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "dots.svg")],
        env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    digest, size = done.stdout.split()
    assert digest == hashlib.sha256(picture.png()).hexdigest()
    assert int(size) > len(without_text(picture).pdf()) + 2000


def test_the_fonts_of_the_page_stay_in_the_svg() -> None:
    family = f"font-family=\"'{FAMILY}', Inter, "  # others stand in where there is neither
    assert family in tree(menu_of("loan")["safest"]).svg
