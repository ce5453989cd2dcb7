"""The task and the layer as they are defined: moments of the data, variants of the layer by plain
loops, the spread of random starts, screening, the error of a selector, half-normal integrals."""

import math
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy.integrate import quad

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.dynamics import reduced_gradient as reduced
from saccade.studies.group_sparse.experiments.common import along, each_key
from saccade.studies.group_sparse.experiments.descent import DEEP, VARIANTS
from saccade.studies.group_sparse.models import Architecture, encoding
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Vector = tuple[float, ...]
LAYERS = VARIANTS | DEEP
MASKED = ("paper", "with both")
LAYER_PARTS = (
    *LAYERS, *(f"{name}, masked group" for name in MASKED), "loss", "attention, masked group",
    "attention of the last of two layers")


@partial(jax.jit, static_argnames=("samples",))
def _moments(keys: Any, task: GroupSparseTask, along_: Any, across: Any, samples: int) -> Any:
    """Of each key's sample: variance of a coordinate and its covariance between groups, E[y <., x>]
    along a direction (the deciding group, the second, another) and across it."""

    def one(key: Any) -> Any:
        X, y, _ = task.sample(key, samples)
        signals, rest = X @ along_, X[:, 2] @ across
        pulls = [jnp.mean(y * signals[:, group]) for group in (2, 4, 0)]
        return jnp.stack([
            jnp.mean(X[:, 0, 0] ** 2), jnp.mean(X[:, 0, 0] * X[:, 1, 0]), *pulls,
            jnp.mean(y * rest)])

    return jax.lax.map(one, keys)


@partial(jax.jit, static_argnames=("samples",))
def _of_windows(keys: Any, task: GroupSparseTask, samples: int) -> Any:
    """Of each key's sample: the mean product of the last variable of a group with the first of the
    next, and the pull y x on the last variable of the group before the deciding third."""

    def one(key: Any) -> Any:
        X, y, _ = task.sample(key, samples)
        return jnp.stack([jnp.mean(X[:, :-1, -1] * X[:, 1:, 0]), jnp.mean(y * X[:, 1, -1])])

    return jax.lax.map(one, keys)


@experiment("group-sparse.task-moments")
def task_moments(
    key: Any, *, scale: float = 1.7, direction: Vector = (1.0, 2.0, -2.0),
    looked: Vector = (1.0, 2.0, -2.0), margin: float = 0.4, correlation: float = 0.3,
    split_weight: float = -0.5, overlap: int = 1, samples: int = 10_000, replicates: int = 32,
) -> xarray.Dataset:
    """Moments of the task with five groups of three variables, of which the third decides and the
    fifth helps, along the direction `looked` and across it; and of one whose third group alone
    decides and whose neighbours share `overlap` variables."""
    task = group_sparse_task(
        5, 3, scale, 2, direction, margin, correlation, split=4, split_weight=split_weight)
    unit = np.array(looked) / np.linalg.norm(looked)
    across = np.cross(unit, [0.0, 0.0, 1.0])
    moments = _moments(
        jax.random.split(key, replicates), task, unit, across / np.linalg.norm(across), samples)
    windows = group_sparse_task(5, 3, scale, 2, direction, margin, overlap=overlap)
    shared = _of_windows(jax.random.split(jax.random.fold_in(key, 1), replicates), windows, samples)
    return xarray.Dataset(
        along(("replicate", "moment"), moment=np.concatenate([moments, shared], 1)))


@experiment("group-sparse.task-marks")
def task_marks(
    key: Any, *, weights: tuple[float, ...] = (0.6, -0.4), relevant: int = 2, samples: int = 5
) -> xarray.Dataset:
    """The share of samples in which each of five groups is marked, for a task whose group
    `relevant` alone decides, one with each of the split `weights` on the fifth, and one whose
    groups overlap."""
    tasks = [
        group_sparse_task(5, 2, relevant=relevant),
        *[group_sparse_task(5, 2, relevant=relevant, split=4, split_weight=w) for w in weights],
        group_sparse_task(5, 2, relevant=relevant, overlap=1)]
    marks = [np.asarray(task.sample(key, samples).where).mean(axis=0) for task in tasks]
    return xarray.Dataset(along(("task", "group"), marked=marks))


