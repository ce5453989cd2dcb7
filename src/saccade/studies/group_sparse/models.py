"""What looks at groups: positional encodings, the merged-QK transformer with its variants and its
starts, its gradients written out, and the screening baseline.

With the tokens z_1 .. z_D as the rows of Z, the paper's layer is
    f(Z; W, v) = sum_j sum_i S_ij <v, z_i>,     S[key i][query j] = softmax over i of z_i^T W z_j.
There is no 1/sqrt scale and the output is a SUM over the D queries, so f is of size D. Predict
sign(f).

One definition for every variant, for layer l = 1 .. layers:
    N = LayerNorm(H) if layer_norm else H
    S_l = softmax_keys(N W_l N^T)
    H <- (H if residual else 0) + S_l^T N
and then f = sum_j head(h_j), head(h) = v^T h, or v^T relu(U h) when hidden > 0. LayerNorm has no
learned gain. A token that a mask leaves out is neither a key nor a query.

The gradients of the paper's layer are also written out, an independent road to what automatic
differentiation gives (status: exact).
With g_i = <v, z_i>, fbar_j = sum_i S_ij g_i, f = sum_j fbar_j and r = -y sigmoid(-y f):
    dL/dv = E[r Z^T S 1],      dL/dW = E[r Z^T B Z],      B_ij = S_ij (g_i - fbar_j)
The columns of B sum to zero: adding a constant to all scores of one query changes nothing (the
softmax gauge).
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from saccade.errors import InvalidInput, unknown
from saccade.studies.group_sparse.task import check_groups, check_positive, whole_number

Inputs = Float[Array, "n groups group_dim"]
Tokens = Float[Array, "n groups token_dim"]
Mask = Bool[Array, "n groups"] | None
Matrix = Float[Array, "encoding_dim groups"]
KINDS = ("sine", "one-hot", "random", "equal", "none")


def encoding(
    kind: str, groups: int, dim: int | None = None, norm_squared: float | None = None,
    key: PRNGKeyArray | None = None,
) -> Matrix:
    """P, whose column p_j is appended to the features of group j: token z_j = [x_j ; p_j].

    Only the Gram matrix P^T P reaches the training dynamics. When P^T P = c I the population
    descent is the paper's and depends on P through c alone; anything else is a sabotage of the
    orthogonality assumption. `norm_squared` is |p_j|^2 [(D+1)/2, that of the sine encoding].

    sine     p_j = (sin(pi i j / (D+1)))_{i=1..D}: the discrete sine transform, symmetric,
             P^T P = (D+1)/2 I
    one-hot  p_j = sqrt(norm_squared) e_j: the same dynamics as sine when the norms agree
    random   p_j with `dim` [D] Gaussian entries of variance norm_squared / dim (needs `key`):
             orthogonal on average only
    equal    the same p for every group: positions cannot be told apart
    none     no encoding at all, so the model sees a set
    """
    groups = check_groups(groups)
    size = check_positive(
        (groups + 1) / 2 if norm_squared is None else norm_squared, "norm_squared")
    if kind == "sine":
        index = np.arange(1, groups + 1)
        angles = np.pi * np.outer(index, index) / (groups + 1)
        return jnp.asarray(math.sqrt(2 * size / (groups + 1)) * np.sin(angles))
    if kind == "random":
        if key is None:
            raise InvalidInput("key is missing, and a random encoding must be given one.")
        rows = groups if dim is None else whole_number(dim, "dim", 1)
        return math.sqrt(size / rows) * jax.random.normal(key, (rows, groups))
    if kind not in KINDS:
        raise unknown("encoding", kind, KINDS)
    return jnp.asarray({
        "one-hot": math.sqrt(size) * np.eye(groups),
        "equal": math.sqrt(size / groups) * np.ones((groups, groups)),
        "none": np.zeros((0, groups))}[kind])


def mean_square(matrix: Matrix) -> Float[Array, ""]:
    """The mean of |p_j|^2: c where P^T P = c I."""
    return jnp.sum(matrix**2) / matrix.shape[1]


def tokens(X: Inputs, matrix: Matrix) -> Tokens:
    """Z: behind the features of each group its positional encoding (concatenated, not added)."""
    positions = jnp.broadcast_to(matrix.T, (X.shape[0], *matrix.T.shape))
    return jnp.concatenate([X, positions], axis=2)


class Architecture(NamedTuple):
    """Which variant, the paper's layer by default; hashable, so that it can be static."""

    layers: int = 1
    residual: bool = False
    layer_norm: bool = False
    hidden: int = 0


