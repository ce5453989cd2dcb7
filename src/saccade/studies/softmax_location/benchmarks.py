"""Speed: one risk with gradient against samples, tables against full-dimensional descent, and a
cost that knows neither L nor d."""

import numpy as np

from saccade.lab.benchmark import Accuracy, Benchmark, Sides, Target
from saccade.lab.growth import Growth
from saccade.lab.timing import Work
from saccade.studies.softmax_location import dynamics, theory
from saccade.studies.softmax_location.dynamics.samples import (
    World,
    gradients,
    random_start,
    sphere_step,
)
from saccade.studies.softmax_location.theory import ROUGH, Overlaps, Setting

STATE = Overlaps(0.3, 0.4, 0.1, 0.2, 0.05)


def _risks(length: float, dim: float = 400.0, repeats: int = 200) -> Work:
    setting = Setting(dim, length, 0.5)
    return lambda: [theory.risk(STATE, setting) for _ in range(repeats)]


def one_risk(
    length: float = 1e6, other: float = 10.0, repeats: int = 200, dim: float = 400.0,
    other_dim: float = 400.0,
) -> Sides:
    """Risks with gradients at lambda = 0.5; checked against the rougher rule."""

    def check() -> Accuracy:
        pairs = [
            (theory.risk(STATE, s), theory.risk(STATE, s, ROUGH))
            for s in (Setting(dim, length, 0.5), Setting(other_dim, other, 0.5))]
        apart = [abs(float(a.risk) / float(b.risk) - 1) for a, b in pairs]
        return Accuracy(max(apart), 1e-6)

    return Sides(_risks(length, dim, repeats), _risks(other, other_dim, repeats), check)


def tables_vs_samples(
    dim: int = 400, starts: int = 200, steps: int = 20_000, samples: int = 100_000,
    peer_steps: int = 1, peer_starts: int = 1, chunk: int = 500,
) -> Sides:
    """Exact descent of all starts (ours), and one full-dimensional step of one start with a
    gradient from samples (peer): the ratio is a lower bound by the factor starts x steps. Checked
    by the overlaps after the peer's step."""
    random = np.random.default_rng(0)
    setting, world = Setting(float(dim), 10.0, 0.1), World(dim, 10)
    start, alpha = random_start(random, starts, 1, dim), 4e-3

    def seen(at) -> Overlaps:
        k, v = at[0][:, 0], at[1][:, 0]
        return Overlaps(k[:, 0], v[:, 1], v[:, 0], k[:, 1], np.sum(k * v, axis=1))

    def ours() -> Overlaps:
        run = dynamics.trajectory(seen(start), setting, alpha, (steps,))
        return Overlaps(*(x[:, -1] for x in run.overlaps))

    def peer() -> Overlaps:
        k, v = start.k[:peer_starts], start.v[:peer_starts]
        for _ in range(peer_steps):
            parts = [
                gradients(world.draw(random, peer_starts, chunk), k, v, 0.1)
                for _ in range(samples // chunk)]
            by_k, by_v = (np.mean(np.stack(side), axis=0) for side in zip(*parts, strict=True))
            k, v = sphere_step(k, by_k, alpha), sphere_step(v, by_v, alpha)
        return seen((k, v))

    def check() -> Accuracy:
        few = dynamics.trajectory(seen(start), setting, alpha, (peer_steps,)).overlaps
        apart = [np.max(np.abs(a[:peer_starts, -1] - b)) for a, b in zip(few, peer(), strict=True)]
        return Accuracy(float(max(apart)), 5 * alpha * (dim / samples) ** 0.5)

    return Sides(ours, peer, check)


AGAINST_LENGTH = Growth(
    "softmax-location.risk-against-length", "200 risks with gradient, d = 400, lambda = 0.5.",
    "length", (1e1, 1e3, 1e5, 1e7), _risks, Target("<=", 0.05), tiny=(10, 100))

BENCHMARKS = [
    Benchmark(
        "softmax-location.length-free",
        "200 risks with gradient at L = 10^6 (ours) and at L = 10 (peer), d = 400, lambda = 0.5.",
        one_risk, Target("<=", 1.2), ours_over_peer=True, tiny={"repeats": 3}),
    Benchmark(
        "softmax-location.dimension-free",
        "200 risks with gradient at d = 400 (ours) and at d = 80 (peer), L = 10, lambda = 0.5.",
        lambda repeats=200: one_risk(10.0, 10.0, repeats, 400.0, 80.0), Target("<=", 1.3),
        ours_over_peer=True, tiny={"repeats": 3}),
    Benchmark(
        "softmax-location.tables-vs-samples",
        "20,000 exact steps of 200 starts at d = 400 by tables (ours); ONE step of ONE start with a"
        " gradient from 10^5 samples (peer).", tables_vs_samples,
        tiny={"dim": 12, "starts": 8, "steps": 50, "samples": 4000})]
