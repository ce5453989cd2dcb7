"""Bags drawn from the models the estimators are made for, with the hidden truth beside them.

All take `random_state` (a seed for NumPy's default generator) and give X (n_bags, n_tokens,
n_features), y and the truth. Status: exact draws.
"""

from typing import NamedTuple

import numpy as np

from saccade.errors import InvalidInput, require, require_number, require_whole, shown

LARGEST = 1e100  # of a signal or a noise


class Sample(NamedTuple):
    """X, y and `where`: True for the tokens that carry the signal (bags without one have none)."""

    X: np.ndarray
    y: np.ndarray
    where: np.ndarray


def _generator(random_state, **sizes) -> np.random.Generator:
    """NumPy's generator, after a look at the sizes: each a whole number of at least 1."""
    for name, size in sizes.items():
        require_whole(name, size, 1)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"random_state = {shown(random_state)} must be a whole number, a Generator or None."
        ) from None


def _check_range(name: str, value, low: float, high: float) -> None:
    require_number(name, value)
    require(low <= value <= high, name, value, f"must lie between {low:g} and {high:g}")


def make_sparse_token_bags(
    n_bags=500, n_tokens=30, n_features=16, n_informative=1, signal=3.0, positive_rate=0.5,
    random_state=None,
) -> Sample:
    """Noise N(0, I); in positive bags `n_informative` random tokens are shifted by `signal` along
    (1, .., 1)/sqrt(n_features). y is 0 or 1."""
    rng = _generator(random_state, n_bags=n_bags, n_tokens=n_tokens, n_features=n_features)
    require_whole("n_informative", n_informative, 0)
    fits = n_informative <= n_tokens
    require(fits, "n_informative", n_informative, f"must be at most n_tokens = {n_tokens}")
    _check_range("signal", signal, -LARGEST, LARGEST)
    _check_range("positive_rate", positive_rate, 0, 1)
    y = (rng.random(n_bags) < positive_rate).astype(int)
    X = rng.standard_normal((n_bags, n_tokens, n_features))
    order = rng.random((n_bags, n_tokens)).argsort(axis=1)
    where = (order < n_informative) & (y == 1)[:, None]
    X[where] += signal / np.sqrt(n_features)
    return Sample(X, y, where)


def make_single_location_bags(
    n_bags=1000, n_tokens=10, n_features=40, variance=0.5, noise=0.0, random_state=None
) -> Sample:
    """One token of each bag is sqrt(n_features/2) k + N(0, variance I), the others N(0, I); y is
    its product with v (and noise). k and v are the first two axes: one marks, the other speaks.
    """
    rng = _generator(random_state, n_bags=n_bags, n_tokens=n_tokens, n_features=n_features)
    require(n_features >= 2, "n_features", n_features, "must be at least 2: one marks, one speaks")
    _check_range("variance", variance, 0, LARGEST)
    _check_range("noise", noise, 0, LARGEST)
    X = rng.standard_normal((n_bags, n_tokens, n_features))
    where = np.arange(n_tokens) == rng.integers(n_tokens, size=n_bags)[:, None]
    X[where] *= np.sqrt(variance)
    X[where, 0] += np.sqrt(n_features / 2)
    return Sample(X, X[where][:, 1] + noise * rng.standard_normal(n_bags), where)


def make_group_bags(
    n_bags=200, n_groups=16, n_features=8, group=0, direction=None, random_state=None
) -> Sample:
    """Gaussian groups of variables; y is the sign of `direction` [the first axis] times `group`."""
    rng = _generator(random_state, n_bags=n_bags, n_groups=n_groups, n_features=n_features)
    require_whole("group", group, 0)
    require(group < n_groups, "group", group, f"must be below n_groups = {n_groups}")
    X = rng.standard_normal((n_bags, n_groups, n_features))
    axis = np.eye(n_features)[0] if direction is None else np.asarray(direction, float)
    wanted = (n_features,)
    require(axis.shape == wanted, "direction", axis, f"must have n_features = {n_features} entries")
    where = np.broadcast_to(np.arange(n_groups) == group, (n_bags, n_groups))
    return Sample(X, (X[:, group] @ axis > 0).astype(int), where)


def make_patch_bags(
    n_bags=1000, partition=(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3), n_features=16,
    clutter=0.3, random_state=None,
) -> Sample:
    """Patches in sets: in one random set all patches are y w + noise, in the others each is +w or
    -w with chance `clutter`/2, else noise alone; |w| = 1, the noise is orthogonal to it. y is -1 or
    1."""
    rng = _generator(random_state, n_bags=n_bags, n_features=n_features)
    _check_range("clutter", clutter, 0, 1)
    sets = np.asarray(partition)
    require(sets.ndim == 1 and sets.size > 0, "partition", partition, "must list a set a patch")
    y = rng.choice([-1, 1], n_bags)
    where = sets == rng.choice(np.unique(sets), n_bags)[:, None]
    sign = rng.choice([1, -1, 0], where.shape, p=[clutter / 2, clutter / 2, 1 - clutter])
    X = rng.standard_normal((*where.shape, n_features)) / np.sqrt(n_features)
    X[:, :, 0] = np.where(where, y[:, None], sign)
    return Sample(X, y, where)
