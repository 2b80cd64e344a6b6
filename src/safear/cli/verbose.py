"""`--verbose`: what the library says of its work (its log), on the error stream."""

from __future__ import annotations

import logging
import sys

import click


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


def _show_log(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Show the log until the command ends."""
    if not wanted:
        return
    logger = logging.getLogger("safear")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
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
