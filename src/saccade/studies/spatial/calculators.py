"""The calculators: association, exact errors, the layer, exact population descent, shuffling."""

from typing import Annotated, Any

import jax.numpy as jnp
import numpy as np
from pydantic import Field

from saccade.datasets.images.shuffle import shuffle_cells
from saccade.errors import InvalidInput, require, shown
from saccade.lab.calculator import Inputs, calculator
from saccade.studies.spatial import models
from saccade.studies.spatial.dynamics.descent import idealised_descent
from saccade.studies.spatial.task import label_function, partition
from saccade.studies.spatial.theory import population as exact
from saccade.studies.spatial.theory.population import Scalars, Setting
from saccade.studies.spatial.theory.states import States

PAPER = "Jelassi, Sander, Li (2022)"
MOST_STEPS = 1_000_000

SetSize = Annotated[int, Field(ge=1, description="patches C in a set, a divisor of patches")]
Rate = Annotated[
    float, Field(ge=0, le=1, description="probability q of a spurious feature, in [0, 1]")]
Degree = Annotated[
    int, Field(ge=3, le=15, description="degree p of the activation z^p + nu z, odd, at least 3")]
Slope = Annotated[float, Field(ge=0, description="slope nu of the activation at 0, at least 0")]
Temperature = Annotated[float, Field(gt=0, description="temperature tau of the softmax, above 0")]
Diagonal = Annotated[float, Field(description="fixed diagonal entry beta of A")]
Same = Annotated[float, Field(description="entry of A within a set")]
Other = Annotated[float, Field(description="entry of A between sets")]
Labels = Annotated[
    list[int], Field(min_length=1, description="the set of each patch; all sets equally large")]
SeveralSets = Annotated[
    list[int],
    Field(min_length=1, description="the set of each patch; all sets equally large, at least two")]
Order = Annotated[
    list[int],
    Field(description="new cell k shows old cell permutation[k]; cells are counted row by row")]
Threshold = Annotated[
    float, Field(ge=0, description="kappa: a set counts when its sum exceeds kappa C; at least 0")]
Matrix = Annotated[
    list[list[float]],
    Field(min_length=1, description="similarity matrix, one row and column per patch")]


class Sizes(Inputs):
    """How the patches are cut, and how often a patch outside the signal set bears the feature."""

    patches: int = Field(description="number D of patches, at least 1", ge=1, le=exact.MOST_PATCHES)
    set_size: SetSize
    spurious_rate: Rate


class Activation(Inputs):
    degree: Degree
    slope: Slope
    temperature: Temperature = 1.0


class Three(Sizes, Activation):
    """A population and its model, up to the trained scalars."""

    diagonal: Diagonal
    alpha: float = Field(description="component of v along the feature w*")

    def setting(self) -> Setting:
        setting = Setting(**{name: getattr(self, name) for name in Setting._fields})
        exact.check_setting(setting)
        return setting


def _array(value: Any, name: str, rule: str) -> np.ndarray:
    """Nested lists as an array of numbers; ragged ones are refused."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise InvalidInput(f"{name} = {shown(value)} {rule}.") from None
    is_full = array.dtype.kind in "iuf" and array.size > 0
    require(is_full, name, value, "must hold numbers, nowhere empty")
    return array if name == "image" else array.astype(float)


SIZES = {"patches": 64, "set_size": 4, "spurious_rate": 0.25}
LAYER = {"degree": 3, "slope": 1e-4}
SMALL = {"patches": 16, "set_size": 4, "spurious_rate": 0.5, **LAYER, "diagonal": 1.0}
ERROR, LOSS = "P[yF < 0] + P[F = 0]/2", "E log(1 + e^(-yF))"
HOW = {
    "states": "distinct states summed over",
    "thinned": "probability of states of which only some were kept, with more weight (0: exact)"}


def _how(states: States) -> dict[str, Any]:
    """How the expectation was taken: over all states, or over a selection that stands for them."""
    return {"states": len(states.probability), "thinned": states.thinned}


@calculator(
    "spatial.association", source=f"Definition 2.2, {PAPER}",
    outputs={
        "exact": "all rows pass, strictly", "row_fraction": "share of rows that pass",
        "overlap": "mean share of the top C in the set, ties shared",
        "off_diagonal_overlap": "the same without the diagonal, top C - 1 (1 when C = 1)",
        "off_diagonal_row_fraction": "rows that pass without it",
        "margin": "smallest gap between inside and outside (null for one set)"},
    example={
        "matrix": [[1, 0.5, 0, 0], [0.5, 1, 0, 0], [0, 0.2, 1, 0.1], [0, 0, 0.3, 1]],
        "labels": [0, 0, 1, 1]})
def association(matrix: Matrix, labels: Labels) -> dict[str, Any]:
    """Does each row of a similarity matrix hold its largest entries on the patch's own set?"""
    values = _array(matrix, "matrix", "must have rows of equal length")
    looks = models.association(values, labels)
    return looks._asdict() | {"margin": looks.margin if len(set(labels)) > 1 else None}


