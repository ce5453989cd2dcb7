"""Speed of the engines: does the dimension matter, and what do five numbers save over d of them?"""

from collections.abc import Iterable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import block_until_ready as finished

from saccade.descent import descend
from saccade.lab.benchmark import Accuracy, Benchmark, Sides, Target
from saccade.lab.growth import Growth
from saccade.lab.timing import Work
from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Overlaps, Setting

LENGTH = 10
# two exact engines differ by rounding, which a stable run of thousands of steps keeps small
SAME_PATH = 1e-9
# standard errors between two means; one of ten exceeds this by chance about once in 100,000 runs
ERROR_BARS = 5.0

Vectors = tuple[Any, Any, Any, Any]  # k, v, k*, v*


def _starts(dim: int, repetitions: int) -> Vectors:
    axes = jnp.eye(dim)
    return *dynamics.sphere_vectors(jax.random.key(0), dim, repetitions), axes[0], axes[1]


def _same_path(one: Iterable[Any], other: Iterable[Any]) -> Accuracy:
    """By the largest difference over overlaps and repetitions; NaN if any number is."""
    return Accuracy(float(np.max(np.abs(np.stack([*one]) - np.stack([*other])))), SAME_PATH)


@partial(jax.jit, static_argnames="steps")
def _full_steps(vectors: Vectors, setting: Setting, step_size: float, steps: int) -> Overlaps:
    """Full-vector steps; the setting's dimension enters the risk alone: vectors may be shorter."""
    k, v, k_star, v_star = vectors

    def step(pair, t):
        return dynamics.full_step(pair[0], pair[1], k_star, v_star, setting, step_size)

    (k, v), _ = descend(step, lambda pair, stop: None, (k, v), jnp.array([steps]))
    return dynamics.overlaps_of(k, v, k_star, v_star)


def _alike(dim: float) -> tuple[Setting, float]:
    """Setting and step size with which every dimension sees the same kind of descent."""
    return Setting(dim, LENGTH, 2 / dim**0.5), 0.1 / dim


def dimension_free(
    large: float = 1e9, small: float = 1e2, steps: int = 20_000, repetitions: int = 30,
    checked: int = 200,
) -> Sides:
    """The same engine in two dimensions; lambda = 2/sqrt(d), alpha = 0.1/d keep them alike. Checked
    against full vectors of 16 coordinates, exact for any d: descent stays in a span of four."""
    vectors = _starts(16, repetitions)
    start = dynamics.overlaps_of(*vectors)

    def run(dim: float, steps: int) -> Overlaps:
        return finished(dynamics.overlap_trajectory(start, *_alike(dim), steps).final)

    def check() -> Accuracy:
        ours = (x for dim in (large, small) for x in run(dim, checked))
        full = (x for dim in (large, small) for x in _full_steps(vectors, *_alike(dim), checked))
        return _same_path(ours, full)

    return Sides(lambda: run(large, steps), lambda: run(small, steps), check)


def _two_engines(
    dim: int, repetitions: int, inverse_temperature: float, step_size: float,
    steps: tuple[int, int, int],
) -> Sides:
    """From the same starts: so many steps in five overlaps, in all dimensions, and to check."""
    vectors, setting = _starts(dim, repetitions), Setting(dim, LENGTH, inverse_temperature)
    start, (ours, peer, checked) = dynamics.overlaps_of(*vectors), steps

    def reduced(steps: int) -> Overlaps:
        run = dynamics.overlap_trajectory(start, setting, step_size, steps, decay=1e-4)
        return finished(run.final)

    def full(steps: int) -> Overlaps:
        run = dynamics.full_trajectory(*vectors, setting, step_size, steps, decay=1e-4)
        return finished(run.final)

    return Sides(
        lambda: reduced(ours), lambda: full(peer),
        lambda: _same_path(reduced(checked), full(checked)))


def reduced_vs_full(dim: int = 400, repetitions: int = 30, steps: int = 10_000) -> Sides:
    """Same starts, same steps; checked on the very runs that are timed."""
    return _two_engines(dim, repetitions, 0.2, 1e-3, (steps, steps, steps))


