"""Transfer: online SGD on a new direction, one fresh sample a step, from attention already learned;
and logistic regression on the same stream.

The new task shares the relevant group and has its own v~. W~(0) = W(T*), v~(0) = 0. Learners:
    attention          W~ and v~ both move (the theorem's algorithm), or v~ alone when
    `freeze_attention` logistic           logistic regression on the flattened input x in R^{dD}
The theorem bounds (1/n) sum_i P(y f(Z; W~(i), v~(i)) <= 0). Each sample is judged BEFORE it is
learned from, so the running fraction of mistakes is an unbiased estimate of that average; v~(0) = 0
gives f = 0, which counts as a mistake, as in the bound. Equal keys give equal streams: learners are
compared on the same samples.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from saccade.studies.group_sparse.dynamics.recording import follow
from saccade.studies.group_sparse.models.explicit import evaluate
from saccade.studies.group_sparse.models.layer import tokens
from saccade.studies.group_sparse.task import GroupSparseTask


class Learner(NamedTuple):
    """W~, v~ and the number of mistakes made so far; logistic regression keeps an empty W~."""

    attention: Float[Array, "token_dim token_dim"]
    value: Float[Array, " width"]
    mistakes: Float[Array, ""]


class TransferRun(NamedTuple):
    """At every recorded sample count: fraction of online mistakes, and error on held-out
    samples."""

    online_error: Float[Array, " records"]
    test_error: Float[Array, " records"]
    diverged_at: Int[Array, ""]
    value: Float[Array, " width"]


def _stream(key: PRNGKeyArray, task: GroupSparseTask, test_samples: int):
    """(sample number -> one fresh sample, a held-out batch) of one key."""
    stream_key, test_key = jax.random.split(key)
    return lambda number: task.sample(jax.random.fold_in(stream_key, number), 1), task.sample(
        test_key, test_samples)


@partial(jax.jit, static_argnames=("freeze_attention", "freeze_position_value", "test_samples"))
def transfer_attention(
    key: PRNGKeyArray, task: GroupSparseTask, matrix: Float[Array, "encoding_dim groups"],
    attention: Float[Array, "token_dim token_dim"], step_size, output_scale,
    stops: Int[Array, " records"], freeze_attention: bool = True,
    freeze_position_value: bool = False, test_samples: int = 2000,
) -> TransferRun:
    """Online SGD from W~(0) = `attention`, v~(0) = 0 on `output_scale` * f (1: the paper's sum over
    queries; 1/D: their mean).

    `stops` are the recorded counts. Traceable: vmap over
    keys and step sizes. `freeze_position_value` keeps v~2 at zero, so that the length of the
    encodings is not paid for.
    """
    moving = jnp.arange(attention.shape[0]) < (
        task.dim if freeze_position_value else attention.shape[0])
    draw, test = _stream(key, task, test_samples)
    test_tokens = tokens(test.X, matrix)

    def step(learner: Learner, number) -> Learner:
        drawn = draw(number)
        at = evaluate(
            tokens(drawn.X, matrix), drawn.y, learner.attention, output_scale * learner.value)
        value = learner.value - step_size * output_scale * jnp.where(moving, at.grad_value, 0.0)
        moved = (
            learner.attention if freeze_attention
            else learner.attention - step_size * at.grad_attention_weights)
        return Learner(moved, value, learner.mistakes + (drawn.y[0] * at.output[0] <= 0))

    def observe(learner: Learner):
        at = evaluate(test_tokens, test.y, learner.attention, learner.value)
        return learner.mistakes, jnp.mean(test.y * at.output <= 0, dtype=float)

    start = Learner(attention, jnp.zeros(attention.shape[0]), jnp.asarray(0.0))
    return _finish(follow(step, observe, start, stops), stops)


@partial(jax.jit, static_argnames=("test_samples",))
def transfer_logistic(
    key: PRNGKeyArray, task: GroupSparseTask, step_size, stops: Int[Array, " records"],
    test_samples: int = 2000,
) -> TransferRun:
    """Online SGD of logistic regression on the flattened input, from zero, on the same stream as
    `transfer_attention`."""
    draw, test = _stream(key, task, test_samples)
    test_rows = test.X.reshape(test_samples, -1)

    def step(learner: Learner, number) -> Learner:
        drawn = draw(number)
        row, label = drawn.X.reshape(-1), drawn.y[0]
        margin = label * (learner.value @ row)
        value = learner.value + step_size * jax.nn.sigmoid(-margin) * label * row
        return Learner(learner.attention, value, learner.mistakes + (margin <= 0))

    def observe(learner: Learner):
        wrong = test.y * (test_rows @ learner.value) <= 0
        return learner.mistakes, jnp.mean(wrong, dtype=float)

    start = Learner(jnp.zeros((0, 0)), jnp.zeros(task.length * task.dim), jnp.asarray(0.0))
    return _finish(follow(step, observe, start, stops), stops)


def _finish(ended, stops) -> TransferRun:
    last, (mistakes, test_error) = ended
    return TransferRun(
        mistakes / jnp.maximum(stops, 1), test_error, last.diverged_at, last.state.value)
