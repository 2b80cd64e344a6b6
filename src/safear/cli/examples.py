"""Small commands: `demo`, `examples`, `schema`, `completion`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from safear.cli.options import NEW_FILE


@click.command(epilog="\b\nExample:\n  safear demo")
def demo() -> None:
    """Show the menu for a rejected applicant of the bundled loan problem."""
    from safear.cli.render import print_menu
    from safear.datasets.bundled import load_example
    from safear.recourse.menu import recommend

    print_menu(recommend(load_example("loan")))
    click.echo("Try next:  safear recommend loan --set savings=moderate    safear examples    safear recommend --help")


@click.command(epilog="\b\nExample:\n  safear examples\n  safear examples loan --output my-problem.yaml")
@click.argument("name", required=False)
@click.option("-o", "--output", type=NEW_FILE, help="Write to this file.")
def examples(name: str | None, output: Path | None) -> None:
    """List the bundled problems, or print the file of one, to start your own from."""
    from safear.datasets.bundled import example_names, example_text, load_example
    from safear.files import write_text

    if name is None:
        if output is not None:
            raise click.UsageError("--output needs the NAME of a bundled problem")
        for known in example_names():
            click.echo(f"{known:20} {load_example(known).title}")
    elif output is None:
        click.echo(example_text(name), nl=False)
    else:
        write_text(output, example_text(name))


RECORDS = ("menu", "situation", "sensitivity", "audit", "comparisons", "batch", "check")


@click.command(
    epilog="\b\nExample:\n  safear schema > safear.schema.json\n  safear schema menu --output menu.schema.json"
)
@click.argument("what", type=click.Choice(["problem", *RECORDS]), default="problem")
@click.option("-o", "--output", type=NEW_FILE, help="Write to this file.")
def schema(what: str, output: Path | None) -> None:
    """Print the JSON Schema of problem files, or of what a command gives with --json.

    WHAT is problem, menu (of recommend), situation (of walk), sensitivity, audit, comparisons (of compare),
    batch or check.
    """
    from safear.files import write_text

    text = json.dumps(_find_schema(what), indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)


def _find_schema(what: str) -> dict[str, Any]:
    if what == "problem":
        from safear.problem.document import problem_schema

        return problem_schema()
    from safear.population import result_records as many
    from safear.recourse.records import MenuRecord
    from safear.recourse.sensitivity_records import SensitivityRecord
    from safear.recourse.walk_records import SituationRecord

    of_many = (many.AuditRecord, many.ComparisonsRecord, many.BatchRecord, many.CheckRecord)
    known = (MenuRecord, SituationRecord, SensitivityRecord, *of_many)
    return known[RECORDS.index(what)].model_json_schema(mode="serialization")


@click.command(epilog='\b\nExample:\n  eval "$(safear completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that completes commands and options in your shell."""
    from click.shell_completion import get_completion_class

    from safear.cli.main import cli

    script = get_completion_class(shell)
    if script is None:  # click knows the three shells above
        raise click.UsageError(f"no completion for {shell}")
    click.echo(script(cli, {}, "safear", "_SAFEAR_COMPLETE").source())
