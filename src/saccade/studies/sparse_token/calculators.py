"""The calculators of the sparse-token study: best errors and answers, two gradient steps, fitted
classifiers, capacity, and the logistic prox."""

from typing import Annotated, Any

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from saccade.errors import InvalidInput, require
from saccade.lab.calculator import Inputs, calculator
from saccade.studies.sparse_token import dynamics, models, theory
from saccade.studies.sparse_token.task import SparseToken, SparseTokenSetting
from saccade.studies.sparse_token.theory.law import LONGEST_SAMPLED

PAPER = "Barnfield, Cui, Lu (2025)"


class Common(Inputs):
    """The setting shared by most calculators."""

    length: int = Field(description="number L of tokens, at least 1")
    informative: int = Field(description="number R of informative tokens, from 1 to length")
    positive_rate: float = Field(
        description="share pi of positive samples, strictly between 0 and 1")
    signal: float = Field(description="signal strength theta, at least 0")

    def setting(self) -> SparseTokenSetting:
        return SparseTokenSetting(self.length, self.informative, self.positive_rate, self.signal)


class Steps(Inputs):
    """The two gradient steps."""

    eta_w: float = Field(0.5, description="step size of w")
    eta_b: float = Field(0.5, description="step size of b")
    eta_q: float = Field(0.5, description="step size of q")
    beta: float = Field(1.0, description="inverse temperature of the softmax")
    loss: str = Field("logistic", description="logistic or square")

    def steps(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Steps.model_fields}


class Classifier(Inputs):
    """One of the three, with attention's query."""

    model: str = Field(description="attention, pooled or vectorised")
    alignment: float | None = Field(
        None, description="cosine of the query with the signal, attention only")
    sharpness: float | None = Field(None, description="sharpness k = beta |q|, attention only")


Tokens = Annotated[
    list[list[list[float]]], Field(description="tokens, X[sample][token][coordinate]")]
Samples = Annotated[
    list[list[list[float]]] | None,
    Field(description="tokens, X[sample][token][coordinate], of at least 3 coordinates")]
Direction = Annotated[
    list[float] | None, Field(description="unit signal direction xi [the first axis]")]
Labels = Annotated[list[float], Field(description="labels, +1 or -1, one a sample")]
Vector = Annotated[list[float], Field(description="query, one entry a coordinate")]
Beta = Annotated[float, Field(description="inverse temperature of the softmax")]
Sharpness = Annotated[
    float | None,
    Field(description="sharpness k of the softmax, at least 0; adds the output softmax")]
StepSamples = Annotated[
    float, Field(description="samples of the two steps per dimension, alpha0 = n0/d, above 0")]
FitSamples = Annotated[
    float, Field(description="training samples per token dimension, alpha1 = n1/d, above 0")]
Ridge = Annotated[float, Field(description="ridge lambda, above 0")]
Loss = Annotated[str, Field(description="logistic or square")]
Points = Annotated[float | list[float], Field(description="points, a list or a number")]
StepSizes = Annotated[
    float | list[float],
    Field(description="step sizes, at least 0, as many as omega (or one number)")]
Label = Annotated[int, Field(description="+1 or -1")]

_FIGURE_1 = {"length": 10, "informative": 1, "positive_rate": 0.5, "signal": 5.0}
_STEPS = {"eta_w": 0.5, "eta_b": 0.5, "eta_q": 40.0, "beta": 1.0, "loss": "logistic"}
_QUERY = {"model": "attention", "alignment": 0.8, "sharpness": 1.0}
_SOLVED = {
    "status": "converged or not converged",
    "residual": "largest relative residual of the equations"}


@calculator(
    "sparse-token.oracle-error",
    outputs={
        "pooled": "mean pooling", "hardmax": "attention of infinite sharpness",
        "bayes": "any classifier (informative = 1, up to 10000 tokens)",
        "softmax": "attention of the given sharpness", "status": "how each was computed",
        "accuracy": "what refining the quadrature changed"},
    status="exact (pooled, hardmax), quadrature (bayes, softmax)",
    source=f"Proposition 1 and Theorem 2, {PAPER}; formulas by saccade",
    example=_FIGURE_1 | {"sharpness": 1.0})
