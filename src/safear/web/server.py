"""The server: uvicorn, told to log no more than what is nobody's secret, and to stop when it is told to."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import uvicorn
from starlette.types import ASGIApp

from safear.web.connections import ImpatientProtocol

GRACE = 1.2  # seconds for answers under way when the server is told to stop; with what else it takes, two


def make_server(app: ASGIApp) -> uvicorn.Server:
    """A server for an application. Requests are not logged: an address may say more than one would like."""
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        ws="none",
        access_log=False,
        log_level=logging.WARNING,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,  # type: ignore[arg-type]  # it is handed to asyncio, which takes any number
        timeout_keep_alive=5,
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

    with suppress(KeyboardInterrupt):  # Ctrl+C is how one stops it
        asyncio.run(run())
    leave()


def leave() -> NoReturn:
    """End the program at once: Python would wait for its threads, and one in which a model hangs never ends."""
    sys.stdout.flush()
    sys.stderr.flush()
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