def _normalised(row: np.ndarray) -> np.ndarray:
    centred = row - row.mean()
    return centred / math.sqrt((centred**2).mean() + 1e-5)


def _plain_shares(rows: np.ndarray, W: np.ndarray, over_keys: bool) -> np.ndarray:
    """Attention on each key of each query."""
    scores = np.array([[key @ W @ query for query in rows] for key in rows])
    return np.exp(scores) / np.exp(scores).sum(axis=0 if over_keys else 1, keepdims=not over_keys)


def _plain_layer(rows: np.ndarray, W: np.ndarray, over_keys: bool) -> np.ndarray:
    """What each query collects, key by key."""
    shares = _plain_shares(rows, W, over_keys)
    return np.array(
        [sum(shares[i, j] * rows[i] for i in range(len(rows))) for j in range(len(rows))])


def _plain_rows(
    X: np.ndarray, matrix: np.ndarray, parameters: Any, shape: Architecture, over_keys: bool
) -> list[np.ndarray]:
    """The rows that each layer attends to, and last what the last layer gives, by loops over the
    definition."""
    state = np.array([np.append(x, p) for x, p in zip(X, matrix.T, strict=True)])
    attended = []
    for W in parameters.attention:
        rows = np.array([_normalised(row) for row in state]) if shape.layer_norm else state
        state = _plain_layer(rows, W, over_keys) + (state if shape.residual else 0)
        attended.append(rows)
    return [*attended, state]


def _plain(
    X: np.ndarray, matrix: np.ndarray, parameters: Any, shape: Architecture, over_keys: bool
) -> float:
    """f of one input."""
    state = _plain_rows(X, matrix, parameters, shape, over_keys)[-1]
    if shape.hidden:
        state = np.array([np.maximum(parameters.hidden @ row, 0) for row in state])
    return float(sum(row @ parameters.value for row in state))


@experiment("group-sparse.layer-definitions")
def layer_definitions(
    key: Any, *, groups: int = 4, group_dim: int = 3, samples: int = 3,
    over: Literal["keys", "queries"] = "keys",
) -> xarray.Dataset:
    """f of every variant of the layer at random weights, by the model and by plain loops (with the
    softmax `over` keys or queries); two of them with a group masked, and a mean loss."""
    data_key, weight_key = each_key(key, 2)
    task, matrix = group_sparse_task(groups, group_dim), encoding("sine", groups)
    drawn: list[Any] = [np.asarray(part) for part in task.sample(data_key, samples)[:2]]
    X, y = drawn
    everything, masked = np.ones(groups, bool), np.arange(groups) != 1
    layers = {
        name: models.xavier(weight_key, group_dim, matrix, shape) for name, shape in LAYERS.items()}

    def by_hand(layer: models.Transformer, kept: np.ndarray) -> np.ndarray:
        numbers, codes = jax.tree.map(np.asarray, layer.parameters), np.asarray(matrix)[:, kept]
        return np.array(
            [_plain(x[kept], codes, numbers, layer.architecture, over == "keys") for x in X])

    def by_model(layer: models.Transformer, kept: np.ndarray) -> np.ndarray:
        mask: Any = np.broadcast_to(kept, X.shape[:2])
        return np.asarray(layer(X, mask))

    both = []
    for road in (by_model, by_hand):
        outputs = [road(layer, everything) for layer in layers.values()]
        both.append(
            [*map(np.mean, outputs), *[road(layers[name], masked).mean() for name in MASKED]])
    paper, codes = layers["paper"], np.asarray(matrix).T
    hand = np.log1p(np.exp(-y * by_hand(paper, everything))).mean()
    W = np.asarray(paper.parameters.attention[0])
    looks = [_plain_shares(np.hstack([x, codes])[masked], W, over == "keys")[0].mean() for x in X]
    mask: Any = np.broadcast_to(masked, X.shape[:2])
    two = layers["two layers"]
    numbers = jax.tree.map(np.asarray, two.parameters)
    last = [
        _plain_shares(rows[-2], numbers.attention[-1], over == "keys")[0].mean()
        for rows in (_plain_rows(x, codes.T, numbers, two.architecture, over == "keys") for x in X)]
    rows = [
        [
            *both[0], float(paper.loss(X, y)), float(paper.attention(X, mask)[:, 0].mean()),
            float(two.attention(X)[:, 0].mean())],
        [*both[1], hand, np.mean(looks), np.mean(last)]]
    return xarray.Dataset(along("what", model=rows[0], plain=rows[1]), {"what": list(LAYER_PARTS)})


