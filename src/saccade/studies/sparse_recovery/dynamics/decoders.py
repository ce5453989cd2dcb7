"""Transformers trained from scratch on sparse recovery: which decoder, which prompt, which loss.

`softmax` and `relu` see one token per pair and estimate beta itself after each (the quadratic
read-out x^T beta_n averaged over an isotropic query is the error of beta_n, so no query has to be
drawn). `small` is the paper's decoder and `gpt2` the GPT-2-like one: they see x- and y-tokens in
turn and predict the label of every x-token. Each step draws new matrices, so every test matrix is
unseen.
"""

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from saccade.errors import require, unknown
from saccade.networks import transformer
from saccade.networks.training import Problem, Trained, adam_with_cosine, train
from saccade.networks.transformer import Transformer
from saccade.networks.transformer.layers import one_layer
from saccade.studies.sparse_recovery.models import constructed as prompts
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

ON_PAIRS = ("softmax", "relu")
ARCHITECTURES = (*ON_PAIRS, "small", "gpt2")
# what one compiled call trains on: long enough to be fast, short enough to report progress
INSTANCES_A_CHUNK = 3200
RECORDS = 10


class DecoderRecipe(NamedTuple):
    """`accumulate` batches a step, of `batch` instances, `vectors` of them with one matrix."""

    architecture: str = "softmax"
    layers: int = 4
    steps: int = 5000
    batch: int = 64
    vectors: int = 1
    accumulate: int = 1
    learning_rate: float = 3e-3
    warmup: int = 100


def decoder_config(task: SparseRecovery, recipe: DecoderRecipe) -> transformer.TransformerConfig:
    """The transformer of a recipe for a task."""
    if recipe.architecture not in ARCHITECTURES:
        raise unknown("architecture", recipe.architecture, ARCHITECTURES)
    if recipe.architecture in ON_PAIRS:
        return transformer.pair_decoder(task.dim, recipe.layers, recipe.architecture)
    if recipe.architecture == "small":
        return transformer.small_decoder(task.dim, recipe.layers)
    return transformer.gpt2_decoder(task.dim, 2 * task.measurements + 1, layers=recipe.layers)


@cache
def decoder_problem(task: SparseRecovery, recipe: DecoderRecipe) -> Problem:
    """What a decoder is trained on; one object for the same arguments, so seeds share a program."""
    require(recipe.batch >= 1, "batch", recipe.batch, "must be at least 1")
    rate = recipe.learning_rate
    require(rate > 0, "learning_rate", rate, "must be above 0")

    def batch(key: Array, step: Array, data: Any) -> RecoverySample:
        return task.sample(key, recipe.batch, recipe.vectors, jnp.float32)

    loss = estimation_loss if recipe.architecture in ON_PAIRS else label_loss
    optimiser = optax.chain(adam_with_cosine(1.0, recipe.steps, recipe.warmup), _times(rate))
    return Problem(loss, batch, optimiser, accumulate=recipe.accumulate)


def _times(rate: float) -> optax.GradientTransformation:
    """Steps times a number that is state, not code: all learning rates share a compiled program."""

    def init(params: Any) -> Any:
        return jnp.asarray(rate, jnp.float32)

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        return jax.tree.map(lambda leaf: state * leaf, updates), state

    return optax.GradientTransformation(init, update)


