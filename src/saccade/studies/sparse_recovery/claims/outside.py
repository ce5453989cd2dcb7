"""Claims on numbers that others have published: the logs of NA-ALISTA's authors."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from saccade.lab.claim import Citation, Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, ESTIMATE
from saccade.studies.sparse_recovery.claims import broken, claim, seconds
from saccade.studies.sparse_recovery.experiments import outside, outside_trained

LOGS = "public repository feeds/na-alista, res/models, m = 250, s = 50, k = 16, 40 dB"
PUBLISHED = {500: (-5.770, -7.625), 1000: (-3.911, -6.699)}
"""ISTA's and FISTA's test error in decibels, by the number of columns."""
PUBLISHED_ALISTA = {500: -39.05, 1000: -33.51}
_outside = partial(
    claim, status="measured", source="the logs of NA-ALISTA's authors (arXiv 2106.02950)",
    statistic="mean", figure="sparse-recovery/outside", kind=ESTIMATE)


def _decibels(run: Run, iteration: int = 16) -> np.ndarray:
    """[matrix][ISTA, FISTA]"""
    return run.data.decibels.sel(iteration=iteration, algorithm=["ista", "fista"]).values


def _published(dim: int, words: str, scales: Mapping[str, Scale]) -> Claim:
    return _outside(
        f"sparse-recovery.ista-fista-as-published-{dim}", "SR-X1",
        f"After 16 iterations on Gaussian matrices 250 x {dim} with columns of length one, 50"
        " expected non-zeros, 40 dB, penalty 0.4, the errors of ISTA and FISTA (by the point of its"
        f" next gradient, as their code answers) are {words} dB.",
        "A number for each of 32 matrices; with 600 problems each they spread by 0.02 to 0.05 dB"
        " over matrices, and 64 problems add 0.1. Theirs is one matrix of the same law.",
        broken("half-way", "After 8 iterations.", _decibels, iteration=8), measure=_decibels,
        experiment=outside.outside, predict=lambda run: list(PUBLISHED[run.parameters.dim]),
        resolution=0.3, citation=Citation(LOGS, f"test_dbs of ISTA and FISTA: {words}", "exact"),
        parts=("ISTA", "FISTA"), scales=scales)


NARROW = _published(500, "-5.77 and -7.63", seconds(quick=2, standard=20, dim=500))
WIDE = _published(1000, "-3.91 and -6.70", seconds(standard=40, dim=1000))

WEIGHT = claim(
    "sparse-recovery.alista-weight-no-worse", "SR-A1",
    "The closed-form weight of ALISTA has an objective no larger than what its authors' solver"
    " finds, and keeps the constraint.",
    "One matrix with columns of length one; the objective is a sum of ten thousand squares, known"
    " to 1e-10 of itself.",
    Sabotage(
        "columns", "The columns themselves, which keep the constraint.", {"weight": "columns"}),
    Sabotage(
        "pseudo-inverse", "The pseudo-inverse, whose columns do not keep the constraint.",
        {"weight": "pseudo-inverse"}),
    measure=lambda run: one_row(
        [float(run.data.objective[0] / run.data.objective[1]), float(run.data.off_one[0])]),
    predict=lambda run: [1.0, 0.0], resolution=1e-10, kind=BELOW,
    experiment=outside.weight_against_solver, source="ALISTA's own recipe; the comparison is ours",
    parts=("objective over the solver's", "off the constraint"),
    scales=seconds(quick=1, standard=30))

ALISTA = _outside(
    "sparse-recovery.alista-as-published", "SR-X1",
    "ALISTA with support selection, trained with 16 layers in that setting (500 steps of 64"
    " problems), reaches -39.05 dB with 500 and -33.51 dB with 1000 columns. Said of one network"
    " and one matrix of each size, as the logs are.",
    "Replicates are 40 groups of 50 test problems of one network: what another matrix or training"
    " would give is not judged. They spread by 1.7 dB, so their mean is known to 2 dB at this"
    " ledger's error; 500 steps of 64 problems here stand against 420 passes"
    " over 50,000 there, which is good for another 1.5. Untrained it is 10 dB off.",
    broken(
        "untrained", "Before the first step.",
        lambda run: run.data.untrained.transpose("group", ...).values.reshape(
            run.data.sizes["group"], -1)),
    measure=lambda run: run.data.decibels.transpose("group", ...).values.reshape(
        run.data.sizes["group"], -1),
    predict=lambda run: [PUBLISHED_ALISTA[dim] for dim in run.parameters.dims], resolution=3.5,
    experiment=outside_trained.outside_trained,
    citation=Citation(LOGS, "test_dbs of ALISTA: -39.05; -33.51", "scaled"),
    parts=tuple(f"{dim} columns" for dim in PUBLISHED_ALISTA), scales=seconds(standard=60))
