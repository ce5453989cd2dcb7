"""Claims on decoders trained on supports with structure: they find it out by themselves, and
believe it."""

from typing import Any

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, ORDERING
from saccade.studies.sparse_recovery.claims.trained import PAPER, by_seed, method_error, rows
from saccade.studies.sparse_recovery.experiments import trained

POOL = {"pool": 4, "block_size": 1, "sparsity": 1}


UNTOLD = ("free", "FISTA", "LASSO")
NAMES = {
    "free": "trained on free supports", "FISTA": "FISTA at its depth", "LASSO": "converged LASSO"}


def _structure(run: Run, rivals: tuple[str, ...], swapped: bool = False) -> np.ndarray:
    """Errors on structured tasks of `rivals`, minus those of the decoder trained on the
    structure."""
    n, data = rows(run), run.data["error"]
    ours, free = (data.sel(training=name, prefix=n).values for name in ("structured", "free"))
    ours, free = (free, ours) if swapped else (ours, free)
    columns = [
        (free[seed] if rival == "free" else method_error(run, rival, n)) - ours[seed]
        for seed in range(len(ours)) for rival in rivals]
    return np.stack(columns, axis=1)


def _structured(
    id: str, spec: str, statement: str, changes: dict, finding: str,
    rivals: tuple[str, ...] = UNTOLD, **more: Any,
) -> Claim:
    return Claim(
        id=id, spec=spec, statement=statement, source=f"section 6, {PAPER}; sizes ours",
        status="trained", kind=ORDERING, experiment=trained.trained_structure,
        measure=lambda run: _structure(run, rivals), predict=lambda run: 0.0, resolution=0.2,
        argued=(
            "Paired over 8000 tasks, whose differences spread by at most 2: nine standard errors"
            " are 0.2; one part per seed."),
        statistic="mean", parts=by_seed(*(NAMES[rival] for rival in rivals)),
        scales={"standard": Scale(changes, seconds=280)},
        figure="sparse-recovery/trained-structure", finding=finding,
        sabotages=(Sabotage(
            "trainings-exchanged",
            "The decoder trained on free supports in the place of the one trained on the"
            " structure.", measure=lambda run: _structure(run, rivals, swapped=True)),),
        **more)


BLOCKS = _structured(
    "sparse-recovery.decoder-learns-blocks", "SR-Q4",
    "On supports made of aligned blocks, a decoder trained on them beats one trained on free"
    " supports, and FISTA at its depth.", {},
    "Trained on block-sparse supports a transformer finds out about the blocks by itself and uses"
    " them.", ("free", "FISTA"))
BLOCKS_AGAINST_LASSO = _structured(
    "sparse-recovery.decoder-on-blocks-beats-lasso", "SR-Q4",
    "On supports made of aligned blocks, a decoder trained on them beats the converged LASSO, which"
    " is not told of blocks.", {},
    "Knowing the blocks does not make up for few layers: the converged LASSO, untold, is still"
    " ahead of the decoder trained on blocks.", ("LASSO",), expected="refuted",
    corrected="sparse-recovery.decoder-learns-blocks")
POOLS = _structured(
    "sparse-recovery.decoder-learns-the-pool", "SR-F5",
    "On supports inside half of the coordinates, a decoder trained on them beats one trained on"
    " free supports and untold solvers.", POOL,
    "Trained on supports inside a pool a transformer finds out about the pool by itself and"
    " uses it.")

PRICE = Claim(
    id="sparse-recovery.pool-knowledge-has-a-price", spec="SR-F5",
    statement=(
        "On free supports, a decoder trained on supports inside a pool is no better than predicting"
        " zero."),
    source="ours", status="trained", kind=ABOVE, experiment=trained.trained_structure,
    measure=lambda run: ((
        run.data["free_error"].sel(training="structured").values
        - run.data["free_zero_error"].values).T),
    predict=lambda run: -0.15, resolution=0.0,
    argued=(
        "Paired over 8000 tasks, whose differences spread by about 1: nine standard errors are 0.1,"
        " so a gain of 0.15 would show; zero's own error is about 1."),
    statistic="mean", parts=by_seed("free supports, minus zero"),
    scales={"standard": Scale(POOL, seconds=280)},
    finding=(
        "What is learned about supports is believed: off the pool such a decoder does no better"
        " than predicting zero."),
    sabotages=(Sabotage(
        "trained-on-free-supports", "The decoder trained on free supports.",
        measure=lambda run: ((
            run.data["free_error"].sel(training="free").values
            - run.data["free_zero_error"].values).T)),))
