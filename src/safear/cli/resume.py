"""`safear resume`: go on with a saved plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from safear.cli.options import LANGUAGE, AmountRange, CountRange, horizon, record_options, tell_record
from safear.cli.person_options import OUTCOMES, Question, about_person, check_row, require_recourse
from safear.cli.results import print_result
from safear.cli.saving import check_saving, save_chosen, save_options
from safear.cli.sources import find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from pydantic import BaseModel

    from safear.plans.resume import Turn
    from safear.plans.saved_plan import SavedPlan
    from safear.recourse.teller import Teller

ALWAYS = {
    "plan_file",
    "outcomes",
    "now",
    "cost",
    "steps",
    "language",
    "as_json",
    "output",
    "verbose",
}  # the rest: --menu


@click.command(
    epilog="""\b
Example:
  safear recommend loan --save plan.json
  safear resume plan.json --outcome failed --outcome worked
  safear resume plan.json --outcome failed --now savings=rich --cost 2
  safear resume plan.json --outcome failed --menu --problem loan --save new.json
  safear resume new.json --now education=degree --steps 2 --menu --problem loan --horizon 12

\b
Exit codes:  0 fine;  2 a mistake in the input;  3 no plan reaches a goal"""
)
@click.argument("plan_file", metavar="PLAN.json")
@OUTCOMES
@click.option(
    "--now",
    multiple=True,
    metavar="NAME=VALUE",
    help="Something else happened: what a feature is now; may be repeated.",
)
@click.option("--cost", type=AmountRange(0), help="What that has cost.  [default: 0]")
@click.option("--steps", type=CountRange(1), help="How many steps it took.  [default: 1]")
@click.option("--menu", is_flag=True, help="Make a new menu from there, with the steps that are left; needs --problem.")
@click.option("--problem", metavar="PROBLEM", help="The problem that the plan was made for.")
@click.option(
    "--changed", is_flag=True, help="Problem, person or model have changed on purpose since the plan was made."
)
@about_person(
    person="The person as filed: FILE|NAME as in `safear recommend`.  [default: the one of the plan]",
    steps=horizon("How many steps there are from now on.  [default: those that are left]"),
)
@save_options
@LANGUAGE
@record_options
@click.pass_context
@verbose_option
def resume(context: click.Context, /, plan_file: str, **options: Any) -> None:
    """Go on with a saved plan: what to do now, what has been spent, and what is still to come.

    PLAN.json is what `safear recommend --save` has written, or FILE.parquet:ROW, a row of what `safear batch --plans`
    has; nothing else is needed. With --menu you get new plans from where you are: --problem and --classifier are then
    those of `safear recommend`, and --person is needed if the plan was saved without personal data.
    """
    from safear.plans.plan_lists import open_plan
    from safear.recourse.teller import Teller

    _check(context, options)
    check_saving(options)
    tell = Teller.of(options["language"])
    plan, turn = open_plan(plan_file), _read_turn(options)
    tell = tell.speaking(plan.policy.mdp.glossary)
    if options["menu"]:
        _make_menu(plan, turn, options, tell)
    else:
        _tell_step(plan, turn, options, tell)


def _check(context: click.Context, options: dict[str, Any]) -> None:
    """Refuse what would be passed over in silence."""
    given = [
        parameter
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    ]
    idle = [parameter.opts[-1] for parameter in given if parameter.name not in ALWAYS]
    if idle and not options["menu"]:
        raise click.UsageError(f"{', '.join(idle)}: only with --menu; the plan itself needs no more than its file")
    if options["menu"] and options["problem"] is None:
        raise click.UsageError("--menu needs --problem")
    if not options["now"] and (options["cost"] is not None or options["steps"] is not None):
        raise click.UsageError("--cost and --steps go with --now")
    if options["settings"] and options["person"] is None:
        raise click.UsageError("--set goes with --person; --now says what is different now")
    check_row(options["person"], options["row"])


def _read_turn(options: dict[str, Any]) -> Turn | None:
    """What no outcome foresaw, if anything did."""
    from safear.plans.resume import Turn
    from safear.recourse.walk import WalkError

    if not options["now"]:
        return None
    now: dict[str, object] = {}
    for setting in options["now"]:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or name in now:
            cause = "should be NAME=VALUE" if not equals else f"'{name}' is set twice"
            raise WalkError.at((), f"--now {setting}: {cause}", code="twice" if equals else "syntax")
        now[name] = value
    return Turn(now, options["cost"] or 0.0, options["steps"] or 1)


def _tell_step(plan: SavedPlan, turn: Turn | None, options: dict[str, Any], tell: Teller) -> None:
    from safear.plans.resume import resume as go_on
    from safear.recourse.walk_teller import WalkTeller

    here = go_on(plan, options["outcomes"], turn=turn)

    def make_record() -> BaseModel:
        from safear.recourse.walk_records import SituationRecord

        return SituationRecord.of(here)

    if not tell_record(make_record, options):
        asked = plan.form.plan == plan.form.objectives[0]
        name = tell.objective(plan.objectives[0], here.unit) if asked else tell.name_plan(plan.form.plan)
        print_result(f"{tell.text(plan.form.problem.title)}: {name}")
        print_result("\n".join(WalkTeller(here, tell).lines()))


def _make_menu(plan: SavedPlan, turn: Turn | None, options: dict[str, Any], tell: Teller) -> None:
    from safear.cli.render import print_menu
    from safear.plans.resume import find_restart

    # --horizon is about what is to come, not about the problem that the plan was made for.
    asked = Question.read(find_source(options["problem"], options | {"horizon": None}), options, known=True)
    start = find_restart(
        plan,
        asked.problem,
        asked.classifier,
        outcomes=options["outcomes"],
        turn=turn,
        person=asked.record,
        terms=asked.terms,
        changed=options["changed"],
        horizon=options["horizon"],
    )
    menu = replace(asked, problem=start.problem, record=start.record).answer()

    def make_record() -> BaseModel:
        from safear.plans.resume_records import RestartRecord

        return RestartRecord.of(start, menu)

    save_chosen(menu, options, tell, before=start.before)
    if not tell_record(make_record, options):
        spent = tell.cost(start.spent, menu.problem.cost_unit)
        print_result(tell("walk.restart", spent=spent) + " " + tell("walk.steps_left", count=start.steps_left))
        if menu.no_recourse is None:
            print_menu(menu, all_steps=False, language=options["language"])
    require_recourse(menu, tell)
