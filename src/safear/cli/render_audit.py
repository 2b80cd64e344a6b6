"""How an audit is shown in a terminal: what its page says first, and the tables."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table as TerminalTable

from safear.cli.render import make_console
from safear.population.audit import Audit
from safear.population.audit_teller import AuditTeller
from safear.reports.audit_tables import Cell, Table, comparison_table, figures_table, origin_table, people_table
from safear.reports.findings import FindingTeller
from safear.reports.verdicts import divide

STYLES = {"wrong": "yellow", "clear": "bold", "chance": "dim"}  # how sure a finding is, or that something goes wrong


def print_audit(audit: Audit, *, language: str = "en") -> None:
    """What was found in short, each group column and their combinations, and where gaps come from."""
    console, tell = make_console(), AuditTeller.of(language, audit.problem.glossary)
    found, divisions, origins = FindingTeller(tell), divide(audit, language), audit.decompositions()
    _, answer = found.asked(audit)
    console.print(f"[bold]{escape(tell.teller.text(audit.problem.title))}[/bold]\n{escape(answer)}\n")
    for finding in found.sum_up(audit, divisions, origins):
        console.print(f"- {escape(finding.text)}", style=STYLES.get(finding.mark, ""))
    tables: list[Table | None] = []
    for division in divisions:
        tables += [people_table(audit, tell, division), figures_table(division, tell)]
        if len(division.groups.by) == 1:  # the pairs of combinations are many
            tables.append(comparison_table(division, tell))
    by_name = {division.groups.by: division for division in divisions}
    tables += [origin_table(name, by_name[name,], parts, tell) for name, parts in origins.items() if parts]
    for table in tables:
        if table is not None:
            console.print(f"\n[bold]{escape(table.caption)}[/bold]")
            console.print(_lay_out(table))
            if table.note:
                console.print(table.note, style="dim", markup=False)


def _lay_out(table: Table) -> TerminalTable:
    """A table of the page."""
    made = TerminalTable(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for place, cell in enumerate(table.headings):
        is_text = place < table.names or cell.mark == "verdict"
        made.add_column(escape(cell.text), justify="left" if is_text else "right", no_wrap=place == 0)
    for row in table.rows:
        made.add_row(*map(_write, row), style="dim" if row[0].mark == "sum" else "")
    return made


def _write(cell: Cell) -> str:
    below = f"\n[dim]{escape(cell.below)}[/dim]" if cell.below else ""
    return escape(cell.text) + below
