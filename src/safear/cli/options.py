"""Options that several commands share, each declared once, and what becomes of a result that is wanted as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from safear.cli.stopping import remember_language
from safear.files import require_output
from safear.numerals import WHOLE_NUMBER, reads_as_number
from safear.texts.language_files import languages

if TYPE_CHECKING:
    from pydantic import BaseModel

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]
METHODS = ("optimal", "greedy")
FILE = click.Path(dir_okay=False, path_type=Path)


class _OutputFile(click.Path):
    """A file to write; one that cannot be written is told at once, not when the work is done."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if ctx is None or not ctx.resilient_parsing:  # not while the shell completes a word
            require_output(path)
        return path


NEW_FILE = _OutputFile(dir_okay=False, readable=False, path_type=Path)


class CountRange(click.IntRange):
    """Whole numbers within limits, in our digits: click reads those of every script, and `1_0`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number that a text is."""
        if isinstance(value, str) and not WHOLE_NUMBER.fullmatch(value.strip()):
            self.fail(f"'{value}' is not a whole number.", param, ctx)
        return super().convert(value, param, ctx)


class AmountRange(click.FloatRange):
    """Numbers within limits, in our digits and with an end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number that a text is."""
        if isinstance(value, str) and not reads_as_number(value):
            self.fail(f"'{value}' is not a number.", param, ctx)
        return super().convert(value, param, ctx)


def read_share(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """`all`, or a share above 0, as a number up to 1."""
    if value is None or value == "all":
        return None if value is None else 1.0
    share: float = AmountRange(0, 1, min_open=True)(value, parameter, context)
    return share


CLASSIFIER = click.option(
    "--classifier",
    "classifiers",
    multiple=True,
    metavar="SOURCE",
    help="The model: FILE.skops, FILE.onnx, LightGBM's FILE.txt, XGBoost's FILE.json or FILE.ubj, CatBoost's FILE.cbm, "
    "an MLflow FOLDER, an address http://... or https://..., a table of decisions FILE.csv or FILE.parquet, "
    "MODULE:NAME or FILE.py:NAME. If repeated, the first decides, and plans are made for what all of them accept "
    "(--agree).  [default: the problem's rule, or a data set's forest]",
)
THRESHOLD = click.option(
    "--threshold",
    type=AmountRange(0, 1),
    help="The score from which on the model's decision is favourable, instead of the problem's.",
)
AIM = click.option(
    "--aim",
    type=AmountRange(0, 1),
    help="The score that plans are made for, above the threshold, so that they survive a model that is trained anew.",
)
AGREE = click.option(
    "--agree",
    callback=read_share,
    metavar="all|SHARE",
    help="How many of several models must accept what plans are made for: all, or a share such as 0.6.",
)
TRUST = click.option("--trust", multiple=True, metavar="TYPE", help="Trust this type in a skops file; may be repeated.")
TRUST_PICKLE = click.option(
    "--trust-pickle",
    is_flag=True,
    help="Open FILE.pkl or FILE.joblib as a model. This runs whatever code is in it, with all your rights: only for "
    "files that you trust like a program.",
)
MODEL_TIMEOUT = click.option(
    "--model-timeout",
    type=AmountRange(0, min_open=True),
    default=300,
    show_default=True,
    metavar="SECONDS",
    help="How long the model may take for one question, which is about many inputs.",
)
FAILURE_COST = click.option("--failure-cost", type=AmountRange(0), help="What failing costs, instead of the problem's.")
SEED = click.option(
    "--seed",
    type=CountRange(0),
    default=0,
    show_default=True,
    help="Seed of everything random: forests of data sets, samples, simulation, the bootstrap.",
)
OBJECTIVES = click.option("--objective", "objectives", multiple=True, help="What to minimise; may be repeated.")
SKIP_BAD = click.option("--skip-bad", type=NEW_FILE, help="Skip bad rows, and write them to this CSV file.")
PROBLEM = click.argument("problem_file", metavar="PROBLEM")
LANGUAGE = click.option(
    "--language",
    default="en",
    show_default=True,
    metavar="CODE",
    callback=remember_language,
    help=f"Language: {', '.join(languages())}.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
OUTPUT = click.option("-o", "--output", type=NEW_FILE, help="Write the result as JSON to a file.")


def combine(*options: Option[Any]) -> Option[Any]:
    """Several options as one decorator, in the order in which --help lists them."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def method(*more: str) -> Option[Any]:
    """How to solve."""
    return click.option(
        "--method",
        type=click.Choice([*METHODS, *more]),
        help="The exact optimum, or a method of the paper.  [default: optimal where possible]",
    )


def level(default: float | None = 0.95) -> Option[Any]:
    """Which cases are the worst; with None, whether it was given can be told."""
    return click.option(
        "--level",
        type=AmountRange(0, 1, min_open=True),
        default=default,
        help="Which cases count as the worst: 0.95 means the worst 5%.  [default: 0.95]",
    )


def horizon(help_text: str = "The number of steps, instead of the problem's.") -> Option[Any]:
    """How many steps there are."""
    return click.option("--horizon", type=CountRange(1, 1000), help=help_text)


def about_problem(*, steps: Option[Any] | None = None) -> Option[Any]:
    """The model, and what is different from the problem's file; `steps` is how --horizon is told."""
    steps = horizon() if steps is None else steps
    return combine(CLASSIFIER, THRESHOLD, AIM, AGREE, TRUST, TRUST_PICKLE, MODEL_TIMEOUT, steps, FAILURE_COST, SEED)


def groups(*, required: bool = False) -> Option[Any]:
    """Whom to tell apart."""
    help_text = "A column that divides people into groups; may be repeated."
    return click.option("--group", "groups", multiple=True, required=required, metavar="COLUMN", help=help_text)


def report(reader: str, what: str = "a page") -> Option[Any]:
    """A page of HTML."""
    help_text = f"Write {what}, for {reader}, and print only its summary."
    return click.option("--report", type=NEW_FILE, metavar="FILE.html", help=help_text)


problem_options = about_problem()
record_options = combine(JSON, OUTPUT)


def tell_record(make: Callable[[], BaseModel], options: dict[str, Any]) -> bool:
    """Write and print a result as JSON if that is asked for; whether it was. Records are made for nobody else."""
    path = options.get("output")
    if path is None and not options["as_json"]:
        return False
    import json

    from safear.cli.results import print_result, results
    from safear.files import write_text

    content = make().model_dump(mode="json")
    if path is not None:
        write_text(path, json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
    if options["as_json"]:
        plain = (results().encoding or "").lower() not in {"utf-8", "utf8"}
        print_result(json.dumps(content, indent=2, allow_nan=False, ensure_ascii=plain))
    return True
