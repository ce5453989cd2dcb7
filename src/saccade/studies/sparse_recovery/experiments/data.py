"""The task as it is defined: moments of matrices, vectors and noise; its Bayes predictor and an
unrolled algorithm on columns as tokens, beside plain loops."""

from itertools import combinations
from typing import Any, Literal

import jax
import numpy as np
import xarray
from scipy.stats import multivariate_normal

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.models import constructed
from saccade.studies.sparse_recovery.models.unrolled import UnrolledRecovery
from saccade.studies.sparse_recovery.task import (
    ColumnsAsTokens,
    Design,
    RecoverySample,
    SparseRecovery,
)

Frame = Literal["orthonormal", "gaussian", "plain QR"]
DIM, ROWS = 6, 3


@experiment("sparse-recovery.task-moments")
def task_moments(
    key: Any, *, designs: tuple[Design, Design, Design] = ("gaussian", "uniform", "rademacher"),
    frame: Frame = "orthonormal", correlation: float = -0.6, pool: tuple[int, ...] = (0, 1, 2, 3),
    block: int = 2, noise: float = 0.5, instances: int = 3000, replicates: int = 32,
) -> xarray.Dataset:
    """Moments of draws with six coordinates, three rows and two non-zeros, replicate by replicate;
    `frame` replaces the orthonormal design, at worst by a QR factor as it comes."""
    task = SparseRecovery.create(DIM, ROWS, 2, noise, "correlated", correlation, pool, block)
    *keys, frame_key, sample_key = jax.random.split(key, 5)
    count = replicates * instances
    laws = [_matrices(law, one, count) for law, one in zip(designs, keys, strict=True)]
    values = (
        _of_laws(*laws) | _of_frames(_frames(frame, frame_key, count))
        | _of_problems(task.sample(sample_key, count)))
    return xarray.Dataset({
        name: ("replicate", value.reshape(replicates, -1).mean(axis=1))
        for name, value in values.items()})


def _matrices(design: str, key: Any, count: int) -> np.ndarray:
    return np.asarray(SparseRecovery.create(DIM, ROWS, 2, design=design).matrices(key, count))


def _frames(frame: Frame, key: Any, count: int) -> np.ndarray:
    if frame != "plain QR":
        return _matrices(frame, key, count)
    normal = _matrices("gaussian", key, count)
    return np.sqrt(DIM) * np.linalg.qr(normal.swapaxes(1, 2))[0].swapaxes(1, 2)


def _of_laws(gaussian: np.ndarray, uniform: np.ndarray, signs: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "gaussian x^4": gaussian**4, "uniform x^4": uniform**4,
        "uniform max |x|": np.abs(uniform).max(axis=(1, 2)),
        "rademacher (x + x')^4": (signs[..., 0] + signs[..., 1]) ** 4}


def _of_frames(X: np.ndarray) -> dict[str, np.ndarray]:
    lengths = (X**2).sum(-1) / DIM
    return {
        "orthonormal lengths": (lengths - 1) ** 2, "orthonormal x^4": X**4,
        "orthonormal x": X[:, 0, 0]}


def _of_problems(sample: RecoverySample) -> dict[str, np.ndarray]:
    X, y, beta, _, _, query, query_y = map(np.asarray, sample)
    noise, asked = y - (X @ beta[..., None])[..., 0], query_y - (query * beta).sum(1)
    both = (beta[:, 0] != 0) & (beta[:, 1] != 0)
    return {
        "lag 1": X[..., 0] * X[..., 1], "lag 2": X[..., 1] * X[..., 3],
        "query lag 1": query[:, 2] * query[:, 3], "beta^2": beta[:, :4] ** 2,
        "beta^4": beta[:, :4] ** 4, "whole blocks": both.astype(float), "noise^2": noise**2,
        "noise^4": noise**4, "query noise^2": asked**2}


