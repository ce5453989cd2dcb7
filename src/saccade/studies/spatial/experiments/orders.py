"""What the appendix states as orders, measured as the number of patches D grows with C patches a
set and q D = C^2 busy ones fixed (Assumption 2's regime): sums over images at rest, where A is
still the start's, and everything along the exact path of population descent."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.arrays import generator as generator_of
from saccade.lab.experiment import experiment
from saccade.studies.spatial.dynamics import descent as dynamics
from saccade.studies.spatial.dynamics.descent import Scalars, Setting
from saccade.studies.spatial.models import three_value_attention

SIZES = (36, 64, 100, 144)
AT_REST = ("signal", "others", "linear signal", "linear others", "threshold", "gain")
PASSES = (0.3, 1.0, 2.0, 3.0)
SCALARS = ("alpha", "gamma", "rho", "loss", "own", "same", "other", "total")


class Weights(NamedTuple):
    """D Lambda, D Gamma, D Xi, and the softmax denominator over D."""

    own: Any
    same: Any
    other: Any
    total: Any


def weights_of(patches: int, set_size: int, diagonal: Any, gamma: Any, rho: Any) -> Weights:
    """By hand, from e^beta, e^gamma and e^rho."""
    own, same, other = np.exp(diagonal), np.exp(gamma), np.exp(rho)
    total = (own + (set_size - 1) * same + (patches - set_size) * other) / patches
    return Weights(own / total, same / total, other / total, total)


def images_of(
    random: np.random.Generator, patches: int, set_size: int, rate: float, images: int
) -> np.ndarray:
    """Signals of label +1, the signal set first; every image also with the spurious signals turned
    round, so that odd sums over them cancel as in the mean."""
    drawn = random.uniform(size=(images // 2, patches))
    half = 2.0 * (drawn < rate / 2) - (drawn < rate)
    signals = np.concatenate([half, -half])
    signals[:, :set_size] = 1.0
    return signals


def seen_by(signals: np.ndarray, set_size: int, at: Weights) -> np.ndarray:
    """D <w*, O_i> for every patch i: what it gets by attention; sets are runs of C patches."""
    sums = np.repeat(signals.reshape(len(signals), -1, set_size).sum(axis=2), set_size, axis=1)
    total = signals.sum(axis=1, keepdims=True)
    return at.own * signals + at.same * (sums - signals) + at.other * (total - sums)


def _threshold(powers: np.ndarray, degree: int, share: float) -> float:
    """The alpha at which the mean of s(-y F), F = alpha^p `powers`, has fallen to `share`."""
    low, high = -12.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        margin = np.clip(np.exp(degree * middle) * powers, -500, 500)
        falls = np.mean(1 / (1 + np.exp(margin))) < share
        low, high = (low, middle) if falls else (middle, high)
    return float(np.exp(high))


@experiment("spatial.orders-at-rest")
def orders_at_rest(
    key: Any, *, sizes: tuple[int, ...] = (36, 64, 144, 324), set_size: int = 4, busy: float = 16.0,
    busy_power: float = 0.0, diagonal: float = 1.0, diagonal_power: float = 0.0, gamma: float = 0.0,
    degree: int = 3, share: float = 0.4, images: int = 500, repetitions: int = 40,
    others: str = "all",
) -> xarray.Dataset:
    """Means over images of label +1 with A at rest (`gamma`: within sets), by D: sums of (D <w*,
    O_i>)^p over the signal set and over all other patches, the same of first powers, the alpha at
    which the sigmoid has left one half for `share`, and the gain G. `off` is the share of images in
    which a signal patch gets less than half of G, or more than one and a half; `reach` the largest
    Lambda + (C-1) Gamma + Xi sum |delta|. Other patches are counted in the output ("all") or left
    out of it ("none"). q D = busy (D/36)^busy_power, e^beta = e^diagonal (D/36)^diagonal_power."""
    random, table, off, reach = generator_of(key), [], [], []
    for _ in range(repetitions):
        for patches in sizes:
            rate = busy * (patches / 36) ** busy_power / patches
            signals = images_of(random, patches, set_size, rate, images)
            beta = diagonal + diagonal_power * np.log(patches / 36)
            at = weights_of(patches, set_size, beta, gamma, 0.0)
            seen = seen_by(signals, set_size, at)
            gain = at.own + (set_size - 1) * at.same
            powers = _raised(seen, degree)
            sums = [
                part.sum(axis=1).mean() for values in (powers, seen)
                for part in (values[:, :set_size], values[:, set_size:])]
            counted = powers[:, :set_size] if others == "none" else powers
            table.append([*sums, _threshold(counted.sum(axis=1), degree, share), gain])
            off.append(np.mean(np.abs(seen[:, 0] / gain - 1) > 0.5))
            busy_now = np.abs(signals[:, set_size:]).sum(axis=1).max()
            reach.append((gain + at.other * busy_now) / patches)
    shape, dims = (repetitions, len(sizes)), ("repetition", "size")
    return xarray.Dataset(
        {
            "sum": ((*dims, "of"), np.reshape(table, (*shape, len(AT_REST)))),
            "off": (dims, np.reshape(off, shape)), "reach": (dims, np.reshape(reach, shape))},
        {"size": list(sizes), "of": list(AT_REST)})


def _raised(values: np.ndarray, degree: int) -> np.ndarray:
    """An odd power by products, which are much quicker than `**`."""
    square, power = values * values, values
    for _ in range(degree // 2):
        power = power * square
    return power


@experiment("spatial.orders-along-path")
def orders_along_path(
    key: Any, *, sizes: tuple[int, ...] = SIZES, set_size: int = 4, busy: float = 16.0,
    diagonal: float = 1.0, slope: float = 1e-4, eta_v: float = 0.064, eta_a: float = 30.0,
    steps: int = 700, states: int = 1000, images: int = 4000, stretch: float = 1.0,
    stretch_power: float = 0.0,
) -> xarray.Dataset:
    """The three scalars, the softmax weights and the loss after every step of population descent
    from alpha = nu^(1/2); and when gamma passes 0.3, 1, 2, 3: the step, the signal term of alpha's
    gradient, the mean of the sigmoid and the loss on sampled images. Steps of v shrink like 1/D,
    those of A grow like D^2, as the gradients ask for. stretch (D/36)^stretch_power multiplies
    alpha on the sampled images."""
    random, paths, passed, moments, errors = generator_of(key), [], [], [], []
    for patches in sizes:
        setting = Setting(patches, set_size, busy / patches, 3, slope, diagonal)
        used = dynamics.thinned(setting.states(most=3 * states), states)
        path = dynamics.idealised_descent(
            Scalars(slope**0.5, 0.0, 0.0), setting, eta_v / patches, eta_a * (patches / 64) ** 2,
            np.arange(steps + 1), used)
        at = weights_of(patches, set_size, diagonal, path.scalars.gamma, path.scalars.rho)
        paths.append([*path.scalars, path.loss, *at])
        errors.append(dynamics.errors_along(_last(path), setting)[0])
        gamma = path.scalars.gamma
        when = [min(int(np.searchsorted(gamma, level)), steps - 1) for level in PASSES]
        passed.append(when)
        signals = images_of(random, patches, set_size, busy / patches, images)
        factor = stretch * (patches / 36) ** stretch_power
        moments.append([
            _moment(
                signals, set_size, Weights(*(part[k] for part in at)), factor * alpha, slope)
            for k, alpha in zip(when, path.scalars.alpha[when], strict=True)])
    return xarray.Dataset(
        {
            "path": (("size", "of", "step"), np.asarray(paths)),
            "passed": (("size", "level"), np.asarray(passed)),
            "moment": (("size", "level", "what"), np.asarray(moments)),
            "error": ("size", np.asarray(errors))},
        {
            "size": list(sizes), "of": list(SCALARS), "level": list(PASSES),
            "what": ["signal", "sigmoid", "sampled loss"]})


def _last(path: dynamics.Path) -> dynamics.Path:
    """The path's last row alone."""
    end = Scalars(*(values[-1:] for values in path.scalars))
    return path._replace(scalars=end, loss=path.loss[-1:])


