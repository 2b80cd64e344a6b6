"""What the command line shows to people."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from safear.recourse.plan_teller import PlanTeller
from safear.recourse.teller import Teller
from safear.risk.objectives import Budget
from safear.texts.names import capital
from safear.texts.numbers import count_of

if TYPE_CHECKING:
    from safear.population.comparison import Comparison
    from safear.problem.model import Problem
    from safear.progress import Progress as ProgressCallback
    from safear.recourse.menu import Menu
    from safear.recourse.offer import Offer
    from safear.recourse.records import SimulatedRecord


def print_menu(menu: Menu, *, all_steps: bool = False, language: str = "en") -> None:
    """The decision, the plans side by side, and each plan in words with its most probable traces."""
    console, tell = make_console(), Teller.of(language)
    console.print(f"[bold]{escape(menu.problem.title)}[/bold]")
    for notice in menu.notices:
        console.print(f"[yellow]{escape(tell('terminal.notice'))}[/yellow] {escape(tell.notice(notice))}")
    decision = tell.decision(menu.problem, favourable=menu.favourable)
    if menu.favourable:
        console.print(f"{decision}. {tell('report.lead.accepted')}", markup=False)
        return
    console.print(f"{decision}. {tell('report.lead.plans', count=len(menu))}\n", markup=False)
    console.print(_overview(menu, tell))
    console.print(_footnote(menu, tell), style="dim", markup=False)
    for number, offer in enumerate(menu, start=1):
        heading = tell.heading(number, offer, alone=len(menu) == 1)
        _print_offer(console, menu, offer, tell, heading=heading, all_steps=all_steps)


def _overview(menu: Menu, tell: Teller) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for place, heading in enumerate(tell.overview_headings(menu.level)):
        table.add_column(heading, justify="left" if place < 2 else "right")
    for offer in menu:
        name, *others = map(escape, tell.overview(offer))
        table.add_row(f"[bold]{name}[/bold]", *others)
    return table


def _footnote(menu: Menu, tell: Teller) -> str:
    say, problem = tell.texts.part("terminal"), menu.problem
    failure = tell.cost(float(problem.goal.failure_cost), problem.cost_unit)
    counts = "failure" if problem.goal.failure_cost else "failure_free"
    parts = [
        say("rounded" if any(offer.solution.mdp.cost_error for offer in menu) else "exact"),
        say(counts, goal=tell.quoted_goal(problem), within=tell.within(problem), cost=failure),
    ]
    if menu.level < 1:
        parts.append(say("worst", worst=capital(tell.worst_name(menu.level)), share=tell.percent(1 - menu.level)))
    return " ".join(parts)


def _print_offer(console: Console, menu: Menu, offer: Offer, tell: Teller, *, heading: str, all_steps: bool) -> None:
    objectives = ", ".join(str(objective) for objective in offer.objectives)
    chosen = offer.kind == "asked" or bool(menu.frontier)  # a frontier's weights mean nothing to a person
    about = "" if chosen else f" [dim]({offer.solution.method}, {escape(objectives)})[/dim]"
    console.print(f"\n[bold]{escape(heading)}[/bold]{about}")
    if offer.trade_off is not None:
        console.print(f"  {tell.trade_off(offer.trade_off)}", markup=False)
    if not menu.frontier:
        console.print(f"  {_describe_value(offer, tell)}", markup=False)
    for line in PlanTeller(offer.full_plan if all_steps else offer.plan, tell).lines():
        console.print(f"  {line}", markup=False)
    console.print(f"  {tell('ways.title')}:")
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(justify="right", min_width=9, no_wrap=True)
    table.add_column()
    for trace in offer.traces.shown:
        mark = "[green]✓[/green]" if trace.success else "[red]✗[/red]"
        words = f"{tell.trace(trace)}: {tell.trace_end(trace, offer.unit)}"
        table.add_row(tell.percent(trace.chance), f"{mark} {escape(words)}")
    rest = offer.traces.rest
    if rest is not None:
        table.add_row(
            tell.percent(rest.chance),
            f"[dim]{escape(tell.other_traces(rest.success_costs, rest.failure, offer.unit))}[/dim]",
        )
    console.print(table)


def _describe_value(offer: Offer, tell: Teller) -> str:
    """What was asked for: `cvar:0.95: 3.38 months. No plan has less`."""
    solution, objective, say = offer.solution, offer.objective, tell.texts.part("terminal")
    if isinstance(objective, Budget):
        return say("budget", cost=tell.exact_cost(objective.limit, offer.unit), share=tell.percent(1 - offer.value))
    told = {"objective": str(objective), "cost": tell.cost(offer.value, offer.unit)}
    if solution.certificate is None:
        return say("value", **told)
    gap = solution.gap / max(abs(solution.value), 1e-12)
    return say("best", **told) if gap < 1e-5 else say("near", **told, share=tell.percent(gap))


def print_comparisons(problem: Problem, found: Sequence[Comparison]) -> None:
    """Greedy against optimal: a row per objective, and what the figures mean."""
    console, first = make_console(), found[0]
    console.print(f"[bold]{escape(problem.title)}[/bold]")
    console.print(
        f"{count_of(first.people, 'person').replace('persons', 'people')}: {first.rejected:,} rejected, "
        f"{first.without_recourse:,} of them with no way to the goal; {first.compared:,} compared.\n"
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("objective")
    table.add_column("method")
    for heading in ("value", "succeeds", "average", "worst 5%"):
        table.add_column(heading, justify="right")
    for item in found:
        for method, figures in (("greedy", item.greedy), ("optimal", item.optimal)):
            costs = (Teller.of().number(figure) for figure in (figures.value, figures.mean, figures.cvar))
            value, average, worst = costs
            objective = escape(str(item.objective)) if method == "greedy" else ""
            table.add_row(objective, method, value, f"{100 * figures.success:.1f}%", average, worst)
    console.print(table)
    for item in found:
        console.print(f"\n[bold]{escape(str(item.objective))}[/bold]: {_describe_comparison(item)}")


def _describe_comparison(item: Comparison) -> str:
    worse = f"greedy is worse for {Teller.of().percent(item.worse)} of the people"
    if item.worse:
        worse += (
            f", by {_format_excess(item.excess_of_worse)} on average, at most {_format_excess(item.largest_excess)}"
        )
    parts = [
        worse,
        f"it begins with another step for {Teller.of().percent(item.other_first_step)}",
        f"no plan can be better than the optimum by more than {_format_excess(max(item.largest_gap, 1e-12))}",
    ]
    if item.gives_up:
        parts.append(
            f"for {Teller.of().percent(item.gives_up)} even the optimum gives up, because failing costs too little "
            "(goal.failure_cost, or --failure-cost)"
        )
    return f"{'; '.join(parts)}."


def _format_excess(share: float) -> str:
    """In percent with two digits; it may be above 100%."""
    return f"{100 * share:.2g}%" if share < 0.995 else f"{100 * share:,.0f}%"


def print_simulations(menu: Menu, simulated: Sequence[SimulatedRecord]) -> None:
    """The cross-checks by simulation, if there were any."""
    for offer, found in zip(menu, simulated, strict=False):
        make_console().print(
            f"{offer.name}: {found.rollouts:,} simulated runs: success {found.success:.4f} "
            f"(exact {offer.cost.success:.4f}), average {found.all_runs.mean:.4f} (exact {offer.mean:.4f})",
            markup=False,
        )


@contextmanager
def show_progress() -> Iterator[ProgressCallback | None]:
    """A progress bar on the error stream while something takes long; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("solving"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("solving")
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def show_table_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar per table on the error stream; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def advance(table: str, done: int, total: int) -> None:
            if table not in tasks:
                tasks[table] = progress.add_task(table, total=total)
            progress.update(tasks[table], completed=done)

        yield advance


def make_console() -> Console:
    """As wide as the terminal, and 110 columns where nobody looks."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=110)
