"""Claims on the open questions: numbers of rows, other laws of the matrix, more layers, and
structure of supports: who can make use of a known pool or of blocks."""

import itertools
from functools import partial

import numpy as np

from saccade.lab.claim import Repair, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, BELOW, ESTIMATE, IDENTITY, ORDERING
from saccade.studies.sparse_recovery.claims import (
    OTHER_LENGTHS,
    OTHER_MATRICES,
    PAPER,
    POOLED,
    answers,
    broken,
    cited,
    claim,
    seconds,
)
from saccade.studies.sparse_recovery.experiments import questions

PAIRED = (
    "A replicate is a network, one of 20 trained from the key of the run: its median, over 200"
    " problems of its own, of paired differences; medians, because errors have heavy tails.")
SHARES = (
    "A replicate is a network, one of 20 trained from the key of the run: its share of 200 problems"
    " with an error above twice that of predicting zero.")
COUNTS = (10, 12, 15, 20, 30, 40)
TOLD = ("lista-vm", "alista", "fista")
ON_BLOCKS, ON_FREE, BLOCKWISE = (
    "lista-vm, trained on blocks", "lista-vm, free supports", "block thresholds")
LARGE = 6.0  # twice the error of predicting zero: what counts as diverged at S = 3
_question = partial(
    claim, status="heuristic", kind=ORDERING, statistic="median", experiment=questions.elsewhere,
    scales=seconds(quick=15, standard=60))
_rows = partial(_question, figure="sparse-recovery/rows")
_shift = partial(_question, figure="sparse-recovery/shift")
_depth = partial(_question, figure="sparse-recovery/depth")
_structure = partial(_question, figure="sparse-recovery/structure")
_blocks = partial(
    _structure, experiment=questions.blocks, scales=seconds(quick=8, standard=40),
    citation=answers("open question 2", "the impact of different support constraints"),
    source=f"open question 2, {PAPER}; the answer is ours")
FAR = ["scale 1.3", "correlated 0.8", "rademacher", "uniform", "orthonormal"]


def on_rows(run: Run, name: str, rows: int) -> np.ndarray:
    """Errors of one method with so many rows, [network][test]."""
    return run.data.row_error.sel(row_solver=name, rows=rows).values


def under(run: Run, name: str, law: str) -> np.ndarray:
    """Errors of one method under another law of the matrix, [network][test]."""
    return run.data.shift_error.sel({"law_solver": name, "shift": law}).values


def deep(run: Run, name: str, layer: int) -> np.ndarray:
    """Errors of one method after so many layers, [network][test]."""
    return run.data.deep_error.sel(algorithm=name, layer=layer).values


def in_pool(run: Run, name: str) -> np.ndarray:
    """Errors of one method on supports in the pool, [network][test]."""
    return run.data.pool_error.sel(told=name).values


def on_supports(run: Run, name: str, supports: str) -> np.ndarray:
    """Errors of one network on blocks or on free supports, [network][test]."""
    return run.data.error.sel(algorithm=name, supports=supports).values


def _typical(*apart: np.ndarray) -> np.ndarray:
    """Medians over tests, [network][part]."""
    return np.stack([np.median(one, axis=1) for one in apart], 1)


def _diverged(errors: np.ndarray) -> np.ndarray:
    """The share of each network's problems with an error above twice that of predicting zero."""
    return (errors > LARGE).mean(1)


def _falls(run: Run) -> np.ndarray:
    """What a network gains from each number of rows to the next."""
    steps = itertools.pairwise(COUNTS)
    return _typical(*(on_rows(run, "lista-vm", n) - on_rows(run, "lista-vm", m) for n, m in steps))


def _misled(run: Run) -> np.ndarray:
    """What a network gains on ten rows by each number of further ones with others' values."""
    ten = on_rows(run, "lista-vm", 10)
    return _typical(*(ten - on_rows(run, "lista-vm, misled", n) for n in COUNTS[1:]))


