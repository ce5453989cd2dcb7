"""Claims on structure: supports in a known pool, block-sparse supports, and who can make use of
them."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, ORDERING
from saccade.studies.sparse_recovery.claims.questions import PAIRED, PAPER, error_of
from saccade.studies.sparse_recovery.experiments import questions


def _gain(run: Run, *names: str) -> np.ndarray:
    """Error not told minus error told, [test][method]."""
    return np.stack([error_of(run, name) - error_of(run, f"{name}, told") for name in names], 1)


POOL = Claim(
    id="sparse-recovery.pool-helps-who-is-told", spec="SR-F5",
    statement=(
        "Knowing that supports lie in 10 of 20 coordinates helps LISTA-VM, ALISTA and FISTA alike:"
        " the gain is the restriction itself."),
    source=f"section 5.1 and open question 2, {PAPER}; the comparison is ours", status="heuristic",
    kind=ORDERING, experiment=questions.pools,
    measure=lambda run: _gain(run, "lista-vm", "alista", "fista"), predict=lambda run: 0.0,
    resolution=5e-3, argued=PAIRED, statistic="median", parts=("LISTA-VM", "ALISTA", "FISTA"),
    scales={"quick": Scale(seconds=15)}, figure="sparse-recovery/structure",
    finding=(
        "Support knowledge helps any method that is told it: FISTA on the pool's columns gains as"
        " much as LISTA-VM with masked rows."),
    sabotages=(Sabotage("wrong-pool", "Tell the other ten coordinates.", {"shift": 10}),))


BLOCKED = {"quick": Scale(seconds=30)}

BLOCK_GAIN = Claim(
    id="sparse-recovery.blocks-need-block-thresholds", spec="SR-N1",
    statement=(
        "On block-sparse problems thresholds on whole blocks beat LISTA-VM, whether it was trained"
        " on blocks or on free supports."),
    source=f"open question 2, {PAPER}; the answer is ours", status="heuristic", kind=ORDERING,
    experiment=questions.blocks,
    measure=lambda run: np.stack(
        [
            error_of(run, name) - error_of(run, "block thresholds")
            for name in ("lista-vm, trained on blocks", "lista-vm, free supports")],
        1),
    predict=lambda run: 0.0, resolution=0.01, argued=PAIRED, statistic="median",
    parts=("trained on blocks", "trained on free supports"), scales=BLOCKED,
    figure="sparse-recovery/structure",
    sabotages=(Sabotage(
        "no-block-thresholds", "Compare the block thresholds with themselves.",
        measure=lambda run: np.zeros((run.data.sizes["test"], 2))),))

BLOCK_BLIND = Claim(
    id="sparse-recovery.blocks-are-not-learned", spec="SR-N1",
    statement=(
        "Training LISTA-VM on block-sparse problems gains nothing on them: thresholds on single"
        " coordinates cannot see blocks."),
    source=f"open question 2, {PAPER}; the answer is ours", status="heuristic", kind=ESTIMATE,
    experiment=questions.blocks,
    measure=lambda run: (
        error_of(run, "lista-vm, free supports") - error_of(run, "lista-vm, trained on blocks")),
    predict=lambda run: 0.0, resolution=0.01,
    argued=PAIRED + " 0.01 is a twentieth of the median error.", statistic="median", scales=BLOCKED,
    figure="sparse-recovery/structure",
    finding=(
        "LISTA-VM, one number and one threshold a layer, cannot learn a pool or blocks from"
        " training data; it has to be told. A threshold on block lengths makes block-sparse"
        " problems five times easier in the median."),
    sabotages=(Sabotage(
        "block-thresholds", "A network that thresholds whole blocks.",
        measure=lambda run: (
            error_of(run, "lista-vm, free supports") - error_of(run, "block thresholds"))),))
