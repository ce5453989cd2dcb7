"""Claims on what the others build on: the samples of the task, its Bayes rule, the three
classifiers with tokens masked out, the two gradient steps and the proximal point, as calculators
give them."""

import jax.numpy as jnp
import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, IDENTITY
from saccade.studies.sparse_token import calculators
from saccade.studies.sparse_token.claims.common import claim, wrong
from saccade.studies.sparse_token.experiments import samples
from saccade.studies.sparse_token.task import SparseToken

QUANTITIES = (
    "informative, positive", "informative, negative", "other tokens", "squared entry", "positive",
    *(f"token {place} chosen" for place in range(4)), "first two chosen", "calibrated",
    "by the chance", "by the first token", "by the last token", "from piece to piece")


def _prescribed(run: Run) -> list[float]:
    """What the setting says of each quantity, at uniform places and at those of the table."""
    p = run.parameters
    signal, rate = p.signal, p.positive_rate
    entry = 1 + rate * 2 * signal**2 / (p.length * p.dim)
    common = [signal, 0.0, 0.0, entry, rate]
    table = [0.7, 0.8, 0.3, 0.2]
    # of the first coordinate of the first token, by how often that one is chosen
    pairs = [(rate * chance * signal * 2 / 3) ** 2 for chance in (0.5, 0.7)]
    return [
        *common, *[0.5] * 4, 1 / 6, *[0.0] * 4, pairs[0], *common, *table, 0.5, *[0.0] * 4,
        pairs[1]]


SAMPLES = claim(
    "sparse-token.samples", "ST-T2",
    "Samples of the task have the prescribed share of positives, signal and places (uniform, and"
    " from a table), and the Bayes rule's chances are calibrated whatever they are multiplied by;"
    " the pieces of a stream are independent.",
    "64000 samples know a share to 0.002, a signal to 0.005 and a product to 0.001 (of two"
    " coordinates 0.004); E[(1{+} - P(+|X)) f(X)] = 0 for every f.",
    Sabotage("more-positives", "Draw positives at the rate 0.5 for 0.3.", {"drawn_rate": 0.5}),
    Sabotage("moved", "Move all tokens by a tenth of xi.", {"moved": 0.1}),
    Sabotage(
        "other-places", "Draw uniform places from the table, and vice versa.", {"swapped": True}),
    Sabotage("other-signal", "Assume theta = 3 in the Bayes rule.", {"assumed_signal": 3.0}),
    Sabotage("with-itself", "Compare every piece of the stream with itself.", {"apart": 0}),
    source="the data model; the Bayes rule is ours", kind=ESTIMATE, experiment=samples.samples,
    measure=lambda run: (
        run.data["mean"].values.transpose(2, 0, 1).reshape(run.parameters.replicates, -1)),
    predict=_prescribed,
    resolution=([0.04, 0.04, 0.03, 0.03, 0.02] + [0.02] * 5 + [0.015] * 4 + [0.04]) * 2,
    statistic="mean",
    parts=tuple(f"{law}: {name}" for law in ("uniform", "table") for name in QUANTITIES),
    scales={"quick": Scale(repetitions=2, seconds=3)})


def _answers(run: Run) -> np.ndarray:
    """What task and calculators say of the tokens: log odds, then features and shares."""
    p, X = run.parameters, run.data.X.values
    told = {
        "length": p.length, "informative": 2, "positive_rate": p.positive_rate, "signal": 0.9,
        "X": X}
    odds = [calculators.bayes(told | {"direction": samples.XI}), calculators.bayes(told)]
    tasks = [
        SparseToken.create(
            3, p.length, 2, p.positive_rate, 0.9, jnp.asarray(samples.XI), samples.TABLE, chances)
        for chances in (samples.CHANCES, None)]
    seen = calculators.features({"X": X, "q": run.data["query"].values, "beta": 0.7})
    answers = [*(item["log_odds"] for item in odds), *(np.asarray(task.best(X)) for task in tasks)]
    return np.concatenate(
        [np.ravel(item) for item in (*answers, seen["features"], seen["attention"])])


