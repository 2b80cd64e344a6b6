"""JSON that people send, as it is read."""

from __future__ import annotations

import pytest

from doors import read_json
from safear.errors import InputError


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '[{"b": {"a": 1, "c": {}, "a": 1}}]', '{"a": 1, "\\u0061": 2}'])
def test_a_name_that_is_given_twice_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="'a' is given twice"):
        read_json(text)


def test_names_may_come_again_elsewhere() -> None:
    assert read_json(b'{"a": {"a": [{"a": 1}, {"a": 2}]}}') == {"a": {"a": [{"a": 1}, {"a": 2}]}}