def oracle_error(common: Common, sharpness: Sharpness = None) -> dict[str, Any]:
    """Smallest test errors of classifiers that know the signal direction and use the best
    threshold."""
    setting = common.setting()
    answers = {
        "pooled": theory.pooled_oracle_error(setting),
        "hardmax": theory.hardmax_oracle_error(setting)}
    notes: dict[str, str] = {}
    if setting.informative > 1:
        notes["bayes"] = "not computed: it is for informative = 1; others: sparse-token.bayes"
    elif setting.length > LONGEST_SAMPLED:
        notes["bayes"] = f"not computed: it is for lengths up to {LONGEST_SAMPLED}"
    else:
        answers["bayes"] = theory.bayes_error(setting)
    if sharpness is not None:
        answers["softmax"] = theory.softmax_oracle_error(setting, sharpness)
    return {name: item.error for name, item in answers.items()} | {
        "status": {name: item.status for name, item in answers.items()} | notes,
        "accuracy": {name: item.accuracy for name, item in answers.items()}}


@calculator(
    "sparse-token.bayes",
    outputs={
        "error": "smallest error of any classifier that knows the signal direction",
        "log_odds": "of a positive sample, given its tokens (if X is given): its sign is the best"
        " answer",
        "status": "exact, quadrature, or bound (the better of pooling and the largest token, where"
        " length times informative is too large)",
        "accuracy": "what refining the quadrature changed in the error"},
    status="quadrature (error), exact (log_odds)",
    source="likelihood ratio over all places, by saccade",
    example=_FIGURE_1 | {"informative": 2, "signal": 2.0, "X": [[[1.0, 2.0, 0.0]] * 10]})
def bayes(common: Common, X: Samples = None, direction: Direction = None) -> dict[str, Any]:
    """The Bayes-optimal classifier for any number of informative tokens: its error, and what it
    says of given tokens."""
    setting = common.setting()
    answer = theory.subset_bayes_error(setting)
    told: dict[str, Any] = {
        "error": answer.error, "status": answer.status, "accuracy": answer.accuracy}
    if X is None:
        require(direction is None, "direction", direction, "is only for given tokens X")
        return told
    tokens = _as_tokens(X)
    require(
        tokens.shape[1] == setting.length, "X", f"of {tokens.shape[1]} tokens a sample",
        f"must have length = {setting.length}")
    task = SparseToken.create(
        tokens.shape[2], setting.length, setting.informative, setting.positive_rate, setting.signal,
        None if direction is None else jnp.asarray(direction))
    return told | {"log_odds": task.best(jnp.asarray(tokens))}


@calculator(
    "sparse-token.gradient-steps",
    outputs={
        "w": "read-out after the first step", "b": "bias after the first step",
        "q": "query after the second step"},
    source=f"training protocol, {PAPER}",
    example={"X": [[[1.0, 2.0], [0.0, 1.0]], [[0.5, -1.0], [1.0, 0.0]]], "y": [1, -1], **_STEPS})
def gradient_steps(X: Tokens, y: Labels, steps: Steps) -> dict[str, Any]:
    """Two full-batch gradient steps from zero on explicit data: w and b first, then q."""
    tokens = _as_tokens(X)
    require(
        len(y) == len(tokens), "y", f"a list of {len(y)}",
        f"must have {len(tokens)} labels, as many as X has samples")
    return dynamics.gradient_steps(tokens, y, **steps.steps())._asdict()


@calculator(
    "sparse-token.features",
    outputs={"features": "one vector a sample", "attention": "softmax weights of the tokens"},
    source=f"model definition, {PAPER}",
    example={"X": [[[1.0, 2.0], [0.0, 1.0]]], "q": [1.0, 0.0], "beta": 1.0})
def features(X: Tokens, q: Vector, beta: Beta) -> dict[str, Any]:
    """What attention with one query makes of the tokens: X^T softmax(beta X q)."""
    tokens, query = jnp.asarray(_as_tokens(X)), jnp.asarray(q)
    require(
        query.size == tokens.shape[2], "q", f"a list of {query.size}",
        f"must have {tokens.shape[2]} entries, as many as a token of X")
    return {
        "features": models.attention_features(tokens, query, beta),
        "attention": models.attention_map(tokens, query, beta)}


