"""`safear serve`: the web page and the REST API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import LANGUAGE, PROBLEM, groups, problem_options
from safear.cli.results import print_result
from safear.cli.sources import Source, find_source

if TYPE_CHECKING:
    from safear.problem.model import Problem

MOST_LEVELS = 10  # of an immutable feature that makes groups if none are named


@click.command(
    epilog="""\b
Example:
  safear serve loan
  safear serve german --language de
  safear serve my-problem.yaml --classifier model.skops --people people.csv --group gender

\b
Pages: / for the person, /analyst for the analyst, /api for programs. Nothing that people enter is stored or logged.
Without --host, only this machine can open the page. Needs FastAPI: pip install 'safear[web]'"""
)
@PROBLEM
@click.option("--people", metavar="FILE", help="The people to audit: CSV or Parquet, or a quoted glob.")
@groups()
@LANGUAGE
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port; 0 takes a free one."
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A host name under which people open the page; may be repeated.",
)
@problem_options
def serve(problem_file: str, **options: Any) -> None:
    """Serve the page for people, the page for analysts and the REST API.

    PROBLEM is a problem file, a bundled problem, or a data set of the paper (adult, german, insurance), which brings
    its forest and its people.
    """
    from safear.errors import MissingExtraError

    try:
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtraError("FastAPI", "web") from None
    _serve(find_source(problem_file, options), options)


def _serve(source: Source, options: dict[str, Any]) -> None:
    from safear.errors import InputError, Place
    from safear.texts import load_texts
    from safear.web.app import LOOPBACK, Settings, make_app
    from safear.web.server import bind, serve
    from safear.web.service import Service

    load_texts(options["language"])
    people = options["people"] or (None if source.dataset is None else source.dataset.levels)
    columns = options["groups"] or _choose_groups(source.problem, is_dataset=source.dataset is not None)
    host, port = options["host"], options["port"]
    if host not in LOOPBACK and not options["names"]:
        remedy = "add --name with the host name or address under which people open the page"
        raise InputError.at(
            Place(), f"others could open the page at {host}, but its name is unknown", remedy, code="no_name"
        )
    try:
        listener = bind(host, port)
    except OSError as error:
        cause = f"cannot listen on {host}, port {port}: {error.strerror}"
        raise InputError.at(
            Place(), cause, "name another --port, or 0 for any that is free", code="port_taken"
        ) from None
    port = listener.getsockname()[1]
    service = Service.of(source.problem, source.classifier, people=people)
    service.warm_up()
    app = make_app(service, Settings(options["language"], (*LOOPBACK, *options["names"]), columns))
    shown = f"[{host}]" if ":" in host else host

    def tell() -> None:
        print_result(
            f"{source.problem.title}: http://{shown}:{port}/ (analysts: /analyst, programs: /api); stop with Ctrl+C"
        )

    serve(app, [listener], ready=tell)


def _choose_groups(problem: Problem, *, is_dataset: bool) -> list[str]:
    """What to audit by if nobody says: gender, as the paper does, or what nobody can change."""
    names = [f.name for f in problem.shown_features if not f.mutable and len(f.levels) <= MOST_LEVELS]
    return ["gender"] if is_dataset and "gender" in names else names
