"""Settings for all tests."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from heavy import miss, require
from lanes import pytest_addoption, pytest_collection_modifyitems, pytest_configure, pytest_itemcollected

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["pytest_addoption", "pytest_collection_modifyitems", "pytest_configure", "pytest_itemcollected"]  # hooks
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Telling:
    """Whatever fails is told at once: a run that is ended from outside has no summary."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self.terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name it, and say what went wrong."""
        if report.failed:
            self.terminal.ensure_newline()
            self.terminal.write_line(f"FAILED {report.nodeid} ({report.when})\n{report.longreprtext[-2000:]}")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Only where results are shown, not in the processes that run the tests."""
    plugins = session.config.pluginmanager
    terminal = plugins.get_plugin("terminalreporter")
    if terminal is not None:
        plugins.register(Telling(terminal))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what `make coverage` traced: a worker may be ended before it exits by itself."""
    tracing = sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None
    if tracing is not None and hasattr(session.config, "workerinput"):
        tracing.save()


@pytest.fixture(scope="module")  # its event loop runs meanwhile, and other tests have loops of their own
def browser() -> Iterator[Browser]:
    """Chromium. Where there is none, tests are skipped, or fail if SAFEAR_REQUIRE_BROWSER says that there must be."""
    path = next((found for found in map(shutil.which, BROWSERS) if found), None)
    if path is None:
        miss("NO BROWSER: install Chromium to test the pages", "browser")
    api = require("playwright.sync_api", "browser")
    api.expect.set_options(timeout=30_000)  # milliseconds: a machine may be busy
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def heeded() -> Iterator[None]:
    """Programs get signals as at a terminal: tests that run in the background, or by `nohup`, ignore some."""
    numbers = (signal.SIGHUP, signal.SIGINT)
    before = {
        number: signal.signal(number, signal.SIG_DFL)
        for number in numbers
        if signal.getsignal(number) is signal.SIG_IGN
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
