"""`python -m benchmarks.load`: what `safear serve loan` bears, on this machine alone, in about a minute.

Visitors do what the page does: they send a form with a person and costs of their own, then move the slider. The server
and the visitors share the cores. Four rounds: visitors who pause between clicks, visitors who do not, more of
them than may wait, and requests that are sent in part only.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import socket
import statistics
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import urlencode

import httpx
from soak.load_http import FORM, Answer, Connection, write_request
from soak.load_server import serve

import safear as sa
from safear.recourse.case import Desk
from safear.texts import load_texts
from safear.web.forms import fill_in
from safear.web.work import MOST_WAITING

CLIENTS = 100
HALF_SENT = 1100
MOVES = 5  # of the slider, after each form
DESK = Desk.of(sa.load_example("loan"))


@dataclass
class Round:
    """What the visitors of a round met: a time for each answer, and how often what else."""

    name: str
    seconds: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def note(self, answer: Answer, taken: float) -> None:
        """Count an answer: 503 with Retry-After is a refusal as it should be."""
        if answer.status == 200:
            self.seconds.append(taken)
        elif answer.status == 503 and "retry-after:" in answer.head and b"Too many people" in answer.body:
            self.refused.append(taken)
        else:
            self.errors[f"status {answer.status}"] += 1

    def __str__(self) -> str:
        parts = [f"{len(self.seconds)} answers", _tell(self.seconds)]
        if self.refused:
            parts += [f"{len(self.refused)} told to come back (503, Retry-After)", _tell(self.refused)]
        wrong = ", ".join(f"{count} {what}" for what, count in self.errors.items())
        return f"{self.name}: {', '.join(parts)}; errors: {wrong or 'none'}"


def _tell(seconds: list[float]) -> str:
    if len(seconds) < 2:
        return "no figures"
    cuts = statistics.quantiles(seconds, n=20)
    return f"p50 {statistics.median(seconds):.2f} s, p95 {cuts[-1]:.2f} s"


def make_form(desk: Desk, rng: random.Random) -> dict[str, str]:
    """The form of somebody who differs from others, in what they are and in what a step costs them."""
    person = {feature.name: rng.choice(feature.levels) for feature in desk.problem.features}
    own = {"cost0": f"{rng.randint(1, 400) / 100:g}", "ticket": f"{rng.getrandbits(128):032x}"}
    return fill_in(desk, person, texts=load_texts()) | own | {"do": "menu"}


async def visit(port: int, done: Round, *, until: float, pause: float, rng: random.Random) -> None:
    """One visitor: a form, then the slider, then another form, until the time is up."""
    connection = Connection(port)
    while True:
        form = make_form(DESK, rng)
        for move in range(1 + MOVES):
            if pause:
                await asyncio.sleep(rng.uniform(0, 2 * pause))
            if time.monotonic() > until:
                return connection.close()
            wish = {"do": "slide", "position": str(move % 3)} if move else {}
            start = time.monotonic()
            try:
                answer = await connection.send(write_request("/", urlencode({**form, **wish}).encode(), kind=FORM))
                done.note(answer, time.monotonic() - start)
            except (OSError, EOFError, TimeoutError) as error:
                done.errors[type(error).__name__] += 1
                return connection.close()


async def run_round(port: int, name: str, clients: int, *, seconds: float, pause: float = 0.0) -> Round:
    """So many visitors for so long, each with a connection of their own."""
    done, until = Round(f"{name} ({clients} clients, {seconds:g} s)"), time.monotonic() + seconds
    visitors = (visit(port, done, until=until, pause=pause, rng=random.Random(number)) for number in range(clients))
    await asyncio.gather(*visitors)
    return done


def ask_beside_half_sent(port: int) -> str:
    """Whether a normal visitor is served beside requests of which only the beginning was sent, and how soon."""
    half = []
    for number in range(HALF_SENT):
        one = socket.create_connection(("127.0.0.1", port), timeout=10)
        head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
        one.sendall((head + "\r\nabc" if number % 2 else head).encode())
        half.append(one)
    start = time.monotonic()
    try:
        status = str(httpx.get(f"http://127.0.0.1:{port}", timeout=30).status_code)
    except httpx.HTTPError as error:
        status = type(error).__name__
    taken = time.monotonic() - start
    for one in half:
        with closing(one):
            one.settimeout(15)
    return f"beside {HALF_SENT} half-sent requests: a visitor gets {status} after {taken:.2f} s"


def main() -> None:
    """Run all rounds, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    workers = parser.parse_args().workers
    print(f"{workers} workers, {os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
    with serve("loan", "--no-analyst", "--workers", str(workers)) as served:
        rounds = [
            ("with a pause of 5 s between clicks", CLIENTS, 20.0, 5.0),
            ("without a pause", CLIENTS, 15.0, 0.0),
            ("more than may wait", 3 * MOST_WAITING * workers, 10.0, 0.0),
        ]
        for name, clients, seconds, pause in rounds:
            print(asyncio.run(run_round(served.port, name, clients, seconds=seconds, pause=pause)), flush=True)
            time.sleep(1)
        print(ask_beside_half_sent(served.port))


if __name__ == "__main__":
    main()