@partial(jax.jit, static_argnames=("draws", "shape"))
def _spreads(keys: Any, matrix: Any, factor: Any, draws: int, shape: Architecture) -> Any:
    """Mean squares of W, v and U of Xavier's start, and of v and U of the zero start."""

    def one(key: Any) -> Any:
        drawn = models.xavier(key, 2, matrix, shape, factor).parameters
        zero = models.at_zero(2, matrix, shape, key).parameters
        parts = (*drawn, zero.value, zero.hidden) if shape.hidden else drawn[:2]
        return jnp.stack([jnp.mean(part**2) for part in parts])

    return jax.lax.map(lambda key: jax.vmap(one)(jax.random.split(key, draws)).mean(axis=0), keys)


@experiment("group-sparse.starts")
def starts(
    key: Any, *, factor: float = 1.5, draws: int = 200, replicates: int = 32
) -> xarray.Dataset:
    """Mean squares of the entries of random starts: two layers with an MLP of four, then the
    paper's layer; d = 2 and three groups."""
    keys, matrix = jax.random.split(key, replicates), encoding("sine", 3)
    deep, plain = (
        _spreads(keys, matrix, factor, draws, shape)
        for shape in (Architecture(layers=2, residual=True, hidden=4), Architecture()))
    return xarray.Dataset(along(("replicate", "weights"), square=np.concatenate([deep, plain], 1)))


@experiment("group-sparse.encodings")
def encodings(
    key: Any, *, groups: int = 5, norm_squared: float = 1.7, dim: int = 3, draws: int = 4000,
    normalised: bool = True, overlap: float = 0.0, unnamed: int | None = None,
) -> xarray.Dataset:
    """Of P^T P the first diagonal entry and the largest other one: for the sine encoding (its own
    length and of another), the one-hot, the equal and the mean of random ones, and the mean square
    of a code; `normalised` False divides by the number of rows (codes: by two), `overlap` adds that
    share of the first code to the second. `rows` are those of a random encoding of no named
    dimension (of `unnamed` dimensions, if given)."""
    sizes = {
        "sine": None, "sine, other length": norm_squared, "one-hot": norm_squared,
        "equal": norm_squared}
    grams = {}
    for name, size in sizes.items():
        P = np.array(encoding(name.split(",")[0], groups, None, size))
        P[:, 1] += overlap * P[:, 0]
        grams[name] = P.T @ P / (1 if normalised else len(P))
    keys = jax.random.split(key, draws)
    P = np.array(
        jax.jit(jax.vmap(lambda one: encoding("random", groups, dim, norm_squared, one)))(keys))
    P[:, :, 1] += overlap * P[:, :, 0]
    grams["random"] = (P.swapaxes(1, 2) @ P).mean(axis=0) / (1 if normalised else dim)
    rows = [[gram[0, 0], np.abs(gram - np.diag(np.diag(gram))).max()] for gram in grams.values()]
    sine = encoding("sine", groups, None, norm_squared) * (1 if normalised else 0.5)
    return xarray.Dataset(
        along(("kind", "entry"), gram=rows)
        | {
            "mean_square": float(models.mean_square(sine)),
            "rows": float(encoding("random", groups, unnamed, key=key).shape[0])},
        {"kind": list(grams)})


