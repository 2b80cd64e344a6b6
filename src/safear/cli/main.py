"""`safear`: the group of commands, and how errors leave the program.

Commands import the library when they run, so that `--help` and completion answer at once.
"""

from __future__ import annotations

import io
import os
import sys

import click

from safear import __version__
from safear.cli.audit import audit
from safear.cli.batch import batch
from safear.cli.check import check
from safear.cli.compare import compare
from safear.cli.examples import completion, demo, examples, schema
from safear.cli.plot import plot
from safear.cli.recommend import recommend
from safear.cli.reproduce import reproduce
from safear.cli.serve import serve
from safear.cli.walk import walk
from safear.errors import SafearError

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(
    context_settings=CONTEXT,
    epilog="""\b
Example:
  safear demo
  safear recommend loan --objective mean --objective mean-std:0.5
  safear walk loan --plan safest --outcome fails
  safear check my-problem.yaml

Exit codes: 0 fine, 2 a mistake in what was given, 3 no plan reaches a goal.""",
)
@click.version_option(__version__, message="safear %(version)s")
def cli() -> None:
    """Plans for people whom a model rejected, with the risk in plain sight."""


for command in (
    *(demo, check, recommend, walk, plot, serve),
    *(compare, audit, batch, reproduce),
    *(examples, schema, completion),
):
    cli.add_command(command)


def main() -> None:
    """Run the command line. What went wrong on the user's side is told without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        cli(standalone_mode=True)
    except SafearError as error:
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)
    except OSError as error:  # a full disk behind standard output
        click.echo(f"cannot be written: {error.strerror}", err=True)
        sys.exit(2)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # the reader (`| head`) has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        raise


if __name__ == "__main__":
    main()
