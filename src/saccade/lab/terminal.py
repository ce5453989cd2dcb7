"""Whether a stream is a terminal on which lines may move."""

import os
import sys
from typing import TextIO

PLAIN = "SACCADE_PLAIN"  # set by --plain, so that worker processes are as quiet as their parent


def lively(stream: TextIO | None = None) -> bool:
    """Whether bars and colours may go to a stream (standard error): a terminal that can, and nobody
    asked for plain output."""
    return (
        (stream or sys.stderr).isatty() and not os.environ.get(PLAIN)
        and os.environ.get("TERM") not in ("dumb", "unknown"))
