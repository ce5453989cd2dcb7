"""Transfer: online SGD on a new direction, one fresh sample a step, from attention already learned;
and logistic regression on the same stream.

The new task shares the relevant group and has its own v~. W~(0) = W(T*), v~(0) = 0. Learners:
    attention   W~ and v~ both move (the theorem's algorithm), or v~ alone (`freeze_attention`)
    logistic    logistic regression on the flattened input x in R^{dD}
The theorem bounds (1/n) sum_i P(y f(Z; W~(i), v~(i)) <= 0). Each sample is judged BEFORE it is
learned from, so the running fraction of mistakes is an unbiased estimate of that average; v~(0) = 0
gives f = 0, which counts as a mistake, as in the bound. Learners are compared on the same samples,
drawn once.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from saccade.studies.group_sparse.dynamics import follow
from saccade.studies.group_sparse.models import Parameters, Transformer, evaluate, tokens
from saccade.studies.group_sparse.task import GroupSparseSample, GroupSparseTask


class Learner(NamedTuple):
    """W~, v~ and the number of mistakes made so far; logistic regression keeps an empty W~."""

    attention: Float[Array, "token_dim token_dim"]
    value: Float[Array, " width"]
    mistakes: Float[Array, ""]


class TransferRun(NamedTuple):
    """errors[measure][count]: fraction of online mistakes, and error on held-out samples; v~ and W~
    after the last sample."""

    errors: Float[Array, "2 records"]
    value: Float[Array, " width"]
    attention: Float[Array, "token_dim token_dim"]


class Online(NamedTuple):
    """A learner at its start; `learn(learner, sample)` gives (W~, v~, f) after one fresh sample,
    `outputs(learner, X)` what it says of held-out ones."""

    start: Learner
    learn: Callable[[Learner, GroupSparseSample], Any]
    outputs: Callable[[Learner, Any], Any]


@partial(jax.jit, static_argnames=("freeze_attention", "test_samples"))
def transfer(
    key: PRNGKeyArray, task: GroupSparseTask, start: Transformer, step_sizes, factor,
    stops: Int[Array, " records"], freeze_attention: bool = True, freeze_position_value=False,
    test_samples: int = 2000,
) -> tuple[TransferRun, TransferRun]:
    """Fine-tuned attention and logistic regression, with a step size each, on one stream, recorded
    at the counts in `stops`.

    Traceable: vmap over keys and step sizes. Attention starts from W~(0) = W of `start`, v~(0) = 0
    and learns from `factor` * f (1: the paper's sum over queries; 1/D: their mean).
    `freeze_position_value` (which may be traced) keeps v~2 at zero, so that the length of the
    encodings is not paid for.
    """
    eta, flat_eta = step_sizes
    online = (
        _attention(task, start, eta, factor, freeze_attention, freeze_position_value),
        _logistic(task, flat_eta))
    stream_key, test_key = jax.random.split(key)
    test = task.sample(test_key, test_samples)

    def step(learners: tuple[Learner, ...], number) -> tuple[Learner, ...]:
        drawn = task.sample(jax.random.fold_in(stream_key, number), 1)
        moved = []
        for one, learner in zip(online, learners, strict=True):
            attention, value, output = one.learn(learner, drawn)
            wrong = drawn.y[0] * output <= 0
            moved.append(Learner(attention, value, learner.mistakes + wrong))
        return tuple(moved)

    def observe(learners: tuple[Learner, ...]):
        wrong = [
            test.y * one.outputs(learner, test.X) <= 0
            for one, learner in zip(online, learners, strict=True)]
        return [
            (learner.mistakes, jnp.mean(missed, dtype=float))
            for learner, missed in zip(learners, wrong, strict=True)]

    last, rows = follow(step, observe, tuple(one.start for one in online), stops)
    attention, logistic = (
        TransferRun(
            jnp.stack([mistakes / jnp.maximum(stops, 1), test_error]), learner.value,
            learner.attention)
        for (mistakes, test_error), learner in zip(rows, last.state, strict=True))
    return attention, logistic


def _attention(
    task: GroupSparseTask, start: Transformer, step_size, factor, freeze_attention: bool,
    freeze_position_value,
) -> Online:
    attention, width = start.parameters.attention[0], start.parameters.value.shape[0]
    moving = jnp.arange(width) < jnp.where(freeze_position_value, task.dim, width)

    def learn(learner: Learner, drawn: GroupSparseSample):
        rows = tokens(drawn.X, start.matrix)
        at = evaluate(rows, drawn.y, learner.attention, factor * learner.value)
        value = learner.value - step_size * factor * jnp.where(moving, at.grad_value, 0.0)
        turned = learner.attention - step_size * at.grad_attention_weights
        return learner.attention if freeze_attention else turned, value, at.output[0]

    def outputs(learner: Learner, X):
        hidden = start.parameters.hidden
        return start.at(Parameters(learner.attention[None], learner.value, hidden))(X)

    return Online(Learner(attention, jnp.zeros(width), jnp.asarray(0.0)), learn, outputs)


def _logistic(task: GroupSparseTask, step_size) -> Online:
    """Logistic regression on the flattened input, from zero."""

    def learn(learner: Learner, drawn: GroupSparseSample):
        row, y = drawn.X.reshape(-1), drawn.y[0]
        output = learner.value @ row
        value = learner.value + step_size * jax.nn.sigmoid(-y * output) * y * row
        return learner.attention, value, output

    def outputs(learner: Learner, X):
        return X.reshape(len(X), -1) @ learner.value

    zero = Learner(jnp.zeros((0, 0)), jnp.zeros(task.length * task.dim), jnp.asarray(0.0))
    return Online(zero, learn, outputs)
