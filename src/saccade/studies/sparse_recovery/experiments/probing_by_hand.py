"""What looks into decoders, beside plain versions of it: states after each layer, linear probes,
and the nearest LISTA-VM layer where it is known."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.networks.transformer import init_transformer
from saccade.studies.sparse_recovery.dynamics import decoders, probing
from saccade.studies.sparse_recovery.dynamics.decoders import DecoderRecipe
from saccade.studies.sparse_recovery.task import SparseRecovery

GROUPS = 4
_said = eqx.filter_jit(lambda model, tokens: model(tokens))


def _read_states(key: Any, skipped: int) -> tuple[np.ndarray, np.ndarray]:
    """What the read-out makes of the states of the last token, and what decoders with the first
    layers alone say there."""
    task = SparseRecovery.create(3, 4, 1, 0.3)
    sample = task.sample(key, 5)
    model = init_transformer(key, decoders.decoder_config(task, DecoderRecipe("softmax", 2)))
    tokens = np.concatenate([sample.X, np.asarray(sample.y)[..., None]], axis=2)
    states = probing.layer_states(model, tokens)
    made = [np.asarray(model.read(state[:, None])[:, 0], float) for state in states]
    plain = []
    for depth in range(3):
        layers = jax.tree.map(
            lambda leaf, depth=depth: np.asarray(leaf)[skipped : skipped + depth], model.layers)
        short = replace(model, layers=layers, config=replace(model.config, layers=depth))
        plain.append(np.asarray(_said(short, tokens), float)[:, -1])
    return np.stack(made), np.stack(plain)


def _probes(random: np.random.Generator, penalty: float) -> tuple[list[float], list[float]]:
    """What a probe says, weighed entry by entry, and the shares it explains; by hand ridge
    regression is least squares with further rows, shares are sums over problems."""
    states = random.standard_normal((48, 5)) @ random.standard_normal((5, 5)) + 1.5
    targets = states[:, :2] + 0.4 * random.standard_normal((48, 2)) - 0.7
    said = probing.probe(states, targets)
    shares = probing.explained(said, targets, GROUPS)
    seen, known = states[:24] - states[:24].mean(0), targets[:24] - targets[:24].mean(0)
    ridge = penalty * np.sum(seen**2) / 5
    rows = np.concatenate([seen, np.sqrt(ridge) * np.eye(5)])
    weights = np.linalg.lstsq(rows, np.concatenate([known, np.zeros((5, 2))]), rcond=None)[0]
    by_hand = (states[24:] - states[:24].mean(0)) @ weights + targets[:24].mean(0)
    true, place = targets[24:], np.sqrt(np.arange(1.0, 49)).reshape(24, 2)
    parts = [slice(6 * group, 6 * group + 6) for group in range(GROUPS)]
    plain = [
        1 - np.sum((by_hand[part] - true[part]) ** 2) / np.sum((true[part] - true.mean(0)) ** 2)
        for part in parts]
    return [float(np.sum(place * said)), *shares], [float(np.sum(place * by_hand)), *plain]


def _near(random: np.random.Generator, hard: bool) -> tuple[np.ndarray, np.ndarray]:
    """Moves of a known LISTA-VM layer (of one that is `hard`, keeping what passes its threshold
    whole) and noise: shares that are left, and those of the noise."""
    tasks, rows, dim = 400, 3, 4
    X, before = random.standard_normal((tasks, rows, dim)), random.standard_normal((tasks, dim))
    y = np.einsum("snd,sd->sn", X, random.standard_normal((tasks, dim)))
    M = 0.6 * np.eye(dim) + 0.2 * random.standard_normal((dim, dim))
    theta = np.array([0.1, 0.4, 0.2, 0.6])
    after = []
    for matrix, b, values in zip(X, before, y, strict=True):
        u = b - M @ matrix.T @ (matrix @ b - values) / (2 * rows + 1)
        after.append(np.where(np.abs(u) > theta, u - (not hard) * np.sign(u) * theta, 0))
    exact = np.array(after)
    noise = 0.1 * random.standard_normal(exact.shape)
    left = probing.left_by_vm(before, exact + noise, X, y, GROUPS)
    late = slice(tasks // 2, None)
    moved, size = (exact + noise - before)[late] ** 2, noise[late] ** 2
    return left, size.reshape(GROUPS, -1).sum(1) / moved.reshape(GROUPS, -1).sum(1)


@experiment("sparse-recovery.probing-by-hand")
def probing_by_hand(
    key: Any, *, skipped: int = 0, penalty: float = 1e-3, hard: bool = False
) -> xarray.Dataset:
    """States, probes and nearest layers by the study and by hand; by hand the first `skipped`
    layers are left out, probes have the ridge `penalty`, and moves are those of soft or of `hard`
    thresholds."""
    states, probe, near = (jax.random.fold_in(key, number) for number in range(3))
    made, plain = _read_states(states, skipped)
    random = np.random.default_rng(np.asarray(jax.random.key_data(probe)).tolist())
    said, by_hand = _probes(random, penalty)
    random = np.random.default_rng(np.asarray(jax.random.key_data(near)).tolist())
    left, noise = _near(random, hard)
    return xarray.Dataset({
        "states_off": ("depth", np.abs(made - plain).max(axis=(1, 2))), "made": ("part", said),
        "plain": ("part", by_hand), "left": ("group", left), "noise": ("group", noise)})