PAPER_LAYER = Architecture()


class Parameters(NamedTuple):
    """W (one matrix a layer), v, and the hidden weights U (with zero rows when there is no MLP)."""

    attention: Float[Array, "layers token_dim token_dim"]
    value: Float[Array, " width"]
    hidden: Float[Array, "hidden token_dim"]


class Transformer(eqx.Module):
    """The layer, or a variant, with the encodings of its D places inside: a model of X."""

    parameters: Parameters
    matrix: Matrix
    architecture: Architecture = eqx.field(static=True, default=PAPER_LAYER)

    def __call__(self, X: Inputs, mask: Mask = None) -> Float[Array, " n"]:
        """The margin f, the head of every token after the last layer summed over tokens."""
        state, _ = self._forward(X, mask)
        if self.architecture.hidden:
            state = jax.nn.relu(state @ self.parameters.hidden.T)
        return jnp.sum(state @ self.parameters.value, axis=1, where=mask)

    def attention(self, X: Inputs, mask: Mask = None) -> Float[Array, "n groups"]:
        """What each token receives in the last layer, averaged over the queries."""
        queries = None if mask is None else mask[:, None, :]
        return jnp.mean(self.maps(X, mask)[-1], axis=2, where=queries)

    def maps(self, X: Inputs, mask: Mask = None) -> Float[Array, "layers n groups groups"]:
        """S[layer][sample][key][query]; columns (over keys) sum to one."""
        return self._forward(X, mask)[1]

    def loss(self, X: Inputs, y: Float[Array, " n"]) -> Float[Array, ""]:
        """The mean of log(1 + exp(-y f))."""
        return jnp.mean(jax.nn.softplus(-y * self(X)))

    def at(self, parameters: Parameters) -> "Transformer":
        """The same layer with other parameters."""
        return Transformer(parameters, self.matrix, self.architecture)

    def _forward(self, X: Inputs, mask: Mask) -> tuple[Tokens, Float[Array, "..."]]:
        """The tokens after the last layer, and the attention map of every layer."""
        state = tokens(X if mask is None else jnp.where(mask[:, :, None], X, 0.0), self.matrix)
        maps = []
        for weights in self.parameters.attention:
            rows = _normalise(state) if self.architecture.layer_norm else state
            scores = rows @ weights @ jnp.swapaxes(rows, 1, 2)
            keys = None if mask is None else mask[:, :, None]
            maps.append(jax.nn.softmax(scores, axis=1, where=keys))
            mixed = jnp.swapaxes(maps[-1], 1, 2) @ rows
            state = state + mixed if self.architecture.residual else mixed
        return state, jnp.stack(maps)


def _normalise(state: Tokens) -> Tokens:
    """LayerNorm over each token's coordinates, no gain; 1e-5 keeps constant tokens finite."""
    centred = state - jnp.mean(state, axis=2, keepdims=True)
    return centred / jnp.sqrt(jnp.mean(centred**2, axis=2, keepdims=True) + 1e-5)


def at_zero(
    group_dim: int, matrix: Matrix, architecture: Architecture = PAPER_LAYER,
    key: PRNGKeyArray | None = None,
) -> Transformer:
    """The paper's start, W = 0 and v = 0. With an MLP zero is a stationary point, so its two
    matrices get Gaussian entries of size 0.1 (`key`)."""
    size = group_dim + matrix.shape[0]
    shapes = (architecture.layers, size, size), (size,), (0, size)
    parameters = Parameters(*[jnp.asarray(np.zeros(shape)) for shape in shapes])
    width = architecture.hidden
    if width:
        value_key, hidden_key = jax.random.split(jax.random.key(0) if key is None else key)
        value = 0.1 * jax.random.normal(value_key, (width,))
        parameters = Parameters(
            parameters.attention, value, 0.1 * jax.random.normal(hidden_key, (width, size)))
    return Transformer(parameters, matrix, architecture)


