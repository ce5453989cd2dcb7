"""Claims on what the others build on: predictors are their definitions, the stochastic engine is
the layer's descent, tables and the default rule are converged, integrals are direct sums."""

from typing import Any

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, IDENTITY
from saccade.studies.softmax_location import dynamics, theory
from saccade.studies.softmax_location.claims import changed, claim, quick
from saccade.studies.softmax_location.dynamics.tables import LAMBDA_POINTS
from saccade.studies.softmax_location.experiments import definitions, scores, sums
from saccade.studies.softmax_location.theory import Overlaps, Setting


def weights(ratio: np.ndarray) -> np.ndarray:
    return ratio / ratio.sum(axis=1, keepdims=True)


def _by_hand(run: Run, gamma: float | None = None, factor: float = 1.0) -> np.ndarray:
    """The predictors from two normal densities, and from scores and values of two heads."""
    p, X = run.parameters, run.data.X.values
    spread: float = p.gamma if gamma is None else gamma
    shift = np.sqrt(p.dim / 2)
    centred = (X - shift * (np.arange(p.dim) == 0)) / spread
    ratios = np.exp((X**2 - centred**2) / 2) / spread  # of the densities, coordinate by coordinate
    posterior, of_score = np.prod(ratios, axis=-1), ratios[:, :, 0]
    odds = spread**2 * of_score / (of_score.sum(axis=1, keepdims=True) - of_score)
    k, v = run.data.k.values, run.data.v.values
    looks = [weights(np.exp(factor * p.inverse_temperature * (X @ one))) for one in k]
    answers = [X @ one for one in v]
    heads = [np.sum(w * u, axis=1) for w, u in zip(looks, answers, strict=True)]
    return np.stack([
        np.sum(weights(posterior) * X[:, :, 1], axis=1),
        np.sum(odds / (1 + odds) * X[:, :, 1], axis=1), (heads[0] + heads[1]) / 2,
        np.sum((looks[0] + looks[1]) / 2 * answers[0], axis=1), heads[0]])


def _off(run: Run, gamma: float | None = None, factor: float = 1.0) -> np.ndarray:
    """The largest difference of each predictor to its definition."""
    return one_row(np.abs(run.data.prediction.values - _by_hand(run, gamma, factor)).max(axis=1))


DEFINITIONS = claim(
    id="softmax-location.predictors", spec="SM-13",
    statement="The Bayes predictor is the posterior mean by the two densities, the best weights of"
    " the scores are gamma^2 pi/(gamma^2 pi + 1 - pi), several heads are averaged, and a masked"
    " token changes nothing: sample by sample.", kind=IDENTITY, experiment=definitions.predictors,
    measure=_off, resolution=1e-10,
    argued="Products of nine densities have a ratio known to 1e-14; values are of order one.",
    parts=definitions.PREDICTORS,
    sabotages=(
        Sabotage(
            "other-gamma", "Densities of gamma = 0.85, and a lambda 1 % larger.",
            measure=lambda run: _off(run, 0.85, 1.01)),
        changed("one-token-more", "Put a zero in the place of the masked token.", spare=True)))


def _engine(run: Run) -> np.ndarray:
    """How far the frozen head has moved, and the others from where the layer takes them."""
    data = run.data
    moved, apart = data.engine - data.start, data.engine - data.layers
    return one_row([np.abs(moved.values[:, :, 0]).max(), np.abs(apart.values[:, :, 1:]).max()])


STEPS = claim(
    id="softmax-location.stochastic-steps", spec="SM-Q2",
    statement="The stochastic engine is descent of the layer itself on the same batches: three"
    " heads, the first of them frozen, two informative tokens, label noise.", kind=IDENTITY,
    experiment=definitions.stochastic_steps, measure=_engine, resolution=1e-12,
    argued="Both compute in double precision from the same batches; four steps.",
    parts=("frozen head", "trained heads"),
    sabotages=(
        changed("nothing-frozen", "Train all heads.", frozen=0),
        changed("longer-steps", "Steps of the layer one tenth longer.", other_step=1.1)))


