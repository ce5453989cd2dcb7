"""Where the seconds of the tests go: runs pytest and prints, by folder, by file and by test, CPU
seconds (those of the processes a test starts included), seconds of wall time, and XLA's compiler's.

    python tools/profile_tests.py tests/lab tests/cli            # one process
    python tools/profile_tests.py -n 2 --dist loadgroup          # as `make test` runs them
    PROFILE_JSON=seconds.json python tools/profile_tests.py      # every test, to a file

Whatever follows the name goes to pytest. Compiled programs come from the user's cache unless
`$JAX_COMPILATION_CACHE_DIR` names another folder, so an empty one shows a cold start.
"""

import json
import os
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

COMPILING = "/jax/core/compile/backend_compile_duration"
TOP = 40


def cpu_seconds() -> float:
    """User and system time of this process and of those it started and waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Clock:
    """Seconds since it was last read: of the machine, on the wall, and of the compiler."""

    def __init__(self) -> None:
        self.compiled, self.seen = 0.0, (0.0, 0.0, 0.0)

    def listen(self, event: str, seconds: float, **details) -> None:
        if event == COMPILING:
            self.compiled += seconds

    def read(self) -> tuple[float, ...]:
        before, self.seen = self.seen, (cpu_seconds(), time.perf_counter(), self.compiled)
        return tuple(now - then for now, then in zip(self.seen, before, strict=True))


CLOCK = Clock()
COLUMNS = ("CPU s", "wall s", "compiler")
SPENT: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(COLUMNS))


def pytest_configure(config: pytest.Config) -> None:
    """In every process that runs tests: listen to the compiler."""
    if getattr(config.option, "dist", "no") == "no" or hasattr(config, "workerinput"):
        import jax

        jax.monitoring.register_event_duration_secs_listener(CLOCK.listen)


def pytest_runtest_logstart() -> None:
    CLOCK.read()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    report = yield
    report.user_properties.append(("seconds", CLOCK.read()))
    return report


def without_group(name: str) -> str:
    """The name of a test, without that of the group with which xdist hands it to a worker."""
    return name.rpartition("@")[0] if name.rfind("@") > name.rfind("]") else name


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A report of one phase; under xdist it has come from a worker."""
    for name, seconds in report.user_properties:
        if name == "seconds":
            row = SPENT[without_group(report.nodeid)]
            row[:] = [before + more for before, more in zip(row, seconds, strict=True)]


def summed(depth: int) -> dict[str, list[float]]:
    """Seconds by place, `depth` folders deep, and behind them how many tests."""
    table: dict[str, list[float]] = defaultdict(lambda: [0.0] * (len(COLUMNS) + 1))
    for test, seconds in SPENT.items():
        row = table["/".join(test.partition("::")[0].split("/")[:depth])]
        row[:] = [before + more for before, more in zip(row, [*seconds, 1], strict=True)]
    return table


def lines(title: str, table: dict[str, list[float]]) -> list[str]:
    """A table, the dearest first."""
    head = f"\n{title:88}" + "".join(f"{name:>9}" for name in COLUMNS)
    rows = sorted(table.items(), key=lambda item: -item[1][0])[:TOP]
    return [head] + [
        f"{name[-88:]:88}" + "".join(f"{value:9.1f}" for value in row[:3])
        + "".join(f"{count:9.0f} tests" for count in row[3:]) for name, row in rows]


def pytest_terminal_summary(terminalreporter) -> None:
    for table in (
        lines("folder", summed(2)), lines("file", summed(9)), lines("test", SPENT),
        lines("all", summed(0)),
    ):
        for line in table:
            terminalreporter.write_line(line)
    if "PROFILE_JSON" in os.environ:
        Path(os.environ["PROFILE_JSON"]).write_text(json.dumps(SPENT), encoding="utf-8")


if __name__ == "__main__":
    here = str(Path(__file__).parent)
    sys.path.insert(0, os.getcwd())  # as `python -m pytest` has it
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    sys.exit(pytest.main(["-p", "profile_tests", "-q", *sys.argv[1:]]))
