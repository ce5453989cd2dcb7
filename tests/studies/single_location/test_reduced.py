"""The five-number map against d-dimensional descent, the two-number map, its symmetries, and what a
run must record."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saccade.errors import InvalidInput
from saccade.studies.single_location.dynamics import (
    advice,
    full_trajectory,
    manifold_overlaps,
    manifold_trajectory,
    manifold_vectors,
    overlap_step,
    overlap_trajectory,
    overlaps_of,
    sphere_overlaps,
    sphere_vectors,
    stability_ratio,
)
from saccade.studies.single_location.dynamics.recording import steps_to_record
from saccade.studies.single_location.dynamics.reduced import into_domain
from saccade.studies.single_location.task import orthonormal_pair
from saccade.studies.single_location.theory import Overlaps, Setting, risk
from saccade.studies.single_location.theory.overlaps import gram

jitted_step = jax.jit(overlap_step)


def largest_difference(a, b):
    return max(float(jnp.max(jnp.abs(x - y))) for x, y in zip(a, b))


def start_of(dim, repetitions=4, seed=0, on_manifold=False):
    """Vectors and their overlaps."""
    truth_key, key = jax.random.split(jax.random.key(seed))
    k_star, v_star = orthonormal_pair(truth_key, dim)
    k, v = (
        manifold_vectors(key, k_star, v_star, repetitions) if on_manifold
        else sphere_vectors(key, dim, repetitions))
    return (k, v, k_star, v_star), overlaps_of(k, v, k_star, v_star)


# Step sizes below the edge of stability, where roundings do not grow; past it two exact engines
# part after a few hundred steps.
@pytest.mark.parametrize(
    ("setting", "step_size", "decay"),
    [
        (Setting(12, 4, 0.6), 2e-3, 0.0), (Setting(12, 3, 0.9, gamma=1.1, noise=0.2), 2e-3, 1e-3),
        (Setting(40, 10, 0.1), 4e-3, 0.0), (Setting(40, 10, 1.0), 2e-3, 1e-4)])
def test_reduced_map_is_descent_in_all_dimensions(setting, step_size, decay):
    vectors, overlaps = start_of(setting.dim)
    record = [1, 2, 50, 400]
    full = full_trajectory(*vectors, setting, step_size, 400, record=record, decay=decay)
    reduced = overlap_trajectory(overlaps, setting, step_size, 400, record=record, decay=decay)
    assert largest_difference(full.overlaps, reduced.overlaps) < 1e-12
    np.testing.assert_allclose(reduced.risk, full.risk, atol=1e-11)
    assert (
        largest_difference(reduced.overlaps[:1], [overlaps.kappa[:, None]]) > 1e-3
    )  # something moved


def test_two_numbers_suffice_on_the_manifold():
    setting = Setting(400, 10, 0.1)
    start = manifold_overlaps(jax.random.key(1), 400, 4)
    five = overlap_trajectory(start, setting, 4e-3, 5000, record=1000)
    two = manifold_trajectory(start.kappa, start.nu, setting, 4e-3, 5000, record=1000)
    assert largest_difference(five.overlaps, two.overlaps) < 1e-12
    np.testing.assert_allclose(five.risk, two.risk, atol=1e-12)
    for transverse in five.overlaps[2:]:
        np.testing.assert_array_equal(transverse, 0.0)


def test_manifold_is_invariant_for_vectors_up_to_rounding():
    vectors, overlaps = start_of(12, on_manifold=True)
    assert largest_difference(overlaps[2:], [0.0, 0.0, 0.0]) < 1e-15
    full = full_trajectory(*vectors, Setting(12, 4, 0.3), 2e-3, 500, record=100)
    assert largest_difference(full.overlaps[2:], [0.0, 0.0, 0.0]) < 1e-12


def test_recording_a_list_is_stepping_by_hand():
    setting, step_size, decay = Setting(30, 5, 0.7, noise=0.1), 2e-3, 0.05
    state = sphere_overlaps(jax.random.key(2), 30, 4)
    record = [0, 1, 2, 7, 7, 12]
    seen = overlap_trajectory(state, setting, step_size, 15, record=record, decay=decay)
    np.testing.assert_array_equal(seen.steps, record)
    for step in range(16):
        used = setting._replace(inverse_temperature=0.7 / (1 + decay * max(step - 1, 0)))
        if step > 0:
            state = jitted_step(state, used, step_size)
        for place in np.flatnonzero(np.asarray(record) == step):
            assert largest_difference([x[:, place] for x in seen.overlaps], state) < 1e-14
            np.testing.assert_allclose(seen.risk[:, place], risk(state, used), rtol=1e-12)
    assert largest_difference(seen.final, state) < 1e-14


def test_recording_every_kth_step_is_recording_that_list():
    setting, start = Setting(30, 5, 0.7), sphere_overlaps(jax.random.key(3), 30, 4)
    every = overlap_trajectory(start, setting, 2e-3, 23, record=5)
    listed = overlap_trajectory(start, setting, 2e-3, 23, record=[5, 10, 15, 20])
    np.testing.assert_array_equal(every.steps, listed.steps)
    for a, b in zip(
        [*every.overlaps, every.risk, *every.final], [*listed.overlaps, listed.risk, *listed.final]
    ):
        np.testing.assert_array_equal(a, b)
    last = overlap_trajectory(start, setting, 2e-3, 23)
    np.testing.assert_array_equal(last.steps, [23])
    np.testing.assert_array_equal(last.overlaps.kappa[:, 0], every.final.kappa)


def test_batches_are_their_members_and_settings_may_vary():
    start = sphere_overlaps(jax.random.key(4), 50, 4)
    temperatures, sizes = np.array([0.1, 0.5, 0.9, 1.5]), np.array([1e-3, 2e-3, 1e-3, 5e-4])
    together = overlap_trajectory(start, Setting(50, 6, temperatures), sizes, 40, record=[10, 40])
    for i in range(4):
        alone = overlap_trajectory(
            Overlaps(*(x[i] for x in start)), Setting(50, 6, temperatures[i]), sizes[i], 40,
            record=[10, 40])
        assert alone.risk.shape == (2,)
        assert largest_difference([x[i] for x in together.overlaps], alone.overlaps) < 1e-13


def random_overlaps(seed, dim=5):
    """Overlaps of random vectors in few dimensions, so that all five are of order one."""
    _, overlaps = start_of(dim, seed=seed)
    return overlaps


MIRRORS = {"across": (1, 1, -1, -1, -1), "both": (-1, -1, -1, -1, 1)}


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10_000), mirror=st.sampled_from(sorted(MIRRORS)),
    inverse_temperature=st.floats(0.05, 2.0), step_size=st.floats(1e-4, 0.1))
def test_step_commutes_with_the_symmetries(seed, mirror, inverse_temperature, step_size):
    setting, signs = Setting(20, 4, inverse_temperature, 0.8), MIRRORS[mirror]
    state = random_overlaps(seed)
    flipped = Overlaps(*(sign * x for sign, x in zip(signs, state)))
    stepped = jitted_step(state, setting, step_size)
    expected = [sign * x for sign, x in zip(signs, stepped)]
    assert largest_difference(jitted_step(flipped, setting, step_size), expected) < 1e-12


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10_000), dim=st.sampled_from([4, 80, 10**9]), step_size=st.floats(0, 1e3))
def test_steps_of_any_size_stay_in_the_domain(seed, dim, step_size):
    stepped = jitted_step(random_overlaps(seed), Setting(dim, 4, 0.9), step_size)
    assert float(jnp.min(jnp.linalg.eigvalsh(gram(stepped)))) > -1e-9


def test_domain_keeps_what_is_inside_and_repairs_roundings():
    inside = random_overlaps(7)
    for a, b in zip(into_domain(inside), inside):
        np.testing.assert_array_equal(a, b)
    outside = Overlaps(kappa=1.0 + 1e-12, nu=0.5, theta=0.2, eta=1e-3, rho=0.9)
    assert float(jnp.min(jnp.linalg.eigvalsh(gram(into_domain(outside))))) > -1e-12
    assert jnp.isnan(into_domain(Overlaps(jnp.nan, 0.1, 0.0, 0.0, 0.0)).kappa)


def test_oracle_and_its_mirror_do_not_move():
    for sign in (1.0, -1.0):
        oracle = Overlaps(sign, sign, 0.0, 0.0, 0.0)
        assert largest_difference(overlap_step(oracle, Setting(400, 10, 0.9), 1e-2), oracle) == 0.0


def test_gradient_step_decreases_the_risk():
    setting, start = Setting(80, 10, 0.5), sphere_overlaps(jax.random.key(5), 80, 4)
    assert np.all(risk(jitted_step(start, setting, 1e-4), setting) < risk(start, setting))


def test_divergence_is_reported_not_hidden():
    # A temperature this extreme overflows the closed forms: what matters is that the run says so.
    temperatures = np.array([0.5, 1e200, 0.5, 0.7])
    wild = overlap_trajectory(
        Overlaps(0.1, 0.2), Setting(4, 3, temperatures), np.full(4, 1e-3), 6, record=2)
    np.testing.assert_array_equal(wild.diverged_at, [-1, 2, -1, -1])


def test_edge_of_stability_is_measured_and_said():
    setting = Setting(400, 10, 1.0)
    assert stability_ratio(setting, 4e-3) == pytest.approx(4e-3 * 869, rel=2e-3)
    assert "edge of stability" in advice(setting, 4e-3)
    assert advice(setting, 1e-3) == ""
    # The measured edge: next to the oracle a transverse error shrinks below it and does not above
    # it.
    near = Overlaps(kappa=1.0, nu=np.sqrt(1 - 1e-6), theta=1e-3, eta=0.0, rho=1e-3)
    safe = 2 / stability_ratio(setting, 1.0)
    below, above = (
        abs(overlap_trajectory(near, setting, x * safe, 60).final.theta) for x in (0.9, 1.1))
    assert below < 1e-4 < 1e-3 < above


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"step_size": -1.0}, "step_size = -1.0"), ({"decay": float("inf")}, "decay = inf"),
        ({"steps": -1}, "steps = -1"), ({"record": 0}, "record = 0"),
        ({"record": [3, 11]}, "record"), ({"record": [3, 2]}, "ascending"),
        ({"record": [1.5]}, "record"), ({"overlaps": Overlaps(1.5, 0.0)}, "kappa = 1.5"),
        ({"overlaps": Overlaps(1.0, 0.0, 0.0, 1.0)}, "Gram"),
        ({"setting": Setting(1, 3, 0.5)}, "dim = 1")])
def test_refusals_name_the_parameter(change, named):
    good = dict(overlaps=Overlaps(0.1, 0.1), setting=Setting(10, 3, 0.5), step_size=1e-3, steps=10)
    with pytest.raises(InvalidInput, match=named):
        overlap_trajectory(**{**good, **change})


def test_full_engine_refuses_vectors_that_do_not_fit():
    (k, v, k_star, v_star), _ = start_of(6)
    with pytest.raises(InvalidInput, match="number of entries of k0"):
        full_trajectory(k, v, k_star, v_star, Setting(7, 3, 0.5), 1e-3, 1)
    with pytest.raises(InvalidInput, match="norm of v0"):
        full_trajectory(k, 2 * v, k_star, v_star, Setting(6, 3, 0.5), 1e-3, 1)
    with pytest.raises(InvalidInput, match=r"k_star \. v_star"):
        full_trajectory(k, v, k_star, k_star, Setting(6, 3, 0.5), 1e-3, 1)


def test_the_end_is_recorded_even_if_nothing_else_is():
    assert steps_to_record(3, record=5).tolist() == [3]
    short = overlap_trajectory(Overlaps(0.1, 0.1), Setting(10, 3, 0.5), 1e-3, 3, record=5)
    assert short.risk.shape == (1,) and int(short.diverged_at) == -1
