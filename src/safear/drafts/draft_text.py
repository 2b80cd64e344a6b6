"""A drafted problem as a file that people can go on with: every number with where it comes from, in comments."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import yaml

from safear.drafts.ladder import Ladder
from safear.problem.dump import dump_problem
from safear.problem.model import Action, Problem
from safear.texts.catalogue import Texts
from safear.texts.names import show_name

WIDTH = 120
MOST_SHOWN = 6  # levels without an order of which is told how many they help
_PLAIN = re.compile(r"[A-Za-z_][\w.]*(?:[ -][\w.]+)*|-?(?:0|[1-9]\d*)(?:\.\d+)?")


def write_draft(
    problem: Problem, ladders: Sequence[Ladder], texts: Texts, *, row: int, about: Mapping[str, str]
) -> str:
    """The text of the file; `about` are sentences about it as a whole (`head`), what is `given` and the `goal`."""
    return "\n".join(_lines(problem, ladders, texts, row, about)) + "\n"


def _lines(
    problem: Problem, ladders: Sequence[Ladder], texts: Texts, row: int, about: Mapping[str, str]
) -> Iterator[str]:
    say, document = texts.part("draft.comment"), dump_problem(problem)
    yield from _comment(f"{about['head']} {say('guesses')}")
    yield "safear: 1"
    yield f"title: {write_scalar(problem.title)}"
    yield f"horizon: {problem.horizon}  # {say('horizon')}"
    yield f"cost: {_write(document['cost'])}  # {say('unit')}"
    yield ""
    yield from _comment(say("features", rows=texts.whole(ladders[0].tried)))
    yield "features:"
    for ladder in ladders:
        yield f"  {write_scalar(ladder.feature.name)}:"
        yield from _comment(_about(ladder, texts), indent=4)
        written = document["features"][ladder.feature.name]
        yield from _wrap({key: item for key, item in written.items() if (key, item) != ("closed", "left")}, indent=4)
    if problem.given:
        yield ""
        yield from _comment(about["given"])
        yield from _wrap(document["given"], indent=2, name="given:")
    yield ""
    yield from _comment(about["goal"])
    yield f"goal: {_write(document['goal'])}"
    yield ""
    yield from _comment(say("actions"))
    yield "actions:"
    for action in problem.actions:
        yield f"  {write_scalar(action.name)}:"
        yield from _wrap(_short(action, problem, document), indent=4)
    yield ""
    yield from _comment(say("people", row=texts.whole(row + 1)))
    yield "people:"
    for name, record in problem.people.items():
        yield f"  {write_scalar(name)}:"
        yield from _wrap(dict(record), indent=4)


def _about(ladder: Ladder, texts: Texts) -> str:
    """Where the levels of a feature come from, and what else there is to know."""
    say, parts = texts.part("draft.comment"), []
    parts.append(say(f"origin.{ladder.origin if ladder.origin != 'words' else ladder.feature.kind}"))
    if ladder.column.missing:
        parts.append(say("missing", count=ladder.column.missing, level=texts.quote(ladder.feature.missing)))
    if ladder.is_ordered:
        counts = {"rows": ladder.tried, "up": ladder.helped["up"], "down": ladder.helped["down"]}
        parts.append(say("helped", **{name: texts.whole(count) for name, count in counts.items()}))
    else:
        best = sorted(ladder.helped.items(), key=lambda pair: -pair[1])[:MOST_SHOWN]
        named = ", ".join(f"{show_name(level)} {texts.whole(count)}" for level, count in best)
        parts.append(say("targets", rows=texts.whole(ladder.tried), counts=named))
    return " ".join(parts)


def _short(action: Action, problem: Problem, document: dict[str, Any]) -> dict[str, Any]:
    """The short form of an action that happens or does nothing."""
    written = document["actions"][action.name]
    works = written["outcomes"][0]
    change = dict(works["change"])
    for name, effect in change.items():
        move = f"{effect['by']:+d}" if isinstance(effect, dict) and "by" in effect else None
        if move is not None and move not in problem.feature_by_name[name].levels:  # where a level is called -1
            change[name] = move
    when = {"when": written["when"]} if "when" in written else {}
    return {"cost": written["cost"], "chance": works["chance"], **when, "change": change}


def _comment(text: str, indent: int = 0) -> list[str]:
    lead = " " * indent + "# "
    return textwrap.wrap(text, WIDTH, initial_indent=lead, subsequent_indent=lead, break_long_words=False)


def _wrap(value: Any, *, indent: int, name: str = "") -> Iterator[str]:
    """A mapping or a list in one pair of brackets, on as many lines as it takes."""
    opens, closes = ("{", "}") if isinstance(value, dict) else ("[", "]")
    parts = [f"{write_scalar(k)}: {_write(v)}" for k, v in value.items()] if opens == "{" else list(map(_write, value))
    if name:
        yield name
    line = " " * indent + opens
    for number, part in enumerate(parts):
        text = part + (closes if number == len(parts) - 1 else ",")
        if len(line) + len(text) > WIDTH and line.strip(" {["):
            yield line.rstrip()
            line = " " * (indent + 1)
        line += text + " "
    yield line.rstrip()


def _write(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write_scalar(key)}: {_write(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_write, value)) + "]"
    return write_scalar(value)


def write_scalar(value: object) -> str:
    """A number, a truth value, nothing or a text, in quotes if it needs them."""
    if value is None:
        return "null"
    if isinstance(value, float | Decimal):
        return f"{Decimal(repr(value) if isinstance(value, float) else value).normalize():f}"
    text = str(value)
    if _PLAIN.fullmatch(text) or isinstance(value, int):
        return text
    quoted: str = yaml.dump(text, default_style='"', allow_unicode=True, width=float("inf"))
    return quoted.rstrip("\n")