def figure_4a(
    dim: int = 400, repetitions: int = 30, steps: int = 120_000, peer_steps: int = 3000,
    checked: int = 100,
) -> Sides:
    """The paper's schedule, past the edge of stability: paths are compared while they are short."""
    return _two_engines(dim, repetitions, 1.0, 4e-3, (steps, peer_steps, checked))


def in_law_vs_brute(
    dim: int = 80, batch: int = 5, repetitions: int = 30, steps: int = 200, step_size: float = 1e-3,
    checked_repetitions: int = 150,
) -> Sides:
    """Stochastic descent from one start that leans to the truth; means, in standard errors."""
    rest = {
        "setting": Setting(dim, LENGTH, 2.0, noise=0.1), "step_size": step_size, "steps": steps,
        "batch": batch, "decay": 1e-4}

    def in_law(vectors: Vectors) -> Overlaps:
        first = dynamics.overlaps_of(*vectors)
        return finished(
            dynamics.stochastic_trajectory_in_law(jax.random.key(1), first, **rest).final)

    def brute(vectors: Vectors) -> Overlaps:
        return finished(
            dynamics.stochastic_trajectory_brute(jax.random.key(2), *vectors, **rest).final)

    few, many = (_leaning(dim, count) for count in (repetitions, checked_repetitions))
    return Sides(
        lambda: in_law(few), lambda: brute(few),
        lambda: Accuracy(_standard_errors(in_law(many), brute(many)), ERROR_BARS))


def _leaning(dim: int, repetitions: int) -> Vectors:
    """One random pair with half of its truth added, repeated: means of symmetric starts are 0."""
    k, v, k_star, v_star = _starts(dim, 1)
    k, v = (
        jnp.tile(dynamics.normalised(x + truth / 2), (repetitions, 1))
        for x, truth in ((k, k_star), (v, v_star)))
    return k, v, k_star, v_star


def _standard_errors(one: Overlaps, other: Overlaps) -> float:
    """The largest difference in the means of the five overlaps and of their squares."""
    a, b = (np.concatenate([np.stack(side), np.stack(side) ** 2]) for side in (one, other))
    error = np.sqrt((a.var(axis=1, ddof=1) + b.var(axis=1, ddof=1)) / a.shape[1])
    return float(np.max(np.abs(a.mean(axis=1) - b.mean(axis=1)) / error))


def _steps_in(dim: float, steps: int = 20_000, repetitions: int = 30) -> Work:
    start = dynamics.overlaps_of(*_starts(16, repetitions))
    return lambda: finished(dynamics.overlap_trajectory(start, *_alike(dim), steps).final)


AGAINST_DIM = Growth(
    "single-location.steps-against-dim", "20,000 five-overlap steps of 30 repetitions.", "dim",
    (1e2, 1e4, 1e6, 1e8), _steps_in, Target("<=", 0.02), tiny=(1e2, 1e4))

BENCHMARKS = [
    Benchmark(
        "single-location.dimension-free",
        "20,000 five-overlap steps of 30 repetitions at dim 10^9 (ours) and at dim 10^2 (peer).",
        dimension_free, Target("<=", 1.1), ours_over_peer=True,
        tiny={"steps": 50, "repetitions": 3, "checked": 20}),
    Benchmark(
        "single-location.reduced-vs-full",
        "10,000 steps of 30 repetitions at dim 400: five overlaps (ours), all dimensions"
        " (peer); same paths.", reduced_vs_full, Target(">=", 20),
        tiny={"dim": 12, "repetitions": 3, "steps": 50}),
    Benchmark(
        "single-location.in-law-vs-brute",
        "200 stochastic steps (batch 5, dim 80) of 30 repetitions: in law (ours), every token"
        " drawn (peer).", in_law_vs_brute, Target(">=", 5),
        tiny={
            "dim": 8, "batch": 2, "repetitions": 3, "steps": 20, "step_size": 0.02,
            "checked_repetitions": 1000}),
    Benchmark(
        "single-location.figure-4a",
        "Figure 4a: 120,000 five-overlap steps of 30 repetitions (ours); all dimensions for the"
        " first 3,000 only (peer).", figure_4a,
        tiny={"dim": 12, "repetitions": 3, "steps": 200, "peer_steps": 20, "checked": 20})]
