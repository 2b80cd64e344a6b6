"""What is served under load: a small credit problem and the model that decides on it, whose moods the run changes.

`python -m soak.load_model FOLDER` answers as a model behind an address does. In the folder, `mood` says how: `well`,
`hang` (it takes requests and never answers), `fail` (status 500) or `garbage`. As a Python function, `grant` knows
`well` and `hang` alone.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import pandas as pd

Mood = Literal["well", "hang", "fail", "garbage"]
MOOD = "mood"  # the file that says so
FOLDER = "SAFEAR_SOAK_FOLDER"  # the variable that says in which folder it is
TICK = 0.05

CREDIT: dict[str, Any] = {
    "safear": 1,
    "title": "a credit under load",
    "horizon": 4,
    "cost": {"unit": "months"},
    "features": {
        "term": {"kind": "numeric", "edges": [12, 24, 36], "values": [10, 18, 30, 48], "min": 1, "step": 1},
        "amount": {"kind": "numeric", "edges": [1000, 5000], "values": [500, 3000, 8000], "min": 1},
        "job": {"kind": "nominal", "levels": ["employed", "none"], "mutable": False},
    },
    "given": ["age"],
    "actions": {
        "shorten": {"cost": 1, "chance": 0.8, "change": {"term": -1}},
        "ask for less": {"cost": 1.5, "chance": 0.9, "change": {"amount": -1}},
    },
    "goal": {"favourable": "granted", "failure_cost": 20},
    "people": {"Ada": {"term": 40, "amount": 8750.5, "job": "employed", "age": 33}},
}


def decide(frame: pd.DataFrame) -> list[bool]:
    """Who gets the credit: it looks at the numbers themselves."""
    return [bool(one) for one in frame["term"] + frame["amount"] / 1000 + frame["age"] / 100 <= 24.33]


def grant(frame: pd.DataFrame) -> list[bool]:
    """The same, as a model in the server's own process that hangs for ever if it is in the mood."""
    if read_mood(Path(os.environ[FOLDER])) == "hang":
        threading.Event().wait()
    return decide(frame)


def read_mood(folder: Path) -> str:
    """How the model is told to behave."""
    return (folder / MOOD).read_text(encoding="utf-8")


def set_mood(folder: Path, mood: Mood) -> None:
    """Tell the model how to behave from now on."""
    fresh = folder / f"{MOOD}.new"
    fresh.write_text(mood, encoding="utf-8")
    fresh.replace(folder / MOOD)


def _make_handler(folder: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # as the library wants it
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            while (mood := read_mood(folder)) == "hang":
                time.sleep(TICK)
            if mood == "well":
                self._answer(200, json.dumps(decide(pd.DataFrame(json.loads(sent)["dataframe_records"]))).encode())
            elif mood == "fail":
                self._answer(500, b"the model crashed on " + sent[:200])
            else:
                self._answer(200, b'{"predictions": "\xff\xfe' + sent[:200])

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Whoever asked went away."""


def main() -> None:
    """Serve until the process is ended; the first line tells the port."""
    with _Server(("127.0.0.1", 0), _make_handler(Path(sys.argv[1]))) as server:
        sys.stdout.write(f"{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
