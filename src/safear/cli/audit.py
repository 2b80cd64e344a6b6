"""`safear audit`: who carries more risk?"""

from __future__ import annotations

import json
from dataclasses import asdict
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from safear.cli.sources import Source, find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    import pandas as pd

    from safear.population.audit import Audit
    from safear.reports.appendix import Sources


@click.command(
    epilog="""\b
Example:
  safear audit adult --group gender
  safear audit adult --group gender --group race --objective cvar:0.95
  safear audit german --group gender --report audit.html
  safear audit my-problem.yaml "people/*.parquet" --classifier model.skops --group gender --json

\b
Measures, of those who are rejected: success; mean, variance, var and cvar of the cost if they succeed;
sparsity and proximity of the way there. Needs DuckDB for files: pip install 'safear[audit]'; --report
needs Jinja2: pip install 'safear[report]'"""
)
@click.argument("problem_file", metavar="PROBLEM")
@click.argument("people", metavar="[PEOPLE]", required=False)
@click.option("--group", "groups", multiple=True, required=True, metavar="COLUMN", help="A column; may be repeated.")
@click.option("--classifier", metavar="SOURCE", help="FILE.skops, FILE.csv, MODULE:NAME or FILE.py:NAME.")
@click.option(
    "--trust", multiple=True, metavar="TYPE", help="A type that a skops file may hold besides the known ones."
)
@click.option("--objective", default="mean", show_default=True, help="What everybody's plan makes small.")
@click.option(
    "--method", type=click.Choice(["optimal", "greedy"]), help="How to solve.  [default: optimal where possible]"
)
@click.option(
    "--level", type=click.FloatRange(0, 1, min_open=True), default=0.95, show_default=True, help="Of var and cvar."
)
@click.option(
    "--minimum",
    type=click.IntRange(1),
    default=30,
    show_default=True,
    help="Groups with fewer rejected are not ranked.",
)
@click.option("--horizon", type=click.IntRange(1, 1000), help="At most so many steps, instead of the problem's.")
@click.option("--failure-cost", type=click.FloatRange(0), help="What a failure costs, instead of the problem's.")
@click.option("--skip-bad", type=click.Path(dir_okay=False, path_type=Path), help="Put bad rows into this CSV file.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap, and of the forest."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with all tables.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.html",
    help="Write a page for the auditor's file, and print only what it says in short.",
)
@verbose_option
def audit(problem_file: str, people: str | None, groups: tuple[str, ...], **options: Any) -> None:
    """Audit a population: how much risk do groups of people carry, and where do gaps come from?

    PROBLEM is a problem file, a bundled problem, or a data set of the paper (adult, german, insurance) with its forest.
    PEOPLE is a CSV or Parquet file or a quoted glob of them, with a column per feature; a data set brings its own.
    Figures are exact. Everybody is counted: accepted, rejected, without any way to the goal.
    """
    from safear.cli.render import show_progress
    from safear.population.audit import audit as run
    from safear.risk.objectives import parse_objective

    if options["report"] is not None:
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
            groups=groups,
            objective=objective,
            method=options["method"],
            level=options["level"],
            minimum=options["minimum"],
            seed=options["seed"],
            skip_bad=options["skip_bad"],
            progress=progress,
        )
    if options["report"] is not None:
        sources = _name_sources(problem_file, people, source=source, options=options)
        _report(found, options["report"], sources=sources, quiet=options["as_json"])
    if options["as_json"]:
        click.echo(json.dumps(_record(found), indent=2, allow_nan=False))
    elif options["report"] is None:
        from safear.cli.render_audit import print_audit

        print_audit(found)


def _report(found: Audit, path: Path, *, sources: Sources, quiet: bool) -> None:
    """Write the page and, unless JSON is printed, say what it says in short."""
    from safear.reports.audit_page import report_audit

    page = report_audit(found, sources=sources)
    page.save(path)
    if not quiet:
        click.echo("\n".join([*(f"- {text}" for text in page.summary), f"The report is in {path}."]))


def _name_sources(problem_file: str, people: str | None, *, source: Source, options: dict[str, Any]) -> Sources:
    from safear.reports.appendix import Sources

    forest = f"the forest of the data set, seed {options['seed']}"
    decides = options["classifier"] or ("the rule of the problem" if source.dataset is None else forest)
    files = [f"data set {problem_file}"] if people is None else sorted(glob(people)) or [people]  # noqa: PTH207  # may be absolute
    return Sources(problem_file, decides, files)


def _record(found: Audit) -> dict[str, Any]:
    from safear.population.audit import BETWEEN

    columns = found.population.groups
    return {
        "problem": found.problem.title,
        "objective": str(found.objective),
        "method": found.method or "optimal where possible",
        "level": found.level,
        "horizon": found.problem.horizon,
        "failure_cost": float(found.problem.goal.failure_cost),
        "minimum": found.minimum,
        "seed": found.seed,
        "people": found.population.rows,
        "skipped": found.population.skipped,
        "overall": found.overall.to_dict(),
        "groups": {
            BETWEEN.join(by): {
                "table": [{"group": cell.name, **cell.row()} for cell in found.cells(by)],
                "difference": found.difference(by).to_dict(),
                "ratio": found.ratio(by).to_dict(),
                "intervals": _rows(found.intervals(by)),
                "tests": _rows(found.tests(by)) if found.can_test(by) else None,
            }
            for by in found.columns
        },
        "decompositions": {
            name: [asdict(part) for part in found.decompose(name)] for name in columns if found.can_decompose(name)
        },
    }


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = frame.to_dict("records")  # type: ignore[assignment]  # columns are texts
    return rows
