"""What people read in place of the names of a problem, by language.

A label is one text for everybody (`label: Savings`) or one per language (`label: {en: Savings, de: Ersparnisse}`).
Files, records and results speak of names; only tellers look here. A text that is no name, such as the unit of costs, is
known by its main form: the one for everybody, or the English one, or the first that is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Label = Mapping[str, str]  # language -> text
EVERYBODY = ""  # the language of a text that is written once
MAIN = "en"  # what is read where a label lacks the reader's language


def choose(label: Label | None, language: str) -> str | None:
    """What a label says to readers of a language; None if nothing that they are likely to understand."""
    if label is None:
        return None
    return next((label[one] for one in (language, EVERYBODY, MAIN) if one in label), None)


def main_form(label: Label) -> str:
    """The text by which the translations of a label are found."""
    return choose(label, MAIN) or next(iter(label.values()))


@dataclass(frozen=True, slots=True)
class Glossary:
    """The labels of a problem. What has none is called by its name.

    `features` and `help` hold columns that are given, too. `texts` are all others that were written in several
    languages, by their main form. `accepted` and `rejected` say what was decided.
    """

    features: Mapping[str, Label] = field(default_factory=dict)
    levels: Mapping[str, Mapping[str, Label]] = field(default_factory=dict)
    actions: Mapping[str, Label] = field(default_factory=dict)
    feature_help: Mapping[str, Label] = field(default_factory=dict)
    action_help: Mapping[str, Label] = field(default_factory=dict)
    goal: Label | None = None
    accepted: Label | None = None
    rejected: Label | None = None
    texts: Mapping[str, Label] = field(default_factory=dict)

    def feature(self, name: str, language: str) -> str:
        """What a feature, or a column that is given, is called."""
        return choose(self.features.get(name), language) or name

    def level(self, feature: str, level: str, language: str) -> str:
        """What a level of a feature is called."""
        return choose(self.levels.get(feature, {}).get(level), language) or level

    def action(self, name: str, language: str) -> str:
        """What an action is called."""
        return choose(self.actions.get(name), language) or name

    def text(self, main: str, language: str) -> str:
        """A text that is no name."""
        return choose(self.texts.get(main), language) or main


NO_LABELS = Glossary()


@dataclass(frozen=True, slots=True)
class Provider:
    """Who decides, how to reach them, and where to appeal; what is empty is not told."""

    name: str = ""
    contact: str = ""
    appeal: str = ""


NOBODY = Provider()
