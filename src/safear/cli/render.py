"""What the command line shows to people."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from safear.population.comparison import Comparison
from safear.problem.model import Problem
from safear.progress import Progress as ProgressCallback
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.traces import Trace
from safear.recourse.words import count_of, describe_worst, format_chance, format_cost, format_number, name_goal
from safear.risk.objectives import Budget


def print_menu(menu: Menu, *, all_steps: bool = False) -> None:
    """The decision, the plans side by side, and each plan in words with its most probable traces."""
    console = make_console()
    goal = name_goal(menu.problem)
    console.print(f"[bold]{escape(menu.problem.title)}[/bold]")
    for notice in menu.notices:
        console.print(f"[yellow]Note:[/yellow] {escape(str(notice))}")
    if menu.favourable:
        console.print(f"Decision: {escape(goal)}. There is nothing to do.")
        return
    console.print(f"Decision: unfavourable. The way to '{escape(goal)}', and what may go wrong on it:\n")
    console.print(_overview(menu))
    console.print(_footnote(menu), style="dim")
    for offer in menu:
        _print_offer(console, menu, offer, all_steps=all_steps)


def _overview(menu: Menu) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("plan")
    table.add_column("first step")
    for heading in ("succeeds", "average", f"{format_chance(menu.level)} within", describe_worst(menu.level)):
        table.add_column(heading, justify="right")
    unit = menu.problem.cost_unit
    for offer in menu:
        figures = (offer.mean, offer.cost.all_runs.var(menu.level), offer.tail)
        table.add_row(
            f"[bold]{escape(offer.name)}[/bold]",
            escape(offer.first_action or ""),
            format_chance(offer.cost.success),
            *(format_cost(figure, unit) for figure in figures),
        )
    return table


def _footnote(menu: Menu) -> str:
    failure = float(menu.problem.goal.failure_cost)
    steps = count_of(menu.problem.horizon, "step")
    if failure:
        extra = f"a run without success after {steps} counts {format_cost(failure, menu.problem.cost_unit)} more"
    else:
        extra = f"a run without success after {steps} counts with what was spent"
    worst = describe_worst(menu.level)
    meaning = f"{worst.capitalize()}: the average of the costliest {format_chance(1 - menu.level)} of the runs."
    rounded = any(offer.solution.mdp.cost_error for offer in menu)
    about = "Figures of rounded costs" if rounded else "Exact figures"
    return f"{about}, over all runs; {extra}. {meaning if menu.level < 1 else ''}".strip()


def _print_offer(console: Console, menu: Menu, offer: Offer, *, all_steps: bool) -> None:
    objectives = ", ".join(str(objective) for objective in offer.objectives)
    chosen = objectives == offer.name or bool(menu.frontier)  # a frontier's weights mean nothing to a person
    about = "" if chosen else f" [dim]({offer.solution.method}, {escape(objectives)})[/dim]"
    console.print(f"\n[bold]{escape(offer.name.capitalize())}[/bold]{about}")
    if offer.trade_off:
        console.print(f"  {offer.trade_off}", markup=False)
    if not menu.frontier:
        console.print(f"  {_describe_value(offer)}", markup=False)
    for line in (offer.full_plan if all_steps else offer.plan).lines():
        console.print(f"  {line}", markup=False)
    console.print("  How it may go:")
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(justify="right", min_width=9, no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    unit = offer.unit
    for trace in offer.traces.shown:
        end = f"[green]✓ {escape(name_goal(menu.problem))}[/green]" if trace.success else "[red]✗ not in time[/red]"
        table.add_row(format_chance(trace.chance), format_cost(trace.cost, unit), f"{_describe_trace(trace)} {end}")
    rest = offer.traces.rest
    if rest is not None:
        low, high = format_number(rest.least_cost), format_number(rest.largest_cost)
        span = format_cost(rest.least_cost, unit) if low == high else f"{low} to {high} {unit}"
        note = f" ({format_chance(rest.failure)} of all runs fail)" if rest.failure > 1e-12 else ""
        table.add_row(format_chance(rest.chance), "", f"[dim]all other ways together: {span}{note}[/dim]")
    console.print(table)


def _describe_value(offer: Offer) -> str:
    """What was asked for: `cvar:0.95 is 3.38 months, and no plan has less`."""
    solution, objective = offer.solution, offer.objective
    if isinstance(objective, Budget):
        limit = format_cost(objective.limit, offer.unit)
        return f"Succeeds within {limit} in {format_chance(1 - offer.value)} of the runs."
    value = f"{objective} is {format_cost(offer.value, offer.unit)}"
    if solution.certificate is None:
        return f"{value}."
    gap = solution.gap / max(abs(solution.value), 1e-12)
    return f"{value}, and no plan has less." if gap < 1e-5 else f"{value}; no plan has {gap:.1g} of it less."


def _describe_trace(trace: Trace) -> str:
    """`study part-time ✗ x2, study part-time, increase savings`: failed tries are marked, repeated ones counted."""
    parts: list[tuple[str, bool, int]] = []
    for step in trace.steps:
        if parts and parts[-1][:2] == (step.action, step.works):
            parts[-1] = (step.action, step.works, parts[-1][2] + 1)
        else:
            parts.append((step.action, step.works, 1))
    words = []
    for action, works, times in parts:
        repeated = f" ×{times}" if times > 1 else ""
        words.append(f"{escape(action)}{repeated}" if works else f"[red]✗ {escape(action)}{repeated}[/red]")
    return ", ".join(words)


def print_comparisons(problem: Problem, found: Sequence[Comparison]) -> None:
    """Greedy against optimal: a row per objective, and what the figures mean."""
    console, first = make_console(), found[0]
    console.print(f"[bold]{escape(problem.title)}[/bold]")
    console.print(
        f"{count_of(first.people, 'person').replace('persons', 'people')}: {first.rejected:,} rejected, "
        f"{first.without_recourse:,} of them without any way to the goal; {first.compared:,} compared.\n"
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("objective")
    table.add_column("method")
    for heading in ("value", "succeeds", "average", "worst 5%"):
        table.add_column(heading, justify="right")
    for item in found:
        for method, figures in (("greedy", item.greedy), ("optimal", item.optimal)):
            costs = (format_number(figure) for figure in (figures.value, figures.mean, figures.cvar))
            value, average, worst = costs
            objective = escape(str(item.objective)) if method == "greedy" else ""
            table.add_row(objective, method, value, f"{100 * figures.success:.1f}%", average, worst)
    console.print(table)
    for item in found:
        console.print(f"\n[bold]{escape(str(item.objective))}[/bold]: {_describe_comparison(item)}")


def _describe_comparison(item: Comparison) -> str:
    worse = f"greedy is worse for {format_chance(item.worse)} of the people"
    if item.worse:
        worse += (
            f", by {_format_excess(item.excess_of_worse)} on average, at most {_format_excess(item.largest_excess)}"
        )
    parts = [
        worse,
        f"it begins with another step for {format_chance(item.other_first_step)}",
        f"no plan can be better than the optimum by more than {_format_excess(max(item.largest_gap, 1e-12))}",
    ]
    if item.gives_up:
        parts.append(
            f"for {format_chance(item.gives_up)} even the optimum gives up, as failing costs too little "
            "(goal.failure_cost, or --failure-cost)"
        )
    return f"{'; '.join(parts)}."


def _format_excess(share: float) -> str:
    """In percent with two digits; it may be above 100%."""
    return f"{100 * share:.2g}%" if share < 0.995 else f"{100 * share:,.0f}%"


def print_simulations(record: dict[str, Any]) -> None:
    """The cross-check by simulation, if there was one."""
    for plan in record["plans"]:
        simulated = plan.get("simulated")
        if simulated is not None:
            make_console().print(
                f"{plan['name']}: {simulated['rollouts']:,} simulated runs: success {simulated['success']:.4f} "
                f"(exact {plan['success']:.4f}), average {simulated['all_runs']['mean']:.4f} "
                f"(exact {plan['all_runs']['mean']:.4f})",
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
