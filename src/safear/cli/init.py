"""`safear init`: a first problem file from a table of people and a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from safear.cli.options import LANGUAGE, MODEL_TIMEOUT, NEW_FILE, THRESHOLD, TRUST, TRUST_PICKLE, combine
from safear.cli.results import print_result, results
from safear.cli.sources import load_decider
from safear.cli.verbose import verbose_option
from safear.numerals import find_listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from safear.classifier.protocol import Classifier
    from safear.drafts.draft_teller import DraftTeller
    from safear.drafts.sheet import Sheet

MODEL = click.option(
    "--classifier",
    "classifiers",
    multiple=True,
    metavar="SOURCE",
    required=True,
    help="The model, in any form that other commands take which sees records: FILE.skops, FILE.txt, MODULE:NAME ...",
)


@click.command(
    epilog="""\b
Example:
  safear init people.csv --classifier model.skops --favourable good --change duration,savings --fixed age,sex
  safear init people.csv --classifier model.skops          (on a terminal it asks)
  safear init people.csv --classifier model.skops --favourable 1 --change savings:up,duration:down,debtors:guarantor"""
)
@click.argument("table_file", metavar="TABLE")
@combine(MODEL, THRESHOLD, TRUST, TRUST_PICKLE, MODEL_TIMEOUT)
@click.option(
    "--change",
    multiple=True,
    metavar="COLUMNS",
    help="Columns that people can change, with commas: NAME, NAME:up, NAME:down or NAME:LEVEL; may be repeated.",
)
@click.option("--fixed", multiple=True, metavar="COLUMNS", help="Columns that must never change; may be repeated.")
@click.option("--favourable", metavar="CLASS", help="The class of the model that people want.")
@click.option("--target", metavar="COLUMN", help="What the model was trained to say.  [default: what it does not want]")
@click.option("-o", "--output", type=NEW_FILE, default="problem.yaml", show_default=True, help="The file to write.")
@click.option("--force", is_flag=True, help="Write over the file if it exists.")
@LANGUAGE
@verbose_option
def init(table_file: str, output: Path, force: bool, **options: Any) -> None:
    """Draft a problem for the people of a TABLE (CSV or Parquet, a row each, as filed) and a model.

    What people can change gets levels, cut where the model changes its mind; the model sees everything else as filed.
    All costs and chances are guesses, and marked as such. Nothing but the file is written.
    """
    from safear.drafts.draft import draft_problem
    from safear.drafts.draft_teller import DraftTeller
    from safear.drafts.sheet import Sheet, as_table
    from safear.people.whole_table import load_table

    tell = DraftTeller.of(options["language"])
    if output.is_file() and not force:
        raise click.UsageError(f"{output} exists; name another file with -o, or write over it with --force")
    table = as_table(load_table(table_file))
    classifier, favourable = _find_favourable(table, tell, options)
    change, fixed = (_split_names(options[name], table.columns) for name in ("change", "fixed"))
    if not change and _is_terminal():
        sheet = Sheet.of(table, classifier, target=options["target"])
        change = _ask_change(sheet, tell, fixed)
    draft = draft_problem(
        table,
        classifier,
        change=change,
        fixed=fixed,
        favourable=favourable,
        threshold=options["threshold"],
        target=options["target"],
        title=Path(table_file).name.partition(".")[0],
        language=options["language"],
    )
    draft.save(output)
    named = [part for source in options["classifiers"] for part in ("--classifier", source)]
    trusted = [part for name in options["trust"] for part in ("--trust", name)]
    model = [*named, *trusted, *["--trust-pickle"] * options["trust_pickle"]]
    if click.get_current_context().get_parameter_source("model_timeout") is not click.core.ParameterSource.DEFAULT:
        model += ["--model-timeout", f"{options['model_timeout']:g}"]
    for line in tell.summary(draft, str(output), table_file, model):
        print_result(line)


def _find_favourable(table: Any, tell: DraftTeller, options: dict[str, Any]) -> tuple[Classifier, str | None]:
    """The model, and the class that people want: as given, or asked for on a terminal."""
    from safear.drafts.own_words import find_classes, hear
    from safear.drafts.sheet import Sheet, bare_problem
    from safear.problem.model import Goal

    favourable = options["favourable"]
    classifier = load_decider(bare_problem(table, Goal(favourable, options["threshold"])), options)
    if favourable is None and _is_terminal():
        sheet = Sheet.of(table, classifier, target=options["target"])
        classes = find_classes(classifier) or hear(classifier, sheet.table)[1]
        if classes:
            favourable = click.prompt(tell("ask.favourable"), type=click.Choice(classes))
    return classifier, favourable


def _ask_change(sheet: Sheet, tell: DraftTeller, fixed: list[str]) -> list[str]:
    """Which columns can change, by number or name; asked again until the answer makes sense."""
    from safear.errors import InputError

    names = [name for name in sheet.candidates if name not in fixed]
    for number, name in enumerate(names, start=1):
        print_result(f"{number:4d}  {tell.column(sheet.columns[name])}")

    def read(answer: str) -> list[str]:
        chosen = [_by_number(part, names) for part in _split_names([answer], names)]
        try:
            sheet.read_wishes(chosen, fixed)
        except InputError as error:
            raise click.UsageError(str(error)) from None
        return chosen

    return _prompt(tell("ask.change"), read)


def _prompt(text: str, read: Callable[[str], list[str]]) -> list[str]:
    found: list[str] = click.prompt(text, value_proc=read)
    return found


def _by_number(part: str, names: list[str]) -> str:
    """`3:up` as `savings:up`."""
    number, colon, way = part.partition(":")
    place = None if number in names else find_listed(number, len(names))
    return part if place is None else names[place] + colon + way


def _split_names(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Names that stand between commas; a column may have one in its name."""
    whole = set(known)
    parts = [[text] if text in whole else text.split(",") for text in texts]
    return [name.strip() for some in parts for name in some if name.strip()]


def _is_terminal() -> bool:
    return sys.stdin.isatty() and results().isatty()
