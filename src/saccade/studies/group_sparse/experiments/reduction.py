"""The layer itself at states of the exact maps: its gradient on a symmetric sample, the second step
on raw data, and its curvature along the direction that batches can leave by."""

from functools import partial
from itertools import permutations, product
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.dynamics import designs, full
from saccade.studies.group_sparse.dynamics import reduced_gradient as reduced
from saccade.studies.group_sparse.dynamics.position_map import position_trajectory
from saccade.studies.group_sparse.experiments.common import along, each_key
from saccade.studies.group_sparse.models import Parameters, Transformer, encoding
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Kind = Literal["sine", "one-hot", "random"]
BLOCKS = ("v2", "W12", "W21", "W11", "W22")


def symmetric_sample(X: np.ndarray, relevant: int) -> np.ndarray:
    """Every sample with its images under X -> -X, signed permutations of the coordinates but the
    first, and permutations of the other groups: a finite sample on which the population's
    symmetries hold exactly (v* is the first coordinate).
    """
    _, groups, dim = X.shape
    others = [group for group in range(groups) if group != relevant]
    images = []
    for order in permutations(others):
        places = np.arange(groups)
        places[others] = order
        for coordinates in permutations(range(1, dim)):
            for signs in product((1.0, -1.0), repeat=dim - 1):
                images.append(np.array([1.0, *signs]) * X[:, places][:, :, [0, *coordinates]])
    whole = np.concatenate(images)
    return np.concatenate([whole, -whole])


def _outside(gradient: Parameters, inside: Parameters, dim: int) -> np.ndarray:
    """The gradient's share outside the invariant subspace, block by block."""
    W, value = (np.asarray(part) for part in gradient[:2])
    rest = W[0] - np.asarray(inside.attention)[0]
    blocks = np.split(rest, [dim])
    (features, upper), (lower, positions) = (np.split(rows, [dim], axis=1) for rows in blocks)
    parts = (value - np.asarray(inside.value))[dim:], upper, lower, features, positions
    return np.array([np.linalg.norm(part) for part in parts]) / np.hypot(
        np.linalg.norm(W), np.linalg.norm(value))


@jax.jit
def _layer_gradient(point: Any, task: GroupSparseTask, matrix: Any, X: Any) -> Any:
    """The full layer's gradient at a point of the invariant subspace, what of it is inside, as
    coordinates and as weights, and the loss there."""
    layer, labels = (Transformer(reduced.parameters_of(point, task, matrix), matrix), task.label(X))
    gradient = full.gradient(layer, X, labels)
    projected = reduced.coordinates_of(gradient, task, matrix)
    inside = reduced.parameters_of(projected, task, matrix)
    return gradient, projected, inside, layer.loss(X, labels)


@experiment("group-sparse.symmetric-gradient")
def symmetric_gradient(
    key: Any, *, groups: int = 4, group_dim: int = 3, samples: int = 20, encodings: Kind = "sine",
    relevant: int = 3, symmetric: bool = True,
) -> xarray.Dataset:
    """The full layer's gradient and loss at a random point of the invariant subspace on a symmetric
    sample, and the reduced ones there (`symmetric` False: on plain draws, as many)."""
    data_key, point_key, encoding_key = each_key(key, 3)
    task = group_sparse_task(groups, group_dim, relevant=relevant)
    matrix = encoding(encodings, groups, key=encoding_key)
    sizes = np.array([1.0, 0.3, 0.3, 1.0, 1.0, 1.0, 1.0, 1.0])
    point = sizes * np.abs(jax.random.normal(point_key, (8,)))
    X = symmetric_sample(np.asarray(task.sample(data_key, samples).X), relevant)
    X = jnp.asarray(X if symmetric else task.sample(data_key, len(X)).X)
    gradient, projected, inside, loss = _layer_gradient(point, task, matrix, X)
    # Sines have the size that is taken where none is told.
    size = None if encodings == "sine" else float(np.sum(np.square(matrix)) / groups)
    answer, speed = reduced.reduced_gradient(X, task.direction, relevant, point, size)
    return xarray.Dataset(
        along("block", outside=_outside(gradient, inside, group_dim))
        | along(
            "coordinate", projected=projected,
            reduced=np.asarray(speed) * np.asarray(answer.gradient))
        | along("road", loss=[loss, answer.loss]),
        {"block": list(BLOCKS), "road": ["layer", "reduced"]})


