"""Claims on LISTA-VM with its full matrix: what it can learn of a task, and what it cannot."""

from functools import partial
from typing import Any

import numpy as np

from saccade.lab.claim import Claim, Sabotage
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, ESTIMATE, ORDERING
from saccade.studies.sparse_recovery.claims import (
    PAPER,
    POOLED,
    answers,
    broken,
    cited,
    claim,
    seconds,
)
from saccade.studies.sparse_recovery.experiments import full_matrix
from saccade.studies.sparse_recovery.experiments.full_matrix import MATRIX, NUMBERS

PAIRED = (
    "A replicate is a network: the median, over 400 problems of its own, of paired differences"
    " (errors have heavy tails); 20 networks, trained from the key of the run. Both networks of a"
    " pair are trained for as many steps.")
_full = partial(
    claim, status="trained", experiment=full_matrix.full_matrix, statistic="median",
    figure="sparse-recovery/full-matrix")
SUPPORTS = answers("open question 2", "the impact of different support constraints")


def _gain(run: Run, better: str = MATRIX, worse: str = NUMBERS) -> np.ndarray:
    """By how much one method's errors exceed another's, the median over tests of each network."""
    errors = run.data.error.transpose("algorithm", "network", "test")
    apart = errors.sel(algorithm=worse).values - errors.sel(algorithm=better).values
    return np.median(apart, axis=1)


def _gain_outside(run: Run) -> np.ndarray:
    """The same of the full matrix on supports outside the pool."""
    errors = run.data.outside_error.transpose("variant", "network", "test")
    apart = errors.sel(variant=NUMBERS).values - errors.sel(variant=MATRIX).values
    return np.median(apart, axis=1)


def _learns(id: str, spec: str, statement: str, task: str, other: Sabotage, **more) -> Claim:
    return _full(
        id, spec, statement, PAIRED, other, measure=_gain, kind=ORDERING, resolution=0.02,
        scales=seconds(quick=8, task=task), **more)


LEARNS_THE_POOL = _learns(
    "sparse-recovery.full-matrix-learns-the-pool", "SR-F5",
    "With a full matrix and a threshold for each coordinate LISTA-VM learns from examples that"
    " supports lie in 10 of 20 coordinates: it beats LISTA-VM with one number and one threshold a"
    " layer on them.", "pool",
    broken("other-pool", "Test on supports in the other ten coordinates.", _gain_outside),
    source=f"section 5.1, {PAPER}",
    citation=cited(
        "section 5.1; LISTA-VM that learns stands in for a modified Transformer", POOLED, "proxy"),
    finding=(
        "As the paper defines it, with a full matrix and a threshold for each coordinate, LISTA-VM"
        " does learn a pool from examples; with one number a layer it does not."))

LEARNS_THE_COVARIANCE = _learns(
    "sparse-recovery.full-matrix-learns-the-covariance", "SR-F2",
    "On correlated columns (neighbours by 0.8) LISTA-VM with a full matrix beats the one with one"
    " number a layer.", "correlated",
    Sabotage(
        "uncorrelated", "Columns without correlation, in training and test.", {"task": "gaussian"}),
    source=f"section 4.3, {PAPER}; the comparison is ours",
    citation=answers("section 4.3", "the matrix D depends on a fixed matrix M after pre-training"))


def _learns_nothing(id: str, spec: str, statement: str, task: str, **more: Any) -> Claim:
    return _full(
        id, spec, statement,
        PAIRED + " The law of a problem stays as it is if a column of X and its coefficient change"
        " sign, and if coordinates (or blocks) are exchanged: the law singles out no direction.",
        Sabotage(
            "pool", "Train and test on supports in ten coordinates.", {"task": "pool", "batch": 0}),
        measure=_gain, predict=lambda run: 0.0, kind=BELOW, resolution=0.01,
        **{"scales": seconds(quick=8, task=task), **more})


NOTHING_TO_LEARN = _learns_nothing(
    "sparse-recovery.full-matrix-gains-nothing", "SR-F2",
    "On Gaussian matrices and free supports a full matrix gains LISTA-VM at most 0.01 of a median"
    " error of 0.4.", "gaussian",
    citation=answers("section 4.3", "the matrix D depends on a fixed matrix M after pre-training"))

BLIND_TO_BLOCKS = _learns_nothing(
    "sparse-recovery.full-matrix-blind-to-blocks", "SR-N1",
    "On block-sparse problems a full matrix and a threshold for each coordinate gain LISTA-VM at"
    " most 0.01 of a median error of 0.2: blocks are not learned.", "blocks", citation=SUPPORTS,
    scales=seconds(quick=6, task="blocks", batch=16),
    source=f"open question 2, {PAPER}; the answer is ours",
    finding=(
        "Blocks have no preferred coordinate and no sign, so a full matrix cannot express them:"
        " LISTA-VM learns a pool or a covariance, not blocks."))


VARYING = answers(
    "open question 1", "when both are trained and tested on the same varying measurement matrix")


def _gains(run: Run, *pairs: tuple[str, str]) -> np.ndarray:
    """Gains of the first over the second of each pair, [network][pair]."""
    return np.stack([_gain(run, *pair) for pair in pairs], 1)


IN_THE_FAMILY = _full(
    "sparse-recovery.full-matrix-in-the-family", "SR-F2",
    "Trained on ever new matrices with correlated columns, LISTA-VM with a full matrix beats LISTA"
    " and LISTA-CP, and stays behind ALISTA.", PAIRED,
    broken(
        "exchanged", "LISTA in the place of LISTA-VM; LISTA-VM with numbers in that of ALISTA.",
        _gains, ("lista", "lista"), ("lista", "lista-cp"), (NUMBERS, MATRIX)),
    measure=lambda run: _gains(run, (MATRIX, "lista"), (MATRIX, "lista-cp"), ("alista", MATRIX)),
    kind=ORDERING, resolution=0.02, parts=("below LISTA", "below LISTA-CP", "above ALISTA"),
    citation=VARYING, scales=seconds(standard=90, task="correlated"))

LEVEL_WITH_ALISTA = _full(
    "sparse-recovery.full-matrix-level-with-alista", "SR-F5",
    "Trained on supports in 10 of 20 coordinates, LISTA-VM with a full matrix, which learns the"
    " pool, is level with ALISTA, which cannot, in the median of paired differences.",
    PAIRED + " 0.02 is a third of the median error. ALISTA's 24 numbers are trained for 200 steps,"
    " LISTA-VM for twice 1500.",
    broken("numbers", "LISTA-VM with one number a layer.", _gain, "alista", NUMBERS),
    measure=lambda run: _gain(run, "alista", MATRIX), kind=ESTIMATE, resolution=0.02,
    citation=SUPPORTS, scales=seconds(standard=90, task="pool"))
