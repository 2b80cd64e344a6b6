"""The server: uvicorn, told to log no more than what is nobody's secret, and to stop when it is told to."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import uvicorn
from starlette.types import ASGIApp

from safear.web.connections import ImpatientProtocol, room_for_newcomers

GRACE = 1.2  # seconds for answers under way when the server is told to stop; with what else it takes, two


def make_server(app: ASGIApp) -> uvicorn.Server:
    """A server for an application. Requests are not logged: an address may say more than one would like."""
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        ws="none",
        access_log=False,
        log_config=None,  # its own asks what standard output is, and there may be none
        log_level=logging.ERROR,  # its warnings are about what others send, and as many as they like
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,  # type: ignore[arg-type]  # it is handed to asyncio, which takes any number
        timeout_keep_alive=5,
        backlog=room_for_newcomers(),
    )
    return uvicorn.Server(config)


def serve(app: ASGIApp, listener: socket.socket, *, ready: Callable[[], None]) -> NoReturn:
    """Serve on a socket that is bound already, until somebody says stop; then the program ends."""
    server = make_server(app)

    async def run() -> None:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not task.done():
            await asyncio.sleep(0.02)
        if server.started:
            ready()
        await task

    heed_hangups()
    with suppress(KeyboardInterrupt):  # Ctrl+C is how one stops it
        asyncio.run(run())
    leave()


def heed_hangups() -> None:
    """Stop as if told to when the terminal is closed, unless that is to be ignored (`nohup`)."""
    number = getattr(signal, "SIGHUP", None)  # not everywhere
    if number is not None and signal.getsignal(number) is signal.SIG_DFL:
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGTERM))


def leave() -> NoReturn:
    """End the program at once: Python would wait for its threads, and one in which a model hangs never ends."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # whoever read it may be gone, or there is none
            stream.flush()
    os._exit(0)


def bind(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket that can listen; OSError if the address is taken or not ours. Several may be bound to a shared one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener
