"""The program `safear`, also as `python -m safear`."""

from __future__ import annotations

import signal


def run_program() -> None:
    """Run the command line; until it is loaded and looks after signals itself, Ctrl+C ends the program in silence."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from safear.cli.main import main  # noqa: PLC0415  # as said above

    main()


if __name__ == "__main__":
    run_program()
