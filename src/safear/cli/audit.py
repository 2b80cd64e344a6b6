"""`safear audit`: who carries more risk?"""

from __future__ import annotations

from glob import glob
from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import (
    LANGUAGE,
    PROBLEM,
    SKIP_BAD,
    CountRange,
    groups,
    level,
    method,
    problem_options,
    record_options,
    report,
    tell_record,
)
from safear.cli.results import print_result
from safear.cli.sources import find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.population.audit import Audit
    from safear.population.result_records import AuditRecord
    from safear.recourse.teller import Teller
    from safear.reports.appendix import Sources


@click.command(
    epilog="""\b
Example:
  safear audit adult --group gender
  safear audit adult --group gender --group race --objective cvar:0.95
  safear audit german --group gender --report audit.html --language de
  safear audit my-problem.yaml "people/*.parquet" --classifier model.skops --group gender --json

\b
Measures, over the rejected: success; mean, variance, var and cvar of the cost if they succeed; sparsity and
proximity, how much they change. Files need DuckDB: pip install 'safear[audit]'; --report needs Jinja2:
pip install 'safear[report]'"""
)
@PROBLEM
@click.argument("people", metavar="[PEOPLE]", required=False)
@groups(required=True)
@click.option("--objective", default="mean", show_default=True, help="What everybody's plan minimises.")
@method()
@level()
@click.option(
    "--minimum",
    type=CountRange(1),
    default=30,
    show_default=True,
    help="Neither rank nor test groups with fewer rejected people.",
)
@SKIP_BAD
@problem_options
@record_options
@report("the auditor's file")
@LANGUAGE
@verbose_option
def audit(problem_file: str, people: str | None, **options: Any) -> None:
    """Audit a population: how much risk do groups of people carry, and where do gaps come from?

    PROBLEM is a problem file, a bundled problem, or a data set of the paper (adult, german, insurance) with its forest.
    PEOPLE is a CSV or Parquet file or a quoted glob of them, with a column per feature; a data set brings its own.
    Figures are exact. Everybody is counted: accepted, rejected, without any way to the goal.
    """
    from safear.cli.render import show_progress
    from safear.population.audit import audit as run
    from safear.recourse.teller import Teller
    from safear.risk.objectives import parse_objective

    tell = Teller.of(options["language"])
    if options["report"] is not None:
        from safear.reports.appendix import Sources
        from safear.reports.page import require_writable

        require_writable(options["report"])
    objective = parse_objective(options["objective"])
    source = find_source(problem_file, options)
    table = source.find_people(people)
    with show_progress() as progress:
        found = run(
            source.problem,
            source.classifier,
            table,
            groups=options["groups"],
            objective=objective,
            method=options["method"],
            level=options["level"],
            minimum=options["minimum"],
            seed=options["seed"],
            skip_bad=options["skip_bad"],
            progress=progress,
        )
    if options["report"] is not None:
        data = tell("terminal.dataset", name=problem_file)
        files = [data] if people is None else sorted(glob(people)) or [people]  # noqa: PTH207  # may be absolute
        _report(found, tell, Sources(problem_file, source.decides(tell), files), options)

    def make_record() -> AuditRecord:
        from safear.population.result_records import AuditRecord

        return AuditRecord.of(found)

    if not tell_record(make_record, options) and options["report"] is None:
        from safear.cli.render_audit import print_audit

        print_audit(found, language=options["language"])


def _report(found: Audit, tell: Teller, sources: Sources, options: dict[str, Any]) -> None:
    """Write the page and, unless JSON is printed, say what it says in short."""
    from safear.reports.audit_page import report_audit

    page = report_audit(found, language=options["language"], sources=sources)
    page.save(options["report"])
    if not options["as_json"]:
        where = tell("terminal.report", file=options["report"])
        print_result("\n".join([*(f"- {text}" for text in page.summary), where]))
