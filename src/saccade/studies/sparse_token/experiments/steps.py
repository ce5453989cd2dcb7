"""Two gradient steps on full token matrices: what w, b and q become, and where attention looks."""

from typing import Any

import numpy as np
import xarray
from numpy.random import Generator, SeedSequence, default_rng

from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.dynamics import LOSS_DERIVATIVES, TwoSteps, gradient_steps
from saccade.studies.sparse_token.experiments.draws import (
    draw_pooled_features,
    draw_tokens,
    seeds_of,
)
from saccade.studies.sparse_token.experiments.readouts import Loss, table
from saccade.studies.sparse_token.models import attention_map
from saccade.studies.sparse_token.task import SparseToken

OVERLAPS = ("b", "w_signal", "w_norm", "w_cosine", "q_signal", "q_norm", "q_cosine")


def steps_by_scores(
    task: SparseToken, rng: Generator, n: int, eta_w: float = 0.5, eta_b: float = 0.5,
    eta_q: float = 0.5, beta: float = 1.0, loss: str = "logistic",
) -> TwoSteps:
    """The two steps of `dynamics` on n samples that are never drawn whole, exact in law at any n
    and d, at cost n (L + d) instead of n L d.

    The first step sees mean tokens only. The second weighs centred tokens, which are independent of
    them, by h_i times their scores c_il along w: along w their sum is that of scores, the signal
    adds theta c_il (v_l - R/L) along xi, and the rest is Gaussian of variance sum h_i^2 c_il^2."""
    mean, y = draw_pooled_features(task, rng, n)
    setting, xi, derivative = task.setting, np.asarray(task.direction), LOSS_DERIVATIVES[loss]
    h = derivative(np.zeros(n), y)
    w, b = -eta_w / n * (h @ mean), -eta_b * h.mean()
    h, norm = derivative(mean @ w + b, y), np.linalg.norm(w)
    noise = rng.standard_normal((n, task.length))
    noise -= noise.mean(1, keepdims=True)
    places = np.arange(task.length) < setting.informative
    planted = setting.signal * (y > 0)[:, None] * (places - places.mean())
    scores = norm * noise + (xi @ w) * planted
    rest = rng.standard_normal(task.dim) * np.sqrt(h**2 @ (scores**2).sum(1))
    along, signal = h @ (scores * noise).sum(1), h @ (scores * planted).sum(1)
    turn = rest + (along - rest @ w / norm) * w / norm + signal * xi
    return TwoSteps(w, b, -eta_q * beta / (n * task.length) * turn)


def repeated_steps(
    task: SparseToken, seed: SeedSequence, trials: int, n: int, whole: bool = True, **steps: Any
) -> TwoSteps:
    """The two steps, every trial on n samples of its own, stacked; eta_w = eta_b = eta_q = 1/2 and
    beta = 1 unless `steps` says otherwise. `whole` tokens (n x L x d must fit in memory), or
    `steps_by_scores`."""
    ends = []
    for one in seed.spawn(trials):
        rng = default_rng(one)
        if whole:
            X, y, _ = draw_tokens(task, rng, n, np.float32)
            ends.append(gradient_steps(X, y, **steps, dtype=np.float32))
        else:
            ends.append(steps_by_scores(task, rng, n, **steps))
    return TwoSteps(*(np.stack(column) for column in zip(*ends, strict=True)))


def overlaps(after: TwoSteps, direction: Any) -> np.ndarray:
    """Biases, norms and cosines with the signal (`OVERLAPS`), one row a trial."""
    w, b, q = after
    w_norm, q_norm = np.linalg.norm(w, axis=1), np.linalg.norm(q, axis=1)
    w_signal, q_signal = w @ np.asarray(direction), q @ np.asarray(direction)
    values = (b, w_signal, w_norm, w_signal / w_norm, q_signal, q_norm, q_signal / q_norm)
    return np.stack(values, 1)


@experiment(
    "sparse-token.two-steps",
    scales={"standard": {"dim": 500, "trials": 64}, "paper": {"dim": 1000, "trials": 64}})
def two_steps(
    key: Any, *, length: int = 10, informative: int = 3, positive_rate: float = 0.2,
    signal: float = 6.0, samples_per_dim: tuple[float, ...] = (1.0, 4.0), eta_w: float = 0.5,
    eta_b: float = 0.5, eta_q: float = 0.5, beta: float = 1.0, loss: Loss = "logistic",
    dim: int = 200, trials: int = 64, whole: bool = True,
) -> xarray.Dataset:
    """Overlaps of w, b and q with the signal after two full-batch gradient steps on full tokens (or
    by `steps_by_scores`, not on `whole` ones)."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    columns = []
    for seed, alpha in zip(seeds_of(key, len(samples_per_dim)), samples_per_dim, strict=True):
        after = repeated_steps(
            task, seed, trials, round(alpha * dim), whole, eta_w=eta_w, eta_b=eta_b, eta_q=eta_q,
            beta=beta, loss=loss)
        columns.append(overlaps(after, task.direction))
    return table(
        OVERLAPS, np.stack(columns, 1), ("trial", "samples_per_dim"),
        {"samples_per_dim": samples_per_dim})


@experiment("sparse-token.attention-maps", scales={"paper": {"dim": 1000}})
def attention_maps(
    key: Any, *, length: int = 10, informative: int = 2, positive_rate: float = 0.5,
    signal: float = 5.0, samples_per_dim: float = 4.0, eta_q: float = 60.0, dim: int = 300,
    samples: int = 24, loss: Loss = "logistic",
) -> xarray.Dataset:
    """Where attention looks on fresh samples before training, after one step and after two."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    train, test = seeds_of(key, 2)
    n = round(samples_per_dim * dim)
    query = repeated_steps(task, train, 1, n, eta_q=eta_q, loss=loss).q[0]
    sample = draw_tokens(task, default_rng(test), samples)
    order = np.argsort(-sample.y, kind="stable")
    # The first step leaves q at zero: its gradient vanishes at w = 0.
    queries: tuple[Any, ...] = (np.zeros(dim), np.zeros(dim), query)
    maps = np.stack([attention_map(sample.X[order], asked) for asked in queries])
    return xarray.Dataset(
        {
            "attention": (("stage", "sample", "token"), maps), "y": ("sample", sample.y[order]),
            "location": (("sample", "token"), sample.where[order].astype(float)),
            "q_cosine": float(query @ np.asarray(task.direction) / np.linalg.norm(query)),
            "sharpness": float(np.linalg.norm(query))},
        {"stage": ["start", "one step", "two steps"]})
