"""Pages as files: what they begin with, and what they are never written over."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import safear as sa
from doors import OPENING, load_environment, require_writable
from safear.errors import MissingExtraError
from safear.reports import Page

OPENINGS = {language: OPENING.format(language=language) for language in ("en", "de", "pt-BR")}
PAGE = Page(f'{OPENINGS["en"]} 0">\n', ("said",))


def test_a_page_is_written_and_written_again(tmp_path: Path) -> None:
    target = tmp_path / "a.html"
    PAGE.save(target)
    assert target.read_text(encoding="utf-8") == PAGE.html
    for opening in OPENINGS.values():
        Page(f'{opening} 0">\nmore').save(str(target))
        assert target.read_text(encoding="utf-8").startswith(opening)


def test_nothing_else_is_written_over(tmp_path: Path) -> None:
    target = tmp_path / "mine.html"
    for text in ("", "<!doctype html>\n<html lang='en'>my own page", OPENINGS["en"][:-1], OPENING):
        target.write_text(text, encoding="utf-8")
        with pytest.raises(sa.InputError) as caught:
            PAGE.save(target)
        cause = "already exists and is not a page of SafeAR"
        assert str(caught.value) == f"{target}: {cause}\n    name a new file"
        assert target.read_text(encoding="utf-8") == text


def test_files_that_no_page_can_be_in(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    folder = tmp_path / "no"
    for name, told in {
        "a.pdf": "pages are written as .html, not as '.pdf'\n    name it a.html",
        "a": "pages are written as .html, not as 'a'\n    name it a.html",
        "folder.html": "cannot be written: Is a directory\n    name a file",
        "no/a.html": f"cannot be written: there is no such folder\n    make the folder '{folder}', or name another",
    }.items():
        with pytest.raises(sa.InputError) as caught:
            require_writable(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: {told}"
    require_writable(tmp_path / "a.HTM")


def test_what_is_no_file_is_written_into(tmp_path: Path) -> None:
    for name in ("/dev/null", "/dev/stdout"):
        require_writable(name)
    PAGE.save("/dev/null")
    (tmp_path / "page.html").symlink_to("/dev/null")
    PAGE.save(tmp_path / "page.html")
    assert Path("/dev/null").is_char_device()


def test_without_jinja(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    load_environment.cache_clear()
    with pytest.raises(MissingExtraError) as caught:
        require_writable(tmp_path / "a.html")
    assert str(caught.value) == "Jinja2 is not installed; install it with: pip install 'safear[report]'"
