"""Follows pieces of work that judge claims or draw figures, and says how far they are."""

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from saccade.cli.progress import progress
from saccade.lab.ledger import verdict_is_expected
from saccade.lab.telling import paced
from saccade.lab.workers import Died, Piece, Watcher


class Following(Watcher):
    """Tells the bar (or the log) of every row and every picture, with the time left by the pace."""

    def __init__(self, what: str):
        self.what, self.stack = what, ExitStack()

    def __enter__(self) -> "Following":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        self.stack.__exit__(kind, problem, place)

    def begin(self, pieces: Sequence[Piece], jobs: int) -> None:
        self.pace = paced(pieces, jobs)
        total = sum(piece.cost for piece in pieces)
        self.advance = self.stack.enter_context(progress(total, self.what, self.pace.left))

    def start(self, piece: Piece) -> None:
        self.pace.start(piece.name)

    def finish(self, piece: Piece, result: Any) -> None:
        self.pace.finish(piece.name)
        lines = said(piece, result)
        for line in lines:
            self.advance(piece.cost / len(lines), line)


def said(piece: Piece, result: Any) -> list[str]:
    """What came of a piece: a line for each row of the ledger, or one for a figure."""
    if isinstance(result, Died):
        return [f"{piece.name}: {result.reason}"]
    if isinstance(result, list):
        return [f"{row['id']}: {_verdict(row)}" for row in result]
    return [f"{piece.name}: {result.missing or 'drawn'}"]


def _verdict(row: dict[str, Any]) -> str:
    return row["verdict"] if verdict_is_expected(row) else f"{row['verdict']} (unexpected)"
