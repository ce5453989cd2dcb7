"""The appendix's inequalities on grids and random cases: the ratios of their two sides."""

from typing import Any

import numpy as np
import xarray
from scipy import stats
from scipy.special import gammaln, softmax

from saccade.arrays import generator as generator_of
from saccade.lab.experiment import experiment


def _sides(**rows: Any) -> xarray.Dataset:
    return xarray.Dataset(
        {name: ("case", np.asarray(values, float)) for name, values in rows.items()})


@experiment("spatial.logistic-inequalities")
def logistic_inequalities(
    key: Any, *, lowest: float = 1e-6, highest: float = 50.0, points: int = 2000,
    mirrored: bool = False,
) -> xarray.Dataset:
    """s(-x) (`mirrored`: s(x)) over log(1 + e^-x) on a grid (Lemma K.6)."""
    x = (np.geomspace if lowest > 0 else np.linspace)(lowest, highest, points)
    log_slope = -np.logaddexp(0.0, -x if mirrored else x)
    return _sides(x=x, ratio=np.exp(log_slope - np.log(np.logaddexp(0.0, -x))))


@experiment("spatial.power-inequalities")
def power_inequalities(key: Any, *, degree: int = 3, points: int = 400) -> xarray.Dataset:
    """a^(p-1)/(1 + e^(a^p)) over log(1 + e^(-a^p)), times a: what Lemma K.5 puts between 0.1 and 10
    as C- and C+ close in on a; and the same without the factor a^p that its proof loses."""
    a = np.geomspace(0.05, 3.0, points)
    power = a**degree
    left = a * np.exp(np.log(a) * (degree - 1) - np.logaddexp(0.0, power))
    right = np.logaddexp(0.0, -power)
    return _sides(a=a, as_written=left / right, with_power=left / right / power)


@experiment("spatial.log-product")
def log_product(key: Any, *, points: int = 60, extra: float = 1.0) -> xarray.Dataset:
    """log(1 + x y) over (extra + y) log(1 + x) for 0 < y <= x (Lemma K.7 has extra = 1)."""
    x, share = np.meshgrid(np.geomspace(1e-4, 1e4, points), np.geomspace(1e-4, 1.0, points))
    y = share * x
    return _sides(ratio=(np.log1p(x * y) / ((extra + y) * np.log1p(x))).ravel())


@experiment("spatial.tensor-power")
def tensor_power(key: Any, *, cases: int = 60, first: float = 3.0) -> xarray.Dataset:
    """First time a sequence between z + m z^k and z + M z^k passes v, over Lemma K.1's bound, whose
    first term has the coefficient `first` = 3."""
    generator = generator_of(key)
    ratios = []
    for _ in range(cases):
        k, m = int(generator.integers(2, 5)), 10 ** generator.uniform(-2, 0)
        M = m * 10 ** generator.uniform(0, 1)
        z0, v = 10 ** generator.uniform(-1.5, -0.3), 10 ** generator.uniform(0, 2)
        bound = first / (m * z0 ** (k - 1)) + 2**k * M / m * np.ceil(np.log(v / z0) / np.log(2))
        z, time, lazy = z0, 0, generator.uniform() < 0.5
        while z < v:
            z, time = z + (m if lazy else generator.uniform(m, M)) * z**k, time + 1
        ratios.append(time / bound)
    return _sides(ratio=ratios)


@experiment("spatial.count-tails")
def count_tails(key: Any, *, base: float = 2.0, strength: float = 1.0) -> xarray.Dataset:
    """P[k or more of C patches are busy] over base^C q^k (Lemma K.4: base 2), and the tail of all D
    - C over Chernoff's bound e^(-strength mean eps^2/3) (K.3)."""
    few = [
        stats.binom.sf(k - 1, C, q) / (base**C * q**k) for C in (2, 4, 9, 16)
        for q in (0.02, 0.1, 0.3, 0.6) for k in range(1, C + 1)]
    many, excess = [], np.linspace(0.1, 1.0, 10)
    for n, q in ((60, 0.25), (140, 0.15), (315, 0.25)):
        tail = stats.binom.sf(np.ceil((1 + excess) * n * q) - 1, n, q)
        many += [*(tail / np.exp(-strength * n * q * excess**2 / 3))]
    length = max(len(few), len(many))
    return _sides(few=np.resize(few, length), many=np.resize(many, length))


