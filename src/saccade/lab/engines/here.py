"""The engine that needs nothing: every cell in this process, one group after the other."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from saccade.lab.sweep.perform import Done, Work, Writer, settle

if TYPE_CHECKING:
    from saccade.lab.sweep.plan import Plan


def here(plan: "Plan", groups: Sequence[tuple[Work, ...]], note: Callable[[Done], None]) -> None:
    writer = Writer(plan.store)
    try:
        for group in groups:
            for done in settle(plan.target, group, plan.specification.seed, writer):
                note(done)
    finally:
        writer.flush()
