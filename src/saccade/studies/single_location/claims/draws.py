"""Claims on what the others build on: where descent starts, the Bayes predictor, masked tokens,
names of ends, probes."""

from typing import Any

import numpy as np
from scipy.special import erf, ndtr

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, IDENTITY
from saccade.studies.single_location import dynamics, theory
from saccade.studies.single_location.claims import changed, claim, quick
from saccade.studies.single_location.experiments import draws
from saccade.studies.single_location.theory import Overlaps, Setting


def _starts(run: Run) -> np.ndarray:
    """Replicates as rows; as columns dim by dim all moments from the sphere and those of kappa and
    nu on the manifold, where the other overlaps are zero; law and vectors."""
    mean = run.data["mean"].transpose("replicate", "dim", "engine", "moment", "start").values
    pairs = [mean[:, :, :, :, 0], mean[:, :, :, [0, 1, 5, 6, 11], 1]]
    return np.concatenate(pairs, axis=-1).reshape(len(mean), -1)


def _start_moments(run: Run, less: int = 0) -> np.ndarray:
    """E x^2 = 1/n and E x^4 = 3/(n (n + 2)) of a coordinate of a uniform unit vector of n
    dimensions: all of them from the sphere, on the manifold d - 1 for k and d - 2 for v; E kappa
    theta rho = 1/d^2; kappa and nu are independent."""
    parts = []
    for dim in np.array(run.parameters.dims) - less:
        moments = []
        for free, rest in ((np.full(5, dim), [1 / dim**2]), (np.array([dim - 1, dim - 2]), [])):
            moments += [*(1 / free), *(3 / (free * (free + 2))), *rest, 1 / (free[0] * free[1])]
        parts += [moments, moments]
    return np.concatenate(parts)


def _start_resolution(run: Run) -> np.ndarray:
    """Of the means of kappa^2 nu^2, the last of each block of twelve and of five, finer."""
    moments = _start_moments(run)
    product = np.isin(np.arange(len(moments)) % 17, (11, 16))
    return np.where(product, 0.001 + 0.05 * moments, 0.002 + 0.06 * moments)


STARTS = claim(
    "single-location.starts-in-law", "SL-D5",
    "Starts drawn as five overlaps have the moments of uniform vectors on the spheres and on the"
    " manifold, as starts drawn from vectors have (d = 4 and 7).", source="ours", kind=ESTIMATE,
    experiment=draws.starts, measure=_starts, predict=_start_moments, resolution=_start_resolution,
    argued="64000 starts know a mean of 0.25 to 0.001, fourth moments to 1 %, and means of kappa^2"
    " nu^2, which are 15 % higher if k and v share their lengths, to 0.0002 at d = 7; 6 % tells d"
    " from d - 1 or d + 1.", statistic="mean", scales=quick(repetitions=2, seconds=3),
    sabotages=Sabotage(
        "dimension-less", "Expect the moments of one dimension less.",
        predict=lambda run: _start_moments(run, 1)))


def _pair_moments(run: Run, more: int = 0) -> np.ndarray:
    """0, 0, twice 3/(d (d + 2)), 1/(d (d + 2)) and -1/((d - 1) d (d + 2))."""
    d = run.parameters.dim + more
    return np.array([0, 0, 3, 3, 1, -1 / (d - 1)]) / (d * (d + 2))


DIRECTIONS = claim(
    "single-location.true-directions", "SL-D5",
    "The true directions are drawn as the first two columns of a uniform orthogonal matrix: first"
    " and fourth moments (d = 3).", source="ours", kind=ESTIMATE, experiment=draws.true_directions,
    measure=lambda run: run.data["mean"].values, predict=_pair_moments,
    resolution=[0.03, 0.03, 0.01, 0.01, 0.005, 0.005],
    argued="128000 pairs know the means to 0.002, fourth powers to 0.0007, products to 0.0002.",
    statistic="mean", parts=("k_1", "v_1", "k_1^4", "v_1^4", "k_1^2 v_1^2", "k_1 v_1 k_2 v_2"),
    scales=quick(repetitions=2, seconds=1),
    sabotages=(
        changed("positive", "Take the sizes of the coordinates.", positive=True),
        Sabotage(
            "dimension-more", "Expect the moments of one dimension more.",
            predict=lambda run: _pair_moments(run, 1))))


def _wishart_moments(run: Run, more: int = 0, root: tuple[float, ...] | None = None) -> np.ndarray:
    """n S, n (n S^2 + S_ii S_jj + S_ij^2) and n (n - 1) det S for n degrees and the scale S; none
    adds nothing to one."""
    a, b, c = root or run.parameters.root
    scale, mixed, rows = np.array([a * a, b * b + c * c]), a * b, []
    none, *some = run.parameters.degrees
    for n in (none + some[0] + more, *(degrees + more for degrees in some)):
        squares = [*((n * n + 2 * n) * scale**2), n * n * mixed**2 + n * (scale.prod() + mixed**2)]
        rows.append([*(n * scale), n * mixed, *squares, n * (n - 1) * (a * c) ** 2])
    return np.array(rows).ravel()