def _shared(run: Run, kappa: float | None = None, **changes: float) -> list[float]:
    """Two equal heads are one head."""
    p = run.parameters
    key: float = p.kappa if kappa is None else kappa
    at = Setting(float(p.dim), float(p.length), p.inverse_temperature, p.gamma, p.noise)
    return [
        theory.several_risk(at._replace(**changes), count, key, p.nu) for count in p.informative]


FRESH = claim(
    id="softmax-location.several-on-manifold", spec="SM-18",
    statement="With 1, 2 or 4 informative tokens the risk on the manifold, at kappa = 0.8, nu = 0.6"
    " and with label noise, is the stated integral: errors of two equal heads on the samples of the"
    " stochastic engine.", status="quadrature", kind=ESTIMATE, experiment=definitions.fresh_errors,
    measure=lambda run: run.data.error.values, predict=_shared,
    resolution=lambda run: 0.03 * np.array(_shared(run)), statistic="mean",
    argued="No finite-size term; 3 % is what 128,000 samples tell apart.",
    parts=("M=1", "M=2", "M=4"), scales=quick(repetitions=4, seconds=1),
    sabotages=(
        Sabotage(
            "no-noise", "Integrals without noise.", predict=lambda run: _shared(run, noise=0.0)),
        Sabotage(
            "other-key", "Samples at kappa = 0.8, integrals at 0.3.",
            predict=lambda run: _shared(run, 0.3))))


def _least_of_several(run: Run, factor: float = 1.0, more: float = 0.0) -> np.ndarray:
    """By setting: the slope of the log risk along log lambda at the best lambda (or `factor` times
    it), and how far the stated risk is above the least of 41 lambdas around it; the best may be
    that of so many `more` informative tokens."""
    rows = []
    for (dim, _, _, gamma), count in zip(run.data.setting.values, (2.0, 3.0), strict=False):
        best = theory.best_several(dim, 9.0, count + more, gamma)
        lams = best.inverse_temperature * factor * np.exp([-1e-4, 1e-4])
        ladder = best.inverse_temperature * np.geomspace(0.1, 10, 41)
        ends, ladder = (
            [theory.several_risk(Setting(dim, 9.0, float(lam), gamma), count) for lam in some]
            for some in (lams, ladder))
        rows.append([np.log(ends[1] / ends[0]) / 2e-4, best.risk / min(ladder)])
    for dim in FAR:
        best, root = theory.best_several(dim, 9.0, 1.0 + more), _of_one(dim)
        rows.append([np.log(factor * best.inverse_temperature / root[0]), best.risk / root[1]])
    return one_row(rows)


def _of_one(dim: float) -> tuple[float, float]:
    """Where the slope of the risk at the truth vanishes, with nine tokens, and the risk there."""

    def slope(log_lam: float) -> float:
        return theory.oracle_slope(Setting(dim, 9.0, float(np.exp(log_lam))))

    around = np.log((2 * dim) ** 0.5 / 1.5) + np.array([-0.2, 0.2])
    root = float(np.exp(theory.root_between(slope, *around)))
    return root, theory.oracle_risk(Setting(dim, 9.0, root))


FAR = (400.0, 2000.0)
LEAST = claim(
    id="softmax-location.best-of-several", spec="SM-18",
    statement="The best lambda for two or three informative tokens of nine is where the risk at the"
    " truth is flat, and no other lambda has a lower one; for one of nine, at d = 400 and 2000, it"
    " is where the slope of the oracle risk vanishes.", status="quadrature", kind=IDENTITY,
    experiment=definitions.random_settings, measure=_least_of_several,
    predict=lambda run: [0.0, 1.0] * 4, resolution=[1e-5, 1e-9] * 4,
    argued="The search stops within 1e-9 of log lambda, where differences over 2e-4 are good to"
    " 1e-7; the best lambda is one of the 41 over two decades. The least of risks known to 1e-12"
    " leaves 1e-6 of lambda.",
    parts=(
        "slope, M=2", "risk, M=2", "slope, M=3", "risk, M=3", "lambda, d=400", "risk, d=400",
        "lambda, d=2000", "risk, d=2000"),
    scales=quick({"count": 2}, seconds=2),
    sabotages=(
        Sabotage(
            "off", "Slopes, and the 41 lambdas, around a lambda that is 1 % larger.",
            measure=lambda run: _least_of_several(run, 1.01)),
        Sabotage(
            "one-more", "The best lambda, and its risk, for one more informative token.",
            measure=lambda run: _least_of_several(run, more=1.0))))


