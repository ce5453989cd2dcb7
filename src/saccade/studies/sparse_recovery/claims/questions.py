"""Claims on the open questions: numbers of rows, other laws of the matrix, more layers."""

import itertools

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, BELOW, IDENTITY, ORDERING
from saccade.studies.sparse_recovery.experiments import questions

PAPER = "arXiv 2410.13981"
PAIRED = "Paired on the same test problems; medians, because errors have heavy tails."
COUNTS = (10, 12, 15, 20, 30, 40)
ROWS = {"quick": Scale(seconds=20), "standard": Scale(seconds=40)}
LARGE = 6.0  # twice the error of predicting zero: what counts as diverged at S = 3


def error_of(run: Run, name: str, **at) -> np.ndarray:
    """Errors of one method, one number a test problem (and further axes behind it)."""
    return run.data.error.sel(algorithm=name, **at).transpose("test", ...).values


def _diverged(run: Run, name: str, **at) -> np.ndarray:
    """One where the error is above twice that of predicting zero."""
    return (error_of(run, name, **at) > LARGE).astype(float)


def _falls(run: Run, name: str) -> np.ndarray:
    counts = [n for n in run.data.rows.values if n >= 10]
    errors = run.data.error.sel(algorithm=name, rows=counts).transpose("test", "rows").values
    return errors[:, :-1] - errors[:, 1:]


MORE_ROWS = Claim(
    id="sparse-recovery.more-rows", spec="SR-F6",
    statement=(
        "LISTA-VM trained on 10 rows gets better with every further row at test, up to 40; LISTA"
        " and LISTA-CP cannot even be asked."),
    source=f"open question 3, {PAPER}; the answer is ours", status="heuristic", kind=ORDERING,
    experiment=questions.row_counts, measure=lambda run: _falls(run, "lista-vm"),
    predict=lambda run: 0.0, resolution=1e-3, argued=PAIRED, statistic="median",
    parts=tuple(f"{n} to {m} rows" for n, m in itertools.pairwise(COUNTS)), scales=ROWS,
    figure="sparse-recovery/rows",
    sabotages=(Sabotage(
        "fewer-rows", "Count the rows the other way round.",
        measure=lambda run: -_falls(run, "lista-vm")),))

SHORT = Claim(
    id="sparse-recovery.short-prompts-diverge", spec="SR-F6",
    statement=(
        "On 4 rows at least 15 % of problems diverge under LISTA-VM trained on 10: its step,"
        " divided by 2n + 1, becomes too long."),
    source="ours", status="heuristic", kind=ABOVE, experiment=questions.row_counts,
    measure=lambda run: _diverged(run, "lista-vm", rows=4), predict=lambda run: 0.15,
    resolution=0.0,
    argued=(
        "A share of test problems; measured 27 %. Diverged means an error above twice that of"
        " predicting zero."),
    statistic="fraction", scales=ROWS, figure="sparse-recovery/rows",
    finding=(
        "LISTA-VM trained on 10 rows diverges on short prompts (27 % of problems at 4 rows) and"
        " loses to FISTA from 20 rows on. Dividing the step by |X|^2 instead of 2n + 1 cures the"
        " first."),
    sabotages=(
        Sabotage(
            "ten-rows", "Ten rows, as trained.",
            measure=lambda run: _diverged(run, "lista-vm", rows=10)),
        Sabotage(
            "norm-adapted", "A step divided by |X|^2.",
            measure=lambda run: _diverged(run, "lista-adaptive", rows=4))))

ANY_LENGTH = Claim(
    id="sparse-recovery.any-length", spec="SR-F6",
    statement=(
        "Trained LISTA-VM can be used with any number of rows: on 4 rows, too, fewer than 10 % of"
        " problems diverge."),
    source=f"the reading of {PAPER} that one network serves all prompt lengths", status="heuristic",
    kind=BELOW, experiment=questions.row_counts,
    measure=lambda run: _diverged(run, "lista-vm", rows=4), predict=lambda run: 0.10,
    resolution=0.0, argued=SHORT.argued
    + " FISTA and predicting zero stay near 6 %, the share of vectors longer than that.",
    statistic="fraction", scales=ROWS, figure="sparse-recovery/rows", expected="refuted",
    corrected=SHORT.id, finding=SHORT.finding,
    sabotages=(Sabotage(
        "alista-instead", "ALISTA on 4 rows.",
        measure=lambda run: _diverged(run, "alista", rows=4)),))


