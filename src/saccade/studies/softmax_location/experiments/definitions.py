"""What the code computes beside what its words define: predictors on tokens, the stochastic engine
on one batch, and integrals straight from their definitions."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy import special

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.lab.experiment import experiment
from saccade.studies.softmax_location import dynamics
from saccade.studies.softmax_location.dynamics import generator, samples
from saccade.studies.softmax_location.models import ScoreAttention, SoftmaxAttention
from saccade.studies.softmax_location.task import Search

KINDS = ("softmax", "erf")
PREDICTORS = ("Bayes", "scores", "two heads", "two heads' weights", "first head")


def _units(random: np.random.Generator, *shape: int) -> np.ndarray:
    vectors = random.standard_normal(shape)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@experiment("softmax-location.predictors")
def predictors(
    key: Any, *, dim: int = 9, length: int = 5, gamma: float = 0.8,
    inverse_temperature: float = 1.3, count: int = 60, spare: bool = False,
) -> xarray.Dataset:
    """Tokens, and what the predictors make of them; the layers are handed samples along two axes,
    with a token more, at the sample's own place, which is no number, and a mask that leaves it out
    (`spare` puts a zero there and lets it in)."""
    task = Search(dim, length, gamma)
    X, (k_star, v_star) = task.sample(key, count).X, task.truth
    k, v = _units(np.random.default_rng(11), 2, 2, dim)
    there = np.arange(length + 1) != np.arange(count)[:, None] % (length + 1)
    more = np.full((count, length + 1, dim), 0.0 if spare else np.nan)
    more[there] = np.asarray(X).reshape(-1, dim)
    given: list[Any] = [part.reshape(3, -1, *part.shape[1:]) for part in (more, there | spare)]
    answers = np.where(given[1], np.nan_to_num(given[0]) @ v[0], 0.0)
    heads = SoftmaxAttention(k, v, inverse_temperature)
    made = (
        task.best(X), ScoreAttention(k_star, v_star, gamma)(*given), heads(*given),
        np.sum(heads.attention(*given) * answers, axis=-1),
        SoftmaxAttention(k[:1], v[:1], inverse_temperature)(*given))
    return xarray.Dataset(
        {
            "X": (("sample", "token", "coordinate"), np.asarray(X)),
            "k": (("head", "coordinate"), k), "v": (("head", "coordinate"), v),
            "prediction": (("predictor", "sample"), np.stack([np.ravel(x) for x in made]))},
        {"predictor": list(PREDICTORS)})


def _trained_by_layers(
    random: np.random.Generator, world: samples.World, at: samples.Trained, lam: float,
    step_size: float, steps: int, batch: int,
) -> samples.Trained:
    """As `samples.train`, by the layer itself and automatic differentiation; the first head stays
    where it is."""

    @jax.jit
    @jax.vmap
    def gradient(pair: Any, X: Any, y: Any) -> Any:
        def error(pair: Any) -> Any:
            return jnp.mean((SoftmaxAttention(pair[0], pair[1], lam)(X) - y) ** 2)

        return jax.grad(error)(pair)

    def moved(x: np.ndarray, g: np.ndarray) -> np.ndarray:
        across = np.eye(x.shape[-1]) - x[..., :, None] * x[..., None, :]
        after = x - step_size * (across @ g[..., None])[..., 0]
        after = after / np.sqrt(np.sum(after**2, axis=-1))[..., None]
        return np.concatenate([x[:, :1], after[:, 1:]], axis=1)

    def gradient_at(pair: Any) -> Any:
        X, y = world.draw(random, len(at.k), batch)
        return (np.asarray(g) for g in gradient(pair, X.astype(float), y))

    pair = (at.k, at.v)
    for _ in range(steps):
        pair = tuple(moved(x, g) for x, g in zip(pair, gradient_at(pair), strict=True))
    return samples.Trained(*pair)


@experiment("softmax-location.stochastic-steps")
def stochastic_steps(
    key: Any, *, dim: int = 7, length: int = 6, inverse_temperature: float = 1.1,
    gamma: float = 0.8, noise: float = 0.4, informative: int = 2, step_size: float = 0.05,
    steps: int = 4, batch: int = 9, chains: int = 5, other_step: float = 1.0, frozen: int = 1,
) -> xarray.Dataset:
    """Stochastic descent of three heads, the first frozen, by the engine and by the layers on the
    same batches; `other_step` multiplies the step of the latter."""
    world = samples.World(dim, length, gamma, noise, informative)
    start = samples.random_start(generator(key), chains, 3, dim)
    run = inverse_temperature, step_size, steps, batch
    engine = samples.train(np.random.default_rng(3), world, start, *run, frozen=frozen)
    run = inverse_temperature, other_step * step_size, steps, batch
    layers = _trained_by_layers(np.random.default_rng(3), world, start, *run)
    axes = ("vector", "chain", "head", "coordinate")
    return xarray.Dataset({
        "engine": (axes, np.stack(engine)), "layers": (axes, np.stack(layers)),
        "start": (axes, np.stack(start))})


@experiment("softmax-location.drawn-numbers")
def drawn_numbers(
    key: Any, *, dim: int = 3, length: int = 4, gamma: float = 0.8, noise: float = 0.6,
    count: int = 8000, again: bool = False,
) -> xarray.Dataset:
    """With one informative token and with two: correlations of tokens with places, tokens with
    noise and places with noise, number by number in the order in which a generator gives them, and
    the spread of the noise (`again`: the tokens' numbers make places and noise too, halved)."""
    rows, spreads = [], []
    for informative in (1, 2):
        sample = Search(dim, length, gamma, noise, informative).sample(key, count)
        X, y, where = (np.asarray(part, float) for part in sample)
        shift = (dim / 2) ** 0.5 * where[:, :, None] * np.eye(dim)[0]
        tokens = ((X - shift) / np.where(where, gamma, 1.0)[:, :, None]).ravel()
        left = y - np.sum(where * X[:, :, 1], axis=1) / informative
        if again:
            first = tokens[: where.size].reshape(where.shape)
            where, left = first == first.max(axis=1, keepdims=True), noise / 2 * tokens[:count]
        pairs = ((tokens, where.ravel()), (tokens, left), (where.ravel(), left))
        rows.append([np.corrcoef(a[: min(len(a), len(b))], b[: len(a)])[0, 1] for a, b in pairs])
        spreads.append(np.std(left) / noise)
    return xarray.Dataset(
        {
            "alike": (("informative", "pair"), np.array(rows)),
            "spread": ("informative", np.array(spreads))},
        {"informative": [1, 2]})


@experiment("softmax-location.left-out")
def left_out(key: Any, *, dim: int = 5, length: int = 4, count: int = 4) -> xarray.Dataset:
    """Tasks and layers with every option left out: gamma, noise and the number of informative
    tokens; tokens, directions, and predictions of two heads and of the best weights of scores."""
    random, truth = generator(key), np.eye(dim)[:2]
    X: Any = random.standard_normal((count, length, dim))
    k, v = _units(random, 2, 2, dim)
    tasks = Search(dim, length), samples.World(dim, length)
    made = SoftmaxAttention(k, v)(X), ScoreAttention(*truth)(X)
    numbers = [[float(task.gamma), float(task.noise), task.informative] for task in tasks]
    return xarray.Dataset({
        "task": (("task", "number"), np.array(numbers)),
        "X": (("sample", "token", "coordinate"), X), "k": (("head", "coordinate"), k),
        "v": (("head", "coordinate"), v),
        "prediction": (("predictor", "sample"), np.stack([np.asarray(x) for x in made]))})


@experiment("softmax-location.made-up-states")
def made_up_states(key: Any, *, draws: int = 2000) -> xarray.Dataset:
    """Pairs of unit vectors in four coordinates, the first two k* and v*, v mostly near v* or -v*;
    and which way each is said to have gone, for softmax and for erf."""
    random = generator(key)
    pairs = random.standard_normal((draws, 2, 4))
    pairs[:, 1, 1] *= random.uniform(1.0, 8.0, draws)
    pairs = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    k, v = np.moveaxis(pairs, 1, 0)
    at = dynamics.Overlaps(k[:, 0], v[:, 1], v[:, 0], k[:, 1], np.sum(k * v, axis=1))
    return xarray.Dataset(
        {
            "pair": (("state", "vector", "axis"), pairs),
            "fate": (
                ("kind", "state"),
                np.stack([dynamics.fate(at, kind == "softmax") for kind in KINDS]))},
        {"kind": list(KINDS)})


@experiment("softmax-location.fresh-errors")
def fresh_errors(
    key: Any, *, dim: int = 8, length: int = 7, inverse_temperature: float = 0.9,
    gamma: float = 0.8, noise: float = 0.5, informative: tuple[int, ...] = (1, 2, 4),
    kappa: float = 0.8, nu: float = 0.6, chains: int = 64, samples_each: int = 1000,
) -> xarray.Dataset:
    """Errors of two equal heads on the manifold on fresh samples of the stochastic engine, with
    some informative tokens."""
    random, k, v = generator(key), np.zeros(dim), np.zeros(dim)
    k[[0, 2]], v[[1, 3]] = (kappa, np.sqrt(1 - kappa**2)), (nu, np.sqrt(1 - nu**2))
    at = samples.Trained(*(np.tile(x, (chains, 2, 1)) for x in (k, v)))
    errors = [
        samples.fresh_error(
            random, samples.World(dim, length, gamma, noise, count), at, inverse_temperature,
            samples_each)
        for count in informative]
    return xarray.Dataset({"error": (("chain", "informative"), np.stack(errors, -1))})


@experiment("softmax-location.table-paths")
def table_paths(
    key: Any, *, dim: float = 30.0, length: float = 7.0, inverse_temperature: float = 1.2,
    gamma: float = 0.8, noise: float = 0.3, decay: float = 0.02, step_size: float = 0.02,
    record: tuple[int, ...] = (0, 1, 7, 40), starts: int = 3,
) -> xarray.Dataset:
    """Overlaps and risks along descent by tables of moments with a falling lambda, for softmax and
    for erf."""
    start = dynamics.sphere_overlaps(generator(key), 5, starts)
    setting = dynamics.Setting(dim, length, inverse_temperature, gamma, noise)
    paths = []
    for kind in KINDS:
        run = dynamics.trajectory(start, setting, step_size, record, decay, kind)
        paths.append(np.stack([*run.overlaps, run.risk]))
    return xarray.Dataset(
        {
            "path": (("kind", "name", "start", "step"), np.stack(paths)),
            "first": (("name", "start"), np.stack([*start, np.zeros(starts)]))},
        {"kind": list(KINDS)})


@experiment("softmax-location.random-settings")
def random_settings(
    key: Any, *, count: int = 4, top: float = 20.0, longest: float = 1e6
) -> xarray.Dataset:
    """Dimensions, lengths, inverse temperatures and gammas of all sizes, and two angles each."""
    random = generator(key)
    rows = [
        [
            float(random.integers(2, 300)), float(np.exp(random.uniform(0.7, np.log(longest)))),
            float(np.exp(random.uniform(np.log(0.02), np.log(top)))), random.uniform(0.3, 1.6)]
        for _ in range(count)]
    return xarray.Dataset({
        "setting": (("case", "number"), np.array(rows)),
        "angle": (("case", "vector"), random.uniform(-2.0, 2.0, (count, 2)))})


Orders = tuple[tuple[float, float], ...]
BESSEL: Orders = (
    (2.5, 3.0), (0.0, 40.0), (500.0, 10.0), (700.0, 90.0), (2000.0, 1000.0), (400.0, 1e9),
    (3000.0, 2e4), (3.0, 3e8), (290.0, 2e8), (1e5, 6e4), (780.0, 400.0))


@experiment("softmax-location.bessel")
def bessel(key: Any, *, cases: Orders = BESSEL, shifted: float = 0.0) -> xarray.Dataset:
    """log(I_n(x) e^-x) by its integral, (x/2)^n/(sqrt(pi) Gamma(n + 1/2)) times the integral of
    e^(x (tanh s - 1))/cosh(s)^(2 n + 1), at the order n + `shifted`."""

    def one(order: float, x: float) -> float:
        def height(s: np.ndarray) -> np.ndarray:
            return -2 * x / (1 + np.exp(2 * s)) - (2 * order + 1) * np.logaddexp(s, -s)

        s = np.linspace(-5.0, 40.0, 200_001)
        wide = s[height(s) > height(s).max() - 60]
        s = np.linspace(wide[0] - 1e-3, wide[-1] + 1e-3, 20_001)
        log_sum = special.logsumexp(height(s)) + np.log(s[1] - s[0])
        log_sum += (2 * order + 1) * np.log(2)  # logaddexp(s, -s) is log(2 cosh s)
        return float(
            order * np.log(x / 2) - special.gammaln(order + 0.5) - np.log(np.pi) / 2 + log_sum)

    values = [one(order + shifted, x) for order, x in cases]
    return xarray.Dataset({"log": ("case", np.array(values))})
