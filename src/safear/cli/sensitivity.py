"""`safear sensitivity`: what would change the advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import LANGUAGE, NEW_FILE, PROBLEM, AmountRange, record_options, tell_record
from safear.cli.person_options import about_person, find_menu, find_plan, require_recourse
from safear.cli.results import print_result
from safear.cli.sources import find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.recourse.sensitivity import Sensitivity


@click.command(
    epilog="""\b
Example:
  safear sensitivity loan --plan safest
  safear sensitivity loan --objective mean --json
  safear sensitivity loan --plan cheapest --out tornado.svg

\b
Exit codes:  0 fine;  2 a mistake in the input;  3 no plan reaches a goal"""
)
@PROBLEM
@click.option("--plan", metavar="NAME", help="Which plan of the menu.  [default: all; for --out the first]")
@click.option("-O", "--out", type=NEW_FILE, metavar="FILE", help="Draw a tornado: FILE.svg, FILE.png or FILE.pdf.")
@click.option(
    "--tolerance",
    type=AmountRange(1e-6, 0.1),
    default=0.001,
    show_default=True,
    help="The steps in which chances are tried; costs in ten times this share of what they are.",
)
@about_person(robust=False)  # of a robust plan nobody can say what the nominal chances do
@LANGUAGE
@record_options
@verbose_option
def sensitivity(problem_file: str, **options: Any) -> None:
    """Find which chances and costs the advice hangs on: how far each can move alone before the first step changes.

    PROBLEM, the person and the plans are those of `safear recommend`. Also told: what a small change of each does to a
    plan's success, average and worst cases, to show which programme would help most.
    """
    from safear.cli.render import show_progress
    from safear.recourse.sensitivity import examine_menu
    from safear.recourse.sensitivity_records import SensitivityRecord
    from safear.recourse.teller import Teller

    teller = Teller.of(options["language"])
    if options["out"] is not None:
        from safear.plots.picture import find_ending
        from safear.plots.rendering import load_converter

        if find_ending(options["out"]) in {".png", ".pdf"}:
            load_converter()
    menu = find_menu(find_source(problem_file, options), options)
    teller = teller.about(menu.problem)
    if menu.no_recourse is not None:
        tell_record(lambda: SensitivityRecord.of(examine_menu(menu, tolerance=options["tolerance"])), options)
        require_recourse(menu, teller)
    if menu.favourable and options["out"] is not None:
        raise click.UsageError("--out: the decision is already favourable; there is nothing to draw")
    alone = options["plan"] is not None or options["out"] is not None
    plan = find_plan(menu, options["plan"]) if alone and not menu.favourable else None
    with show_progress() as progress:
        found = examine_menu(menu, plan, tolerance=options["tolerance"], progress=progress)

    if options["out"] is not None and found.plans:
        from safear.plots import tornado

        tornado(found[0], language=options["language"]).save(options["out"])
    if not tell_record(lambda: SensitivityRecord.of(found), options):
        _print(found, options["language"])
        if options["out"] is not None and found.plans:
            print_result(teller("terminal.picture", file=options["out"]))


def _print(found: Sensitivity, language: str) -> None:
    """A table of flips and one of effects for each plan."""
    from rich.markup import escape
    from rich.table import Table

    from safear.cli.render import make_console
    from safear.recourse.sensitivity_teller import SensitivityTeller

    menu = found.menu
    console, tell = make_console(), SensitivityTeller.of(language, menu.problem.glossary)
    console.print(f"[bold]{escape(tell.teller.text(menu.problem.title))}[/bold]")
    if menu.favourable:
        said = tell.teller.decision(menu.problem, favourable=True)
        console.print(f"{said}. {tell.teller('report.lead.accepted')}", markup=False)
        return
    console.print(tell.reading(found), style="dim", markup=False)

    def show(headings: tuple[str, ...], rows: list[tuple[str, ...]], *, left: set[int]) -> None:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        shown = [place for place in range(len(headings)) if any(row[place] for row in rows)]
        for place in shown:
            table.add_column(escape(headings[place]), justify="left" if place in left else "right")
        for row in rows:
            table.add_row(*(escape(row[place]) for place in shown))
        console.print(table)

    for plan in found:
        console.print(f"\n[bold]{escape(tell.head(plan))}[/bold]")
        for note in tell.notes(plan):
            console.print(note, markup=False)
        if plan.flips:
            show(tell.flip_headings(), tell.flip_rows(plan), left={0, 3, 4})
        if plan.rivals:
            console.print(f"\n{tell.teller('sensitivity.rivals')}", markup=False)
            show(tell.rival_headings(), tell.rival_rows(plan), left={0, 3, 4})
        effects = tell.effect_rows(plan)
        if effects:
            console.print(f"\n{tell.teller('sensitivity.effects')}", markup=False)
            show(tell.effect_headings(plan), effects, left={0})
    share = tell.teller.percent(menu.level)
    console.print(f"\n{tell.teller('sensitivity.effects_reading', share=share)}", style="dim", markup=False)