@partial(jax.jit, static_argnames=("samples",))
def _gradients(keys: Any, task: GroupSparseTask, layer: Transformer, samples: int) -> Any:
    """The gradient on fresh samples for each key, in the reduced coordinates."""

    def one(key: Any) -> Any:
        drawn = task.sample(key, samples)
        return reduced.coordinates_of(full.gradient(layer, drawn.X, drawn.y), task, layer.matrix)

    return jax.lax.map(one, keys)


def _with_alpha(layer: Transformer, alpha: float) -> Transformer:
    """The same layer with v = alpha [v*; 0], v* the first coordinate."""
    value = np.array(layer.parameters.value)
    value[0] = alpha
    return layer.at(layer.parameters._replace(value=jnp.asarray(value)))


@experiment(
    "group-sparse.second-step",
    scales={"standard": {"samples": 20_000, "cases": ((8, 2.0), (16, 2.0), (3, 0.7))}})
def second_step(
    key: Any, *, cases: tuple[tuple[int, float], ...] = ((8, 2.0), (3, 2.0)), group_dim: int = 2,
    samples: int = 4000, replicates: int = 32, encodings: Kind = "sine",
    norm_squared: float | None = None, scale: float = 1.3, correlation: float = 0.0,
) -> xarray.Dataset:
    """alpha, A, a and b after the second step, its gradient taken on raw samples at the state after
    the first (alpha as measured)."""
    states = []
    for number, (groups, step_size) in enumerate(cases):
        # After one step W = 0 and v is a multiple of [v*; 0]; E|x| is a one-line integral, taken
        # from its definition.
        first = step_size * 0.5 * scale * np.sqrt(2 / np.pi)
        matrix = encoding(encodings, groups, None, norm_squared)
        layer = _with_alpha(models.at_zero(group_dim, matrix), first)
        keys = jax.random.split(jax.random.fold_in(key, number), replicates)
        task = group_sparse_task(groups, group_dim, scale, correlation=correlation)
        gradients = _gradients(keys, task, layer, samples)
        moved = -step_size * np.asarray(gradients).T
        states.append(np.stack([first + moved[0], moved[3] - moved[5], moved[1], moved[2]], -1))
    return xarray.Dataset(
        along(("replicate", "case", "name"), state=np.stack(states, 1)),
        {"name": ["alpha", "gap", "a", "b"]})


@partial(jax.jit, static_argnames=("samples",))
def _curvatures(keys: Any, task: GroupSparseTask, layer: Transformer, samples: int) -> Any:
    """u^T H u on fresh samples for each key, H the second derivative of the loss (automatic) and u
    the unit vector along [0; P q]."""

    def one(key: Any) -> Any:
        drawn = task.sample(key, samples)
        shares = layer.maps(drawn.X[:1])[0, 0].mean(axis=1)
        direction = jnp.concatenate([jnp.zeros(task.dim), layer.matrix @ shares])
        direction = direction / jnp.linalg.norm(direction)

        def loss(value: Any) -> Any:
            return layer.at(layer.parameters._replace(value=value)).loss(drawn.X, drawn.y)

        return direction @ jax.jvp(jax.grad(loss), (layer.parameters.value,), (direction,))[1]

    return jax.lax.map(one, keys)


@experiment("group-sparse.transverse-curvature", scales={"standard": {"samples": 20_000}})
def transverse_curvature(
    key: Any, *,
    cases: tuple[tuple[int, float, int], ...] = ((8, 0.1, 2), (8, 0.1, 68), (8, 0.1, 600)),
    group_dim: int = 2, samples: int = 2000, replicates: int = 32, scale: float = 0.7,
) -> xarray.Dataset:
    """Curvature along v2 = P q by automatic differentiation of the layer on raw samples, at the
    state of the position-only map after `steps` steps, for (groups, step size, steps) in
    `cases`."""
    curvatures, states = [], []
    for number, (groups, step_size, steps) in enumerate(cases):
        task, run = (
            group_sparse_task(groups, group_dim, scale),
            position_trajectory(groups, step_size, steps, scale=scale))
        alpha, gap, attention = float(run.alpha[0]), float(run.gap[0]), float(run.attention[0])
        layer = _with_alpha(reduced.selector(attention, task, encoding("sine", groups)), alpha)
        keys = jax.random.split(jax.random.fold_in(key, number), replicates)
        curvatures.append(_curvatures(keys, task, layer, samples))
        states.append((alpha, gap, attention))
    names = ("alpha", "gap", "attention")
    return xarray.Dataset(
        along(("replicate", "case"), curvature=np.stack(curvatures, 1))
        | along("case", **dict(zip(names, np.array(states).T, strict=True))),
        along("case", groups=[case[0] for case in cases]))


