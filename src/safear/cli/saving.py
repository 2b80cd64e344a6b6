"""Saving a plan of a menu in a file: the options, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import NEW_FILE, combine
from safear.cli.person_options import PLAN, find_plan
from safear.cli.results import print_note

if TYPE_CHECKING:
    from safear.plans.plan_file import BeforeForm
    from safear.recourse.menu import Menu
    from safear.recourse.teller import Teller

NO_PERSONAL_DATA = click.option(
    "--no-personal-data",
    is_flag=True,
    help="Leave the record, its hashes and all levels that the plan does not change out of the file. What the plan "
    "changes stays, from the start on, and so do costs and chances.",
)
save_options = combine(
    click.option("--save", type=NEW_FILE, metavar="FILE.json", help="Save a plan of the menu, to go on with it later."),
    PLAN,
    NO_PERSONAL_DATA,
)


def check_saving(options: dict[str, Any], *, also: Sequence[str] = ()) -> None:
    """Refuse what goes with --save alone before anything is computed; `also` are the options that --plan goes with."""
    if options["save"] is None and options["no_personal_data"]:
        raise click.UsageError("--no-personal-data goes with --save")
    users = ("save", *also)
    if options["plan"] is not None and all(options[name] is None for name in users):
        raise click.UsageError(f"--plan goes with {' or '.join(f'--{name}' for name in users)}")


def save_chosen(menu: Menu, options: dict[str, Any], tell: Teller, *, before: BeforeForm | None = None) -> None:
    """Save the plan that is wanted, if one is, and say so; where there is no plan, say that."""
    if options["save"] is None:
        return
    if not len(menu):
        print_note(tell("terminal.nothing_saved"))
        return
    from safear.plans.saved_plan import save_plan

    offer = find_plan(menu, options["plan"])
    seed = options["seed"] if offer.solution.method == "episodic" else None
    save_plan(offer, options["save"], personal_data=not options["no_personal_data"], seed=seed, before=before)
    print_note(tell("terminal.saved", plan=tell.texts.quote(tell.name_plan(offer)), file=options["save"]))
