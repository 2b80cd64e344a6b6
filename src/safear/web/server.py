"""The server: uvicorn, told to log no more than what is nobody's secret."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

GRACE = 10  # seconds for answers under way when the server is told to stop


def make_server(app: ASGIApp) -> uvicorn.Server:
    """A server for an application. Requests are not logged: an address may say more than one would like."""
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level=logging.WARNING,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=5,
        limit_concurrency=1000,
    )
    return uvicorn.Server(config)


def serve(app: ASGIApp, sockets: list[socket.socket], *, ready: Callable[[], None]) -> None:
    """Serve on sockets that are bound already, until somebody says stop."""
    server = make_server(app)

    async def run() -> None:
        task = asyncio.create_task(server.serve(sockets=sockets))
        while not server.started and not task.done():
            await asyncio.sleep(0.02)
        if server.started:
            ready()
        await task

    with suppress(KeyboardInterrupt):  # Ctrl+C is how one stops it
        asyncio.run(run())


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; OSError if the address is taken or not ours."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener
