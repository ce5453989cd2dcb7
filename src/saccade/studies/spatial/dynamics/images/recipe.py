"""How a network is trained on images: the numbers of a recipe, its optimiser and its loss."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from saccade.errors import require

DECAYED = (
    "read_in", "qkv", "projection", "first", "second", "read_out", "kernels", "stem", "short")
ENCODINGS = "positions"


@dataclass(frozen=True)
class Recipe:
    """AdamW with warm-up and a cosine; flips and shifts; label smoothing.

    learning_rate  its peak; `position_rate` times that for the encodings P, which are not decayed
    warmup, last   share of the steps that warm up; share of the peak at the end
    flip, shift    left-right flips with chance 1/2, moves by up to `shift` pixels each way
    """

    learning_rate: float = 2e-3
    epochs: int = 6
    batch: int = 128
    warmup: float = 0.05
    last: float = 0.01
    decay: float = 0.05
    smoothing: float = 0.1
    clip: float = 1.0
    position_rate: float = 5.0
    flip: bool = True
    shift: int = 2

    def __post_init__(self) -> None:
        require(self.learning_rate > 0, "learning_rate", self.learning_rate, "must be above 0")
        for name in ("epochs", "batch"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "must be at least 1")
        require(0 <= self.smoothing < 1, "smoothing", self.smoothing, "must lie in [0, 1)")
        require(0 <= self.warmup < 1, "warmup", self.warmup, "must lie in [0, 1)")

    def steps(self, images: int) -> int:
        """Whole batches only: what is left over of an epoch is dropped."""
        per_epoch = images // self.batch
        require(
            per_epoch >= 1, "batch", self.batch,
            f"must be at most the number of training images, {images}")
        return self.epochs * per_epoch


def optimiser(recipe: Recipe, steps: int) -> optax.GradientTransformation:
    """AdamW, -rate (Adam + decay * weight), where matrices are decayed, and encodings move
    `position_rate` times as fast."""
    warmup = round(recipe.warmup * steps)
    peak = recipe.learning_rate
    schedule = optax.warmup_cosine_decay_schedule(
        0.0 if warmup else peak, peak, warmup, steps, recipe.last * peak)
    return optax.chain(
        optax.clip_by_global_norm(recipe.clip), optax.scale_by_adam(b1=0.9, b2=0.98, eps=1e-8),
        optax.add_decayed_weights(
            recipe.decay, mask=lambda tree: _by_name(tree, lambda names: names[0] in DECAYED)),
        optax.masked(
            optax.scale(recipe.position_rate),
            lambda tree: _by_name(tree, lambda names: names[0] == ENCODINGS)),
        optax.scale_by_learning_rate(schedule))


def _by_name(tree: Any, chosen: Callable[[list[str]], bool]) -> Any:
    """True at the arrays whose own name (numbers in lists aside) is chosen."""

    def of(path: tuple[Any, ...], leaf: Any) -> bool:
        names = [entry.name for entry in reversed(path) if hasattr(entry, "name")]
        return chosen(names)

    return jax.tree_util.tree_map_with_path(of, tree)


def smoothed_loss(smoothing: float) -> Callable[[Any, tuple[Array, Array]], Array]:
    """Mean cross-entropy against (1 - smoothing) one-hot + smoothing / classes."""

    def loss(model: Any, batch: tuple[Array, Int[Array, " n"]]) -> Array:
        inputs, labels = batch
        logs: Float[Array, "n classes"] = jax.nn.log_softmax(model(inputs), axis=-1)
        true = jnp.take_along_axis(logs, labels[:, None], axis=1)[:, 0]
        return -jnp.mean((1 - smoothing) * true + smoothing * logs.mean(axis=1))

    return loss
