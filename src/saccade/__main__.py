"""The program: `saccade`, and `python -m saccade` where the command is not on the path.

It hears Ctrl-C before anything else is imported; `saccade.cli.interrupts` says what comes later.
"""

import os
import signal
import sys
from typing import Any


def main() -> None:
    # Whoever starts it in the background has interrupts ignored, and so they stay.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from saccade.cli import app

    app(prog_name="saccade")  # which listens in its own way from then on


def _leave(*_: Any) -> None:
    """Before the command has begun: there is nothing to end and nothing to keep."""
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, b"\nsaccade: interrupted.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
