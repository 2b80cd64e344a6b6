"""Words for people stand in the catalogue alone: no template and no module that speaks has English of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import safear
from english import LETTERS, english_in

ROOT = Path(safear.__file__).parent
TEMPLATES = [
    file
    for folder in ("reports", "web")
    for file in sorted((ROOT / folder / "templates").glob("*.jinja"))
    if file.name != "api.html.jinja"  # shows the OpenAPI document, which is in English
]
SPEAKING = [
    *ROOT.glob("*/*teller.py"),
    *ROOT.glob("cli/render*.py"),
    *(
        ROOT / "reports" / f"{name}.py"
        for name in ["findings", "verdicts", "audit_tables", "audit_page", "appendix", "basis"]
    ),
    *(ROOT / "reports" / f"{name}.py" for name in ("menu_page", "ways", "hundred")),
    *(ROOT / "web" / f"{name}.py" for name in ("analyst", "person_page", "problem_view", "views")),
]


def texts_in(tree: ast.Module) -> Iterator[str]:
    """All texts in code but for docstrings and what is raised; keys of the catalogue have no spaces."""
    silent: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            silent |= {id(part) for part in ast.walk(node)}
        elif isinstance(node, ast.Expr):
            silent.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.value


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: f"{file.parts[-3]}-{file.name.partition('.')[0]}")
def test_templates_have_no_words(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for part in (r"<style>.*?</style>|{% block style %}.*?{% endblock %}", r"{#.*?#}|{%.*?%}|{{.*?}}"):
        text = re.sub(part, "…", text, flags=re.DOTALL)
    shown = re.sub(r"<[^>]*>", " ", text)
    labels = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]+)"', text)
    assert english_in(" ".join([shown, *labels])) == []


@pytest.mark.parametrize("file", SPEAKING, ids=lambda file: f"{file.parts[-2]}-{file.stem}")
def test_modules_that_speak_have_no_words(file: Path) -> None:
    found = texts_in(ast.parse(file.read_text(encoding="utf-8")))
    sentences = [text for text in found if " " in text.strip() and len(LETTERS.findall(text)) > 3]
    assert [text for text in sentences if english_in(text)] == []


def test_english_would_be_found() -> None:
    tree = ast.parse('"""Not this."""\nraise ValueError(\'nor is this\')\nprint(f\'{1} people are rejected\')')
    assert list(texts_in(tree)) == [" people are rejected"]
    assert english_in("Alle Personen: no way to the goal") == ["goal", "no", "the", "to", "way"]
    assert english_in("Niemand wurde abgelehnt") == []
