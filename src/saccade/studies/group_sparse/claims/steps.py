"""Claims on single steps of the population maps, against automatic differentiation of the layer on
a product rule: the step from any attention, and the balance of unmerged matrices."""

import jax.numpy as jnp
import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.group_sparse.claims import claim
from saccade.studies.group_sparse.dynamics import mixture_map, plan_record, unmerged
from saccade.studies.group_sparse.experiments import steps


def _mixture_change(
    run: Run, length: float = 1.0, power: float = 2.0, weights: tuple[float, ...] | None = None,
    speed: float | None = None,
) -> np.ndarray:
    """The map's change of alpha, and of every score once for each query. Other formulas for the
    turn of the scores, eta c^power length^2 / D, are the map's at another gram scale."""
    p = run.parameters
    made = np.array(p.weights if weights is None else weights)
    state = mixture_map.MixtureState(jnp.asarray(p.alpha), jnp.asarray(p.scores))
    moved = mixture_map.mixture_step(
        state, jnp.asarray(made / np.linalg.norm(made)), p.step_size,
        length * p.norm_squared ** (power / 2), p.scale, p.value_speed if speed is None else speed)
    scores = np.asarray(moved.scores - state.scores)
    return np.append(float(moved.alpha - state.alpha), np.repeat(scores, len(scores)))


MIXTURE_STEP = claim(
    "group-sparse.step-from-any-attention", "GS-T5e",
    "A descent step of v1 and W22 on the population, from scores alike for every query and with any"
    " label weights, changes alpha by eta (-dL/dalpha), at a speed of its own, and each query's"
    " score of group i by eta (c^2/D) (-dL/dm_i): D = 3, c = 2.3, encodings of five dimensions.",
    "No chance: a product rule of 24 x 16 x 16 nodes on either side of the label is good to 1e-12.",
    source="ours", status="quadrature", kind=IDENTITY, experiment=steps.mixture_descent,
    measure=lambda run: one_row(np.append(run.data.alpha.values, run.data.score.values.ravel())),
    predict=_mixture_change, resolution=1e-9,
    parts=("alpha", *[f"score {i}, query {j}" for i in range(3) for j in range(3)]),
    scales={"quick": Scale(seconds=2)},
    sabotages=(
        Sabotage(
            "length-once", "Predict that scores turn with c, the gradient's one P^T P forgotten.",
            predict=lambda run: _mixture_change(run, power=1.0)),
        Sabotage(
            "whole-force", "Predict that every query's column takes the whole force, not a D-th.",
            predict=lambda run: _mixture_change(run, length=len(run.parameters.scores) ** 0.5)),
        Sabotage(
            "one-group", "Predict a label made by the first group alone.",
            predict=lambda run: _mixture_change(run, weights=(1.0, 0.0, 0.0))),
        Sabotage(
            "full-speed", "Predict that alpha moves at full speed.",
            predict=lambda run: _mixture_change(run, speed=1.0))))


def _counted(run: Run, speed: float | None = None, relevant: int = 2) -> list[float]:
    """`steps_to_return` from every odds, perhaps at another speed of v or to another group."""
    p, counts = run.parameters, []
    for odds in p.odds:
        scores = jnp.asarray([np.log(odds), 0.0, 0.0])
        start = mixture_map.MixtureState(jnp.asarray(p.alpha), scores)
        counts.append(float(mixture_map.steps_to_return(
            start, relevant, p.step_size, p.norm_squared, p.scale,
            p.value_speed if speed is None else speed)))
    return counts


RETURN_COUNTED = claim(
    "group-sparse.return-counted", "GS-T5e",
    "The steps that a selector of the wrong group needs until half of its attention is on the group"
    " that decides are, to the step, those of descent of v1 (at a speed of its own) and W22 on the"
    " population: D = 3, c = 2.3, from odds of 3, 4 and 6.", "Counted.", source="ours",
    status="quadrature", kind=IDENTITY, experiment=steps.mixture_return,
    measure=lambda run: one_row(run.data.steps.values), predict=_counted, resolution=0.0,
    parts=("odds of 3", "of 4", "of 6"), scales={"quick": Scale(seconds=2)},
    sabotages=(
        Sabotage("two-thirds", "Until two thirds of the attention are there.", {"until": 2 / 3}),
        Sabotage(
            "full-speed", "Predict that v moves at full speed.",
            predict=lambda run: _counted(run, speed=1.0))))


def _by_map(run: Run, split: float | None = None, moves: bool = True) -> np.ndarray:
    """a and theta at the start, and a, theta and alpha at the end: the product A = a theta is that
    of the map (its attention held, if not `moves`), and a/theta = D/sqrt(D-1) or `split`, by which
    |k| = |q|: a^2 (D-1)/D = theta^2 D."""
    p = run.parameters
    ratio = p.groups / np.sqrt(p.groups - 1) if split is None else split
    alpha, gap = unmerged.rank_one_map(
        float(p.groups), p.size, p.step_size, p.norm_squared if moves else 0.0, p.scale,
        plan_record(p.steps).stops)
    A, end = p.size**2, float(gap[0])
    return np.array([
        np.sqrt(A * ratio), np.sqrt(A / ratio), np.sqrt(end * ratio), np.sqrt(end / ratio),
        float(alpha[0])])


BALANCE = claim(
    "group-sparse.unmerged-balance-is-kept", "GS-O2",
    "The rank-one start has a theta = size^2 and k as long as q, a = theta D/sqrt(D-1); population"
    " descent of every entry of K, Q and v keeps that balance, and alpha and a theta are"
    " those of the map: D = 4, c = 2.3, encodings of six dimensions.",
    "No chance: a product rule of 18 x 8 x 8 x 8 nodes on either side of the label is good to"
    " 1e-11 over four steps.", source="ours", status="quadrature", kind=IDENTITY,
    experiment=steps.unmerged_descent,
    measure=lambda run: one_row(run.data.state.values.ravel()[[0, 1, 3, 4, 5]]), predict=_by_map,
    resolution=1e-9, parts=("a, start", "theta, start", "a", "theta", "alpha"),
    scales={"quick": Scale(seconds=2)},
    sabotages=(
        Sabotage("equal-sizes", "Predict a = theta.", predict=lambda run: _by_map(run, split=1.0)),
        Sabotage(
            "off-balance", "Predict a = theta D/(D-1), as for a balance of the largest entries.",
            predict=lambda run: _by_map(
                run, split=run.parameters.groups / (run.parameters.groups - 1))),
        Sabotage(
            "attention-held", "Predict the map with its attention held at the start.",
            predict=lambda run: _by_map(run, moves=False))))
