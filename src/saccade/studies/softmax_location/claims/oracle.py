"""Claims on the layer at the truth: against Bayes, argmax, erf and linear; large dimension and many
tokens; several informative tokens."""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import erf, expit

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, IDENTITY, ORDERING
from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.claims import answers, changed, claim, quick
from saccade.studies.softmax_location.experiments import oracle, sampling
from saccade.studies.softmax_location.theory import Setting

BAYES = claim(
    id="softmax-location.softmax-is-bayes", spec="SM-13",
    statement="At gamma = 1 softmax at the truth with lambda = sqrt(d/2) is the Bayes predictor,"
    " sample by sample.",
    citation=answers(
        "Corollary 2",
        "in this asymptotic regime, the oracle predictor T is asymptotically Bayes optimal"),
    kind=IDENTITY, experiment=sampling.softmax_and_bayes,
    measure=lambda run: one_row(np.abs(run.data.bayes.values - run.data.softmax.values).max()),
    resolution=1e-10,
    argued="The posterior comes from two Gaussian densities, whose ratio is known to"
    " 1e-13; values are of order one.",
    finding="At gamma = 1 softmax with lambda = sqrt(d/2) is not only asymptotically Bayes optimal,"
    " it is the Bayes predictor, for every d and L.",
    sabotages=(
        changed("twice-lambda", "lambda = 2 sqrt(d/2).", factor=2.0),
        changed("other-gamma", "gamma = 0.9.", gamma=0.9)))


def _rivals(run: Run, plane_only: bool = False, **changes: float) -> list[float]:
    p = run.parameters
    s = Setting(float(p.dim), float(p.length), p.inverse_temperature, p.gamma, p.noise)
    s = s._replace(**changes)
    all_of_it = theory.bayes_risk(s, "plane" if plane_only else "all")
    return [
        all_of_it, theory.bayes_risk(s, "plane"), theory.bayes_risk(s, "scores"),
        theory.argmax_risk(s), theory.oracle_risk(s), theory.fitted_risk(s, theory.moments(s, 1.0)),
        theory.linear_risk(s)]


RIVALS = claim(
    id="softmax-location.least-risks", spec="SM-13",
    statement="The least risks from all coordinates, from two, and with weights of the scores are"
    " the stated integrals; so are those of argmax, of softmax, also with its length fitted; the"
    " best linear predictor has its closed form.", status="quadrature", kind=ESTIMATE,
    experiment=sampling.simulated_rivals, measure=lambda run: run.data.risk.values, predict=_rivals,
    resolution=lambda run: 0.06 * np.array(_rivals(run)), statistic="mean",
    argued="No finite-size term; 6 % is what sixteen repetitions tell apart.",
    parts=sampling.RIVALS, scales=quick(repetitions=16, seconds=2),
    sabotages=(
        Sabotage(
            "two-degrees", "Two degrees of freedom in the place of d.",
            predict=lambda run: _rivals(run, True)),
        Sabotage(
            "more-tokens", "Samples of six tokens, integrals of ten.",
            predict=lambda run: _rivals(run, length=10.0)),
        Sabotage(
            "other-gamma", "Samples at gamma = 0.7, integrals at 0.85.",
            predict=lambda run: _rivals(run, gamma=0.85))))


def off_the_laws(run: Run, gamma: float | None = None) -> np.ndarray:
    """By dimension: best lambda, risk over argmax, best score over risk, each over its law."""
    g = run.parameters.gamma
    law_gamma = g if gamma is None else gamma
    rows = []
    for dim in run.parameters.dims:
        best = run.data.sel(dim=dim, length=10.0)
        s = Setting(dim, 10.0, 1.0, g)
        risk, lam = float(best.risk), float(best.inverse_temperature)
        rows.append([
            lam / theory.best_inverse_temperature_law(dim, law_gamma),
            risk / theory.argmax_risk(s) / theory.RISK_TO_ARGMAX,
            theory.bayes_risk(s, "scores") / risk / theory.score_to_softmax(law_gamma)])
    return np.array(rows)


THREE = ("best lambda", "over argmax", "best score")
LARGE_D = claim(
    id="softmax-location.large-dimension", spec="SM-14",
    statement="As d grows at fixed L the best lambda is sqrt(2d)/(1 + gamma^2), the risk there is"
    " pi/4 of that of argmax, and the best score-based predictor has 2 gamma/(1 + gamma^2) of it:"
    " 0.2 % at d = 400.", status="asymptotic", kind=ESTIMATE, experiment=oracle.best_oracle,
    measure=lambda run: one_row(off_the_laws(run)[-1]), predict=lambda run: [1.0] * 3,
    resolution=0.002, argued="What is left is of order 1/d.", parts=THREE,
    figure="softmax-location/rivals",
    finding="With its best lambda softmax at the truth has pi/4 of the risk of argmax: soft is"
    " better than hard even as d grows.",
    sabotages=(
        Sabotage(
            "other-gamma", "gamma = 1.3 in the laws, 0.707 in the task.",
            measure=lambda run: one_row(off_the_laws(run, 1.3)[-1])),
        changed("small-d", "d = 10 in the place of 400.", dims=(4.0, 6.0, 10.0))))


