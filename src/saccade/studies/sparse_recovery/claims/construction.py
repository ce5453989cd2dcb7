"""Claims on the constructed transformer: it runs LISTA-VM exactly, as long as its gate is wide, and
what its read-outs see."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY, ORDERING
from saccade.studies.sparse_recovery.experiments import construction

PAPER = "arXiv 2410.13981"
NARROW = Sabotage(
    "narrow-gate", "A gate constant of half a unit, below the products it has to close out.",
    {"gate": 0.5})


def _columns(run: Run, *names: str) -> np.ndarray:
    return np.stack([run.data[name].values for name in names], 1)


EXECUTES = Claim(
    id="sparse-recovery.executes-lista-vm", spec="SR-T1",
    statement=(
        "K layers of a decoder with ReLU attention perform K steps of LISTA-VM, for all prefixes of"
        " the prompt at once."),
    source=f"Theorem 4.1, {PAPER}; the weights are ours", status="exact", kind=IDENTITY,
    experiment=construction.construction,
    measure=lambda run: _columns(run, "layers", "instance", "untouched"),
    predict=lambda run: np.zeros(3), resolution=1e-10,
    argued="Rounding in float64: two sums of the same products in another order, 12 layers deep.",
    parts=(
        "all layers and prefixes", "as an instance of the deep transformer",
        "rows that must not change"),
    scales={"quick": Scale(seconds=8), "standard": Scale(seconds=30)}, sabotages=(NARROW,))

SINGLE = Claim(
    id="sparse-recovery.executes-in-float32", spec="SR-T1",
    statement="The same construction in single precision follows LISTA-VM to single precision.",
    source="ours", status="exact", kind=IDENTITY, experiment=construction.construction,
    measure=lambda run: _columns(run, "layers", "instance", "untouched"),
    predict=lambda run: np.zeros(3), resolution=1e-5,
    argued="Rounding in float32 (6e-8) over 12 layers.", parts=EXECUTES.parts,
    scales={"quick": Scale({"precision": "float32"}, seconds=8)}, sabotages=(NARROW,))

GATE = Claim(
    id="sparse-recovery.gate", spec="SR-T1b",
    statement=(
        "The gate constant must exceed every |x^T b| it meets: at half the largest of them the"
        " network leaks."),
    source="ours", status="exact", kind=ORDERING, experiment=construction.construction,
    measure=lambda run: _columns(run, "layers", "instance"), predict=lambda run: 1e-6,
    resolution=1e-6,
    argued="Far above rounding (1e-15): a leak is an error of the size of the product that passes.",
    parts=("all layers and prefixes", "as an instance of the deep transformer"),
    scales={"quick": Scale({"gate_share": 0.5}, seconds=2)},
    finding=(
        "A gate below max |x^T b| leaks silently; a huge one (1e30) costs no precision, for it"
        " multiplies indicators of 0 and 1."),
    sabotages=(Sabotage(
        "wide-gate", "Twice the largest product instead of half of it.", {"gate_share": 2.0}),))

READ_OUT = Claim(
    id="sparse-recovery.quadratic-read-out", spec="SR-T1c",
    statement=(
        "The quadratic read-out is x^T beta of each prefix; the linear one, after one more layer,"
        " x^T of their sum over 2n + 1."),
    source=f"section 4, {PAPER}; the linear formula is ours", status="exact", kind=IDENTITY,
    experiment=construction.construction, measure=lambda run: _columns(run, "quadratic", "linear"),
    predict=lambda run: np.zeros(2), resolution=1e-10, argued="Rounding in float64.",
    parts=("quadratic", "linear"), scales=EXECUTES.scales, sabotages=(NARROW,))

RESTRICTED = Claim(
    id="sparse-recovery.support-constrained", spec="SR-T6",
    statement=(
        "An algorithm told that supports lie in a pool is the same algorithm on the columns of the"
        " pool."),
    source=f"section 5.1, {PAPER}", status="exact", kind=IDENTITY,
    experiment=construction.restricted,
    measure=lambda run: run.data.apart.transpose("repetition", "algorithm").values,
    predict=lambda run: 0.0, resolution=1e-12,
    argued=(
        "Zero rows of M, or zero columns of X, leave only the restricted sums; singular values"
        " differ by rounding."),
    parts=("fista", "alista", "lista-vm"), scales={"quick": Scale(seconds=6)},
    sabotages=(Sabotage("not-told", "Do not tell the pool.", {"told": False}),))


def _read_out_gaps(run: Run) -> np.ndarray:
    """Linear minus quadratic at every n, then linear at n minus linear at the next n; one row a
    problem."""
    linear = run.data.error.sel(read_out="linear").transpose("repetition", "rows").values
    quadratic = run.data.error.sel(read_out="quadratic").transpose("repetition", "rows").values
    return np.concatenate([linear - quadratic, linear[:, :-1] - linear[:, 1:]], 1)


FLOOR = Claim(
    id="sparse-recovery.linear-read-out-floor", spec="SR-T4b",
    statement=(
        "The linear read-out averages over prefixes that have not converged: its error exceeds the"
        " quadratic one's and falls with n."),
    source=f"section 4, {PAPER} (the quadratic read-out converges better); the reason is ours",
    status="exact formula, heuristic size", kind=ORDERING, experiment=construction.read_outs,
    measure=_read_out_gaps, predict=lambda run: 0.0, resolution=1e-5,
    argued=(
        "Paired on the same problems; differences are of the order of the linear error itself, 1e-3"
        " and more."),
    statistic="median",
    parts=(
        *(f"linear > quadratic, n = {n}" for n in (50, 100, 200, 400)), "50 > 100", "100 > 200",
        "200 > 400"),
    scales={"quick": Scale(repetitions=2, seconds=8)},
    sabotages=(Sabotage(
        "same-read-out", "Compare the quadratic read-out with itself.",
        measure=lambda run: np.zeros(
            (run.data.sizes["repetition"], 2 * run.data.sizes["rows"] - 1))),))
