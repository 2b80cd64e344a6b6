"""Mistakes in the words of a language."""

from __future__ import annotations

from safear.errors import Mistake, format_path
from safear.texts.catalogue import Texts
from safear.texts.names import show_name


def tell_mistake(item: Mistake, texts: Texts) -> str:
    """What the catalogue says of a mistake's code; where it says nothing, the English cause with place and remedy."""
    key = f"mistake.{item.code}"
    if key not in texts:
        return ": ".join(part for part in (format_path(item.place.path), item.cause, item.remedy) if part)
    return texts(key, **{name: _show(value, texts) for name, value in item.values.items()})


def _show(value: object, texts: Texts) -> str:
    if isinstance(value, float):
        return texts.exact_number(value)
    return texts.whole(value) if isinstance(value, int) else texts.quote(show_name(str(value)))