@calculator(
    "spatial.label", source=f"section 3, {PAPER}", outputs={"value": "f*, one per sample"},
    example={"x": [[1, 1, -1, 0], [1, 0, -1, -1]], "labels": [0, 0, 1, 1]})
def label(
    x: Annotated[
        list[list[int]], Field(min_length=1, description="whole signals x[sample][patch]")],
    labels: Labels, threshold: Threshold = 0.9,
) -> dict[str, Any]:
    """The labelling function f*: the sum over sets of their thresholded signal sums."""
    signals = _array(x, "x", "must have as many patches in each sample")
    rule = f"must be {len(labels)}, as many as there are labels"
    require(signals.shape[1] == len(labels), "number of patches in x", signals.shape[1], rule)
    return {"value": label_function(signals, labels, threshold)}


@calculator(
    "spatial.label-error", source=f"section 3, {PAPER}; convolution by saccade",
    outputs={"error": "P[y f* <= 0]"}, example=SIZES)
def label_error(sizes: Sizes, threshold: Threshold = 0.9) -> dict[str, Any]:
    """How often the labelling function contradicts the label."""
    return {
        "error": exact.label_error(sizes.patches, sizes.set_size, sizes.spurious_rate, threshold)}


@calculator(
    "spatial.linear-error", source=f"Theorem 3.1, {PAPER}",
    outputs={"bayes": "under the best phi", "sign": "under the sign, ties 1/2"}, example=SIZES)
def linear_error(sizes: Sizes) -> dict[str, Any]:
    """Errors of a generalised linear model with equal weights."""
    return exact.linear_error(sizes.patches, sizes.set_size, sizes.spurious_rate)._asdict()


@calculator(
    "spatial.model", source=f"eq. (T), Lemmas H.1 and H.2, {PAPER}, signs and factors restored",
    outputs={
        "output": "F, one per sample", "loss": "mean logistic loss",
        "grad_A": "its gradient, zero on the diagonal", "grad_v": "its gradient"},
    example={
        "X": [[[1, 0.2], [1, -0.1], [0, 0.3], [-1, 0]]], "y": [1],
        "A": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], "v": [0.1, 0.05], **LAYER})
def model(
    sigma: Activation,
    X: Annotated[
        list[list[list[float]]], Field(description="patches, X[sample][patch][coordinate]")],
    y: Annotated[list[float], Field(description="labels, each -1 or 1")],
    A: Annotated[
        list[list[float]],
        Field(description="attention matrix before the softmax, one row and column per patch")],
    v: Annotated[list[float], Field(description="value vector, one entry per coordinate")],
) -> dict[str, Any]:
    """The layer (T) on explicit data, with its loss and gradients."""
    exact.check_activation(sigma.degree, sigma.slope)
    tokens = _array(
        X, "X", "must have as many patches in each sample, and as many coordinates in each patch")
    require(tokens.ndim == 3, "X", X, "must be X[sample][patch][coordinate], nowhere empty")
    samples, patches, dim = tokens.shape
    for name, entries, number, each in (("y", y, samples, "sample"), ("v", v, dim, "coordinate")):
        rule = f"must be {number}, one for each {each}"
        require(len(entries) == number, f"number of entries of {name}", len(entries), rule)
    require(all(abs(sign) == 1 for sign in y), "y", y, "must hold only -1 and 1")
    matrix = _array(A, "A", "must have rows of equal length")
    require(
        matrix.shape == (patches, patches), "shape of A", matrix.shape,
        f"must be ({patches}, {patches}), one row per patch")
    return models.gradients(
        jnp.asarray(tokens), jnp.asarray(y), jnp.asarray(matrix), jnp.asarray(v), sigma.degree,
        sigma.slope, sigma.temperature)._asdict()


@calculator(
    "spatial.population", source=f"Lemma 4.1, {PAPER}",
    status="exact while `thinned` is 0 (D <= 16 always, D = 36 with C = 4 too); else good to about"
    " 1e-5 (seen at D = 64, C = 4, p = 3)",
    outputs={
        "loss": LOSS, "error": ERROR, "grad_same": "dl/dA_ij, i and j in one set",
        "grad_other": "dl/dA_ij, in two sets", "grad_alpha": "dl/dalpha", **HOW},
    example={**SMALL, "alpha": 0.05, "gamma": 0.5, "rho": -0.1})
