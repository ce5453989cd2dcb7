"""Late laws, the error of a selection, the stability rules and the transfer bound: each against
something else."""

import math
import warnings

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.models.encodings import encoding
from saccade.studies.group_sparse.models.layer import PAPER_LAYER, logistic_loss, tokens, zeros
from saccade.studies.group_sparse.task import group_sparse_task
from saccade.studies.group_sparse.theory.laws import (
    late_laws,
    selection_error,
    time_to_loss,
    transfer_bound,
)
from saccade.studies.group_sparse.theory.position import KAPPA
from saccade.studies.group_sparse.theory.stability import (
    StepSizeWarning,
    stability_rule,
    transverse_limit,
    uniform_attention_limit,
    warn_if_unstable,
)


@given(st.integers(2, 200), st.floats(0.01, 3.0), st.floats(0.2, 4.0))
def test_attention_constant_solves_its_equation(groups, step_size, scale):
    k = late_laws(groups, step_size, 1e4, scale).attention_constant
    abar = (3 * step_size * KAPPA / (groups * scale)) ** (1 / 3)
    g = step_size * ((groups + 1) / 2) ** 2 * groups / (groups - 1) * abar
    bracket = KAPPA / (scale * groups**2 * abar**2) + k * scale / (
        (groups - 1) * math.sqrt(2 * math.pi))
    assert g * k * bracket == pytest.approx(2 / 3, rel=1e-11)


@given(st.integers(2, 200), st.floats(0.01, 3.0), st.floats(0.2, 4.0), st.floats(1e-3, 0.5))
def test_time_to_loss_inverts_the_loss_law(groups, step_size, scale, loss):
    time = time_to_loss(groups, step_size, loss, scale)
    assert late_laws(groups, step_size, time, scale).loss == pytest.approx(loss, rel=1e-11)


@pytest.mark.parametrize(("attention", "groups"), [(0.4, 5), (0.9, 8), (0.125, 8)])
def test_error_is_the_chance_of_a_wrong_sign(attention, groups):
    samples = 400_000
    signals = np.random.default_rng(1).normal(size=(samples, groups))
    total = attention * signals[:, 0] + (1 - attention) * signals[:, 1:].mean(axis=1)
    wrong = np.mean(total * signals[:, 0] <= 0)
    error = selection_error(attention, groups).error
    assert error == pytest.approx(wrong, abs=4.5 * math.sqrt(error * (1 - error) / samples))


def test_error_at_the_ends():
    assert selection_error(1.0, 7).error == 0
    assert selection_error(0.0, 7).error == pytest.approx(0.5)
    assert selection_error(1 / 7, 7).error == pytest.approx(math.acos(1 / math.sqrt(7)) / math.pi)
    with pytest.raises(InvalidInput, match=r"^attention = 1.2"):
        selection_error(1.2, 7)


def test_step_size_rule_warns_with_the_rule_and_the_value():
    assert stability_rule(8, 2.0).advice == ""
    with pytest.warns(
        StepSizeWarning, match=r"= 32 is above the stability rule of 16.* at most 1 keeps the rule"
    ):
        rule = warn_if_unstable(16, 2.0)
    assert rule.value == 32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_unstable(16, 2.0, scale=0.5)


def test_linear_limits_are_two_over_the_curvature_of_the_loss():
    """The Hessian of the sampled loss at zero, by automatic differentiation; its position block is
    free of sampling noise."""
    groups, dim, scale, samples = 5, 2, 1.3, 20_000
    task, matrix = group_sparse_task(groups, dim, scale=scale), encoding("sine", groups).matrix
    batch = task.sample(jax.random.key(0), samples)
    Z = tokens(batch.X, matrix)
    start = zeros(dim + groups)
    hessian = jax.hessian(
        lambda v: logistic_loss(start._replace(value=v), PAPER_LAYER, Z, batch.y))(start.value)
    positions = np.linalg.eigvalsh(hessian[dim:, dim:])[-1]
    assert transverse_limit(groups) == pytest.approx(2 / positions, rel=1e-10)
    # Relative standard error of a variance is sqrt(2 / samples).
    assert uniform_attention_limit(groups, scale) == pytest.approx(
        2 / float(hessian[0, 0]), rel=5 * math.sqrt(2 / samples))


def test_transfer_bound_counts_the_length_of_a_token():
    matrix = np.asarray(encoding("sine", 6).matrix)
    features = 0.9 * np.random.default_rng(2).normal(size=(20_000, 4))
    lengths = (features**2).sum(axis=1) + (matrix[:, 0] ** 2).sum()
    bound = transfer_bound(6, 4, 1000, margin=0.5, scale=0.9)
    assert bound.token_norm_squared == pytest.approx(
        float(lengths.mean()), abs=5 * float(lengths.std()) / math.sqrt(20_000))
    assert transfer_bound(6, 4, 1000, margin=1.0).main_term == pytest.approx(bound.main_term / 4)
    with pytest.raises(InvalidInput, match=r"^margin = 0"):
        transfer_bound(6, 4, 1000, margin=0.0)
