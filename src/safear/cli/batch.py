"""`safear batch`: plans for everybody in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import (
    JSON,
    LANGUAGE,
    PROBLEM,
    SKIP_BAD,
    CountRange,
    level,
    method,
    problem_options,
    tell_record,
)
from safear.cli.results import print_result
from safear.cli.saving import NO_PERSONAL_DATA
from safear.cli.sources import find_source
from safear.cli.stopping import say_on_stop
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.population.result_records import BatchRecord


@click.command(
    epilog="""\b
Example:
  safear batch adult people.parquet --objective mean-std:0.5 --method greedy --out plans
  safear batch my-problem.yaml "people/*.csv" --classifier model.skops --keep customer --out menus
  safear batch my-problem.yaml people.parquet --out menus --scheduler tcp://10.0.0.1:8786

\b
Columns of PEOPLE besides the features, all optional; an empty cell keeps the problem's value:
  cost:ACTION    what the action costs this person
  chance:ACTION  how often its first outcome happens, 0 to 1
  forbid:ACTION  true rules the action out
The folder has one Parquet file per part: file, row, the --keep columns, decision, plan, first_action, gives_up,
success (0 without recourse); mean, std, var, cvar given success; overall_mean and overall_cvar over all runs;
best_success, the highest that any plan has; with --reasons reason, why there is no recourse; with --plans saved_plan,
the text of the plan's file. After an interruption, run the same command again to continue.
Needs DuckDB: pip install 'safear[audit]'; --scheduler needs Dask: pip install 'safear[cluster]'"""
)
@PROBLEM
@click.argument("people", metavar="PEOPLE")
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder for the result."
)
@click.option("--objective", help="One plan per person, for this objective.  [default: the menu]")
@method()
@level()
@click.option("--exact", is_flag=True, help="The best plans in menus, not simpler ones that are nearly as good.")
@click.option(
    "--plans",
    is_flag=True,
    help="Save each plan as a whole, in the column saved_plan; `safear resume FILE.parquet:ROW` goes on with it.",
)
@NO_PERSONAL_DATA
@click.option(
    "--reasons",
    is_flag=True,
    help="Say in the column reason why people have no recourse, which takes a search for each of them.",
)
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy this column to the result; may be repeated.")
@SKIP_BAD
@click.option(
    "--part-size",
    type=CountRange(1, 1_000_000),
    help="People per part.  [default: 16384; 512 where plans take long]",
)
@click.option(
    "--threads",
    type=CountRange(1, 1024),
    help="Parts solved at a time on this machine, on threads or in processes.  [default: one per core]",
)
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this Dask scheduler.")
@problem_options
@JSON
@LANGUAGE
@verbose_option
def batch(problem_file: str, people: str, out: Path, **options: Any) -> None:
    """Plans for everybody in PEOPLE, each with their own costs, chances and limits, written to a folder.

    PROBLEM is a problem file, a bundled problem, or a data set of the paper (adult, german, insurance) with its forest.
    PEOPLE is a CSV or Parquet file or a quoted glob of them, with a column per feature.
    """
    from safear.cli.render import show_progress
    from safear.population.audit_teller import AuditTeller
    from safear.population.batch import batch as run
    from safear.risk.objectives import parse_objective

    if options["no_personal_data"] and not options["plans"]:
        raise click.UsageError("--no-personal-data goes with --plans")
    tell = AuditTeller.of(options["language"])
    objective = None if options["objective"] is None else parse_objective(options["objective"])
    source = find_source(problem_file, options)

    def say_what_is_kept() -> str:
        return tell("batch.interrupted", parts=len(list(out.glob("part-*.parquet"))), folder=out)

    with say_on_stop(say_what_is_kept), show_progress() as progress:
        summary = run(
            source.problem,
            source.classifier,
            people,
            out=out,
            objective=objective,
            method=options["method"],
            level=options["level"],
            exact=options["exact"],
            plans=options["plans"],
            personal_data=not options["no_personal_data"],
            reasons=options["reasons"],
            keep=options["keep"],
            skip_bad=options["skip_bad"],
            part_size=options["part_size"],
            threads=options["threads"],
            scheduler=options["scheduler"],
            progress=progress,
        )

    def make_record() -> BatchRecord:
        from safear.population.result_records import BatchRecord

        return BatchRecord(summary)

    if tell_record(make_record, options):
        return
    say = tell.part("batch")
    print_result(tell.batch(summary))
    print_result(
        say("resumed" if summary.resumed else "parts", count=summary.parts, folder=out, resumed=summary.resumed)
    )
    if summary.is_unanimous:
        print_result(tell.unanimous(accepted=summary.favourable > 0))
    if summary.giving_up:
        print_result(say("giving_up", people=summary.giving_up))
    if summary.skipped:
        print_result(say("skipped", rows=summary.skipped, file=options["skip_bad"]))
