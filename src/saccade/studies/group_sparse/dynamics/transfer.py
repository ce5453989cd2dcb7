"""Transfer: online SGD on a new direction, one fresh sample a step, from attention already learned;
and logistic regression on the same stream.

The new task shares the relevant group and has its own v~. W~(0) = W(T*), v~(0) = 0. Learners:
    attention   W~ and v~ both move (the theorem's algorithm), or v~ alone (`freeze_attention`)
    logistic    logistic regression on the flattened input x in R^{dD}
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

from saccade.studies.group_sparse.dynamics import follow
from saccade.studies.group_sparse.models import Parameters, Transformer, evaluate, tokens
from saccade.studies.group_sparse.task import GroupSparseTask


class Learner(NamedTuple):
    """W~, v~ and the number of mistakes made so far; logistic regression keeps an empty W~."""

    attention: Float[Array, "token_dim token_dim"]
    value: Float[Array, " width"]
    mistakes: Float[Array, ""]


class TransferRun(NamedTuple):
    """errors[measure][count]: fraction of online mistakes, and error on held-out samples."""

    errors: Float[Array, "2 records"]
    value: Float[Array, " width"]


def _run(key, task, test_samples: int, start: Learner, learn, outputs, stops) -> TransferRun:
    """`learn(learner, sample)` gives (W~, v~, f) after one fresh sample, `outputs(learner, X)` what
    the learner says of held-out ones."""
    stream_key, test_key = jax.random.split(key)
    test = task.sample(test_key, test_samples)

    def step(learner: Learner, number) -> Learner:
        drawn = task.sample(jax.random.fold_in(stream_key, number), 1)
        attention, value, output = learn(learner, drawn)
        return Learner(attention, value, learner.mistakes + (drawn.y[0] * output <= 0))

    def observe(learner: Learner):
        wrong = test.y * outputs(learner, test.X) <= 0
        return learner.mistakes, jnp.mean(wrong, dtype=float)

    last, (mistakes, test_error) = follow(step, observe, start, stops)
    errors = jnp.stack([mistakes / jnp.maximum(stops, 1), test_error])
    return TransferRun(errors, last.state.value)


@partial(jax.jit, static_argnames=("freeze_attention", "freeze_position_value", "test_samples"))
def transfer_attention(
    key: PRNGKeyArray, task: GroupSparseTask, start: Transformer, step_size, factor,
    stops: Int[Array, " records"], freeze_attention: bool = True,
    freeze_position_value: bool = False, test_samples: int = 2000,
) -> TransferRun:
    """Online SGD from W~(0) = W of `start`, v~(0) = 0 on `factor` * f (1: the paper's sum over
    queries; 1/D: their mean), recorded at the counts in `stops`.

    Traceable: vmap over keys and step sizes. `freeze_position_value` keeps v~2 at zero, so that the
    length of the encodings is not paid for.
    """
    attention, width = start.parameters.attention[0], start.parameters.value.shape[0]
    moving = jnp.arange(width) < (task.dim if freeze_position_value else width)

    def learn(learner: Learner, drawn):
        rows = tokens(drawn.X, start.matrix)
        at = evaluate(rows, drawn.y, learner.attention, factor * learner.value)
        value = learner.value - step_size * factor * jnp.where(moving, at.grad_value, 0.0)
        turned = learner.attention - step_size * at.grad_attention_weights
        return learner.attention if freeze_attention else turned, value, at.output[0]

    def outputs(learner: Learner, X):
        hidden = start.parameters.hidden
        return start.at(Parameters(learner.attention[None], learner.value, hidden))(X)

    zero = Learner(attention, jnp.zeros(width), jnp.asarray(0.0))
    return _run(key, task, test_samples, zero, learn, outputs, stops)


@partial(jax.jit, static_argnames=("test_samples",))
def transfer_logistic(
    key: PRNGKeyArray, task: GroupSparseTask, step_size, stops: Int[Array, " records"],
    test_samples: int = 2000,
) -> TransferRun:
    """Online SGD of logistic regression on the flattened input, from zero, on that stream."""

    def learn(learner: Learner, drawn):
        row, y = drawn.X.reshape(-1), drawn.y[0]
        output = learner.value @ row
        value = learner.value + step_size * jax.nn.sigmoid(-y * output) * y * row
        return learner.attention, value, output

    def outputs(learner: Learner, X):
        return X.reshape(len(X), -1) @ learner.value

    zero = Learner(jnp.zeros((0, 0)), jnp.zeros(task.length * task.dim), jnp.asarray(0.0))
    return _run(key, task, test_samples, zero, learn, outputs, stops)
