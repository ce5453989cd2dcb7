"""What a process takes of its machine: threads, one for each of several workers, and memory maps.
Compiled programs are let go before the operating system runs out of room for them.

A process keeps every program XLA compiled or loaded in memory, each in three or more memory maps.
Linux allows a process 65,530 of them (`vm.max_map_count`); past that the next program does not fail
politely but kills the process ("Unable to allocate section memory", seen with the limit lowered to
1,100 and 300 small programs; letting go, the same work finished). A ledger judged in one process
grows that way: two test workers held 20,000 maps and 3.4 GB each a quarter of the way through. What
is let go is read back from the compilation cache on disk when it is needed again.
"""

import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAPS_ALLOWED = 8_000
SECONDS_BETWEEN_LOOKS = 2.0
MAPS = Path("/proc/self/maps")

_looked = 0.0


def memory_maps() -> int:
    """How many memory maps this process holds; 0 where the system (any but Linux) does not say."""
    try:
        return MAPS.read_bytes().count(b"\n")
    except OSError:
        return 0


def let_go_of_programs(allowed: int = MAPS_ALLOWED, *, at_once: bool = False) -> bool:
    """Drop all compiled programs above `allowed` memory maps; looks once in two seconds, unless
    `at_once`."""
    global _looked
    now = time.monotonic()
    if not at_once and now - _looked < SECONDS_BETWEEN_LOOKS:
        return False
    _looked = now
    jax = sys.modules.get("jax")
    if jax is None or memory_maps() <= allowed:
        return False
    jax.clear_caches()
    gc.collect()
    return True


THREADS = ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What really limits XLA's threads, and those of NumPy's linear algebra, which wait by spinning."""


@contextmanager
def one_thread_each() -> Iterator[None]:
    """For workers started inside, which inherit the environment."""
    previous = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in previous.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
