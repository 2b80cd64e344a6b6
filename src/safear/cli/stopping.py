"""Ctrl+C and SIGTERM end a command within a second, with one line that says what is kept; a second one says no more.

The signal raises `Stopped` where the program is, so that workers end and nothing is left half-written. Where that does
not help in time, since a model hangs or a long loop is compiled code, a thread ends the program.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread, current_thread, main_thread
from types import FrameType
from typing import NoReturn

import click

from safear.cli.results import hand_over, is_watched, print_note

GRACE = 0.7  # seconds for an orderly end
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = "\x1b[?25h"  # which a progress bar has hidden


class Stopped(KeyboardInterrupt):  # it is no error
    """Somebody wants the program to stop."""


class _State:
    """What is known of stopping in this process."""

    number: int | None = None  # the signal that came
    said = Lock()  # taken by whoever says that it ends
    say: Callable[[], str] | None = None
    language = "en"


def remember_language(_: click.Context, __: click.Parameter, code: str) -> str:
    """Keep the language in which the last line is said."""
    _State.language = code
    return code


@contextmanager
def watching() -> Iterator[None]:
    """Have signals stop the program; those that are ignored, as in the background, stay so."""
    if current_thread() is not main_thread():  # nobody else can
        yield
        return
    before, complain = {number: signal.getsignal(number) for number in SIGNALS}, sys.unraisablehook

    def pass_over(lost: sys.UnraisableHookArgs) -> None:
        """Where nothing can be raised, Python would print it; the thread ends the program all the same."""
        if not issubclass(lost.exc_type, Stopped):
            complain(lost)

    sys.unraisablehook = pass_over
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    wakened = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    Thread(target=_watch, args=(reader,), name="safear-stop", daemon=True).start()
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakened)
        sys.unraisablehook = complain
        os.close(writer)  # which ends the thread


def release() -> None:
    """Leave signals to somebody else from here on."""
    if signal.getsignal(signal.SIGINT) is _note:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGTERM) is _note:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def say_on_stop(say: Callable[[], str]) -> Iterator[None]:
    """What to say if the program is stopped meanwhile."""
    _State.say = say
    yield
    _State.say = None  # but not after an exception: it may be the one that stops the program


def stop(words: str | None = None) -> NoReturn:
    """Say what is kept, and end. After a signal at once: Python would wait for threads, and a model may hang in one."""
    if words is not None:
        _State.say = lambda: words
    if _State.number is None:  # as if Ctrl+C had been pressed
        print_note(f"\n{_last_words()}")
        sys.exit(128 + signal.SIGINT)
    if _State.said.acquire(blocking=False):
        _leave(_State.number)
    while True:  # until the other thread ends the program
        time.sleep(GRACE)


def was_stopped() -> bool:
    """Whether a signal has come."""
    return _State.number is not None


def _note(number: int, _: FrameType | None) -> None:
    if _State.number is None:
        _State.number = number
        raise Stopped


def _watch(reader: int) -> None:
    """End the program if it does not do so itself."""
    with open(reader, "rb", buffering=0) as stream:  # no path
        while came := stream.read(1):
            number = came[0]
            if number in SIGNALS and signal.getsignal(number) is _note:
                break
        else:
            return
        time.sleep(GRACE)
        if not _State.said.acquire(blocking=False):
            time.sleep(GRACE)  # it is ending
            os._exit(128 + number)
        with suppress(OSError, ValueError):
            if is_watched():
                sys.stderr.write(_SHOW_CURSOR)
        _leave(number)


def _leave(number: int) -> NoReturn:
    with suppress(Exception):  # nobody may be there to read it
        sys.stderr.write(f"\n{_last_words()}\n")
    hand_over()
    os._exit(128 + number)


def _last_words() -> str:
    """What is kept, in one line."""
    if _State.say is not None:
        return _State.say()
    from safear.errors import SafearError
    from safear.texts import load_texts

    try:
        texts = load_texts(_State.language)
    except SafearError:  # there is no such language
        texts = load_texts("en")
    return texts("terminal.stopped")