def bayes_at(run: Run, rate: float, sees: theory.Sees = "all") -> np.ndarray:
    p = run.parameters
    lengths = [float(np.exp(rate * (d if p.grow else p.dims[0]))) for d in p.dims]
    return np.array([
        theory.bayes_risk(Setting(d, length, 1.0, p.gamma), sees)
        for d, length in zip(p.dims, lengths, strict=True)])


SHIFTS = (-0.05, 0.0, 0.05)
OF_BAYES = tuple(float(theory.bayes_capacity(2**-0.5)) + shift for shift in SHIFTS)


def _trends(run: Run, sees: theory.Sees = "all", capacity: float | None = None) -> np.ndarray:
    """Steps of the risk with d: down below capacity, up above it, and at it towards gamma^2/2.
    Softmax at the run's three rates, Bayes around its own capacity."""
    g = run.parameters.gamma
    capacity = float(theory.bayes_capacity(g)) if capacity is None else capacity
    below, _, above = run.data.best.values
    limit = g**2 / 2
    bayes = [bayes_at(run, capacity + shift, sees) for shift in SHIFTS]
    steps = [
        -np.diff(below), -np.diff(np.abs(run.data.fixed.values[1] - limit)), np.diff(above),
        -np.diff(bayes[0]), -np.diff(np.abs(bayes[1] - limit)), np.diff(bayes[2])]
    return one_row([step.min() for step in steps])


CAPACITY = claim(
    id="softmax-location.capacity", spec="SM-15, SM-C3",
    statement="With L = exp(r d) tokens softmax at the truth learns as d grows iff r < 1/4, Bayes"
    " iff r < (log 2)/2; at the threshold both risks tend to gamma^2/2.",
    citation=answers("Corollary 2", "L may also tend to infinity, as long as L = o(d)"),
    status="quadrature", kind=ORDERING, experiment=oracle.capacity, measure=_trends,
    resolution=1e-6, argued="No chance; a trend over three dimensions at r - 0.05, r and r + 0.05.",
    parts=(
        "softmax below", "softmax at", "softmax above", "Bayes below", "Bayes at", "Bayes above"),
    scales={"quick": Scale(seconds=3), "standard": Scale(seconds=20)},
    figure="softmax-location/capacity",
    finding="Erf needs L = o(d) tokens; softmax at the truth works up to L = e^(d/4), Bayes up to"
    " 2^(d/2).",
    sabotages=(
        Sabotage(
            "two-degrees", "Bayes that sees two coordinates only.",
            measure=lambda run: _trends(run, "plane")),
        Sabotage(
            "exchanged", "Take the threshold of each for the other's.",
            parameters={"rates": OF_BAYES},
            measure=lambda run: _trends(run, capacity=theory.SOFTMAX_CAPACITY)),
        changed("same-length", "Keep the tokens of the first dimension as d grows.", grow=False)))


DIVERGENCE = claim(
    id="softmax-location.capacity-is-divergence", spec="SM-15",
    statement="The capacity of Bayes, (gamma^2 - 1/2 - log gamma^2)/2, is the divergence of the two"
    " laws of a token over d, for gamma from 0.5 to 1.4.", kind=IDENTITY,
    experiment=oracle.divergence, measure=lambda run: one_row(run.data.divergence.values),
    predict=lambda run: theory.bayes_capacity(np.array(run.parameters.gammas)), resolution=1e-10,
    argued="The trapezoidal rule over ten deviations is good to rounding.",
    parts=("gamma=0.5", "gamma=0.8", "gamma=1", "gamma=1.4"),
    sabotages=(changed("no-mean", "Leave out the mean of the informative token.", mean=0.0),))


def _wins(run: Run) -> np.ndarray:
    """By case: who should win by the threshold of many tokens, times by how much he does."""
    dims, lengths = run.data.setting.values.T
    threshold = theory.erf_threshold(0.1**0.5)
    softmax_wins = np.where(lengths > 1e3, dims > threshold, dims > 8)
    difference = run.data.risk.values[:, 1] - run.data.risk.values[:, 0]
    return one_row(np.where(softmax_wins, 1, -1) * difference)


