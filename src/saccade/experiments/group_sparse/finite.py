"""Finite samples: descent from scratch on one fixed sample, against screening on the same draws; and real images in one patch."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.dynamics import group_sparse as dynamics
from saccade.dynamics.convex import fit_readout
from saccade.experiments.group_sparse.compiling import QUICKLY
from saccade.lab.experiment import experiment
from saccade.models.group_sparse import PAPER_LAYER, Encoding, attention_maps, encoding, output, screen, tokens, zeros
from saccade.tasks.group_sparse import GroupSparseBatch, GroupSparseTask, group_sparse_task


@partial(jax.jit, static_argnames=("samples",), compiler_options=QUICKLY)
def _from_scratch(keys: Any, task: GroupSparseTask, made: Encoding, step_size: Any, gaps: Any, samples: int) -> Any:
    """For each key: a fixed sample, full-batch descent on it, what screening says of it, and the training loss at the end."""

    def one(key: Any) -> Any:
        data_key, run_key = jax.random.split(key)
        data = task.sample(data_key, samples)
        start = zeros(task.group_dim + made.matrix.shape[0])
        progress, seen = dynamics.full_run(
            run_key, task, made.matrix, start, step_size, gaps, data, architecture=PAPER_LAYER, batch=1, held_out=500
        )
        read = output(progress.state, PAPER_LAYER, tokens(data.inputs, made.matrix))
        train = jnp.mean(jax.nn.softplus(-data.labels * read))
        return seen.attention[-1, 0], seen.error[-1], train, screen(data.inputs, data.labels).best

    return jax.lax.map(one, keys)


@experiment(
    "group-sparse.from-scratch", scales={"standard": {"draws": 200, "samples": (16, 32, 64, 128, 256), "steps": 400}}
)
def from_scratch(
    key: Any,
    *,
    groups: int = 16,
    group_dim: int = 8,
    relevant: int = 5,
    samples: tuple[int, ...] = (32,),
    step_size: float = 0.05,
    steps: int = 80,
    draws: int = 40,
    informative: bool = True,
) -> xarray.Dataset:
    """Whether the layer trained on n samples, and screening on the same samples, rank the relevant group first (`informative`
    False replaces the labels by those of another group)."""
    task, made = group_sparse_task(groups, group_dim, relevant=relevant if informative else 0), encoding("sine", groups)
    plan = dynamics.plan_record(steps, None)
    rows = []
    for number, count in enumerate(samples):
        keys = jax.random.split(jax.random.fold_in(key, number), draws)
        rows.append([np.asarray(part) for part in _from_scratch(keys, task, made, step_size, plan.gaps, count)])
    attention, error, train, best = (np.stack(parts) for parts in zip(*rows, strict=True))
    axes = ("samples", "draw")
    return xarray.Dataset(
        {
            "layer_finds": (axes, (attention.argmax(-1) == relevant).astype(float)),
            "screening_finds": (axes, (best == relevant).astype(float)),
            "attention": (axes, attention[..., relevant]),
            "test_error": (axes, error),
            "train_loss": (axes, train),
        },
        {"samples": list(samples)},
    )


def patched(images: np.ndarray, labels: np.ndarray, groups: int, relevant: int, key: Any) -> GroupSparseBatch:
    """Each image, centred and scaled to unit variance, as one patch among patches of Gaussian noise: X[sample][pixel][patch]."""
    centred = (images - images.mean()) / images.std()
    noise = np.array(jax.random.normal(key, (len(images), images.shape[1], groups)))
    noise[:, :, relevant] = centred
    return GroupSparseBatch(jnp.asarray(noise), jnp.asarray(labels, float), jnp.asarray(relevant))


def digits(pair: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The 8 x 8 digits of two classes from scikit-learn, flattened, with labels -1 and +1."""
    from sklearn.datasets import load_digits

    bunch: Any = load_digits()
    chosen = np.isin(bunch.target, pair)
    return bunch.data[chosen], np.where(bunch.target[chosen] == pair[1], 1.0, -1.0)


def cifar10(folder: str, pair: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """CIFAR-10 images of two classes from the binary files data_batch_*.bin of a local folder (3073 bytes a record)."""
    from pathlib import Path

    files = sorted(Path(folder).glob("data_batch_*.bin"))
    if not files:
        from saccade.errors import InvalidInput

        raise InvalidInput(f"folder = {folder!r} must hold CIFAR-10's binary files data_batch_*.bin.")
    records = np.concatenate([np.fromfile(path, np.uint8).reshape(-1, 3073) for path in files])
    chosen = records[np.isin(records[:, 0], pair)]
    return chosen[:, 1:].astype(float), np.where(chosen[:, 0] == pair[1], 1.0, -1.0)


@experiment("group-sparse.images", scales={"standard": {"repetitions": 40, "steps": 300, "samples": 200}})
def images(
    key: Any,
    *,
    pair: tuple[int, int] = (0, 1),
    folder: str | None = None,
    groups: int = 9,
    relevant: int = 4,
    samples: int = 120,
    step_size: float = 0.02,
    steps: int = 60,
    repetitions: int = 18,
    shuffled_patches: bool = False,
) -> xarray.Dataset:
    """Two classes of images, each in one patch among noise patches: attention and error of the layer, and of logistic regression on
    the flattened input. Digits by default; `folder` names CIFAR-10's binary files (frog 6 against airplane 0 is the paper's pair)."""
    pixels, labels = digits(pair) if folder is None else cifar10(folder, pair)
    made, plan = encoding("sine", groups), dynamics.plan_record(steps, None)
    task = group_sparse_task(groups, pixels.shape[1], relevant=relevant)
    shares, errors, baseline, maps = [], [], [], []
    for number in range(repetitions):
        order_key, noise_key, run_key = jax.random.split(jax.random.fold_in(key, number), 3)
        order = np.asarray(jax.random.permutation(order_key, len(pixels)))
        whole = patched(pixels[order], labels[order], groups, relevant, noise_key)
        if shuffled_patches:
            moved = np.random.default_rng(number).permuted(np.asarray(whole.inputs), axis=2)
            whole = GroupSparseBatch(jnp.asarray(moved), whole.labels, whole.relevant)
        train, test = (
            jax.tree.map(lambda leaf, cut=cut: leaf[cut] if leaf.ndim else leaf, whole)
            for cut in (slice(samples), slice(samples, None))
        )
        progress, _ = dynamics.full_run(
            run_key, task, made.matrix, zeros(pixels.shape[1] + groups), step_size, plan.gaps, train,
            architecture=PAPER_LAYER, batch=1, held_out=2,
        )  # fmt: skip
        seen = tokens(test.inputs, made.matrix)
        looks = np.asarray(attention_maps(progress.state, PAPER_LAYER, seen)[0].mean(axis=0))
        wrong = np.asarray(test.labels * output(progress.state, PAPER_LAYER, seen) <= 0)
        rows = np.asarray(whole.inputs).reshape(len(order), -1)
        fit = fit_readout(rows[:samples], np.asarray(train.labels), 1 / samples, tolerance=1e-6)
        shares.append(looks[relevant].mean())
        errors.append(wrong.mean())
        baseline.append(np.mean(np.asarray(test.labels) * (rows[samples:] @ fit.w + fit.b) <= 0))
        maps.append(looks)
    return xarray.Dataset(
        {
            "attention": ("repetition", np.array(shares)),
            "error": ("repetition", np.array(errors)),
            "logistic_error": ("repetition", np.array(baseline)),
            "map": (("key_group", "query_group"), np.mean(maps, axis=0)),
        }
    )
