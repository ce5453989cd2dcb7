"""Claims on the certificate: it never lies, is nearly tight, and silent where experiments live."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents
from saccade.lab.kinds import ABOVE, BELOW, IDENTITY, ORDERING, SLOPE
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.claims import PAPER, broken, claim, seconds
from saccade.studies.sparse_recovery.experiments import certificates

NO_THRESHOLD = Sabotage("thresholds-frozen", "Thresholds frozen at zero.", {"threshold_share": 0.0})
COST = seconds(quick=4, standard=20)
FIGURE = "sparse-recovery/certificate"
_certified = partial(
    claim, status="bound", kind=BELOW, experiment=certificates.certified, figure=FIGURE)
LOOKS = (1, 5, 20)


def _promise(run: Run, coherence_share: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """q and E_0..E_K of every problem, from its mu, delta and nu."""
    data, p = run.data, run.parameters
    mu = coherence_share * data.mu.values
    return theory.error_bounds(mu, data.delta, data.nu, p.sparsity, data.start, p.gamma, p.steps)


def _violations(run: Run, coherence_share: float = 1.0) -> np.ndarray:
    """Worst max_k (|b_k - beta|_1 - E_k)/E_0, entry outside the support, and q - 1."""
    rate, bounds = _promise(run, coherence_share)
    over = ((run.data.error.values - bounds) / bounds[:, :1]).max(1)
    return one_row([over.max(), run.data.outside.values.max(), rate.max() - 1])


def _worst(run: Run) -> np.ndarray:
    p = run.parameters
    return theory.error_bounds(
        p.mu, abs(1 - p.gamma), p.nu, p.sparsity, p.sparsity, p.gamma, p.steps)[1][list(LOOKS)]


def _rate_surplus(run: Run) -> np.ndarray:
    """Slope of -log |b_k - beta|_1 over the first 20 steps minus -log q, one number a problem."""
    logs = np.log(np.maximum(run.data.error.values[:, :21], 1e-300))
    return np.log(_promise(run)[0]) - np.polyfit(np.arange(21), logs.T, 1)[0]


def _over_floor(run: Run, factor: float = 1.0) -> float:
    """How far the worst problem ends above `factor` times its floor."""
    rate, _ = _promise(run)
    floor = 2 * run.parameters.sparsity * run.parameters.gamma * run.data.nu.values / (1 - rate)
    left = run.data.start.values * rate**run.parameters.steps
    return float((run.data.error.values[:, -1] - factor * floor - left).max())


def _label_violations(run: Run, share: float = 1.0, coherence_share: float = 1.0) -> float:
    """max_k (|x^T (b_k - beta)| - |x|_inf E_k)/E_0 of the worst problem."""
    _, bounds = _promise(run, coherence_share)
    allowed = share * run.data.largest_entry.values[:, None] * bounds
    return float(((run.data.label_error.values - allowed) / bounds[:, :1]).max())


def _slopes(run: Run) -> np.ndarray:
    """Exponent of mu in n, one fit a draw."""
    return exponents(run.data.rows.values, run.data.mu.values.T)


LINEAR = _certified(
    "sparse-recovery.linear-convergence", "SR-T2",
    "With the certificate's thresholds |b_k - beta|_1 <= |beta|_1 q^k, q < 1, and the support is"
    " never left.",
    "A theorem for every single matrix, so no problem may violate it; 1e-12 is rounding once"
    " errors are at 1e-16. N = 1000 rows.", NO_THRESHOLD,
    broken("half-the-coherence", "Promise with half of mu.", _violations, 0.5), measure=_violations,
    resolution=[1e-12, 1e-12, 0.0], source=f"Theorem 5.1, {PAPER}; the certificate is ours",
    parts=("error above the bound", "false positives", "q - 1"), scales=COST)

ATTAINED = claim(
    "sparse-recovery.certificate-is-attained", "SR-T2",
    "The certificate cannot be improved: on one family of problems every error, noise included,"
    " is E_k itself.",
    "No chance: columns that lean away from each other, and noise that pulls down; rounding only.",
    Sabotage("leaning-together", "Columns that lean towards each other.", {"sign": 1.0}),
    measure=lambda run: one_row(run.data.error.values[list(LOOKS)]), predict=_worst,
    resolution=1e-10, kind=IDENTITY, experiment=certificates.worst_case,
    parts=tuple(f"step {step}" for step in LOOKS), scales=seconds(quick=1), figure=FIGURE)

BOUNDED = _certified(
    "sparse-recovery.linear-convergence-bounded", "SR-T2",
    "The same for bounded rows (Rademacher), which is what the paper's theorem assumes.",
    LINEAR.argued, NO_THRESHOLD, measure=_violations, resolution=[1e-12, 1e-12, 0.0],
    source=f"Theorem 5.1, {PAPER}", parts=LINEAR.parts,
    scales=seconds(quick=4, design="rademacher"))

RATE = _certified(
    "sparse-recovery.rate-at-least-certified", "SR-T2b",
    "Measured over the first 20 steps, errors fall at least as fast as the certificate says.",
    "Paired with each problem's own q; the surplus is a few hundredths of a rate of 0.6.",
    Sabotage("thresholds-too-high", "Thresholds three times as high.", {"threshold_share": 3.0}),
    measure=_rate_surplus, resolution=0.01, kind=ORDERING, statistic="mean",
    scales=seconds(quick=8, repetitions=4))

NOISY = claim(
    "sparse-recovery.noise-floor", "SR-T2c", "With noise the error ends below 2 S g nu/(1 - q).",
    "A theorem for every matrix and noise; what is left of the start after 60 steps is added.",
    broken(
        "without-2S", "A floor without the factor 2 S.",
        lambda run: _over_floor(run, 1 / (2 * run.parameters.sparsity))),
    measure=_over_floor, resolution=1e-12, status="bound", kind=BELOW,
    experiment=certificates.certified, scales=seconds(quick=5, noise=0.1, rows=2000))

LABEL = _certified(
    "sparse-recovery.label-bound", "SR-T4",
    "The label error of the quadratic read-out is at most |x|_inf E_k, after every layer.",
    "Hoelder's inequality on top of the certificate; no problem may violate it.",
    broken(
        "quarter-of-the-coherence", "Promise with a quarter of mu.", _label_violations,
        coherence_share=0.25),
    broken("tenth", "A tenth of |x|_inf.", _label_violations, 0.1), measure=_label_violations,
    resolution=1e-12, source=f"Theorem 5.1, {PAPER}", scales=COST)

COHERENCE = claim(
    "sparse-recovery.coherence-decay", "SR-T3",
    "The coherence mu of a matrix with n independent rows falls as n^(-1/2).",
    "A maximum of 190 nearly normal entries: its scatter is a tenth of it, and four sizes span a"
    " factor of 64.",
    Sabotage(
        "correlated-columns", "Columns correlated by 0.5: mu tends to 0.5.",
        {"design": "correlated"}),
    measure=_slopes, predict=lambda run: -0.5, resolution=0.03,
    source=f"the step behind Theorem 5.1, {PAPER}", status="asymptotic", kind=SLOPE,
    experiment=certificates.coherence, statistic="mean", scales=seconds(quick=6, repetitions=4))

VACUOUS = _certified(
    "sparse-recovery.certificate-needs-rows", "SR-T3b",
    "At the ten rows of the experiments q exceeds 1 for every matrix drawn: nothing is certified"
    " there.", "The smallest q of 50 matrices; about 4 at N = 10, against the 1 that matters.",
    Sabotage("many-rows", "Two thousand rows.", {"rows": 2000}),
    measure=lambda run: float(_promise(run)[0].min()), predict=lambda run: 1.0, resolution=0.0,
    status="exact", kind=ABOVE, scales=seconds(quick=2, rows=10, steps=20),
    finding=(
        "The certificate of a linear rate needs some 500 rows at d = 20, S = 3 (q < 1); at the"
        " experiments' N = 10 it says nothing, and its thresholds keep the estimate at zero. For"
        " N >= d noise-free least squares is exact anyway."))

AT_TEN = _certified(
    "sparse-recovery.certified-where-tested", "SR-T3b",
    "The guarantee of a linear rate covers the size of the experiments, N = 10 rows at d = 20, S"
    " = 3.", "A linear rate is q < 1; the most favourable of 50 matrices is judged.",
    Sabotage("five-rows", "Five rows.", {"rows": 5}),
    measure=lambda run: float(_promise(run)[0].min()), predict=lambda run: 1.0, resolution=0.0,
    source=f"the abstract of {PAPER} read together with its experiments", scales=VACUOUS.scales,
    expected="refuted", corrected=VACUOUS.id, finding=VACUOUS.finding)