def _over_fista(run: Run, counts: tuple[int, ...]) -> np.ndarray:
    at = {"rows": list(counts)}
    return error_of(run, "lista-vm", **at) - error_of(run, "fista", **at)


OVERTAKEN = Claim(
    id="sparse-recovery.fista-overtakes", spec="SR-F6",
    statement=(
        "From 20 rows on FISTA with as many steps is better than LISTA-VM trained on 10 rows."),
    source="ours", status="heuristic", kind=ORDERING, experiment=questions.row_counts,
    measure=lambda run: _over_fista(run, (20, 30, 40)), predict=lambda run: 0.0, resolution=2e-3,
    argued=PAIRED + " FISTA's penalty is the best on the test problems at each number of rows.",
    statistic="median", parts=("20 rows", "30 rows", "40 rows"), scales=ROWS,
    figure="sparse-recovery/rows",
    sabotages=(Sabotage(
        "ten-rows", "Ten rows, as trained.", measure=lambda run: _over_fista(run, (10, 10, 10))
    ),))


INVARIANT = Claim(
    id="sparse-recovery.alista-sees-the-row-space", spec="SR-Q2",
    statement=(
        "Noise-free ALISTA depends on X only through its row space: X -> A X changes nothing;"
        " LISTA-VM on c X is LISTA-VM with c^2 M on X."),
    source="ours", status="exact", kind=IDENTITY, experiment=questions.invariance,
    measure=lambda run: one_row(run.data.apart.values), predict=lambda run: np.zeros(3),
    resolution=1e-6,
    argued=(
        "W^T X = D V V^T with V the right singular vectors: A cancels. Relative, median over"
        " problems; mixing costs the condition of A."),
    parts=("ALISTA, X scaled", "ALISTA, X mixed", "LISTA-VM, X scaled"),
    scales={"quick": Scale(seconds=6)},
    finding=(
        "ALISTA's steps use X only through its row space, so no scaling, mixing or whitening of the"
        " measurements can disturb it; trained on Gaussian or on orthonormal rows it is the same"
        " network."),
    sabotages=(Sabotage(
        "same-M", "Expect LISTA-VM not to notice the scale either.",
        measure=lambda run: one_row(
            [*run.data.apart.values[:2], float(run.data.lista_vm_moves)])),))

FAR = ("scale 1.3", "correlated 0.8", "rademacher", "uniform", "orthonormal")
SHIFTED = {"quick": Scale(seconds=25), "standard": Scale(seconds=60)}


def _shift_gain(run: Run, name: str, shifts: tuple[str, ...]) -> np.ndarray:
    at = {"shift": list(shifts)}
    return error_of(run, "fista", **at) - error_of(run, name, **at)


ROBUST = Claim(
    id="sparse-recovery.alista-under-shift", spec="SR-Q2",
    statement=(
        "ALISTA trained on Gaussian matrices beats FISTA at equal depth on scaled, correlated,"
        " bounded and orthonormal ones."),
    source="ours", status="heuristic", kind=ORDERING, experiment=questions.shifts,
    measure=lambda run: _shift_gain(run, "alista", FAR), predict=lambda run: 0.0, resolution=0.01,
    argued=PAIRED + " FISTA's penalty is the best on the test problems of each law.",
    statistic="median", parts=FAR, scales=SHIFTED, figure="sparse-recovery/shift",
    sabotages=(Sabotage(
        "lista-vm-instead", "LISTA-VM instead.",
        measure=lambda run: _shift_gain(run, "lista-vm", FAR)),))

