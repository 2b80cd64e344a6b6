"""`safear durability`: do saved plans still hold under another model?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import LANGUAGE, PROBLEM, AmountRange, problem_options, record_options, tell_record
from safear.cli.sources import find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.plans.durability import Durability
    from safear.plans.durability_records import DurabilityRecord


@click.command(
    epilog="""\b
Example:
  safear recommend loan.yaml --classifier model.skops --person me.yaml --save me.json
  safear durability loan.yaml me.json --classifier retrained.skops
  safear batch loan.yaml people.parquet --classifier model.skops --objective mean --plans --out answers
  safear durability loan.yaml answers --classifier retrained.skops --json"""
)
@PROBLEM
@click.argument("plans", metavar="PLANS...", nargs=-1, required=True)
@problem_options
@click.option(
    "--confidence",
    type=AmountRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the interval.",
)
@click.option("--no-repair", is_flag=True, help="Do not look for plans in place of those that do not hold.")
@LANGUAGE
@record_options
@verbose_option
def durability(problem_file: str, plans: tuple[str, ...], **options: Any) -> None:
    """Ask another model, such as a retrained one, about every end of saved plans.

    PLANS are files that `safear recommend --save` has written, folders of them, or what `safear batch --plans` has
    written. A plan holds if the model accepts every end that it counts as success, on the record as filed, anywhere in
    the promised range. For the others you see what the best plan for the same objective costs now. People are told
    apart by their records: rows with the same record count as one person.
    """
    from safear.cli.render import show_progress
    from safear.plans.durability import check_durability
    from safear.plans.plan_lists import open_plans

    source = find_source(problem_file, options)
    named = list(open_plans(plans))
    with show_progress() as progress:
        found = check_durability(
            source.problem,
            source.classifier,
            named,
            confidence=options["confidence"],
            repair=not options["no_repair"],
            progress=progress,
        )

    def make_record() -> DurabilityRecord:
        from safear.plans.durability_records import DurabilityRecord

        return DurabilityRecord.of(found)

    if not tell_record(make_record, options):
        _print(found, options["language"])


def _print(found: Durability, language: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    from safear.cli.render import make_console
    from safear.plans.durability_teller import DurabilityTeller

    console, tell = make_console(), DurabilityTeller.of(language)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for place, heading in enumerate(tell.headings()):
        table.add_column(escape(heading), justify="right" if place in {2, 3} else "left")
    for row in tell.rows(found):
        table.add_row(*map(escape, row))
    console.print(table)
    for line in tell.lines(found):
        console.print(escape(line))
