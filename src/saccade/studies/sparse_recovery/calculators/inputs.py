"""What several calculators take, and checks that shapes fit, one sentence each when not."""

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from saccade.errors import require
from saccade.lab.calculator import Inputs, Whole

MOST_STEPS = 1_000_000
EQUAL = "must be a matrix: rows of equal length"

Vector = list[float]
Matrix = list[Vector]
Thresholds = Annotated[
    list[float | Vector],
    Field(description="one a layer, each a number or a list over coordinates, at least 0")]
LayerMatrices = Annotated[
    list[Matrix], Field(description="matrices M, d x d, one a layer", min_length=1)]
Record = Annotated[
    list[Annotated[Whole, Field(ge=0, le=MOST_STEPS)]],
    Field(description="step numbers to report, 0 = the start b = 0", min_length=1)]
Measurements = Annotated[Matrix, Field(description="measurements, X[row][coordinate]")]


class Measured(Inputs):
    X: Measurements
    y: Vector = Field(description="values, one a row of X")

    def arrays(self, dim: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """X and y with shapes that fit; X may be empty where the dimension is known."""
        X = rows_of(self.X, dim)
        require(
            len(self.y) == len(X), "y", f"a list of {len(self.y)}",
            f"must have {len(X)} values, as many as X has rows")
        return X, np.asarray(self.y, float)


class Penalised(Measured):
    lam: float = Field(description="weight lam of the l1 norm, at least 0", ge=0)


class Prompt(Inputs):
    X: Matrix = Field(description="N + 1 rows X[row][coordinate]; the last is the query")
    y: Vector = Field(description="the N values of the rows before the query")

    def arrays(self, dim: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        X, pairs = rows_of(self.X, dim), len(self.y)
        require(
            len(X) == pairs + 1, "X", f"{len(X)} rows",
            f"must have {pairs + 1} rows: one for each of the {pairs} values, and the query")
        return X, np.asarray(self.y, float)


def as_numbers(value: Any) -> np.ndarray:
    """A list as an array; a ragged one as an array that fits nowhere."""
    try:
        return np.asarray(value, float)
    except ValueError:
        return np.zeros((1,) * 9)


def array(value: Any, name: str, axes: int = 2, rule: str = EQUAL) -> np.ndarray:
    """A rectangular array with `axes` axes, or a refusal."""
    numbers = as_numbers(value)
    require(numbers.ndim == axes, name, value, rule)
    return numbers


def rows_of(value: Matrix, dim: int | None = None) -> np.ndarray:
    """X as a matrix whose rows have `dim` coordinates (at least one); only then may it be empty."""
    X = np.zeros((0, dim)) if dim and len(value) == 0 else array(value, "X")
    require(X.shape[1] >= 1, "X", value, "must have at least one coordinate a row")
    require(
        dim in (None, X.shape[1]), "X", f"rows of {X.shape[1]}",
        f"must have rows of {dim} coordinates, as M")
    return X


def thresholds_of(values: list[float | Vector], dim: int, layers: int | None = None) -> np.ndarray:
    """One row of d thresholds a layer."""
    require(len(values) > 0, "thresholds", values, "must have at least one entry, one a layer")
    rows = [np.asarray(value, float) for value in values]
    for number, row in enumerate(rows):
        name, value = f"thresholds[{number}]", values[number]
        fits = row.ndim == 0 or row.shape == (dim,)
        require(fits, name, value, f"must be a number or a list of {dim} numbers")
        require(bool((row >= 0).all()), name, value, "must be at least 0")
    require(
        layers in (None, len(rows)), "thresholds", f"a list of {len(rows)}",
        f"must have {layers} entries, one a layer")
    return np.stack([np.broadcast_to(row, (dim,)) for row in rows])


def layers_of(value: Any, name: str, layers: int, shape: tuple[int, int]) -> np.ndarray:
    """K matrices of `shape`, from a list of K or from one that serves all layers."""
    rule = f"must be a {shape[0]} x {shape[1]} matrix, or a list of {layers} of them, one a layer"
    numbers = as_numbers(value)
    numbers = numbers.reshape(shape) if numbers.size == 0 and 0 in shape else numbers
    numbers = np.broadcast_to(numbers, (layers, *shape)) if numbers.shape == shape else numbers
    require(numbers.shape == (layers, *shape), name, value, rule)
    return numbers


def squares_of(M: list[Matrix]) -> np.ndarray:
    """K square matrices of one size, which is the dimension d."""
    rule = "must be a list of d x d matrices of one size, one a layer"
    numbers = array(M, "M", 3, rule)
    require(numbers.shape[1] == numbers.shape[2] >= 1, "M", M, rule)
    return numbers
