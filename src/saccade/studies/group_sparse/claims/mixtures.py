"""Claims on attention that looks elsewhere: what a selector of the wrong group, or of one group of
two, costs, and how long descent takes to return."""

from typing import Any

import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import slopes
from saccade.lab.kinds import ESTIMATE, SLOPE
from saccade.studies.group_sparse.claims import answers, claim
from saccade.studies.group_sparse.experiments import mixtures
from saccade.studies.group_sparse.theory.mixture import mixture_error, mixture_forces

SHARED_PATTERN = answers(
    "Limitations", "depend critically on the downstream task sharing the exact same sparsity"
    " pattern as pre-training")


def _at_state(run: Run, **other: tuple[float, ...]) -> np.ndarray:
    """Error, loss and forces by the theory, at the run's state or with `other` scores, weights."""
    p = run.parameters.model_dump() | other
    odds: Any = np.exp(p["scores"])
    w: Any = np.array(p["weights"]) / np.linalg.norm(p["weights"])
    shares = odds / odds.sum()
    forces = mixture_forces(p["alpha"], shares, w, p["scale"])
    return np.array([
        mixture_error(shares, w), forces.loss, forces.alpha_force, *np.asarray(forces[2]),
        mixture_error(shares, p["opposed"])])


STATE = claim(
    "group-sparse.any-attention", "GS-T5e",
    "With position scores of any kind and a label made by any weights of the groups, the layer errs"
    " with probability arccos(rho)/pi, rho the cosine of attention and weights, and has the loss"
    " and the forces of one-dimensional integrals; the error is above one half where the group"
    " looked at most counts against the label.",
    "64 samples of 2000 leave 0.001 in the error, 0.002 in loss and pulls and 0.005 in that on"
    " alpha; the first three resolutions are twice their intervals.", source="ours",
    status="quadrature", kind=ESTIMATE, experiment=mixtures.mixture_state, citation=SHARED_PATTERN,
    measure=lambda run: run.data.value.values, predict=_at_state,
    resolution=[0.02, 0.03, 0.08, 0.015, 0.015, 0.015, 0.015, 0.02], statistic="mean",
    parts=(
        "error", "loss", "pull on alpha", *[f"pull on score {i}" for i in range(4)],
        "error, opposed"),
    scales={"quick": Scale(repetitions=2, seconds=2), "standard": Scale(seconds=4)},
    sabotages=(
        Sabotage(
            "one-group", "Predict a label made by the first group alone.",
            predict=lambda run: _at_state(run, weights=(1.0, 0.0, 0.0, 0.0))),
        Sabotage(
            "uniform", "Predict at uniform attention.",
            predict=lambda run: _at_state(run, scores=(0.0, 0.0, 0.0, 0.0)))))


def _exponent(run: Run) -> np.ndarray:
    """Slope of log steps against the log of the odds, over the last two."""
    odds, steps = (np.log(run.data[name].values)[..., -2:] for name in ("odds", "steps"))
    return one_row(slopes(odds, steps))


HELD = Sabotage(
    "value-held", "v held at the new direction, attention alone moves.",
    {"alpha": 0.3, "value_moves": False})
RETURN = claim(
    "group-sparse.return-from-wrong-group", "GS-T5e",
    "A selector of the wrong group unlearns slowly: the population steps, small enough for v to be"
    " stable, until half of the attention is on the group that decides grow as the square of the"
    " odds of the selection.",
    "No chance; an exponent between odds of 50 and 100, where 0.02 is left.",
    "Negative transfer lasts: the further a selector has concentrated, 1 - S ~ t^(-2/3), the longer"
    " it takes to return from it, as (1 - S)^(-2) ~ t^(4/3).", source="ours", status="asymptotic",
    citation=SHARED_PATTERN, kind=SLOPE, experiment=mixtures.return_times, measure=_exponent,
    predict=lambda run: 2.0, resolution=0.04, parts=("D=5", "D=10"),
    scales={"quick": Scale(seconds=3)}, figure="group-sparse/pretrained",
    sabotages=(
        HELD,
        Sabotage(
            "unstable-value", "Steps of 12/D^2, above the 8/D^2 at which v is unstable.",
            {"pace": 12.0})))


def _approach(run: Run, limit: float = 2.0) -> np.ndarray:
    """Exponent of the odds in the distance of the exponent from its limit, the exponent between
    neighbouring odds."""
    odds, steps = (np.log(run.data[name].values) for name in ("odds", "steps"))
    between = np.diff(steps, axis=1) / np.diff(odds)
    return one_row(slopes(odds[1:], np.log(np.abs(between - limit))))


RETURN_APPROACHED = claim(
    "group-sparse.return-law-is-approached", "GS-T5e",
    "The square of the odds is a limit: the exponent between odds of 12.5 and 25, 25 and 50, 50 and"
    " 100 comes nearer to 2 as the odds^(-2).",
    "No chance; three distances from 2. Half of the attention is reached from odds o after of order"
    " o^2 + const steps; 0.12 is left in the exponent at these odds.", source="ours",
    status="asymptotic", citation=SHARED_PATTERN, kind=SLOPE, experiment=mixtures.return_times,
    measure=_approach, predict=lambda run: -2.0, resolution=0.2, parts=("D=5", "D=10"),
    scales={"quick": Scale(seconds=3)}, figure="group-sparse/pretrained",
    sabotages=(
        HELD, Sabotage("other-limit", "A limit of 2.1.", measure=lambda run: _approach(run, 2.1))))
