"""Fixed points of the descent and their stability, by running and differentiating it."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy import linalg, optimize

from saccade.arrays import generator
from saccade.descent import descend
from saccade.lab.experiment import experiment
from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Setting

# Four coordinates hold k*, v* and two directions outside: every state has a copy there.
K_STAR, V_STAR = np.eye(4)[:2]


@jax.jit
def _settle(k: Any, v: Any, setting: Setting, step_size: float, steps: int) -> tuple[Any, Any]:
    """k and v after many descent steps in the four coordinates, and after one more; the setting's
    own dimension enters through the risk."""

    def step(state, t):
        return dynamics.full_step(state[0], state[1], K_STAR, V_STAR, setting, step_size)

    return descend(step, lambda state, stop: state, (k, v), jnp.asarray([steps, steps + 1]))[1]


@jax.jit
def _jacobian(k: Any, v: Any, setting: Setting, step_size: float) -> Any:
    """Derivative of one descent step of (k, v), an 8 x 8 matrix."""

    def move(flat):
        state = dynamics.full_step(flat[:4], flat[4:], K_STAR, V_STAR, setting, step_size)
        return jnp.concatenate(state)

    return jax.jacfwd(move)(jnp.concatenate([k, v]))


def _rates(
    directions: np.ndarray, k: Any, v: Any, setting: Setting, step_size: float = 1e-6
) -> np.ndarray:
    """Growth rates (J - 1)/alpha of the descent map along columns of directions; descending."""
    matrix = directions.T @ np.asarray(_jacobian(k, v, setting, step_size)) @ directions
    return np.sort(np.linalg.eigvals(matrix - np.eye(len(matrix))).real)[::-1] / step_size


# Turning k towards v* and v towards k*. The other directions leave the plane; they decay, but for k
# only at a rate of order exp(-lambda^2 d), zero in double precision.
IN_PLANE = np.eye(8)[:, [1, 4]]


@experiment("single-location.settled-state")
def settled_state(
    key: Any, *, dim: int = 400, length: int = 10, inverse_temperature: float = 0.1,
    gamma: float = 2**-0.5, near: Literal["swapped", "oracle"] = "swapped",
    perturbation: float = 0.1, step_size: float = 2e-3, steps: int = 100_000,
) -> xarray.Dataset:
    """Where descent settles near the swapped state or the oracle, and how fast it returns."""
    setting = Setting(dim, length, inverse_temperature, gamma)
    leaning = dynamics.normalised(K_STAR + np.eye(4)[2])
    ideal = (V_STAR, leaning) if near == "swapped" else (K_STAR, V_STAR)
    shaken = [
        dynamics.normalised(x + perturbation * np.asarray(jax.random.normal(one, (4,))))
        for x, one in zip(ideal, jax.random.split(key), strict=True)]
    ends = [np.asarray(vectors) for vectors in _settle(*shaken, setting, step_size, steps)]
    k, v = (vectors[0] for vectors in ends)
    moved = max(float(np.max(np.abs(vectors[0] - vectors[1]))) for vectors in ends)
    overlaps = dynamics.overlaps_of(k, v, K_STAR, V_STAR)
    tangent = np.asarray(linalg.block_diag(*(np.linalg.svd(x[:, None])[0][:, 1:] for x in (k, v))))
    data = {name: float(value) for name, value in overlaps._asdict().items()}
    return xarray.Dataset(
        data | {"residual": moved, "rate": ("mode", _rates(tangent, k, v, setting))})


@experiment("single-location.first-speeds")
def first_speeds(key: Any, *, count: int = 4, step_size: float = 1e-3) -> xarray.Dataset:
    """At random states and settings: how fast one step moves k and v, the tangents of the angles
    they turn by over the step size."""
    rng, settings, overlaps, speeds = generator(key), [], [], []
    for _ in range(count):
        setting = Setting(
            int(rng.integers(5, 60)), int(rng.integers(2, 9)), rng.uniform(0.2, 1.2),
            rng.uniform(0.4, 1.5), rng.uniform(0.1, 0.5))
        pair = dynamics.normalised(rng.standard_normal((2, 4)))
        moved = [np.asarray(ends[1]) for ends in _settle(pair[0], pair[1], setting, step_size, 0)]
        along = np.sum(pair * moved, axis=1)
        across = np.linalg.norm(moved - along[:, None] * pair, axis=1)
        settings.append(setting)
        overlaps.append(dynamics.overlaps_of(pair[0], pair[1], K_STAR, V_STAR))
        speeds.append(across / along / step_size)
    return xarray.Dataset({
        "setting": (("case", "number"), np.array(settings)),
        "overlap": (("case", "name"), np.array(overlaps)),
        "speed": (("case", "vector"), np.array(speeds))})


@experiment("single-location.oracle-stability")
def oracle_stability(
    key: Any, *,
    cases: tuple[tuple[float, float, float], ...] = (
        (400, 10, 2**-0.5), (400, 5, 2**-0.5), (1600, 10, 2**-0.5), (400, 10, 1.0)),
    low: float = 0.5, high: float = 1.5,
) -> xarray.Dataset:
    """The inverse temperature at which the oracle gets its first growing mode, case by case."""

    def fastest(inverse_temperature, dim, length, gamma):
        setting = Setting(dim, length, inverse_temperature, gamma)
        return _rates(IN_PLANE, K_STAR, V_STAR, setting)[0]

    roots = [optimize.brentq(fastest, low, high, args=case, xtol=1e-9) for case in cases]
    return xarray.Dataset({
        "inverse_temperature": ("case", np.array(roots)),
        "setting": (("case", "name"), np.array(cases))})


@experiment("single-location.origin-modes")
def origin_modes(
    key: Any, *, dim: int = 400, length: int = 10, gamma: float = 2**-0.5,
    inverse_temperatures: tuple[float, ...] = (0.1, 0.4, 0.9, 1.0), step_size: float = 4e-3,
) -> xarray.Dataset:
    """Eigenvalues, ascending, and unit eigenvectors of the descent map's Jacobian at zero overlap
    (the map is a gradient's, so it is symmetric), on and across the manifold."""
    temperatures = np.array(inverse_temperatures)
    setting, compiled_step = (
        Setting(dim, length, temperatures, gamma), jax.jit(dynamics.overlap_step))

    def jacobian(*names: str, step: float = 1e-5) -> np.ndarray:
        """2x2, in the two named overlaps, by central differences."""

        def moved(point):
            state = dynamics.Overlaps(*np.zeros(5))._replace(**dict(zip(names, point, strict=True)))
            after = compiled_step(state, setting, step_size)
            return np.stack([getattr(after, name) for name in names], -1)

        columns = [(moved(step * unit) - moved(-step * unit)) / (2 * step) for unit in np.eye(2)]
        return np.stack(columns, -1)

    pairs = {"on_manifold": jacobian("kappa", "nu"), "transverse": jacobian("theta", "eta")}
    axes, data = ("inverse_temperature", "mode"), {}
    for name, matrix in pairs.items():
        values, vectors = np.linalg.eigh((matrix + np.swapaxes(matrix, -1, -2)) / 2)
        data[name] = (axes, values)
        data[f"{name}_vector"] = ((*axes, "overlap"), np.swapaxes(vectors, -1, -2))
    return xarray.Dataset(data, {"inverse_temperature": temperatures})
