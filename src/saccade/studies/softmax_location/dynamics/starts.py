"""Where training starts, and which way a run has gone."""

from typing import Any

import jax
import numpy as np

from saccade.studies.softmax_location.theory import Overlaps

FATES = ("recovers", "swapped", "undecided")


def generator(key: Any) -> np.random.Generator:
    """NumPy's random numbers from a JAX key: nothing to compile."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key)).astype(np.uint64).tolist())


def sphere_overlaps(random: np.random.Generator, dim: int, count: int) -> Overlaps:
    """Overlaps of independent k and v uniform on the sphere, exactly in law for dim >= 4: k has the
    coordinates (z1, z2, chi_(d-2)) and v (z3, z4, z5, chi_(d-3)) over their lengths."""
    z = random.standard_normal((5, count))
    k = np.stack([z[0], z[1], np.sqrt(random.chisquare(dim - 2, count))])
    k = k / np.linalg.norm(k, axis=0)
    v = z[2:] / np.sqrt(np.sum(z[2:] ** 2, axis=0) + random.chisquare(dim - 3, count))
    return Overlaps(k[0], v[1], v[0], k[1], np.sum(k * v, axis=0))


def fate(at: Overlaps, signed: bool = True) -> np.ndarray:
    """Codes into FATES, told long before a run has settled: swapped when k leans on v* and v does
    not (|eta| > 1/2 > nu), recovering when v reads v* and k does not (nu > 0.9, |eta| < 1/2).
    Erf recovers up to a common sign of k and v (not `signed`). Heuristic thresholds."""
    nu, eta = np.asarray(at.nu), np.abs(at.eta)
    nu = nu if signed else np.abs(nu)
    return np.select([(eta > 0.5) & (nu < 0.5), (nu > 0.9) & (eta < 0.5)], [1, 0], 2)
