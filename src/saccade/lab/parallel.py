"""The ledger on several local processes. Workers are spawned, never forked: a forked process hangs
once JAX has threads."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from saccade.lab.claim import Claim
from saccade.lab.ledger import Conditions, evaluate


def _evaluate_group(ids: list[str], conditions: Conditions) -> list[dict[str, Any]]:
    from saccade.lab.registry import claims, one

    known = claims()
    return [evaluate(one("claim", name, known), conditions) for name in ids]


def _groups(claims: Sequence[Claim], conditions: Conditions) -> list[list[str]]:
    """Claims that read the same experiment go to one worker, so that no run is computed twice; the
    costliest group starts first."""
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(claim.experiment.id, []).append(claim)

    def cost(group: list[Claim]) -> float:
        return sum(max(scale.seconds for scale in claim.scales.values()) for claim in group)

    dearest_first = sorted(groups.values(), key=cost, reverse=True)
    return [[claim.id for claim in group] for group in dearest_first]


def judge_in_processes(
    claims: Sequence[Claim], conditions: Conditions, jobs: int,
    done: Callable[[dict[str, Any]], None],
) -> list[dict[str, Any]]:
    """Rows in the order of `claims`, judged by `jobs` spawned workers with one thread each."""
    rows: dict[str, dict[str, Any]] = {}
    previous = os.environ.get("NPROC")
    os.environ["NPROC"] = "1"  # the variable that really limits XLA's threads; workers inherit it
    try:
        with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
            futures = [
                pool.submit(_evaluate_group, group, conditions)
                for group in _groups(claims, conditions)]
            try:
                for future in as_completed(futures):
                    for row in future.result():
                        rows[row["id"]] = row
                        done(row)
            except BaseException:
                # An interrupt must not work through the queue first.
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    finally:
        os.environ.pop("NPROC") if previous is None else os.environ.__setitem__("NPROC", previous)
    return [rows[claim.id] for claim in claims]
