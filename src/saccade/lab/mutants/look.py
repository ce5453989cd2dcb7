"""What a ledger says of altered copies of the package: claims are judged in the given order until
one is not as expected. Run as a program by its path, so that it knows no saccade of its own:

    python look.py PATH_OF_COPY STORE SEED

It imports the libraries once and then answers line by line: a line of JSON {"claims": [[id, seconds
or null], ...], "limit": seconds or null} is judged in a fork, which imports the copy as it is then.
A claim that has no verdict after its own seconds is left out (an altered loop may never end) and
the others are judged in another fork, until the limit. The answer is {"red": id or null,
"verdict": ..., "judged": how many, "late": ids without a verdict, "ended": null, or why a fork
died}.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from math import inf
from time import monotonic
from typing import Any

LIBRARIES = (
    "jax.numpy", "jax.scipy.special", "numpy", "scipy.integrate", "scipy.optimize", "scipy.special",
    "scipy.stats", "xarray", "equinox", "optax", "pydantic", "sklearn.linear_model")
LATE = "late"  # what an alarm ends


def look(
    claims: list[list[Any]], store: str, seed: int, begins: Callable[[int, float | None], None]
) -> dict[str, Any]:
    from saccade.lab import registry
    from saccade.lab.ledger import Conditions, evaluate, verdict_is_expected

    conditions = Conditions(seed=seed, folder=store)
    for number, (name, seconds) in enumerate(claims, 1):
        begins(number, seconds)
        known = registry.of_study(name, registry.claims)
        row = evaluate(registry.one("claim", name, known), conditions)
        if not verdict_is_expected(row):
            return {"red": name, "verdict": row["error"] or row["verdict"]}
    return {"red": None, "verdict": None}


def _in_a_fork(
    claims: list[list[Any]], end: float, words: int, place: tuple[str, str, int]
) -> None:
    """The whole life of a fork: it writes the number of every claim that it begins with, and last
    what it was told. An alarm ends it even inside a compiled program."""

    def begins(number: int, seconds: float | None) -> None:
        os.write(words, f"{number}\n".encode())
        _set_alarm(min(end, monotonic() + (seconds or inf)))

    _set_alarm(end)
    copy, store, seed = place
    sys.path.insert(0, copy)
    try:
        told = look(claims, store, seed, begins)
    except BaseException as problem:  # an altered module may fail in any way when it is imported
        told = {"red": "", "verdict": f"{type(problem).__name__}: {problem}"[:200]}
    os.write(words, json.dumps(told).encode() + b"\n")
    os._exit(0)


def _set_alarm(end: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0 if end == inf else max(end - monotonic(), 1e-3))


def _forked(claims: list[list[Any]], end: float, place: tuple[str, str, int]) -> dict[str, Any]:
    """What one fork says of these claims, with the number of the claim at which it ended."""
    reads, writes = os.pipe()
    fork = os.fork()
    if fork == 0:
        _in_a_fork(claims, end, writes, place)
    os.close(writes)
    with os.fdopen(reads) as words:
        lines = words.read().split("\n")[:-1]
    _, status = os.waitpid(fork, 0)
    at = int(next((line for line in reversed(lines) if line.isdigit()), 0))
    if not status:
        return json.loads(lines[-1]) | {"at": at, "ended": None}
    alarm = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
    return {"red": None, "verdict": None, "at": at, "ended": LATE if alarm else f"status {status}"}


def looked(asked: dict[str, Any], place: tuple[str, str, int]) -> dict[str, Any]:
    """What the claims say, in as many forks as it takes."""
    end = monotonic() + (asked["limit"] or inf)
    left, late, judged = asked["claims"], [], 0
    while left and monotonic() < end:
        told = _forked(left, end, place)
        at = told.pop("at")
        if told["ended"] != LATE:
            return told | {"judged": judged + at, "late": late}
        done = max(at - 1, 0)
        judged += done
        late.append(left[done][0])
        left = left[done + 1 :]
    late += [name for name, _ in left]
    return {"red": None, "verdict": None, "ended": None, "judged": judged, "late": late}


def answer(copy: str, store: str, seed: int) -> None:
    """Answers what stands on standard input, until it ends. What claims print goes to standard
    error."""
    answers = os.dup(1)
    os.dup2(2, 1)
    for library in LIBRARIES:
        import_module(library)
    for line in sys.stdin:
        told = looked(json.loads(line), (copy, store, seed))
        os.write(answers, json.dumps(told).encode() + b"\n")


if __name__ == "__main__":
    del sys.path[0]
    answer(sys.argv[1], sys.argv[2], int(sys.argv[3]))
