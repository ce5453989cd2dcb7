"""Claims on what every run begins and ends with: the numbers drawn for it, options that are left
out, and the name of the way it went."""

from typing import Any

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.softmax_location import dynamics, theory
from saccade.studies.softmax_location.claims import changed, claim, quick
from saccade.studies.softmax_location.claims.definitions import weights
from saccade.studies.softmax_location.experiments import definitions
from saccade.studies.softmax_location.theory import Setting

PAIRS = ("tokens and places", "tokens and noise", "places and noise")
DRAWN = claim(
    id="softmax-location.drawn-numbers", spec="SM-8",
    statement="Tokens, places and label noise are made of different random numbers, and the noise"
    " is what the target has beside the mean answer of one informative token, or of two.",
    kind=IDENTITY, experiment=definitions.drawn_numbers,
    measure=lambda run: one_row([*run.data.alike.values.ravel(), *run.data.spread.values]),
    predict=lambda run: [0.0] * 6 + [1.0] * 2, resolution=0.06,
    argued="Correlations of 8000 numbers fluctuate by 0.011, their spread by 0.008; of the same"
    " numbers they are 1, and 0.3 or more where one of them is a place.",
    parts=(
        *(f"{pair}, {count}" for count in ("one", "two") for pair in PAIRS), "noise, one",
        "noise, two"),
    sabotages=(
        changed("again", "Make places and half the noise of the tokens' numbers.", again=True),))


def _left_out(run: Run, gamma: float = 2**-0.5, lam: float = 1.0) -> np.ndarray:
    """The largest difference to the options said: of tasks, of layers by hand, and of formulas."""
    X, shift, plain = run.data.X.values, np.sqrt(2.5), Setting(12.0, 5.0, 0.8)
    at = Setting(12.0, 5.0, 0.8, gamma, 0.0)
    pairs = zip(run.data.k.values, run.data.v.values, strict=True)
    heads = [np.sum(weights(np.exp(lam * (X @ k))) * (X @ v), axis=1) for k, v in pairs]
    of_score = np.exp((X[:, :, 0] ** 2 - ((X[:, :, 0] - shift) / gamma) ** 2) / 2)
    odds = gamma**2 * of_score / (of_score.sum(axis=1, keepdims=True) - of_score)
    layers = np.stack([sum(heads) / 2, np.sum(odds / (1 + odds) * X[:, :, 1], axis=1)])
    searches: tuple[Any, ...] = (
        (theory.best_inverse_temperature, ()), (theory.best_erf, ()), (theory.best_several, (2.0,)),
        (dynamics.trained_temperature, ()))
    formulas = [
        *((find(12.0, 5.0, *more), find(12.0, 5.0, *more, gamma)) for find, more in searches),
        (
            dynamics.trained_temperature(12.0, 5.0, kind="erf"),
            dynamics.trained_temperature(12.0, 5.0, gamma, "erf")),
        (dynamics.oracle_risk_at(12.0, 5.0, 0.8), theory.oracle_risk(at)),
        (theory.bayes_risk(plain), theory.bayes_risk(at, "all")),
        (theory.several_risk(plain, 2.0), theory.several_risk(at, 2.0, 1.0, 1.0))]
    return one_row([
        np.abs(run.data.task.values - [gamma, 0, 1]).max(),
        np.abs(run.data.prediction.values - layers).max(),
        max(np.abs(np.subtract(found, said)).max() for found, said in formulas)])


LEFT_OUT = claim(
    id="softmax-location.options-left-out", spec="SM-13",
    statement="Options left out are the paper's: gamma^2 = 1/2, no noise, one informative token,"
    " lambda = 1 in a layer; the truth, and all coordinates.", kind=IDENTITY,
    experiment=definitions.left_out, measure=_left_out, resolution=1e-10,
    argued="The same formulas with the options written out, or sums of four terms.",
    parts=("tasks", "layers", "formulas"), scales=quick(seconds=1),
    sabotages=(Sabotage(
        "others", "Say gamma = 0.8 and lambda = 1.1.",
        measure=lambda run: _left_out(run, 0.8, 1.1)),))


def _misnamed(run: Run, recovers: float = 0.9, swapped: float = 0.5) -> np.ndarray:
    """Shares of states named otherwise than by hand, for softmax and for erf."""
    (k, v), shares = np.moveaxis(run.data.pair.values, 1, 0), []
    for named, mirrored in zip(run.data.fate.values, (False, True), strict=True):
        reads = np.where(mirrored & (v[:, 1] < 0), -v[:, 1], v[:, 1])
        turned = k[:, 1] ** 2 > swapped**2
        by_hand = np.full(len(k), dynamics.FATES.index("undecided"))
        by_hand[turned & (reads < 0.5)] = dynamics.FATES.index("swapped")
        by_hand[~turned & (reads > recovers)] = dynamics.FATES.index("recovers")
        shares.append(np.mean(by_hand != named))
    return one_row(shares)


NAMED = claim(
    id="softmax-location.fates-by-name", spec="SM-8",
    statement="A run recovers when nu > 0.9 and |eta| < 1/2, and is swapped when |eta| > 1/2 and nu"
    " < 1/2; for erf, which has a twin of the truth, by |nu|: 2000 states, each by hand.",
    kind=IDENTITY, experiment=definitions.made_up_states, measure=_misnamed, resolution=0.0,
    argued="Shares of states; none is so near an edge that rounding decides.",
    parts=("softmax", "erf"),
    sabotages=(
        Sabotage("later", "Ask for nu > 0.95.", measure=lambda run: _misnamed(run, 0.95)),
        Sabotage(
            "sooner", "Ask for |eta| > 0.45.", measure=lambda run: _misnamed(run, swapped=0.45))))
