"""`safear check`: is this problem file sound?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from safear.cli.options import PROBLEM, problem_options
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
@verbose_option
def check(problem_file: str, whole: bool, **options: Any) -> None:
    """Check a PROBLEM: a file, a bundled problem, or a data set of the paper (adult, german, insurance).

    Reports all mistakes at once, each with its line. Then, with the problem's rule or a --classifier, tries each of its
    people: who is rejected, and can they reach the goal?
    """
    from safear.errors import ProblemError
    from safear.mdp.lattice import find_lattice
    from safear.mdp.space import StateSpace
    from safear.problem.load import locate_mistakes
    from safear.recourse.diagnose import diagnose_people, diagnose_space, find_hints

    source = find_source(problem_file, options)
    problem, model = source.problem, source.classifier
    space, fixed = StateSpace(problem.features, {}), [f for f in problem.features if not f.mutable]
    blocks = StateSpace(tuple(fixed), {}).size
    click.echo(
        f"{problem.title}: {len(problem.features)} features, {len(problem.actions)} actions, horizon {problem.horizon}"
    )
    lattice = find_lattice(problem)
    quantum = f"{float(lattice.quantum):g}"
    click.echo(f"{space.size:,} states in {blocks:,} block{'s' * (blocks > 1)}; costs are multiples of {quantum}")
    if lattice.error:
        click.echo(f"costs are rounded; a total is off by at most {float(lattice.error):g} {problem.cost_unit}")
    if model is None and problem.rule is None:
        if whole:
            raise click.UsageError("--whole needs a rule in the problem or a --classifier")
        click.echo("no rule and no --classifier: decisions are not checked")
    else:
        people, mistakes = diagnose_people(problem, model)
        for person in people:
            if person.favourable:
                click.echo(f"{person.name}: already favourable")
            else:
                way = f"{person.goals:,} goals among {person.states:,} states" if person.goals else "no way to a goal"
                click.echo(f"{person.name}: rejected; {way} within reach")
            if person.giving_up is not None:
                click.echo(f"warning: {person.name}: {person.giving_up}")
        if mistakes:
            raise ProblemError(locate_mistakes(Path(problem_file), mistakes))
        if whole:
            all_states = diagnose_space(problem, model)
            rejected = all_states.states - all_states.goals
            click.echo(
                f"{all_states.goals:,} of {all_states.states:,} states are goals; "
                f"{all_states.without_recourse:,} of the other {rejected:,} have no way to a goal"
            )
    for hint in find_hints(problem):
        click.echo(f"hint: {hint}")
    click.echo("no mistakes found")
