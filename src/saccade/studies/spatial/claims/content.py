"""Claims beyond the paper: content in queries and keys, and patches that straddle sets."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, IDENTITY, ORDERING
from saccade.studies.spatial.claims import answers
from saccade.studies.spatial.experiments import content

MIXES = answers(
    "Conclusion, limitations and future works", "Our analysis heavily relies on the positional"
    " attention mechanism [...]. In practice, self-attention mixes these two quantities")
PATH = partial(
    Claim, source="ours; the paper's named limitation", citation=MIXES, status="heuristic",
    kind=ORDERING, experiment=content.content_descent, scales={"quick": Scale(seconds=3)},
    figure="spatial/content",
    argued="Paths over 400 sampled images of D = 36, C = 4, q = 0.3 without noise, 600 steps; they"
    " depend on the sample by a few per cent.")

FOUR = Claim(
    id="spatial.content-four-scalars", spec="VS-X10", source="ours", citation=MIXES,
    statement="With content theta x_i x_j beside A the gradient over every image has one value"
    " within sets and one between them, none for a preference of keys by sign, and is that of the"
    " four scalars.", kind=IDENTITY, experiment=content.content_gradient,
    measure=lambda run: one_row([
        *(run.data.whole - run.data.scalars).values, *run.data.spread.values,
        run.data.preference.values]),
    resolution=1e-12,
    parts=("loss", "same set", "other sets", "theta", "spread, same", "spread, other", "keys"),
    argued="Rounding of sums over 108 images.",
    sabotages=(
        Sabotage("key-bias", "Keys of sign + are preferred by 0.3.", {"preference": 0.3}),
        Sabotage("one-entry", "Raise one entry of A by 0.2.", {"raised": 0.2})))


def _first(run: Run, kind: int) -> float:
    """The step at which gamma passes 1, straight between records; infinite if it never does."""
    gamma, steps = run.data.gamma.values[kind], run.data.step.values
    return float(np.interp(1.0, gamma, steps)) if gamma[-1] > 1 else np.inf


def _sooner(run: Run, trained: int = 3) -> np.ndarray:
    """How many times as many steps gamma needs to 1 without content as with 1/2 of it and with it
    trained, less 1.3; theta then, less 0.1; what its end error is below that without plus 0.01."""
    steps = [_first(run, kind) for kind in (1, 2, trained)]
    then = np.interp(steps[2], run.data.step.values, run.data.theta.values[trained])
    error = run.data.error.values[:, -1]
    return one_row([
        steps[0] / steps[1] - 1.3, steps[0] / steps[2] - 1.3, then - 0.1,
        error[1] + 0.01 - error[trained]])


SOONER = PATH(
    id="spatial.content-helps", spec="VS-X10",
    statement="Content helps to discover sets: with theta = 1/2, or theta trained from 0, gamma"
    " passes 1 at least 1.3 times as soon; trained theta rises by itself, and the error at the end"
    " is no worse.", measure=_sooner, resolution=[0.05, 0.05, 0.02, 0.002],
    parts=("theta=1/2", "theta trained", "theta rises", "error"),
    finding="A patch that first looks for patches of its own sign sees the signal set more clearly"
    " among empty ones, so gamma takes off at twice the speed; once the sets are known theta falls"
    " back.",
    sabotages=(
        Sabotage(
            "no-content", "theta = 0 throughout.", {"eta_theta": 0.0, "thetas": (0.0, 0.0, 0.0)}),
        Sabotage(
            "no-positions", "Train theta with A at rest.",
            measure=lambda run: _sooner(run, trained=4))))


def _hinders(run: Run, alone: int = 4) -> np.ndarray:
    """Error at the end with theta = -1/2, and with content alone, less that without content and
    0.03."""
    error = run.data.error.values[:, -1]
    return one_row(error[[0, alone]] - error[1] - 0.03)


HINDERS = PATH(
    id="spatial.content-hurts", spec="VS-X10",
    statement="Content of the wrong sign (theta = -1/2) stops the discovery of sets, and content"
    " alone, with A at rest, cannot replace it: both end with an error more than 0.03 above that"
    " without content.", measure=_hinders, resolution=0.005, parts=("theta=-1/2", "content alone"),
    finding="Content knows signs, not places: alone it is a linear model again.",
    sabotages=(
        Sabotage("right-sign", "theta = 1/4 instead of -1/2.", {"thetas": (0.25, 0.0, 0.5)}),
        Sabotage(
            "with-positions", "Train A beside theta.", measure=lambda run: _hinders(run, alone=3))))

RANKS = Claim(
    id="spatial.straddling-ranks", spec="VS-X10", source="ours", status="heuristic", kind=ABOVE,
    citation=answers("Definition 2.1", "there exists a partition of [D] into L disjoint subsets"),
    statement="Where patches of 3 cells straddle sets of 4 the attention still ranks patches that"
    " share a set first, in at least 65 pairs of 100 (chance: 50), but not as well as patches of 2"
    " cells, which divide the sets.", experiment=content.straddling, statistic="median",
    measure=lambda run: np.column_stack(
        [run.data.ranked.values[1], run.data.ranked.values[0] - run.data.ranked.values[1]]),
    predict=lambda run: [0.65, 0.02], resolution=0.0, parts=("patches of 3", "below those of 2"),
    argued="Medians over 36 samples of 800 images of 24 cells (q = 1/4), 200 steps.",
    scales={"quick": Scale(seconds=2)},
    sabotages=(
        Sabotage("untrained", "One step, of v alone.", {"steps": 1, "eta_a": 0.0}),
        Sabotage("dividing", "Patches of 2 cells throughout.", {"patches": (2, 2)})))
