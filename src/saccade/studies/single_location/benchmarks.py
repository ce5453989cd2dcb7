"""Speed of the single-location engines: does the dimension matter, and what do five numbers save
over d-dimensional runs?"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import block_until_ready as finished

from saccade.lab.benchmark import Accuracy, Benchmark, Sides, Target
from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Overlaps, Setting

LENGTH = 10
# two exact engines differ by rounding, which a stable run of thousands of steps keeps far below
# this
SAME_PATH = 1e-9
# standard errors between two means; one of ten exceeds this by chance about once in 100,000 runs
ERROR_BARS = 5.0

Pair: TypeAlias = tuple[Any, Any]


def _truth(dim: int) -> Pair:
    return jnp.eye(dim)[0], jnp.eye(dim)[1]


def _apart(one: Overlaps, other: Overlaps) -> float:
    """The largest difference over the five overlaps and all repetitions; NaN if any number is."""
    return float(np.max(np.abs(np.stack(one) - np.stack(other))))


@partial(jax.jit, static_argnames="steps")
def _full_steps(
    learned: Pair, truth: Pair, setting: Setting, step_size: float, steps: int
) -> Overlaps:
    """`steps` full-vector steps. The dimension of the setting enters the risk alone, so the vectors
    may be shorter than it says."""

    k_star, v_star = truth

    def step(_, pair):
        return dynamics.full_step(pair[0], pair[1], k_star, v_star, setting, step_size)

    k, v = jax.lax.fori_loop(0, steps, step, learned)
    return dynamics.overlaps_of(k, v, k_star, v_star)


def dimension_free(
    large: float = 1e9, small: float = 1e2, steps: int = 20_000, repetitions: int = 30,
    checked: int = 200,
) -> Sides:
    """The same engine in two dimensions, lambda = 2/sqrt(d) and alpha = 0.1/d keeping the two
    descents alike.

    Checked against full vectors with 16 coordinates, exact for any d because descent stays in a
    span of four directions.
    """
    learned, truth = dynamics.sphere_vectors(jax.random.key(0), 16, repetitions), _truth(16)
    start = dynamics.overlaps_of(*learned, *truth)

    def run(dim: float, steps: int) -> Overlaps:
        setting = Setting(dim, LENGTH, 2 / dim**0.5)
        return finished(dynamics.overlap_trajectory(start, setting, 0.1 / dim, steps).final)

    def check() -> Accuracy:
        pairs = (
            (
                run(dim, checked),
                _full_steps(learned, truth, Setting(dim, LENGTH, 2 / dim**0.5), 0.1 / dim, checked))
            for dim in (large, small))
        return Accuracy(max(_apart(*pair) for pair in pairs), SAME_PATH)

    return Sides(lambda: run(large, steps), lambda: run(small, steps), check)


def _two_engines(
    dim: int, repetitions: int, setting: Setting, **rest: Any
) -> tuple[Callable, Callable]:
    """Runs of a given number of steps from the same starts: in five overlaps, and in all
    dimensions."""
    learned, truth = dynamics.sphere_vectors(jax.random.key(0), dim, repetitions), _truth(dim)
    start = dynamics.overlaps_of(*learned, *truth)

    def reduced(steps: int) -> Overlaps:
        return finished(dynamics.overlap_trajectory(start, setting, steps=steps, **rest).final)

    def full(steps: int) -> Overlaps:
        return finished(
            dynamics.full_trajectory(*learned, *truth, setting, steps=steps, **rest).final)

    return reduced, full


def reduced_vs_full(dim: int = 400, repetitions: int = 30, steps: int = 10_000) -> Sides:
    """Same starts, same steps; checked on the very runs that are timed."""
    reduced, full = _two_engines(
        dim, repetitions, Setting(dim, LENGTH, 0.2), step_size=1e-3, decay=1e-4)
    return Sides(
        lambda: reduced(steps), lambda: full(steps),
        lambda: Accuracy(_apart(reduced(steps), full(steps)), SAME_PATH))


def figure_4a(
    dim: int = 400, repetitions: int = 30, steps: int = 120_000, peer_steps: int = 3000,
    checked: int = 100,
) -> Sides:
    """The paper's schedule. It runs past the edge of stability, where rounding grows: paths are
    compared while they are short."""
    setting = Setting(dim, LENGTH, 1.0)
    reduced, full = _two_engines(dim, repetitions, setting, step_size=4e-3, decay=1e-4)
    return Sides(
        lambda: reduced(steps), lambda: full(peer_steps),
        lambda: Accuracy(_apart(reduced(checked), full(checked)), SAME_PATH))


def in_law_vs_brute(
    dim: int = 80, batch: int = 5, repetitions: int = 30, steps: int = 200, step_size: float = 1e-3,
    checked_repetitions: int = 150,
) -> Sides:
    """Stochastic descent, all repetitions from one start that leans to the truth; checked by means,
    in standard errors."""
    setting, truth = Setting(dim, LENGTH, 2.0, noise=0.1), _truth(dim)
    rest = {
        "setting": setting, "step_size": step_size, "steps": steps, "batch": batch, "decay": 1e-4}

    def in_law(learned: Pair) -> Overlaps:
        first = dynamics.overlaps_of(*learned, *truth)
        return finished(
            dynamics.stochastic_trajectory_in_law(jax.random.key(1), first, **rest).final)

    def brute(learned: Pair) -> Overlaps:
        return finished(
            dynamics.stochastic_trajectory_brute(jax.random.key(2), *learned, *truth, **rest).final)

    few, many = (_leaning_start(dim, count) for count in (repetitions, checked_repetitions))
    return Sides(
        lambda: in_law(few), lambda: brute(few),
        lambda: Accuracy(_standard_errors(in_law(many), brute(many)), ERROR_BARS))


def _leaning_start(dim: int, repetitions: int) -> Pair:
    """One random pair with half of its truth added, repeated. (From symmetric starts all means
    would be 0 and tell nothing.)"""
    leaning = (
        x + truth / 2
        for x, truth in zip(
            dynamics.sphere_vectors(jax.random.key(0), dim, 1), _truth(dim), strict=True))
    k, v = (jnp.tile(x / jnp.linalg.norm(x), (repetitions, 1)) for x in leaning)
    return k, v


def _standard_errors(one: Overlaps, other: Overlaps) -> float:
    """The largest difference between the two sides in the means of the five overlaps and of their
    squares."""
    a, b = (np.concatenate([np.stack(side), np.stack(side) ** 2]) for side in (one, other))
    error = np.sqrt((a.var(axis=1, ddof=1) + b.var(axis=1, ddof=1)) / a.shape[1])
    return float(np.max(np.abs(a.mean(axis=1) - b.mean(axis=1)) / error))


BENCHMARKS = [
    Benchmark(
        id="single-location.dimension-free",
        work=(
            "20,000 five-overlap steps of 30 repetitions at dim 10^9 (ours) and at dim 10^2 (peer)."
        ),
        prepare=dimension_free, target=Target("<=", 1.1), ours_over_peer=True,
        tiny={"steps": 50, "repetitions": 3, "checked": 20}),
    Benchmark(
        id="single-location.reduced-vs-full",
        work=(
            "10,000 steps of 30 repetitions at dim 400: five overlaps (ours), all dimensions"
            " (peer); same paths."),
        prepare=reduced_vs_full, target=Target(">=", 20),
        tiny={"dim": 12, "repetitions": 3, "steps": 50}),
    Benchmark(
        id="single-location.in-law-vs-brute",
        work=(
            "200 stochastic steps (batch 5, dim 80) of 30 repetitions: in law (ours), every token"
            " drawn (peer)."),
        prepare=in_law_vs_brute, target=Target(">=", 5),
        tiny={
            "dim": 8, "batch": 2, "repetitions": 3, "steps": 20, "step_size": 0.02,
            "checked_repetitions": 1000}),
    Benchmark(
        id="single-location.figure-4a",
        work=(
            "Figure 4a: 120,000 five-overlap steps of 30 repetitions (ours); all dimensions for the"
            " first 3,000 only (peer)."),
        prepare=figure_4a,
        tiny={"dim": 12, "repetitions": 3, "steps": 200, "peer_steps": 20, "checked": 20})]
