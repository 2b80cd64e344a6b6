"""What the command line shows to people."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from safear.cli.results import SPACES, is_watched, results
from safear.errors import visible
from safear.recourse.card import make_card
from safear.recourse.card_teller import CardTeller
from safear.recourse.caution import find_caution
from safear.recourse.plan_teller import PlanTeller
from safear.recourse.teller import Teller
from safear.risk.objectives import Budget
from safear.texts.names import capital

if TYPE_CHECKING:
    from rich.progress import TaskID
    from rich.text import Text

    from safear.population.audit_teller import AuditTeller
    from safear.population.comparison import Comparison
    from safear.problem.model import Problem
    from safear.progress import Progress as ProgressCallback
    from safear.recourse.menu import Menu
    from safear.recourse.offer import Offer
    from safear.recourse.records import SimulatedRecord


def print_menu(menu: Menu, *, all_steps: bool = False, language: str = "en") -> None:
    """The decision, the plans side by side, and each plan in words with its most probable traces."""
    console, tell = make_console(), Teller.of(language, menu.problem.glossary)
    console.print(f"[bold]{escape(tell.text(menu.problem.title))}[/bold]")
    for notice in menu.notices:
        console.print(f"[yellow]{escape(tell('terminal.notice'))}[/yellow] {escape(tell.notice(notice))}")
    decision = tell.decision(menu.problem, favourable=menu.favourable)
    if menu.favourable:
        console.print(f"{decision}. {tell('report.lead.accepted')}", markup=False)
        return
    console.print(f"{decision}. {tell('terminal.plans', count=len(menu))}\n", markup=False)
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
        (name, *others), *ranges = tell.overview(offer)
        table.add_row(f"[bold]{escape(name)}[/bold]", *map(escape, others))
        for row in ranges:
            table.add_row(*map(escape, row), style="dim")
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
    card = CardTeller(make_card(offer, menu), tell)
    console.print(f"\n[bold]{escape(heading)}[/bold]{about}  {escape(f'{card.marks()} {card.risk()}')}")
    # Of the card, what neither the table above nor the steps below say.
    for line in (f"{card.chain()}. {card.done()} {card.missed()}".strip(), card.wrong()):
        console.print(f"  {line}", markup=False)
    if offer.trade_off is not None:
        console.print(f"  {tell.trade_off(offer.trade_off)}", markup=False)
    if offer.simplified is not None:
        console.print(f"  {tell.simplified(offer.simplified)}", markup=False)
    caution = find_caution(offer)
    if caution is not None:
        console.print(f"  {caution.tell(tell)}", markup=False)
    margin = menu.margin_cost(offer)
    if margin is not None:
        console.print(f"  {tell.trade_off(margin)}", markup=False)
    if not menu.frontier:
        console.print(f"  {_describe_value(offer, tell)}", markup=False)
    for line in PlanTeller(offer.full_plan if all_steps else offer.plan, tell).lines():
        console.print(f"  {line}", markup=False)
    if menu.case.sight:
        console.print(f"  {tell.verification(offer.verification)}", style="dim", markup=False)
    console.print(f"  {tell('ways.title')}:")
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(justify="right", min_width=9, no_wrap=True)
    table.add_column()
    for trace in offer.traces.shown:
        mark = "[green]✓[/green]" if trace.success else "[red]✗[/red]"
        words = f"{tell.trace(trace)}: {tell.trace_end(trace, offer)}"
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
    is_robust = offer.is_guarded
    if isinstance(objective, Budget):
        cost, nominal = tell.exact_cost(objective.limit, offer.unit), tell.percent(1 - offer.value)
        if is_robust:
            return say("robust.budget", cost=cost, share=tell.percent(1 - solution.value), nominal=nominal)
        return say("budget", cost=cost, share=nominal)
    told = {"objective": str(objective), "cost": tell.cost(offer.value, offer.unit)}
    if solution.certificate is None:
        return say("value", **told)
    gap = solution.gap / max(abs(solution.value), 1e-12)
    code = "best" if gap < 1e-5 else "near"
    told |= {} if code == "best" else {"share": tell.percent(gap)}
    return (
        say(f"robust.{code}", **told, worst=tell.cost(solution.value, offer.unit)) if is_robust else say(code, **told)
    )


def print_comparisons(problem: Problem, found: Sequence[Comparison], tell: AuditTeller) -> None:
    """Greedy against optimal: a row per objective, and what the figures mean."""
    console = make_console()
    console.print(f"[bold]{escape(tell.teller.text(problem.title))}[/bold]\n{escape(tell.compared(found[0]))}\n")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for place, heading in enumerate(tell.comparison_headings()):
        table.add_column(heading, justify="left" if place < 2 else "right")
    for item in found:
        table.add_row(escape(str(item.objective)), *map(escape, tell.comparison_row("greedy", item.greedy)))
        table.add_row("", *map(escape, tell.comparison_row("optimal", item.optimal)))
    console.print(table)
    for item in found:
        console.print(f"\n[bold]{escape(str(item.objective))}[/bold]: {escape(tell.comparison(item))}")


def print_simulations(menu: Menu, simulated: Sequence[SimulatedRecord], *, language: str = "en") -> None:
    """The cross-checks by simulation, if there were any."""
    tell = Teller.of(language, menu.problem.glossary)
    for offer, found in zip(menu, simulated, strict=False):
        costs = (found.success, offer.cost.success, found.all_runs.mean, offer.mean)
        figures = [tell.texts.localise(f"{figure:.4f}") for figure in costs]
        named = dict(zip(("success", "exact_success", "mean", "exact_mean"), figures, strict=True))
        runs = tell.texts.whole(found.rollouts)
        make_console().print(tell("terminal.simulated", plan=tell.name_plan(offer), runs=runs, **named), markup=False)


@contextmanager
def show_progress() -> Iterator[ProgressCallback | None]:
    """A progress bar on the error stream while something takes long; nothing where nobody looks."""
    if not is_watched():
        yield None
        return
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    with Progress(BarColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("")
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def show_table_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar per table on the error stream; nothing where nobody looks."""
    if not is_watched():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def advance(table: str, done: int, total: int) -> None:
            if table not in tasks:
                tasks[table] = progress.add_task(table, total=total)
            progress.update(tasks[table], completed=done)

        yield advance


class _Terminal(Console):
    """Obeys the styles that it is given, and nothing that stands in the texts themselves."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Every text passes here, those in tables too."""
        return super().render_str(visible(text, keep=SPACES), **options)

    def on_broken_pipe(self) -> None:
        """Leave it to the program what happens when nobody reads any more."""
        raise BrokenPipeError(errno.EPIPE, "nobody reads")


def make_console() -> Console:
    """As wide as the terminal, and 110 columns where nobody looks. Names stay as they are, `:smile:` included."""
    console = _Terminal(file=results(), highlight=False, emoji=False)
    return console if console.is_terminal else _Terminal(file=results(), highlight=False, emoji=False, width=110)
