"""`--verbose`: what the library says of its work (its log), on the error stream."""

from __future__ import annotations

import logging
import sys
import warnings

import click

from safear.cli.results import SPACES
from safear.errors import visible


class _Growing(logging.Filter):
    """Of what is said of memory, again and again for block after block, lets pass what is twice as much as before."""

    most = 0

    def filter(self, record: logging.LogRecord) -> bool:
        need = getattr(record, "need", None)
        if need is None:
            return True
        if need < 2 * self.most:
            return False
        self.most = need
        return True


class VisibleFormatter(logging.Formatter):
    """Writes out what a terminal would obey: what is logged repeats names of files and columns."""

    def format(self, record: logging.LogRecord) -> str:
        """A line of the log."""
        return visible(super().format(record), keep=SPACES)


_format_warning = warnings.formatwarning


def _format_visibly(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    return visible(_format_warning(message, category, filename, lineno, line), keep=SPACES)


def guard_warnings() -> None:
    """Write out what a terminal would obey in warnings, which Python prints where nobody asks for the log.

    They are those of the log, and what a model or a library warns of.
    """
    warnings.formatwarning = _format_visibly
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleFormatter("%(message)s"))


def _show_log(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Show the log until the command ends."""
    if not wanted:
        return
    logger = logging.getLogger("safear")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(VisibleFormatter("%(message)s"))
    handler.addFilter(_Growing())
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)

    def stop() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    context.call_on_close(stop)


verbose_option = click.option(
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_show_log,
    help="Say on the error stream what is done and how much memory it needs.",
)
