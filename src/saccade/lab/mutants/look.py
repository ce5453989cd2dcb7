"""What a ledger says of altered copies of the package: claims are judged in the given order until
one is not as expected. Run as a program by its path, so that it knows no saccade of its own:

    python look.py PATH_OF_COPY STORE SEED

It imports the libraries once and then answers line by line: a line of JSON {"names": [...],
"limit": seconds or null} is judged in a fork, which imports the copy as it is then, and answered by
{"red": id or null, "verdict": ..., "judged": how many} or {"ended": why it has no answer}.
"""

import json
import os
import signal
import sys
from importlib import import_module
from typing import Any

LIBRARIES = (
    "jax.numpy", "jax.scipy.special", "numpy", "scipy.integrate", "scipy.optimize", "scipy.special",
    "scipy.stats", "xarray", "equinox", "optax", "pydantic", "sklearn.linear_model")


def look(names: list[str], store: str, seed: int) -> dict[str, Any]:
    from saccade.lab import registry
    from saccade.lab.ledger import Conditions, evaluate, verdict_is_expected

    conditions = Conditions(seed=seed, folder=store)
    for number, name in enumerate(names, 1):
        known = registry.of_study(name, registry.claims)
        row = evaluate(registry.one("claim", name, known), conditions)
        if not verdict_is_expected(row):
            return {"red": name, "verdict": row["error"] or row["verdict"], "judged": number}
    return {"red": None, "verdict": None, "judged": len(names)}


def _in_a_fork(asked: dict[str, Any], copy: str, store: str, seed: int, answers: int) -> None:
    """The whole life of a fork. An alarm ends it even inside a compiled program."""
    signal.setitimer(signal.ITIMER_REAL, asked["limit"] or 0)
    sys.path.insert(0, copy)
    try:
        told = look(asked["names"], store, seed)
    except BaseException as problem:  # an altered module may fail in any way when it is imported
        told = {"red": "", "verdict": f"{type(problem).__name__}: {problem}"[:200], "judged": 0}
    os.write(answers, json.dumps(told).encode() + b"\n")
    os._exit(0)


def answer(copy: str, store: str, seed: int) -> None:
    """Answers what stands on standard input, until it ends. What claims print goes to standard
    error."""
    answers = os.dup(1)
    os.dup2(2, 1)
    for library in LIBRARIES:
        import_module(library)
    for line in sys.stdin:
        fork = os.fork()
        if fork == 0:
            _in_a_fork(json.loads(line), copy, store, seed, answers)
        _, status = os.waitpid(fork, 0)
        if status:
            ended = "alarm" if os.WTERMSIG(status) == signal.SIGALRM else f"status {status}"
            os.write(answers, json.dumps({"ended": ended}).encode() + b"\n")


if __name__ == "__main__":
    del sys.path[0]
    answer(sys.argv[1], sys.argv[2], int(sys.argv[3]))