def _behind_fista(run: Run, counts: tuple[int, ...]) -> np.ndarray:
    return _typical(*(on_rows(run, "lista-vm", n) - on_rows(run, "fista", n) for n in counts))


def _robust(run: Run, name: str = "alista") -> np.ndarray:
    return _typical(*(under(run, "fista", law) - under(run, name, law) for law in FAR))


def _deeper_gain(run: Run, name: str, last: int) -> np.ndarray:
    return deep(run, name, 12) - deep(run, name, last)


def _told_gain(run: Run, how: str) -> np.ndarray:
    return _typical(*(in_pool(run, name) - in_pool(run, name + how) for name in TOLD))


def _over_blockwise(run: Run, supports: str) -> np.ndarray:
    """By how much LISTA-VM's errors exceed those of thresholds on blocks."""
    theirs = (on_supports(run, name, supports) for name in (ON_BLOCKS, ON_FREE))
    return _typical(*(errors - on_supports(run, BLOCKWISE, supports) for errors in theirs))


MORE_ROWS = _rows(
    "sparse-recovery.more-rows", "SR-F6",
    "LISTA-VM trained on 10 rows gets better with every further row at test, up to 40; LISTA and"
    " LISTA-CP cannot even be asked.", PAIRED,
    broken(
        "values-of-another-problem",
        "From ten rows to more, which have the values of the next problem.", _misled),
    measure=_falls, resolution=1e-3, source=f"open question 3, {PAPER}; the answer is ours",
    citation=answers("open question 3", "the number of measurements N"),
    parts=tuple(f"{n} to {m} rows" for n, m in itertools.pairwise(COUNTS)))

SHORT = _rows(
    "sparse-recovery.short-prompts-diverge", "SR-F6",
    "On 4 rows at least 15 % of problems diverge under the median LISTA-VM trained on 10: its step,"
    " divided by 2n + 1, becomes too long.", SHARES + " 33 to 47 % at the first look.",
    broken(
        "ten-rows", "Ten rows, as trained.", lambda run: _diverged(on_rows(run, "lista-vm", 10))),
    broken(
        "norm-adapted", "A step divided by |X|^2.",
        lambda run: _diverged(on_rows(run, "lista-adaptive", 4))),
    measure=lambda run: _diverged(on_rows(run, "lista-vm", 4)), predict=lambda run: 0.15,
    resolution=0.0, kind=ABOVE,
    finding=(
        "LISTA-VM trained on 10 rows diverges on short prompts (about 40 % of problems at 4 rows)"
        " and loses to FISTA from 20 rows on. Dividing the step by |X|^2 instead of 2n + 1 cures"
        " the first."))

ANY_LENGTH = _rows(
    "sparse-recovery.any-length", "SR-F6",
    "Trained LISTA-VM can be used with any number of rows: on 4 rows, too, fewer than 10 % of"
    " problems diverge.", SHARES
    + " FISTA and predicting zero stay near 6 to 11 %, the share of vectors longer than that.",
    measure=SHORT.measure, predict=lambda run: 0.10, resolution=0.0,
    source=f"the reading of {PAPER} that one network serves all prompt lengths",
    citation=cited("open question 3; LISTA-VM stands in for a transformer", OTHER_LENGTHS, "proxy"),
    kind=BELOW, expected="refuted",
    repairs=(Repair(
        "ten-rows", "Ten rows, as trained.",
        measure=lambda run: _diverged(on_rows(run, "lista-vm", 10))),),
    corrected=SHORT.id, finding=SHORT.finding)

OVERTAKEN = _rows(
    "sparse-recovery.fista-overtakes", "SR-F6",
    "From 20 rows on FISTA with as many steps is better than LISTA-VM trained on 10 rows.",
    PAIRED + " FISTA's penalty is the best on the test problems at each number of rows.",
    broken("ten-rows", "Ten rows, as trained.", _behind_fista, (10, 10, 10)),
    measure=lambda run: _behind_fista(run, (20, 30, 40)), resolution=2e-3,
    parts=("20 rows", "30 rows", "40 rows"))


