"""`safear fit`: chances and costs from what happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from safear.cli.options import JSON, LANGUAGE, NEW_FILE, PROBLEM, CountRange, tell_record
from safear.cli.sources import find_named
from safear.cli.verbose import verbose_option


@click.command(
    epilog="""\b
Example:
  safear fit loan.yaml attempts.csv
  safear fit loan.yaml attempts.csv -o fitted.yaml"""
)
@PROBLEM
@click.argument("log", metavar="LOG")
@click.option("-o", "--output", "target", type=NEW_FILE, help="Write the new problem to a file.")
@click.option(
    "--min-tries",
    type=CountRange(1),
    default=10,
    show_default=True,
    help="From so many tries on, a level or a condition has a chance or a cost of its own, and a chance may be 0% or "
    "100%.",
)
@JSON
@LANGUAGE
@verbose_option
def fit(problem_file: str, log: str, target: Path | None, min_tries: int, **options: Any) -> None:
    """Fill the chances and costs of a PROBLEM from a LOG of attempts (CSV or Parquet).

    The log has a row for each attempt: the columns 'action' and 'worked' (yes or no) and, if known, 'cost', 'date' and
    the features of the person before. A history, with 'person', 'date' and features but without 'worked', gives bounds.

    Prints each number before and after and how many attempts tell of it, and what the data cannot tell. The problem
    itself is never written over unless -o names it.
    """
    from safear.cli.render import make_console
    from safear.fitting.fit import fit_problem
    from safear.fitting.fit_records import FitRecord
    from safear.fitting.fit_teller import FitTeller

    path = Path(problem_file)
    result = fit_problem(path if path.exists() else find_named(problem_file)[0], log, min_tries=min_tries)
    if target is not None:
        result.save(target)
    if tell_record(lambda: FitRecord.of(result), options):
        return
    from rich.markup import escape
    from rich.table import Table

    tell, console = FitTeller.of(options["language"]), make_console()
    console.print(escape(tell.head(result)))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for place, heading in enumerate(tell.headings()):
        table.add_column(escape(heading), justify="right" if place == 4 else "left")
    for row in tell.rows(result):
        table.add_row(*map(escape, row))
    console.print(table)
    for line in tell.notices(result):
        console.print(escape(line))
    end = tell.say("not_written") if target is None else tell.say("written", file=str(target))
    console.print(escape(end))