@experiment("spatial.softmax-lipschitz")
def softmax_lipschitz(
    key: Any, *, cases: int = 400, factor: float = 2.0, mixed_signs: bool = False, degree: int = 3
) -> xarray.Dataset:
    """Lemma E.17: |S(a)_i - S(b)_i| over (e^(factor max|a-b|) - 1) S(a)_i, worst i; Lemma E.16
    likewise for (D sum_m S_m u_m)^(p-1) with u of one sign or (`mixed_signs`) of both. Half of the
    cases are adversarial: one entry goes up, the others down.
    """
    generator = generator_of(key)
    shares, powers = [], []
    for case in range(cases):
        D, gap = int(generator.integers(2, 12)), 10 ** generator.uniform(-3, 0.5)
        a = generator.normal(size=D)
        move = np.full(D, -gap) if case % 2 else generator.uniform(-gap, gap, D)
        if case % 2:
            a[0] -= 8.0
            move[0] = gap
        u = generator.normal(size=D) if mixed_signs else generator.uniform(0, 1, D)
        one, two = softmax(a), softmax(a + move)
        largest = np.max(np.abs(move))
        shares.append(np.max(np.abs(one - two) / one) / np.expm1(factor * largest))
        first, second = (D * one @ u) ** (degree - 1), (D * two @ u) ** (degree - 1)
        powers.append(abs(first - second) / (first * np.expm1(factor * (degree - 1) * largest)))
    return _sides(softmax=shares, power=powers)


@experiment("spatial.sigmoid-lipschitz")
def sigmoid_lipschitz(
    key: Any, *, cases: int = 2000, degree: int = 3, allowed: float = 1.0
) -> xarray.Dataset:
    """Lemma E.12: the gradient norm of x -> s(-sum_m x_m^p) over p, at random points with every
    x_m^p >= -allowed/D, half of them near the edge of that region."""
    generator = generator_of(key)
    ratios = []
    for _ in range(cases):
        D = int(generator.integers(1, 40))
        floor = -allowed / D
        powers = floor * (1 - generator.exponential(10 ** generator.uniform(-3, 1), D))
        x = np.sign(powers) * np.abs(powers) ** (1 / degree)
        total = np.sum(powers)
        slope = 1 / (2 + np.exp(total) + np.exp(-total))
        ratios.append(slope * np.linalg.norm(x ** (degree - 1)))
    return _sides(ratio=ratios)


@experiment("spatial.activation-slope")
def activation_slope(
    key: Any, *, degree: int = 3, slope: float = 1e-4, shift: float = 1.0
) -> xarray.Dataset:
    """sigma'(z) = p z^(p-1) + nu, over p z^(p-1) above the edge (2 nu/p)^(1/(p-1)) (eq. 21) and
    over nu below it (eq. 80); `shift` below 1 moves both ranges across the edge."""
    edge = (2 * slope / degree) ** (1 / (degree - 1))
    above = degree * (edge * shift * np.geomspace(1.0, 1e3, 300)) ** (degree - 1)
    below = degree * (edge / shift * np.geomspace(1e-6, 1.0, 300)) ** (degree - 1)
    return _sides(above=(above + slope) / above, below=(below + slope) / slope)


@experiment("spatial.planted-set")
def planted_set(
    key: Any, *, set_sizes: tuple[int, ...] = (8, 16, 32, 64), rate: float = 0.2,
    exponents: tuple[float, ...] = (2.0, 2.5, 3.0),
) -> xarray.Dataset:
    """Total variation between m spurious patches and the same with C of them, anywhere, set to +1,
    at q m = C^exponent (exact): the density ratio at n+ positive patches is binom(n+, C)/binom(m,
    C) (q/2)^-C. `slope` is that of its logarithm in log C, over the three largest C."""
    table = np.array([[_planted(C, rate, power) for C in set_sizes] for power in exponents])
    slopes = [np.polyfit(np.log(set_sizes[-3:]), np.log(row[-3:]), 1)[0] for row in table]
    return xarray.Dataset(
        {"distance": (("exponent", "set_size"), table), "slope": ("exponent", slopes)},
        coords={"exponent": list(exponents), "set_size": list(set_sizes)})


def _planted(set_size: int, rate: float, exponent: float) -> float:
    m = round(set_size**exponent / rate)
    plus = np.arange(m + 1)
    ways = [gammaln(n + 1) - gammaln(n - set_size + 1) for n in (plus, m)]  # -inf below C
    log_ratio = ways[0] - ways[1] - set_size * np.log(rate / 2)
    law = stats.binom.pmf(plus, m, rate / 2)
    return 0.5 * float(np.sum(law * np.abs(np.exp(log_ratio) - 1)))
