"""What notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; all texts are escaped."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def html_paragraphs(texts: Iterable[object]) -> str:
    """A paragraph each."""
    return "".join(f"<p>{escape(str(text))}</p>" for text in texts)


def show_lines(text: str) -> str:
    """Lines as they are."""
    return f"<pre>{escape(text)}</pre>"
