"""Claims on the constructed transformer: it runs LISTA-VM exactly while its gate is wide."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY, ORDERING
from saccade.studies.sparse_recovery.claims import PAPER, POOLED, answers, cited, claim, seconds
from saccade.studies.sparse_recovery.experiments import construction

NARROW = Sabotage(
    "narrow-gate", "A gate constant of half a unit, below the products it has to close out.",
    {"gate": 0.5})
SPILLS = Sabotage(
    "spilling-values", "Value matrices that also write into the x entries of a token.",
    {"spill": 0.1})
_built = partial(claim, experiment=construction.construction, kind=IDENTITY)


def _columns(run: Run, *names: str) -> np.ndarray:
    return np.stack([run.data[name].values for name in names], 1)


def _executed(run: Run) -> np.ndarray:
    """The largest distances, and the network's own number, in the mean over instances."""
    apart = _columns(run, "layers", "instance", "untouched").max(0)
    return one_row([*apart, run.data.network.values.mean()])


def _by_algorithm(run: Run) -> list[float]:
    return [0.0, 0.0, 0.0, float(run.data.algorithm.values.mean())]


def _read_out_gaps(run: Run) -> np.ndarray:
    """Linear minus quadratic at every n, then linear at n minus at the next; [problem]."""
    linear = run.data.error.sel(read_out="linear").transpose("repetition", "rows").values
    quadratic = run.data.error.sel(read_out="quadratic").transpose("repetition", "rows").values
    return np.concatenate([linear - quadratic, linear[:, :-1] - linear[:, 1:]], 1)


EXECUTES = _built(
    "sparse-recovery.executes-lista-vm", "SR-T1",
    "K layers of a decoder with ReLU attention perform K steps of LISTA-VM, for all prefixes of"
    " the prompt at once.",
    "Rounding in float64: two sums of the same products in another order, 12 layers deep.", NARROW,
    SPILLS, measure=_executed, predict=_by_algorithm, resolution=1e-10,
    source=f"Theorem 4.1, {PAPER}; the weights are ours",
    citation=cited(
        "section 4.3", "a decoder-based Transformer can implement a novel LISTA-type L2O algorithm,"
        " specifically LISTA-VM", "exact"),
    parts=(
        "all layers and prefixes", "as an instance of the deep transformer",
        "rows that must not change", "one number of all estimates"),
    scales=seconds(quick=8, standard=30))

SINGLE = _built(
    "sparse-recovery.executes-in-float32", "SR-T1",
    "The same construction in single precision follows LISTA-VM to single precision.",
    "Rounding in float32 (6e-8) over 12 layers.", NARROW, SPILLS, measure=_executed,
    predict=_by_algorithm, resolution=1e-5, parts=EXECUTES.parts,
    scales=seconds(quick=8, precision="float32"))

GATE = _built(
    "sparse-recovery.gate", "SR-T1b",
    "The gate constant must exceed every |x^T b| it meets: at half the largest of them the"
    " network leaks.",
    "Far above rounding (1e-15): a leak is an error of the size of the product that passes.",
    Sabotage("wide-gate", "Twice the largest product instead of half of it.", {"gate_share": 2.0}),
    measure=lambda run: _columns(run, "layers", "instance"), predict=lambda run: 1e-6,
    resolution=1e-6, kind=ORDERING,
    parts=("all layers and prefixes", "as an instance of the deep transformer"),
    scales=seconds(quick=2, gate_share=0.5),
    finding=(
        "A gate below max |x^T b| leaks silently; a huge one (1e30) costs no precision, for it"
        " multiplies indicators of 0 and 1."))

LARGE = _built(
    "sparse-recovery.gate-is-wide-enough", "SR-T1b",
    "The gate that the library builds with closes for values a million times as large, too.",
    "Relative to the estimates, which are as much larger; rounding in float64.",
    Sabotage(
        "gate-of-thousands", "A gate of 10,000, wide enough for values of one.", {"gate": 1e4}),
    measure=lambda run: one_row(_columns(run, "layers", "instance").max(0)), resolution=1e-10,
    parts=GATE.parts, scales=seconds(quick=2, size=1e6))

READ_OUT = _built(
    "sparse-recovery.quadratic-read-out", "SR-T1c",
    "The quadratic read-out is x^T beta of each prefix; the linear one, after one more layer, x^T"
    " of their sum over 2n + 1.", "Rounding in float64.", NARROW,
    measure=lambda run: _columns(run, "quadratic", "read", "linear"), resolution=1e-10,
    source=f"section 4, {PAPER}; the linear formula is ours",
    parts=("quadratic, as a transformer", "quadratic", "linear"), scales=EXECUTES.scales)

RESTRICTED = _built(
    "sparse-recovery.support-constrained", "SR-T6",
    "An algorithm told that supports lie in a pool is the same algorithm on the columns of the"
    " pool.",
    "Zero rows of M, or zero columns of X, leave only the restricted sums; singular values differ"
    " by rounding.", Sabotage("not-told", "Do not tell the pool.", {"told": False}),
    measure=lambda run: run.data.apart.transpose("repetition", "algorithm").values,
    resolution=1e-12, source=f"section 5.1, {PAPER}", citation=answers("section 5.1", POOLED),
    experiment=construction.restricted, parts=("fista", "alista", "lista-vm", "lista-vm, prefixes"),
    scales=seconds(quick=6))

FLOOR = claim(
    "sparse-recovery.linear-read-out-floor", "SR-T4b",
    "The linear read-out averages over prefixes that have not converged: its error exceeds the"
    " quadratic one's and falls with n.",
    "Paired on the same problems; differences are of the order of the linear error itself, 1e-3"
    " and more.",
    Sabotage(
        "nothing-converges", "Thresholds above all that is measured: no prefix converges.",
        {"threshold": 100.0, "decay": 1.0}),
    Sabotage(
        "one-step", "One layer, on vectors without zeros: no prefix comes near.",
        {"layers": 1, "sparsity": 20, "instances": 256}),
    measure=_read_out_gaps, resolution=1e-5,
    source=f"section 4, {PAPER} (the quadratic read-out converges better); the reason is ours",
    citation=cited(
        "read-out functions; the algorithm stands in for a trained network",
        "Quadratic read-out provides better convergence", "proxy"),
    status="exact formula, heuristic size", kind=ORDERING, experiment=construction.read_outs,
    statistic="median",
    parts=(
        *(f"linear > quadratic, n = {n}" for n in (50, 100, 200, 400)), "50 > 100", "100 > 200",
        "200 > 400"),
    scales=seconds(quick=8, repetitions=2))