def _flat(risk: Any, setting: Setting, step: float = 1e-3) -> float:
    """The slope of a risk along log lambda, by differences of fourth order."""
    near, far = (
        (
            risk(setting._replace(inverse_temperature=setting.inverse_temperature * np.exp(x)))
            - risk(setting._replace(inverse_temperature=setting.inverse_temperature * np.exp(-x))))
        / (2 * x) for x in (step, 2 * step))
    return (4 * near - far) / 3


def _slopes_at_truth(run: Run, factor: float = 1.0, noise: float = 0.3) -> np.ndarray:
    """The largest relative difference of the slope of the oracle risk to differences; slopes at the
    best lambda of softmax and of erf over the risk there without noise, and the relative difference
    of the stated risk to that and the noise; all at `factor` times that lambda."""
    rows = []
    for row in run.data.setting.values:
        at = Setting(*row)
        there = at._replace(inverse_temperature=factor * at.inverse_temperature)
        slope = theory.oracle_slope(at._replace(noise=noise)) * at.inverse_temperature
        one = [_flat(theory.oracle_risk, there) / slope - 1]
        for risk, find in (
            (theory.oracle_risk, theory.best_inverse_temperature),
            (theory.erf_oracle_risk, theory.best_erf),
        ):
            found = find(at.dim, at.length, at.gamma, noise)
            best = at._replace(inverse_temperature=factor * found.inverse_temperature)
            least = risk(best)
            one += [_flat(risk, best) / least, found.risk / (least + 0.3**2) - 1]
        rows.append(one)
    return one_row(np.abs(rows).max(axis=0))


SLOPES = claim(
    id="softmax-location.slopes-at-truth", spec="SM-13",
    statement="The slope of the risk at the truth along lambda is that of differences, and vanishes"
    " at the best lambda, of softmax and of erf; the least risk is the one there, with eps^2 of"
    " label noise (eps = 0.3), which moves neither.", status="quadrature", kind=IDENTITY,
    experiment=definitions.random_settings, measure=_slopes_at_truth, resolution=1e-6,
    argued="Differences of fourth order over 1e-3 of risks known to 1e-12 leave 1e-8; a search that"
    " stops within 1e-9 leaves as much, of the slope and, with noise beside small risks, less than"
    " 1e-7.",
    parts=("slope", "best lambda", "least risk", "best lambda of erf", "least risk of erf"),
    scales=quick({"top": 3.0, "longest": 40.0}, seconds=2),
    sabotages=(
        Sabotage(
            "elsewhere", "Differences at a lambda 1e-3 larger.",
            measure=lambda run: _slopes_at_truth(run, 1.001)),
        Sabotage(
            "noisier", "Searches with eps = 0.31.",
            measure=lambda run: _slopes_at_truth(run, noise=0.31))))


def _by_integrals(run: Run, decay: float | None, noise: float | None) -> np.ndarray:
    """The paths of the tables, with the gradient by integrals at every step: of softmax by the
    exact engine, of erf step by step."""
    p, start = run.parameters, Overlaps(*run.data["first"].values[:5])
    fall: float = p.decay if decay is None else decay
    setting = Setting(
        p.dim, p.length, p.inverse_temperature, p.gamma, p.noise if noise is None else noise)
    exact = dynamics.exact_trajectory(start, setting, p.step_size, p.record, fall)
    at, kept = start, []
    for t in range(-1, p.record[-1]):
        here = setting._replace(inverse_temperature=p.inverse_temperature / (1 + fall * max(t, 0)))
        if t >= 0:
            at = dynamics.projected_step(at, dynamics.gradient(at, here, "erf"), p.step_size)
        if t + 1 in p.record:
            risk = theory.evaluate(at, here, theory.erf_moments(here, at.kappa)).risk
            kept.append(np.stack([*at, risk]))
    return np.stack([np.stack([*exact.overlaps, exact.risk]), np.stack(kept, -1)])