def _moves(run: Run, *what: str) -> np.ndarray:
    """The largest relative move of a network's errors."""
    return one_row(run.data.apart.sel(what=list(what)).max("network").values)


INVARIANT = _question(
    "sparse-recovery.alista-sees-the-row-space", "SR-Q2",
    "Noise-free ALISTA depends on X only through its row space: X -> A X changes nothing;"
    " LISTA-VM on c X is LISTA-VM with c^2 M on X.",
    "W^T X = D V V^T with V the right singular vectors: A cancels. Relative, the median over"
    " problems of the worst of 20 networks; mixing costs the condition of A.",
    broken(
        "lista-vm-instead", "LISTA-VM in the place of ALISTA, and with the same M.", _moves,
        "lista-vm, scaled", "lista-vm, mixed", "lista-vm, scaled"),
    measure=lambda run: _moves(run, "alista, scaled", "alista, mixed", "lista-vm, c^2 M"),
    resolution=1e-6, kind=IDENTITY, status="exact", statistic="exact",
    parts=("ALISTA, X scaled", "ALISTA, X mixed", "LISTA-VM, X scaled"),
    finding=(
        "ALISTA's steps use X only through its row space, so no scaling, mixing or whitening of"
        " the measurements can disturb it; trained on Gaussian or on orthonormal rows it is the"
        " same network."))

ROBUST = _shift(
    "sparse-recovery.alista-under-shift", "SR-Q2",
    "ALISTA trained on Gaussian matrices beats FISTA at equal depth on scaled, correlated,"
    " bounded and orthonormal ones.",
    PAIRED + " FISTA's penalty is the best on the test problems of each law.",
    broken("thresholds-frozen", "Thresholds frozen at zero.", _robust, "alista, no thresholds"),
    measure=_robust, resolution=0.01, parts=tuple(FAR))

SCALED = _shift(
    "sparse-recovery.scaled-matrices-diverge", "SR-Q2",
    "With X scaled by 1.3 at least a fifth of the problems diverge under the median LISTA-VM.",
    SHARES + " Scaling X by c multiplies the step by c^2 = 1.69; 44 to 58 % at the first look.",
    broken(
        "as-trained", "The scale of training.",
        lambda run: _diverged(under(run, "lista-vm", "as trained"))),
    broken("alista", "ALISTA instead.", lambda run: _diverged(under(run, "alista", "scale 1.3"))),
    measure=lambda run: _diverged(under(run, "lista-vm", "scale 1.3")), predict=lambda run: 0.2,
    resolution=0.0, kind=ABOVE,
    finding=(
        "A learned step that does not know |X| works at one scale only: X -> 1.3 X makes half of"
        " the problems diverge."))

ANY_SCALE = _shift(
    "sparse-recovery.any-matrix", "SR-Q2",
    "LISTA-VM solves problems with other measurement matrices than in training: scaled by 1.3,"
    " fewer than 10 % diverge.", SCALED.argued + " On matrices as in training 1 to 2 % diverge.",
    measure=SCALED.measure, predict=lambda run: 0.1, resolution=0.0,
    source=f"the abstract of {PAPER}, read without its assumption on the law of the matrix",
    citation=cited(
        "abstract; LISTA-VM stands in for a transformer, the scale is ours", OTHER_MATRICES, "proxy"
    ),
    kind=BELOW, expected="refuted",
    repairs=(Repair(
        "as-trained", "The scale of training.",
        measure=lambda run: _diverged(under(run, "lista-vm", "as trained"))),),
    corrected=SCALED.id, finding=SCALED.finding)