@experiment("sparse-recovery.columns")
def columns(
    key: Any, *, samples: int = 3, noise: float = 0.3, plain_noise: float = 0.3,
    normalised: bool = True, faint: float = 0.0, hush: float = 100.0,
) -> xarray.Dataset:
    """Columns as tokens: the Bayes prediction (free supports, blocks of a pool with a gap, and with
    `faint` noise, where three rows tell all of two non-zeros), LISTA-VM's, the mean place of its
    attention (also where thresholds of `hush` let nothing pass: all columns that are there
    alike), and its
    prediction without a column and without a row; and the same by plain loops, which may believe in
    another noise or forget 1/(2n + 1), or the value itself."""
    rows, plain = {}, {}
    free = SparseRecovery.create(5, 3, 2, noise)
    blocks = SparseRecovery.create(8, 4, 2, noise, pool=(0, 1, 4, 5, 6, 7), block=2)
    for name, task in (("free", free), ("blocks", blocks)):
        drawn = task.sample(key, samples)
        tokens = ColumnsAsTokens(task).sample(key, samples).X
        rows[name] = ColumnsAsTokens(task).best(tokens)
        plain[name] = _conditioned(task, drawn, plain_noise)
    exact = SparseRecovery.create(5, 3, 2, faint)
    rows["no noise"] = ColumnsAsTokens(exact).best(ColumnsAsTokens(exact).sample(key, samples).X)
    plain["no noise"] = np.asarray(exact.sample(key, samples).query_y)
    model = UnrolledRecovery("lista-vm", {"M": np.full(4, 0.8), "theta": np.full(4, 0.005)})
    tokens = ColumnsAsTokens(free).sample(key, samples).X
    rows["LISTA-VM"], rows["attention"] = model(tokens), model.attention(tokens) @ np.arange(6.0)
    b = _lista_vm(free.sample(key, samples), 4, 0.8, 0.005, normalised)
    query = np.asarray(free.sample(key, samples).query)
    plain["LISTA-VM"] = (b * query).sum(1)
    plain["attention"] = np.abs(b) @ np.arange(1.0, 6.0) / np.abs(b).sum(1)
    silent = UnrolledRecovery("lista-vm", {"M": np.full(4, 0.8), "theta": np.full(4, hush)})
    there = np.arange(6) != 2  # without the second column
    mask: Any = np.broadcast_to(there, (samples, 6))
    rows["nothing found"] = silent.attention(tokens, mask) @ np.arange(6.0)
    plain["nothing found"] = np.full(samples, np.mean([1, 3, 4, 5]))
    rows["masked"] = model(tokens, mask)
    fewer = free.sample(key, samples)._replace(X=free.sample(key, samples).X * there[1:])
    plain["masked"] = (_lista_vm(fewer, 4, 0.8, 0.005, normalised) * query).sum(1)
    rows["empty row"] = model(tokens.at[:, :, 2].set(0))  # the last of three rows is not there
    shorter = free.sample(key, samples)
    shorter = shorter._replace(X=shorter.X[:, :2], y=shorter.y[:, :2])
    plain["empty row"] = (_lista_vm(shorter, 4, 0.8, 0.005, normalised) * query).sum(1)
    return xarray.Dataset(
        {
            "model": (("what", "sample"), np.array(list(rows.values()), float)),
            "plain": (("what", "sample"), np.array(list(plain.values()), float))},
        {"what": list(rows)})


