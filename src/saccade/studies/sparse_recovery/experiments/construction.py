"""The constructed transformer beside the algorithm it runs, and algorithms told a pool."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery import draws
from saccade.studies.sparse_recovery.models import constructed as built
from saccade.studies.sparse_recovery.models.unrolled import lista_vm_prefixes, unroll
from saccade.studies.sparse_recovery.task import SparseRecovery


def _network(key: Any, dim: int, layers: int, dtype: Any) -> tuple[Any, Any]:
    """Random matrices M without symmetry, and thresholds that differ between coordinates."""
    matrix_key, threshold_key = draws.split(key, 2)
    noise = draws.draw("normal", matrix_key, (layers, dim, dim), float)
    thresholds = 0.02 * draws.draw("uniform", threshold_key, (layers, dim), float)
    return (0.2 * (np.eye(dim) + 0.1 * noise)).astype(dtype), thresholds.astype(dtype)


def _apart(values: Any, expected: Any, axes: tuple[int, ...]) -> Any:
    """The largest difference, relative to what is expected in each slice (or to one)."""
    size = 1 + jnp.abs(expected).max(axes, keepdims=True)
    return (jnp.abs(values - expected) / size).max()


def _number(values: Any) -> Any:
    """One number for an array: the mean of its entries, each with a weight of its own."""
    return jnp.mean(values.ravel() * jnp.cos(jnp.arange(values.size)))


@jax.jit
def _compare(
    X: Any, y: Any, M: Any, thresholds: Any, gate: Any, gate_share: Any, spill: Any
) -> dict[str, Any]:
    """How far the built network is from the algorithm, and one number of each; NaN as `gate_share`
    leaves `gate`, and `spill` is added to every entry of the value matrices that writes into x."""
    rows, dim = y.shape[0], X.shape[1]
    expected = lista_vm_prefixes(X[:-1], y, M, thresholds)
    # the largest |x_j^T b_n| that an x-token meets at one it sees, in any prefix and layer
    products = jnp.abs(jnp.einsum("jd,knd->knj", X, expected[:-1]))
    largest = jnp.where(jnp.tri(len(X), dtype=bool), products, 0).max()
    gate = jnp.where(jnp.isnan(gate_share), gate, gate_share * largest).astype(X.dtype)
    H, beta = built.embed_prompt(X, y), slice(dim + 1, 2 * dim + 1)
    weights = built.construct(M, thresholds, gate)
    weights = weights._replace(V=weights.V.at[:, :, :dim].add(spill))
    states = built.run_layers(H, weights)
    model = built.as_transformer(M, thresholds, gate, X.dtype)
    whole = model._through(H[None])
    linear = jnp.einsum("nd,nd->n", X, jnp.cumsum(expected[-1], 0)) / (2 * jnp.arange(rows + 1) + 1)
    return {
        "layers": _apart(built.estimates(states), expected, (2,)),
        "instance": _apart(whole[0, ::2, beta], expected[-1], (1,)),
        "network": _number(built.estimates(states)), "algorithm": _number(expected),
        "quadratic": _apart(model.read(whole)[0, ::2, 0], (X * expected[-1]).sum(1), ()),
        "read": _apart(built.quadratic_readout(states[-1]), (X * expected[-1]).sum(1), ()),
        "linear": _apart(built.linear_readout(states[-1]), linear, ()),
        "untouched": jnp.abs(states.at[:, ::2, beta].set(0) - H).max(), "largest": largest}


@experiment(
    "sparse-recovery.construction",
    scales={"standard": {"instances": 20, "rows": 40}, "paper": {"instances": 20, "rows": 40}})
def construction(
    key: Any, *, instances: int = 5, dim: int = 20, rows: int = 12, layers: int = 12,
    gate: float = built.GATE, gate_share: float | None = None,
    precision: Literal["float64", "float32"] = "float64", spill: float = 0.0, size: float = 1.0,
) -> xarray.Dataset:
    """The network built from (M, thresholds) against LISTA-VM run by itself, all prefixes and
    layers, at values y and thresholds times `size`; `gate_share` sets the gate to that share of the
    largest |x^T b| met, `spill` is added to the entries of value matrices that write into x."""
    dtype = jnp.dtype(precision)
    task = SparseRecovery.create(dim, rows + 1, min(3, dim))
    share = np.nan if gate_share is None else gate_share
    compared = []
    for number in range(instances):
        one, two = jax.random.split(jax.random.fold_in(key, number))
        sample, (M, thresholds) = task.sample(one, 1), _network(two, dim, layers, dtype)
        X, y = np.asarray(sample.X[0], dtype), size * np.asarray(sample.y[0], dtype)[:-1]
        compared.append(_compare(X, y, M, size * thresholds, gate, share, spill))
    return xarray.Dataset(
        {name: ("repetition", [float(row[name]) for row in compared]) for name in compared[0]})


@experiment("sparse-recovery.restricted")
def restricted(
    key: Any, *, instances: int = 8, dim: int = 20, rows: int = 10, pool: int = 8, layers: int = 12,
    told: bool = True,
) -> xarray.Dataset:
    """Algorithms told that supports lie in the first `pool` coordinates, against the same
    algorithms on those columns alone."""
    task = SparseRecovery.create(dim, rows, min(3, pool), pool=range(pool))
    sample_key, layer_key, matrix_key = draws.split(key, 3)
    sample = task.sample(sample_key, instances)
    X, y = np.asarray(sample.X), np.asarray(sample.y)
    steps = 0.2 + 0.6 * draws.draw("uniform", layer_key, (layers,), float)
    theta = np.geomspace(0.3, 0.02, layers)
    networks = {
        "fista": {"lam": np.full(layers, 0.5)}, "alista": {"gamma": steps, "theta": theta},
        "lista-vm": {"M": steps, "theta": theta}}
    mask = (np.arange(dim) < pool) | (not told)
    apart = []
    for name, network in networks.items():
        masked = np.asarray(unroll(name, network, X, y, mask))
        alone = np.asarray(unroll(name, network, X[:, :, :pool], y))
        outside = np.abs(masked[..., pool:]).max((0, 2))
        apart.append(np.abs(masked[..., :pool] - alone).max((0, 2)) + outside)
    mixing = draws.draw("normal", matrix_key, (layers, dim, dim), float)
    M = steps[:, None, None] * (np.eye(dim) + 0.1 * mixing)  # columns outside the pool count
    thresholds = theta[:, None] * np.ones(dim)
    told_by_rows = np.where((np.arange(dim) < pool)[:, None], M, 0.0)
    prefixes = [
        np.asarray(lista_vm_prefixes(*one, M, thresholds, mask))
        - np.asarray(lista_vm_prefixes(*one, told_by_rows, thresholds))
        for one in zip(X, y, strict=True)]
    apart.append(np.abs(prefixes).max((1, 2, 3)))
    return xarray.Dataset(
        {"apart": (("algorithm", "repetition"), apart)},
        {"algorithm": [*networks, "lista-vm, prefixes"]})


@experiment(
    "sparse-recovery.read-outs",
    scales={"standard": {"instances": 128, "rows": (50, 100, 200, 400, 800)}})
def read_outs(
    key: Any, *, instances: int = 64, dim: int = 20, sparsity: int = 3,
    rows: tuple[int, ...] = (50, 100, 200, 400), layers: int = 60, step: float = 0.2,
    threshold: float = 0.15, decay: float = 0.92,
) -> xarray.Dataset:
    """Squared label error, averaged over an isotropic query, of the quadratic and of twice the
    linear read-out after n pairs.

    The network has M = step I and thresholds that fall geometrically. Rows are Rademacher: with
    |x|^2 = d no prefix can diverge while step < 0.2, whereas one long Gaussian row would do.
    Prefixes share the sums X_[n]^T X_[n], so all are run at once.
    """
    task = SparseRecovery.create(dim, max(rows), sparsity, design="rademacher")
    errors = np.zeros((2, len(rows), instances))
    for number in range(instances):
        sample = task.sample(jax.random.fold_in(key, number), 1)
        X, y, beta = (np.asarray(part[0]) for part in (sample.X, sample.y, sample.beta))
        grams = np.concatenate(
            [np.zeros((1, dim, dim)), np.cumsum(X[:, :, None] * X[:, None, :], 0)])
        pulls = np.concatenate([np.zeros((1, dim)), np.cumsum(X * y[:, None], 0)])
        count = 2 * np.arange(len(X) + 1)[:, None] + 1
        b = np.zeros_like(pulls)
        for k in range(layers):
            u = b - step * ((grams @ b[:, :, None])[:, :, 0] - pulls) / count
            b = np.sign(u) * np.maximum(np.abs(u) - threshold * decay**k, 0)
        twice_linear = 2 * np.cumsum(b, 0) / count
        for place, estimate in enumerate((b, twice_linear)):
            errors[place, :, number] = ((estimate[list(rows)] - beta) ** 2).sum(1)
    return xarray.Dataset(
        {"error": (("read_out", "rows", "repetition"), errors)},
        {"read_out": ["quadratic", "linear"], "rows": list(rows)})


@experiment("sparse-recovery.attention-by-hand")
def attention_by_hand(
    key: Any, *, tokens: int = 4, heads: int = 16, ahead: int = 0
) -> xarray.Dataset:
    """ReLU attention with random heads on random tokens of three entries, made by the study and by
    loops over tokens, heads and the tokens before them (`ahead`: and as many after them); of the
    last token, which has none after it, nothing is said."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    H: Any = chance.normal(size=(tokens, 3))
    Q, K, V = chance.normal(size=(3, heads, 3, 3))
    plain = []
    for i, state in enumerate(H):
        seen = H[: i + 1 + ahead]
        scores = [
            [max(float((q @ state) @ (k @ other)), 0.0) for other in seen]
            for q, k in zip(Q, K, strict=True)]
        moved = sum(
            score * (v @ other) for row, v in zip(scores, V, strict=True)
            for score, other in zip(row, seen, strict=True))
        plain.append(state + moved / (i + 1))
    places = np.sqrt(np.arange(1.0, 4.0))
    made = np.asarray(built.relu_attention(H, *(jnp.asarray(part) for part in (Q, K, V))))
    return xarray.Dataset(
        {"made": ("token", made[:-1] @ places), "plain": ("token", np.array(plain)[:-1] @ places)})
