"""Pieces of the later experiments, each against something written from its definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.studies.sparse_recovery.dynamics import probing
from saccade.studies.sparse_recovery.experiments.full_matrix import full_matrix
from saccade.studies.sparse_recovery.experiments.inside import conditioned
from saccade.studies.sparse_recovery.experiments.outside import (
    _momentum,
    decibels_off,
    measured,
    unit_columns,
)
from saccade.studies.sparse_recovery.experiments.outside_trained import _kept, selecting
from saccade.studies.sparse_recovery.rows_needed import certified_rows, median_of_largest
from saccade.studies.sparse_recovery.task import SparseRecovery

RNG = np.random.default_rng(0)


def shrink(u, t):
    return np.sign(u) * np.maximum(np.abs(u) - t, 0)


def test_the_median_of_the_largest_normal_number():
    largest = np.abs(RNG.normal(size=(40_000, 30))).max(1)
    assert np.median(largest) == pytest.approx(median_of_largest(30), abs=0.02)


def test_rows_needed_grow_with_dimension_and_sparsity():
    assert certified_rows(20, 3) < certified_rows(20, 4) < certified_rows(40, 4)
    assert certified_rows(20, 3, weight=5) == certified_rows(20, 3)


def test_problems_have_the_law_they_are_said_to_have():
    X = unit_columns(RNG, 40, 80)
    given = measured(RNG, X, 2000, 8, 20)
    noise = given.y - given.beta @ X.T
    assert np.allclose((X**2).sum(0), 1)
    assert (given.beta != 0).sum(1).mean() == pytest.approx(8, abs=0.3)
    assert noise.std() / (given.beta @ X.T).std() == pytest.approx(0.1, rel=0.05)
    assert decibels_off(0 * given.beta, given.beta) == pytest.approx(0)
    assert decibels_off(0.9 * given.beta, given.beta) == pytest.approx(-20)


def test_momentum_is_that_of_fista():
    t, by_hand = 1.0, []
    for _ in range(5):
        after = (1 + np.sqrt(1 + 4 * t**2)) / 2
        by_hand.append((t - 1) / after)
        t = after
    assert np.allclose(_momentum(5), by_hand)


def test_support_selection_lets_the_largest_pass_uncut():
    X, W = RNG.normal(size=(2, 5, 9))
    y, kept = RNG.normal(size=(3, 5)), np.array([2, 4])
    weights = {"gamma": jnp.array([0.3, 0.2]), "theta": jnp.array([0.5, 0.4])}
    b = np.zeros((3, 9))
    for gamma, theta, number in zip((0.3, 0.2), (0.5, 0.4), kept, strict=True):
        u = b - gamma * (b @ X.T - y) @ W
        bar = np.sort(np.abs(u), axis=1)[:, -number][:, None]
        b = np.where(np.abs(u) > bar, u, shrink(u, theta))
    assert np.allclose(selecting(weights, X, W, y, kept), b)
    assert _kept(4, 10).tolist() == [3, 6, 9, 12]


def test_condition_numbers_are_as_asked_and_lengths_as_before():
    sample = SparseRecovery.create(6, 4, 2).sample(jax.random.key(0), 5)
    changed = conditioned(sample, 7.0)
    assert np.allclose(np.linalg.cond(changed.X), 7)
    before, after = (np.linalg.norm(one, axis=(1, 2)) for one in (sample.X, changed.X))
    assert np.allclose(before, after)
    assert np.allclose(changed.y, np.einsum("pnd,pd->pn", changed.X, sample.beta))


def test_a_probe_finds_a_linear_map_and_nothing_in_noise():
    states = RNG.normal(size=(400, 6))
    targets = states @ RNG.normal(size=(6, 2)) + 3
    told = probing.explained(probing.probe(states, targets), targets, 4)
    other = RNG.normal(size=(400, 2))
    assert told.shape == (4,) and told.min() > 0.99
    assert probing.explained(probing.probe(states, other), other, 4).max() < 0.3


def test_a_step_of_lista_vm_is_recognised_and_another_is_not():
    X, y = RNG.normal(size=(400, 3, 4)), RNG.normal(size=(400, 3))
    before = RNG.normal(size=(400, 4))
    uphill = np.einsum("pnd,pn->pd", X, np.einsum("pnd,pd->pn", X, before) - y) / 7
    M = 0.5 * np.eye(4) + 0.2 * RNG.normal(size=(4, 4))
    after = shrink(before - uphill @ M.T, np.array([0.1, 0.2, 0.3, 0.05]))
    assert probing.left_by_vm(before, after, X, y, 2).max() < 1e-3
    assert probing.left_by_vm(before, np.roll(after, 1, axis=0), X, y, 2).min() > 0.3


def test_full_networks_start_from_the_numbers():
    made = full_matrix.function(jax.random.key(0), tests=200, networks=1, steps=1)
    off = made.M.values - np.einsum("slii->sli", made.M.values)[..., None] * np.eye(20)
    assert made.M.shape == (1, 12, 20, 20) and made.theta.shape == (1, 12, 20)
    assert np.abs(off).max() <= 0.0031  # one step of Adam at a rate of 0.003