def xavier(
    key: PRNGKeyArray, group_dim: int, matrix: Matrix, architecture: Architecture = PAPER_LAYER,
    factor: float = 1.0,
) -> Transformer:
    """Glorot's Gaussian start times `factor`: variance 2 / (inputs + outputs) for W, v, U."""
    keys, size = jax.random.split(key, 3), group_dim + matrix.shape[0]
    layers, hidden = architecture.layers, architecture.hidden
    width = hidden or size
    shapes = (layers, size, size), (width,), (hidden, size)
    spreads = 1 / jnp.sqrt(size), jnp.sqrt(2 / (width + 1)), jnp.sqrt(2 / (hidden + size))
    drawn = [
        factor * spread * jax.random.normal(key, shape)
        for key, shape, spread in zip(keys, shapes, spreads, strict=True)]
    return Transformer(Parameters(*drawn), matrix, architecture)


def from_blocks(
    feature_block: Float[Array, "group_dim group_dim"],
    position_block: Float[Array, "encoding_dim encoding_dim"], value: Float[Array, " group_dim"],
) -> Parameters:
    """W = diag(W11, W22) and v = [v1; 0]: the form that population descent keeps."""
    attention = jax.scipy.linalg.block_diag(feature_block, position_block)
    value = jnp.pad(value, (0, len(position_block)))
    return Parameters(attention[None], value, jnp.zeros((0, len(value))))


class Evaluation(NamedTuple):
    """Of a labelled batch: S[sample][key][query], f, the mean logistic loss, its gradients."""

    attention: Float[Array, "n groups groups"]
    output: Float[Array, " n"]
    loss: Float[Array, ""]
    grad_attention_weights: Float[Array, "token_dim token_dim"]
    grad_value: Float[Array, " token_dim"]


def evaluate(
    token_batch: Tokens, y: Float[Array, " n"],
    attention_weights: Float[Array, "token_dim token_dim"], value: Float[Array, " token_dim"],
) -> Evaluation:
    """The merged-QK layer at W = `attention_weights`, v = `value`, gradients averaged."""
    scores = token_batch @ attention_weights @ jnp.swapaxes(token_batch, 1, 2)
    attention = jax.nn.softmax(scores, axis=1)
    read = token_batch @ value
    per_query = jnp.einsum("nij,ni->nj", attention, read)
    total = jnp.sum(per_query, axis=1)
    residual = -y * jax.nn.sigmoid(-y * total) / y.shape[0]
    pooled = jnp.einsum("nij,nim->nm", attention, token_batch)
    score_gradient = (
        residual[:, None, None] * attention * (read[:, :, None] - per_query[:, None, :]))
    # Sample by sample (key x query) times (query x token), then one product over all keys.
    grad_attention = jnp.einsum("nim,nik->mk", token_batch, score_gradient @ token_batch)
    loss = jnp.mean(jax.nn.softplus(-y * total))
    return Evaluation(attention, total, loss, grad_attention, residual @ pooled)


class Screening(NamedTuple):
    """Scores of the groups, the best, and the penalty above which the group lasso is empty."""

    scores: Float[Array, " groups"]
    best: Int[Array, ""]
    lambda_max: Float[Array, ""]


def screen(X: Inputs, y: Float[Array, " n"]) -> Screening:
    """score_g = |X_g^T y|_2, best = argmax_g score_g, lambda_max = max_g score_g / (2 n).

    lambda_max is the smallest lambda at which (1/n) sum log(1 + exp(-y <w, x>)) + lambda sum_g
    |w_g|_2 is minimised by w = 0, because the gradient of the mean logistic loss at 0 is -X_g^T y /
    (2 n).
    """
    scores = jnp.linalg.norm(jnp.einsum("ngd,n->gd", X, y), axis=1)
    return Screening(scores, jnp.argmax(scores), jnp.max(scores) / (2 * y.shape[0]))
