"""How an audit is shown to people."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from safear.cli.render import make_console
from safear.population.audit import Audit
from safear.population.figures import MEASURES
from safear.population.groups import BETWEEN, Group
from safear.recourse.teller import Teller
from safear.texts.numbers import count_of

SIGNIFICANT = 0.05
TINY = 1e-300


def print_audit(found: Audit) -> None:
    """Everybody, each group column and their combinations, what differs, and where it comes from."""
    console, tell, overall = make_console(), Teller.of(), found.overall
    objective = escape(str(found.objective))
    how = f"{objective} (method {found.method})" if found.method else objective
    console.print(f"[bold]{escape(found.problem.title)}[/bold]: everybody follows the plan for {how}")
    helpless = overall["no recourse"]
    console.print(
        f"{overall['n']:,} people: {tell.percent(overall['favourable'])} accepted, {overall['rejected']:,} rejected"
        + (f", {tell.percent(helpless)} of these with no way to the goal" if helpless else "")
        + (f"; {count_of(found.population.skipped, 'bad row')} set aside" if found.population.skipped else "")
        + "."
    )
    giving_up = overall["gives up"]
    if giving_up:
        console.print(
            f"[yellow]Note:[/yellow] the plans of {tell.percent(giving_up)} of the rejected succeed far less often "
            "than they could: failing costs too little (goal.failure_cost, --failure-cost). "
            "Costs cover only those who succeed."
        )
    for by in found.columns:
        console.print()
        console.print(_group_table(found, by))
        _print_tests(console, found, by)
    for name in found.population.groups:
        if found.can_decompose(name):
            _print_parts(console, found, name)
    console.print(
        f"\nMeans over the rejected; costs in {escape(found.problem.cost_unit)} if they succeed; var and cvar at "
        f"{tell.percent(found.level)}. * fewer than {found.minimum} rejected: neither ranked nor tested.",
        style="dim",
    )


def _group_table(found: Audit, by: tuple[str, ...]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(escape(BETWEEN.join(by)), no_wrap=True)
    for heading in ("people", "accepted", "no recourse", *MEASURES):
        table.add_column(heading, justify="right")
    for group in found.groups(by):
        table.add_row(*_group_row(group))
    difference, ratio = found.difference(by), found.ratio(by)
    for name, figures in (("largest difference", difference), ("smallest ratio", ratio)):
        if any(value is not None for value in figures):
            table.add_row(f"[dim]{name}[/dim]", "", "", "", *(_figure(figures[measure]) for measure in MEASURES))
    return table


def _group_row(group: Group) -> list[str]:
    row, tell = group.row(), Teller.of()
    helpless = row["no recourse"]
    return [
        escape(group.name) + ("*" if group.is_small else ""),
        f"{group.n:,}",
        tell.percent(1 - group.n_rejected / group.n),
        "n/a" if helpless is None else tell.percent(float(str(helpless))),
        *(_figure(group.mean(measure)) for measure in MEASURES),
    ]


def _figure(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _print_tests(console: Console, found: Audit, by: tuple[str, ...]) -> None:
    """Which differences are more than chance; those of combinations are many, and only counted."""
    if not found.can_test(by):
        console.print("  There are too many groups to compare in pairs.")
        return
    tests, tell = found.tests(by), Teller.of()
    if not len(tests):
        return
    clear = tests[[p is not None and p < SIGNIFICANT for p in tests["p (Holm)"]]]
    where = "" if len(by) == 1 else "; --json has them"
    console.print(
        f"  In {len(clear)} of {len(tests)} comparisons one group tends to have the larger figure (Mann-Whitney, 5% "
        f"after Holm's correction){where}.",
        markup=False,
    )
    for _, row in clear.iterrows() if len(by) == 1 else ():
        p = "p < 1e-300" if row["p (Holm)"] < TINY else f"p = {row['p (Holm)']:.2g}"
        interval = f"[{tell.number(row['low'])}, {tell.number(row['high'])}]" if row["low"] is not None else ""
        console.print(
            f"    {row['measure']}: {row['group']} {row['difference']:+.3f} against {row['other']} {interval}, {p}, "
            f"Cliff's delta {row['effect']:+.2f}",
            markup=False,
        )


def _print_parts(console: Console, found: Audit, name: str) -> None:
    parts, tell = found.decompose(name), Teller.of()
    if not parts:
        return
    covered = tell.percent(min(part.covered for part in parts))
    console.print(
        f"\n[bold]Where the gaps by {escape(name)} come from[/bold] (at least {covered} of the people counted)"
    )
    for part in parts:
        console.print(
            f"    {part.measure}: {part.group} {part.gap:+.3f} against {part.other} = {part.start:+.3f} from where "
            f"people start {part.model:+.3f} from how the model treats people who differ only in this",
            markup=False,
        )
