"""Claims on the limits of trained decoders: never exact, good at few rows, saturating with many,
and not to be deepened."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ORDERING
from saccade.studies.sparse_recovery.claims.trained import (
    PAIRED,
    SEEDS,
    by_seed,
    method_error,
    mine,
    rows,
)
from saccade.studies.sparse_recovery.experiments import trained

EXACT = 1e-6

NOT_EXACT = Claim(
    id="sparse-recovery.decoder-is-not-exact", spec="SR-F4",
    statement=(
        "A trained decoder never recovers a vector exactly; the converged LASSO does so on most of"
        " the same tasks."),
    source="ours", status="trained", kind=ORDERING, experiment=trained.trained,
    measure=lambda run: np.stack(
        [
            (method_error(run, "LASSO", rows(run)) < EXACT).astype(float) - (ours < EXACT)
            for ours in mine(run, rows(run))],
        axis=1),
    predict=lambda run: 0.4, resolution=0.06,
    argued=(
        "Shares of 8000 tasks solved to an error below 10^-6: their difference spreads by 0.5 a"
        " task, nine standard errors are 0.05."),
    statistic="mean", parts=by_seed("share of tasks solved exactly by LASSO, minus ours"),
    scales={"standard": Scale(seconds=150)},
    finding=(
        "In mean error the trained decoder reaches the converged LASSO's level; it is never exact,"
        " where the LASSO mostly is."),
    sabotages=(Sabotage(
        "compared-with-few-steps",
        "FISTA at the decoder's depth instead of the converged LASSO: it is not exact either.",
        measure=lambda run: np.stack(
            [
                (method_error(run, "FISTA", rows(run)) < EXACT).astype(float) - (ours < EXACT)
                for ours in mine(run, rows(run))],
            axis=1)),))


def _prior(run: Run, name: str = "error") -> np.ndarray:
    """The converged LASSO's error minus ours for fewer rows than trained with."""
    few = range(1, rows(run))
    return np.stack(
        [method_error(run, "LASSO", n) - ours for n in few for ours in mine(run, n, name)], axis=1)


PRIOR = Claim(
    id="sparse-recovery.decoder-learns-the-prior", spec="SR-F6",
    statement=(
        "With 1, 2 or 3 rows, too few to recover anything, the trained decoder's mean error is"
        " below the converged LASSO's."),
    source="ours", status="trained", kind=ORDERING, experiment=trained.trained, measure=_prior,
    predict=lambda run: 0.0, resolution=0.12, argued=PAIRED, statistic="mean",
    parts=tuple(f"{n} rows, seed {seed}" for n in (1, 2, 3) for seed in range(SEEDS)),
    scales={"standard": Scale(seconds=150)}, figure="sparse-recovery/trained-rows",
    finding=(
        "Where the measurements do not determine the vector, training on many tasks pays: the"
        " decoder knows the prior."),
    sabotages=(Sabotage(
        "untrained", "Before the first step.",
        measure=lambda run: np.stack(
            [
                method_error(run, "LASSO", n) - ours for n in (1, 2, 3)
                for ours in mine(run, 0, "untrained_error")],
            axis=1)),))


def _many_rows(run: Run, n: int) -> np.ndarray:
    """FISTA's error minus ours, and ours minus that of least squares, for each seed."""
    pairs = [
        (method_error(run, "FISTA", n) - ours, ours - method_error(run, "least squares", n))
        for ours in mine(run, n)]
    return np.stack([column for pair in pairs for column in pair], axis=1)


LONGER = Claim(
    id="sparse-recovery.decoder-saturates-with-rows", spec="SR-F6",
    statement=(
        "With twice the rows it was trained on, the decoder stays below FISTA at its depth, but"
        " above least squares, exact there."),
    source="ours", status="trained", kind=ORDERING, experiment=trained.trained,
    measure=lambda run: _many_rows(run, 2 * rows(run)), predict=lambda run: 0.0, resolution=0.08,
    argued=(
        "Paired over 8000 tasks; at 8 rows errors are small and their differences spread by about"
        " 0.4: nine standard errors are 0.04."),
    statistic="mean", parts=by_seed("below FISTA", "above least squares"),
    scales={"standard": Scale(seconds=150)}, figure="sparse-recovery/trained-rows",
    finding=(
        "More rows than in training help less and less: a trained decoder is an estimator for its"
        " own sizes, not a solver."),
    sabotages=(Sabotage(
        "rows-as-in-training", "As many rows as in training: there it is below least squares.",
        measure=lambda run: _many_rows(run, rows(run))),))

DEEPER = Claim(
    id="sparse-recovery.decoder-layers-do-not-repeat", spec="SR-Q3",
    statement="Using the last layer of a trained decoder four more times makes its answers worse.",
    source="a question of the paper's reviewers", status="trained", kind=ORDERING,
    experiment=trained.trained,
    measure=lambda run: ((
        run.data["repeated_error"].sel(extra=4).values
        - run.data["repeated_error"].sel(extra=0).values).T),
    predict=lambda run: 0.0, resolution=0.12, argued=PAIRED, statistic="mean",
    parts=by_seed("four more uses of the last layer"), scales={"standard": Scale(seconds=150)},
    finding=(
        "The layers are not steps of one iteration that could go on: more layers at test than in"
        " training hurt."),
    sabotages=(Sabotage(
        "against-an-untrained-decoder",
        "Compared with the decoders before training, which are worse still.",
        measure=lambda run: (
            (run.data["repeated_error"].sel(extra=4).values - mine(run, 0, "untrained_error")).T
        )),))


def _nearer_to_truth(run: Run) -> np.ndarray:
    """Squared distance of our answer to each algorithm's, minus that to the truth; a distance
    counts at most as twice |beta|^2."""
    most = 2.0 * run.parameters.sparsity
    apart = np.minimum(run.data["final_distance"].values, most)
    return np.concatenate([far - ours for far, ours in zip(apart, mine(run, rows(run)))]).T


NOT_A_SOLVER = Claim(
    id="sparse-recovery.decoder-does-not-run-ista", spec="SR-F4",
    statement=(
        "A trained decoder does not run ISTA, FISTA or LISTA-VM: its answer is nearer to the truth"
        " than to any of their answers."),
    source=(
        "ours; the paper's story is that trained transformers run a learned algorithm of this"
        " family"),
    status="trained", kind=ORDERING, experiment=trained.trained, measure=_nearer_to_truth,
    predict=lambda run: 0.0, resolution=0.12, argued=PAIRED, statistic="mean",
    parts=by_seed("to ISTA", "to FISTA", "to LISTA-VM"), scales={"standard": Scale(seconds=150)},
    figure="sparse-recovery/trained-layers",
    finding=(
        "What a decoder trained from scratch computes is none of the algorithms it could be built"
        " to run: it is better than they are."),
    sabotages=(Sabotage(
        "distance-to-itself",
        "The decoder in the place of the algorithms: its distance to itself is zero.",
        measure=lambda run: np.repeat(-mine(run, rows(run)), 3, axis=0).T),))
