"""HTTP by hand: what visitors and vandals say to the server, and what was counted of its answers."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

TIMEOUT = 30.0  # seconds for any answer: a server that takes longer hangs
CUT_SECONDS = 2.0  # after a worker was killed, for whoever was about to be taken by it
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


class Answer(NamedTuple):
    """An answer, its head in lower case."""

    status: int
    head: str
    body: bytes


def write_request(path: str, body: bytes = b"", *, method: str = "", kind: str = JSON, headers: str = "") -> bytes:
    """A request; `headers` are further lines, each with its end."""
    what = method or ("POST" if body else "GET")
    accept = "text/html" if kind == FORM else "*/*"
    head = f"{what} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n{headers}"
    sized = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{head}{sized}\r\n".encode() + body


async def read_answer(reader: asyncio.StreamReader, *, has_body: bool = True) -> Answer:
    """The next answer on a connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    _, mark, rest = head.partition("content-length: ")
    if not has_body:
        body = b""
    elif mark:
        body = await reader.readexactly(int(rest.partition("\r")[0]))
    else:  # it ends with the connection
        body = await reader.read()
    return Answer(int(head.split()[1]), head, body)


class Connection:
    """A visitor's connection. Clients of libraries take longer than the server does once they hold hundreds of them."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, request: bytes) -> Answer:
        """The answer to a request. A connection that was closed since the last one is opened anew, as browsers do."""
        is_used = self._streams is not None
        try:
            return await self._send(request)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            self.close()
            if not is_used or (isinstance(error, asyncio.IncompleteReadError) and error.partial):
                raise
        return await self._send(request)

    async def _send(self, request: bytes) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._streams
        writer.write(request)
        answer = await asyncio.wait_for(read_answer(reader), TIMEOUT)
        if "connection: close" in answer.head:
            self.close()
        return answer

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


@dataclass(eq=False)
class Tally:
    """What was met: how many of what, how long right answers took, and which promises were broken."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)
    last_right: float = 0.0
    troubles: list[tuple[float, float]] = field(default_factory=list)  # from when to when the model fails
    kills: list[float] = field(default_factory=list)  # when a worker was ended

    def note(self, scenario: str, answer: Answer, *, start: float, allowed: Collection[int]) -> bool:
        """Count an answer; whether it is one of those that are allowed."""
        status = answer.status
        self.counts[f"{scenario}: {status}"] += 1
        if status == 503 and "retry-after:" not in answer.head:
            self.broken[f"{scenario}: 503 without Retry-After"] += 1
        if status == 502 and not self.is_in_trouble(start):
            self.broken[f"{scenario}: 502 though the model is well"] += 1
        if status not in {502, 503, *allowed}:
            self.broken[f"{scenario}: {status} {answer.body[:80]!r}"] += 1
        return status in allowed

    def note_right(self, start: float) -> None:
        """Count a right answer to a question that was asked at some moment."""
        self.last_right = time.monotonic()
        self.seconds.append(self.last_right - start)

    def note_cut(self, scenario: str, error: BaseException, *, start: float) -> None:
        """Count a connection that broke: only those to a worker that was ended may."""
        self.counts[f"{scenario}: {type(error).__name__}"] += 1
        if not any(start - CUT_SECONDS <= moment <= time.monotonic() for moment in self.kills):
            self.broken[f"{scenario}: {type(error).__name__}"] += 1

    def is_in_trouble(self, start: float) -> bool:
        """Whether the model failed at some time between a moment and now."""
        now = time.monotonic()
        return any(start <= end and begin <= now for begin, end in self.troubles)

    def count(self, *statuses: int) -> int:
        """How many answers had one of these statuses."""
        ends = tuple(f": {status}" for status in statuses)
        return sum(number for name, number in self.counts.items() if name.endswith(ends))
