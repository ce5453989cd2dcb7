"""Claims on query and key matrices that are not merged: the saddle at zero, the wait there, the
late law, and random starts of every rank."""

from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import slopes
from saccade.lab.kinds import ABOVE, ESTIMATE, IDENTITY, SLOPE
from saccade.studies.group_sparse.claims import answers, claim
from saccade.studies.group_sparse.experiments import unmerged
from saccade.studies.group_sparse.theory import laws

MERGED = answers(
    "Design tradeoffs",
    "The paper merges W_Q and W_K into one matrix W for theoretical tractability")
_ours = partial(claim, source="ours; the paper merges the two", citation=MERGED)

THREE_NUMBERS = _ours(
    "group-sparse.unmerged-three-numbers", "GS-O2",
    "From a rank-one start descent of K, Q and v with batches reaches the alpha and the gap of the"
    " map of three numbers.",
    "Relative differences; batches of 200 add a bias of some 0.5 % and 32 runs leave 0.2 %.",
    status="quadrature", kind=ESTIMATE, experiment=unmerged.unmerged_rank_one,
    measure=lambda run: run.data.full.values / run.data["map"].values, predict=lambda run: 1.0,
    resolution=0.02, statistic="mean", parts=("alpha", "gap"), scales={"quick": Scale(seconds=2)},
    sabotages=(Sabotage("other-start", "The map from half the start.", {"map_size": 0.35}),))

SADDLE = _ours(
    "group-sparse.unmerged-zero-stands", "GS-O2",
    "From the paper's zero start a layer with K and Q apart never moves its attention: it stays"
    " uniform, exactly.", "No chance: both gradients are products with the other, zero, matrix.",
    "Merging hides a saddle: W = 0 is left at once, K = Q = 0 never.", kind=IDENTITY,
    experiment=unmerged.unmerged_rank_one,
    measure=lambda run: one_row(
        np.abs(run.data.attention.values - 1 / run.parameters.groups).max()),
    resolution=1e-12, scales={"quick": Scale({"size": 0.0, "steps": 10}, seconds=2)},
    figure="group-sparse/unmerged",
    sabotages=(Sabotage("small-start", "A start of size 0.7.", {"size": 0.7}),))


def _resting_alpha(groups: int) -> float:
    """Where alpha stops under uniform attention: E[sigmoid(-alpha T) T] = 0 for T = |u| + R with R
    of variance D - 1. T is sqrt(D) x with twice the normal density times P(u > 0 | T)."""

    def pull(alpha: float) -> float:
        def integrand(x: float) -> float:
            density = 2 * np.exp(-(x**2) / 2) * ndtr(x / np.sqrt(groups - 1))
            return density * expit(-alpha * np.sqrt(groups) * x) * x

        return quad(integrand, -9, 9)[0]

    root: Any = brentq(pull, 1e-3, 10.0)
    return float(root)


def wait(run: Run, both: bool = True) -> np.ndarray:
    """Steps for each unit of log(1/A(0)): near the saddle a and theta both grow by 1 + lambda a
    step, lambda = eta c alpha sqrt(D-1) / (D sqrt(2 pi)) at the alpha of uniform attention."""
    D = run.data.groups.values.astype(float)
    alpha = np.array([_resting_alpha(int(size)) for size in D])
    rate = run.parameters.step_size * (D + 1) / 2 * alpha * np.sqrt(D - 1) / D / np.sqrt(2 * np.pi)
    return 1 / ((2 if both else 1) * np.log1p(rate))


ESCAPE = _ours(
    "group-sparse.unmerged-waits-at-saddle", "GS-O2",
    "From small K and Q of rank one descent waits at the saddle: the steps until attention is one"
    " half grow by 1/(2 log(1 + lambda)) for each unit of log(1/A(0)).",
    "No chance; times are read on a grid of 4 steps, 2 % of the difference.", status="asymptotic",
    kind=SLOPE, experiment=unmerged.escape_times,
    measure=lambda run: one_row(-slopes(np.log(run.data.gap.values), run.data.steps.values)),
    predict=wait, resolution=lambda run: 0.04 * wait(run), parts=("D=4", "D=12"),
    scales={"quick": Scale(seconds=2)}, figure="group-sparse/unmerged",
    sabotages=(Sabotage(
        "one-matrix", "Predict as if K alone moved at this rate.",
        predict=lambda run: wait(run, both=False)),))


