"""Calculators of unrolled networks, the constructed transformer and LISTA-VM's certificate."""

from typing import Annotated, Any

import jax
import jax.numpy as jnp
import numpy as np
from pydantic import Field

from saccade.errors import InvalidInput, require, unknown
from saccade.lab.calculator import Inputs, Whole, calculator
from saccade.studies.sparse_recovery.calculators import inputs
from saccade.studies.sparse_recovery.calculators.inputs import LayerMatrices, Matrix, Vector
from saccade.studies.sparse_recovery.calculators.solving import X, Y
from saccade.studies.sparse_recovery.dynamics import solvers
from saccade.studies.sparse_recovery.models import constructed, unrolled

PAPER = "arXiv 2410.13981"
M = [[[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]]
EYE = [[1.0, 0.0], [0.0, 1.0]]
NEEDED = {"lista": ("W1", "W2"), "lista-cp": ("W",), "alista": ("steps",)}


def _one_or_many(text: str) -> Any:
    return Field(description=f"{text}, one for all layers or a list of K")


class Weights(Inputs):
    """What the layers of LISTA, LISTA-CP and ALISTA know; each takes its own."""

    W1: Annotated[Matrix | list[Matrix] | None, _one_or_many("lista: d x N")] = None
    W2: Annotated[Matrix | list[Matrix] | None, _one_or_many("lista: d x d")] = None
    W: Annotated[Matrix | list[Matrix] | None, _one_or_many("lista-cp: N x d")] = None
    steps: Vector | None = Field(None, description="alista: step sizes gamma, one a layer")

    def check(self, algorithm: str) -> None:
        """Refuse what the algorithm needs and was not given, and the other way round."""
        if algorithm not in NEEDED:
            raise unknown("algorithm", algorithm, NEEDED)
        for name in Weights.model_fields:
            wanted = name in NEEDED[algorithm]
            if wanted != (getattr(self, name) is not None):
                raise InvalidInput(
                    f"algorithm = {algorithm!r} {'needs' if wanted else 'does not take'} the"
                    f" input {name!r}.")

    def layers(self, algorithm: str, count: int, rows: int, dim: int) -> unrolled.Layers:
        """The weights of `count` layers by the names that the steps know them by."""
        if algorithm == "alista":
            require(
                len(self.steps or []) == count, "steps", self.steps,
                f"must have {count} numbers, one for each threshold")
            return {"gamma": jnp.asarray(self.steps, float)}
        shapes = {"W1": (dim, rows), "W2": (dim, dim), "W": (rows, dim)}
        return {
            name: jnp.asarray(inputs.layers_of(getattr(self, name), name, count, shapes[name]))
            for name in NEEDED[algorithm]}


@calculator(
    "sparse-recovery.unrolled", outputs={"iterates": "b after layer 1..K"},
    source="Gregor and LeCun (2010); Chen, Liu, Wang, Yin (2018); Liu, Chen, Wang, Yin (2019)",
    example={"algorithm": "alista", "X": X, "y": Y, "thresholds": [0.3, 0.1], "steps": [1.0, 1.0]})
def unrolled_network(
    problem: inputs.Measured, weights: Weights, thresholds: inputs.Thresholds,
    algorithm: Annotated[str, Field(description="lista, lista-cp or alista")],
) -> dict[str, Any]:
    """Iterates of LISTA, LISTA-CP or ALISTA with explicit layers, from b = 0."""
    weights.check(algorithm)
    X, y = problem.arrays(len(weights.W2[0]) if weights.W2 and not problem.X else None)
    theta = inputs.thresholds_of(thresholds, X.shape[1])
    layers = weights.layers(algorithm, len(theta), *X.shape) | {"theta": jnp.asarray(theta)}
    return {"iterates": unrolled.unroll(algorithm, layers, X[None], y[None])[:, 0]}


@calculator(
    "sparse-recovery.lista-vm",
    outputs={
        "final": "after the last layer, one row for each n = 0..N",
        "last_prefix": "iterates 1..K with all rows"},
    source=f"{PAPER}, section 4.3",
    example={"X": X, "y": Y, "M": M * 2, "thresholds": [[0.1] * 3, [0.05] * 3], "support": [0, 2]})
def lista_vm(
    problem: inputs.Measured, M: LayerMatrices, thresholds: inputs.Thresholds,
    support: Annotated[
        list[Annotated[Whole, Field(ge=0)]] | None,
        Field(
            description="zero-based coordinates that may be non-zero; all if left out", min_length=1
        )] = None,
) -> dict[str, Any]:
    """LISTA-VM for every prefix of the rows: b <- S_t(b - M X_n^T (X_n b - y_n)/(2n+1))."""
    matrices = inputs.squares_of(M)
    dim = matrices.shape[1]
    X, y = problem.arrays(dim)
    theta = inputs.thresholds_of(thresholds, dim, len(matrices))
    for place in support or []:
        require(place < dim, "support", place, f"must hold coordinates from 0 to {dim - 1}")
    mask = None if support is None else jnp.isin(jnp.arange(dim), jnp.asarray(support))
    b = unrolled.lista_vm_prefixes(X, y, matrices, theta, mask)
    return {"final": b[-1], "last_prefix": b[:, -1]}


@calculator(
    "sparse-recovery.prompt", outputs={"H": "(2d+2) x (2N+1), a column is a token"},
    source=f"{PAPER}; the layout is our reading", example={"X": X, "y": Y[:1]})
def prompt(task: inputs.Prompt) -> dict[str, Any]:
    """The prompt as a matrix of tokens: x-tokens [x; 0; 0; 1], y-tokens [x; y; 0; 0], the query
    last."""
    return {"H": jax.jit(constructed.embed_prompt)(*task.arrays()).T}


@calculator(
    "sparse-recovery.transformer",
    outputs={
        "beta": "estimates in the x-tokens, one row for each n = 0..N",
        "quadratic": "x_{n+1}^T beta_n, n = 0..N",
        "linear_last": "y row of the last token after the averaging layer",
        "linear": "the same for all n = 0..N"},
    source=f"{PAPER}, Theorem 4.1; weights by saccade",
    example={"X": X, "y": Y[:1], "M": M, "thresholds": [[0.1] * 3]})
def transformer(
    task: inputs.Prompt, M: LayerMatrices, thresholds: inputs.Thresholds
) -> dict[str, Any]:
    """The constructed transformer, run layer by layer: attention with two ReLU heads and a
    soft-threshold MLP."""
    matrices = inputs.squares_of(M)
    dim = matrices.shape[1]
    theta = inputs.thresholds_of(thresholds, dim, len(matrices))
    return _through(*task.arrays(dim), matrices, theta)


@jax.jit
def _through(X, y, M, theta) -> dict[str, Any]:
    """Prompt, layers, and what is read out of the last tokens, in one compiled program."""
    H, layers = constructed.embed_prompt(X, y), constructed.construct(M, theta)
    last = constructed.run_layers(H, layers)[-1]
    linear = constructed.linear_readout(last)
    return {
        "beta": constructed.estimates(last), "quadratic": constructed.quadratic_readout(last),
        "linear_last": linear[-1], "linear": linear}


class Head(Inputs):
    Q: Matrix = Field(description="query matrix, r x D")
    K: Matrix = Field(description="key matrix, r x D")
    V: Matrix = Field(description="value matrix, D x D")

    def arrays(self, number: int, entries: int) -> list[np.ndarray]:
        """Q, K and V as stacks of one head, with shapes that fit tokens of so many entries."""
        shapes = {"Q": (len(self.Q), entries), "K": (len(self.Q), entries), "V": (entries, entries)}
        arrays = []
        for part, shape in shapes.items():
            name = f"heads[{number}].{part}"
            arrays.append(inputs.array(getattr(self, part), name)[None])
            require(
                arrays[-1].shape[1:] == shape, name, f"of shape {arrays[-1].shape[1:]}",
                f"must be {shape[0]} x {shape[1]}: H has {entries} rows")
        return arrays


@calculator(
    "sparse-recovery.relu-attention", outputs={"out": "as H"}, source=f"{PAPER}, section 3",
    example={"H": [[1.0, -1.0, 0.5], [0.2, 0.3, 1.0]], "heads": [{"Q": EYE, "K": EYE, "V": EYE}]})
def relu_attention(
    H: Annotated[Matrix, Field(description="D rows, one column a token")],
    heads: Annotated[list[Head], Field(description="heads, each with Q, K and V", min_length=1)],
) -> dict[str, Any]:
    """Causal ReLU attention: out_i = h_i + sum over heads of (1/i) sum_{j <= i} relu(<Q h_i, K
    h_j>) V h_j."""
    tokens = inputs.array(H, "H").T
    require(len(tokens) >= 1, "H", H, "must have at least one column, a token")
    parts = [head.arrays(number, tokens.shape[1]) for number, head in enumerate(heads)]
    attend = jax.jit(constructed.relu_attention)
    added = [np.asarray(attend(tokens, *part)) - tokens for part in parts]
    return {"out": (tokens + np.sum(added, axis=0)).T}


@calculator(
    "sparse-recovery.certificate",
    outputs={
        "mu": "largest off-diagonal |X^T X/n|", "delta": "max |1 - g (X^T X/n)_ii|",
        "nu": "|X^T noise/n|_inf", "rate": "q = delta + g mu (2S - 1); a linear rate if below 1",
        "bounds": "E_0..E_K", "thresholds": "theta_0..theta_{K-1} = g (mu E_k + nu)",
        "errors": "|b_k - beta|_1, k = 0..K"},
    status="bound", source=f"saccade; implies the form of Theorem 5.1, {PAPER}",
    example={"X": X, "beta": [1.0, 0.0, 0.0], "noise": [0.0, 0.0], "gamma": 0.5, "steps": 3})
def certificate(
    X: Annotated[Matrix, Field(description="measurements, X[row][coordinate], at least one row")],
    beta: Annotated[Vector, Field(description="the vector to be found")],
    noise: Annotated[Vector, Field(description="the noise in y = X beta + noise, one a row")],
    gamma: Annotated[float, Field(description="step g, above 0", gt=0)],
    steps: Annotated[
        Whole, Field(description="number K of steps, from 0 to 200,000", ge=0, le=200_000)],
) -> dict[str, Any]:
    """Numbers that certify a linear rate of LISTA-VM on one matrix (rows of unit covariance),
    beside the errors it really makes."""
    matrix = inputs.rows_of(X)
    rows, dim = matrix.shape
    for name, vector, size, of in (
        ("beta", beta, dim, "coordinate"), ("noise", noise, rows, "row"),
    ):
        rule = f"must have {size} entries, one a {of} of X"
        require(len(vector) == size, name, f"a list of {len(vector)}", rule)
    truth, off = np.asarray(beta, float), np.asarray(noise, float)
    promise, b = solvers.certified(matrix, matrix @ truth + off, truth, off, gamma, steps)
    answer = promise._asdict() | {"errors": np.abs(b - truth).sum(1)}
    return {name: value for name, value in answer.items() if name != "matrix"}
