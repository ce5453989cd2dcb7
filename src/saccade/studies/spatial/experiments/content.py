"""Beyond positional attention: content in queries and keys, and patches that straddle sets."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.arrays import generator as generator_of
from saccade.lab.experiment import experiment
from saccade.studies.spatial.dynamics import content as dynamics
from saccade.studies.spatial.dynamics import descent
from saccade.studies.spatial.dynamics.content import Fixed, Mixed
from saccade.studies.spatial.dynamics.descent import Layer
from saccade.studies.spatial.models import activation, three_value_attention
from saccade.studies.spatial.task import all_images, sample_signals


@experiment("spatial.content-descent")
def content_descent(
    key: Any, *, patches: int = 36, set_size: int = 4, spurious_rate: float = 0.3,
    thetas: tuple[float, ...] = (-0.5, 0.0, 0.5), eta_theta: float = 0.3, diagonal: float = 1.0,
    slope: float = 1e-4, alpha: float = 0.01, eta_v: float = 1e-3, eta_a: float = 30.0,
    steps: int = 600, images: int = 400, records: int = 50,
) -> xarray.Dataset:
    """Descent in alpha, gamma and rho with a fixed weight theta of content, for several of them,
    with theta trained from 0, and with theta alone trained beside alpha; on sampled images of label
    +1 without noise."""
    signals, y, _ = sample_signals(
        generator_of(key), np.arange(patches) // set_size, spurious_rate, images)
    counts = dynamics.counts_of(signals * y[:, None], set_size)
    number = len(thetas) + 2
    moves_A, moves_theta = np.ones(number), np.zeros(number)
    moves_A[-1], moves_theta[-2:] = 0.0, eta_theta
    start = Mixed(
        np.full(number, alpha), np.zeros(number), np.zeros(number), np.asarray([*thetas, 0.0, 0.0]))
    rates = Mixed(
        np.full(number, eta_v), moves_A * eta_a / (patches * (set_size - 1)),
        moves_A * eta_a / (patches * (patches - set_size)), moves_theta)
    stops = np.unique(np.concatenate([[0], np.geomspace(1, steps, records).astype(int)]))
    fixed = Fixed(diagonal, slope, set_size)
    scalars, loss, error = dynamics.content_descent(
        start, rates, fixed, counts, np.full(images, 1 / images), stops)
    rows = scalars._asdict() | {"loss": loss, "error": error}
    kinds = [*(f"{theta:g}" for theta in thetas), "trained", "content alone"]
    return xarray.Dataset(
        {name: (("kind", "step"), np.asarray(values)) for name, values in rows.items()},
        {"kind": kinds, "step": stops})


def _whole_loss(free: tuple, signals: Any, y: Any, alpha: Any, chance: Any, slope: float) -> Any:
    """The loss with every entry of A, the weight of content and the preference for keys free."""
    A, theta, preference = free
    logits = A + theta * signals[:, :, None] * signals[:, None] + preference * signals[:, None]
    mixed = jnp.einsum("nij,nj->ni", jax.nn.softmax(logits, axis=-1), alpha * signals)
    F = jnp.sum(activation(A.shape[0] * mixed, 3, slope), axis=1)
    return chance @ jnp.logaddexp(0.0, -y * F)


@experiment("spatial.content-gradient")
def content_gradient(
    key: Any, *, labels: tuple[int, ...] = (0, 0, 0, 1, 1, 1), spurious_rate: float = 0.3,
    alpha: float = 0.3, gamma: float = 0.4, rho: float = -0.2, theta: float = 0.7,
    diagonal: float = 0.6, slope: float = 0.05, preference: float = 0.0, raised: float = 0.0,
) -> xarray.Dataset:
    """Loss and gradient over every image by entries of A, theta and the preference for keys of one
    sign; and of the four scalars, over the counts of the images of label +1. `raised` is added to
    one entry of A."""
    sets = np.asarray(labels)
    images = all_images(labels, spurious_rate)
    A = three_value_attention(sets, diagonal, gamma, rho)
    A[0, 1] += raised
    value, (by_entry, by_theta, by_preference) = jax.jit(
        jax.value_and_grad(_whole_loss), static_argnums=5
    )((A, theta, preference), images.signals, images.y, alpha, images.probability, slope)
    same = (sets[:, None] == sets) & ~np.eye(len(sets), dtype=bool)
    other, entries = sets[:, None] != sets, np.asarray(by_entry)
    spread = [np.ptp(entries[where]) for where in (same, other)]
    positive = images.y > 0
    set_size = len(labels) // len(set(labels))
    counts = dynamics.counts_of(images.signals[positive][:, np.argsort(sets)], set_size)
    at, fixed = Mixed(alpha, gamma, rho, theta), Fixed(diagonal, slope, set_size)
    chance = 2 * images.probability[positive]
    loss, slopes = jax.jit(jax.value_and_grad(dynamics.content_loss), static_argnums=1)(
        at, fixed, counts, chance)
    whole = [value, entries[same].sum(), entries[other].sum(), by_theta]
    return xarray.Dataset({
        "whole": ("of", np.asarray(whole, float)),
        "scalars": ("of", np.asarray([loss, slopes.gamma, slopes.rho, slopes.theta], float)),
        "spread": ("kind", spread), "preference": ((), float(by_preference))})


@experiment("spatial.content-recorded")
def content_recorded(
    key: Any, *, patches: int = 12, set_size: int = 3, spurious_rate: float = 0.8,
    diagonal: float = 0.6, slope: float = 0.05, images: int = 80, weighed: float = 1.0,
    turned: int = 0, resting: float = 0.0, cancelling: int = 20,
) -> xarray.Dataset:
    """Loss and error as recorded by descent with content, and written out at the same scalars; then
    the error recorded at alpha = `resting`: at 0 every image is a tie. The loss is the mean over
    images of log(1 + e^(-y F)), F = sum_i sigma(D alpha sum_j S_ij x_j), S_ij over j in proportion
    to e^(A_ij + weighed theta x_i x_j). `turned` moves the sets that are written out by so many
    patches. In the second half of so many `cancelling` images stands minus the first: F = 0, up to
    rounding."""
    sets = np.arange(patches) // set_size
    signals, y, _ = sample_signals(generator_of(key), sets, spurious_rate, images)
    signals[:cancelling, patches // 2 :] = -signals[:cancelling, : patches // 2]
    stops = np.asarray([0, 20, 60])
    start, rates = Mixed(0.12, 0.1, 0.2, 0.7), Mixed(0.002, 0.1, 0.1, 0.01)
    at_rest = start._replace(alpha=resting), Mixed(0.0, 0.0, 0.0, 0.0)
    batch = [
        Mixed(*(np.asarray(pair) for pair in zip(one, other, strict=True)))
        for one, other in zip((start, rates), at_rest, strict=True)]
    scalars, recorded, errors = dynamics.content_descent(
        *batch, Fixed(diagonal, slope, set_size),
        dynamics.counts_of(signals * y[:, None], set_size), np.full(images, 1 / images), stops)
    rows = []
    for alpha, gamma, rho, theta in np.transpose([np.asarray(part)[0] for part in scalars]):
        A = three_value_attention(np.roll(sets, turned), diagonal, gamma, rho)
        F = np.zeros(images)
        for n, x in enumerate(signals):
            for i in range(patches):
                raised = np.exp(A[i] + weighed * theta * x[i] * x)
                z = patches * alpha * np.sum(raised * x) / np.sum(raised)
                F[n] += z * z * z + slope * z
        sign = np.where(np.abs(F) < 1e-9, 0.0, np.sign(y * F))  # where an image cancels, F is 1e-17
        rows.append([np.mean(np.log(1 + np.exp(-y * F))), np.mean((1 - sign) / 2)])
    return xarray.Dataset(
        {
            "recorded": (("step", "of"), np.stack([recorded[0], errors[0]], axis=1)),
            "plain": (("step", "of"), np.asarray(rows)), "tied": ("step", np.asarray(errors)[1])},
        {"step": stops, "of": ["loss", "error"]})


@experiment("spatial.straddling")
def straddling(
    key: Any, *, cells: int = 24, set_size: int = 4, patches: tuple[int, ...] = (2, 3),
    spurious_rate: float = 0.25, samples: int = 800, eta_v: float = 5e-3, eta_a: float = 20.0,
    steps: int = 200, repetitions: int = 36,
) -> xarray.Dataset:
    """Descent in v and all entries of A on images whose patches are runs of so many cells, while
    sets are runs of C cells: how often A ranks pairs of patches that share a set above pairs that
    do not (row by row). v has an entry for each cell of a patch."""
    random, sets, ranked = generator_of(key), np.arange(cells) // set_size, []
    drawn = [sample_signals(random, sets, spurious_rate, samples)[:2] for _ in range(repetitions)]
    signals, y = (np.stack(part).astype(np.float32) for part in zip(*drawn, strict=True))
    for patch in patches:
        A = _straddled(signals.reshape(*y.shape, -1, patch), y, eta_v, eta_a, steps)
        tokens = sets.reshape(-1, patch)
        shares = np.any(tokens[:, None, :, None] == tokens[None, :, None], axis=(2, 3))
        ranked.append([_ranked(one, shares) for one in np.asarray(A)])
    return xarray.Dataset(
        {"ranked": (("patch", "repetition"), np.asarray(ranked))}, {"patch": list(patches)})


def _ranked(A: np.ndarray, shares: np.ndarray) -> float:
    """Mean over rows of the chance that an entry at a shared set is above one at none."""
    other = ~shares & ~np.eye(len(A), dtype=bool)
    rows = [
        np.mean(row[yes][:, None] > row[no]) for row, yes, no in zip(A, shares, other, strict=True)
        if yes.any() and no.any()]
    return float(np.mean(rows))


@jax.jit
def _straddled(X: Any, y: Any, eta_v: float, eta_a: float, steps: int) -> Any:
    """A after so many steps, by repetition."""
    tokens, width = X.shape[2:]
    first = jnp.eye(tokens, dtype=jnp.float32), jnp.full(width, 0.01, jnp.float32)

    def one(images: tuple[Any, Any]) -> Any:
        return descent.sample_descent(
            *images, first, Layer(3, 1e-4), eta_v, eta_a, jnp.asarray([steps]))[0][0]

    return jax.lax.map(one, (X, y))