def _late_ratios(run: Run, merged: bool = False, next_term: bool = True) -> np.ndarray:
    """1 - S over the merged layer's late law with c^2 replaced by 2 A c sqrt(D-1), and over 1 +
    e^2/A; [case][step]."""
    sigma, rows = run.parameters.scale, []
    for D, eta, gaps in zip(
        *[run.data[name].values for name in ("groups", "step_size", "gap")], strict=True
    ):
        c, others = (D + 1) / 2, (D - 1) * np.exp(-gaps)
        lengths = np.full(len(gaps), c) if merged else np.sqrt(2 * gaps * c * np.sqrt(D - 1))
        late = [
            laws.late_laws(int(D), float(eta), int(time), sigma, float(length))
            for time, length in zip(run.data.step.values, lengths, strict=True)]
        law = np.array([one.one_minus_attention for one in late])
        k = np.array([one.attention_constant for one in late])
        drift = laws.unmerged_drift(int(D), float(eta), sigma, lengths, k) / gaps
        rows.append(others / (1 + others) / law / (1 + drift * next_term))
    return np.array(rows)


MERGED_LAW = Sabotage(
    "merged", "The law of the merged layer.",
    measure=lambda run: one_row(_late_ratios(run, merged=True)[:, -1]))
_unmerged_late = partial(
    _ours, status="asymptotic", experiment=unmerged.unmerged_late, parts=("D=6", "D=16"),
    scales={"quick": Scale(seconds=2), "standard": Scale(seconds=10)},
    figure="group-sparse/unmerged")

LATE = _unmerged_late(
    "group-sparse.unmerged-late-law", "GS-O2",
    "Late in training the unmerged layer of rank one concentrates as the merged one with c^2"
    " replaced by 2 A c sqrt(D-1), faster by a logarithm of time, times 1 + e^2/A with e ="
    " -dlog k/dlog c^2.",
    "No chance; the law follows A as if it stood, and its drift makes e^2/A, 6 % at 400000 steps;"
    " the term after it is of order 1/A^2, 1 %.", kind=ESTIMATE,
    measure=lambda run: one_row(_late_ratios(run)[:, -1]), predict=lambda run: 1.0, resolution=0.02,
    sabotages=(
        MERGED_LAW,
        Sabotage(
            "no-drift", "Without the term e^2/A.",
            measure=lambda run: one_row(_late_ratios(run, next_term=False)[:, -1]))))


def _gap_exponents(run: Run, **other: bool) -> np.ndarray:
    """Exponent of A in the law's relative error over the last factor of four in time."""
    errors = np.log(np.abs(_late_ratios(run, **other) - 1))
    gaps = np.log(run.data.gap.values)
    return one_row([float(slopes(*pair)) for pair in zip(gaps, errors, strict=True)])


UNMERGED_APPROACHED = _unmerged_late(
    "group-sparse.unmerged-law-is-approached", "GS-O2",
    "The late law of the unmerged layer with its term e^2/A is a limit: what is off falls as"
    " 1/A^2.",
    "No chance; terms of relative size 1 - S and 1/A leave 0.2 in the exponent at 400000 steps.",
    kind=SLOPE, measure=_gap_exponents, predict=lambda run: -2.0, resolution=0.35,
    sabotages=(
        Sabotage(
            "no-drift", "Without the term e^2/A, which leaves 1/A.",
            measure=lambda run: _gap_exponents(run, next_term=False)),
        Sabotage(
            "merged", "The law of the merged layer.",
            measure=lambda run: _gap_exponents(run, merged=True))))


RANKS = _ours(
    "group-sparse.any-rank-selects", "GS-O2",
    "K and Q of rank 1, 2, 4 or 10 from small random entries (d = 4, D = 6) put more than 0.97 of"
    " the attention on the group within 300 steps, where the merged layer has 0.95.",
    "Medians over starts; every rank has the best of three step sizes on other seeds.",
    "Rank one is enough, and unmerged matrices concentrate faster once they have left the saddle.",
    status="heuristic", kind=ABOVE, experiment=unmerged.ranks, statistic="median",
    measure=lambda run: np.nan_to_num(run.data.attention.values.T, nan=0.0),
    predict=lambda run: 0.97, resolution=0.0, parts=("r=1", "r=2", "r=4", "r=10"),
    scales={"standard": Scale(seconds=30)},
    sabotages=(Sabotage("early", "Stop after 20 steps, near the saddle.", {"steps": 20}),))
