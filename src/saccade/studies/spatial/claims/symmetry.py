"""Claims on gradients and symmetry, the exact population, the linear plateau, the early drive."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, ESTIMATE, IDENTITY
from saccade.studies.spatial.experiments import realistic, sampling, symmetry
from saccade.studies.spatial.theory.population import (
    Drive,
    Scalars,
    Setting,
    early_drive,
    population,
)

QUICK = {"quick": Scale(seconds=2)}
TWICE = {"quick": Scale(repetitions=2, seconds=4)}
IDENTICAL = partial(Claim, kind=IDENTITY, resolution=1e-12, scales=QUICK)
SAMPLED = partial(Claim, kind=ESTIMATE, statistic="mean", scales=TWICE)

GRADIENTS = IDENTICAL(
    id="spatial.gradients", spec="VS-H",
    statement="The closed-form gradients of the layer, with their signs and the factors D/tau"
    " restored, are those of its loss.", source="Lemmas H.1 and H.2, corrected",
    experiment=symmetry.gradient_check,
    measure=lambda run: one_row(run.data.gap.values[:, :2].max(axis=0)),
    argued="Against automatic differentiation in double precision, relative norm.",
    parts=("A", "v"),
    sabotages=(Sabotage(
        "as-printed", "Use the lemmas as printed.",
        measure=lambda run: one_row(run.data.gap.values[:, 2:].max(axis=0))),))

GRADIENTS_PRINTED = IDENTICAL(
    id="spatial.gradients-as-printed", spec="VS-H",
    statement="Lemmas H.1 and H.2 as printed give the gradients of the loss.",
    source="Lemmas H.1 and H.2", experiment=symmetry.gradient_check,
    measure=lambda run: one_row(run.data.gap.values[:, 2:].max(axis=0)),
    argued="Against automatic differentiation in double precision, relative norm.",
    parts=("A", "v"), expected="refuted",
    finding="As printed both lack the minus sign of the logistic loss, and H.2 leaves out nu and"
    " 1/tau.", corrected="spatial.gradients",
    sabotages=(Sabotage("other-degree", "A cubic activation.", {"degree": 3}),))

TWO_VALUES = IDENTICAL(
    id="spatial.gradient-two-values", spec="VS-L41",
    statement="At a three-valued A the population gradient has one value within sets and one"
    " between sets, for any partition.", source="Lemma 4.1", experiment=symmetry.listed_population,
    measure=lambda run: one_row(run.data.value.values[:, 5:].ravel()), resolution=1e-14,
    argued="All images of three partitions of six patches listed; spreads of gradients of size"
    " 0.01.",
    parts=tuple(f"{name}: {kind}" for name in symmetry.PARTITIONS for kind in ("same", "other")),
    sabotages=(Sabotage("bump", "One entry of A differs by 0.1.", {"bump": 0.1}),))


def _exact(run: Run) -> np.ndarray:
    alpha, beta, gamma, rho = symmetry.POINT
    rows = []
    for labels in symmetry.PARTITIONS.values():
        sets = len(set(labels))
        setting = Setting(
            6, 6 // sets, run.parameters.spurious_rate, run.parameters.degree, run.parameters.slope,
            beta)
        at = population(Scalars(alpha, gamma, rho), setting, setting.states())
        rows.append([at.loss, at.error, at.grad_same, at.grad_other, at.grad_alpha])
    return np.asarray(rows, float).ravel()


POPULATION = IDENTICAL(
    id="spatial.population-exact", spec="VS-POP",
    statement="Loss, error and gradients summed over states equal those over all images, listed one"
    " by one.", source="ours: the states; Lemma 4.1", experiment=symmetry.listed_population,
    measure=lambda run: one_row(run.data.value.values[:, :5].ravel()), predict=_exact,
    resolution=1e-13, argued="Two exact sums of at most 162 x 2 terms.",
    parts=tuple(
        f"{name}: {kind}" for name in symmetry.PARTITIONS
        for kind in ("loss", "error", "same", "other", "alpha")),
    sabotages=(Sabotage("bump", "One entry of A differs by 0.1.", {"bump": 0.1}),))

UNSTABLE = Claim(
    id="spatial.symmetry-unstable", spec="VS-L41s",
    statement="The three-valued attention is unstable: under descent in all entries a perturbation"
    " of 1e-6 grows more than tenfold.", source="ours; Lemma 4.1 holds only without perturbation",
    status="heuristic", kind=ABOVE, experiment=symmetry.asymmetry,
    measure=lambda run: run.data.growth.values, predict=lambda run: 10.0, resolution=0.0,
    argued="Whole population of 8 patches, 20 random perturbations; growths of 60 to 210 were seen"
    " when the claim was written.", statistic="median",
    finding="Lemma 4.1 is exact, but the symmetric attention is unstable: rounding or sampling"
    " breaks it, though the sets stay right.", scales={"quick": Scale(repetitions=1, seconds=6)},
    sabotages=(Sabotage("at-rest", "Hardly move A.", {"eta_a": 0.1}),))

INVARIANT = IDENTICAL(
    id="spatial.permutation-invariant", spec="VS-I11",
    statement="Permuting sets, and patches within sets, leaves the output of a three-valued layer"
    " unchanged.", source="Lemma I.1", experiment=symmetry.invariance,
    measure=lambda run: one_row(run.data.gap.values), argued="Sums in another order.",
    sabotages=(Sabotage("mix", "Permute patches across sets.", {"mix": True}),))

FIRST_STEP = IDENTICAL(
    id="spatial.first-step-gradient", spec="VS-T51",
    statement="At v = 0 the gradient is nu D / 2 times the mean of y sum_j X_j, because the columns"
    " of a three-valued S sum to one.", source="proof of Theorem 5.1, eq. (154)",
    experiment=realistic.first_step, measure=lambda run: one_row(run.data.gap.values),
    argued="Against automatic differentiation; the second form weights patches by column sums and"
    " needs no symmetry.", parts=("plain sum", "column sums"),
    sabotages=(Sabotage("uneven", "One column of A is raised by 1.", {"uneven": True}),))


def _setting(run: Run) -> Setting:
    p = run.parameters
    return Setting(p.patches, p.set_size, p.spurious_rate, p.degree, p.slope, p.diagonal)


def _population_losses(run: Run, rate: float | None = None) -> list[float]:
    setting = _setting(run)._replace(spurious_rate=rate or run.parameters.spurious_rate)
    states = setting.states(most=40_000)
    return [float(population(Scalars(*point), setting, states).loss) for point in sampling.POINTS]


LOSS = SAMPLED(
    id="spatial.population-loss", spec="VS-POP",
    statement="The loss of the layer on raw noisy images is the loss summed over states, at three"
    " points of the path.", source="Lemma 4.1 and Lemma 4.2", experiment=sampling.sampled_loss,
    measure=lambda run: run.data.loss.values, predict=_population_losses, resolution=0.02,
    argued="Means over 500 images each; their spread is about 0.01, and the noise is orthogonal to"
    " v.", parts=("plateau", "take-off", "late"),
    sabotages=(Sabotage(
        "other-rate", "Predict with q = 0.15.",
        predict=lambda run: _population_losses(run, 0.15)),))

ORTHOGONAL = SAMPLED(
    id="spatial.value-stays-on-feature", spec="VS-L42",
    statement="At v = alpha w* the population gradient of v has no part orthogonal to w*.",
    source="Lemma 4.2", experiment=sampling.sampled_loss,
    measure=lambda run: run.data.orthogonal.values / np.abs(run.data.along.values.mean(axis=0)),
    resolution=0.03,
    argued="Relative to the part along w*; means over 500 images each spread by about 0.025.",
    parts=("plateau", "take-off", "late"),
    sabotages=(
        Sabotage("drift", "Noise that leans towards y.", {"drift": 0.2}),
        Sabotage("tilt", "v turned away from w*.", {"tilt": 2.0})))

PLATEAU = IDENTICAL(
    id="spatial.plateau-is-linear", spec="VS-P0",
    statement="While gamma = rho the layer's sign is the sign of the plain sum of signals on every"
    " image.", source="section 4.1, Event II; ours: exactly", experiment=sampling.linear_argument,
    measure=lambda run: one_row(run.data.agree.values.mean()), predict=lambda run: 1.0,
    resolution=0.0,
    argued="F = D sigma(c K) plus terms odd in the same direction at gamma = rho; zeros agree with"
    " zeros.", sabotages=(Sabotage("take-off", "gamma = 2.", {"gamma": 2.0}),))


def _drive(run: Run) -> Drive:
    p = run.parameters
    setting = Setting(p.patches, p.set_size, p.spurious_rate, p.degree, 0.0, p.diagonal)
    return early_drive(setting, p.gamma, p.rho)


NOISE_ZERO = SAMPLED(
    id="spatial.noise-term-zero", spec="VS-LD6",
    statement="While the sigmoid is constant, the patches outside the signal set add nothing to the"
    " growth of alpha.", source="Lemma D.6 as written", experiment=sampling.noise_term,
    measure=lambda run: run.data.noise.values / _drive(run).signal, resolution=0.5,
    argued="In units of what the signal set adds; anything below half of it could be called small.",
    expected="refuted",
    finding="Lemma D.6 fails: every patch also sees the signal set through Xi C y, which its proof"
    " drops. At the start the other patches add nine times what the signal set adds (D = 64, C ="
    " 4, q = 1/4), with the same sign.", corrected="spatial.noise-term",
    scales={"quick": Scale(repetitions=1, seconds=4)},
    sabotages=(
        Sabotage("more-sets", "D = 144, q = 0.15.", {"patches": 144, "spurious_rate": 0.15}),))

NOISE = SAMPLED(
    id="spatial.noise-term", spec="VS-LD6",
    statement="What signal patches and all others add to the growth of alpha is given by a closed"
    " form; both are positive.", source="Lemma D.6, corrected by us (p = 3)",
    experiment=sampling.noise_term,
    measure=lambda run: (
        np.stack([run.data.signal.values, run.data.noise.values], axis=1) / np.asarray(_drive(run))
    ),
    predict=lambda run: [1.0, 1.0], resolution=0.05,
    argued="Relative; means over 2000 images each spread by three per cent.",
    parts=("signal", "others"),
    sabotages=(Sabotage(
        "flat-diagonal", "The model has beta = 0, the prediction beta = 1.", {"diagonal": 0.0},
        measure=lambda run: (
            np.stack([run.data.signal.values, run.data.noise.values], axis=1)
            / np.asarray(early_drive(Setting(
                run.parameters.patches, run.parameters.set_size,
                run.parameters.spurious_rate))))),))

TWO_DESCENTS = IDENTICAL(
    id="spatial.three-scalars-are-descent", spec="VS-L41",
    statement="Descent in three scalars is descent on the population loss in all entries of A:"
    " alpha, gamma and rho agree after 40 steps.", source="Lemma 4.1",
    experiment=symmetry.two_descents, measure=lambda run: one_row(run.data.scalars.values),
    predict=lambda run: run.data.entries.values, resolution=1e-10,
    argued="Every image of eight patches listed, gradients by automatic differentiation; rounding,"
    " with room for its growth.", parts=("alpha", "gamma", "rho"),
    sabotages=(
        Sabotage("faster", "One of the two has 1.05 times the step size of A.", {"faster": 1.05}),))