MOMENTS = ("W11", "W22", "W12", "W11^2", "W22^2", "W12^2", "det")
WISHART = claim(
    "single-location.wishart-moments", "SL-F5",
    "The matrices drawn for what a stochastic step adds outside the span have the moments of"
    " Wishart's law with 0, 1, 2 and 5 degrees of freedom: entries, their squares, determinant.",
    source="ours", kind=ESTIMATE, experiment=draws.wishart_matrices,
    measure=lambda run: (
        run.data["mean"].values.transpose(2, 1, 0).reshape(run.parameters.replicates, -1)),
    predict=_wishart_moments, resolution=lambda run: 0.01 + 0.05 * np.abs(_wishart_moments(run)),
    argued="Up to 768000 matrices know a mean square to 0.4 %.", statistic="mean",
    parts=tuple(f"{name}, n = {n}" for n in ("0 + 1", 1, 2, 5) for name in MOMENTS),
    scales=quick(repetitions=6, seconds=2),
    sabotages=(
        Sabotage(
            "one-more", "Expect one degree of freedom more.",
            predict=lambda run: _wishart_moments(run, 1)),
        Sabotage(
            "no-lean", "Expect two degrees more and b = 0.2.",
            predict=lambda run: _wishart_moments(run, 2, (0.8, 0.2, 0.6)))))


def _shares(run: Run, turned: int = 0) -> np.ndarray:
    law = np.roll(run.parameters.law, turned)
    two = np.full(len(law), (2 - 0.5 * (turned != 0)) / len(law))
    return np.concatenate([law, law, two, two])


PLACES = claim(
    "single-location.places-drawn", "SL-D5",
    "Informative tokens are drawn at the places of their law, one at uneven places and two at even"
    " ones, by NumPy's generator and by a key.", source="ours", kind=ESTIMATE,
    experiment=draws.places_drawn,
    measure=lambda run: np.concatenate(run.data.share.values, axis=1), predict=_shares,
    resolution=0.02, argued="64000 sequences know a share to 0.002.", statistic="mean",
    parts=tuple(
        f"{case}, place {place}" for case in ("one, NumPy", "one, key", "two, NumPy", "two, key")
        for place in range(1, 5)),
    scales=quick(repetitions=4, seconds=1),
    sabotages=Sabotage(
        "turned", "Expect the law of the places before, and three tokens in two sequences.",
        predict=lambda run: _shares(run, 1)))

ONCE = claim(
    "single-location.numbers-used-once", "SL-D5",
    "Tokens, places and label noise are made of different random numbers: in the order in which"
    " these are given none is like another, by NumPy's generator and by a key.", source="ours",
    kind=IDENTITY, experiment=draws.places_drawn,
    measure=lambda run: one_row(run.data.alike.values.ravel()), resolution=0.05,
    argued="Correlations over 32000 numbers and more fluctuate by 0.006; of the same numbers they"
    " are 1, and 0.3 or more where one of them is a place.",
    parts=tuple(
        f"{case}, {pair}" for case in ("one, NumPy", "one, key", "two, NumPy", "two, key")
        for pair in ("tokens and places", "tokens and noise", "places and noise")),
    scales=quick(seconds=1),
    sabotages=changed("again", "Make places and noise of the tokens' numbers.", again=True))

BAYES = claim(
    "single-location.bayes-predictor", "SL-E1",
    "What the Bayes predictor leaves of Y is uncorrelated with itself and with a token's answer,"
    " with one informative token at uneven places and with two.",
    source="Section 4, eq. (8); the predictor is ours", kind=ESTIMATE,
    experiment=draws.bayes_predictor,
    measure=lambda run: (
        run.data["mean"].values.transpose(2, 0, 1).reshape(run.parameters.replicates, -1)),
    resolution=0.015,
    argued="E[(Y - E[Y|X]) f(X)] = 0 for every f. Products fluctuate by 0.3: 0.001 over 128000"
    " samples; 0.015 is 3 % of the variance of Y.", statistic="mean",
    parts=tuple(f"m={m}, {name}" for m in (1, 2) for name in ("itself", "first token")),
    scales=quick(repetitions=4, seconds=3),
    sabotages=changed("wider", "Assume gamma = 1 where it is 0.8.", assumed_gamma=1.0))


