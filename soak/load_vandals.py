"""Clients who do everything wrong: too much, too little, too slowly, to the wrong name, or not to the end."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import socket
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

from soak.load_http import FORM, TIMEOUT, Tally, read_answer, write_request

MARK = "Quittenbaum"  # in everything that they send: no log may have it
MENU = "/api/v1/menu"
UPLOAD = "multipart/form-data; boundary=BOUND"
HELD = 20  # connections that one of them leaves open
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Prank = Callable[[int, Tally, random.Random], Awaitable[None]]


def _make_mistakes() -> dict[str, tuple[bytes, frozenset[int]]]:
    """Requests that are whole, but wrong, with the statuses that tell them so."""
    deep, many = b'{"person": {"a": ' + b"[" * 50_000, json.dumps({"person": {str(n): [] for n in range(5000)}})
    person = json.dumps({"person": {MARK: MARK}, MARK: 1}).encode()
    part = f'--BOUND\r\ncontent-disposition: form-data; name="{MARK}"; filename="{"f" * 500}"\r\n\r\nx\r\n'.encode()
    numbers = "&".join(f"{name}{'9' * 9_000}" for name in ("feature0=", "cost0=", "weight=", "position=", "history="))
    wrong: dict[str, tuple[bytes, set[int]]] = {
        "no JSON": (write_request(MENU, b"{" + MARK.encode()), {422}),
        "deep": (write_request(MENU, deep), {400, 422}),
        "many mistakes": (write_request(MENU, many.encode()), {422}),
        "strangers": (write_request(MENU, person), {422}),
        "long number": (write_request(MENU, b'{"person": {"age": ' + b"9" * 60_000 + b"}}"), {400, 422}),
        "large": (write_request(MENU, b" " * 70_000), {413}),
        "compressed": (
            write_request(MENU, gzip.compress(b" " * 10**7), headers="Content-Encoding: gzip\r\n"),
            {400, 413, 415},
        ),
        "long form": (write_request("/", numbers.encode(), kind=FORM), {200}),
        "many fields": (write_request("/", b"&".join([b"a=1"] * 9000), kind=FORM), {400}),
        "many parts": (write_request("/open", part * 90 + b"--BOUND--\r\n", kind=UPLOAD), {200, 400}),
        "no parts": (write_request("/open", b"--BOUND\r\n" * 5000, kind=UPLOAD), {400}),
        "long address": (write_request(f"/{MARK * 4000}"), {404}),
        "long query": (write_request(f"/?language={MARK * 4000}"), {200}),
        "many headers": (write_request("/", headers="".join(f"X{n}: {MARK}\r\n" for n in range(2000))), {200}),
        "other origin": (write_request(MENU, person, headers=f"Origin: http://{MARK}.example\r\n"), {403}),
        "other host": (f"GET / HTTP/1.1\r\nHost: {MARK}.example\r\n\r\n".encode(), {400}),
        "no HTTP": (b"\x16\x03\x01\x02\x00\x01" + MARK.encode() + b"\r\n\r\n", {400}),
        "two lengths": (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            {400},
        ),
        "upgrade": (write_request("/", headers="Connection: upgrade\r\nUpgrade: websocket\r\n"), {200}),
        "options": (write_request("/", method="OPTIONS"), {405}),
        "odd method": (write_request(MENU, method=MARK.upper()), {405}),
    }
    return {name: (request, frozenset(allowed)) for name, (request, allowed) in wrong.items()}


MISTAKES = _make_mistakes()


async def _open(port: int) -> Streams:
    return await asyncio.open_connection("127.0.0.1", port)


async def _ask(
    port: int, tally: Tally, name: str, *, sent: bytes, allowed: Collection[int], has_body: bool = True
) -> None:
    start = time.monotonic()
    reader, writer = await _open(port)
    try:
        writer.write(sent)
        answer = await asyncio.wait_for(read_answer(reader, has_body=has_body), TIMEOUT)
        tally.note(name, answer, start=start, allowed=allowed)
    finally:
        writer.close()


async def mistake(port: int, tally: Tally, rng: random.Random) -> None:
    """Send something wrong."""
    name = rng.choice(list(MISTAKES))
    sent, allowed = MISTAKES[name]
    await _ask(port, tally, name, sent=sent, allowed=allowed)


async def head(port: int, tally: Tally, _: random.Random) -> None:
    """Ask for a head alone."""
    await _ask(port, tally, "head", sent=write_request("/", method="HEAD"), allowed={200}, has_body=False)


async def half(port: int, tally: Tally, rng: random.Random) -> None:
    """Send the beginning of a request, and wait until the server hangs up."""
    whole = write_request(MENU, json.dumps({"person": {MARK: "x" * 60_000}}).encode())
    reader, writer = await _open(port)
    writer.write(whole[: rng.choice([0, 5, 60, len(whole) - 60_100, len(whole) - 100])])
    await _await_end(reader, writer, tally, "half-sent")


async def drip(port: int, tally: Tally, rng: random.Random) -> None:
    """Send a byte per second (slowloris)."""
    whole = write_request(MENU, b'{"person": ' + b" " * 500, headers=f"X: {MARK}\r\n")
    reader, writer = await _open(port)
    first = rng.choice([1, len(whole) - 400])
    writer.write(whole[:first])

    async def go_on() -> None:
        for number in range(first, len(whole)):
            await asyncio.sleep(1)
            writer.write(whole[number : number + 1])

    task = asyncio.create_task(go_on())
    await _await_end(reader, writer, tally, "slowly sent")
    task.cancel()


async def _await_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, tally: Tally, name: str) -> None:
    """A connection that the server does not close has been left open."""
    try:
        with suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), TIMEOUT)
        tally.counts[f"{name}: closed"] += 1
    except TimeoutError:
        tally.broken[f"{name}: kept open"] += 1
    writer.close()


async def hoard(port: int, tally: Tally, _: random.Random) -> None:
    """Leave many connections open, some with most of a large body."""
    held = await asyncio.gather(*(_open(port) for _ in range(HELD)), return_exceptions=True)
    found = [one for one in held if not isinstance(one, BaseException)]
    for number, (_reader, writer) in enumerate(found):
        if number % 2:
            writer.write(write_request(MENU, b" " * 65_000)[:-1000])
    await asyncio.sleep(5)
    tally.counts["idle: left"] += len(found)
    for _reader, writer in found:
        writer.close()


async def deaf(port: int, tally: Tally, _: random.Random) -> None:
    """Ask for much, and take none of it."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    one.settimeout(0)
    loop = asyncio.get_running_loop()
    with one:
        await loop.sock_connect(one, ("127.0.0.1", port))
        with suppress(OSError, TimeoutError):
            await asyncio.wait_for(loop.sock_sendall(one, write_request("/api/v1/openapi.json") * 300), 3)
        await asyncio.sleep(6)
    tally.counts["never read: left"] += 1


