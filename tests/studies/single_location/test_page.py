"""The formulas that the page of the study prints, written out once more with SciPy and compared
with the library, and the trap it warns of."""

import numpy as np
from scipy.special import erf, owens_t


def risk_of_the_page(o, setting) -> tuple[float, list[float]]:
    """The risk and its five slopes as printed under SL-P15, letter by letter."""
    d, L, lam, gamma, eps = setting
    mu, s, g = np.sqrt(d / 2), (lam * gamma) ** 2, lam * gamma**2
    w, z, t = np.sqrt(1 + 2 * s), np.sqrt(1 + 4 * s), lam * mu * o.kappa
    x, P = t / w, 4 / (np.pi * z) * np.exp(-2 * (t / z) ** 2)
    e = 2 / np.sqrt(np.pi) * np.exp(-x * x)
    M, M1, M2, M3 = erf(x), e / w, -2 * x * e / w**2, (4 * x * x - 2) * e / w**3
    Z, Z1 = 1 - 8 * owens_t(np.sqrt(2) * abs(t) / w, 1 / z), 2 / w * erf(t / (w * z)) * e
    Z2 = 2 / w**2 * (P - t * Z1)
    Z3 = 2 / w**2 * (-4 * t / z**2 * P - Z1 - t * Z2)
    C = 2 * lam / np.sqrt(np.pi * (1 + 2 * lam**2))
    D = 8 * lam**2 / (np.pi * (1 + 2 * lam**2) * np.sqrt(1 + 4 * lam**2))
    zeta0 = 2 / np.pi * np.arcsin(2 * lam**2 / (1 + 2 * lam**2))
    _, nu, theta, eta, rho = o
    risk = eps**2 + gamma**2 - 2 * (gamma**2 * nu * M + g * eta * (mu * theta * M1 + g * rho * M2))
    risk += (mu**2 * theta**2 + gamma**2) * Z + 2 * mu * theta * g * rho * Z1 + g**2 * rho**2 * Z2
    risk += (L - 1) * (
        zeta0 + D * rho**2 + (L - 2) * C**2 * rho**2 + 2 * C * rho * (mu * theta * M + g * rho * M1)
    )
    in_kappa = -2 * (gamma**2 * nu * M1 + g * eta * (mu * theta * M2 + g * rho * M3))
    in_kappa += (
        (mu**2 * theta**2 + gamma**2) * Z1 + 2 * mu * theta * g * rho * Z2 + g**2 * rho**2 * Z3)
    in_kappa += 2 * (L - 1) * C * rho * (mu * theta * M1 + g * rho * M2)
    in_theta = 2 * mu * (mu * theta * Z + g * (rho * Z1 - eta * M1) + (L - 1) * C * rho * M)
    in_eta = -2 * g * (mu * theta * M1 + g * rho * M2)
    in_rho = 2 * g * (mu * theta * Z1 + g * rho * Z2 - g * eta * M2)
    in_rho += (
        2 * (L - 1) * (D * rho + (L - 2) * C**2 * rho + C * (mu * theta * M + 2 * g * rho * M1)))
    return risk, [lam * mu * in_kappa, -2 * gamma**2 * M, in_theta, in_eta, in_rho]


def test_the_printed_risk_and_slopes_are_the_library_s():
    from saccade.studies.single_location import theory

    rng = np.random.default_rng(5)
    for k, v in rng.normal(size=(60, 2, 5)):
        k, v = k / np.linalg.norm(k), v / np.linalg.norm(v)
        at = theory.Overlaps(k[0], v[1], v[0], k[1], k @ v)
        sizes = (
            int(rng.integers(2, 400)), int(rng.integers(1, 30)), float(np.exp(rng.uniform(-4, 1))))
        setting = theory.Setting(*sizes, rng.uniform(0.3, 1.5), rng.uniform(0, 0.5))
        risk, slopes = risk_of_the_page(at, setting)
        assert abs(risk - float(theory.risk(at, setting))) <= 1e-12 * max(1.0, risk)
        gap = np.max(np.abs(np.array(slopes) - np.array(theory.risk_gradient(at, setting))))
        assert gap <= 1e-12 * max(1.0, np.max(np.abs(slopes)))


def test_runs_part_past_the_edge_of_stability_and_not_before():
    """The trap on the page: 30 starts and their neighbours 1e-12 away, 1000 steps of the schedule
    of Figure 4a."""
    import jax

    from saccade.studies.single_location import dynamics

    first = dynamics.sphere_overlaps(jax.random.key(0), 400, 30)
    neighbours = first._replace(kappa=first.kappa + 1e-12)
    gaps = []
    for step_size in (4e-3, 2e-3):
        ends = [
            dynamics.overlap_trajectory(
                start, dynamics.Setting(400, 10, 1.0), step_size, 1000, decay=1e-4).final
            for start in (first, neighbours)]
        gaps.append(np.max(np.abs(np.array(ends[0]) - np.array(ends[1]))))
    assert 1e-3 < gaps[0] < 1 and gaps[1] < 1e-10