def _by_hand(run: Run, factor: float = 1.0) -> np.ndarray:
    """The four predictors from scores and answers, straight from their definitions."""
    scores, answers = run.data.scores.values, run.data.answers.values
    lam = factor * run.parameters.inverse_temperature
    soft = [np.exp(x) for x in (lam * scores, lam * 1.5 * float(run.data.square) * scores)]
    weights = (
        erf(lam * scores), soft[0] / soft[0].sum(1, keepdims=True),
        scores == scores.max(1, keepdims=True), soft[1] / soft[1].sum(1, keepdims=True))
    return np.concatenate([np.tile((w * answers).sum(1), 3) for w in weights])


MASKED = claim(
    "single-location.masked-tokens", "SL-A1",
    "The erf, softmax and argmax predictors and the attention head are their definitions, along any"
    " axes, and masked tokens change nothing.", source="Section 3, eqs. (1)-(5); masks are ours",
    kind=IDENTITY, experiment=draws.masked_tokens,
    measure=lambda run: one_row(run.data.prediction.values), predict=_by_hand, resolution=1e-12,
    argued="Sums of six terms of order ten at most.",
    sabotages=(changed("ignore-mask", "Let all tokens in.", ignore_mask=True),))


def _heads_by_hand(run: Run) -> np.ndarray:
    """softmax(lambda x Q K^T X^T) X V O^T over the tokens that are there, sample by sample."""
    data, lam, rows = run.data, run.parameters.inverse_temperature, []
    Q, K, V, O = (data[name].values for name in "QKVO")  # noqa: E741 (the paper's letters)
    asked = Q.T @ data.cls.values
    for tokens, there in zip(data.X.values, data.mask.values, strict=True):
        shares = np.exp([lam * sum(asked * (K.T @ x)) for x in tokens[there]])
        shares = shares / sum(shares)
        value = sum(share * (V.T @ x) for share, x in zip(shares, tokens[there], strict=True))
        output = O @ value
        rows.append([*output, output[0], *shares, *[0.0] * int((~there).sum())])
    return np.array(rows)


WIDE = claim(
    "single-location.wide-head", "SL-A1",
    "An attention head of any width is softmax(lambda x Q K^T X^T) X V O^T read at [CLS], over the"
    " tokens that are there (width 3, two outputs).", source="Section 3, eq. (5)", kind=IDENTITY,
    experiment=draws.wide_head,
    measure=lambda run: one_row(np.abs(
        np.concatenate(
            [
                run.data.output.values, run.data.prediction.values[:, None],
                run.data.weight.values],
            axis=1)
        - _heads_by_hand(run)).max()),
    resolution=1e-12, argued="Sums of a few terms of order ten at most.",
    sabotages=changed("one-column", "Keep the first column of each matrix.", narrow=True))


def _named(run: Run, tolerance: float, turns: tuple[int, ...] = (1, -1)) -> np.ndarray:
    """The nearest end by the largest difference of the five inner products, over pairs with k and v
    turned round and with v and v* turned round; 3 where none is within the tolerance."""
    codes = []
    for k, v in run.data.pair.values:
        apart = np.full(len(run.data.end), np.inf)
        for both in turns:
            for mirror in turns:
                key, value, v_star = both * k, both * mirror * v, mirror * np.eye(4)[1]
                state = [key[0], value @ v_star, value[0], key @ v_star, key @ value]
                apart = np.minimum(apart, np.abs(run.data.end.values - state).max(axis=1))
        codes.append(int(np.argmin(apart)) if apart.min() <= tolerance else 3)
    return np.array(codes)


def _way(run: Run, least: float = 0.5, with_product: bool = True) -> np.ndarray:
    """1 swapped, 0 near the manifold, 2 away from it, 3 undecided, by lengths of inner products."""
    codes = []
    for k, v in run.data.pair.values:
        across = np.linalg.norm([v[0], k[1], with_product * (k @ v)])
        if abs(v[1]) > least:
            codes.append(2 if across > 0.5 else 0)
        else:
            codes.append(1 if abs(k[1]) > least else 3)
    return np.array(codes)


def _misnamed(run: Run, turns: tuple[int, ...] = (1, -1), **way: Any) -> np.ndarray:
    """Shares of states named otherwise than by hand: by tolerance, and by the way they went."""
    names = [
        np.mean(_named(run, float(tolerance), turns) != run.data.outcome.values[i])
        for i, tolerance in enumerate(run.data.tolerance)]
    return one_row([*names, np.mean(_way(run, **way) != run.data.fate.values)])