ANSWERS = claim(
    "sparse-token.answers-by-hand", "ST-T2",
    "What the Bayes rule says of given tokens are the log odds summed over all places, along a"
    " direction and along the first axis, for places from a table and for equally likely ones of"
    " it; features and shares of attention are their definitions.",
    "Sums of a dozen terms of order one.",
    Sabotage(
        "other-numbers", "By hand a signal of 1 for 0.9 and an inverse temperature of 0.8 for 0.7.",
        {"signal_by_hand": 1.0, "beta_by_hand": 0.8}),
    source="ours", kind=IDENTITY, experiment=samples.given_tokens,
    measure=lambda run: one_row(np.concatenate(
        [run.data[name].values.ravel() for name in ("odds", "features", "attention")])),
    predict=_answers, resolution=1e-12)


def _by_hand(run: Run) -> np.ndarray:
    """Margins and shares of attention, pooling and the vectorised classifier, from their
    definitions."""
    p, data = run.parameters, run.data
    seen = np.arange(p.length + p.hidden) < p.length
    parts = np.where(seen, data.parts.values, 0.0)
    weights = [np.exp(k * data.scores.values) * seen for k in (p.beta, 0.0)]
    shares = [w / w.sum(1, keepdims=True) for w in (*weights, np.abs(parts))]
    margins = [(share * data.answers.values).sum(1) for share in shares[:2]] + [parts.sum(1)]
    return np.concatenate([np.ravel(margins) + 0.3, np.ravel(shares)])


def _as_given(run: Run) -> np.ndarray:
    """Margins, and shares of all tokens."""
    return one_row(np.concatenate([run.data.margin.values.ravel(), run.data.share.values.ravel()]))


MASKED = claim(
    "sparse-token.masked-tokens", "ST-T2",
    "Margins and shares of attention (beta = 0.7), pooling and the vectorised classifier are their"
    " definitions; masked tokens change nothing, whatever they hold, and get no share.",
    "Sums of seven terms of order one.",
    Sabotage("ignore-mask", "Let all tokens in.", {"ignore_mask": True}), source="ours",
    kind=IDENTITY, experiment=samples.masked_tokens, measure=_as_given, predict=_by_hand,
    resolution=1e-12)


def _written(run: Run) -> np.ndarray:
    """The two steps as they are written out, for both losses."""
    p, data = run.parameters, run.data
    told = {name: getattr(p, name) for name in ("eta_w", "eta_b", "eta_q", "beta")}
    told |= {"X": data.X.values, "y": data.y.values}
    steps = [calculators.gradient_steps(told | {"loss": loss}) for loss in samples.LOSSES]
    return np.concatenate([np.append(np.append(one["w"], one["b"]), one["q"]) for one in steps])


STEPS = claim(
    "sparse-token.steps-as-defined", "ST-T3",
    "On explicit tokens the two gradient steps are those of the mean loss of the attention"
    " classifier, both losses, every step size and the temperature its own.",
    "Rounding of sums of a few dozen terms of order one.",
    Sabotage("other-loss", "Differentiate the other loss.", {"swapped": True}), source="ours",
    kind=IDENTITY, experiment=samples.differentiated_steps,
    measure=lambda run: one_row(run.data.differentiated.values), predict=_written, resolution=1e-12,
    parts=tuple(
        f"{name}, {loss} loss" for loss in samples.LOSSES
        for name in ("w1", "w2", "w3", "w4", "b", "q1", "q2", "q3", "q4")))


def _proximal(run: Run, sign: int = 1) -> np.ndarray:
    p = run.parameters
    asked = {"omega": p.omega, "step": p.step}
    return np.concatenate(
        [calculators.prox_logistic(asked | {"label": sign * label})["prox"] for label in (1, -1)])


PROX = claim(
    "sparse-token.prox-as-defined", "ST-T4",
    "The proximal point of the logistic loss is the minimiser of its definition, for both labels"
    " and steps from 0.2 to 120.",
    "A search that compares values finds a minimum to the root of rounding, 1e-7 of its size.",
    wrong("other-label", "Take the other label.", _proximal, -1), source="ours", kind=IDENTITY,
    experiment=samples.searched_prox, measure=lambda run: one_row(run.data.prox.values),
    predict=_proximal, resolution=3e-6)