SCALED = Claim(
    id="sparse-recovery.scaled-matrices-diverge", spec="SR-Q2",
    statement=(
        "With X scaled by 1.3 at least a fifth of the problems diverge under trained LISTA-VM."),
    source="ours", status="heuristic", kind=ABOVE, experiment=questions.shifts,
    measure=lambda run: _diverged(run, "lista-vm", shift="scale 1.3"), predict=lambda run: 0.2,
    resolution=0.0, argued="Scaling X by c multiplies the step by c^2 = 1.69; measured 37 %.",
    statistic="fraction", scales=SHIFTED, figure="sparse-recovery/shift",
    finding=(
        "A learned step that does not know |X| works at one scale only: X -> 1.3 X makes a third of"
        " the problems diverge."),
    sabotages=(
        Sabotage(
            "as-trained", "The scale of training.",
            measure=lambda run: _diverged(run, "lista-vm", shift="as trained")),
        Sabotage(
            "alista", "ALISTA instead.",
            measure=lambda run: _diverged(run, "alista", shift="scale 1.3"))))

ANY_SCALE = Claim(
    id="sparse-recovery.any-matrix", spec="SR-Q2",
    statement=(
        "LISTA-VM solves problems with other measurement matrices than in training: scaled by 1.3,"
        " fewer than 10 % diverge."),
    source=f"the abstract of {PAPER}, read without its assumption on the law of the matrix",
    status="heuristic", kind=BELOW, experiment=questions.shifts, measure=SCALED.measure,
    predict=lambda run: 0.1, resolution=0.0,
    argued=SCALED.argued + " On matrices as in training 1 % diverge.", statistic="fraction",
    scales=SHIFTED, figure="sparse-recovery/shift", expected="refuted", corrected=SCALED.id,
    finding=SCALED.finding,
    sabotages=(Sabotage(
        "correlated", "Correlated columns.",
        measure=lambda run: _diverged(run, "lista-vm", shift="correlated 0.8")),))

DEEPER = Claim(
    id="sparse-recovery.more-layers-diverge", spec="SR-Q3",
    statement=(
        "Repeating LISTA-VM's last layer to 48 layers makes at least 30 % of the problems diverge:"
        " it is not a convergent solver."),
    source=f"reviewers' question on {PAPER}; the answer is ours", status="heuristic", kind=ABOVE,
    experiment=questions.depths, measure=lambda run: _diverged(run, "lista-vm", layer=48),
    predict=lambda run: 0.3, resolution=0.0,
    argued=(
        "A share of test problems; measured 64 %. Its steps exceed 2/|X|^2 and rely on the"
        " following layers to make up for it."),
    statistic="fraction", scales={"quick": Scale(seconds=12)}, figure="sparse-recovery/depth",
    finding=(
        "More layers at test: four repeats of the last layer still help in the median, 36 make most"
        " problems diverge. With the step divided by |X|^2 errors keep falling."),
    sabotages=(
        Sabotage(
            "twelve-layers", "The 12 trained layers.",
            measure=lambda run: _diverged(run, "lista-vm", layer=12)),
        Sabotage(
            "norm-adapted", "A step divided by |X|^2.",
            measure=lambda run: _diverged(run, "lista-adaptive", layer=48))))


def _deeper_gain(run: Run, name: str, first: int, last: int) -> np.ndarray:
    return error_of(run, name, layer=first) - error_of(run, name, layer=last)


STILL = Claim(
    id="sparse-recovery.norm-adapted-goes-on", spec="SR-Q3",
    statement=(
        "Four repeats of the last layer improve LISTA-VM in the median; with the step divided by"
        " |X|^2 even 36 repeats do."),
    source="ours", status="heuristic", kind=ORDERING, experiment=questions.depths,
    measure=lambda run: np.stack(
        [_deeper_gain(run, "lista-vm", 12, 16), _deeper_gain(run, "lista-adaptive", 12, 48)], 1),
    predict=lambda run: 0.0, resolution=2e-3, argued=PAIRED, statistic="median",
    parts=("LISTA-VM, 12 to 16", "norm-adapted, 12 to 48"), scales={"quick": Scale(seconds=12)},
    figure="sparse-recovery/depth",
    sabotages=(Sabotage(
        "lista-vm-48", "LISTA-VM to 48 layers.",
        measure=lambda run: np.stack([_deeper_gain(run, "lista-vm", 12, 48)] * 2, 1)),))
