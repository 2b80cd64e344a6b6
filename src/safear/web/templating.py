"""Templates and files of the pages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from safear._version import __version__
from safear.plots.letters import FOLDER
from safear.problem.model import Problem
from safear.recourse.teller import Teller
from safear.reports.page import as_seen
from safear.texts import Texts, languages, load_texts

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "otf": "font/otf",
}
WEEK = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file that is the same for everybody; its address changes with its content."""

    content: bytes
    media_type: str
    digest: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """All of them, by name."""
    found: dict[str, StaticFile] = {}
    for weight in ("regular", "bold"):  # the letters that pictures are laid out for
        name = f"{weight}.otf"
        found[name] = _read_static(name, (FOLDER / name).read_bytes())
    for item in files(__package__).joinpath("static").iterdir():
        content = item.read_bytes()
        for name, font in list(found.items()):
            content = content.replace(f"url({name})".encode(), f"url(/static/{font.digest}/{name})".encode())
        found[item.name] = _read_static(item.name, content)
    return found


def _read_static(name: str, content: bytes) -> StaticFile:
    return StaticFile(content, _TYPES[name.rpartition(".")[2]], hashlib.sha256(content).hexdigest()[:12])


def serve_static(name: str) -> Response:
    """One of them."""
    item = static_files()[name]
    return Response(item.content, media_type=item.media_type, headers={"Cache-Control": f"max-age={WEEK}, immutable"})


def _address(name: str) -> str:
    return f"/static/{static_files()[name].digest}/{name}"


def _described(name: str, wrong: Mapping[str, str]) -> Markup:
    """The attributes that tie a field to its hint and to what is wrong with it."""
    invalid = Markup(' aria-invalid="true"') if name in wrong else Markup("")
    return Markup(' aria-describedby="{0}-hint {0}-wrong"').format(name) + invalid


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("safear.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=as_seen,
    )
    environment.globals |= {"static": _address, "described": _described, "version": __version__}
    return environment


@dataclass(frozen=True, slots=True)
class Shell:
    """What all pages share: the problem, the default language, and whether analysts have a page."""

    problem: Problem
    language: str = "en"
    has_analyst: bool = True

    def find_texts(self, wanted: str | None) -> Texts:
        """The texts of a language that was asked for, if there is one."""
        return load_texts(wanted if wanted in languages() else self.language)

    def speak(self, texts: Texts) -> dict[str, Any]:
        """What every page needs to speak a language and to offer the others; addresses name all but the default."""
        asked = "" if texts.language == self.language else f"?language={texts.language}"
        return {
            "problem_title": Teller(texts).about(self.problem).text(self.problem.title),
            "tell": texts,
            "say": texts.part("web"),
            "language": texts.language,
            "languages": [(code, load_texts(code)("name"), code == texts.language) for code in languages()],
            "home": f"/{asked}",
            "examples": f"/{asked}{'&' if asked else '?'}example=",
            "analyst": f"/analyst{asked}" if self.has_analyst else None,
        }


def respond_with(
    template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: object
) -> HTMLResponse:
    """A page. All that is filled in is escaped, but for pictures, which are markup."""
    return HTMLResponse(_environment().get_template(template).render(**values), status, headers)