DUEL = claim(
    id="softmax-location.where-erf-wins", spec="SM-16",
    statement="Each at its best lambda, erf beats softmax at the truth only for small gamma and d:"
    " at gamma^2 = 0.1 and 10^4 tokens up to d = 18, not from 20 on.",
    citation=answers(
        "Section 3, step 3",
        "this simplification of softmax using a component-wise nonlinearity has"
        " been shown not to degrade performance"),
    status="quadrature", kind=ORDERING, experiment=oracle.duel, measure=_wins, resolution=1e-9,
    argued="No chance; the smallest difference, some 2e-5, is far above 1e-12.",
    parts=("d=4 L=10", "d=16 L=10", "d=18 L=1e4", "d=20 L=1e4", "d=32 L=1e4"),
    sabotages=(
        changed(
            "free-length", "Fit the length of v too: erf owed its wins to |v| = 1.",
            free_length=True),
        changed("half", "gamma^2 = 1/2, where softmax wins everywhere.", gamma=2**-0.5),
        changed("smaller-gamma", "gamma^2 = 0.005, where erf wins everywhere.", gamma=0.005**0.5)))


FITTED = claim(
    id="softmax-location.fitted-length", spec="SM-16",
    statement="With the length of v fitted too, softmax beats erf at the truth at all five points"
    " (gamma^2 = 0.1), each at its best lambda.", status="quadrature", kind=ORDERING,
    experiment=oracle.duel,
    measure=lambda run: one_row(np.log(run.data.risk.values[:, 1] / run.data.risk.values[:, 0])),
    resolution=1e-9, argued="No chance; integrals are good to 1e-12.", parts=DUEL.parts,
    scales=quick({"free_length": True}),
    sabotages=(changed(
        "one-length", "|v| = 1 at gamma^2 = 0.005, where erf wins everywhere.",
        free_length=False, gamma=0.005**0.5),))


def _fitted_by_hand(run: Run, factor: float = 1.0) -> list[float]:
    """Least gamma^2 - E[Y T]^2/E[T^2] over lambda with two tokens: softmax weighs by the difference
    of their scores, N(m, 1 + gamma^2), erf by each score alone."""
    gamma, (x, weights) = factor * run.parameters.gamma, np.polynomial.hermite_e.hermegauss(180)
    weights = weights / weights.sum()

    def least(pairs: Any) -> float:
        def risk(log_lam: float) -> float:
            own, other = pairs(float(np.exp(log_lam)))
            square = gamma**2 * weights @ own**2 + weights @ other**2
            return gamma**2 - float((gamma**2 * weights @ own) ** 2 / square)

        end: Any = minimize_scalar(
            risk, bounds=(-4.0, 2.0), method="bounded", options={"xatol": 1e-8})
        return float(end.fun)

    risks = []
    for dim, _ in run.parameters.cases:
        gap, score = (np.sqrt(dim / 2) + s * x for s in (np.hypot(1, gamma), gamma))
        risks += [
            least(lambda lam, gap=gap: (expit(lam * gap), expit(-lam * gap))),
            least(lambda lam, score=score: (erf(lam * score), erf(lam * x)))]
    return risks


TWO = {"cases": ((3.0, 2.0), (5.0, 2.0)), "gamma": 0.8, "free_length": True}
TWO_TOKENS = claim(
    id="softmax-location.fitted-length-of-two", spec="SM-16",
    statement="With two tokens the least risk over lambda and the length of v, of softmax and of"
    " erf, is that of one-dimensional sums over the scores (gamma = 0.8, d = 3 and 5).",
    status="quadrature", kind=IDENTITY, experiment=oracle.duel,
    measure=lambda run: one_row(run.data.risk.values), predict=_fitted_by_hand, resolution=1e-7,
    argued="180 Gauss points; at a minimum an error of 1e-6 in lambda costs 1e-12.",
    parts=tuple(f"{kind}, d={dim}" for dim in (3, 5) for kind in ("softmax", "erf")),
    scales=quick(TWO),
    sabotages=(
        changed("one-length", "Keep |v| = 1.", free_length=False),
        Sabotage(
            "other-gamma", "Sums at a gamma 1 % larger.",
            predict=lambda run: _fitted_by_hand(run, 1.01))))


def _gained(run: Run) -> np.ndarray:
    """By dimension: the least risk over lambda and |v| over that at |v| = 1."""
    p = run.parameters
    least = [theory.best_inverse_temperature(d, length, p.gamma).risk for d, length in p.cases]
    return one_row(run.data.risk.values[:, 0] / np.array(least))


