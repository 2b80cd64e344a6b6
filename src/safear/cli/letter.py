"""The letter to the person and its file of figures: the options, and what is said of them."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import NEW_FILE, combine, report
from safear.cli.person_options import find_plan
from safear.cli.results import print_result
from safear.cli.sources import Source

if TYPE_CHECKING:
    from safear.recourse.menu import Menu
    from safear.recourse.offer import Offer
    from safear.recourse.teller import Teller
    from safear.reports import Sources


def read_day(_: click.Context, __: click.Parameter, text: str | None) -> date | None:
    """A day as `2026-11-17`, of those that there are."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", text.strip())
    if found is None:
        raise click.BadParameter(f"'{text}' is not a day; write it as YYYY-MM-DD, such as 2026-11-17.")
    try:
        return date(*map(int, found.groups()))
    except ValueError as error:
        raise click.BadParameter(f"there is no day '{text}': {error}.") from None


letter_options = combine(
    report("the person", "a letter of two pages about the plan that --plan names"),
    click.option(
        "--figures",
        type=NEW_FILE,
        metavar="FILE.json",
        help="Write the figures of the letter with all their digits, for the provider, under the same reference.",
    ),
    click.option("--contact", metavar="TEXT", help="Whom the person can ask; shown in the letter."),
    click.option(
        "--date",
        "dated",
        callback=read_day,
        metavar="YYYY-MM-DD",
        help="The day of the letter, on which the plan would begin.  [default: today]",
    ),
    click.option(
        "--reference", metavar="TEXT", help="The reference of the letter.  [default: one made from what it says]"
    ),
)


def check_letter(options: dict[str, Any]) -> None:
    """Refuse a letter that cannot be written before anything is computed for it."""
    if options["report"] is None and options["figures"] is None:
        for name, given in (("contact", "contact"), ("date", "dated"), ("reference", "reference")):
            if options[given] is not None:
                raise click.UsageError(f"--{name} goes with --report")
    if options["report"] is not None:
        from safear.reports.page import require_writable

        require_writable(options["report"])


def write_letter(menu: Menu, tell: Teller, *, source: Source, problem_file: str, options: dict[str, Any]) -> bool:
    """Write the letter and the figures that are asked for; whether a letter was.

    Unless JSON is printed, what the letter says is said in short.
    """
    chosen = find_plan(menu, options["plan"]) if menu.offers and options["plan"] is not None else None
    day = options["dated"] or date.today()  # noqa: DTZ011  # letters have the date of where they are written
    if options["figures"] is not None:
        _write_figures(menu, chosen, day, options, _find_sources(source, tell, problem_file, options))
    if options["report"] is None:
        return False
    from safear.reports import report_menu

    page = report_menu(
        menu,
        chosen,
        language=options["language"],
        original=source.original,
        contact=options["contact"],
        dated=day,
        reference=options["reference"],
    )
    page.save(options["report"])
    if not options["as_json"]:
        print_result("\n".join([*page.summary, tell("terminal.report", file=options["report"])]))
    return True


def _write_figures(menu: Menu, chosen: Offer | None, day: date, options: dict[str, Any], sources: Sources) -> None:
    import json

    from safear.files import write_text
    from safear.reports import report_figures

    record = report_figures(menu, chosen, dated=day, reference=options["reference"], sources=sources)
    content = record.model_dump(mode="json")
    write_text(options["figures"], json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def _find_sources(source: Source, tell: Teller, problem_file: str, options: dict[str, Any]) -> Sources:
    from safear.reports import Sources

    person = options["person"] or next(iter(source.original.people), "--set")
    person += "" if options["row"] is None else f" --row {options['row']}"
    seed = options["seed"] if options["method"] == "episodic" else None
    return Sources(problem_file, source.decides(tell), [" ".join([person, *options["settings"]])], seed)
