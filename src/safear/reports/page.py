"""Pages: HTML files that stand alone, made from templates, and where they may be written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from safear._version import __version__
from safear.errors import InputError, MissingExtraError, Place
from safear.files import explain, is_stream, require_output, write_text
from safear.plots.svg import BLUE, FAINT, GRID, INK, PANEL, PAPER, WRONG, WRONG_PANEL
from safear.texts import Texts
from safear.texts.names import replace_unseen

if TYPE_CHECKING:
    from jinja2 import Environment

# How every page begins: what tells a page of ours from anything else that is called .html.
OPENING = (
    '<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="SafeAR'
)

# Pictures are drawn for white paper; what their colours become on a dark screen.
DARK = {
    INK: "#e6ebf2",
    FAINT: "#a5b0be",
    GRID: "#343d49",
    PAPER: "#1a2029",
    PANEL: "#232b36",
    WRONG: "#ff9d66",
    WRONG_PANEL: "#33241c",
    BLUE: "#7fb2ea",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page, and what it says in a few sentences."""

    html: str = field(repr=False)
    summary: tuple[str, ...] = ()

    def save(self, path: str | Path) -> None:
        """Write it to a file whose name ends in `.html`; only a page of an earlier time is written over.

        Devices and pipes are written into.
        """
        require_writable(path)
        write_text(Path(path), self.html)


def require_writable(path: str | Path) -> None:
    """Refuse a file that no page could be written to, before anything is computed for it."""
    load_environment()
    target = Path(path)
    if not is_stream(target):
        cause, remedy = None, f"name it {target.stem}.html"
        if target.suffix.lower() not in {".html", ".htm"}:
            cause = f"pages are written as .html, not as '{target.suffix or target.name}'"
        elif target.is_file() and not _is_page(target):
            cause, remedy = "already exists and is not a page of SafeAR", "name a new file"
        if cause is not None:
            raise InputError.at(Place(file=str(target)), cause, remedy, code="unwritable")
    require_output(target)


def _is_page(path: Path) -> bool:
    before, after = OPENING.split("{language}")
    opening = re.compile(f"{re.escape(before)}[A-Za-z-]{{1,35}}{re.escape(after)}".encode())
    try:
        with path.open("rb") as stream:
            return opening.match(stream.read(len(OPENING) + 35)) is not None
    except OSError as cause:
        raise InputError.at(Place(file=str(path)), f"cannot be read: {explain(cause)}", code="unreadable") from cause


def render(template: str, texts: Texts, *, summary: tuple[str, ...] = (), **values: object) -> Page:
    """Fill in a template in a language. All that is filled in is escaped, but for pictures, which are markup."""
    opening = OPENING.format(language=texts.language)
    frame = {"opening": opening, "version": __version__, "dark": list(DARK.items()), "page": texts.part("page")}
    return Page(load_environment().get_template(template).render(**frame, **values), summary)


def as_seen(value: object) -> object:
    """What is filled in, without characters that a page must not hold; pictures, which are markup, have none."""
    return replace_unseen(value) if type(value) is str else value


@cache
def load_environment() -> Environment:
    """Load the templates, or say which extra is missing."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  # an extra
    except ImportError:
        raise MissingExtraError("Jinja2", "report") from None
    return Environment(
        loader=PackageLoader("safear.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=as_seen,
    )