async def leave(port: int, tally: Tally, rng: random.Random) -> None:
    """Go away while the answer is made, or in the middle of it."""
    reader, writer = await _open(port)
    writer.write(rng.choice([write_request("/?example=0"), write_request("/api/v1/openapi.json")]))
    if rng.random() < 0.5:
        await asyncio.wait_for(reader.read(10), TIMEOUT)
    else:
        await asyncio.sleep(rng.uniform(0, 0.05))
    writer.transport.abort()
    tally.counts["went away: left"] += 1


async def pipeline(port: int, tally: Tally, _: random.Random) -> None:
    """Send many requests at once: the answers come in their order."""
    start = time.monotonic()
    reader, writer = await _open(port)
    paths = ["/api/v1/health", f"/{MARK}", "/api/v1/problem"] * 10
    try:
        writer.write(b"".join(map(write_request, paths)))
        for path in paths:
            answer = await asyncio.wait_for(read_answer(reader), TIMEOUT)
            tally.note(f"pipelined {path[-6:]}", answer, start=start, allowed={404 if MARK in path else 200})
    finally:
        writer.close()


async def hammer(port: int, tally: Tally, _: random.Random) -> None:
    """Ask again and again on the same connection."""
    reader, writer = await _open(port)
    try:
        for _number in range(50):
            start = time.monotonic()
            writer.write(write_request("/api/v1/health"))
            answer = await asyncio.wait_for(read_answer(reader), TIMEOUT)
            tally.note("health", answer, start=start, allowed={200})
    finally:
        writer.close()


async def pour(port: int, tally: Tally, rng: random.Random) -> None:
    """Send an upload of 100 MB, or some of it: it is refused and not kept."""
    reader, writer = await _open(port)
    size, block = 100_000_000, (f"{MARK},1\n" * 8000).encode()[:65_536]
    announced = f"Content-Length: {size}" if rng.random() < 0.5 else "Transfer-Encoding: chunked"
    head = f"POST /open HTTP/1.1\r\nHost: localhost\r\nContent-Type: {UPLOAD}\r\n{announced}\r\n\r\n"
    chunk = block if "Length" in announced else f"{len(block):x}\r\n".encode() + block + b"\r\n"
    start = time.monotonic()
    writer.write(head.encode())

    async def go_on() -> None:
        with suppress(OSError):
            for _ in range(size // len(block)):
                writer.write(chunk)
                await writer.drain()

    task = asyncio.create_task(go_on())
    try:
        answer = await asyncio.wait_for(read_answer(reader), TIMEOUT)
        tally.note("upload", answer, start=start, allowed={413})
        await asyncio.sleep(0.1)
    finally:
        task.cancel()
        writer.transport.abort()


# Each with the seconds that it may take: nobody begins what does not end in time.
PRANKS: dict[Prank, float] = {
    mistake: 0.0,
    head: 0.0,
    leave: 0.0,
    pipeline: 0.0,
    hammer: 0.0,
    pour: 2.0,
    hoard: 6.0,
    deaf: 12.0,
    half: 12.0,
    drip: 12.0,
}
OFTEN = 4  # times as often as others a mistake is made: there are many


async def annoy(port: int, tally: Tally, *, until: float, rng: random.Random) -> None:
    """One prank after the other until the time is up."""
    while (now := time.monotonic()) < until:
        fitting = [prank for prank, seconds in PRANKS.items() if now + seconds < until]
        prank = rng.choice([*fitting, *[mistake] * OFTEN])
        try:
            await prank(port, tally, rng)
        except (OSError, EOFError, TimeoutError) as error:
            tally.note_cut(prank.__name__, error, start=now)
        await asyncio.sleep(rng.uniform(0, 0.1))
