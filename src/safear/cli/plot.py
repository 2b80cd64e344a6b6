"""`safear plot`: a picture as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import LANGUAGE, NEW_FILE, PROBLEM, CountRange, groups
from safear.cli.person_options import PLAN, find_menu, find_plan, person_options, require_recourse
from safear.cli.results import print_result
from safear.cli.sources import Source, find_source
from safear.cli.verbose import verbose_option

if TYPE_CHECKING:
    from safear.plots import Picture
    from safear.recourse.menu import Menu
    from safear.recourse.offer import Offer
    from safear.recourse.sensitivity import PlanSensitivity

OF_MENUS = ("traces", "distribution", "cdf", "frontier")
OF_PLANS = ("tree", "dots", "tornado")
KINDS = (*OF_MENUS, *OF_PLANS, "disparity", "learning")
LEARNED = ("mean-std:0", "mean-std:0.5", "mean-std:1")
WINDOW = 100  # episodes that a learning curve is averaged over
OF_PERSONS = (*OF_MENUS, *OF_PLANS, "learning")
GOES_WITH = {  # options that only some pictures have
    "greedy": ("frontier",),
    "plan": OF_PLANS,
    "groups": ("disparity",),
    "minimum": ("disparity",),
    "person": OF_PERSONS,
    "settings": OF_PERSONS,
    "terms": OF_PERSONS,
    "forbid": OF_PERSONS,
    "row": OF_PERSONS,
    "robust": OF_PERSONS,
    "exact": OF_PERSONS,
    "most": OF_PERSONS,
    "episodes": OF_PERSONS,
}
NAMES = {"groups": "group", "settings": "set", "exact": "exact/--simple"}  # of options that have another name inside


@click.command(
    epilog="""\b
Example:
  safear plot traces loan --out plans.svg
  safear plot distribution loan --set savings=moderate --out costs.png
  safear plot frontier loan --greedy mean-std:0.5 --greedy mean-std:1 --out frontier.pdf
  safear plot tree loan --plan safest --out plan.svg
  safear plot disparity german --group gender --out groups.svg

\b
Pictures:
  traces        the most probable ways each plan may go
  distribution  what each plan may cost, with its average and its worst cases
  cdf           the chance of succeeding within a given cost
  frontier      all optimal plans by average and worst cases
  tree          one plan: what to do, and what to do if that fails
  dots          one plan: 100 people, and what they spend
  tornado       one plan: which chances and costs would change its first step
  disparity     risk by group; PEOPLE as in audit
  learning      costs while the episodic method learns

\b
.png and .pdf need vl-convert: pip install 'safear[plots]'"""
)
@click.argument("kind", metavar="KIND", type=click.Choice(KINDS))
@PROBLEM
@click.argument("people", metavar="[PEOPLE]", required=False)
@click.option("-o", "--out", type=NEW_FILE, required=True, metavar="FILE", help="FILE.svg, FILE.png or FILE.pdf.")
@LANGUAGE
@click.option("--title", metavar="TEXT", help="The title above the picture.")
@PLAN
@click.option("--greedy", multiple=True, metavar="OBJECTIVE", help="For frontier: add a greedy plan; may be repeated.")
@groups()
@click.option(
    "--minimum", type=CountRange(1), help="For disparity: mark groups with fewer rejected people.  [default: 30]"
)
@person_options
@verbose_option
def plot(kind: str, problem_file: str, people: str | None, **options: Any) -> None:
    """Draw a picture of KIND and write it to a file.

    PROBLEM is a problem file, a bundled problem, or a data set of the paper (adult, german, insurance) with its forest.
    The person is the problem's first unless given.
    """
    from safear.plots.picture import find_ending
    from safear.plots.rendering import load_converter
    from safear.recourse.teller import Teller

    teller = Teller.of(options["language"])
    if find_ending(options["out"]) in {".png", ".pdf"}:
        load_converter()
    _check(kind, people, options)
    source = find_source(problem_file, options)
    if kind == "disparity":
        picture = _draw_disparity(source, people, options)
    else:
        if kind == "learning":
            options |= {"method": "episodic", "objectives": options["objectives"] or LEARNED}
        menu = find_menu(source, options)
        require_recourse(menu, teller.about(menu.problem))
        picture = _draw(kind, menu, options)
    picture.save(options["out"])
    print_result(teller("terminal.picture", file=options["out"]))


def _check(kind: str, people: str | None, options: dict[str, Any]) -> None:
    """Refuse options that the picture does not have."""
    context = click.get_current_context()
    for name, kinds in GOES_WITH.items():
        if kind not in kinds and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{NAMES.get(name, name)} does not go with {kind}")
    if people is not None and kind != "disparity":
        raise click.UsageError(f"'{people}': only disparity takes people; use --person for a person")
    if kind == "disparity" and not options["groups"]:
        raise click.UsageError("disparity needs --group")
    if kind == "disparity" and (len(options["objectives"]) > 1 or options["method"] == "episodic"):
        raise click.UsageError("disparity takes one --objective, and --method optimal or greedy")
    if kind == "frontier" and (options["objectives"] or options["method"] not in {None, "optimal"}):
        raise click.UsageError(
            "frontier draws the menu of optimal plans: leave out --objective and --method; see --greedy"
        )


def _draw(kind: str, menu: Menu, options: dict[str, Any]) -> Picture:
    """The picture of a menu, or of one of its plans."""
    from safear import plots
    from safear.plots.plan_rows import read_plans

    said = {"title": options["title"], "language": options["language"]}
    read_plans(menu)  # says why there is none
    match kind:
        case "learning":
            return _draw_learning(menu, said)
        case "frontier":
            return plots.frontier(menu, _solve_greedily(menu, options["greedy"]), **said)
        case "tree":
            return plots.tree(find_plan(menu, options["plan"]), **said)
        case "tornado":
            return plots.tornado(_examine(menu, options["plan"]), **said)
        case "dots":
            return plots.dots(find_plan(menu, options["plan"]), beside=menu, **said)
        case _:
            draw = {"traces": plots.traces, "distribution": plots.distribution, "cdf": plots.cdf}[kind]
            return draw(_order(menu), **said)


def _examine(menu: Menu, plan: str | None) -> PlanSensitivity:
    from safear.cli.render import show_progress
    from safear.recourse.sensitivity import examine_menu

    with show_progress() as progress:
        return examine_menu(menu, find_plan(menu, plan), progress=progress)[0]


def _order(menu: Menu) -> Menu | list[Offer]:
    """Plans that were asked for one by one, safest first; a menu has its own order."""
    return menu if menu.frontier or not menu.offers else sorted(menu, key=lambda offer: offer.tail)


def _solve_greedily(menu: Menu, objectives: tuple[str, ...]) -> Menu | tuple[()]:
    from safear.recourse.menu import Request, make_menu

    return make_menu(menu.case, Request.of(objectives, method="greedy", level=menu.level)) if objectives else ()


def _draw_learning(menu: Menu, said: dict[str, Any]) -> Picture:
    from safear.plots import learning_curves
    from safear.plots.plan_rows import read_plans

    unit = read_plans(menu).unit
    curves = {offer.name: offer.solution.learning for offer in menu if offer.solution.learning is not None}
    window = min(WINDOW, *(len(curve.costs) for curve in curves.values()))
    return learning_curves(curves, window=window, unit=unit, **said)


def _draw_disparity(source: Source, people: str | None, options: dict[str, Any]) -> Picture:
    from safear.cli.render import show_progress
    from safear.plots import disparity
    from safear.population.audit import SMALL, audit
    from safear.recourse.offer import TAIL
    from safear.risk.objectives import parse_objective

    table = source.find_people(people)
    with show_progress() as progress:
        found = audit(
            source.problem,
            source.classifier,
            table,
            groups=options["groups"],
            objective=parse_objective(*options["objectives"] or ("mean",)),
            method=options["method"],
            level=options["level"] or TAIL,
            minimum=options["minimum"] or SMALL,
            seed=options["seed"],
            progress=progress,
        )
    return disparity(found, title=options["title"], language=options["language"])
