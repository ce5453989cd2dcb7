"""Speed: a fitted point against simulating it, a warm-started curve against separate points."""

from dataclasses import astuple

import jax
import numpy as np

from saccade.convex import fit_readout
from saccade.lab.benchmark import Accuracy, Benchmark, Sides, Target
from saccade.studies.sparse_token.experiments import readouts
from saccade.studies.sparse_token.experiments.draws import draw_attention_features
from saccade.studies.sparse_token.models import attention_features
from saccade.studies.sparse_token.task import SparseToken, SparseTokenSetting
from saccade.studies.sparse_token.theory import fit, fit_curve

SETTING = SparseTokenSetting(10, 1, 0.5, 3.0)
QUERY = (0.8, 1.0)
"""Alignment and sharpness."""
ALPHA, RIDGE = 3.0, 1e-2
# standard errors of the simulated mean; one comparison exceeds this about once in two million
ERROR_BARS = 5.0
SAME_CURVE = 1e-9  # both sides solve the same equations to a relative residual of 1e-10


def _simulated_error(task: SparseToken, query: np.ndarray, key: jax.Array, n: int) -> float:
    """One trial as anybody would run it: draw every token, attend, fit, test."""
    parts = list(task.stream(key, n, chunk=500))
    features = np.concatenate(
        [np.asarray(attention_features(part.X, query.astype(part.X.dtype))) for part in parts])
    fitted = fit_readout(
        features, np.concatenate([part.y for part in parts]), RIDGE, tolerance=1e-9)
    rng = np.random.default_rng(0)
    return readouts.readout_test_error(task, fitted, "attention", query, rng, 20_000)


def theory_vs_simulation(dim: int = 1000, trials: int = 8) -> Sides:
    """A point of the theory against `trials` fits at `dim`; mean test errors in standard errors."""
    task = SparseToken.create(dim, *astuple(SETTING))
    query = readouts.tilted_query(dim, *QUERY)

    def simulate() -> np.ndarray:
        keys = jax.random.split(jax.random.key(1), trials)
        return np.array([_simulated_error(task, query, key, round(ALPHA * dim)) for key in keys])

    def predict() -> float:
        return fit(SETTING, "attention", ALPHA, RIDGE, "logistic", *QUERY).test_error

    def check() -> Accuracy:
        errors = simulate()
        finite_size = 0.01 * errors.mean()  # about a per cent
        bar = errors.std(ddof=1) / np.sqrt(trials) + finite_size
        return Accuracy(float(abs(errors.mean() - predict()) / bar), ERROR_BARS)

    return Sides(predict, simulate, check)


def curve_vs_points(points: int = 40) -> Sides:
    """Test errors along n/d: each point started from its neighbour, against each from scratch."""
    alphas = np.geomspace(0.3, 30, points)

    def curve() -> np.ndarray:
        fits = fit_curve(SETTING, "attention", alphas, RIDGE, "logistic", *QUERY)
        return np.array([item.test_error for item in fits])

    def separately() -> np.ndarray:
        fits = [fit(SETTING, "attention", a, RIDGE, "logistic", *QUERY) for a in alphas]
        return np.array([item.test_error for item in fits])

    return Sides(
        curve, separately,
        lambda: Accuracy(float(np.max(np.abs(curve() - separately()))), SAME_CURVE))


def readout_vs_sklearn(dim: int = 300) -> Sides:
    """Our Newton fit against scikit-learn's of the same objective; checked by the weights."""
    from sklearn.linear_model import LogisticRegression

    task = SparseToken.create(dim, *astuple(SETTING))
    query = readouts.tilted_query(dim, *QUERY)
    features, y = draw_attention_features(task, np.random.default_rng(2), round(ALPHA * dim), query)

    def ours() -> np.ndarray:
        return fit_readout(features, y, RIDGE).w

    def peer() -> np.ndarray:
        model = LogisticRegression(
            C=1 / (RIDGE * len(y)), solver="newton-cholesky", tol=1e-10, max_iter=200)
        return model.fit(features, y).coef_[0]

    return Sides(ours, peer, lambda: Accuracy(float(np.linalg.norm(ours() - peer())), 1e-6))


BENCHMARKS = [
    Benchmark(
        "sparse-token.theory-vs-simulation",
        "One logistic attention point: theory (ours), 8 fits to 3000 samples of 10 tokens at"
        " dim 1000, every token drawn (peer).", theory_vs_simulation, target=Target(">=", 100),
        tiny={"dim": 60, "trials": 6}),
    Benchmark(
        "sparse-token.curve-vs-points",
        "A curve of 40 values of n/d: warm-started (ours), every point from scratch (peer).",
        curve_vs_points, tiny={"points": 4}),
    Benchmark(
        "sparse-token.readout-vs-sklearn",
        "Logistic read-out of 900 samples in dim 300: our Newton fit (ours), scikit-learn's"
        " newton-cholesky (peer).", readout_vs_sklearn, tiny={"dim": 30})]
