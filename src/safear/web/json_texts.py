"""JSON that people send: a name that is given twice is refused, as in files, where Python takes the last."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute

from safear.errors import InputError


def read_json(text: str | bytes) -> Any:
    """The content of a text. Raises an InputError for a name that is given twice, a ValueError for what is no JSON."""
    return json.loads(text, object_pairs_hook=_name_once)


def _name_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        remedy = "remove or rename one of the two"
        raise InputError.at((), f"'{twice}' is given twice", remedy, code="twice", name=twice)
    return content


class _StrictRequest(Request):
    async def json(self) -> Any:
        """The content of the body, which is read once."""
        if not hasattr(self, "_json"):
            self._json = read_json(await self.body())
        return self._json


class StrictRoute(APIRoute):
    """A route that takes JSON with every name once."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, after a look at the body: FastAPI would make one answer of all errors in reading it."""
        handle = super().get_route_handler()

        async def look_and_handle(request: Request) -> Response:
            strict = _StrictRequest(request.scope, request.receive)
            with suppress(ValueError, RecursionError):  # what FastAPI tells of in its own way
                await strict.json()
            return await handle(strict)

        return look_and_handle