DEEPER = _depth(
    "sparse-recovery.more-layers-diverge", "SR-Q3",
    "Repeating the last layer of the median LISTA-VM to 48 layers makes at least 30 % of the"
    " problems diverge: it is not a convergent solver.",
    SHARES + " 50 to 78 % at the first look. Its steps exceed 2/|X|^2 and rely on the following"
    " layers to make up for it.",
    broken(
        "twelve-layers", "The 12 trained layers.", lambda run: _diverged(deep(run, "lista-vm", 12))
    ),
    broken(
        "norm-adapted", "A step divided by |X|^2.",
        lambda run: _diverged(deep(run, "lista-adaptive", 48))),
    measure=lambda run: _diverged(deep(run, "lista-vm", 48)), predict=lambda run: 0.3,
    resolution=0.0, source=f"reviewers' question on {PAPER}; the answer is ours", kind=ABOVE,
    finding=(
        "More layers at test: four repeats of the last layer still help in the median, 36 make"
        " most problems diverge. With the step divided by |X|^2 errors keep falling."))

STILL = _depth(
    "sparse-recovery.norm-adapted-goes-on", "SR-Q3",
    "Four repeats of the last layer improve LISTA-VM in the median; with the step divided by"
    " |X|^2 even 36 repeats do.", PAIRED,
    broken(
        "lista-vm-48", "LISTA-VM to 48 layers, at the quarter of problems it does worst on.",
        lambda run: np.stack([np.quantile(_deeper_gain(run, "lista-vm", 48), 0.25, axis=1)] * 2, 1),
    ),
    measure=lambda run: _typical(
        _deeper_gain(run, "lista-vm", 16), _deeper_gain(run, "lista-adaptive", 48)),
    resolution=2e-3, parts=("LISTA-VM, 12 to 16", "norm-adapted, 12 to 48"))

POOL = _structure(
    "sparse-recovery.pool-helps-who-is-told", "SR-F5",
    "Knowing that supports lie in 10 of 20 coordinates helps LISTA-VM, ALISTA and FISTA alike:"
    " the gain is the restriction itself.", PAIRED,
    broken("wrong-pool", "Tell the other ten coordinates.", _told_gain, ", told wrongly"),
    measure=lambda run: _told_gain(run, ", told"), resolution=5e-3,
    source=f"section 5.1 and open question 2, {PAPER}; the comparison is ours",
    citation=answers("section 5.1", POOLED), parts=("LISTA-VM", "ALISTA", "FISTA"),
    finding=(
        "Support knowledge helps any method that is told it: FISTA on the pool's columns gains as"
        " much as LISTA-VM with masked rows."))

BLOCK_GAIN = _blocks(
    "sparse-recovery.blocks-need-block-thresholds", "SR-N1",
    "On block-sparse problems thresholds on whole blocks beat LISTA-VM, whether it was trained on"
    " blocks or on free supports.", PAIRED,
    broken("free-supports", "Test on free supports.", _over_blockwise, "free"),
    measure=lambda run: _over_blockwise(run, "blocks"), resolution=0.01,
    parts=("trained on blocks", "trained on free supports"))


def _gain_of_training(run: Run, trained: str = ON_BLOCKS) -> np.ndarray:
    """What a network gains over LISTA-VM trained on free supports, on blocks."""
    return _typical(on_supports(run, ON_FREE, "blocks") - on_supports(run, trained, "blocks"))


BLOCK_BLIND = _blocks(
    "sparse-recovery.blocks-are-not-learned", "SR-N1",
    "Training LISTA-VM on block-sparse problems gains nothing on them: thresholds on single"
    " coordinates cannot see blocks.", PAIRED + " 0.01 is a twentieth of the median error.",
    broken(
        "block-thresholds", "A network that thresholds whole blocks.", _gain_of_training, BLOCKWISE
    ),
    measure=_gain_of_training, resolution=0.01, kind=ESTIMATE,
    finding=(
        "LISTA-VM with one number and one threshold a layer learns neither a pool nor blocks from"
        " training data; with its full matrix it learns a pool, and still no blocks. A threshold on"
        " block lengths makes block-sparse problems five times easier in the median."))
