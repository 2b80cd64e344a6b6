"""Menus that are kept for a short while, so that a slider that moves need not wait until all is solved again.

A menu is kept under a random ticket that only the page has for which it was solved, together with what was asked. So
nobody can tell from how quick an answer comes whether somebody else has asked the same.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from safear.problem.model import Record
from safear.problem.terms import Terms
from safear.recourse.menu import Menu

KEPT_SECONDS = 120.0  # after a menu was last looked at
ROOM = 8_000_000  # for all of them: states times steps, of which a plan has a byte each
LEAST = 20_000  # what a menu counts at least


def make_ticket(given: str) -> str:
    """The ticket that a page has sent, or a new one if that is none of ours."""
    return given if len(given) == 32 and set(given) <= set("0123456789abcdef") else secrets.token_hex(16)


def make_key(ticket: str, record: Record, terms: Terms, *, steps: int | None = None) -> bytes:
    """What a menu is kept under: a digest, from which nothing can be read."""
    return hashlib.sha256(repr((ticket, sorted(dict(record).items()), terms, steps)).encode()).digest()


@dataclass(slots=True)
class _Kept:
    menu: Menu
    size: int
    until: float


class KeptMenus:
    """So many menus as there is room for, each for so many seconds of the clock after it was last looked at."""

    def __init__(
        self, seconds: float = KEPT_SECONDS, room: int = ROOM, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds, self.room, self.clock = seconds, room, clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()  # the one that was looked at last comes last

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: bytes) -> Menu | None:
        """The menu that was kept under a key, if it still is."""
        self.forget_old()
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            found.until = self.clock() + self.seconds
            self._kept.move_to_end(key)
            return found.menu

    def keep(self, key: bytes, menu: Menu) -> None:
        """Keep a menu, if need be instead of those that nobody has looked at for longest."""
        size = max(LEAST, len(menu.case.mdp.goal) * menu.problem.horizon)
        with self._lock:
            self._kept[key] = _Kept(menu, size, self.clock() + self.seconds)
            self._kept.move_to_end(key)
            while self._kept and sum(one.size for one in self._kept.values()) > self.room:
                self._kept.popitem(last=False)

    def forget_old(self) -> None:
        """Forget what nobody has looked at for long enough."""
        now = self.clock()
        with self._lock:
            while self._kept and next(iter(self._kept.values())).until <= now:
                self._kept.popitem(last=False)
