"""The calculators of the sparse-token study: best errors, two gradient steps, fitted classifiers,
capacity, and the logistic prox."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from saccade.errors import InvalidInput, require
from saccade.lab.calculator import Calculator, Inputs
from saccade.studies.sparse_token import dynamics, models, theory
from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory.oracle import LONGEST_SAMPLED

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


class OracleInputs(Common):
    sharpness: float | None = Field(
        None, description="sharpness k of the softmax, at least 0; adds the output softmax")


class Steps(Inputs):
    eta_w: float = Field(description="step size of w")
    eta_b: float = Field(description="step size of b")
    eta_q: float = Field(description="step size of q")
    beta: float = Field(description="inverse temperature of the softmax")
    loss: str = Field(description="logistic or square")


class GradientInputs(Steps):
    X: list[list[list[float]]] = Field(description="tokens, X[sample][token][coordinate]")
    y: list[float] = Field(description="labels, +1 or -1, one a sample")


class FeatureInputs(Inputs):
    X: list[list[list[float]]] = Field(description="tokens, X[sample][token][coordinate]")
    q: list[float] = Field(description="query, one entry a coordinate")
    beta: float = Field(description="inverse temperature of the softmax")


class AlignmentInputs(Common, Steps):
    samples_per_dim: float = Field(
        description="samples of the two steps per dimension, alpha0 = n0/d, above 0")


class ModelInputs(Common):
    model: str = Field(description="attention, pooled or vectorised")
    alignment: float | None = Field(
        None, description="cosine of the query with the signal, attention only")
    sharpness: float | None = Field(None, description="sharpness k = beta |q|, attention only")


class FitInputs(ModelInputs):
    samples_per_dim: float = Field(
        description="training samples per token dimension, alpha1 = n1/d, above 0")
    ridge: float = Field(description="ridge lambda, above 0")
    loss: str = Field(description="logistic or square")


class ProxInputs(Inputs):
    omega: float | list[float] = Field(description="points, a list or a number")
    step: float | list[float] = Field(
        description="step sizes, at least 0, as many as omega (or one number)")
    label: int = Field(description="+1 or -1")


def _oracle(given: OracleInputs) -> dict[str, Any]:
    setting = given.setting()
    answers = {
        "pooled": theory.pooled_oracle_error(setting),
        "hardmax": theory.hardmax_oracle_error(setting)}
    notes: dict[str, str] = {}
    if setting.informative > 1:
        notes["bayes"] = "not computed: it is for informative = 1"
    elif setting.length > LONGEST_SAMPLED:
        notes["bayes"] = f"not computed: it is for lengths up to {LONGEST_SAMPLED}"
    else:
        answers["bayes"] = theory.bayes_error(setting)
    if given.sharpness is not None:
        answers["softmax"] = theory.softmax_oracle_error(setting, given.sharpness)
    status = {name: f"{item.status}" for name, item in answers.items()} | notes
    accuracy = {name: item.accuracy for name, item in answers.items()}
    return {name: item.error for name, item in answers.items()} | {
        "status": status, "accuracy": accuracy}


def _tokens(rows: list[list[list[float]]]) -> np.ndarray:
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


def _gradient_steps(given: GradientInputs) -> dict[str, Any]:
    X = _tokens(given.X)
    y = np.asarray(given.y, float)
    require(
        y.size == len(X), "y", f"a list of {y.size}",
        f"must have {len(X)} labels, as many as X has samples")
    made = dynamics.gradient_steps(
        X, y, given.eta_w, given.eta_b, given.eta_q, given.beta, given.loss)
    return {"w": made.w, "b": made.b, "q": made.q}


def _features(given: FeatureInputs) -> dict[str, Any]:
    X, q = _tokens(given.X), np.asarray(given.q, float)
    require(
        q.size == X.shape[2], "q", f"a list of {q.size}",
        f"must have {X.shape[2]} entries, as many as a token of X")
    return {
        "features": models.attention_features(jnp.asarray(X), jnp.asarray(q), given.beta),
        "attention": models.attention_map(jnp.asarray(X), jnp.asarray(q), given.beta)}


def _alignment(given: AlignmentInputs) -> dict[str, Any]:
    steps = {name: getattr(given, name) for name in Steps.model_fields}
    return theory.alignment_after_two_steps(
        given.setting(), given.samples_per_dim, **steps)._asdict()


def _fit(given: FitInputs) -> dict[str, Any]:
    made = theory.fit(
        given.setting(), given.model, given.samples_per_dim, given.ridge, given.loss,
        given.alignment, given.sharpness)
    names = ("b", "w_norm", "w_signal", "train_loss", "train_error", "test_error", "objective")
    names += ("w_query",) if given.model == "attention" else ()
    extra = {"status": made.status, "residual": made.residual, "accuracy": made.accuracy}
    return {name: getattr(made, name) for name in names} | extra


def _capacity(given: ModelInputs) -> dict[str, Any]:
    return theory.capacity(given.setting(), given.model, given.alignment, given.sharpness)._asdict()


def _prox(given: ProxInputs) -> dict[str, Any]:
    return {"prox": theory.prox_logistic(given.omega, given.step, given.label)}


_FIGURE_1 = {"length": 10, "informative": 1, "positive_rate": 0.5, "signal": 5.0}
_STEPS = {"eta_w": 0.5, "eta_b": 0.5, "eta_q": 40.0, "beta": 1.0, "loss": "logistic"}
_QUERY = {"model": "attention", "alignment": 0.8, "sharpness": 1.0}
_SOLVED = {
    "status": "converged or not converged",
    "residual": "largest relative residual of the equations"}

CALCULATORS = (
    Calculator(
        "sparse-token.oracle-error", OracleInputs, _oracle,
        "Smallest test errors of classifiers that know the signal direction and use the best"
        " threshold.",
        {
            "pooled": "mean pooling", "hardmax": "attention of infinite sharpness",
            "bayes": "any classifier (informative = 1, up to 10000 tokens)",
            "softmax": "attention of the given sharpness", "status": "how each was computed",
            "accuracy": "what refining the quadrature changed"},
        "exact (pooled, hardmax), quadrature (bayes, softmax)",
        f"Proposition 1 and Theorem 2, {PAPER}; formulas by saccade",
        _FIGURE_1 | {"sharpness": 1.0}),
    Calculator(
        "sparse-token.gradient-steps", GradientInputs, _gradient_steps,
        "Two full-batch gradient steps from zero on explicit data: w and b first, then q.",
        {
            "w": "read-out after the first step", "b": "bias after the first step",
            "q": "query after the second step"},
        "exact", f"training protocol, {PAPER}",
        {"X": [[[1.0, 2.0], [0.0, 1.0]], [[0.5, -1.0], [1.0, 0.0]]], "y": [1, -1], **_STEPS}),
    Calculator(
        "sparse-token.features", FeatureInputs, _features,
        "What attention with one query makes of the tokens: X^T softmax(beta X q).",
        {"features": "one vector a sample", "attention": "softmax weights of the tokens"}, "exact",
        f"model definition, {PAPER}",
        {"X": [[[1.0, 2.0], [0.0, 1.0]]], "q": [1.0, 0.0], "beta": 1.0}),
    Calculator(
        "sparse-token.alignment", AlignmentInputs, _alignment,
        "Overlaps of w, b and q with the signal after two gradient steps in high dimension.",
        {
            "b": "bias", "w_signal": "<w, xi>", "w_norm": "|w|",
            "w_cosine": "cosine of w with the signal", "q_signal": "<q, xi>", "q_norm": "|q|",
            "q_cosine": "cosine of q with the signal; can be negative", "sharpness": "beta |q|",
            "status": "converged or not converged",
            "accuracy": "what doubling the nodes changed in q_cosine"},
        "asymptotic (n0, d to infinity, alpha0 = n0/d fixed)",
        f"Theorem 3 and Corollary 1, {PAPER}; formulas by saccade",
        _FIGURE_1 | {"samples_per_dim": 4.0} | _STEPS),
    Calculator(
        "sparse-token.fit", FitInputs, _fit,
        "Weights, training loss and errors of a classifier fitted by ridge-penalised minimisation.",
        {
            "b": "bias", "w_norm": "|w|", "w_signal": "<w, xi> (vectorised: <W, 1 xi^T>/sqrt L)",
            "w_query": "<w, q/|q|>, attention only", "train_loss": "mean loss without the penalty",
            "train_error": "share of training samples misclassified",
            "test_error": "error on fresh samples", "objective": "training loss with the penalty",
            **_SOLVED, "accuracy": "what refining the quadrature changed in each number"},
        "asymptotic (n1, d to infinity, alpha1 = n1/d fixed), expectation by quadrature",
        f"Theorems 4 and 5, {PAPER}; equations by saccade",
        _FIGURE_1 | {"samples_per_dim": 3.0, "ridge": 0.01, "loss": "logistic"} | _QUERY),
    Calculator(
        "sparse-token.capacity", ModelInputs, _capacity,
        "The largest number of samples per dimension that a hyperplane in feature space typically"
        " separates.",
        {
            "samples_per_dim": "n/d at the transition", **_SOLVED,
            "accuracy": "what refining the quadrature changed"},
        "asymptotic, expectation by quadrature", f"Conjecture 1, {PAPER}; formula by saccade",
        _FIGURE_1 | _QUERY),
    Calculator(
        "sparse-token.prox-logistic", ProxInputs, _prox,
        "Proximal point of the logistic loss: argmin over h of log(1 + e^{-label h}) + (h -"
        " omega)^2/(2 step).", {"prox": "one number for each omega"}, "exact (to rounding)",
        "definition; monotone Newton iteration by saccade",
        {"omega": [0.0, 1.0], "step": [1.0, 100.0], "label": 1}))
