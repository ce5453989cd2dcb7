"""Claims on the certificate of a linear rate: it never lies, it is nearly tight, and it says
nothing where the experiments live."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, BELOW, IDENTITY, ORDERING, SLOPE
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.experiments import certificates

PAPER = "arXiv 2410.13981"
NO_THRESHOLD = Sabotage("thresholds-frozen", "Thresholds frozen at zero.", {"threshold_share": 0.0})
HIGH = Sabotage("thresholds-too-high", "Thresholds three times as high.", {"threshold_share": 3.0})
COST = {"quick": Scale(seconds=4), "standard": Scale(seconds=20)}
FIGURE = "sparse-recovery/certificate"


def _promise(run: Run, coherence_share: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """q and E_0..E_K of every problem, from its mu, delta and nu."""
    data, p = run.data, run.parameters
    mu = coherence_share * data.mu.values
    return theory.error_bounds(mu, data.delta, data.nu, p.sparsity, data.start, p.gamma, p.steps)


def _violations(run: Run, coherence_share: float = 1.0) -> np.ndarray:
    """max_k (|b_k - beta|_1 - E_k)/E_0, the largest entry outside the support, and q - 1: the worst
    of all problems."""
    rate, bounds = _promise(run, coherence_share)
    over = ((run.data.error.values - bounds) / bounds[:, :1]).max(1)
    return one_row([over.max(), run.data.outside.values.max(), rate.max() - 1])


LINEAR = Claim(
    id="sparse-recovery.linear-convergence", spec="SR-T2",
    statement=(
        "With the certificate's thresholds |b_k - beta|_1 <= |beta|_1 q^k, q < 1, and the support"
        " is never left."),
    source=f"Theorem 5.1, {PAPER}; the certificate is ours", status="bound", kind=BELOW,
    experiment=certificates.certified, measure=_violations, predict=lambda run: np.zeros(3),
    resolution=[1e-12, 1e-12, 0.0],
    argued=(
        "A theorem for every single matrix, so no problem may violate it; 1e-12 is rounding once"
        " errors are at 1e-16. N = 1000 rows."),
    parts=("error above the bound", "false positives", "q - 1"), scales=COST, figure=FIGURE,
    sabotages=(
        NO_THRESHOLD,
        Sabotage(
            "half-the-coherence", "Promise with half of mu.",
            measure=lambda run: _violations(run, 0.5))))


def _worst(run: Run) -> np.ndarray:
    p = run.parameters
    return theory.error_bounds(
        p.mu, abs(1 - p.gamma), p.nu, p.sparsity, p.sparsity, p.gamma, p.steps)[1][list(LOOKS)]


LOOKS = (1, 5, 20)
ATTAINED = Claim(
    id="sparse-recovery.certificate-is-attained", spec="SR-T2",
    statement=(
        "The certificate cannot be improved: on one family of problems every error, noise included,"
        " is E_k itself."),
    source="ours", status="exact", kind=IDENTITY, experiment=certificates.worst_case,
    measure=lambda run: one_row(run.data.error.values[list(LOOKS)]), predict=_worst,
    resolution=1e-10,
    argued=(
        "No chance: columns that lean away from each other, and noise that pulls down; rounding"
        " only."),
    parts=tuple(f"step {step}" for step in LOOKS), scales={"quick": Scale(seconds=1)},
    figure=FIGURE,
    sabotages=(
        Sabotage("leaning-together", "Columns that lean towards each other.", {"sign": 1.0}),))

BOUNDED = Claim(
    id="sparse-recovery.linear-convergence-bounded", spec="SR-T2",
    statement="The same for bounded rows (Rademacher), which is what the paper's theorem assumes.",
    source=f"Theorem 5.1, {PAPER}", status="bound", kind=BELOW, experiment=certificates.certified,
    measure=_violations, predict=lambda run: np.zeros(3), resolution=[1e-12, 1e-12, 0.0],
    argued=LINEAR.argued, parts=LINEAR.parts,
    scales={"quick": Scale({"design": "rademacher"}, seconds=4)}, figure=FIGURE,
    sabotages=(NO_THRESHOLD,))


def _rate_surplus(run: Run) -> np.ndarray:
    """Slope of -log |b_k - beta|_1 over the first 20 steps minus -log q, one number a problem."""
    steps = np.arange(21)
    logs = np.log(np.maximum(run.data.error.values[:, :21], 1e-300))
    slope = (
        -((steps - 10) * (logs - logs.mean(1, keepdims=True))).sum(1) / ((steps - 10) ** 2).sum())
    return slope + np.log(_promise(run)[0])


RATE = Claim(
    id="sparse-recovery.rate-at-least-certified", spec="SR-T2b",
    statement=(
        "Measured over the first 20 steps, errors fall at least as fast as the certificate says."),
    source="ours", status="bound", kind=ORDERING, experiment=certificates.certified,
    measure=_rate_surplus, predict=lambda run: 0.0, resolution=0.01,
    argued="Paired with each problem's own q; the surplus is a few hundredths of a rate of 0.6.",
    statistic="mean", scales={"quick": Scale(repetitions=4, seconds=8)}, figure=FIGURE,
    sabotages=(HIGH,))


def _over_floor(run: Run, factor: float = 1.0) -> float:
    """How far the worst problem ends above `factor` times its floor."""
    rate, _ = _promise(run)
    floor = 2 * run.parameters.sparsity * run.parameters.gamma * run.data.nu.values / (1 - rate)
    left = run.data.start.values * rate**run.parameters.steps
    return float((run.data.error.values[:, -1] - factor * floor - left).max())


NOISY = Claim(
    id="sparse-recovery.noise-floor", spec="SR-T2c",
    statement="With noise the error ends below 2 S g nu/(1 - q).", source="ours", status="bound",
    kind=BELOW, experiment=certificates.certified, measure=_over_floor, predict=lambda run: 0.0,
    resolution=1e-12,
    argued=(
        "A theorem for every matrix and noise; what is left of the start after 60 steps is added."),
    scales={"quick": Scale({"noise": 0.1, "rows": 2000}, seconds=5)},
    sabotages=(Sabotage(
        "without-2S", "A floor without the factor 2 S.",
        measure=lambda run: _over_floor(run, 1 / (2 * run.parameters.sparsity))),))


def _label_violations(run: Run, share: float = 1.0, coherence_share: float = 1.0) -> float:
    """max_k (|x^T (b_k - beta)| - |x|_inf E_k)/E_0 of the worst problem."""
    _, bounds = _promise(run, coherence_share)
    allowed = share * run.data.largest_entry.values[:, None] * bounds
    return float(((run.data.label_error.values - allowed) / bounds[:, :1]).max())


LABEL = Claim(
    id="sparse-recovery.label-bound", spec="SR-T4",
    statement=(
        "The label error of the quadratic read-out is at most |x|_inf E_k, after every layer."),
    source=f"Theorem 5.1, {PAPER}", status="bound", kind=BELOW, experiment=certificates.certified,
    measure=_label_violations, predict=lambda run: 0.0, resolution=1e-12,
    argued="Hoelder's inequality on top of the certificate; no problem may violate it.",
    scales=COST, figure=FIGURE,
    sabotages=(
        Sabotage(
            "quarter-of-the-coherence", "Promise with a quarter of mu.",
            measure=lambda run: _label_violations(run, coherence_share=0.25)),
        Sabotage("tenth", "A tenth of |x|_inf.", measure=lambda run: _label_violations(run, 0.1))))


def _slopes(run: Run) -> np.ndarray:
    """Exponent of mu in n, one fit a draw."""
    x = np.log(run.data.rows.values)
    x = x - x.mean()
    return (x[:, None] * np.log(run.data.mu.values)).sum(0) / (x**2).sum()


COHERENCE = Claim(
    id="sparse-recovery.coherence-decay", spec="SR-T3",
    statement="The coherence mu of a matrix with n independent rows falls as n^(-1/2).",
    source=f"the step behind Theorem 5.1, {PAPER}", status="asymptotic", kind=SLOPE,
    experiment=certificates.coherence, measure=_slopes, predict=lambda run: -0.5, resolution=0.03,
    argued=(
        "A maximum of 190 nearly normal entries: its scatter is a tenth of it, and four sizes span"
        " a factor of 64."),
    statistic="mean", scales={"quick": Scale(repetitions=4, seconds=6)},
    sabotages=(Sabotage(
        "correlated-columns", "Columns correlated by 0.5: mu tends to 0.5.",
        {"design": "correlated"}),))

VACUOUS = Claim(
    id="sparse-recovery.certificate-needs-rows", spec="SR-T3b",
    statement=(
        "At the ten rows of the experiments q exceeds 1 for every matrix drawn: nothing is"
        " certified there."),
    source="ours", status="exact", kind=ABOVE, experiment=certificates.certified,
    measure=lambda run: float(_promise(run)[0].min()), predict=lambda run: 1.0, resolution=0.0,
    argued="The smallest q of 50 matrices; about 4 at N = 10, against the 1 that matters.",
    scales={"quick": Scale({"rows": 10, "steps": 20}, seconds=2)}, figure=FIGURE,
    finding=(
        "The certificate of a linear rate needs some 500 rows at d = 20, S = 3 (q < 1); at the"
        " experiments' N = 10 it says nothing, and its thresholds keep the estimate at zero. For N"
        " >= d noise-free least squares is exact anyway."),
    sabotages=(Sabotage("many-rows", "Two thousand rows.", {"rows": 2000}),))

AT_TEN = Claim(
    id="sparse-recovery.certified-where-tested", spec="SR-T3b",
    statement=(
        "The guarantee of a linear rate covers the size of the experiments, N = 10 rows at d = 20,"
        " S = 3."),
    source=f"the abstract of {PAPER} read together with its experiments", status="bound",
    kind=BELOW, experiment=certificates.certified,
    measure=lambda run: float(_promise(run)[0].min()), predict=lambda run: 1.0, resolution=0.0,
    argued="A linear rate is q < 1; the most favourable of 50 matrices is judged.",
    scales=VACUOUS.scales, expected="refuted", corrected=VACUOUS.id, finding=VACUOUS.finding,
    figure=FIGURE, sabotages=(Sabotage("five-rows", "Five rows.", {"rows": 5}),))
