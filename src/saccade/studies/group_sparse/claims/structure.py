"""Claims on what the weights look like: alignment of v, empty blocks of W, the direction of W22,
the size of W11."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, BELOW
from saccade.studies.group_sparse import theory
from saccade.studies.group_sparse.experiments import descent, reduced

XAVIER = Sabotage(
    "xavier", "Start from Xavier's Gaussian weights.", parameters={"start_factor": 1.0})
NO_ATTENTION = Sabotage(
    "frozen-attention", "Attention frozen at uniform.", parameters={"attention_speed": 0.0})


def relative_norms(run: Run) -> np.ndarray:
    """|v2|/|v1|, |W12|/|W22|, |W21|/|W22| at the last step, run by run."""
    last = run.data.isel(step=-1)
    blocks = last.block_norm.values
    return np.stack(
        [
            last.value_position_norm.values / last.value_norm.values, blocks[:, 1] / blocks[:, 3],
            blocks[:, 2] / blocks[:, 3]],
        1)


ALIGNED = Claim(
    id="group-sparse.value-aligns", spec="GS-T3",
    statement="The value vector turns to the true direction: cos(v1, v*) is close to 1.",
    source="Theorem 3.2, Lemma 5.2", status="asymptotic", kind=ABOVE,
    experiment=descent.full_descent, measure=lambda run: run.data.alignment.values[:, -1],
    predict=lambda run: 0.998, resolution=0.0,
    argued="Exactly 1 in the population; batches of 80 leave about 3e-4.", statistic="median",
    scales={"quick": Scale(seconds=5), "standard": Scale(seconds=90)},
    figure="group-sparse/alignment",
    sabotages=(Sabotage("first-step", "Look after one step of a batch of 80.", {"steps": 1}),))

EMPTY_BLOCKS = Claim(
    id="group-sparse.empty-blocks", spec="GS-T4",
    statement=(
        "v2, W12 and W21 stay at the level of the batch noise: at most a few per cent of v1 and"
        " W22."),
    source="Theorem 3.2 (v2 = 0); W12 = W21 = 0 is ours", status="exact in the population",
    kind=BELOW, experiment=descent.full_descent, measure=relative_norms,
    predict=lambda run: [0.1, 0.05, 0.05], resolution=0.0,
    argued=(
        "Exactly zero in the population (see invariant-subspace); batches of 80 make a random walk"
        " of two to four per cent."),
    statistic="median", parts=("|v2|/|v1|", "|W12|/|W22|", "|W21|/|W22|"),
    scales={"quick": Scale(seconds=5), "standard": Scale(seconds=90)}, figure="group-sparse/blocks",
    sabotages=(
        XAVIER,
        Sabotage(
            "above-transverse-limit", "eta = 1, above 16/(D (D+1)) = 0.38: batches amplify v2.",
            {"step_size": 1.0})))


def _orbits(run: Run) -> np.ndarray:
    """The last coordinates, [repetition][case][name]."""
    return np.swapaxes(run.data.coordinates.values[:, :, -1], 0, 1)


def _lemma_cosine(run: Run, transposed: bool = False) -> np.ndarray:
    rows = []
    for number, groups in enumerate(run.data.groups.values):
        target = np.asarray(theory.lemma_direction(int(groups), 0))
        target = target.T if transposed else target
        made = [
            np.asarray(theory.position_scores(point[3:], int(groups), 0))
            for point in _orbits(run)[:, number]]
        rows.append(
            [np.sum(M * target) / (np.linalg.norm(M) * np.linalg.norm(target)) for M in made])
    return np.array(rows).T


LEMMA = Claim(
    id="group-sparse.position-block-direction", spec="GS-L1",
    statement="W22 points along (sum_j (p_j* - p_j)) (sum_j p_j)^T, also with W11 free.",
    source="Lemma 5.1", status="asymptotic (exact in the position-only layer)", kind=ABOVE,
    experiment=reduced.reduced_descent, measure=_lemma_cosine, predict=lambda run: 0.998,
    resolution=0.0,
    argued=(
        "Cosine of the position scores with (e_* - 1/D) 1^T; W11 makes C about 0.1 to 0.3 beside a"
        " gap of 5 or more."),
    statistic="median",
    scales={"quick": Scale(seconds=8), "standard": Scale({"repetitions": 22}, seconds=180)},
    figure="group-sparse/blocks",
    sabotages=(Sabotage(
        "transposed", "Exchange keys and queries in the direction.",
        measure=lambda run: _lemma_cosine(run, True)),))


def _features(run: Run) -> np.ndarray:
    points = _orbits(run)
    C = points[..., 6] - points[..., 7]
    difference = (points[..., 3] - points[..., 5]) - (points[..., 4] - points[..., 7])
    return np.concatenate(
        [np.abs(points[..., 1]), np.abs(points[..., 2]), np.abs(C), np.abs(difference)], axis=1)


SMALL_FEATURES = Claim(
    id="group-sparse.feature-block-small", spec="GS-L2",
    statement=(
        "W11 is small but not zero: |a| < 0.5, |b| < 0.05, and the gaps differ little (C < 0.5, |A"
        " - B| < 0.3)."),
    source="ours; Lemma 5.1 speaks of the leading component", status="heuristic", kind=BELOW,
    experiment=reduced.reduced_descent, measure=_features,
    predict=lambda run: np.repeat([0.5, 0.05, 0.5, 0.3], len(run.parameters.cases)), resolution=0.0,
    argued="Read off earlier runs with d = 4 .. 20 and D = 4, 8.", statistic="median",
    scales={
        "quick": Scale({"repetitions": 22}, seconds=8),
        "standard": Scale({"repetitions": 24}, seconds=180)},
    sabotages=(
        Sabotage("exactly-zero", "Ask for W11 = 0 and C = 0 up to 0.01.", predict=lambda run: 0.01),
    ))
