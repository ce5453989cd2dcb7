"""What engines with several workers share: tasks of a sensible size, and patience with cells whose
worker died."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from saccade.lab.sweep.perform import Done, Task, Work, mark_killed

if TYPE_CHECKING:
    from saccade.lab.sweep.plan import Plan

TASK_SECONDS = 1.0  # sending a task costs milliseconds: small cells travel together
MOST_GROUPS = 64
DEATHS = 3  # a cell that has cost so many workers is given up


class Queue:
    """Groups of cells that wait. Sizes of tasks follow what the tasks before took."""

    def __init__(self, plan: "Plan", groups: Sequence[tuple[Work, ...]], workers: int):
        self.plan = plan
        self.waiting = deque(groups)
        self.workers = workers
        self.deaths: Counter[str] = Counter()
        self._per_group: float | None = None

    def __bool__(self) -> bool:
        return bool(self.waiting)

    def take(self) -> Task:
        """The next task: about a second of work, but no more than a fair share of what is left."""
        size = 1 if self._per_group is None else int(TASK_SECONDS / max(self._per_group, 1e-6))
        fair = 1 + len(self.waiting) // (2 * self.workers)
        size = max(1, min(size, fair, MOST_GROUPS))
        return self.plan.task([self.waiting.popleft() for _ in range(min(size, len(self.waiting)))])

    def learn(self, task: Task, since: float) -> None:
        """How long a task took, from its start on the monotonic clock."""
        seconds = (time.monotonic() - since) / len(task.groups)
        self._per_group = seconds if self._per_group is None else 0.5 * (self._per_group + seconds)

    def after_death(self, task: Task, deaths: int = 1) -> list[Done]:
        """A worker died on `task`: what it had finished is in the store, the rest waits again, cell
        by cell.

        Only a cell that was the last of its task can be blamed; after `DEATHS` times it is marked
        and the others go on.
        """
        left = [work for group in task.groups for work in group]
        left = [work for work in left if not self.plan.store.backend.has(work.name)]
        if len(left) == 1:
            self.deaths[left[0].name] += deaths
            if self.deaths[left[0].name] >= DEATHS:
                return [mark_killed(task, left[0], self.deaths[left[0].name])]
        self.waiting.extendleft((work,) for work in reversed(left))
        return []

    def put_back(self, task: Task) -> None:
        """A task was lost through no fault of its cells."""
        self.waiting.extendleft(reversed(task.groups))

    def settled_before_death(self, task: Task) -> list[Done]:
        """Cells of a lost task that the store has."""
        names = [work.name for group in task.groups for work in group]
        return [Done(name, "finished", 0.0) for name in names if self.plan.store.backend.has(name)]
