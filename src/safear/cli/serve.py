"""`safear serve`: the web page and the REST API."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import LANGUAGE, PROBLEM, CountRange, groups, problem_options
from safear.cli.results import is_watched, print_note, print_result
from safear.cli.sources import Source, find_source
from safear.cli.stopping import release
from safear.cli.verbose import guard_warnings

if TYPE_CHECKING:
    import socket

    from safear.problem.model import Problem

MOST_LEVELS = 10  # of an immutable feature that makes groups if none are named


@click.command(
    epilog="""\b
Example:
  safear serve loan
  safear serve german --language de
  safear serve my-problem.yaml --classifier model.skops --people people.csv --group gender
  safear serve my-problem.yaml --classifier model.skops --no-analyst --workers 4

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
    "--port", type=CountRange(0, 65535), default=8000, show_default=True, help="The port; 0 takes a free one."
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A host name under which people open the page; may be repeated.",
)
@click.option("--no-analyst", is_flag=True, help="Serve no page for analysts and no audits: for a page for applicants.")
@click.option(
    "--workers",
    type=CountRange(1, 64),
    default=1,
    show_default=True,
    help="How many processes serve; each has limits, a memory and audits of its own.",
)
@problem_options
def serve(problem_file: str, **options: Any) -> None:
    """Serve the page for people, the page for analysts and the REST API.

    PROBLEM is a problem file, a bundled problem, or a data set of the paper (adult, german, insurance), which brings
    its forest and its people.
    """
    from safear.errors import MissingExtraError
    from safear.texts.names import show_name

    try:
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtraError("FastAPI", "web") from None
    source, host = find_source(problem_file, options), options["host"]
    with listen(options) as listener:
        port = listener.getsockname()[1]

        def tell() -> None:
            shown = f"[{host}]" if ":" in host else host
            where = "programs: /api" if options["no_analyst"] else "analysts: /analyst, programs: /api"
            with suppress(OSError):  # whether or not anybody reads it
                print_result(f"{show_name(source.problem.title)}: http://{shown}:{port}/ ({where}); stop with Ctrl+C")

        if is_watched():
            print_note(f"getting ready: {show_name(source.problem.title)}; the first time this may take two minutes")
        if options["workers"] == 1:
            _serve(source, options, listener, ready=tell)
        else:
            from safear.web.processes import Workforce

            release()
            mark = fingerprint(source)
            Workforce(options["workers"], work, problem_file, {**options, "port": port}, mark).run(ready=tell)


def work(problem_file: str, options: dict[str, Any], mark: str, *, ready: Callable[[], None]) -> None:
    """What each of several workers does, in a process of its own, as long as all serve the same (`mark`)."""
    from safear.errors import InputError, Place
    from safear.web.server import bind

    guard_warnings()
    with click.Context(serve):  # which what is read leaves its prints with
        source = find_source(problem_file, options)
        if fingerprint(source) != mark:
            cause = "the problem or the classifier has changed since the server was started"
            raise InputError.at(Place(), cause, "start it anew to serve what there is now", code="changed")
        listener = bind(options["host"], options["port"], shared=True)
        _serve(source, options, listener, ready=ready)


def fingerprint(source: Source) -> str:
    """A digest of the problem and of the files of classifiers: workers that serve different ones contradict each other.

    What is behind an address or a name of a module has none.
    """
    import hashlib
    from pathlib import Path

    from safear.files import digest_file
    from safear.problem.dump import dump_problem

    found = hashlib.sha256(repr(dump_problem(source.problem)).encode())
    for given in source.given:
        place = given.rpartition(":")[0]
        path = Path(place if place.endswith(".py") else given)
        files = (
            [file for file in sorted(path.rglob("*")) if "__pycache__" not in file.parts] if path.is_dir() else [path]
        )
        sums = [(str(file), digest_file(file)) for file in files if file.is_file()]
        found.update(repr((given, sums)).encode())
    return found.hexdigest()


def listen(options: dict[str, Any]) -> socket.socket:
    """The address to serve at. Mistakes in the options are raised."""
    from safear.errors import InputError, Place
    from safear.files import explain
    from safear.texts import load_texts
    from safear.web.app import LOOPBACK
    from safear.web.server import bind

    load_texts(options["language"])
    host, port = options["host"], options["port"]
    if options["no_analyst"] and (options["people"] or options["groups"]):
        remedy = "leave out --no-analyst, or --people and --group"
        raise InputError.at(Place(), "without the page for analysts there are no audits", remedy, code="no_analyst")
    if host not in LOOPBACK and not options["names"]:
        remedy = "add --name with the host name or address under which people open the page"
        raise InputError.at(
            Place(), f"others could open the page at {host}, but its name is unknown", remedy, code="no_name"
        )
    try:
        if port and options["workers"] > 1:
            bind(host, port).close()  # a shared one could be another server's, and visitors would come to either
        return bind(host, port, shared=options["workers"] > 1)
    except OSError as error:
        cause = f"cannot listen on {host}, port {port}: {explain(error)}"
        raise InputError.at(
            Place(), cause, "name another --port, or 0 for any that is free", code="port_taken"
        ) from None


def _serve(source: Source, options: dict[str, Any], listener: socket.socket, *, ready: Callable[[], None]) -> None:
    from safear.web.app import LOOPBACK, Settings, make_app
    from safear.web.server import serve
    from safear.web.service import Service

    analyst = not options["no_analyst"]
    people = options["people"] or (None if source.dataset is None or not analyst else source.dataset.levels)
    columns = options["groups"] or _choose_groups(source.problem, is_dataset=source.dataset is not None)
    service = Service.of(source.problem, source.classifier, people=people)
    service.warm_up()
    names = (*LOOPBACK, *options["names"])
    release()  # from here on, stopping is how it ends
    serve(make_app(service, Settings(options["language"], names, columns, analyst=analyst)), listener, ready=ready)


def _choose_groups(problem: Problem, *, is_dataset: bool) -> list[str]:
    """What to audit by if nobody says: gender, as the paper does, or what nobody can change."""
    names = [f.name for f in problem.shown_features if not f.mutable and len(f.levels) <= MOST_LEVELS]
    return ["gender"] if is_dataset and "gender" in names else names