def _apart(run: Run, decay: float | None = None, noise: float | None = None) -> np.ndarray:
    exact = _by_integrals(run, decay, noise)
    return one_row(np.abs(run.data.path.values - exact).max(axis=(1, 2)))


TABLES = claim(
    id="softmax-location.tables", spec="SM-4",
    statement="Descent by tables of moments with a falling lambda is descent with the gradient by"
    " integrals at the lambda of each step, for softmax and for erf, from the start on; so is the"
    " recorded risk.", status="quadrature", kind=IDENTITY, experiment=definitions.table_paths,
    measure=_apart, resolution=1e-11,
    argued="Tables are good to 1e-13 here and forty stable steps keep that.",
    parts=tuple(f"{kind} after {stop}" for kind in ("softmax", "erf") for stop in (0, 1, 7, 40)),
    scales=quick(seconds=2),
    sabotages=(
        Sabotage(
            "no-schedule", "Integrals at the first lambda throughout.",
            measure=lambda run: _apart(run, 0.0)),
        Sabotage(
            "noisier", "Integrals with more label noise.",
            measure=lambda run: _apart(run, noise=0.5))))


def _free_path(run: Run, low: float) -> np.ndarray:
    p, first = run.parameters, Overlaps(*run.data["first"].values)
    setting = Setting(float(p.dim), 3.0, p.inverse_temperature, p.gamma)
    path = dynamics.free_trajectory(first, setting, p.step_size, p.stops, (low, 1.2))
    return np.moveaxis(np.stack([*path.overlaps, path.inverse_temperature, path.risk]), -1, 0)


def _off_the_key(run: Run) -> np.ndarray:
    """The largest difference of each number, and of all of them where the table begins such that
    the first lambda is its twentieth point."""
    path, turn = run.data.path.values, np.cos(np.pi * 19 / (LAMBDA_POINTS - 1))
    on_point = (2 * np.log(run.parameters.inverse_temperature) - (1 - turn) * np.log(1.2)) / (
        1 + turn)
    between, at_point = (
        np.abs(path - _free_path(run, low)).max(axis=(0, 2)) for low in (0.3, np.exp(on_point)))
    return one_row([*between, at_point.max()])


FREE_KEY = claim(
    id="softmax-location.free-key", spec="SM-Q1",
    statement="With the key free in length five overlaps and lambda close: descent of whole vectors"
    " by automatic differentiation follows the map, in overlaps, lambda and risk; also where the"
    " first lambda is a point of the table.", status="quadrature", kind=IDENTITY,
    experiment=scores.free_key, measure=_off_the_key, resolution=1e-11,
    argued="Tables in log lambda and Gauss sums of twenty nodes are good to 1e-13.",
    parts=(*Overlaps._fields, "lambda", "risk", "from a point"), scales=quick(seconds=3),
    sabotages=(changed("less-pull", "Nine tenths of the pull along the key.", pull=0.9),))


def _erf_slopes(run: Run, length: float = 3.0) -> np.ndarray:
    """Risk and slopes of erf from its moments."""
    p, at = run.parameters, Overlaps(*run.data.overlap.values.T)
    s = Setting(float(p.dim), length, p.inverse_temperature, p.gamma)
    value = theory.evaluate(at, s, theory.erf_moments(s, at.kappa))
    return np.stack([value.risk, *value.gradient], -1).ravel()


