"""`safear check`: is this problem file sound?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from safear.cli.options import LANGUAGE, PROBLEM, problem_options
from safear.cli.sources import find_source
from safear.cli.verbose import verbose_option


@click.command(
    epilog="""\b
Example:
  safear check loan
  safear check my-problem.yaml --classifier model.skops
  safear check my-problem.yaml --whole"""
)
@PROBLEM
@problem_options
@click.option("--whole", is_flag=True, help="Check every state, not only those that the named people can reach.")
@LANGUAGE
@verbose_option
def check(problem_file: str, whole: bool, **options: Any) -> None:
    """Check a PROBLEM: a file, a bundled problem, or a data set of the paper (adult, german, insurance).

    Reports all mistakes at once, each with its line. Then, with the problem's rule or a --classifier, tries each of its
    people: who is rejected, and can they reach the goal?
    """
    from safear.errors import ProblemError
    from safear.mdp.lattice import find_lattice
    from safear.problem.load import locate_mistakes
    from safear.recourse.check_teller import CheckTeller
    from safear.recourse.diagnose import diagnose_people, diagnose_space, find_hints

    tell = CheckTeller.of(options["language"])
    say = tell.teller.texts.part("check")
    source = find_source(problem_file, options)
    problem, model = source.problem, source.classifier
    click.echo(tell.head(problem))
    lattice = find_lattice(problem)
    quantum = tell.teller.exact_cost(float(lattice.quantum), problem.cost_unit)
    click.echo(say("size", space=tell.space(problem), quantum=quantum))
    if lattice.error:
        click.echo(say("rounded", error=tell.teller.exact_cost(float(lattice.error), problem.cost_unit)))
    if model is None and problem.rule is None:
        if whole:
            raise click.UsageError("--whole needs a rule in the problem or a --classifier")
        click.echo(say("undecided"))
    else:
        people, mistakes = diagnose_people(problem, model)
        for person in people:
            click.echo(tell.person(person))
            if person.giving_up is not None:
                click.echo(say("warning", person=person.name, warning=tell.giving_up(person.giving_up)))
        if mistakes:
            raise ProblemError(locate_mistakes(Path(problem_file), mistakes))
        if whole:
            click.echo(tell.whole(diagnose_space(problem, model)))
    for hint in find_hints(problem):
        click.echo(say("hint", hint=tell.hint(hint)))
    click.echo(say("sound"))
