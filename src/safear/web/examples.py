"""The problem's people as examples: filled in for who only looks, and called examples until something is edited."""

from __future__ import annotations

from dataclasses import replace

from safear.recourse.case import Desk
from safear.texts import Texts
from safear.web.asked import EXAMPLE, UNTOUCHED, Asked
from safear.web.forms import fill_in, seal_form


def fill_example(desk: Desk, asked: Asked, texts: Texts) -> Asked:
    """The form with the example that is wanted filled in; one that is being filled in if there is no such example."""
    people = list(desk.problem.people.values())
    if asked.example is None or asked.example >= len(people):
        return Asked({}, wish="begin")
    return replace(asked, fields={**asked.fields, **fill_in(desk, people[asked.example], texts=texts)})


def drop_edited(desk: Desk, asked: Asked) -> Asked:
    """The form without the note that it is an example, if anything in it was edited since."""
    if asked.text(UNTOUCHED) == seal_form(desk, asked):
        return asked
    return replace(asked, fields={name: text for name, text in asked.fields.items() if name != EXAMPLE})


def name_example(desk: Desk, asked: Asked) -> str:
    """Who is filled in as an example; empty if nobody is."""
    names = list(desk.problem.people)
    return names[asked.example] if asked.example is not None and asked.example < len(names) else ""


def keep_example(desk: Desk, asked: Asked) -> dict[str, str]:
    """The hidden fields of a form that has an example in it."""
    return {EXAMPLE: asked.text(EXAMPLE), UNTOUCHED: seal_form(desk, asked)} if name_example(desk, asked) else {}
