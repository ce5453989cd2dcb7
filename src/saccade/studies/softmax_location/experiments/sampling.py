"""Simulations: risks of softmax and its rivals on samples. Tokens are drawn along the few
directions that anybody looks at, which is exact, by NumPy, where nothing need be compiled; rivals
and gradients meet the task and the layers themselves."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy import stats

from saccade.lab.experiment import experiment
from saccade.studies.softmax_location.dynamics import generator
from saccade.studies.softmax_location.models import ScoreAttention, SoftmaxAttention
from saccade.studies.softmax_location.task import Search

Case = tuple[float, int, float, float, float]  # dim, length, inverse temperature, gamma, noise
CASES: tuple[Case, ...] = (
    (4, 2, 0.3, 0.71, 0.0), (6, 2, 1.3, 1.2, 0.3), (10, 2, 3.0, 0.4, 0.0), (40, 2, 0.2, 0.9, 0.1),
    (4, 3, 0.8, 1.4, 0.0), (8, 3, 0.4, 0.6, 0.2), (5, 5, 1.0, 0.71, 0.0), (12, 5, 0.5, 1.1, 0.0),
    (30, 5, 2.0, 0.5, 0.1), (100, 5, 0.1, 0.71, 0.0), (6, 10, 0.7, 0.71, 0.0),
    (20, 10, 1.5, 0.9, 0.2), (80, 10, 0.3, 0.71, 0.0), (400, 10, 0.1, 0.6, 0.0),
    (10, 30, 2.0, 1.3, 0.0), (50, 30, 0.6, 0.71, 0.1), (8, 100, 1.0, 0.8, 0.0),
    (100, 100, 0.4, 0.71, 0.0), (20, 300, 1.5, 1.0, 0.0), (40, 1000, 2.0, 0.71, 0.0))
# By the length: more tokens, fewer samples of about the same cost.
TOKENS = 120_000


def _leaning(number: int) -> np.ndarray:
    """Unit vectors k and v in four coordinates that lean on the truth and on each other, the same
    in every repetition: no term of the risk is small."""
    random = np.random.default_rng(1000 + number)
    k, v = random.standard_normal((2, 4))
    k, v = k + [0.8, 0.6, 0, 0], v + 0.5 * k + [0.5, 0.7, 0, 0]
    return np.stack([k / np.linalg.norm(k), v / np.linalg.norm(v)])


def _overlaps(k: np.ndarray, v: np.ndarray) -> list[float]:
    return [k[0], v[1], v[0], k[1], float(k @ v)]


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _squared_errors(
    random: Any, case: tuple[int, Case], samples: int, replicates: int, swap: bool
) -> Any:
    """Replicates of a mean squared error; `swap` gives the informative token the spread 1."""
    number, (dim, length, lam, gamma, noise) = case
    k, v = _leaning(number)
    X = random.standard_normal((samples, length, 4))
    X[:, 0] *= 1.0 if swap else gamma
    X[:, 0, 0] += np.sqrt(dim / 2)
    y = X[:, 0, 1] + noise * random.standard_normal(samples)
    prediction = np.sum(_softmax(lam * (X @ k)) * (X @ v), axis=1)
    return np.mean(((prediction - y) ** 2).reshape(replicates, -1), axis=1)


@experiment("softmax-location.simulated-risk", scales={"standard": {"effort": 10.0}})
def simulated_risk(
    key: Any, *, cases: tuple[Case, ...] = CASES, effort: float = 1.0, replicates: int = 32,
    same_spread: bool = False,
) -> xarray.Dataset:
    """Mean squared error of softmax attention on samples, at leaning directions."""
    random, columns, overlaps = generator(key), [], []
    for number, case in enumerate(cases):
        per = int(effort * max(3200, TOKENS / (case[1] + 4))) // replicates
        columns.append(
            _squared_errors(random, (number, case), per * replicates, replicates, same_spread))
        overlaps.append(_overlaps(*_leaning(number)))
    return xarray.Dataset(
        {
            "risk": (("replicate", "case"), np.stack(columns, -1)),
            "overlap": (("case", "name"), np.array(overlaps))},
        {"name": ["kappa", "nu", "theta", "eta", "rho"]})


RIVALS = ("all", "plane", "scores", "argmax", "softmax", "softmax, |v| fitted", "linear")


@partial(jax.jit, static_argnames="samples")
def _rival_errors(key: Any, task: Search, lam: Any, samples: int) -> Any:
    """Squared errors of the rivals on the same samples, (samples, rivals). The layers are handed
    one token more, which is no number, and a mask that leaves it out."""
    X, y, _ = task.sample(key, samples)
    k, v = task.truth
    z, u = X @ k, X @ v
    absent = jnp.concatenate([X, jnp.full_like(X[:, :1], jnp.nan)], axis=1)
    mask = jnp.ones(absent.shape[:2], bool).at[:, -1].set(False)
    in_plane = jax.nn.softmax(
        (task.dim / 2) ** 0.5 * z / task.gamma**2 - (1 / task.gamma**2 - 1) / 2 * (z**2 + u**2))
    softmax = SoftmaxAttention(k[None], v[None], lam)(absent, mask)
    predictions = (
        task.best(X), jnp.sum(in_plane * u, axis=1), ScoreAttention(k, v, task.gamma)(absent, mask),
        jnp.sum((z == z.max(axis=1, keepdims=True)) * u, axis=1), softmax,
        *(jnp.mean(y * x) / jnp.mean(x**2) * x for x in (softmax, u.sum(axis=1))))
    return (jnp.stack(predictions, -1) - y[:, None]) ** 2


@experiment("softmax-location.simulated-rivals", scales={"standard": {"samples": 204_800}})
def simulated_rivals(
    key: Any, *, dim: int = 10, length: int = 6, gamma: float = 0.7, noise: float = 0.2,
    inverse_temperature: float = 1.7, samples: int = 51_200, replicates: int = 32,
) -> xarray.Dataset:
    """Mean squared errors at the truth of the best predictors from all, from two coordinates, with
    weights of the scores, of argmax, of softmax, with the length of v fitted too, and of the sum of
    the values, fitted; on the same samples."""
    task = Search(dim, length, gamma, noise)
    errors = np.asarray(_rival_errors(key, task, inverse_temperature, samples))
    means = errors.reshape(replicates, -1, len(RIVALS)).mean(axis=1)
    return xarray.Dataset({"risk": (("replicate", "rival"), means)}, {"rival": list(RIVALS)})


@experiment("softmax-location.softmax-and-bayes")
def softmax_and_bayes(
    key: Any, *, dim: int = 8, length: int = 5, gamma: float = 1.0, factor: float = 1.0,
    samples: int = 400,
) -> xarray.Dataset:
    """Predictions of the posterior mean, from the two densities, and of softmax at lambda = factor
    sqrt(d/2), sample by sample."""
    task = Search(dim, length, gamma)
    k, v = task.truth
    X = task.sample(key, samples).X
    layer = SoftmaxAttention(k[None], v[None], factor * (dim / 2) ** 0.5)
    tokens, centre = np.asarray(X), np.sqrt(dim / 2) * np.asarray(k)
    laws = (
        stats.multivariate_normal(centre, gamma**2 * np.eye(dim)),  # type: ignore[arg-type]
        stats.multivariate_normal(np.zeros(dim)),)
    likelihood = laws[0].pdf(tokens) / laws[1].pdf(tokens)
    weights = likelihood / likelihood.sum(axis=1, keepdims=True)
    bayes = np.sum(weights * (tokens @ np.asarray(v)), axis=1)
    return xarray.Dataset({"bayes": ("sample", bayes), "softmax": ("sample", np.asarray(layer(X)))})


SEVERAL = (
    (20, 10, 0.5, 0.7, 2), (40, 10, 0.6, 0.9, 5), (10, 6, 1.0, 0.71, 3), (80, 20, 0.8, 0.71, 2))


@partial(jax.jit, static_argnames="samples")
def _errors_at_truth(key: Any, task: Search, lam: Any, samples: int) -> Any:
    X, y, _ = task.sample(key, samples)
    k, v = task.truth
    return (SoftmaxAttention(k[None], v[None], lam)(X) - y) ** 2


@experiment("softmax-location.several-simulated")
def several_simulated(
    key: Any, *, cases: tuple[tuple[float, int, float, float, int], ...] = SEVERAL,
    samples: int = 25_600, replicates: int = 32,
) -> xarray.Dataset:
    """Risk at the truth when several tokens share the target. The first case is drawn from the task
    itself, the others along k* and v* alone."""
    random = generator(key)
    (dim, length, lam, gamma, informative), *rest = cases
    task = Search(int(dim), length, gamma, informative=informative)
    errors = [np.asarray(_errors_at_truth(key, task, lam, samples))]
    for dim, length, lam, gamma, informative in rest:
        z, u = random.standard_normal((2, samples, length))
        z[:, :informative] = gamma * z[:, :informative] + np.sqrt(dim / 2)
        u[:, :informative] *= gamma
        target = u[:, :informative].mean(axis=1)
        errors.append((np.sum(_softmax(lam * z) * u, axis=1) - target) ** 2)
    columns = [np.mean(one.reshape(replicates, -1), axis=1) for one in errors]
    return xarray.Dataset({"risk": (("replicate", "case"), np.stack(columns, -1))})


@jax.jit
def _sample_gradient(key: Any, k: Any, v: Any, lam: Any, task: Search) -> Any:
    """Gradient by (k, v) of the mean squared error of one sample, by automatic differentiation."""
    sample = task.sample(key, 500)

    def error(pair: tuple[Any, Any]) -> Any:
        layer = SoftmaxAttention(pair[0][None], pair[1][None], lam)
        return jnp.mean((layer(sample.X) - sample.y) ** 2)

    return jax.grad(error)((k, v))


@experiment("softmax-location.sample-gradient", scales={"standard": {"replicates": 2000}})
def sample_gradient(
    key: Any, *, dim: int = 8, length: int = 6, inverse_temperature: float = 1.2,
    gamma: float = 0.8, replicates: int = 64, turned: float = 0.0,
) -> xarray.Dataset:
    """Gradients of the empirical risk in all dimensions, along the tangent of both spheres, on an
    orthonormal basis: (2, dim) numbers a replicate, flat. k and v lie in four coordinates; the
    gradients may be taken elsewhere: `turned` is added to each of the others, taken from v."""
    k, v = (np.pad(vector, (0, dim - 4)) for vector in _leaning(37))
    turn = turned * (np.arange(dim) >= 4)
    at_k, at_v = (x / np.linalg.norm(x) for x in (k + turn, v - turn))
    task, rows = Search(dim, length, gamma), []
    for one in jax.random.split(key, replicates):
        by_k, by_v = map(np.asarray, _sample_gradient(one, at_k, at_v, inverse_temperature, task))
        rows.append(np.concatenate([by_k - (by_k @ at_k) * at_k, by_v - (by_v @ at_v) * at_v]))
    return xarray.Dataset({
        "gradient": (("replicate", "entry"), np.stack(rows)), "k": ("coordinate", k),
        "v": ("coordinate", v)})