def train_decoder(
    task: SparseRecovery, recipe: DecoderRecipe, key: Array, name: str, measure=None
) -> Trained:
    """Train from random weights; `measure(model)` is recorded RECORDS times on the way."""
    start_key, train_key = jax.random.split(key)
    model = transformer.init_transformer(start_key, decoder_config(task, recipe))
    sizes = {
        size: getattr(task, size) for size in ("dim", "measurements", "sparsity", "pool", "block")}
    return train(
        decoder_problem(task, recipe), model, train_key, recipe.steps,
        chunk=max(1, INSTANCES_A_CHUNK // (recipe.batch * recipe.accumulate)), measure=measure,
        measure_every=-(-recipe.steps // RECORDS), name=name,
        about={**recipe._asdict(), **sizes, "pool": list(task.pool)})


def side_by_side(problem: Problem, models: int) -> Problem:
    """The same training of several models at once, stacked along a leading axis: each has its own
    batches, gradients, moments and clipping. The loss is the sum of theirs."""

    def batch(key: Array, step: Array, data: Any) -> Any:
        return jax.vmap(lambda one: problem.batch(one, step, data))(jax.random.split(key, models))

    def loss(stacked: Any, batches: Any) -> Array:
        return eqx.filter_vmap(problem.loss)(stacked, batches).sum()

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        return jax.vmap(problem.optimiser.update)(updates, state, params)

    optimiser = optax.GradientTransformation(jax.vmap(problem.optimiser.init), update)
    return Problem(loss, batch, optimiser, problem.data, problem.accumulate)


def train_decoders(
    task: SparseRecovery, recipe: DecoderRecipe, key: Array, models: int
) -> tuple[list[Transformer], list[Transformer]]:
    """As many decoders before and after training, side by side in one program."""
    start_key, train_key = jax.random.split(key)
    stacked = first_decoders(decoder_config(task, recipe), start_key, models)
    problem = side_by_side(decoder_problem(task, recipe), models)
    ended = train(problem, stacked, train_key, recipe.steps, chunk=recipe.steps, name="decoders")
    return _one_by_one(stacked, models), _one_by_one(ended.model, models)


def first_decoders(
    config: transformer.TransformerConfig, start_key: Array, models: int
) -> Transformer:
    """As many decoders with random weights of their own, stacked along a leading axis."""
    starts = jax.random.split(start_key, models)
    return eqx.filter_vmap(lambda one: transformer.init_transformer(one, config))(starts)


def _one_by_one(stacked: Transformer, models: int) -> list[Transformer]:
    arrays, rest = eqx.partition(stacked, eqx.is_array)
    arrays = jax.tree.map(np.asarray, arrays)
    return [
        eqx.combine(jax.tree.map(lambda leaf, place=place: leaf[place], arrays), rest)
        for place in range(models)]


def estimation_loss(model: Transformer, sample: RecoverySample) -> Array:
    """Mean over prefixes n = 1..N of |beta_n - beta|^2."""
    estimated = model(prompts.pair_tokens(sample.X, sample.y))
    return jnp.mean(jnp.sum((estimated - sample.beta[:, None]) ** 2, axis=-1))


def label_loss(model: Transformer, sample: RecoverySample) -> Array:
    """Mean over the x-tokens of (prediction - label)^2: the pairs in turn, the query last."""
    labels = jnp.concatenate([sample.y, sample.query_y[:, None]], axis=1)
    return jnp.mean((predicted_labels(model, sample) - labels) ** 2)


def predicted_labels(model: Transformer, sample: RecoverySample) -> Float[Array, "sample prefix"]:
    """The label of each x-token from the pairs before it, for a decoder of x- and y-tokens."""
    X = jnp.concatenate([sample.X, sample.query[:, None]], axis=1)
    padded = model.config.features == X.shape[-1]
    tokens = (prompts.zero_padded_tokens if padded else prompts.paper_tokens)(X, sample.y)
    return model(tokens)[:, ::2, 0]


def label_estimates(
    model: Transformer, sample: RecoverySample
) -> Float[np.ndarray, "sample prefix"]:
    """The predicted labels of a sample of any precision, in double precision."""
    single = {name: np.asarray(getattr(sample, name), np.float32) for name in ("X", "y", "query")}
    return np.asarray(_labels(model, sample._replace(**single)), float)


def estimates(model: Transformer, X, y) -> Float[np.ndarray, "sample prefix dim"]:
    """beta_n for every prefix n = 1..rows of X."""
    return np.asarray(_estimates(model, _single(X, y)), float)


def layer_estimates(model: Transformer, X, y) -> Float[np.ndarray, "depth sample dim"]:
    """The read-out of the last token after the read-in (0) and after each layer."""
    return np.asarray(_layer_estimates(model, _single(X, y)), float)


def _single(X, y) -> Float[np.ndarray, "sample row dim+1"]:
    """The prompt of pairs in single precision."""
    X, y = np.asarray(X, np.float32), np.asarray(y, np.float32)
    return np.concatenate([X, y[..., None]], axis=-1)


_labels = eqx.filter_jit(predicted_labels)
_estimates = eqx.filter_jit(lambda model, tokens: model(tokens))


@eqx.filter_jit
def _layer_estimates(model: Transformer, tokens) -> Float[Array, "depth sample dim"]:
    def layer(state, weights):
        state = one_layer(model.config, weights, state, model.positions)
        return state, model.read(state)[:, -1]

    start = model._start(tokens)
    read = jax.lax.scan(layer, start, model.layers)[1]
    return jnp.concatenate([model.read(start)[None, :, -1], read])


def with_repeated_last_layer(model: Transformer, times: int) -> Transformer:
    """The model with its last layer used `times` more times."""
    longer = jax.tree.map(
        lambda leaf: np.concatenate([leaf, np.repeat(np.asarray(leaf)[-1:], times, axis=0)]),
        model.layers)
    config = replace(model.config, layers=model.config.layers + times)
    return replace(model, config=config, layers=longer)
