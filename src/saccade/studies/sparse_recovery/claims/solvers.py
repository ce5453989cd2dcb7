"""Claims on classical solvers: rates, ALISTA's weight, the minimum of other libraries."""

import numpy as np

from saccade.lab.claim import Citation, Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, IDENTITY, ORDERING
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.claims import broken, claim, seconds
from saccade.studies.sparse_recovery.experiments import solvers

WRONG_PENALTY = Sabotage(
    "wrong-penalty", "Give the others 1.3 lam: a forgotten factor.", {"penalty_factor": 1.3})
OWN_PENALTY = Sabotage(
    "own-wrong-penalty", "Solve for 1.3 lam ourselves, and measure at lam.", {"own_factor": 1.3})


def _over_bound(run: Run, bounds=(theory.ista_bound, theory.fista_bound)) -> np.ndarray:
    """max_k (F(b_k) - F*)/bound of the worst problem, ISTA and FISTA."""
    data = run.data
    steps, L, distance = (
        data.step.values[None, :], data.lipschitz.values[:, None], data.distance.values[:, None])
    ratios = [
        (data.gap.sel(algorithm=method).values / bound(steps, L, distance)).max()
        for method, bound in zip(("ista", "fista"), bounds, strict=True)]
    return one_row(ratios)


def _from_optimum(run: Run) -> np.ndarray:
    """Distance to projected descent, what the constraint misses, and the gradient along it."""
    rows = []
    for X, W in zip(run.data.X.values[:4], run.data.W.values[:4], strict=True):
        uphill = X @ (X.T @ W)  # half the gradient of |W^T X|_F^2
        along = (uphill * X).sum(0) / (X**2).sum(0)
        stationarity = np.abs(uphill - along * X).max()
        descended = theory.frobenius_by_projection(X)
        rows.append([np.abs(W - descended).max(), np.abs((W * X).sum(0) - 1).max(), stationarity])
    return np.array(rows)


def _coherences(run: Run) -> np.ndarray:
    return np.array([
        (theory.normalised_coherence(X), theory.coherence(W, X), theory.lp_coherence(X))
        for X, W in zip(run.data.X.values, run.data.W.values, strict=True)])


def _excess(run: Run) -> np.ndarray:
    """Largest difference of objectives, one column a library, and our own relative gap."""
    return np.append(np.abs(run.data.excess.values).max((1, 2)), run.data.gap.values.max())[None, :]


RATES = claim(
    "sparse-recovery.solver-rates", "SR-T5",
    "ISTA stays below L |b*|^2/(2k), FISTA below 2 L |b*|^2/(k+1)^2, at every step;"
    " the bounds hold at the start, too.",
    "Theorems for every problem: the ratio may nowhere exceed one.",
    broken(
        "one-power-more", "Promise 1/k^2 for ISTA and 1/k^3 for FISTA.", _over_bound,
        (theory.fista_bound, lambda k, *rest: theory.fista_bound(k, *rest) / (k + 1))),
    measure=_over_bound, predict=lambda run: 1.0, resolution=0.0, source="Beck and Teboulle (2009)",
    citation=Citation(
        "Beck and Teboulle (2009), Theorems 3.1 and 4.4",
        "F(x_k) - F* <= L |x_0 - x*|^2/(2k) and 2 L |x_0 - x*|^2/(k+1)^2", "exact"),
    status="bound", kind=BELOW, experiment=solvers.rates, parts=("ISTA", "FISTA"),
    scales=seconds(quick=4, standard=8), figure="sparse-recovery/layers")

WEIGHT = claim(
    "sparse-recovery.alista-closed-form", "SR-A1",
    "ALISTA's weight is w_j = P x_j/(x_j^T P x_j), P = pinv(X X^T): the limit of projected"
    " descent and the optimum.",
    "Rounding; projected descent has converged after 2000 steps at 6 x 20 (at 10 x 20 and a"
    " condition of 11 it is still 1e-8 away, and it has not where N is near d).",
    broken(
        "normalised-columns", "Use x_j/|x_j|^2 instead.",
        lambda run: _from_optimum(
            run._replace(data=run.data.assign(W=run.data.X / (run.data.X**2).sum("row"))))),
    broken(
        "no-leverage", "The pseudo-inverse alone, not divided by w_j^T x_j.",
        lambda run: _from_optimum(run._replace(data=run.data.assign(
            W=(run.data.X.dims, np.linalg.pinv(run.data.X.values).swapaxes(1, 2)))))),
    measure=_from_optimum, resolution=1e-9,
    source="ours; the program is from Liu, Chen, Wang, Yin (2019)", kind=IDENTITY,
    experiment=solvers.weights, parts=("projected descent", "w_j^T x_j = 1", "stationarity"),
    scales=seconds(quick=4, rows=6))

COHERENCE = claim(
    "sparse-recovery.coherence-order", "SR-A2",
    "Coherence falls from normalised columns to ALISTA's weight to the linear program's optimum.",
    "Paired on the same matrices; typical differences are 0.2 to 0.4.",
    Sabotage(
        "orthonormal-rows",
        "Orthonormal rows, for which ALISTA's weight is the normalised columns.",
        {"design": "orthonormal"}),
    Sabotage("more-rows-than-columns", "30 rows: both optima are zero.", {"rows": 30}),
    measure=lambda run: -np.diff(_coherences(run), axis=1), predict=lambda run: 1e-9,
    resolution=0.01, source="Liu, Chen, Wang, Yin (2019); measured by saccade", kind=ORDERING,
    experiment=solvers.weights, statistic="median",
    parts=("normalised columns > closed form", "closed form > linear program"),
    scales=seconds(quick=6, repetitions=2))

PEERS = claim(
    "sparse-recovery.same-as-scikit-learn", "SR-P1",
    "Our LASSO and scikit-learn's find the same minimum, with more and with fewer rows than"
    " coordinates.",
    "Both run to rounding; 1e-8 of F(0) is what their own stopping rule leaves. Our duality gap"
    " must be below 1e-10 of F(0).", WRONG_PENALTY, OWN_PENALTY, measure=_excess,
    resolution=[1e-8, 1e-10], kind=IDENTITY, experiment=solvers.peers,
    parts=("scikit-learn", "our duality gap"), scales=seconds(quick=6, standard=20))

MORE_PEERS = claim(
    "sparse-recovery.same-as-celer-and-skglm", "SR-P1",
    "Our LASSO finds the minimum that celer and skglm find.", PEERS.argued, WRONG_PENALTY,
    OWN_PENALTY, measure=_excess, resolution=[1e-8, 1e-8, 1e-10], kind=IDENTITY,
    experiment=solvers.peers, parts=("celer", "skglm", "our duality gap"),
    scales=seconds(standard=60, libraries=("celer", "skglm")), requires="bench:celer,skglm")