def _conditioned(task: SparseRecovery, sample: RecoverySample, noise: float) -> np.ndarray:
    """E[query value | X, y] by conditioning Gaussians, support after support: given T the values y
    are N(0, X_T X_T^T + noise^2 I)."""
    starts = [place for place in task.pool if place % task.block == 0]
    supports = [
        [start + offset for start in chosen for offset in range(task.block)]
        for chosen in combinations(starts, task.sparsity // task.block)]
    means = []
    for X, y, query in zip(*map(np.asarray, (sample.X, sample.y, sample.query)), strict=True):
        parts = [X[:, support] for support in supports]
        spreads = [part @ part.T + noise**2 * np.eye(len(y)) for part in parts]
        weights = np.array([multivariate_normal.pdf(y, cov=spread) for spread in spreads])
        guesses = [
            query[support] @ part.T @ np.linalg.solve(spread, y)
            for support, part, spread in zip(supports, parts, spreads, strict=True)]
        means.append(weights @ guesses / weights.sum())
    return np.array(means)


def _lista_vm(
    sample: RecoverySample, layers: int, step: float, threshold: float, normalised: bool
) -> np.ndarray:
    """Plain LISTA-VM, problem by problem."""
    answers = []
    for X, y in zip(np.asarray(sample.X), np.asarray(sample.y), strict=True):
        b = np.zeros(X.shape[1])
        for _ in range(layers):
            u = b - step * X.T @ (X @ b - y) / (2 * len(y) + 1 if normalised else 1)
            b = np.sign(u) * np.maximum(np.abs(u) - threshold, 0)
        answers.append(b)
    return np.array(answers)


PLACES = np.sqrt(np.arange(1.0, 60.0))
"""One number for a prompt: its product with these, entry by entry."""


@experiment("sparse-recovery.prompts")
def prompts(key: Any, *, late: bool = False) -> xarray.Dataset:
    """The three prompts of a task with two rows and a query, as one number each, made by the study
    and written down by hand (`late`: with the values of the other row)."""
    X: Any = np.arange(1.0, 10.0).reshape(3, 3)
    y: Any = np.array([20.0, 30.0])
    made = [
        constructed.paper_tokens(X[None], y[None]), constructed.pair_tokens(X[None, :2], y[None]),
        constructed.zero_padded_tokens(X[None], y[None])]
    (a, b, query), (first, second) = X.tolist(), y[::-1] if late else y
    none = [0.0, 0.0, 0.0]
    written = [
        [
            *a, 0.0, *none, 1.0, *a, first, *none, 0.0, *b, 0.0, *none, 1.0, *b, second, *none, 0.0,
            *query, 0.0, *none, 1.0],
        [*a, first, *b, second], [*a, first, 0.0, 0.0, *b, second, 0.0, 0.0, *query]]
    return xarray.Dataset({
        name: ("prompt", [float(np.ravel(part) @ PLACES[: np.size(part)]) for part in parts])
        for name, parts in (("made", made), ("written", written))})


@experiment("sparse-recovery.sample-rules")
def sample_rules(
    key: Any, *, vectors: int = 3, noise: float = 0.0, sparsity: int = 4,
    pool: tuple[int, ...] = (0, 1, 4, 5, 6, 7), block: int = 2, measurements: int = 5,
    turned: int = 0,
) -> xarray.Dataset:
    """What holds for every draw of twelve instances with eight coordinates: how far values and the
    query's are from X beta, also where one matrix is given; how many instances share the matrix of
    the one before; non-zeros, those on the third and fourth coordinates and those whose block of
    two is not whole; where supports are not those said to be (of the instance `turned` places on);
    the usual parameters, and the pools of eight and nine coordinates where none is given; and how
    far what is drawn in a compiled program, or for the second of two keys, is from what is drawn
    alone."""
    task = SparseRecovery.create(8, measurements, sparsity, noise, pool=pool, block=block)
    sample = jax.tree.map(np.asarray, task.sample(key, 12, vectors))
    given = jax.tree.map(np.asarray, task.sample_on(key, np.asarray(sample.X[0]), 12))
    looped = [[sum(row * b) for row in X] for X, b in zip(sample.X, sample.beta, strict=True)]
    on_one = [[sum(row * b) for row in sample.X[0]] for b in given.beta]
    there = sample.beta != 0
    columns_of = ColumnsAsTokens(task).sample(key, 12)
    where = np.roll(columns_of.where, turned, axis=0)
    own = np.asarray(task.sample(key, 12).beta) != 0
    keys = jax.random.split(key, 2)
    pairs = zip(task.sample(keys, 12, vectors), task.sample(keys[1], 12, vectors), strict=True)
    rules = {
        "values": np.abs(sample.y - looped).max(),
        "values on one matrix": np.abs(given.y - on_one).max(),
        "query": np.abs(sample.query_y - (sample.query * sample.beta).sum(1)).max(),
        "shared matrices": np.mean((sample.X[1:] == sample.X[:-1]).all((1, 2))),
        "non-zeros": there.sum(1).mean(), "outside": there[:, 2:4].sum(1).mean(),
        "halves of blocks": (there[:, ::2] != there[:, 1::2]).sum(1).mean(),
        "sizes said": 100 * ColumnsAsTokens(task).length + ColumnsAsTokens(task).dim,
        "sizes": 100 * columns_of.X.shape[1] + columns_of.X.shape[2],
        "support": (np.roll(sample.support, turned, axis=0) != there).sum(),
        "rows": sample.count.mean(),
        "where": (where != np.pad(own, ((0, 0), (1, 0)), constant_values=True)).sum(),
        "defaults": _defaults(sparsity, block),
        "in a program": sum(
            np.abs(np.roll(one, turned, axis=0) * 1.0 - now).max()
            for one, now in zip(jax.jit(lambda key: task.sample(key, 12, vectors))(key), sample)),
        "several keys": sum(
            (np.roll(both[1], turned, axis=0) != np.asarray(one)).sum() for both, one in pairs)}
    return xarray.Dataset({"rule": ("what", np.array(list(rules.values()), float))})


def _defaults(sparsity: int, block: int) -> float:
    """One number for what a task is where nothing is said, and for pools of eight and nine."""
    usual = SparseRecovery.create()
    pools = (len(SparseRecovery.create(dim, 4, sparsity, block=block).pool) for dim in (8, 9))
    numbers = (
        usual.dim, usual.measurements, usual.sparsity, usual.noise, usual.correlation, *pools)
    return float(np.array(numbers) @ np.sqrt(np.arange(1.0, 8.0)))


@experiment("sparse-recovery.independent-parts")
def independent_parts(key: Any, *, instances: int = 40_000, moved: float = 0.0) -> xarray.Dataset:
    """What a draw is made of, as numbers of mean zero and variance one: matrix, value, place, noise
    (of the row and of the query) and query of tasks with one row and two coordinates, so small that
    equal keys would give equal numbers. The largest mean product of two numbers, for each pair of
    parts and from an instance to the next, and the largest mean; `moved` is added to every
    number."""
    sample = jax.tree.map(np.asarray, SparseRecovery.create(2, 1, 1, 0.7).sample(key, instances))
    exact = (sample.X[:, 0] * sample.beta).sum(1), (sample.query * sample.beta).sum(1)
    noise = np.stack([sample.y[:, 0] - exact[0], sample.query_y - exact[1]], 1) / 0.7
    parts = {
        "matrix": sample.X[:, 0], "value": sample.beta.sum(1, keepdims=True),
        "place": 2.0 * sample.support[:, :1] - 1, "noise": noise, "query": sample.query}
    parts = {name: values + moved for name, values in parts.items()}
    together = np.concatenate(list(parts.values()), 1)
    products = {
        f"{one} and {other}": _most(parts[one], parts[other])
        for one, other in combinations(parts, 2)}
    own = {f"own of {name}": (parts[name][:, 0] * parts[name][:, 1]).mean() for name in TWICE}
    later = {
        "next instance": _most(together[:-1], together[1:]),
        "means": np.abs(together.mean(0)).max()}
    return xarray.Dataset(
        {name: abs(float(value)) for name, value in (products | own | later).items()})


TWICE = ("matrix", "noise", "query")


def _most(one: np.ndarray, other: np.ndarray) -> float:
    """The largest mean product of a column of one with a column of the other."""
    return float(np.abs(one.T @ other / len(one)).max())
