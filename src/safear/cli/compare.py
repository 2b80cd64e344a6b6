"""`safear compare`: greedy against optimal, for a person or a population."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import (
    FILE,
    LANGUAGE,
    OBJECTIVES,
    PROBLEM,
    CountRange,
    problem_options,
    record_options,
    tell_record,
)
from safear.cli.person_options import ROW, check_row
from safear.cli.sources import find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.classifier.filed import Filed
    from safear.population.result_records import ComparisonsRecord
    from safear.recourse.case import Desk

DEFAULT = ("mean-std:0.5", "mean-std:1", "mean-std:2")


@click.command(
    epilog="""\b
Example:
  safear compare loan
  safear compare adult --sample 500 --objective mean-std:1 --objective mean-std:2
  safear compare adult --sample 500 --objective mean-std:2 --failure-cost 1
  safear compare my-problem.yaml --classifier model.skops --people people.csv --json"""
)
@PROBLEM
@click.option(
    "--person",
    metavar="FILE|NAME",
    help="A YAML or JSON file, a row of a CSV or Parquet file, or one of the problem's people.  [default: all of them]",
)
@ROW
@click.option(
    "--people",
    "people_file",
    type=FILE,
    help="A CSV or Parquet file, or a quoted glob of them, with a column per feature and a row per person.",
)
@click.option("--sample", type=CountRange(1), metavar="N", help="At most N people, drawn at random.")
@OBJECTIVES
@problem_options
@record_options
@LANGUAGE
@verbose_option
def compare(problem_file: str, **options: Any) -> None:
    """Compare the greedy method of the paper with the exact optimum of the same objective.

    PROBLEM is a problem file, a bundled problem, or a data set of the paper: adult, german, insurance (with its forest,
    and all of its rows as people). Only people whom the model rejects and who can reach the goal are compared; the
    others are counted. Unless given, the objectives are mean-std:0.5, mean-std:1 and mean-std:2.
    """
    from safear.cli.render import show_progress
    from safear.population.audit_teller import AuditTeller
    from safear.population.comparison import compare_filed
    from safear.population.engine import Engine
    from safear.risk.objectives import parse_objective

    objectives = [parse_objective(text) for text in options["objectives"] or DEFAULT]
    desk, people = _read(problem_file, options)
    if options["sample"] is not None and len(people) > options["sample"]:
        import numpy as np

        rng = np.random.default_rng(options["seed"])
        people = people.take(np.sort(rng.choice(len(people), options["sample"], replace=False)))
    engine, problem = Engine(desk), desk.problem
    tell = AuditTeller.of(options["language"], problem.glossary)
    found = []
    for objective in objectives:
        with show_progress() as progress:
            found.append(compare_filed(engine, people, objective=objective, progress=progress))  # type: ignore[arg-type]  # its own check says which

    def make_record() -> ComparisonsRecord:
        from safear.population.result_records import ComparisonsRecord

        return ComparisonsRecord.of(problem, found)

    if not tell_record(make_record, options):
        from safear.cli.render import print_comparisons

        print_comparisons(problem, found, tell)


def _read(problem_file: str, options: dict[str, Any]) -> tuple[Desk, Filed]:
    """Who decides about what, and the people."""
    from glob import has_magic

    import numpy as np

    from safear.classifier.filed import Filed
    from safear.classifier.protocol import Inputs
    from safear.errors import PersonError
    from safear.people.counts import read_population
    from safear.people.lists import load_people, read_people
    from safear.people.rows import load_row
    from safear.recourse.case import Desk, find_record

    source = find_source(problem_file, options)
    desk = Desk.of(source.problem, source.classifier)
    problem, sight = desk.problem, desk.sight
    person, row = options["person"], options["row"]
    check_row(person, row)
    if options["people_file"] is not None:
        if person is not None:
            raise click.UsageError("give --person or --people, not both")
        file = options["people_file"]
        if not has_magic(str(file)) or file.exists():
            return desk, load_people(file, problem, sight=sight)
        found = read_population(problem, str(file), sight=sight)
        return desk, found.filed.take(np.repeat(np.arange(len(found.counts)), found.counts))
    if person is not None:
        is_row = row is not None
        record = load_row(person, problem, row=row, given=sight.given) if is_row else find_record(problem, person)
        return desk, read_people(problem, [record], sight=sight)
    if source.dataset is not None:  # a sample is one of those who are rejected
        codes = source.dataset.codes
        return desk, Filed.on_levels(codes[~desk.classifier.favourable(Inputs(problem.features, codes))])
    if not problem.people:
        raise PersonError.at((), "the problem names no people", "give --people FILE.csv", code="nobody")
    return desk, read_people(problem, problem.people.values(), sight=sight)
