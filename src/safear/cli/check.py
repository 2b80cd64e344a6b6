"""`safear check`: is this problem file sound?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import LANGUAGE, PROBLEM, SKIP_BAD, problem_options, record_options, tell_record
from safear.cli.results import print_result
from safear.cli.sources import find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.cli.sources import Source
    from safear.mdp.space import CodeMatrix
    from safear.population.agreement import Agreement
    from safear.population.result_records import CheckRecord
    from safear.recourse.check_teller import CheckTeller
    from safear.recourse.diagnose import PersonDiagnosis, SpaceDiagnosis


@click.command(
    epilog="""\b
Example:
  safear check loan
  safear check my-problem.yaml --classifier model.skops
  safear check my-problem.yaml --classifier model.skops --people people.csv
  safear check my-problem.yaml --whole"""
)
@PROBLEM
@problem_options
@click.option("--whole", is_flag=True, help="Check every state, not only those that the named people can reach.")
@click.option(
    "--people",
    "people_files",
    metavar="FILES",
    help="A CSV or Parquet file of records, or a quoted glob: do decisions on levels agree with those on records?",
)
@SKIP_BAD
@record_options
@LANGUAGE
@verbose_option
def check(problem_file: str, whole: bool, people_files: str | None, **options: Any) -> None:
    """Check a PROBLEM: a file, a bundled problem, or a data set of the paper (adult, german, insurance).

    Reports all mistakes at once, each with its line. Then, with the problem's rule or a --classifier, tries each of its
    people: who is rejected, and can they reach the goal?

    With --people, everybody is decided as filed and on levels, where each number is replaced by its level's value: how
    many decisions agree, which features change the others, and which levels are too coarse.
    """
    from safear.mdp.lattice import find_lattice
    from safear.population.audit_teller import AuditTeller
    from safear.recourse.check_teller import CheckTeller
    from safear.recourse.diagnose import find_hints

    tell = CheckTeller.of(options["language"])
    say = tell.teller.texts.part("check")
    source = find_source(problem_file, options)
    problem = source.problem
    shows = not options["as_json"] and options["output"] is None

    def echo(text: str) -> None:
        if shows:
            print_result(text)

    echo(tell.head(problem))
    lattice = find_lattice(problem)
    quantum = tell.teller.exact_cost(float(lattice.quantum), problem.cost_unit)
    echo(say("size", space=tell.space(problem), quantum=quantum))
    if lattice.error:
        echo(say("rounded", error=tell.teller.exact_cost(float(lattice.error), problem.cost_unit)))
    people: list[PersonDiagnosis] = []
    space: SpaceDiagnosis | None = None
    population: Agreement | None = None
    starts: CodeMatrix | None = None
    if source.classifier is None and problem.rule is None:
        for name, asked in (("--whole", whole), ("--people", people_files is not None)):
            if asked:
                raise click.UsageError(f"{name} needs a rule in the problem or a --classifier")
        echo(say("undecided"))
    else:
        people = _check_named(source, problem_file, tell, echo)
        if people_files is not None:
            population, starts = _check_records(source, people_files, options)
            for line in AuditTeller.of(options["language"]).agreement(population):
                echo(line)
        if whole:
            space = _check_space(source)
            echo(tell.whole(space))
    hints = find_hints(problem, starts)
    for hint in hints:
        echo(say("hint", hint=tell.hint(hint)))
    echo(say("sound"))

    def make_record() -> CheckRecord:
        from safear.population.result_records import CheckRecord

        return CheckRecord.of(problem, people, space, population, hints)

    tell_record(make_record, options)


def _check_named(
    source: Source, problem_file: str, tell: CheckTeller, echo: Callable[[str], None]
) -> list[PersonDiagnosis]:
    """The problem's own people; an error if nobody who is rejected can reach the goal."""
    from safear.errors import ProblemError
    from safear.problem.load import locate_mistakes
    from safear.recourse.diagnose import diagnose_people

    people, mistakes = diagnose_people(source.problem, source.classifier)
    for person in people:
        echo(tell.person(person))
        if person.giving_up is not None:
            warning = tell.giving_up(person.giving_up)
            echo(tell.teller("check.warning", person=person.name, warning=warning))
    if mistakes:
        raise ProblemError(locate_mistakes(Path(problem_file), mistakes))
    return people


def _check_records(source: Source, people: str, options: dict[str, Any]) -> tuple[Agreement, CodeMatrix]:
    """People as filed, and their level numbers; files may be large, and are read once."""
    from safear.people.counts import read_population, require_somebody
    from safear.population.agreement import check_population
    from safear.recourse.case import Desk

    desk = Desk.of(source.problem, source.classifier)
    population = read_population(source.problem, people, sight=desk.sight, skip_bad=options["skip_bad"])
    require_somebody(population, options["skip_bad"])
    return check_population(desk, population), population.codes


def _check_space(source: Source) -> SpaceDiagnosis:
    """All states, if the classifier can be asked about states that are nobody's."""
    from safear.classifier.filed import Sight
    from safear.recourse.diagnose import diagnose_space

    given = () if source.classifier is None else Sight.of(source.problem, source.classifier).given
    if given:
        columns = ", ".join(f"'{name}'" for name in given)
        raise click.UsageError(
            f"--whole: a state says nothing about {columns}, which the classifier sees; give --people"
        )
    return diagnose_space(source.problem, source.classifier)