SURE = claim(
    id="softmax-location.fitted-length-far", spec="SM-16",
    statement="In 400 and 2000 dimensions fitting the length of v gains nothing: the least risk of"
    " softmax over lambda and |v|, 4e-30 and 3e-146, is that at |v| = 1, where the slope along"
    " lambda vanishes.", status="quadrature", kind=IDENTITY, experiment=oracle.duel,
    measure=_gained, predict=lambda run: [1.0] * 2, resolution=1e-9,
    argued="What the length gains is of the order of the risk itself; both are sums of positive"
    " numbers, and at a minimum an error of 1e-7 in lambda costs 1e-11.", parts=("d=400", "d=2000"),
    scales=quick({"cases": ((400.0, 10.0), (2000.0, 10.0)), "gamma": 2**-0.5, "free_length": True}),
    sabotages=(changed("small-d", "d = 4 and 10.", cases=((4.0, 10.0), (10.0, 10.0))),))


def _ladder(run: Run, gamma: float | None = None) -> np.ndarray:
    """By length: gaps in log risk of Bayes < plane < scores < softmax < argmax < erf < linear."""
    rows, g = [], run.parameters.gamma if gamma is None else gamma
    for dim in run.parameters.dims:
        for length in run.parameters.lengths:
            s = Setting(dim, length, 1.0, g)
            risks = [
                *(theory.bayes_risk(s, sees) for sees in ("all", "plane", "scores")),
                float(run.data.risk.sel(dim=dim, length=length)), theory.argmax_risk(s),
                theory.best_erf(dim, length, g).risk, theory.linear_risk(s)]
            rows.append(np.diff(np.log(risks)))
    return one_row(np.array(rows).min(axis=0))


LENGTHS = {"dims": (40.0,), "lengths": (2.0, 10.0, 100.0, 1000.0)}
LADDER = claim(
    id="softmax-location.ladder", spec="SM-C2",
    statement="At d = 40 and L from 2 to 1000, each at its best lambda: Bayes < Bayes from two"
    " coordinates < best score < softmax < argmax < erf < linear.",
    citation=answers(
        "Section 3, step 3",
        "this simplification of softmax using a component-wise nonlinearity has"
        " been shown not to degrade performance"),
    status="quadrature", kind=ORDERING, experiment=oracle.best_oracle, measure=_ladder,
    resolution=1e-6, argued="No chance.",
    parts=("two coordinates", "scores", "softmax", "argmax", "erf", "linear"),
    figure="softmax-location/rivals",
    scales={
        "quick": Scale(LENGTHS, 1, seconds=2),
        "standard": Scale(LENGTHS | {"dims": (30.0, 40.0, 80.0, 160.0)}, 1, seconds=10)},
    finding="At d = 40, L = 10 the least risks are 1.0e-4 (Bayes), 1.3e-3 (softmax), 1.7e-3"
    " (argmax), 0.25 (erf) and 0.47 (linear).",
    sabotages=(
        changed("small-d", "d = 2, where hard attention and erf fail.", dims=(2.0,)),
        changed("unit-gamma", "gamma = 1, where softmax is Bayes.", gamma=1.0),
        Sabotage(
            "easier-task", "Softmax at gamma = 0.6, its rivals at 0.707.",
            parameters={"gamma": 0.6}, measure=lambda run: _ladder(run, 2**-0.5)),
        changed("erf", "Erf in the place of softmax.", kind="erf")))


def _several(run: Run, single: bool = False) -> list[float]:
    return [
        theory.several_risk(Setting(float(d), float(n), lam, g), 1 if single else count)
        for d, n, lam, g, count in sampling.SEVERAL]


SEVERAL = claim(
    id="softmax-location.several-informative", spec="SM-18",
    statement="With M informative tokens and their mean as the target, the risk at the truth is"
    " gamma^2 (M E p^2 - 2 E p + 1/M) + E q, by one-dimensional integrals.",
    citation=answers(
        "Section 7", "a natural extension of our framework is when relevant information is spread"
        " across a few input tokens"),
    status="quadrature", kind=ESTIMATE, experiment=sampling.several_simulated,
    measure=lambda run: run.data.risk.values, predict=_several,
    resolution=lambda run: 0.05 * np.array(_several(run)), statistic="mean",
    argued="No finite-size term; 5 % is what eight repetitions tell apart.",
    parts=("M=2", "M=5", "M=3", "M=2 L=20"), scales=quick(repetitions=8, seconds=2),
    sabotages=(Sabotage(
        "one-counted", "Integrals of one informative token.",
        predict=lambda run: _several(run, True)),))
