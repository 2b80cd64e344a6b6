"""Labels: what people read instead of names, from the file to the glossary and back."""

from __future__ import annotations

from typing import Any

import pytest

import safear as sa
from doors import Glossary, Provider, as_label, read_main
from safear.errors import ProblemError
from safear.problem import dump_problem
from safear.recourse import Teller

FILE: dict[str, Any] = {
    "safear": 1,
    "title": {"en": "A loan", "de": "Ein Kredit"},
    "description": "for everybody",
    "horizon": 3,
    "cost": {"unit": {"de": "Monate", "en": "months"}},
    "features": {
        "sav": {
            "kind": "ordinal",
            "levels": ["0", "1"],
            "label": {"en": "savings", "de": "Erspartes"},
            "labels": {"0": "none at all", "1": {"de": "viel"}},
            "help": {"en": "All your accounts", "de": "Alle Konten"},
        },
        "term": {"kind": "numeric", "edges": [12], "values": [6, 24], "unit": {"en": "months", "de": "Monate"}},
    },
    "given": {"x7": {"label": {"de": "Kundennummer"}, "help": "On your card"}, "x8": {}},
    "goal": {
        "favourable": "1",
        "label": {"en": "a loan", "de": "den Kredit"},
        "decision": {"rejected": {"en": "No loan today", "de": "Heute kein Kredit"}, "accepted": "Yes"},
    },
    "actions": {
        "save": {
            "cost": 1,
            "label": {"de": "sparen"},
            "help": "Put money aside",
            "outcomes": [
                {"chance": 0.5, "change": {"sav": "+1"}},
                {"label": {"en": "you are robbed", "de": "Sie werden bestohlen"}},
            ],
        }
    },
    "people": {"Ada": {"sav": "0", "term": 30, "x7": 1, "x8": 2}},
    "provider": {"name": "First Bank", "contact": {"en": "Call 1", "de": "Rufen Sie 1 an"}, "appeal": "room 3"},
}


def with_part(*path: str, value: object) -> dict[str, Any]:
    """The file with another part."""
    if not path:
        return value  # type: ignore[return-value]  # the part itself

    def put(tree: dict[str, Any], first: str, *rest: str) -> dict[str, Any]:
        return {**tree, first: put(tree.get(first, {}), *rest) if rest else value}

    return put(FILE, *path)


def test_labels_are_read() -> None:
    problem = sa.parse_problem(FILE)
    assert (problem.title, problem.cost_unit, problem.description) == ("A loan", "months", "for everybody")
    assert problem.given == ("x7", "x8")
    assert problem.provider == Provider("First Bank", "Call 1", "room 3")
    assert problem.actions[0].outcomes[1].label == "you are robbed"
    assert problem.glossary == Glossary(
        features={"sav": {"en": "savings", "de": "Erspartes"}, "x7": {"de": "Kundennummer"}},
        levels={"sav": {"0": {"": "none at all"}, "1": {"de": "viel"}}},
        actions={"save": {"de": "sparen"}},
        feature_help={"sav": {"en": "All your accounts", "de": "Alle Konten"}, "x7": {"": "On your card"}},
        action_help={"save": {"": "Put money aside"}},
        goal={"en": "a loan", "de": "den Kredit"},
        accepted={"": "Yes"},
        rejected={"en": "No loan today", "de": "Heute kein Kredit"},
        texts={
            "A loan": {"en": "A loan", "de": "Ein Kredit"},
            "months": {"de": "Monate", "en": "months"},
            "Call 1": {"en": "Call 1", "de": "Rufen Sie 1 an"},
            "you are robbed": {"en": "you are robbed", "de": "Sie werden bestohlen"},
        },
    )


def test_what_is_written_can_be_read_back() -> None:
    problem = sa.parse_problem(FILE)
    assert sa.parse_problem(dump_problem(problem)) == problem
    bare = problem.without_labels()
    assert "label" not in str(dump_problem(bare)).replace("'label': 'you are robbed'", "")
    assert sa.parse_problem(dump_problem(bare)) == bare


@pytest.mark.parametrize(
    ("written", "main"),
    [("a", "a"), ({"de": "x", "en": "y"}, "y"), ({"fr": "f", "de": "d"}, "f"), (None, "")],
)
def test_the_main_form(written: Any, main: str) -> None:
    assert read_main(written) == main
    assert bool(as_label(written)) == bool(main)


def test_every_language_reads_what_it_can() -> None:
    problem = sa.parse_problem(FILE)
    english, german, other = (Teller(sa.texts.load_texts(code), problem.glossary) for code in ("en", "de", "en"))
    assert (english.feature("sav"), german.feature("sav"), german.feature("x7")) == (
        "savings",
        "Erspartes",
        "Kundennummer",
    )
    assert (english.feature("x7"), german.feature("term")) == ("x7", "term")  # no label in this language, or none
    assert (english.level("sav", "0"), german.level("sav", "0")) == ("none at all", "none at all")
    assert (english.level("sav", "1"), german.level("sav", "1")) == ("1", "viel")
    assert problem.glossary.feature("sav", "fr") == "savings"  # where a language is missing, English is read
    assert problem.glossary.action("save", "fr") == "save"
    assert (other.action(None), german.action("save")) == ("", "sparen")
    assert (english.cost(1, "months"), german.cost(1, "months")) == ("1 month", "1 Monat")
    assert german.decision(problem, favourable=False) == "Heute kein Kredit"
    assert german.decision(problem, favourable=True) == "Yes"
    assert german.quoted_goal(problem) == "„den Kredit“"
    assert german.provider(problem) == ["First Bank", "Rufen Sie 1 an", "Widerspruch: room 3"]


def test_a_plan_speaks_in_labels() -> None:
    menu = sa.recommend(sa.parse_problem(with_part("given", value=[])), lambda people: people["sav"] == "1")
    assert "savings becomes 1" in str(menu[0].plan)
    german = "\n".join(menu[0].plan.lines("de"))
    assert "1. Sparen: Aufwand: 1 Monat" in german
    assert "Erspartes: dann viel" in german
    assert "Sie werden bestohlen" in german
    assert "Sie haben „den Kredit“ erreicht" in german
    assert menu[0].plan.steps[0].action == "save"  # results carry names


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("title",), {"deutsch": "x"}, "title.deutsch: 'deutsch' is no language; write its code, such as en or de"),
        (("title",), {}, "title: this is empty"),
        (("features", "sav", "labels"), {"2": "x"}, "features.sav.labels.2: '2' is not a level of 'sav'"),
        (
            ("features", "sav", "labels"),
            {"0": {"de": "viel"}, "1": {"de": "viel"}},
            "features.sav.labels.1: '0' and '1' are both called 'viel'",
        ),
        (("features", "sav", "label"), "term", "features.sav.label: 'sav' and 'term' are both called 'term'"),
        (("cost", "unit"), {"en": "months", "de": "Mon."}, "'months' is translated otherwise elsewhere"),
        (("goal", "decision"), {"rejected": "no", "refused": "x"}, "goal.decision.refused: 'refused' is not a field"),
        (("provider",), {"telephone": "1"}, "provider.telephone: 'telephone' is not a field here"),
        (("given",), {"x7": {"lable": "x"}}, "given.x7.lable: 'lable' is not a field here"),
    ],
)
def test_mistakes(path: tuple[str, ...], value: object, message: str) -> None:
    with pytest.raises(ProblemError) as raised:
        sa.parse_problem(with_part(*path, value=value))
    assert message in str(raised.value)
