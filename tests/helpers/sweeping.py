"""What the tests of sweeps share: the cells in `tools/fault_cells.py`, planned and carried out."""

import sys
from pathlib import Path

TOOLS = str(Path(__file__).resolve().parents[2] / "tools")
if TOOLS not in sys.path:
    sys.path.insert(0, TOOLS)

from saccade.lab.engines import here  # noqa: E402
from saccade.lab.store import Store  # noqa: E402
from saccade.lab.sweep.api import execute  # noqa: E402
from saccade.lab.sweep.design import specification  # noqa: E402
from saccade.lab.sweep.plan import plan  # noqa: E402


def planned(folder, run, mend=True, **asked):
    return plan(specification({"run": f"fault_cells:{run}", **asked}), Store(folder), TOOLS, mend)


def swept(folder, run, engine=here, retry=False, watch=lambda done: None, **asked):
    return execute(planned(folder, run, **asked), engine, retry, watch)


def contents(store):
    """Every run by name: the checksums of its arrays."""
    return {
        name: {key: entry["sha256"] for key, entry in store.record(name)["arrays"].items()}
        for name in store.names()}
