"""Where attention looks while it is trained: the share of the informative tokens before, after one
and after two gradient steps, on fresh samples in all dimensions."""

from typing import Any

import numpy as np
import xarray
from numpy.random import SeedSequence, default_rng
from scipy.special import softmax

from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.dynamics import LOSS_DERIVATIVES
from saccade.studies.sparse_token.experiments.draws import draw_tokens, seeds_of
from saccade.studies.sparse_token.experiments.readouts import Loss, table
from saccade.studies.sparse_token.task import SparseToken

STAGES = ("start", "one step", "two steps")
SHARES = (*STAGES, "first")


def gradients(X: Any, y: Any, state: tuple[Any, Any, float], beta: float, loss: str):
    """Gradients in (q, w, b) of the mean loss of <w, X^T softmax(beta X q)> + b at any state, of
    which `dynamics` has only the case q = 0."""
    query, w, b = state
    s, seen = softmax(beta * (X @ query), axis=1), X @ w
    mean = (s * seen).sum(1)
    slopes = LOSS_DERIVATIVES[loss](mean + b, y) / len(y)
    turns = beta * s * (seen - mean[:, None]) * slopes[:, None]
    flat = X.reshape(-1, X.shape[2])
    return turns.ravel() @ flat, (s * slopes[:, None]).ravel() @ flat, slopes.sum()


def trained_queries(
    X: Any, y: Any, w: Any, etas: tuple[float, float, float], beta: float, loss: str
) -> list[Any]:
    """The query at the start, after a step of everything, and after a second step of its own."""
    state = np.zeros(X.shape[2]), w, 0.0
    first = [
        part - eta * gradient
        for part, eta, gradient in zip(state, etas, gradients(X, y, state, beta, loss), strict=True)
    ]
    turn = gradients(X, y, (first[0], first[1], first[2]), beta, loss)[0]
    return [state[0], first[0], first[0] - etas[0] * turn]


@experiment("sparse-token.informative-shares", scales={"standard": {"dim": 300, "trials": 128}})
def informative_shares(
    key: Any, *, length: int = 6, informative: int = 2, positive_rate: float = 0.4,
    signal: float = 3.0, samples_per_dim: float = 3.0, eta_w: float = 0.7, eta_b: float = 0.4,
    eta_q: float = 12.0, beta: float = 0.8, loss: Loss = "logistic", dim: int = 80,
    trials: int = 64, samples: int = 128, start_along: float = 0.0,
) -> xarray.Dataset:
    """Of fresh positive samples: mean attention on the informative tokens at the three stages, and
    how often one of them comes first after two steps; a training set a trial. Query and read-out
    start at zero, the read-out at `start_along` times the signal's direction."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)

    def shares(seed: SeedSequence) -> list[float]:
        rng = default_rng(seed)
        X, y, _ = draw_tokens(task, rng, round(samples_per_dim * dim), np.float32)
        w = start_along * np.asarray(task.direction)
        queries = trained_queries(X, y, w, (eta_q, eta_w, eta_b), beta, loss)
        fresh = draw_tokens(task, rng, samples, np.float32)
        X, where = fresh.X[fresh.y > 0], fresh.where[fresh.y > 0]
        maps = [softmax(beta * (X @ query), axis=1) for query in queries]
        hits = where[np.arange(len(X)), maps[-1].argmax(1)].mean()
        return [*(float((item * where).sum(1).mean()) for item in maps), float(hits)]

    return table(SHARES, [shares(seed) for seed in seeds_of(key, trials)], ("trial",))


@experiment("sparse-token.joint-by-hand")
def joint_by_hand(
    key: Any, *, dim: int = 3, length: int = 4, count: int = 8, step_size: float = 1.7,
    decay: float = 0.4, late: int = 0, stops: tuple[int, ...] = (2, 3, 5), steps: int = 5,
) -> xarray.Dataset:
    """A few tokens, and query, read-out and bias by hand after some gradient steps of all three on
    the logistic loss, step sizes eta/(1 + decay (t + late))."""
    rng = default_rng(seeds_of(key, 1)[0])
    X, y = (
        rng.standard_normal((count, length, dim)) + 0.3, np.where(np.arange(count) < 3, 1.0, -1.0))
    states: list[Any] = [(np.zeros(dim), np.zeros(dim), 0.0)]
    for t in range(steps):
        rate = step_size / (1 + decay * (t + late))
        pulls = gradients(X, y, states[-1], 1.0, "logistic")
        states.append(
            tuple(part - rate * pull for part, pull in zip(states[-1], pulls, strict=True)))
    kept = np.array([np.concatenate([q, w, [b]]) for q, w, b in (states[at] for at in stops)])
    return xarray.Dataset({
        "X": (("sample", "token", "entry"), X), "y": ("sample", y),
        "state": (("stop", "number"), kept)})
