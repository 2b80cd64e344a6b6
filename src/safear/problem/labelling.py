"""From the labels of a document to a `Glossary`, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from safear.errors import Mistake, Path, mistake
from safear.problem.glossary import EVERYBODY, Glossary, Label, Provider, choose, main_form
from safear.problem.model import Problem
from safear.problem.wrong_names import unknown_feature, unknown_level

if TYPE_CHECKING:
    from safear.problem.document import Document

Written = str | dict[str, str] | None


def as_label(written: Written) -> Label:
    """A label as the file has it; empty if there is none."""
    if isinstance(written, str):
        return {EVERYBODY: written}
    return written or {}


def read_main(written: Written) -> str:
    """The main form of a text that is no name; empty if there is none."""
    label = as_label(written)
    return main_form(label) if label else ""


def read_provider(document: Document) -> Provider:
    """Who decides."""
    return Provider(*(read_main(text) for _, text in document.provider))


def read_glossary(document: Document) -> tuple[Glossary, list[Mistake]]:
    """All labels of a document, and texts that are translated in two ways."""
    given = document.given if isinstance(document.given, dict) else {}
    texts, mistakes = _read_texts(document)
    goal = document.goal
    glossary = Glossary(
        features=_read_all(document.features, "label") | _read_all(given, "label"),
        levels={
            name: {level: as_label(label) for level, label in feature.labels.items()}
            for name, feature in document.features.items()
            if feature.labels
        },
        actions=_read_all(document.actions, "label"),
        feature_help=_read_all(document.features, "help") | _read_all(given, "help"),
        action_help=_read_all(document.actions, "help"),
        goal=as_label(goal.label) or None,
        accepted=as_label(goal.decision.accepted) or None,
        rejected=as_label(goal.decision.rejected) or None,
        texts=texts,
    )
    return glossary, mistakes


def _read_all(parts: Mapping[str, Any], field: str) -> dict[str, Label]:
    labels = {name: as_label(getattr(part, field)) for name, part in parts.items()}
    return {name: label for name, label in labels.items() if label}


def _read_texts(document: Document) -> tuple[dict[str, Label], list[Mistake]]:
    """The texts that are written in several languages, by their main form."""
    texts: dict[str, Label] = {}
    mistakes: list[Mistake] = []
    for path, written in _list_texts(document):
        if not isinstance(written, dict):
            continue
        main = main_form(written)
        if texts.setdefault(main, written) != written:
            cause, remedy = f"'{main}' is translated otherwise elsewhere", "translate it alike, or word it differently"
            mistakes.append(mistake(path, cause, remedy, code="ambiguous"))
    return texts, mistakes


def _list_texts(document: Document) -> Iterator[tuple[Path, Written]]:
    """The texts of a document that are no names, each with its place."""
    yield ("title",), document.title
    yield ("description",), document.description
    yield ("cost", "unit"), document.cost.unit
    for name, text in document.provider:
        yield ("provider", name), text
    for name, feature in document.features.items():
        yield ("features", name, "unit"), feature.unit
    for name, action in document.actions.items():
        for number, outcome in enumerate(action.outcomes or ()):
            yield ("actions", name, "outcomes", number, "label"), outcome.label


def check_glossary(problem: Problem) -> Iterator[Mistake]:
    """Labels of what the problem does not have, and two things of one kind that are called the same."""
    glossary, features = problem.glossary, problem.feature_by_name
    for name, labels in glossary.levels.items():
        if name not in features:
            yield unknown_feature(("features", name), name, features)
            continue
        path: Path = ("features", name, "labels")
        for level in labels.keys() - set(features[name].levels):
            yield unknown_level((*path, level), level, features[name])
        yield from _check_distinct(features[name].levels, labels, path)
    yield from _check_distinct([*features, *problem.given], glossary.features, ("features",), "label")
    yield from _check_distinct(list(problem.action_by_name), glossary.actions, ("actions",), "label")


def _check_distinct(names: Sequence[str], labels: Mapping[str, Label], path: Path, *field: str) -> Iterator[Mistake]:
    """In each language, no two names may be called the same: nobody could tell them apart."""
    for language in sorted({language for label in labels.values() for language in label}):
        called: dict[str, str] = {}
        for name in names:
            text = choose(labels.get(name), language) or name
            other = called.setdefault(text, name)
            if other != name:
                at = name if name in labels else other  # where something is written that can be changed
                cause = f"'{other}' and '{name}' are both called '{text}'"
                yield mistake((*path, at, *field), cause, "give them different labels", code="twice", name=text)


def dump_label(label: Label | None) -> Any:
    """A label as a file has it; None if there is none."""
    if not label:
        return None
    return label[EVERYBODY] if EVERYBODY in label else dict(label)


def dump_text(main: str, glossary: Glossary) -> Any:
    """A text that is no name with its translations; None if it is empty."""
    return dump_label(glossary.texts.get(main)) or main or None


def dump_given(problem: Problem) -> Any:
    """The columns that are given, with labels where there are any."""
    labels = {name: labels_of(problem.glossary, name) for name in problem.given}
    return labels if any(labels.values()) else list(problem.given) or None


def labels_of(glossary: Glossary, feature: str) -> dict[str, Any]:
    """The labels of a feature, or of a column that is given, as a file has them."""
    levels = {level: dump_label(label) for level, label in glossary.levels.get(feature, {}).items()}
    found = {
        "label": dump_label(glossary.features.get(feature)),
        "labels": levels or None,
        "help": dump_label(glossary.feature_help.get(feature)),
    }
    return {name: text for name, text in found.items() if text is not None}
