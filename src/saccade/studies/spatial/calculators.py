"""The calculators of the spatial study: association, exact errors, the layer and its gradients,
exact population descent, shuffling."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from saccade.datasets.images.shuffle import shuffle_cells
from saccade.errors import InvalidInput, require, shown
from saccade.lab.calculator import Calculator, Inputs
from saccade.studies.spatial import dynamics, models, theory
from saccade.studies.spatial.task import label_function, partition
from saccade.studies.spatial.theory import Scalars, Setting

PAPER = "Jelassi, Sander, Li (2022)"
MOST_STEPS = 1_000_000


class Sizes(Inputs):
    """How the patches are cut, and how often a patch outside the signal set bears the feature."""

    patches: int = Field(
        description="number D of patches, at least 1", ge=1, le=theory.MOST_PATCHES)
    set_size: int = Field(description="patches C in a set, a divisor of patches", ge=1)
    spurious_rate: float = Field(
        description="probability q of a spurious feature, in [0, 1]", ge=0, le=1)


class Activation(Inputs):
    degree: int = Field(
        description="degree p of the activation z^p + nu z, odd, at least 3", ge=3, le=15)
    slope: float = Field(description="slope nu of the activation at 0, at least 0", ge=0)


class Temperature(Inputs):
    temperature: float = Field(1.0, description="temperature tau of the softmax, above 0", gt=0)


class Three(Sizes, Activation, Temperature):
    """A population and its model, up to the trained scalars."""

    diagonal: float = Field(description="fixed diagonal entry beta of A")
    alpha: float = Field(description="component of v along the feature w*")

    def setting(self) -> Setting:
        made = Setting(
            self.patches, self.set_size, self.spurious_rate, self.degree, self.slope, self.diagonal,
            self.temperature)
        theory.check_setting(made)
        return made


class PopulationInputs(Three):
    gamma: float = Field(description="entry of A within a set")
    rho: float = Field(description="entry of A between sets")


class DescentInputs(Three):
    eta_v: float = Field(description="step size of v, at least 0", ge=0)
    eta_a: float = Field(description="step size of each entry of A, at least 0", ge=0)
    steps: int = Field(description=f"number of steps, 1 to {MOST_STEPS}", ge=1, le=MOST_STEPS)


class AssociationInputs(Inputs):
    matrix: list[list[float]] = Field(
        description="similarity matrix, one row and column per patch", min_length=1)
    labels: list[int] = Field(
        description="the set of each patch; all sets equally large", min_length=1)


class LabelInputs(Inputs):
    x: list[list[int]] = Field(description="whole signals x[sample][patch]", min_length=1)
    labels: list[int] = Field(
        description="the set of each patch; all sets equally large", min_length=1)
    threshold: float = Field(
        0.9, description="kappa: a set counts when its sum exceeds kappa C; at least 0", ge=0)


class LabelErrorInputs(Sizes):
    threshold: float = Field(
        0.9, description="kappa: a set counts when its sum exceeds kappa C; at least 0", ge=0)


class ModelInputs(Activation, Temperature):
    X: list[list[list[float]]] = Field(description="patches, X[sample][patch][coordinate]")
    y: list[float] = Field(description="labels, each -1 or 1")
    A: list[list[float]] = Field(
        description="attention matrix before the softmax, one row and column per patch")
    v: list[float] = Field(description="value vector, one entry per coordinate")


class WeightsInputs(Temperature):
    diagonal: float = Field(description="diagonal entry beta of A")
    gamma: float = Field(description="entry of A within a set")
    rho: float = Field(description="entry of A between sets")
    set_size: int = Field(description="patches C in a set, a divisor of patches", ge=1)
    patches: int = Field(description="number D of patches, at least 1", ge=1)


class CheatInputs(Activation, Temperature):
    labels: list[int] = Field(
        description="the set of each patch; all sets equally large, at least two", min_length=1)
    sharpness: float = Field(description="entry B of A on the next set, at least 0", ge=0)
    spurious_rate: float = Field(
        description="probability q of a spurious feature, in [0, 1]", ge=0, le=1)


class ShuffleInputs(Inputs):
    image: list[Any] = Field(
        description="image[row][column] or image[row][column][channel]", min_length=1)
    cell: int = Field(
        description="side of a square cell; must divide both sides of the image", ge=1)
    permutation: list[int] = Field(
        description="new cell k shows old cell permutation[k]; cells are counted row by row")


def _association(given: AssociationInputs) -> dict[str, Any]:
    found = models.association(
        _array(given.matrix, "matrix", "must have rows of equal length"), given.labels)
    return found._asdict() | {"margin": found.margin if np.isfinite(found.margin) else None}


def _label(given: LabelInputs) -> dict[str, Any]:
    x = _array(given.x, "x", "must have as many patches in each sample")
    rule = f"must be {len(given.labels)}, as many as there are labels"
    require(x.shape[1] == len(given.labels), "number of patches in x", x.shape[1], rule)
    return {"value": label_function(x, given.labels, given.threshold)}


def _label_error(given: LabelErrorInputs) -> dict[str, Any]:
    return {"error": theory.label_error(
        given.patches, given.set_size, given.spurious_rate, given.threshold)}


def _linear_error(given: Sizes) -> dict[str, Any]:
    return theory.linear_error(given.patches, given.set_size, given.spurious_rate)._asdict()


def _model(given: ModelInputs) -> dict[str, Any]:
    theory.check_activation(given.degree, given.slope)
    X = _array(
        given.X, "X",
        "must have as many patches in each sample, and as many coordinates in each patch")
    require(
        X.ndim == 3 and X.size > 0, "X", given.X,
        "must be X[sample][patch][coordinate], nowhere empty")
    samples, patches, dim = X.shape
    y, v = np.asarray(given.y, float), np.asarray(given.v, float)
    require(
        len(y) == samples, "number of entries of y", len(y),
        f"must be {samples}, one for each sample")
    require(bool(np.all(np.abs(y) == 1)), "y", given.y, "must hold only -1 and 1")
    require(
        len(v) == dim, "number of entries of v", len(v), f"must be {dim}, one for each coordinate")
    A = _array(given.A, "A", "must have rows of equal length")
    require(
        A.shape == (patches, patches), "shape of A", A.shape,
        f"must be ({patches}, {patches}), one row per patch")
    data = jnp.asarray(X), jnp.asarray(y)
    found = models.gradients(
        *data, jnp.asarray(A), jnp.asarray(v), given.degree, given.slope, given.temperature)
    return found._asdict()


def _population(given: PopulationInputs) -> dict[str, Any]:
    setting = given.setting()
    states = theory.population_states(
        setting.patches, setting.set_size, setting.spurious_rate, setting.degree)
    found = theory.population(Scalars(given.alpha, given.gamma, given.rho), setting, states)
    return found._asdict() | _how(states)


def _population_descent(given: DescentInputs) -> dict[str, Any]:
    setting = given.setting()
    path = dynamics.idealised_descent(
        Scalars(given.alpha, 0.0, 0.0), setting, given.eta_v, given.eta_a, given.steps)
    return {name: numbers[-1] for name, numbers in path.scalars._asdict().items()} | {
        "loss": path.loss[-1], **_how(path.states)}


def _how(states: theory.States) -> dict[str, Any]:
    """How the expectation was taken: over all states, or over a selection that stands for them."""
    return {"states": len(states.probability), "thinned": states.thinned}


def _attention_weights(given: WeightsInputs) -> dict[str, Any]:
    setting = Setting(
        given.patches, given.set_size, 0.0, diagonal=given.diagonal, temperature=given.temperature)
    theory.check_setting(setting)
    found = theory.attention_weights(setting, given.gamma, given.rho)
    return {
        "diagonal_weight": found.diagonal, "same_weight": found.same, "other_weight": found.other,
        "gain": found.gain}


def _cheat(given: CheatInputs) -> dict[str, Any]:
    index, sets, set_size = partition(given.labels)
    require(
        sets >= 2, "labels", given.labels,
        "must name at least two sets: with one there is no next set")
    setting = Setting(
        len(index), set_size, given.spurious_rate, given.degree, given.slope,
        temperature=given.temperature)
    found = theory.cheat(setting, given.sharpness)
    looked = models.association(
        models.cheating_attention(jnp.asarray(index), given.sharpness), index)
    return found._asdict() | {"overlap": looked.overlap}


def _shuffle(given: ShuffleInputs) -> dict[str, Any]:
    pixels = _array(given.image, "image", "must have rows of equal length")
    require(
        pixels.ndim in (2, 3), "image", given.image,
        "must be image[row][column] or image[row][column][channel]")
    return {"image": shuffle_cells(pixels, given.cell, given.permutation)}


def _array(value: Any, name: str, rule: str) -> np.ndarray:
    """Nested lists as an array of numbers; ragged ones are refused."""
    try:
        made = np.asarray(value)
    except ValueError:
        raise InvalidInput(f"{name} = {shown(value)} {rule}.") from None
    require(
        made.dtype.kind in "iuf" and made.size > 0, name, value, "must hold numbers, nowhere empty")
    return made if name == "image" else made.astype(float)


_SIZES = {"patches": 16, "set_size": 4, "spurious_rate": 0.5}
_LAYER = {"degree": 3, "slope": 1e-4}
_THREE = {**_SIZES, **_LAYER, "diagonal": 1.0}
_HOW = {
    "states": "distinct states summed over",
    "thinned": "probability of states of which only some were kept, with more weight (0: exact)"}
_GRADIENT = {
    "loss": "E log(1 + e^(-yF))", "error": "P[yF < 0] + P[F = 0]/2",
    "grad_same": "dl/dA_ij, i and j in one set", "grad_other": "dl/dA_ij, in two sets",
    "grad_alpha": "dl/dalpha", **_HOW}

# fmt: off
CALCULATORS = (
    Calculator(
        "spatial.association", AssociationInputs, _association,
        "Does each row of a similarity matrix hold its largest entries on the patch's own set?",
        {"exact": "all rows pass, strictly", "row_fraction": "share of rows that pass", 
         "overlap": "mean share of the top C in the set, ties shared",
         "off_diagonal_overlap": "the same without the diagonal, top C - 1 (1 when C = 1)",
         "off_diagonal_row_fraction": "rows that pass without it",
         "margin": "smallest gap between inside and outside (null for one set)"},
        "exact", f"Definition 2.2, {PAPER}",
        {"matrix": [[1, 0.5, 0, 0], [0.5, 1, 0, 0], [0, 0.2, 1, 0.1], [0, 0, 0.3, 1]], "labels": [0, 0, 1, 1]},
    ),
    Calculator(
        "spatial.label", LabelInputs, _label, "The labelling function f*: the sum over sets of their thresholded signal sums.",
        {"value": "f*, one per sample"},
        "exact", f"section 3, {PAPER}", {"x": [[1, 1, -1, 0], [1, 0, -1, -1]], "labels": [0, 0, 1, 1]},
    ),
    Calculator(
        "spatial.label-error", LabelErrorInputs, _label_error, "How often the labelling function contradicts the label.",
        {"error": "P[y f* <= 0]"},
        "exact", f"section 3, {PAPER}; convolution by saccade", {"patches": 64, "set_size": 4, "spurious_rate": 0.25},
    ),
    Calculator(
        "spatial.linear-error", Sizes, _linear_error, "Errors of a generalised linear model with equal weights.",
        {"bayes": "under the best phi", "sign": "under the sign, ties 1/2"}, "exact", f"Theorem 3.1, {PAPER}",
        {"patches": 64, "set_size": 4, "spurious_rate": 0.25}),
    Calculator(
        "spatial.model", ModelInputs, _model, "The layer (T) on explicit data, with its loss and gradients.",
        {"output": "F, one per sample", "loss": "mean logistic loss", 
         "grad_A": "its gradient, zero on the diagonal", "grad_v": "its gradient"},
        "exact", f"eq. (T), Lemmas H.1 and H.2, {PAPER}, signs and factors restored",
        {"X": [[[1, 0.2], [1, -0.1], [0, 0.3], [-1, 0]]], "y": [1],
         "A": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], "v": [0.1, 0.05], **_LAYER},
    ),
    Calculator(
        "spatial.population", PopulationInputs, _population,
        "Loss, error and gradient of the three-scalar model over the whole population.", _GRADIENT,
        "exact while `thinned` is 0 (D <= 16 always, D = 36 with C = 4 too); else good to about 1e-5 (seen at D = 64, C = 4, p = 3)",
        f"Lemma 4.1, {PAPER}", {**_THREE, "alpha": 0.05, "gamma": 0.5, "rho": -0.1}),
    Calculator(
        "spatial.population-descent", DescentInputs, _population_descent,
        "Gradient descent on the population in three scalars, from gamma = rho = 0.",
        {"alpha": "after the last step", "gamma": "after the last step", "rho": "after the last step",
         "loss": "before the last step", **_HOW},
        "exact while `thinned` is 0; many steps over many states are done on a fixed selection of the states, good to about 1e-3",
        f"eq. (GD), {PAPER}, with a step size of its own for A", {**_THREE, "alpha": 0.01, "eta_v": 0.01, "eta_a": 1.0, "steps": 100},
    ),
    Calculator(
        "spatial.attention-weights", WeightsInputs, _attention_weights, "The three weights of a row of the attention, and the gain G.",
        {"diagonal_weight": "Lambda, of the patch itself", "same_weight": "Gamma, of each other patch of its set",
         "other_weight": "Xi, of each other patch", "gain": "G = D (Lambda + (C-1) Gamma)"},
        "exact", f"section 4.1, {PAPER}", {"diagonal": 1.0, "gamma": 2.0, "rho": -0.1, "set_size": 4, "patches": 64},
    ),
    Calculator(
        "spatial.cheat", CheatInputs, _cheat, "The transformer that generalises while every patch looks at the set after its own.",
        {"error": "P[yF < 0] + P[F = 0]/2", "loss": "E log(1 + e^(-yF))",
         "overlap": "share of the top C in the patch's own set", "thinned": "0: exact"},
        "exact", f"Theorem 3.2, {PAPER}", {"labels": [0, 0, 0, 1, 1, 1, 2, 2, 2], "sharpness": 8.0, "spurious_rate": 0.3, **_LAYER},
    ),
    Calculator(
        "spatial.shuffle", ShuffleInputs, _shuffle, "Cut an image into square cells and show them in another order.",
        {"image": "the shuffled image"},
        "exact", f"section 6, {PAPER}", {"image": [[0, 1], [2, 3]], "cell": 1, "permutation": [3, 2, 1, 0]},
    ))
