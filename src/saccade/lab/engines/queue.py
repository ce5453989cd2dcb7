"""What engines with several workers share: tasks of a sensible size, and patience with cells whose
worker died."""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

from saccade.errors import InvalidInput
from saccade.lab.layout import FINISHED
from saccade.lab.sweep.perform import KILLED, TIMED_OUT, Done, Task, Work, mark
from saccade.lab.sweep.plan import Plan

Groups = Sequence[tuple[Work, ...]]
Note = Callable[[Done], None]
Engine = Callable[[Plan, Groups, Note], None]

TASK_SECONDS = 1.0  # sending a task costs milliseconds: small cells travel together
MOST_GROUPS = 64
DEATHS = 3  # a cell that has cost so many workers is given up


class Queue:
    """Groups of cells that wait. Sizes of tasks follow what the tasks before took."""

    def __init__(self, plan: Plan, groups: Groups, workers: int):
        if not plan.store.backend.shared:
            raise InvalidInput(
                f"The store {plan.store.address!r} lies in this process; other processes (--jobs)"
                " and a cluster need one that they see.")
        self.plan = plan
        self.waiting = deque(groups)
        self.workers = workers
        self.deaths: Counter[str] = Counter()
        self.suspects: set[str] = set()  # cells of a lost task: each is tried alone
        self._per_group: float | None = None

    def __bool__(self) -> bool:
        return bool(self.waiting)

    def take(self) -> Task:
        """The next task: about a second of work, but no more than a fair share of what is left."""
        size = 1 if self._per_group is None else int(TASK_SECONDS / max(self._per_group, 1e-6))
        fair = 1 + len(self.waiting) // (2 * self.workers)
        size = min(max(1, min(size, fair, MOST_GROUPS)), len(self.waiting))
        if self.waiting[0][0].name in self.suspects:
            size = 1
        return self.plan.task([self.waiting.popleft() for _ in range(size)])

    def learn(self, task: Task, since: float) -> None:
        """How long a task took, from its start on the monotonic clock."""
        seconds = (time.monotonic() - since) / len(task.groups)
        self._per_group = seconds if self._per_group is None else 0.5 * (self._per_group + seconds)

    def after_death(self, task: Task, deaths: int = 1) -> list[Done]:
        """A worker died on `task`: what it had finished is in the store and is returned, the rest
        waits again, cell by cell.

        Only a cell that was the last of its task can be blamed; after `DEATHS` times it is marked
        and the others go on.
        """
        done, left = self._sorted(task)
        if len(left) == 1:
            self.deaths[left[0].name] += deaths
            died = self.deaths[left[0].name]
            if died >= DEATHS:
                says = f"The worker process died {died} times while it computed this cell."
                return [*done, mark(task, left[0], KILLED, says)]
        self._try_alone(left)
        return done

    def after_limit(self, task: Task, limit: float) -> list[Done]:
        """A worker was ended because `task` took longer than it may. A lone cell is marked at once;
        several wait again, cell by cell, to see which it is."""
        done, left = self._sorted(task)
        if len(left) == 1:
            says = f"It took longer than the {limit:g} seconds that a cell may take."
            return [*done, mark(task, left[0], TIMED_OUT, says, limit)]
        self._try_alone(left)
        return done

    def _try_alone(self, cells: list[Work]) -> None:
        self.suspects |= {one.name for one in cells}
        self.waiting.extendleft((one,) for one in reversed(cells))

    def _sorted(self, task: Task) -> tuple[list[Done], list[Work]]:
        """Cells of a lost task that are in the store, and those that are not."""
        work = [one for group in task.groups for one in group]
        there = {one.name for one in work if self.plan.store.backend.has(one.name)}
        done = [Done(one.name, FINISHED, 0.0) for one in work if one.name in there]
        return done, [one for one in work if one.name not in there]

    def put_back(self, task: Task) -> None:
        """A task was lost through no fault of its cells."""
        self.waiting.extendleft(reversed(task.groups))
