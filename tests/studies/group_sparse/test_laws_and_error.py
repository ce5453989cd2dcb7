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
from saccade.studies.group_sparse.models import at_zero, encoding
from saccade.studies.group_sparse.task import group_sparse_task
from saccade.studies.group_sparse.theory.laws import late_laws, selection_error, transfer_bound
from saccade.studies.group_sparse.theory.position import KAPPA
from saccade.studies.group_sparse.theory.stability import (
    StepSizeWarning,
    stability_advice,
    transverse_limit,
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
def test_the_loss_law_takes_the_time_it_should(groups, step_size, scale, loss):
    """L = eps after t = kappa^2 / (3 eta D^2 sigma^2 eps^3) steps."""
    time = KAPPA**2 / (3 * step_size * groups**2 * scale**2 * loss**3)
    assert late_laws(groups, step_size, time, scale).loss == pytest.approx(loss, rel=1e-11)


@pytest.mark.parametrize(("attention", "groups"), [(0.4, 5), (0.9, 8), (0.125, 8)])
def test_error_is_the_chance_of_a_wrong_sign(attention, groups):
    samples = 400_000
    signals = np.random.default_rng(1).normal(size=(samples, groups))
    total = attention * signals[:, 0] + (1 - attention) * signals[:, 1:].mean(axis=1)
    wrong = np.mean(total * signals[:, 0] <= 0)
    error = selection_error(attention, groups)
    assert error == pytest.approx(wrong, abs=4.5 * math.sqrt(error * (1 - error) / samples))


def test_error_at_the_ends():
    assert selection_error(1.0, 7) == 0
    assert selection_error(0.0, 7) == pytest.approx(0.5)
    assert selection_error(1 / 7, 7) == pytest.approx(math.acos(1 / math.sqrt(7)) / math.pi)
    with pytest.raises(InvalidInput, match=r"^attention = 1.2"):
        selection_error(1.2, 7)


def test_step_size_rule_warns_with_the_rule_and_the_value():
    assert stability_advice(8, 2.0) == ""
    with pytest.warns(
        StepSizeWarning, match=r"= 32 is above the stability rule of 16.* at most 1 keeps the rule"
    ):
        warn_if_unstable(16, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_unstable(16, 2.0, scale=0.5)


def test_the_transverse_limit_is_two_over_the_curvature_of_the_loss():
    """The Hessian of the sampled loss at zero, by automatic differentiation; its position block is
    free of sampling noise."""
    groups, dim, scale, samples = 5, 2, 1.3, 20_000
    task, model = (
        group_sparse_task(groups, dim, scale=scale), at_zero(dim, encoding("sine", groups)))
    batch, start = task.sample(jax.random.key(0), samples), model.parameters
    hessian = jax.hessian(lambda v: model.at(start._replace(value=v)).loss(batch.X, batch.y))(
        start.value)
    positions = np.linalg.eigvalsh(hessian[dim:, dim:])[-1]
    assert transverse_limit(groups) == pytest.approx(2 / positions, rel=1e-10)


def test_transfer_bound_is_its_formula():
    expected = (4 + 6) * math.log(1000) ** 2 / (0.25 * 1000) + math.log(20) / 1000
    assert transfer_bound(6, 4, 1000, margin=0.5) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(InvalidInput, match=r"^margin = 0"):
        transfer_bound(6, 4, 1000, margin=0.0)


def test_the_length_of_an_encoding_is_the_number_of_groups():
    """E|z_j|^2 = d sigma^2 + (D+1)/2: where the D of d + D comes from."""
    np.testing.assert_allclose((encoding("sine", 6) ** 2).sum(axis=0), 7 / 2, rtol=1e-12)
