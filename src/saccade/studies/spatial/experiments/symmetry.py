"""Small populations listed image by image: symmetry under descent, gradients, the metric."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy.special import expit

from saccade.arrays import generator, normals
from saccade.lab.experiment import experiment
from saccade.studies.spatial import models
from saccade.studies.spatial.dynamics import descent
from saccade.studies.spatial.dynamics.descent import Layer
from saccade.studies.spatial.models import output, three_value_attention
from saccade.studies.spatial.task import Images, Spatial, all_images, interleaved, localised

PARTITIONS = {
    "interleaved": (0, 1, 2, 0, 1, 2), "halves": (0, 0, 0, 1, 1, 1), "odd one": (0, 1, 0, 2, 2, 1)}
POINT = (0.3, 0.5, 0.4, -0.2)  # alpha, beta, gamma, rho
TIE = 1e-9  # outputs are of order one; sums that cancel leave rounding
QUANTITIES = (
    "loss", "error", "grad_same", "grad_other", "grad_alpha", "spread_same", "spread_other")


def _classes(labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """The entries of A off the diagonal: within sets, and between them."""
    inside = np.asarray(labels)[:, None] == np.asarray(labels)
    return inside & ~np.eye(len(inside), dtype=bool), ~inside


def _error(margins: Any, probability: Any) -> float:
    """P[margin < 0] + P[margin = 0] / 2."""
    return float(probability @ ((margins < -TIE) + 0.5 * (np.abs(margins) <= TIE)))


@partial(jax.jit, static_argnames="degree")
@partial(jax.value_and_grad, argnums=(0, 1), has_aux=True)
def _listed_gradient(
    A: Any, v: Any, images: Images, degree: int, slope: float, temperature: float
) -> Any:
    """The loss over listed images and their margins, with the derivatives of the first."""
    margins = images.y * output(images.signals[..., None], A, v, degree, slope, temperature)
    return images.probability @ jnp.logaddexp(0.0, -margins), margins


@experiment("spatial.listed-population")
def listed_population(
    key: Any, *, spurious_rate: float = 0.4, degree: int = 5, slope: float = 0.01,
    temperature: float = 1.3, bump: float = 0.0,
) -> xarray.Dataset:
    """Loss, error and gradient of all entries of A over every image of three small partitions, by
    automatic differentiation; `bump` is added to one entry of A."""
    alpha, beta, gamma, rho = POINT
    rows = []
    for labels in PARTITIONS.values():
        images = all_images(labels, spurious_rate)
        A = three_value_attention(np.array(labels), beta, gamma, rho)
        A[0, 1] += bump
        (value, margins), (grad_A, grad_v) = _listed_gradient(
            A, np.full(1, alpha), images, degree, slope, temperature)
        groups = [np.asarray(grad_A)[group] for group in _classes(labels)]
        rows.append([
            value, _error(np.asarray(margins), images.probability), *map(np.mean, groups),
            grad_v[0], *map(np.ptp, groups)])
    return xarray.Dataset(
        {"value": (("partition", "quantity"), np.asarray(rows, float))},
        coords={"quantity": list(QUANTITIES)})


@experiment("spatial.asymmetry")
def asymmetry(
    key: Any, *, patches: int = 8, set_size: int = 2, spurious_rate: float = 0.3,
    alpha: float = 0.3, diagonal: float = 0.5, eta_v: float = 0.01, eta_a: float = 20.0,
    perturbation: float = 1e-6, steps: int = 150, replicates: int = 20,
) -> xarray.Dataset:
    """Descent on the whole population in all entries of A from a perturbed three-valued start:
    `growth` of the standard deviation of A within its two classes of entries."""
    labels = interleaved(patches, set_size)
    images = tuple(all_images(labels, spurious_rate))
    start, groups = three_value_attention(labels, diagonal, 0.0, 0.0), _classes(labels)
    rows = []
    for one in jax.random.split(key, replicates):
        A = start + perturbation * sum(groups) * normals(one, start.shape)
        path, _ = descent.entrywise_descent(images, A, alpha, Layer(3, 0.01), eta_v, eta_a, steps)
        spreads = (np.std(np.asarray(path), axis=(1, 2), where=group) for group in groups)
        rows.append(np.hypot(*spreads))
    spread = np.stack(rows)
    return xarray.Dataset({
        "growth": ("replicate", spread[:, -1] / spread[:, 0]),
        "spread": (("replicate", "step"), spread)})


@experiment("spatial.listed-cheat")
def listed_cheat(
    key: Any, *, patches: int = 8, set_size: int = 2, spurious_rate: float = 0.3,
    sharpness: float = 1.0, temperature: float = 1.7, degree: int = 3, slope: float = 0.01,
) -> xarray.Dataset:
    """Error and loss of the layer that reads the next set (v = w*), over every image, listed."""
    labels = interleaved(patches, set_size)
    signals, y, probability = all_images(labels, spurious_rate)
    A = models.cheating_attention(labels, sharpness)
    margins = y * output(signals[..., None], A, np.ones(1), degree, slope, temperature)
    loss = float(probability @ np.logaddexp(0.0, -margins))
    return xarray.Dataset({"error": ((), _error(margins, probability)), "loss": ((), loss)})


def listed_end(
    patches: int, set_size: int, spurious_rate: float, diagonal: float, alpha: float, layer: Layer,
    eta_v: float, eta_a: float, steps: int,
) -> list[float]:
    """alpha, the mean entries of A within sets and between them, loss and error after descent in
    all entries of A over every image, listed."""
    labels = interleaved(patches, set_size)
    signals, y, probability = images = tuple(all_images(labels, spurious_rate))
    start = three_value_attention(labels, diagonal, 0.0, 0.0)
    A, alphas = descent.entrywise_descent(images, start, alpha, layer, eta_v, eta_a, steps)
    last, end = np.asarray(A)[-1], float(np.asarray(alphas)[-1])
    margins = y * np.asarray(output(signals[..., None], last, np.full(1, end), *layer))
    loss = float(probability @ np.logaddexp(0.0, -margins))
    entries = [float(last[group].mean()) for group in _classes(labels)]
    return [end, *entries, loss, _error(margins, probability)]


@experiment("spatial.two-descents")
def two_descents(
    key: Any, *, patches: int = 8, set_size: int = 2, spurious_rate: float = 0.3,
    alpha: float = 0.3, diagonal: float = 0.5, eta_v: float = 0.01, eta_a: float = 20.0,
    steps: int = 40, faster: float = 1.0, listed_rate: float | None = None,
) -> xarray.Dataset:
    """The last state of descent in all entries of A over listed images (of `listed_rate`), and of
    the three-scalar descent, with loss and error there; `faster` multiplies eta_a of the second."""
    layer, rate = Layer(3, 0.01), spurious_rate if listed_rate is None else listed_rate
    entries = listed_end(patches, set_size, rate, diagonal, alpha, layer, eta_v, eta_a, steps)
    setting = descent.Setting(patches, set_size, spurious_rate, layer.degree, layer.slope, diagonal)
    path = descent.idealised_descent(
        descent.Scalars(alpha, 0.0, 0.0), setting, eta_v, faster * eta_a, [steps])
    ends = *path.scalars, path.loss, descent.errors_along(path, setting)
    scalars = [float(numbers[-1]) for numbers in ends]
    return xarray.Dataset({"entries": ("scalar", entries), "scalars": ("scalar", scalars)})


@experiment("spatial.gradient-check")
def gradient_check(
    key: Any, *, degree: int = 5, slope: float = 0.1, temperature: float = 1.7, replicates: int = 8
) -> xarray.Dataset:
    """The closed-form gradients of the layer beside automatic differentiation of its loss."""
    layer, rows = Layer(degree, slope, temperature), []
    for one in jax.random.split(key, replicates):
        keys, shapes = jax.random.split(one, 4), ((6, 5, 3), (5, 5), (3,))
        X, A, v = (normals(*pair) for pair in zip(keys[:3], shapes, strict=True))
        y, v = np.asarray(jax.random.rademacher(keys[3], (6,), float)), 0.2 * v
        ours = models.gradients(X, y, A, v, *layer)
        grad_A, grad_v = map(np.asarray, _loss_gradients(X, y, A, v, layer))
        grad_A = grad_A * (1 - np.eye(5))
        rows.append([
            _relative(ours.grad_A, grad_A), _relative(ours.grad_v, grad_v),
            *_as_printed(X, y, A, v, grad_A, grad_v, degree, slope)])
    names = ["A", "v", "A as printed", "v as printed"]
    return xarray.Dataset(
        {"gap": (("replicate", "gradient"), np.asarray(rows))}, coords={"gradient": names})


_loss_gradients = jax.jit(jax.grad(descent.sample_loss, (2, 3)), static_argnums=4)


def _relative(value: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(value - truth) / np.linalg.norm(truth))


def _as_printed(
    X: Any, y: Any, A: Any, v: Any, grad_A: Any, grad_v: Any, degree: int, slope: float
) -> list[float]:
    """Lemmas H.1 and H.2 as they stand: no minus sign, and for A neither nu nor tau."""
    S = models.scores(A)
    D, u = A.shape[0], X @ v
    z = D * u @ S.T
    F = np.sum(z**degree + slope * z, axis=-1)
    weight = D * (y * expit(-y * F))[:, None]
    by_v = np.einsum("ni,ij,njd->d", weight * (degree * z ** (degree - 1) + slope), S, X) / len(y)
    power, apart = degree * weight * z ** (degree - 1), u[:, None, :] - (z / D)[:, :, None]
    by_A = np.einsum("ni,ij,nij->ij", power, S, apart) / len(y) * (1 - np.eye(D))
    return [_relative(by_A, grad_A), _relative(by_v, grad_v)]


@experiment("spatial.invariance")
def invariance(
    key: Any, *, side: int = 4, block: int = 2, mix: bool = False, samples: int = 50
) -> xarray.Dataset:
    """Outputs of a three-valued layer on images and on the same with sets, and patches within sets,
    permuted; `mix` permutes all patches across sets instead."""
    labels = localised(side, block)
    keys = jax.random.split(key, 4)
    task = Spatial.create(keys[0], labels, 3, 0.4)
    sample = task.sample(generator(keys[1]), samples)
    order = np.argsort(labels, kind="stable").reshape(-1, block * block)
    moved = order[np.asarray(jax.random.permutation(keys[2], len(order)))]
    moved = moved[:, np.asarray(jax.random.permutation(keys[3], block * block))]
    target = np.empty(side * side, int)
    target[order.ravel()] = moved.ravel()
    target = np.asarray(jax.random.permutation(keys[2], side * side)) if mix else target
    A = three_value_attention(labels, 1.0, 0.7, -0.2)
    plain, permuted = (
        output(X, A, 0.2 * task.feature, 3, 1e-3) for X in (sample.X, sample.X[:, target]))
    gap = np.max(np.abs(plain - permuted)) / np.max(np.abs(plain))
    return xarray.Dataset({"gap": ((), gap)})


@experiment("spatial.association-cases")
def association_cases(
    key: Any, *, side: int = 4, block: int = 2, shuffled: bool = False, lift: float = 0.0,
    tie_breaks: int = 4000,
) -> xarray.Dataset:
    """The metric on matrices with known answers, and on one with many ties beside random
    tie-breaking; `shuffled` scores them against a partition that is not theirs, `lift` is added to
    every entry within a set."""
    labels = localised(side, block)
    scored = np.asarray(jax.random.permutation(key, labels)) if shuffled else labels
    size, random = len(labels), generator(key)
    ties = np.round(2 * random.uniform(size=(size, size)))
    matrices = {
        "constant": np.ones((size, size)), "identity": np.eye(size),
        "true": three_value_attention(labels, 1.0, 0.5, 0.0),
        "cheating": models.cheating_attention(labels, 1.0), "ties": ties}
    inside = scored[:, None] == scored
    scores = [models.association(one + lift * inside, scored) for one in matrices.values()]
    noise = random.uniform(size=(tie_breaks, size, size))
    top = np.argsort(-(ties + 1e-6 * noise), axis=-1)[..., : block * block]
    broken = np.take_along_axis(np.broadcast_to(inside, noise.shape), top, -1).mean(axis=(1, 2))
    rows = np.asarray([one[1:] for one in scores], float)
    largest = matrices["cheating"] == matrices["cheating"].max(axis=1, keepdims=True)
    next_set = (scored[:, None] + 1) % (scored.max() + 1) == scored
    return xarray.Dataset(
        {
            "value": (("matrix", "quantity"), rows), "broken": ("replicate", broken),
            "next": ((), float(np.mean(largest == next_set)))},
        coords={"matrix": list(matrices), "quantity": list(models.Association._fields[1:])})
