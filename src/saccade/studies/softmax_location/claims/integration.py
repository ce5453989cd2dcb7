"""Claims on the rules of integration: Bessel functions, a finer rule, lattices of plain sums."""

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, IDENTITY
from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.claims import changed, claim, quick
from saccade.studies.softmax_location.experiments import definitions, lattices
from saccade.studies.softmax_location.theory import FINE, Rule, Setting
from saccade.studies.softmax_location.theory.bessel import log_bessel
from saccade.studies.softmax_location.theory.kernels import informative, uninformative

BESSEL = claim(
    id="softmax-location.bessel", spec="SM-13",
    statement="The logarithm of the Bessel function I, far beyond what a double holds, is that of"
    " its integral: by the library, the series and both expansions.", kind=IDENTITY,
    experiment=definitions.bessel, measure=lambda run: one_row(run.data.log.values),
    predict=lambda run: [
        float(log_bessel(order, np.array([x]))[0]) for order, x in definitions.BESSEL],
    resolution=1e-9,
    argued="Logarithms of up to 1e5 are known to 1e-10; a trapezoidal sum of 20,000 points.",
    parts=tuple(f"order {order:g}, x = {x:g}" for order, x in definitions.BESSEL),
    sabotages=(changed("next-order", "The integral of the next order.", shifted=1.0),))

FINER = Rule(0.17, 0.4, 11.0, 50.0)
COARSE = Rule(1.5, 1.9, 3.5, 6.0)


def _values(run: Run, rule: Rule) -> np.ndarray:
    """By setting: the risk and the length of its gradient in the plane; the risk at the truth,
    alone and with its slope (which may vanish); and the rivals'; all by one rule."""
    rows = []
    for row, angles in zip(run.data.setting.values, run.data.angle.values, strict=True):
        s = Setting(*row)
        value, at_truth = (
            theory.risk(theory.in_plane(*angles), s, rule), theory.oracle_risk(s, rule))
        rows.append([
            value.risk, np.linalg.norm(np.array([float(x) for x in value.gradient])), at_truth,
            at_truth + theory.oracle_slope(s, rule), theory.argmax_risk(s, rule),
            *(theory.bayes_risk(s, sees, rule) for sees in ("all", "plane", "scores")),
            theory.erf_oracle_risk(s, rule)])
    return np.array(rows)


def _unconverged(run: Run, rule: Rule = FINE) -> np.ndarray:
    return one_row(np.abs(_values(run, rule) / _values(run, FINER) - 1).max(axis=0))


RULE = claim(
    id="softmax-location.default-rule", spec="SM-1",
    statement="The default rule of integration is converged over random settings (d to 300, L to"
    " 10^6, lambda to 20): a finer one with longer ranges gives the same.", status="quadrature",
    kind=BELOW, experiment=definitions.random_settings, measure=_unconverged, resolution=1e-10,
    argued="1e-12 was found; the two rules share formulas but neither steps nor ranges.",
    parts=(
        "risk", "gradient", "oracle", "oracle's slope", "argmax", "all", "plane", "scores", "erf"),
    scales=quick(seconds=3),
    sabotages=(Sabotage(
        "coarse", "Steps three times as wide, half of the ranges.",
        measure=lambda run: _unconverged(run, COARSE)),))


def _on_lattices(run: Run) -> np.ndarray:
    """The same means from the study's sums: over the scores of others, where it has them, and of
    the informative token, whose lambda gamma is made the same."""
    p, rows = run.parameters, []
    for lam, low in zip(p.inverse_temperatures, p.lowest, strict=True):
        w = lattices.lattice(low)
        near = [int(np.argmin(np.abs(w - place))) for place in lattices.PLACES]
        others = uninformative(Setting(2.0, 5.0, lam), w, FINE)
        # the informative score has its mean at 0.6 lambda m, which w makes up for
        own = informative(Setting(8.0, 5.0, lam / 0.8, 0.8), 0.3, w - 0.75 * lam, FINE)
        log_phi, g1, h1, g2, h2, hh2 = (part[near] for part in others)
        none, once, twice = (part[:, near] for part in own)
        rows.append(np.stack([
            np.stack(
                [
                    np.log(-log_phi), np.log(g1), np.log(g2), h1 / g1, once[2] / once[0],
                    once[3] / once[0], h2 / g2, hh2 / g2, twice[3] / twice[0],
                    none[1] / once[0], none[3] / once[0]],
                -1),
            np.stack(
                [
                    np.log(-np.where(none[0] < 0.999, np.log(none[0]), log_phi)),
                    np.log(once[0]), np.log(twice[0]),
                    *(
                        part[power] / part[0] for part in (once, twice)
                        for power in (1, 2, 3)),
                    none[1] / once[0], none[3] / once[0]],
                -1)]))
    return np.array(rows)


def _off_lattice(run: Run) -> np.ndarray:
    """The largest difference, by case."""
    plain = run.data["mean"].values[:, None]
    return one_row(np.abs(_on_lattices(run) - plain).max(axis=(1, 2, 3)))


LATTICES = claim(
    id="softmax-location.lattices", spec="SM-1",
    statement="Means over one score, of the others and of the informative token, are plain sums of"
    " logarithms, in each of the three ways of the study: by a matrix, by correlation, and on long"
    " lattices by the band in which e^-A is neither one nor nil.", status="quadrature",
    kind=IDENTITY, experiment=lattices.lattices, measure=_off_lattice, resolution=1e-9,
    argued="The default rule is good to 1e-12 and 12,001 points are; what cancels in log E e^-A"
    " near one and in odd means costs three digits.",
    parts=("matrix", "correlation", "band", "band, lambda=3"), scales=quick(seconds=1),
    sabotages=(changed("wider", "Sums of a lambda that is 1e-6 larger.", wider=1 + 1e-6),))
