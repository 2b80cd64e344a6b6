"""Broken versions of what is right: trees, texts and bytes, each drawn from a seeded generator."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

ODD_TEXTS = (
    "", " ", "\t", "\n", "\r\n", "\0", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x7f", "\x85", "\u202eabc",
    "\ufeff",
    "\u200b", "\ud800", "e\u0301", "é", "ß", "İ", "１０", "1_0", "٣", "½", "²", "0x10", "1e999", "-1e999",
    "1e-999", "nan",
    "NaN", "inf", "-Infinity", "null", "~", "true", "yes", "No", "on", "=", "=1+1", "<b>", "&amp;", "'", '"',
    "\\", "`",
    "{", "}", "[", "]", "*a", "&a", "!!python/object/apply:os.system ['true']", "!x", "%", "@", "#", "- ", ": ", "? ",
    "|", ">", "---", "...", "<<", "None", "../..", "/dev/null", "$(true)", "; DROP TABLE x", "%s%n", "{0}", "{x.y}",
    "a" * 3000, "ä" * 500, "9" * 400, "0." + "3" * 400, "00", "-0", "+1", "-1", "+1 months", "1 month", "1..2", "1-2",
    "<30", ">=50", "30-50", "not", "and", "or", "in", "==", "(", ")", "2024-02-30", "0000-00-00", "12:30:45", "1:30",
)  # fmt: skip
ODD_NUMBERS = (
    0, 1, -1, 2, 3, 255, 256, 1000, 1001, 32767, 32768, 65536, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**30,
    10**400, 0.5,
    -0.0, 0.1, 1 / 3, 1e-9, 1e-300, 5e-324, 1e9, 1e16, 1e308, -1e308, math.nan, math.inf, -math.inf,
    1.0000000001, 0.99,
)  # fmt: skip


def deep(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def odd_value(rng: Random) -> Any:
    """Something that hardly belongs where it stands."""
    kind = rng.randrange(8)
    if kind < 3:
        return rng.choice(ODD_NUMBERS)
    if kind < 6:
        return rng.choice(ODD_TEXTS)
    others: tuple[Callable[[], Any], ...] = (
        lambda: None,
        lambda: True,
        lambda: False,
        list,
        dict,
        lambda: [rng.choice(ODD_NUMBERS) for _ in range(rng.randrange(4))],
        lambda: {rng.choice(ODD_TEXTS): rng.choice(ODD_NUMBERS)},
        lambda: deep(rng.choice((1, 2, 50))),
    )
    return rng.choice(others)()


Where = tuple[Any, Any]  # a list or dict, and the key in it


def list_places(tree: Any) -> list[Where]:
    """Every place in a tree of dictionaries and lists."""
    found: list[Where] = []
    todo = [tree]
    while todo:
        node = todo.pop()
        pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in pairs:
            found.append((node, key))
            todo.append(value)
    return found


def mutate_tree(rng: Random, tree: Any, times: int | None = None) -> Any:
    """A copy with a few changes: keys and values deleted, doubled, swapped, renamed, retyped or replaced."""
    changed = copy.deepcopy(tree)
    for _ in range(times or rng.choice((1, 1, 1, 2, 3, 6))):
        places = list_places(changed)
        if not places:
            return odd_value(rng)
        rng.choice(_TREE_CHANGES)(rng, changed, places)
    return changed


def _replace(rng: Random, _: Any, places: Sequence[Where]) -> None:
    node, key = rng.choice(places)
    node[key] = odd_value(rng)


def _delete(rng: Random, _: Any, places: Sequence[Where]) -> None:
    node, key = rng.choice(places)
    del node[key]


def _double(rng: Random, _: Any, places: Sequence[Where]) -> None:
    node, key = rng.choice(places)
    value = copy.deepcopy(node[key])
    if isinstance(node, list):
        node.insert(rng.randrange(len(node) + 1), value)
    else:
        node[rng.choice((f"{key} ", f"{key}2", str(key).upper(), rng.choice(ODD_TEXTS)))] = value


def _swap(rng: Random, _: Any, places: Sequence[Where]) -> None:
    (one, a), (other, b) = rng.choice(places), rng.choice(places)
    one[a], other[b] = copy.deepcopy(other[b]), copy.deepcopy(one[a])


def _rename(rng: Random, _: Any, places: Sequence[Where]) -> None:
    dicts = [(node, key) for node, key in places if isinstance(node, dict)]
    if dicts:
        node, key = rng.choice(dicts)
        name = str(rng.choice(dicts)[1]) if rng.random() < 0.5 else mutate_text(rng, str(key))
        node[name] = node.pop(key)


def _retype(rng: Random, _: Any, places: Sequence[Where]) -> None:
    node, key = rng.choice(places)
    value = node[key]
    forms: tuple[Any, ...] = ([value], {"value": value}, str(value), {str(value): 1}, [value, value])
    node[key] = copy.deepcopy(rng.choice(forms))


def _nudge(rng: Random, _: Any, places: Sequence[Where]) -> None:
    node, key = rng.choice(places)
    value = node[key]
    if isinstance(value, bool):
        node[key] = not value
    elif isinstance(value, int | float):
        factor = rng.choice((-1, 0, 0.5, 1.1, 2, 10, 1e6, 1e-6))
        node[key] = rng.choice((value + 1, value - 1, value * factor if abs(value) < 1e300 else 0))
    elif isinstance(value, str):
        node[key] = mutate_text(rng, value)
    else:
        node[key] = odd_value(rng)


_TREE_CHANGES = (_replace, _replace, _delete, _double, _swap, _rename, _retype, _nudge, _nudge)


def mutate_text(rng: Random, text: str, times: int | None = None) -> str:
    """A text with characters, words or lines deleted, doubled, moved, replaced or put in, or cut off."""
    for _ in range(times or rng.choice((1, 1, 1, 2, 4))):
        kind = rng.randrange(10)
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((1, 1, 2, 5, 20)))
        if kind < 3:
            text = text[:start] + rng.choice(ODD_TEXTS) + text[rng.choice((start, end)) :]
        elif kind < 5:
            text = text[:start] + text[end:]
        elif kind < 6:
            text = text[:end] + text[start:]
        elif kind < 7:
            text = text[:start] + chr(rng.choice((rng.randrange(128), rng.randrange(0xD800)))) + text[end:]
        elif kind < 8:
            text = text[:start]
        else:
            lines = text.split("\n")
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            change = rng.randrange(4)
            if change == 0:
                lines[one], lines[other] = lines[other], lines[one]
            elif change == 1:
                lines.insert(other, lines[one])
            elif change == 2:
                lines[one] = " " * rng.randrange(4) + lines[one].lstrip(" ")
            else:
                del lines[one]
            text = "\n".join(lines)
    return text


def mutate_bytes(rng: Random, content: bytes) -> bytes:
    """Bytes with some flipped, put in or cut off."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(changed) + 1)
        kind = rng.randrange(6)
        if kind < 3 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 3:
            changed[at:at] = rng.choice(
                (b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\x1b", b"\xc3", b"PAR1")
            )
        elif kind == 4:
            del changed[at : at + rng.choice((1, 4, 100))]
        else:
            del changed[at:]
    return bytes(changed)
