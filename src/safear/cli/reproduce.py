"""`safear reproduce`: the paper's tables beside ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from safear.cli.options import CountRange
from safear.cli.stopping import stop

if TYPE_CHECKING:
    from safear.paper.reproduce import PaperTable
    from safear.paper.tables import Workshop


@click.command(
    epilog="""\b
Example:
  safear reproduce synthetic loan
  safear reproduce risk --seeds 1
  safear reproduce --output results

\b
Tables: models risk gender gender-tests second-model horizon insurance lower-deviation optimal
  synthetic dice episodic cases loan
Needs scikit-learn and SciPy: pip install 'safear[paper]'; dice also dice-ml: pip install 'safear[dice]'"""
)
@click.argument("names", nargs=-1, metavar="[TABLE]...")
@click.option("--seeds", type=CountRange(1, 20), default=5, show_default=True, help="How many forests to train.")
@click.option("--no-simulation", is_flag=True, help="Exact figures only, without the 100 rollouts per person.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of records, one per cell.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write CSV, Markdown and SVG to this folder.",
)
def reproduce(names: tuple[str, ...], seeds: int, no_simulation: bool, as_json: bool, output: Path | None) -> None:
    """Recompute the tables of the SafeAR paper.

    A cell reads `exact / simulated (paper) [range over forests]`, as far as these exist. The simulation runs 100
    rollouts per person, as the paper did. Each table is shown and written as soon as it is finished.
    """
    from safear.cli.render import show_table_progress
    from safear.files import require_folder
    from safear.paper.dice import is_installed
    from safear.paper.reproduce import reproduce as run
    from safear.paper.reproduce import to_markdown
    from safear.paper.tables import Workshop

    if output is not None:
        require_folder(output, parents=True)
    workshop = Workshop(seeds=tuple(range(seeds)), simulate=not no_simulation)
    finished: list[PaperTable] = []
    interrupted = False
    with show_table_progress() as progress:
        try:
            for table in run(names, workshop=workshop, progress=progress):
                finished.append(table)
                if output is not None:
                    _write(output, table, finished, workshop)
                if not as_json:
                    click.echo(to_markdown(table))
        except KeyboardInterrupt:  # what is finished is still told
            interrupted = True
    if as_json:
        records = [entry.record() for table in finished for entry in table.entries]
        click.echo(json.dumps(records, indent=2, allow_nan=False, ensure_ascii=sys.stdout.encoding != "utf-8"))
    else:
        click.echo(_summary(finished))
    if not names and not is_installed():
        click.echo("left out: dice, which needs dice-ml: pip install 'safear[dice]'", err=True)
    if interrupted:
        stop("interrupted")


def _write(folder: Path, table: PaperTable, finished: list[PaperTable], workshop: Workshop) -> None:
    """The finished tables, so that an interrupted run keeps them."""
    from safear.files import make_folder, write_text
    from safear.paper.pictures import draw
    from safear.paper.reproduce import to_csv, to_markdown

    make_folder(folder, parents=True)
    write_text(folder / f"{table.name}.md", to_markdown(table))
    write_text(folder / f"{table.name}.csv", to_csv([table]))
    for name, picture in draw(table.name, workshop):
        picture.save(folder / name)
    write_text(folder / "summary.md", _summary(finished) + "\n")


def _summary(tables: list[PaperTable]) -> str:
    from safear.paper.reproduce import describe_claim

    lines = ["Summary: cells within 10% of the paper, and claims that hold"]
    for table in tables:
        held = sum(claim.holds_mostly for claim in table.claims)
        claims = f"; {held} of {len(table.claims)} claims" if table.claims else ""
        lines.append(f"  {table.name:16} {table.close:4} of {table.compared:4} cells{claims}")
        lines += [f"    {describe_claim(claim)}" for claim in table.claims if not claim.holds_mostly]
    return "\n".join(lines)