@experiment("group-sparse.screening")
def screening(
    key: Any, *, groups: int = 5, group_dim: int = 3, samples: int = 40,
    loss: Literal["logistic", "square"] = "logistic",
) -> xarray.Dataset:
    """The penalty above which the group lasso is empty, by screening and as the largest gradient of
    the mean loss at zero (automatic); and the group it comes from."""
    X, y, _ = group_sparse_task(groups, group_dim, relevant=1).sample(key, samples)

    def mean_loss(weights: Any) -> Any:
        margins = y * jnp.einsum("ngd,gd->n", X, weights)
        return jnp.mean(jax.nn.softplus(-margins) if loss == "logistic" else (1 - margins) ** 2 / 2)

    sizes = np.linalg.norm(np.asarray(jax.grad(mean_loss)(jnp.zeros((groups, group_dim)))), axis=1)
    found = models.screen(X, y)
    return xarray.Dataset({"screened": float(found.lambda_max), "gradient": float(sizes.max())})


@partial(jax.jit, static_argnames=("samples",))
def _errors(keys: Any, task: GroupSparseTask, layer: Any, samples: int) -> Any:
    def one(key: Any) -> Any:
        drawn = task.sample(key, samples)
        return jnp.mean(drawn.y * layer(drawn.X) <= 0, dtype=float)

    return jax.lax.map(one, keys)


@experiment("group-sparse.selector-error")
def selector_error(
    key: Any, *, shares: tuple[float, ...] = (0.3, 0.6, 0.9), groups: int = 5, scale: float = 1.7,
    correlation: float = 0.0, samples: int = 4000, replicates: int = 32,
) -> xarray.Dataset:
    """The error on fresh samples of a layer that puts a share of its attention on the relevant
    group, and reads along v*."""
    task = group_sparse_task(groups, 1, scale, correlation=correlation)
    errors = []
    for number, share in enumerate(shares):
        layer = reduced.selector(share, task, encoding("sine", groups))
        reads = layer.parameters._replace(value=jnp.eye(1, 1 + groups)[0])
        keys = jax.random.split(jax.random.fold_in(key, number), replicates)
        errors.append(_errors(keys, task, layer.at(reads), samples))
    return xarray.Dataset(along(("replicate", "share"), error=np.stack(errors, 1)))


def _densities(x: float) -> dict[str, float]:
    return {
        "normal": math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi),
        "laplace": math.exp(-math.sqrt(2) * abs(x)) / math.sqrt(2)}


@experiment("group-sparse.half-normal")
def half_normal(
    key: Any, *, betas: tuple[float, ...] = (-3.0, 0.5, 20.0),
    law: Literal["normal", "laplace"] = "normal",
) -> xarray.Dataset:
    """E[|x| sigmoid(-beta |x|)], E[log(1 + exp(-beta |x|))] and E[sigmoid'(beta |x|)] by adaptive
    quadrature, for x standard normal (or Laplace, of variance one)."""

    def mean(function: Any) -> float:
        return sum(
            2
            * quad(
                lambda x: _densities(x)[law] * function(x), *ends, epsabs=1e-15, epsrel=1e-13,
                limit=200)[0]
            for ends in ((0, 0.1), (0.1, 1), (1, 12)))

    def both(beta: float) -> list[float]:
        def sigmoid(x: float) -> float:
            return 1 / (1 + math.exp(-x))

        return [
            mean(lambda x: x * sigmoid(-beta * x)),
            mean(lambda x: math.log1p(math.exp(-abs(beta) * x)) + max(-beta * x, 0.0)),
            mean(lambda x: sigmoid(beta * x) * sigmoid(-beta * x))]

    return xarray.Dataset(
        along(("beta", "what"), value=[both(beta) for beta in betas]),
        {"beta": list(betas), "what": ["slope", "loss", "curvature"]})
