"""Other amounts in the text of a problem file, and everything else as it was: order, comments, empty lines.

Each amount is replaced where it stands. Comments inside of what is replaced are kept before it. Whether the new text
says what it should is for the caller to check: aliases, for one, say the same thing in several places.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from safear.errors import Path
from safear.problem.dump import dump_amount
from safear.problem.quantity import Amount

Edit = tuple[int, int, str]  # from, to, and what stands there instead


def rewrite_amounts(text: str, amounts: Mapping[Path, Amount], form: str = "yaml") -> str | None:
    """The text with the amounts at these places replaced; None if one of them cannot be found in it.

    Places are those of a problem: with the outcome's number even in the short form, and the table's feature even if it
    is not named.
    """
    root = yaml.compose(text.replace("\t", " ") if form == "json" else text, Loader=yaml.SafeLoader)
    if root is None:  # an empty file
        return None
    edits: list[Edit] = []
    for place, amount in amounts.items():
        editor = _Editor(text, form)
        edit = editor.edit(root, place, amount)
        if edit is None:
            return None
        edits += [edit, *editor.more]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


class _Editor:
    """Finds out what to replace by what."""

    def __init__(self, text: str, form: str) -> None:
        self.text = text
        self.form = form
        self.more: list[Edit] = []

    def edit(self, root: yaml.Node, place: Path, amount: Amount) -> Edit | None:
        action = _find(root, *place[:2])
        if action is None:
            return None
        rest = place[2:]
        if rest[0] == "outcomes" and _find(action, "outcomes") is None:
            if rest[2] == "chance" and _find(action, "chance") is None:
                return self.insert_chance(action, amount)
            rest = rest[2:]
        elif rest[0] == "outcomes" and rest[2] == "chance":
            outcomes = _find(action, "outcomes")
            if isinstance(outcomes, yaml.SequenceNode) and len(outcomes.value) == 1:
                self.append_failure(outcomes)
                if _find(outcomes, 0, "chance") is None:
                    return self.prepend_chance(outcomes.value[0], amount)
        at = next(i for i, part in enumerate(rest) if part in {"chance", "cost"})
        node = _find(action, *rest[: at + 1])
        return None if node is None else self.edit_quantity(node, rest[at + 1 :], amount)

    def edit_quantity(self, node: yaml.Node, inner: Path, amount: Amount) -> Edit | None:
        if not inner:
            return self.replace(node, dump_amount(amount))
        node = _find(node, "value") or node if _find(node, "source") is not None else node
        if isinstance(inner[0], int):
            case = _find(node, inner[0])
            if case is None or len(inner) == 1:
                return None if case is None else self.replace(case, dump_amount(amount))
            found, when = _find(case, inner[1]), _find(case, "when")
            if found is None and when is not None:  # {when: ..., worked: ..., tried: ...}
                return self.replace(case, {"when": when.value, str(inner[1]): dump_amount(amount)})
            return None if found is None else self.replace(found, dump_amount(amount))
        found = _find(node, *inner) or _find(node, inner[-1])
        return None if found is None else self.replace(found, dump_amount(amount))

    def replace(self, node: yaml.Node, value: Any) -> Edit:
        start, end = node.start_mark.index, _end(node)
        comments = list(_comments(node, self.text[start:end], start))
        # A list may stand right below its key; what replaces it must stand further in.
        further = "  " if isinstance(node, yaml.SequenceNode) and not node.flow_style else ""
        margin = "\n" + " " * node.start_mark.column + further
        return start, end, further + "".join(comment + margin for comment in comments) + self.write(value)

    def insert_chance(self, action: yaml.Node, amount: Amount) -> Edit | None:
        """A chance after the cost, where none was written because it always worked."""
        cost = _find(action, "cost")
        key = next((key for key, _ in action.value if key.value == "cost"), None)
        if cost is None or key is None:
            return None
        end, written = _end(cost), self.write(dump_amount(amount))
        if isinstance(action, yaml.CollectionNode) and action.flow_style:
            name = '"chance"' if self.form == "json" else "chance"
            return end, end, f", {name}: {written}"
        end = self.line_end(end)
        return end, end, f"\n{' ' * key.start_mark.column}chance: {written}"

    def line_end(self, position: int) -> int:
        """Where the line ends, after its comment."""
        found = self.text.find("\n", position)
        return len(self.text) if found < 0 else found

    def append_failure(self, outcomes: yaml.SequenceNode) -> None:
        """An outcome for the rest, after the only one."""
        end = _end(outcomes)
        if outcomes.flow_style:
            self.more = [(end - 1, end - 1, ", {}")]
        else:
            end = self.line_end(end)
            self.more = [(end, end, f"\n{' ' * outcomes.start_mark.column}- {{}}")]

    def prepend_chance(self, outcome: yaml.Node, amount: Amount) -> Edit | None:
        """A chance before everything else in an outcome."""
        if not isinstance(outcome, yaml.MappingNode) or not outcome.value:
            return None
        start, name = outcome.value[0][0].start_mark.index, '"chance"' if self.form == "json" else "chance"
        after = ", " if outcome.flow_style else f"\n{' ' * outcome.start_mark.column}"
        return start, start, f"{name}: {self.write(dump_amount(amount))}{after}"

    def write(self, value: Any) -> str:
        if self.form == "json":
            return json.dumps(value, ensure_ascii=False)
        if not isinstance(value, dict | list):
            return str(value)
        flow: str = yaml.safe_dump(
            value, default_flow_style=True, width=float("inf"), sort_keys=False, allow_unicode=True
        )
        return flow.strip()


def _find(node: yaml.Node, *path: str | int) -> yaml.Node | None:
    """The node at a path below this one."""
    found: yaml.Node | None = node
    for part in path:
        if isinstance(found, yaml.MappingNode):
            found = next((value for key, value in found.value if key.value == str(part)), None)
        elif isinstance(found, yaml.SequenceNode) and isinstance(part, int) and part < len(found.value):
            found = found.value[part]
        else:
            return None
    return found


def _end(node: yaml.Node) -> int:
    """Where a node's own text ends: a block ends with its last part, not with the lines that follow."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    return end


def _comments(node: yaml.Node, text: str, start: int) -> Iterator[str]:
    """The comments inside of a node."""
    scalars = [(item.start_mark.index - start, item.end_mark.index - start) for item in _scalars(node)]
    position = 0
    while (position := text.find("#", position)) >= 0:
        inside = any(first <= position < last for first, last in scalars)
        if not inside and text[position - 1 : position] in {" ", "\t", "\n"}:
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            yield text[position:end].rstrip()
            position = end
        else:
            position += 1


def _scalars(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.CollectionNode):
        for item in node.value:
            for part in item if isinstance(item, tuple) else (item,):
                yield from _scalars(part)
    else:
        yield node
