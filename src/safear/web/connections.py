"""Connections: whoever asks has so long to send a request, and those who do not keep nobody out."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import cache

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 10.0  # to send a request, or to take what was sent: a slow telephone needs one or two
MOST_CONNECTIONS = 800  # of one server; systems commonly allow a program 1,024 open files
FILES = 4096  # open files that are asked for where fewer are allowed
OWN_FILES = 32  # of the program itself
BACKLOG = 2048  # connections that may wait to be taken


@cache
def allow_files() -> int:
    """How many open files the system lets this program have: more, once it is asked for, where there are few."""
    try:
        import resource  # noqa: PLC0415  # not everywhere
    except ImportError:
        return FILES
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= allowed < FILES:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (FILES if most < 0 else min(FILES, most), most))
        allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return FILES if allowed < 0 else allowed


def room_for_connections() -> int:
    """How many connections there are at most: three quarters of the open files; the model may need some too."""
    return max(1, min(MOST_CONNECTIONS, (allow_files() - OWN_FILES) * 3 // 4))


def room_for_newcomers() -> int:
    """How many are taken at once, before any of them makes room for others."""
    return max(1, min(BACKLOG, allow_files() // 8))


class ImpatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, for a bounded time and on a bounded number of connections.

    A request that is sent in part holds a connection open. It is closed after some seconds, however little by little
    more of it comes. Above the most connections, the one that has kept us waiting for longest makes room for a new one;
    one whose request is being answered never does.
    """

    waiting_since: float | None = None  # None while it is our turn
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for a request, for a while."""
        super().connection_made(transport)
        self._await_client()
        if len(self.connections) > room_for_connections():
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Answer once a request is whole."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request, for as long as uvicorn keeps idle connections."""
        super().on_response_complete()
        self._look()
        if self.conn.their_state is h11.IDLE and not self.flow.write_paused:
            self._stop_timer()

    def pause_writing(self) -> None:
        """Whoever asked does not take the answer."""
        super().pause_writing()
        self._await_client()

    def resume_writing(self) -> None:
        """They do."""
        super().resume_writing()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody waits any more."""
        self._stop_timer()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Whose turn it is."""
        if self.flow.write_paused or self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._await_client()
        else:
            self.waiting_since = None
            self._stop_timer()

    def _await_client(self) -> None:
        if self._timer is None:
            self.waiting_since = self.loop.time()
            self._timer = self.loop.call_later(REQUEST_SECONDS, self._close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self.connections.discard(self)  # it counts no longer, though the loop tells of the end only later
        self.transport.abort()

    def _make_room(self) -> None:
        waiting = [
            one for one in self.connections if isinstance(one, ImpatientProtocol) and one.waiting_since is not None
        ]
        min(waiting, key=lambda one: one.waiting_since or 0.0)._close()  # noqa: SLF001  # at least this one waits