def _as_tokens(rows: list[list[list[float]]]) -> np.ndarray:
    """X as an array, or a refusal of ragged or empty input."""
    try:
        X = np.asarray(rows, float)
    except ValueError:
        raise InvalidInput(
            "X = [...] must have as many tokens in each sample and coordinates in each token."
        ) from None
    require(
        X.ndim == 3 and X.size > 0, "X", f"of shape {X.shape}",
        "must be X[sample][token][coordinate], not empty")
    return X


@calculator(
    "sparse-token.alignment",
    outputs={
        "b": "bias", "w_signal": "<w, xi>", "w_norm": "|w|",
        "w_cosine": "cosine of w with the signal", "q_signal": "<q, xi>", "q_norm": "|q|",
        "q_cosine": "cosine of q with the signal; can be negative", "sharpness": "beta |q|",
        "status": "converged or not converged",
        "accuracy": "what doubling the nodes changed in q_cosine"},
    status="asymptotic (n0, d to infinity, alpha0 = n0/d fixed)",
    source=f"Theorem 3 and Corollary 1, {PAPER}; formulas by saccade",
    example=_FIGURE_1 | {"samples_per_dim": 4.0} | _STEPS)
def alignment(common: Common, samples_per_dim: StepSamples, steps: Steps) -> dict[str, Any]:
    """Overlaps of w, b and q with the signal after two gradient steps in high dimension."""
    return theory.alignment_after_two_steps(
        common.setting(), samples_per_dim, **steps.steps())._asdict()


@calculator(
    "sparse-token.fit",
    outputs={
        "b": "bias", "w_norm": "|w|", "w_signal": "<w, xi> (vectorised: <W, 1 xi^T>/sqrt L)",
        "w_query": "<w, q/|q|>, attention only", "train_loss": "mean loss without the penalty",
        "train_error": "share of training samples misclassified",
        "test_error": "error on fresh samples", "objective": "training loss with the penalty",
        **_SOLVED, "accuracy": "what refining the quadrature changed in each number"},
    status="asymptotic (n1, d to infinity, alpha1 = n1/d fixed), expectation by quadrature",
    source=f"Theorems 4 and 5, {PAPER}; equations by saccade",
    example=_FIGURE_1 | {"samples_per_dim": 3.0, "ridge": 0.01, "loss": "logistic"} | _QUERY)
def fit(
    common: Common, classifier: Classifier, samples_per_dim: FitSamples, ridge: Ridge,
    loss: Loss = "logistic",
) -> dict[str, Any]:
    """Weights, training loss and errors of a classifier fitted by ridge-penalised minimisation."""
    answer = theory.fit(
        common.setting(), classifier.model, samples_per_dim, ridge, loss, classifier.alignment,
        classifier.sharpness)._asdict()
    hidden = {"overlaps"} | (set() if classifier.model == "attention" else {"w_query"})
    return {name: value for name, value in answer.items() if name not in hidden}


@calculator(
    "sparse-token.capacity",
    outputs={
        "samples_per_dim": "n/d at the transition", **_SOLVED,
        "accuracy": "what refining the quadrature changed"},
    status="asymptotic, expectation by quadrature",
    source=f"Conjecture 1, {PAPER}; formula by saccade", example=_FIGURE_1 | _QUERY)
def capacity(common: Common, classifier: Classifier) -> dict[str, Any]:
    """The largest number of samples per dimension that a hyperplane in feature space typically
    separates."""
    return theory.capacity(
        common.setting(), classifier.model, classifier.alignment, classifier.sharpness)._asdict()


@calculator(
    "sparse-token.prox-logistic", outputs={"prox": "one number for each omega"},
    status="exact (to rounding)", source="definition; monotone Newton iteration by saccade",
    example={"omega": [0.0, 1.0], "step": [1.0, 100.0], "label": 1})
def prox_logistic(omega: Points, step: StepSizes, label: Label) -> dict[str, Any]:
    """Proximal point of the logistic loss: argmin over h of log(1 + e^{-label h}) + (h -
    omega)^2/(2 step)."""
    return {"prox": theory.prox_logistic(omega, step, label)}