@partial(jax.jit, static_argnames=("groups", "group_dim", "designs_a_replicate"))
def _controls(
    keys: Any, alpha: Any, gap: Any, scale: Any, skew: Any, groups: int, group_dim: int,
    designs_a_replicate: int,
) -> Any:
    """Loss and gradient of the position-only layer on designs of the six-number map, and the mean
    of |r|^2, r the part of a group across v*, averaged."""

    def one(key: Any) -> Any:
        signal_key, gram_key = jax.random.split(key)
        signals, weights = designs.draw_signals(signal_key, groups, scale, 1)
        gram = designs.draw_grams(gram_key, groups, group_dim, scale, 1, 1)[0]
        gram = gram.at[0].add(skew)
        loss, slope = designs.sampled_control(alpha, gap, designs.Design(signals, gram, weights))
        size = jnp.mean(jnp.einsum("iian->ian", gram))
        return jnp.concatenate([jnp.stack([loss]), slope, jnp.stack([size])])

    return jax.lax.map(
        lambda key: jax.vmap(one)(jax.random.split(key, designs_a_replicate)).mean(axis=0), keys)


@experiment("group-sparse.control-variate")
def control_variate(
    key: Any, *, groups: int = 4, group_dim: int = 3, alpha: float = 0.4, gap: float = 1.0,
    scale: float = 1.3, alpha_factor: float = 1.0, gap_shift: float = 0.0, skew: float = 0.0,
    replicates: int = 32,
) -> xarray.Dataset:
    """Loss and gradient of the position-only layer on the designs of the six-number map, and their
    expectations (at alpha times `alpha_factor`, gap plus `gap_shift`); `skew` is added to the Gram
    matrices' row of the relevant group."""
    sampled = _controls(
        jax.random.split(key, replicates), alpha, gap, scale, skew, groups, group_dim, 16)
    loss, slope = designs.expected_control(alpha_factor * alpha, gap + gap_shift, groups, scale)
    return xarray.Dataset(
        along(("replicate", "name"), sampled=sampled)
        | along("name", expected=[float(loss), *np.asarray(slope), (group_dim - 1) * scale**2]))


CONTROLLED = ("loss", "alpha", "a", "ss", "so", "os", "dd", "oo")


@experiment("group-sparse.control-by-quadrature")
def control_by_quadrature(
    key: Any, *, alpha: float = 0.4, gap: float = 1.7, scale: float = 1.3
) -> xarray.Dataset:
    """Loss and gradient of the position-only layer with four groups, by a product rule over all
    signals: G_ij = -p alpha S_i (u_i - w) for every score, summed over the scores of an orbit."""
    half, weights = np.polynomial.legendre.leggauss(32)
    half = 4.5 * (half + 1)
    normal, density = np.polynomial.hermite_e.hermegauss(18)
    signals = scale * np.stack(np.meshgrid(half, normal, normal, normal, indexing="ij"))
    mass = np.einsum("i,j,k,l", weights * np.exp(-(half**2) / 2), density, density, density)
    mass, others = mass / mass.sum(), np.arange(4) > 0
    shares = np.where(others, 1.0, np.exp(gap))
    shares = shares / shares.sum()
    w = np.einsum("i,iabcd->abcd", shares, signals)
    p = mass / (1 + np.exp(4 * alpha * w))
    G = [-alpha * S * p * (u - w) for S, u in zip(shares, signals, strict=True)]
    pull, sums = np.array([part.sum() for part in G]), signals.sum(0)
    same, both = np.eye(4, dtype=bool), np.outer(others, others)
    orbits = [~np.logical_or.outer(others, others), np.outer(~others, others)]
    orbits += [np.outer(others, ~others), both & same, both & ~same]
    numbers = [
        (mass * np.logaddexp(0.0, -4 * alpha * w)).sum(), -(p * 4 * w).sum(),
        sum((part * u * sums).sum() for part, u in zip(G, signals, strict=True)),
        *[(pull[:, None] * orbit).sum() for orbit in orbits]]
    return xarray.Dataset(along("name", number=numbers), {"name": list(CONTROLLED)})