ERF = claim(
    id="softmax-location.erf-moments", spec="SM-C1",
    statement="Erf's risk and gradient are the same polynomial of its own moments: a sum over the"
    " scores of three tokens with automatic differentiation gives the same.", status="quadrature",
    kind=IDENTITY, experiment=scores.three_tokens,
    measure=lambda run: one_row(
        np.concatenate([run.data.risk.values[:, None], run.data.slope.values], axis=1)),
    predict=_erf_slopes, resolution=1e-10,
    argued="Twenty Gauss points in each score leave 1e-12 at lambda = 0.4.",
    parts=tuple(
        f"{name}, start {start}" for start in range(1, 5)
        for name in ("R", *(f"R_{name}" for name in Overlaps._fields))),
    scales=quick({"weights": "erf", "inverse_temperature": 0.4, "steps": 1}, seconds=3),
    sabotages=(
        changed("softmax", "Sums of softmax.", weights="softmax"),
        Sabotage(
            "four-tokens", "Moments of four tokens.", predict=lambda run: _erf_slopes(run, 4.0))))


def at_truth(run: Run, **changes: float) -> np.ndarray:
    rows = []
    for dim, lam, gamma, noise in run.data.setting.values:
        s = Setting(dim, 2.0, lam, gamma, noise)._replace(**changes)
        rows.append([
            theory.bayes_risk(s, "scores"), theory.bayes_risk(s, "plane"), theory.bayes_risk(s),
            theory.argmax_risk(s), theory.oracle_risk(s),
            theory.fitted_risk(s, theory.moments(s, 1.0)), theory.erf_oracle_risk(s),
            theory.fitted_risk(s, theory.erf_moments(s, 1.0))])
    return np.array(rows)


def _off_the_sums(run: Run, **changes: float) -> np.ndarray:
    """The largest relative difference over the cases."""
    return one_row(np.abs(run.data.risk.values / at_truth(run, **changes) - 1).max(axis=0))


TWO_AT_TRUTH = claim(
    id="softmax-location.two-at-the-truth", spec="SM-13",
    statement="With two tokens the risks at the truth of the best predictors (scores, plane, all),"
    " of argmax, softmax and erf, and with |v| fitted, are direct sums over what they see, at gamma"
    " below, at and above 1 and with label noise.", status="quadrature", kind=IDENTITY,
    experiment=sums.two_at_the_truth, measure=_off_the_sums,
    resolution=[1e-7, 1e-4, 1e-4, *[1e-7] * 5],
    argued="Gauss sums leave 2.5e-5 where the values are summed over too, 1.2e-8 otherwise.",
    parts=sums.NAMES, scales=quick(seconds=1),
    sabotages=(
        Sabotage(
            "other-gamma", "Integrals at gamma = 0.9.",
            measure=lambda run: _off_the_sums(run, gamma=0.9)),
        Sabotage(
            "three-tokens", "Integrals of three tokens.",
            measure=lambda run: _off_the_sums(run, length=3.0))))


def _hopeless(run: Run, length: float = 1e30) -> np.ndarray:
    """Risks of many tokens over that of the null predictor, of argmax over that of a wrong token,
    case by case."""
    risks = at_truth(run, length=length)[:, :6]
    _, _, gamma, noise = run.data.setting.values.T
    limits = np.stack([noise**2 + gamma**2 + (name == "argmax") for name in sums.NAMES[:6]], -1)
    return one_row(np.abs(risks / limits - 1).max(axis=0))


HOPELESS = claim(
    id="softmax-location.hopeless-lengths", spec="SM-15",
    statement="With 10^30 tokens in two or four dimensions nothing is left to learn: the best"
    " predictors and softmax have the risk of predicting zero, argmax that of a wrong token.",
    status="asymptotic", kind=IDENTITY, experiment=sums.two_at_the_truth, measure=_hopeless,
    resolution=1e-10, argued="What is left is of the order of e^20 over the number of tokens.",
    parts=sums.NAMES[:6],
    sabotages=(Sabotage("fewer", "A hundred tokens.", measure=lambda run: _hopeless(run, 100.0)),))