ENDS = claim(
    "single-location.ends-by-name", "SL-N4",
    "An end is named after the nearest of the oracle, the swapped state and the attractor, up to"
    " the two symmetries of the risk, within a tolerance; and the way a run went by |nu|, |eta| and"
    " the distance to the manifold, sqrt(theta^2 + eta^2 + rho^2): 800 states, each by hand.",
    source="ours", kind=IDENTITY, experiment=draws.made_up_ends, measure=_misnamed, resolution=0.0,
    argued="Shares of states; none is so near an edge that rounding decides.",
    parts=("ends, tolerance 0.05", "ends, tolerance 0.2", "way"),
    sabotages=(
        Sabotage(
            "one-image", "Leave out the mirror images, and rho of the distance.",
            measure=lambda run: _misnamed(run, (1,), with_product=False)),
        Sabotage(
            "sooner", "Decide by |nu| and |eta| above 0.45.",
            measure=lambda run: _misnamed(run, least=0.45))))


def _left_out(run: Run, gamma: float = 2**-0.5, lam: float = 1.0, near: float = 0.05) -> np.ndarray:
    """The largest difference to the options said: of the task, of the layers by hand, of formulas,
    and of the names of states just within and just beyond the tolerance from the truth."""
    data, law, at = run.data, [0.5, 0.3, 0.2], Setting(40, 5, 0.6, gamma, 0.0)
    scores, answers, square = data.scores.values, data.answers.values, float(data.square)
    soft = [np.exp(factor * lam * scores) for factor in (1.0, square)]
    weights = (erf(lam * scores), *(one / one.sum(1, keepdims=True) for one in soft))
    layers = np.array([(w * answers).sum(1) for w in weights])
    plain, state = Setting(40, 5, 0.6), Overlaps(0.3, 0.5)
    formulas = (
        (theory.null_risk(), gamma**2),
        (theory.linear_risk(law), theory.linear_risk(law, gamma, 0)),
        (sum(theory.linear_coefficients(law)), sum(theory.linear_coefficients(law, gamma))),
        (theory.linear_risk_lower_bound(law), gamma**2 - gamma**2 * (gamma**2 + 1) / 2),
        (theory.largest_norm_hit_rate(5, 4), theory.largest_norm_hit_rate(5, 4, gamma)),
        (
            theory.critical_inverse_temperature(40, 10),
            theory.critical_inverse_temperature(40, 10, gamma)),
        *(
            (form(state, plain), theory.risk(Overlaps(0.3, 0.5, 0.0, 0.0, 0.0), at))
            for form in (theory.risk, theory.beyond_risk)),
        (theory.spread_manifold_risk(0.3, 0.5, plain), theory.manifold_risk(0.3, 0.5, at)))
    names = dynamics.classify(Overlaps(1 - np.array([near - 1e-9, near + 1e-9]), 1.0), at)
    return one_row([
        np.abs(data.task.values - [gamma, 0, 1, *[1 / 3] * 3]).max(),
        np.abs(data.prediction.values - layers).max(),
        max(abs(float(found) - float(said)) for found, said in formulas),
        np.abs(names - [0, dynamics.OUTCOMES.index("other")]).max()])


LEFT_OUT = claim(
    "single-location.options-left-out", "SL-D5",
    "Options left out are the paper's: gamma^2 = 1/2, no noise, one informative token at even"
    " places, lambda = 1 in a layer, k* orthogonal to v*, zero for theta, eta and rho; an end is"
    " named within 0.05.", source="Section 2; defaults are ours", kind=IDENTITY,
    experiment=draws.left_out, measure=_left_out, resolution=1e-12,
    argued="The same formulas with the options written out, or sums of three terms.",
    parts=("task", "layers", "formulas", "names"),
    sabotages=Sabotage(
        "others", "Say gamma = 0.8, lambda = 1.1 and a tolerance of 0.06.",
        measure=lambda run: _left_out(run, 0.8, 1.1, 0.06)))

PROBED = claim(
    "single-location.probe-on-made-up-states", "SL-F1b",
    "A linear probe of states that hardly vary around large means finds what is in them: classes"
    " one deviation from their middle are told apart with accuracy Phi(1), also where three of four"
    " new states are of one class, and nothing with 1/2.",
    source="Appendix D.1; the states are ours", kind=ESTIMATE, experiment=draws.made_up_states,
    measure=lambda run: run.data.accuracy.values.reshape(-1, 6)[:, [0, 2, 4, 3]],
    predict=lambda run: [*[ndtr(run.parameters.apart)] * 3, 0.5],
    resolution=[0.02, 0.02, 0.02, 0.03],
    argued="Four features fitted to 2000 states cost 0.001; an accuracy on 2000 fluctuates by"
    " 0.009, 0.0016 over 32.", statistic="mean",
    parts=("train, told apart", "test, told apart", "uneven, told apart", "test, nothing"),
    scales=quick(repetitions=16, seconds=2),
    sabotages=(Sabotage(
        "closer", "Expect classes half as far apart, and something where nothing is.",
        predict=lambda run: [*[ndtr(run.parameters.apart / 2)] * 3, ndtr(0.2)]),))
