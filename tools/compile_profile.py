"""Where the seconds of a cold ledger go: judges claims in this process with an empty store and an
empty cache of compiled programs, and prints CPU seconds by claim, and compiler seconds by program
and by the line of saccade that asked for it.

    python tools/compile_profile.py single-location [--no-sabotage] [--warm] [--json FILE]

`--warm` keeps the user's cache of compiled programs, so that what is left is running.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections import defaultdict

COMPILING = "/jax/core/compile/backend_compile_duration"
PACKAGE = os.path.join("src", "saccade") + os.sep
STAGES = {
    "/jax/core/compile/jaxpr_trace_duration": "tracing",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lowering", COMPILING: "compiling"}


def cpu_seconds() -> float:
    """User and system time of this process: what the machine spent, whoever else is there."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def asking_line() -> str:
    """The innermost line of saccade on the stack: who asked for the program being compiled."""
    frame = sys._getframe(1)
    while frame is not None:
        folder, _, place = frame.f_code.co_filename.rpartition(PACKAGE)
        if folder:
            return f"{place}:{frame.f_lineno}"
        frame = frame.f_back
    return "elsewhere"


class Profile:
    """Listens to JAX: seconds by stage, and for the compiler by program and by line."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = defaultdict(float)
        self.programs: dict[str, list[float]] = defaultdict(list)
        self.lines: dict[str, list[float]] = defaultdict(list)

    def listen(self, event: str, seconds: float, **details) -> None:
        if event in STAGES:
            self.stages[STAGES[event]] += seconds
        if event == COMPILING:
            self.programs[str(details.get("fun_name", "?"))].append(seconds)
            self.lines[asking_line()].append(seconds)


def dearest(table: dict[str, list[float]]) -> list[tuple[str, int, float]]:
    """Name, how many programs, seconds in all; the dearest first."""
    totals = [(name, len(each), sum(each)) for name, each in table.items()]
    return sorted(totals, key=lambda row: -row[2])


def judge(patterns: list[str], sabotage: bool, profile: Profile) -> tuple[list[dict], list[dict]]:
    """The rows of the ledger, and for each claim its CPU seconds and programs."""
    import jax

    import saccade.precision  # noqa: F401
    from saccade.lab import ledger, registry

    jax.monitoring.register_event_duration_secs_listener(profile.listen)
    conditions = ledger.Conditions(sabotage=sabotage, folder=os.environ["SACCADE_STORE"])
    rows, costs = [], []
    for claim in registry.find_claims(patterns):
        start, compiled = cpu_seconds(), profile.stages["compiling"]
        programs = sum(map(len, profile.programs.values()))
        rows.append(ledger.evaluate(claim, conditions))
        costs.append({
            "id": claim.id, "experiment": claim.experiment.id, "cpu": cpu_seconds() - start,
            "compiling": profile.stages["compiling"] - compiled,
            "programs": sum(map(len, profile.programs.values())) - programs})
    return rows, costs


def tell(profile: Profile, costs: list[dict], total: float, wall: float, top: int) -> None:
    print(
        f"{total:.1f} CPU s, {wall:.1f} s of wall time; "
        + ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in profile.stages.items()))
    for title, table in (("program", profile.programs), ("line of saccade", profile.lines)):
        print(f"\n{title:60} {'times':>6} {'seconds':>8}")
        for name, times, seconds in dearest(table)[:top]:
            print(f"{name[-60:]:60} {times:6d} {seconds:8.1f}")
        print(f"{'all':60} {sum(map(len, table.values())):6d} {profile.stages['compiling']:8.1f}")
    print(f"\n{'claim':52} {'CPU s':>7} {'compiler':>8} {'programs':>8}")
    for cost in sorted(costs, key=lambda cost: -cost["cpu"])[:top]:
        print(
            f"{cost['id'][:52]:52} {cost['cpu']:7.1f} {cost['compiling']:8.1f}"
            f" {cost['programs']:8d}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("patterns", nargs="*", help="claims or studies, as for `saccade verify`")
    parser.add_argument("--no-sabotage", action="store_true")
    parser.add_argument("--warm", action="store_true", help="keep the cache of compiled programs")
    parser.add_argument("--top", type=int, default=25, help="rows of each table")
    parser.add_argument("--json", metavar="FILE", help="where programs, claims and rows go")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SACCADE_STORE"] = os.path.join(folder, "store")
        if not given.warm:
            os.environ["JAX_COMPILATION_CACHE_DIR"] = os.path.join(folder, "programs")
        profile, start, began = Profile(), cpu_seconds(), time.perf_counter()
        rows, costs = judge(given.patterns, not given.no_sabotage, profile)
        total, wall = cpu_seconds() - start, time.perf_counter() - began
    tell(profile, costs, total, wall, given.top)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "cpu": total, "stages": profile.stages, "programs": dearest(profile.programs),
                    "lines": dearest(profile.lines), "claims": costs, "rows": rows},
                file)


if __name__ == "__main__":
    main()
