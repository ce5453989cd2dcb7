"""A ledger on many seeds: how often each claim is judged as expected, and how often undecided.

One seed says what the numbers of one draw say. A claim that holds on seed 0 and is refuted on
seed 7 has a resolution, or replicates, that do not cover what really varies.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from saccade.errors import InvalidInput, require
from saccade.lab import costs
from saccade.lab.claim import Claim
from saccade.lab.ledger import WAITING, Conditions, pieces, rows_of, verdict_is_expected
from saccade.lab.verdict import UNDECIDED
from saccade.lab.workers import Watcher, carry_out

MOST_SEEDS = 1000
LARGEST = 2**31 - 1


def parsed(text: str) -> list[int]:
    """'0..19' (both ends included), '3', or several of these with commas."""
    seeds: list[int] = []
    for word in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:\.\.(\d+))?\s*", word)
        if not match:
            raise InvalidInput(f"seeds = {text!r} must look like 0..19 or 1,4,7.")
        first, last = int(match[1]), int(match[2] or match[1])
        require(first <= last <= LARGEST, "seeds", text, f"must rise and end below {LARGEST + 1}")
        require(last - first < MOST_SEEDS, "seeds", text, f"must be at most {MOST_SEEDS}")
        seeds += range(first, last + 1)
    return list(dict.fromkeys(seeds))


def judge_seeds(
    claims: Sequence[Claim], conditions: Conditions, seeds: Sequence[int], jobs: int = 1,
    watch: Watcher | None = None,
) -> dict[int, list[dict[str, Any]]]:
    """The rows of `claims` by seed, all by one crew of processes."""
    several = [conditions._replace(seed=seed) for seed in seeds]
    parts = [
        [
            piece._replace(
                name=f"{piece.name}, seed {one.seed}",
                holds=frozenset(f"{name} {one.seed}" for name in piece.holds))
            for piece in pieces(claims, one, costs.of_claims(claims, one), apart=jobs > 1)]
        for one in several]
    results = iter(carry_out([piece for some in parts for piece in some], jobs * (jobs > 1), watch))
    return {
        one.seed: rows_of(claims, one, some, [next(results) for _ in some])
        for one, some in zip(several, parts)}


def over_seeds(rows: dict[int, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """By claim: the verdict at each seed, the share undecided, and the seeds that came out wrong
    (another verdict than expected, undecided apart)."""
    by_claim: dict[str, dict[int, dict[str, Any]]] = {}
    for seed, ledger in rows.items():
        for row in ledger:
            by_claim.setdefault(row["id"], {})[seed] = row
    return [_over(name, by_seed) for name, by_seed in by_claim.items()]


def _over(name: str, by_seed: dict[int, dict[str, Any]]) -> dict[str, Any]:
    first = next(iter(by_seed.values()))
    verdicts = {seed: row["verdict"] for seed, row in by_seed.items()}
    undecided = [seed for seed, verdict in verdicts.items() if verdict == UNDECIDED]
    wrong = [
        seed for seed, row in by_seed.items()
        if seed not in undecided and not verdict_is_expected(row)]
    return {
        "id": name, "study": first["study"], "expected": first["expected"],
        "verdicts": {str(seed): verdict for seed, verdict in verdicts.items()},
        "undecided": undecided, "unexpected": wrong,
        "share_undecided": len(undecided) / len(verdicts)}


def summary(table: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Over all claims that were judged: verdicts, unexpected ones, and the share undecided."""
    counts = Counter(verdict for row in table for verdict in row["verdicts"].values())
    judged = counts.total() - counts[WAITING]
    return {
        "claims": sum(WAITING not in row["verdicts"].values() for row in table), "verdicts": judged,
        "unexpected": sum(len(row["unexpected"]) for row in table), "undecided": counts[UNDECIDED],
        "share_undecided": counts[UNDECIDED] / judged if judged else 0.0}