def _moment(
    signals: np.ndarray, set_size: int, at: Weights, alpha: float, slope: float
) -> list[float]:
    """The signal term E y s(-yF) sum over the signal set of sigma'(z) D <w*, O>, the mean of the
    sigmoid, and the loss."""
    seen = seen_by(signals, set_size, at)
    z = alpha * seen
    F = np.sum(_raised(z, 3) + slope * z, axis=1)
    sigmoid = np.exp(-np.logaddexp(0.0, F))
    pulled = (3 * z * z + slope) * seen
    signal = np.mean(sigmoid * pulled[:, :set_size].sum(axis=1))
    return [float(signal), float(sigmoid.mean()), float(np.logaddexp(0.0, -F).mean())]


@experiment("spatial.moments-by-gradient")
def moments_by_gradient(
    key: Any, *, patches: int = 12, set_size: int = 3, spurious_rate: float = 0.4,
    alpha: float = 0.13, gamma: float = 0.7, rho: float = -0.2, diagonal: float = 0.6,
    slope: float = 0.3, told: float = 0.3, dim: int = 4, images: int = 40, counted: int = 3,
) -> xarray.Dataset:
    """The signal term, the mean of the sigmoid and the loss as `_moment` has them, and by automatic
    differentiation of L(a, b) = mean log(1 + e^(-y (F + b y))), F = sum_i sigma(a_i D sum_j S_ij
    <v, X_j>) with v = alpha w* and nu `told`, on the same images as patches of `dim` numbers, half
    of them turned round with their labels: -sum over the first `counted` patches of dL/da_i over
    alpha, -dL/db and L, at a = 1 and b = 0."""
    random = generator_of(key)
    signals = images_of(random, patches, set_size, spurious_rate, images)
    at = weights_of(patches, set_size, diagonal, gamma, rho)
    y = np.where(np.arange(images) % 2, 1.0, -1.0)
    feature = random.standard_normal(dim)
    feature /= np.linalg.norm(feature)
    X = (y[:, None] * signals)[..., None] * feature
    A = three_value_attention(np.arange(patches) // set_size, diagonal, gamma, rho)

    def loss(a: Any, b: Any) -> Any:
        z = a * patches * jnp.einsum("ij,njd,d->ni", jax.nn.softmax(A), X, alpha * feature)
        F = jnp.sum(z**3 + told * z, axis=1)
        return jnp.mean(jnp.log1p(jnp.exp(-y * (F + b * y))))

    value, (by_a, by_b) = jax.value_and_grad(loss, (0, 1))(np.ones(patches), 0.0)
    plain = [-by_a[:counted].sum() / alpha, -by_b, value]
    return xarray.Dataset({
        "moment": ("what", _moment(signals, set_size, at, alpha, slope)),
        "plain": ("what", np.asarray(plain, float))})


@experiment("spatial.balance-by-rate")
def balance_by_rate(
    key: Any, *, patches: int = 64, set_size: int = 4, busy: float = 16.0, diagonal: float = 1.0,
    slope: float = 1e-4, eta_v: float = 1e-3, rates: tuple[float, ...] = (24.0, 12.0, 6.0),
    travel: float = 15_000.0, states: int = 1000, images: int = 2000,
) -> xarray.Dataset:
    """The step of alpha over eta_v (both drives, S + N), and the signal term S on sampled images,
    when gamma passes 0.3, 1, 2 and 3; A is given smaller and smaller steps, and as many more of
    them: `travel` over the step size."""
    setting = Setting(patches, set_size, busy / patches, 3, slope, diagonal)
    used = dynamics.thinned(setting.states(most=3 * states), states)
    signals = images_of(generator_of(key), patches, set_size, busy / patches, images)
    both, signal = [], []
    for rate in rates:
        stops = np.arange(int(travel / rate) + 1)
        path = dynamics.idealised_descent(
            Scalars(slope**0.5, 0.0, 0.0), setting, eta_v, rate, stops, used)
        alpha, gamma, rho = path.scalars
        when = np.minimum(np.searchsorted(gamma, PASSES), len(stops) - 2)
        at = weights_of(patches, set_size, diagonal, gamma[when], rho[when])
        both.append(np.diff(alpha)[when] / eta_v)
        signal.append([
            _moment(signals, set_size, Weights(*(part[k] for part in at)), alpha[step], slope)[
                0]
            for k, step in enumerate(when)])
    return xarray.Dataset(
        {"both": (("rate", "level"), both), "signal": (("rate", "level"), signal)},
        {"rate": list(rates), "level": list(PASSES)})


@experiment("spatial.long-descent")
def long_descent(
    key: Any, *, sizes: tuple[int, ...] = (90, 144, 225), set_size: int = 9, busy: float = 36.0,
    slope: float = 1e-6, diagonal: float = 1.5, eta_v: float = 0.0144, eta_a: float = 300.0,
    steps: int = 5000, states: int = 400,
) -> xarray.Dataset:
    """By D, after every step of a long descent on the population: the loss, gamma, alpha, and the
    sum of alpha^p so far (Lemmas D.13 and D.16). Where C = 9 and q D = 36, f* hardly errs."""
    rows = []
    for patches in sizes:
        setting = Setting(patches, set_size, busy / patches, 3, slope, diagonal)
        used = dynamics.thinned(setting.states(most=3 * states), states)
        path = dynamics.idealised_descent(
            Scalars(slope**0.5, 0.0, 0.0), setting, eta_v / patches, eta_a, np.arange(steps + 1),
            used)
        alpha, gamma, _ = path.scalars
        rows.append([np.cumsum(alpha**3), gamma, path.loss, alpha])
    of = ["sum", "gamma", "loss", "alpha"]
    return xarray.Dataset(
        {"path": (("size", "of", "step"), np.asarray(rows))}, {"size": list(sizes), "of": of})


@experiment("spatial.third-event-by-states")
def third_event_by_states(
    key: Any, *, patches: int = 72, set_size: int = 6, spurious_rate: float = 0.25,
    keeps: tuple[int, ...] = (500, 2000, 8000), steps: int = 2500, eta_a: float = 100.0,
) -> xarray.Dataset:
    """alpha along descent on a population for which more and more states stand."""
    setting = Setting(patches, set_size, spurious_rate, 3, 1e-6, 1.2)
    stops = np.unique(np.geomspace(1, steps, 200).astype(int))
    rows = []
    for keep in keeps:
        used = dynamics.thinned(setting.states(most=keep), keep)
        path = dynamics.idealised_descent(
            Scalars(1e-3, 0.0, 0.0), setting, 2e-4, eta_a, stops, used)
        rows.append([*path.scalars, path.loss])
    return xarray.Dataset(
        {"path": (("states", "of", "step"), np.asarray(rows))},
        {"states": list(keeps), "of": ["alpha", "gamma", "rho", "loss"], "step": stops})
