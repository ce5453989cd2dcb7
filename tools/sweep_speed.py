"""What a sweep costs beside its cells: overhead, ten thousand tiny cells, opening them, and what a
second process brings.

    python tools/sweep_speed.py                  # about two minutes on an idle machine
    python tools/sweep_speed.py --cells 1000

The numbers of one run are in docs/reliability.md.
Both wall and CPU seconds are given: on a machine that others use as well, wall seconds mostly tell
who else was working.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(TOOLS), str(TOOLS.parent / "src")]
os.environ.setdefault("NPROC", "1")

from saccade.lab.engines import choose, here  # noqa: E402
from saccade.lab.store import Store  # noqa: E402
from saccade.lab.sweep.api import execute  # noqa: E402
from saccade.lab.sweep.design import specification  # noqa: E402
from saccade.lab.sweep.perform import Writer  # noqa: E402
from saccade.lab.sweep.plan import Plan, plan  # noqa: E402


def laid_out(folder: Path, count: int, run: str = "tick", **fixed: float) -> Plan:
    axes = {"x": {"low": 0, "high": 1, "count": count}}
    return plan(
        specification({"run": f"fault_cells:{run}", "axes": axes, "fixed": fixed}), Store(folder),
        str(TOOLS))


def timed(work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def by_hand(made: Plan) -> None:
    """The computation and the write of every cell, and nothing else."""
    writer = Writer(made.store)
    for cell in made.cells:
        start = time.perf_counter()
        data = made.target.compute(made.target.key(cell.replicate, 0), cell.parameters)
        writer.save(cell.request, data, time.perf_counter() - start)
    writer.flush()


def overhead(folder: Path, count: int) -> None:
    """A whole sweep, plan included, against the loop by hand; in turns, the median of the
    differences."""
    execute(laid_out(folder / "warm", 50), here)
    differences = []
    for number in range(5):
        made = laid_out(folder / f"hand{number}", count)
        _, bare = timed(lambda: by_hand(made))  # noqa: B023
        _, full = timed(lambda: execute(laid_out(folder / f"sweep{number}", count), here))  # noqa: B023
        differences.append((full - bare) / count * 1e3)
    middle = sorted(differences)[2]
    spread = f"{min(differences):.3f} .. {max(differences):.3f}"
    print(
        f"overhead per cell, plan included: {middle:.3f} ms CPU ({spread} over 5 rounds of {count}"
        " cells; asked: below 1 ms)")


def many(folder: Path, count: int) -> None:
    wall, cpu = timed(lambda: execute(laid_out(folder / "many", count), here))
    print(f"{count} tiny cells: {wall:.1f} s wall, {cpu:.1f} s CPU (asked for 10,000: below 60 s)")
    made = laid_out(folder / "many", count)
    outcome = execute(made, here)
    wall, cpu = timed(outcome.open)
    print(
        f"opening them as one dataset: {wall:.1f} s wall, {cpu:.1f} s CPU (asked for 10,000: below"
        " 10 s)")


def two(folder: Path, count: int, run: str, word: str, **fixed: float) -> None:
    """Sleeping cells tell what the engine brings, whatever the processors are doing; toiling ones
    also what the machine has to give."""
    rates = []
    for jobs in (1, 2):
        moments: list[float] = []
        made = laid_out(folder / f"{run}{jobs}", count, run, **fixed)
        begun = time.perf_counter()
        execute(made, choose(jobs=jobs), watch=lambda done: moments.append(time.perf_counter()))  # noqa: B023
        # From the first finished cell on: starting a process costs the same for one cell and for a
        # thousand.
        rates.append((len(moments) - 1) / (moments[-1] - moments[0]))
        print(
            f"  --jobs {jobs}: {moments[-1] - begun:.1f} s in all, {rates[-1]:.3f} cells a second"
            " once started")
    print(
        f"two processes against one on {count} {word} cells of 1 s: {rates[1] / rates[0]:.2f}"
        " (asked: at least 1.7)")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=24, help="number of cells of one second")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="saccade-speed-"))
    try:
        overhead(folder, max(50, given.cells // 10))
        many(folder, given.cells)
        two(folder, given.seconds, "tick", "sleeping", pause=1.0)
        two(folder, given.seconds, "toil", "computing", seconds=1.0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
