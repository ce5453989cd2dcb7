"""What the calculators of sparse recovery take: lists by name, checked for types here and for
shapes in `doors`."""

from pydantic import Field

from saccade.lab.calculator import Inputs, Whole

MOST_STEPS = 1_000_000

Vector = list[float]
Matrix = list[Vector]
Thresholds = list[float | Vector]


class ThresholdInputs(Inputs):
    u: float | Vector | Matrix = Field(description="a number, a list, or a list of lists")
    threshold: float | Vector = Field(
        description="threshold t, at least 0: one number, or one for each entry of u")


class Measured(Inputs):
    X: Matrix = Field(description="measurements, X[row][coordinate]")
    y: Vector = Field(description="values, one a row of X")


class LassoInputs(Measured):
    lam: float = Field(description="weight lam of the l1 norm, at least 0")


class RateInputs(LassoInputs):
    record: list[Whole] = Field(
        description="step numbers to report, 0 = the start b = 0", min_length=1)


class IterateInputs(RateInputs):
    algorithm: str = Field(description="ista or fista")


class WeightInputs(Inputs):
    X: Matrix = Field(description="measurements, X[row][coordinate]")


class UnrolledInputs(Measured):
    algorithm: str = Field(description="lista, lista-cp or alista")
    thresholds: Thresholds = Field(
        description="one a layer, each a number or a list over coordinates, at least 0")
    W1: Matrix | list[Matrix] | None = Field(
        None, description="lista: d x N, one for all layers or a list of K")
    W2: Matrix | list[Matrix] | None = Field(
        None, description="lista: d x d, one for all layers or a list of K")
    W: Matrix | list[Matrix] | None = Field(
        None, description="lista-cp: N x d, one for all layers or a list of K")
    steps: Vector | None = Field(None, description="alista: step sizes gamma, one a layer")


class VaryingInputs(Measured):
    M: list[Matrix] = Field(description="matrices M, d x d, one a layer", min_length=1)
    thresholds: Thresholds = Field(
        description="one a layer, each a list over coordinates (or a number), at least 0")
    support: list[Whole] | None = Field(
        None, description="zero-based coordinates that may be non-zero; all if left out")


class PromptInputs(Inputs):
    X: Matrix = Field(description="N + 1 rows X[row][coordinate]; the last is the query")
    y: Vector = Field(description="the N values of the rows before the query")


class TransformerInputs(PromptInputs):
    M: list[Matrix] = Field(description="matrices M, d x d, one a layer", min_length=1)
    thresholds: Thresholds = Field(
        description="one a layer, each a list over coordinates (or a number), at least 0")


class Head(Inputs):
    Q: Matrix = Field(description="query matrix, r x D")
    K: Matrix = Field(description="key matrix, r x D")
    V: Matrix = Field(description="value matrix, D x D")


class AttentionInputs(Inputs):
    H: Matrix = Field(description="D rows, one column a token")
    heads: list[Head] = Field(description="heads, each with Q, K and V", min_length=1)


class CertificateInputs(Inputs):
    X: Matrix = Field(description="measurements, X[row][coordinate], at least one row")
    beta: Vector = Field(description="the vector to be found")
    noise: Vector = Field(description="the noise in y = X beta + noise, one a row")
    gamma: float = Field(description="step g, above 0", gt=0)
    steps: Whole = Field(description="number K of steps, at least 0", ge=0, le=MOST_STEPS)