def population(three: Three, gamma: Same, rho: Other) -> dict[str, Any]:
    """Loss, error and gradient of the three-scalar model over the whole population."""
    setting = three.setting()
    states = setting.states()
    at = exact.population(Scalars(three.alpha, gamma, rho), setting, states)
    return at._asdict() | _how(states)


@calculator(
    "spatial.population-descent", source=f"eq. (GD), {PAPER}, with a step size of its own for A",
    status="exact while `thinned` is 0; many steps over many states are done on a fixed selection"
    " of the states, good to about 1e-3",
    outputs={
        "alpha": "after the last step", "gamma": "after the last step",
        "rho": "after the last step", "loss": "before the last step", **HOW},
    example={**SMALL, "alpha": 0.01, "eta_v": 0.01, "eta_a": 1.0, "steps": 100})
def population_descent(
    three: Three, eta_v: Annotated[float, Field(ge=0, description="step size of v, at least 0")],
    eta_a: Annotated[float, Field(ge=0, description="step size of each entry of A, at least 0")],
    steps: Annotated[
        int, Field(ge=1, le=MOST_STEPS, description=f"number of steps, 1 to {MOST_STEPS}")],
) -> dict[str, Any]:
    """Gradient descent on the population in three scalars, from gamma = rho = 0."""
    path = idealised_descent(
        Scalars(three.alpha, 0.0, 0.0), three.setting(), eta_v, eta_a, [steps - 1, steps])
    end = {name: numbers[-1] for name, numbers in path.scalars._asdict().items()}
    return end | {"loss": path.loss[0], **_how(path.states)}


@calculator(
    "spatial.attention-weights", source=f"section 4.1, {PAPER}",
    outputs={
        "diagonal_weight": "Lambda, of the patch itself",
        "same_weight": "Gamma, of each other patch of its set",
        "other_weight": "Xi, of each other patch", "gain": "G = D (Lambda + (C-1) Gamma)"},
    example={"diagonal": 1.0, "gamma": 2.0, "rho": -0.1, "set_size": 4, "patches": 64})
def attention_weights(
    diagonal: Annotated[float, Field(description="diagonal entry beta of A")], gamma: Same,
    rho: Other, set_size: SetSize,
    patches: Annotated[int, Field(ge=1, description="number D of patches, at least 1")],
    temperature: Temperature = 1.0,
) -> dict[str, Any]:
    """The three weights of a row of the attention, and the gain G."""
    setting = Setting(patches, set_size, 0.0, diagonal=diagonal, temperature=temperature)
    exact.check_setting(setting)
    own, same, other, gain = exact.attention_weights(setting, gamma, rho)
    return {"diagonal_weight": own, "same_weight": same, "other_weight": other, "gain": gain}


@calculator(
    "spatial.cheat", source=f"Theorem 3.2, {PAPER}",
    outputs={
        "error": ERROR, "loss": LOSS, "overlap": "share of the top C in the patch's own set",
        "thinned": "0: exact"},
    example={
        "labels": [0, 0, 0, 1, 1, 1, 2, 2, 2], "sharpness": 8.0, "spurious_rate": 0.3, **LAYER})
def cheat(
    sigma: Activation, labels: SeveralSets,
    sharpness: Annotated[
        float, Field(ge=0, description="entry B of A on the next set, at least 0")],
    spurious_rate: Rate,
) -> dict[str, Any]:
    """The transformer that generalises while every patch looks at the set after its own."""
    index, sets, set_size = partition(labels)
    rule = "must name at least two sets: with one there is no next set"
    require(sets >= 2, "labels", labels, rule)
    setting = Setting(
        len(index), set_size, spurious_rate, sigma.degree, sigma.slope, 0.0, sigma.temperature)
    looks = models.association(models.cheating_attention(jnp.asarray(index), sharpness), index)
    return exact.cheat(setting, sharpness)._asdict() | {"overlap": looks.overlap}


@calculator(
    "spatial.shuffle", source=f"section 6, {PAPER}", outputs={"image": "the shuffled image"},
    example={"image": [[0, 1], [2, 3]], "cell": 1, "permutation": [3, 2, 1, 0]})
def shuffle(
    image: Annotated[
        list[Any],
        Field(min_length=1, description="image[row][column] or image[row][column][channel]")],
    cell: Annotated[
        int, Field(ge=1, description="side of a square cell; must divide both sides of the image")],
    permutation: Order,
) -> dict[str, Any]:
    """Cut an image into square cells and show them in another order."""
    pixels = _array(image, "image", "must have rows of equal length")
    require(
        pixels.ndim in (2, 3), "image", image,
        "must be image[row][column] or image[row][column][channel]")
    return {"image": shuffle_cells(pixels, cell, permutation)}
