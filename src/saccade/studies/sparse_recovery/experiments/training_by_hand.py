"""What trains, beside plain versions of it: Adam in NumPy on losses written out, and decoders whose
prompts, losses and layers are put together by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.networks import transformer
from saccade.studies.sparse_recovery.dynamics import decoders, learning
from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.dynamics.learning import Recipe
from saccade.studies.sparse_recovery.models.unrolled import ALGORITHMS
from saccade.studies.sparse_recovery.task import SparseRecovery

LAYERS, STEPS, BATCH = 2, 5, 24
RATE, DIFFERENCE = 0.02, 1e-7
CLIPS = {"alista": 0.8, "lista-block": np.inf, "lista-cp": 0.8}
NETWORKS = tuple(CLIPS)
Arrays = dict[str, np.ndarray]


def _shrunk(u: np.ndarray, size: np.ndarray, threshold: float) -> np.ndarray:
    """Entries, or blocks, of the given size lose |threshold| of it, at most all."""
    kept = np.maximum(1 - abs(threshold) / np.maximum(size, 1e-300), 0)
    return u * kept


def _weights(X: np.ndarray) -> np.ndarray:
    """w_j = P x_j/(x_j^T P x_j), P = pinv(X X^T), of every matrix."""
    P = np.linalg.pinv(X @ X.swapaxes(-1, -2)) @ X
    return P / (X * P).sum(-2, keepdims=True)


def _loss(name: str, layers: Arrays, X: np.ndarray, y: np.ndarray, beta: np.ndarray) -> float:
    """The mean of |b - beta|^2 after all layers."""
    b, pairs = np.zeros_like(beta), (len(beta), -1, 2)
    for k in range(LAYERS):
        r, theta = (X @ b[..., None])[..., 0] - y, layers["theta"][k]
        if name == "lista-cp":
            weight = layers["W"][k]
        elif name == "alista":
            weight = layers["gamma"][k] * _weights(X)
        else:
            weight = layers["M"][k] * X / (2 * y.shape[1] + 1)
        u = b - (r[:, None] @ weight)[:, 0]
        size = (
            np.repeat(np.linalg.norm(u.reshape(pairs), axis=2), 2, axis=1) if name == "lista-block"
            else np.abs(u))
        b = _shrunk(u, size, theta)
    return float(((b - beta) ** 2).sum(1).mean())


def _slopes(loss: Callable[[Arrays], float], layers: Arrays) -> Arrays:
    """Central differences, entry by entry."""
    slopes = {leaf: np.zeros_like(value) for leaf, value in layers.items()}
    for leaf, value in layers.items():
        for place in np.ndindex(value.shape):
            ends = []
            for side in (DIFFERENCE, -DIFFERENCE):
                moved = value.copy()
                moved[place] += side
                ends.append(loss({**layers, leaf: moved}))
            slopes[leaf][place] = (ends[0] - ends[1]) / (2 * DIFFERENCE)
    return slopes


def _adam(
    losses: list[Callable[[Arrays], float]], at: Arrays, clip: float, seen: int, first_rate: float
) -> Arrays:
    """The layers after `seen` steps: clipped gradients, moments 0.9 and 0.999, a cosine to zero."""
    mean, square = ({leaf: 0 * value for leaf, value in at.items()} for _ in range(2))
    for t, loss in enumerate(losses[:seen]):
        slopes = _slopes(loss, at)
        norm = np.sqrt(sum((slope**2).sum() for slope in slopes.values()))
        rate = first_rate * (1 + np.cos(np.pi * t / len(losses))) / 2
        for leaf, slope in slopes.items():
            own = slope * min(1.0, clip / norm)
            mean[leaf] = 0.9 * mean[leaf] + 0.1 * own
            square[leaf] = 0.999 * square[leaf] + 0.001 * own**2
            long = np.sqrt(square[leaf] / (1 - 0.999 ** (t + 1))) + 1e-8
            at = {**at, leaf: at[leaf] - rate * mean[leaf] / (1 - 0.9 ** (t + 1)) / long}
    return {leaf: np.abs(value) if leaf == "theta" else value for leaf, value in at.items()}


def _starts(X: np.ndarray) -> dict[str, Arrays]:
    """Where each network starts; LISTA-CP as ISTA on X. One threshold is below zero: |theta| is
    what counts."""
    theta, numbers = np.array([0.2, -0.15]), np.array([0.9, 0.6])
    return {
        "alista": {"gamma": numbers, "theta": theta},
        "lista-block": {"M": 0.8 * numbers, "theta": theta},
        "lista-cp": {"W": np.stack([X / np.linalg.norm(X, 2) ** 2] * LAYERS), "theta": theta}}


@experiment("sparse-recovery.training-by-hand")
def training_by_hand(
    key: Any, *, clip_factor: float = 1.0, rate: float = RATE, normed: bool = True
) -> xarray.Dataset:
    """Layers of three networks, two of each, after three and after five steps of training (ALISTA
    and block thresholds on ever new matrices, LISTA-CP on one for each of the two), weighed entry
    by entry, by the study and by Adam in NumPy, whose gradients are clipped at `clip_factor` times
    CLIPS (those of block thresholds are not clipped) and which begins with `rate`; and the layers
    every algorithm starts with, which by hand know L if `normed`."""
    task = SparseRecovery.create(4, 3, 2, 0.2)
    matrix_key, train_key = jax.random.split(key)
    keys, matrices = jax.random.split(train_key), np.asarray(task.matrices(matrix_key, 2))
    made, plain = [], []
    for name in NETWORKS:
        own, by_hand = _both_trained(name, task, keys, matrices, clip_factor * CLIPS[name], rate)
        made += own
        plain += by_hand
    norms = [float(np.linalg.norm(X, 2)) ** 2 if normed else 1.0 for X in matrices]
    for lam, threshold, step in ((0.7, 0.3, 0.6), (0.1, 0.1, None)):
        told = {"lam": lam, "threshold": threshold, "step": step} if step else {}
        starts = {
            name: one.start(layers=LAYERS, X=matrices[0], **told)
            for name, one in ALGORITHMS.items()}
        by_hand = _first_layers(matrices[0], norms[0], lam, threshold, step)
        made.append(sum(_weighed(starts[name], by_hand[name]) for name in by_hand))
        plain.append(sum(_repeated(own) for own in by_hand.values()))
    both = learning.start_layers("lista", LAYERS, 2, matrices, threshold=0.3)
    made.append(_of_both([{leaf: both[leaf][seed] for leaf in both} for seed in (0, 1)], both))
    lista = [_first_layers(*pair, 0.1, 0.3, None)["lista"] for pair in zip(matrices, norms)]
    plain.append(_repeated(lista[0]) + 2 * _repeated(lista[1]))
    return xarray.Dataset({"made": ("what", made), "plain": ("what", plain)})


def _both_trained(
    name: str, task: SparseRecovery, keys: Any, matrices: np.ndarray, clip: float, rate: float
) -> tuple[list[float], list[float]]:
    """One number for two networks after three steps and after all, by the study and by hand."""
    one_matrix = name == "lista-cp"
    starts = [
        {leaf: value.astype(np.float32) for leaf, value in _starts(X)[name].items()}
        for X in matrices]
    fixed = {"groups": np.stack([np.repeat(np.eye(2), 2, axis=0)] * LAYERS).astype(np.float32)}
    trained = learning.train(
        name, task, keys, {leaf: np.stack([one[leaf] for one in starts]) for leaf in starts[0]},
        Recipe(STEPS, BATCH, RATE, CLIPS[name]), matrices if one_matrix else None, (3,),
        fixed if name == "lista-block" else None, block=2)
    made, plain = [], []
    losses = [
        _losses(name, task, own, X if one_matrix else None)
        for own, X in zip(keys, matrices.astype(np.float32), strict=True)]
    for place, seen in enumerate((3, STEPS)):
        ends = [
            _adam(
                of, {leaf: value.astype(float) for leaf, value in start.items()}, clip, seen, rate)
            for of, start in zip(losses, starts, strict=True)]
        made.append(_of_both([trained.at(place, seed) for seed in (0, 1)], starts[0]))
        plain.append(_of_both(ends, starts[0]))
    return made, plain


def _losses(
    name: str, task: SparseRecovery, key: Any, X: np.ndarray | None
) -> list[Callable[[Arrays], float]]:
    """The loss of every step."""
    return [
        lambda layers, problem=problem: _loss(name, layers, *problem)
        for problem in _drawn(task, key, X)]


def _repeated(layer: Arrays) -> float:
    """One number for as many layers of which this is one."""
    return _weighed({leaf: np.stack([value] * LAYERS) for leaf, value in layer.items()}, layer)


def _of_both(layers: list[Any], names: Any) -> float:
    """One number for the layers of two networks, of which the second counts twice."""
    return _weighed(layers[0], names) + 2 * _weighed(layers[1], names)


def _first_layers(
    X: np.ndarray, largest: float, lam: float, threshold: float, step: float | None
) -> dict[str, Arrays]:
    """A layer of each algorithm before training, ISTA on X where its weights know a matrix."""
    theta, W = np.array(threshold), X / largest
    penalised, plain = {"lam": np.array(lam)}, np.array(step or 1.0)
    by_rows = {"M": np.array(step or 0.4), "theta": theta}
    return {
        "ista": penalised, "fista": penalised, "cd": penalised,
        "lista": {"W1": W.T, "W2": np.eye(X.shape[1]) - W.T @ X, "theta": theta},
        "lista-cp": {"W": W, "theta": theta}, "alista": {"gamma": plain, "theta": theta},
        "lista-vm": by_rows, "lista-block": by_rows,
        "lista-adaptive": {"gamma": plain, "theta": theta}}


def _drawn(task: SparseRecovery, key: Any, X: np.ndarray | None) -> list[tuple[np.ndarray, ...]]:
    """The problems of every step: its key is the second half of the split of what is left."""
    problems = []
    for _ in range(STEPS):
        key, draw = jax.random.split(key)
        sample = (
            task.sample(draw, BATCH, dtype=np.float32) if X is None
            else task.sample_on(draw, X, BATCH))
        problems.append(
            tuple(np.asarray(part, float) for part in (sample.X, sample.y, sample.beta)))
    return problems


def _weighed(layers: Any, names: Any) -> float:
    """One number for all entries: every place has a weight of its own."""
    flat = np.concatenate([np.ravel(np.asarray(layers[leaf], float)) for leaf in sorted(names)])
    return float(flat @ np.sqrt(np.arange(1.0, len(flat) + 1)))


def _with_layers(model: Any, places: list[int]) -> Any:
    """The model with these of its layers, one after the other."""
    layers = jax.tree.map(lambda leaf: np.asarray(leaf)[places], model.layers)
    return replace(model, layers=layers, config=replace(model.config, layers=len(places)))


def _prompt(X: np.ndarray, y: np.ndarray, query: np.ndarray, padded: bool) -> np.ndarray:
    """x- and y-tokens in turn, the query last: [x; 0; 0; 1] and [x; y; 0; 0], or x and (y, 0, ..)
    where `padded`."""
    none, tokens = [0.0] * len(query), []
    for x, value in zip([*X, query], [*y, None], strict=True):
        tokens.append([*x] if padded else [*x, 0.0, *none, 1.0])
        if value is not None:
            tokens.append([value, *none[1:]] if padded else [*x, value, *none, 0.0])
    return np.array(tokens)


DECODERS = ("softmax", "small", "gpt2")
_said = eqx.filter_jit(lambda model, tokens: model(tokens))
_estimation_loss, _label_loss = map(eqx.filter_jit, (decoders.estimation_loss, decoders.label_loss))


@experiment("sparse-recovery.decoders-by-hand")
def decoders_by_hand(
    key: Any, *, misread: bool = False, rate: float = 3e-3, first: int = 0, together: int = 3
) -> xarray.Dataset:
    """Losses of three random decoders, what one of them reads after its layer 0, 1, and 2, and with
    its last layer used twice more, the steps of its optimiser, how many of a batch share the matrix
    of the one before, and the batches of a step; by the study and by hand. `misread` gives the hand
    the values of the next task and a prompt without query, `rate` is the hand's learning rate, the
    layers it goes through begin with `first`, and it takes `together` vectors to share a matrix and
    one batch a step fewer."""
    task = SparseRecovery.create(3, 4, 1, 0.3)
    sample = jax.tree.map(np.asarray, task.sample(key, 5))
    shown = np.roll(sample.y, 1, axis=0) if misread else sample.y
    recipes = [DecoderRecipe(name, 2, 50, 8, warmup=6) for name in DECODERS]
    models = [
        transformer.init_transformer(key, decoders.decoder_config(task, recipe))
        for recipe in recipes]
    pairs = np.concatenate([sample.X, shown[..., None]], axis=2)
    said = np.asarray(_said(models[0], pairs), float)
    wrong = [((said[:, n] - sample.beta) ** 2).sum(1) for n in range(said.shape[1])]
    made, plain = [float(_estimation_loss(models[0], sample))], [float(np.mean(wrong))]
    for model, padded in zip(models[1:], (False, True), strict=True):
        made.append(float(_label_loss(model, sample)))
        prompts = [
            _prompt(X, y, query, padded)
            for X, y, query in zip(sample.X, shown, sample.query, strict=True)]
        labels = np.concatenate([sample.y, sample.query_y[:, None]], axis=1)
        plain.append(
            float(np.mean((np.asarray(_said(model, np.stack(prompts)))[:, ::2, 0] - labels) ** 2)))
        said = np.asarray(_said(model, np.stack(prompts)), float)[:, ::2, 0]
        made.append(float(decoders.label_estimates(model, sample)[:, 1:].sum()))
        plain.append(float(said[:, 1:].sum()))
    made.append(float(models[2].config.positions))
    plain.append(2.0 * task.measurements + (not misread))
    places = np.sqrt(np.arange(1.0, 4.0))
    longer = decoders.with_repeated_last_layer(models[0], 2)
    read = decoders.layer_estimates(longer, sample.X, sample.y).sum(1) @ places
    used = [_with_layers(models[0], [first, 1, 1, 1][:depth]) for depth in (0, 1, 2, 4)]
    made += [*read[[0, 1, 2, 4]]]
    plain += [float((np.asarray(_said(model, pairs))[:, -1] @ places).sum()) for model in used]
    short = recipes[0]._replace(steps=WARMUP + FALLING, warmup=WARMUP)
    made.append(_moved(decoders.decoder_problem(task, short).optimiser))
    plain.append(_by_adam(rate))
    problem = decoders.decoder_problem(task, recipes[0]._replace(batch=12, vectors=3, accumulate=2))
    X = np.asarray(problem.batch(key, key, None).X)
    made += [float((X[1:] == X[:-1]).all((1, 2)).sum()), float(problem.accumulate)]
    plain += [float(sum(n % together != 0 for n in range(1, 12))), together - 1.0]
    made.append(_correlation(models[0].config, key))
    plain.append(1.0 if misread else 0.0)
    return xarray.Dataset({"made": ("what", made), "plain": ("what", plain)})


def _correlation(config: Any, key: Any) -> float:
    """Of the first queries, keys and values of the second and third of three decoders."""
    many = np.asarray(decoders.first_decoders(config, key, 3).layers.qkv)
    return float(np.corrcoef(many[1].ravel(), many[2].ravel())[0, 1])


SLOPES = (0.5, -0.3, 2.0, 0.7, -0.2, 0.4, -0.9, 0.3, 0.6, 0.2)
WARMUP, FALLING, LAST = 2, 6, 0.02


def _moved(optimiser: Any) -> float:
    """Where steps on SLOPES take a number."""
    at, state = np.zeros(()), jax.jit(optimiser.init)(np.zeros(()))
    step = jax.jit(optimiser.update)
    for slope in SLOPES:
        update, state = step(np.asarray(slope), state, at)
        at = at + np.asarray(update)
    return float(at)


def _by_adam(rate: float) -> float:
    """The same by hand: clipped at one, moments 0.9 and 0.98, a warm-up over two steps and a cosine
    over six down to a fiftieth, which stays."""
    at = mean = square = 0.0
    for t, slope in enumerate(SLOPES):
        own = slope * min(1.0, 1 / abs(slope))
        mean, square = 0.9 * mean + 0.1 * own, 0.98 * square + 0.02 * own**2
        long = np.sqrt(square / (1 - 0.98 ** (t + 1))) + 1e-8
        bent = (1 + np.cos(np.pi * min((t - WARMUP) / FALLING, 1.0))) / 2
        share = t / WARMUP if t < WARMUP else LAST + (1 - LAST) * bent
        at -= rate * share * mean / (1 - 0.9 ** (t + 1)) / long
    return at
