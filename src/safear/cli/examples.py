"""Small commands: `demo`, `examples`, `schema`, `completion`."""

from __future__ import annotations

import json
from pathlib import Path

import click


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
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
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


@click.command(epilog="\b\nExample:\n  safear schema > safear.schema.json")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
def schema(output: Path | None) -> None:
    """Print the JSON Schema of problem files, for editors and validators."""
    from safear.files import write_text
    from safear.problem.document import problem_schema

    text = json.dumps(problem_schema(), indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)


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
