"""Exact theory: the three-scalar model over the whole population (attention weights; loss, error
and gradient as weighted sums over the states of `states`), the cheating attention, what drives
alpha early on, and the errors of what does not look: f* and generalised linear models."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from saccade.arrays import Array, floats, namespace
from saccade.errors import require
from saccade.studies.spatial.task import ROUNDING, check_rate, check_sizes
from saccade.studies.spatial.theory.states import States, exponents, population_states

MOST_PATCHES = 10_000
TIE = 1e-9
"""Outputs closer to zero than this share of the largest count as zero: exact ties come out as
+-1e-17 in floats."""


class Setting(NamedTuple):
    """D, C, q, p, nu, the fixed diagonal beta of A, and the temperature tau."""

    patches: int
    set_size: int
    spurious_rate: float
    degree: int = 3
    slope: float = 1e-4
    diagonal: float = 1.0
    temperature: float = 1.0

    @property
    def sets(self) -> int:
        return self.patches // self.set_size

    def states(self, only_sums: bool = False, most: int | None = None) -> States:
        """The states of its population, see `population_states`."""
        return population_states(
            self.patches, self.set_size, self.spurious_rate, self.degree, only_sums, most)


class Scalars(NamedTuple):
    """What descent moves: v = alpha w*, A = gamma within sets and rho between (Lemma 4.1)."""

    alpha: Any
    gamma: Any
    rho: Any


def check_setting(setting: Setting) -> None:
    """Refuse what is not a population: sizes, rate, an even degree, a temperature of 0."""
    check_sizes(setting.patches, setting.set_size)
    few = setting.patches <= MOST_PATCHES
    require(few, "patches", setting.patches, f"must be at most {MOST_PATCHES}")
    check_rate(setting.spurious_rate)
    check_activation(setting.degree, setting.slope)
    require(bool(np.isfinite(setting.diagonal)), "diagonal", setting.diagonal, "must be finite")
    require(setting.temperature > 0, "temperature", setting.temperature, "must be above 0")


def check_activation(degree: int, slope: float) -> None:
    """p is odd and at least 3 (p = 1 would be a linear model), nu is not negative."""
    is_odd = degree >= 3 and degree % 2 == 1
    require(is_odd, "degree", degree, "must be an odd whole number of at least 3")
    require(bool(slope >= 0), "slope", slope, "must be at least 0")


def attention_weights(setting: Setting, gamma: Any, rho: Any) -> tuple[Array, ...]:
    """Lambda, Gamma, Xi = e^beta, e^gamma, e^rho over Z = e^beta + (C-1) e^gamma + (D-C) e^rho, all
    at temperature tau, and the gain G = D (Lambda + (C-1) Gamma). Section 4.1. Status: exact."""
    xp = namespace(gamma, rho, *setting)
    entries = xp.stack(floats(setting.diagonal, gamma, rho)) / setting.temperature
    numbers = xp.stack(floats(1.0, setting.set_size - 1.0, setting.patches - setting.set_size))
    top = xp.max(xp.where(numbers > 0, entries, -xp.inf))
    raised = xp.exp(xp.where(numbers > 0, entries - top, xp.minimum(entries - top, 0.0)))
    own, same, other = raised / xp.sum(numbers * raised)
    return own, same, other, setting.patches * (own + (setting.set_size - 1) * same)


def mixing(scalars: Scalars, setting: Setting) -> Float[Array, " 3"]:
    """(a, b, c) with z = a x + b s + c K for signal x in a set of sum s in an image of sum K:
    a = D alpha (Lambda - Gamma), b = D alpha (Gamma - Xi), c = D alpha Xi. Status: exact."""
    own, same, other, _ = attention_weights(setting, scalars.gamma, scalars.rho)
    mixed = namespace(own).stack([own - same, same - other, other])
    return setting.patches * scalars.alpha * mixed


class Population(NamedTuple):
    """Loss, error (a tie counts 1/2), gradients by alpha and by one entry of A of either kind."""

    loss: Any
    error: Any
    grad_alpha: Any
    grad_same: Any
    grad_other: Any


def terms(abc: Float[Array, " 3"], setting: Setting) -> Float[Array, " terms"]:
    """The monomials a^i b^j c^k in the order of the coefficients, and nu (a + C b + D c)."""
    a, b, c = abc
    linear = setting.slope * (a + setting.set_size * b + setting.patches * c)
    powers: list[list[Any]] = [[1.0] for _ in range(3)]
    for number, row in zip((a, b, c), powers, strict=True):
        for _ in range(setting.degree):
            row.append(row[-1] * number)
    A, B, C = powers
    monomials = [A[i] * B[j] * C[k] for i, j, k in exponents(setting.degree)]
    return namespace(abc, linear).stack([*monomials, linear])


def outputs(
    scalars: Scalars, setting: Setting, coefficients: Float[Array, "terms states"]
) -> Float[Array, " states"]:
    """F of every state at label +1. Status: exact."""
    return terms(mixing(scalars, setting), setting) @ coefficients


def loss(
    scalars: Scalars, setting: Setting, coefficients: Array, probability: Array
) -> Float[Array, ""]:
    """E log(1 + e^(-y F)). Status: exact while `States.thinned` is 0."""
    F = outputs(scalars, setting, coefficients)
    return probability @ namespace(F).logaddexp(0.0, -F)


def mistakes(F: Array) -> Array:
    """1 where y F < 0, 1/2 where F = 0, with zero up to `TIE` of the largest |F|: sums that cancel
    leave 1e-17 of either sign."""
    size = abs(F)
    return namespace(F).where(size <= TIE * size.max(), 0.5, F < 0)


def error_of(F: Any, probability: Any) -> float:
    """P[y F < 0] + P[F = 0] / 2, by `mistakes`."""
    return float(np.asarray(probability) @ mistakes(np.asarray(F)))


def population(scalars: Scalars, setting: Setting, states: States) -> Population:
    """Everything at once, from states of the same D, C, q, p. Status: exact."""
    coefficients, probability, _ = states
    point = Scalars(*floats(*scalars))
    fixed = setting._replace(spurious_rate=0.0)  # which is in the states alone
    value, gradient = _loss_and_gradient(point, fixed, coefficients, probability)
    error = error_of(outputs(point, setting, coefficients), probability)
    per_entry = step_sizes(setting, 1.0, 1.0)
    return Population(value, error, *(a * b for a, b in zip(per_entry, gradient, strict=True)))


_loss_and_gradient = jax.jit(jax.value_and_grad(loss), static_argnums=1)


def step_sizes(setting: Setting, eta_v: Any, eta_a: Any) -> Scalars:
    """Step sizes by which the shared scalars move as one entry of A does: their gradients are sums
    over D (C - 1) and D (D - C) entries (none: they do not move)."""
    same = setting.patches * (setting.set_size - 1)
    other = setting.patches * (setting.patches - setting.set_size)
    return Scalars(
        eta_v, eta_a / same if same else 0 * eta_a, eta_a / other if other else 0 * eta_a)


class Cheat(NamedTuple):
    """The transformer that generalises without association (Theorem 3.2), every patch reading the
    set after its own: error (a tie counts 1/2), loss, probability of thinned states (0: exact)."""

    error: float
    loss: float
    thinned: float


def cheat(setting: Setting, sharpness: float) -> Cheat:
    """v = w*, A_ij = B on the next set, else 0. Status: exact.

    A patch of set l gets z = D (e^B s + K - s) / (C e^B + D - C) with s the sum of set l + 1. Sets
    are exchangeable, each is read by one other: F has a = 0, b = D (e^B - 1)/Z, c = D/Z.
    """
    check_setting(setting)
    rule = "must be at least 2: there is no next set"
    require(setting.sets >= 2, "number of sets", setting.sets, rule)
    require(bool(sharpness >= 0), "sharpness", sharpness, "must be at least 0")
    states = setting.states(only_sums=True)
    # Divided by e^B, so that a large B is no overflow.
    below = float(np.exp(-sharpness / setting.temperature))
    partition_sum = setting.set_size + (setting.patches - setting.set_size) * below
    gain = setting.patches / partition_sum
    abc = np.asarray([0.0, gain * (1 - below), gain * below])
    F = terms(abc, setting) @ states.coefficients
    value = float(states.probability @ np.logaddexp(0.0, -F))
    return Cheat(error_of(F, states.probability), value, states.thinned)


class Drive(NamedTuple):
    """E y sum_i (D <w*, O_i>)^3 over the signal set, and over all others (the noise term)."""

    signal: float
    noise: float


def early_drive(setting: Setting, gamma: float = 0.0, rho: float = 0.0) -> Drive:
    """Both terms for p = 3 at alpha = 1. Status: exact.

    A signal patch gets z = a + b C + c (C + R) with R the sum of D - C spurious signals, so E z^3 =
    m^3 + 3 m c^2 q (D - C), m its mean. Any other gets z = W + c C with W odd: E z^3 = 3 c C E W^2
    + (c C)^3, and E W^2 = q (a^2 + 2 a (b+c) + C (b+c)^2 + c^2 (D - 2C)). Lemma D.6 says that the
    second is zero; it would be without the term c C, by which every patch also sees the signal set.
    """
    require(setting.degree == 3, "degree", setting.degree, "must be 3 for the closed form")
    a, b, c = (float(number) for number in np.asarray(mixing(Scalars(1.0, gamma, rho), setting)))
    D, C, q = setting.patches, setting.set_size, setting.spurious_rate
    mean = a + b * C + c * C
    signal = C * (mean**3 + 3 * mean * c**2 * q * (D - C))
    spread = q * (a**2 + 2 * a * (b + c) + C * (b + c) ** 2 + c**2 * (D - 2 * C))
    return Drive(signal, (D - C) * (3 * c * C * spread + (c * C) ** 3))


class LinearError(NamedTuple):
    """Errors with equal weights: under the best phi, and under the sign (a zero counts 1/2)."""

    bayes: float
    sign: float


def signal_sum_law(patches: int, spurious_rate: float) -> np.ndarray:
    """Law of the sum of `patches` spurious signals at -patches..patches. Status: exact."""
    return _power(np.array([spurious_rate / 2, 1 - spurious_rate, spurious_rate / 2]), patches)


def label_error(patches: int, set_size: int, spurious_rate: float, threshold: float = 0.9) -> float:
    """P[y f*(X) <= 0]: the law of the thresholded sum of one random set, convolved L - 1 times,
    plus the signal set. To leading order (L-1) (q/2)^C at threshold 0.9 and C <= 10, where one set
    all against the label cancels the signal. Status: exact."""
    check_sizes(patches, set_size)
    check_rate(spurious_rate)
    require(bool(threshold >= 0), "threshold", threshold, "must be at least 0")
    sums = np.arange(-set_size, set_size + 1)
    passes = np.abs(sums) > (threshold + ROUNDING) * set_size
    one_set = signal_sum_law(set_size, spurious_rate)
    thresholded = np.where(passes, one_set, 0.0)
    thresholded[set_size] = one_set[~passes].sum()
    sets = patches // set_size
    total = _power(thresholded, sets - 1)
    signal = set_size if passes[-1] else 0
    values = np.arange(-(sets - 1) * set_size, (sets - 1) * set_size + 1) + signal
    return float(min(1.0, total[values <= 0].sum()))


def linear_error(patches: int, set_size: int, spurious_rate: float) -> LinearError:
    """Theorem 3.1 for equal weights, exactly: g sees K = y C + sum of D - C spurious signals.

    The best phi errs with probability sum_k min(P[K = k | +], P[K = k | -]) / 2; the sign errs with
    P[K < 0 | +] + P[K = 0 | +] / 2.
    """
    check_sizes(patches, set_size)
    check_rate(spurious_rate)
    law = signal_sum_law(patches - set_size, spurious_rate)
    plus = np.concatenate([np.zeros(2 * set_size), law])
    minus = np.concatenate([law, np.zeros(2 * set_size)])
    values = np.arange(len(law)) - (patches - set_size) + set_size
    return LinearError(
        float(np.minimum(plus, minus).sum() / 2),
        float(law[values < 0].sum() + law[values == 0].sum() / 2))


def _power(law: np.ndarray, times: int) -> np.ndarray:
    """The law convolved `times` times with itself (0 times: a point mass at 0), by squaring."""
    total, base = np.ones(1), law
    while times:
        total = np.convolve(total, base) if times & 1 else total
        times >>= 1
        base = np.convolve(base, base) if times else base
    return total
