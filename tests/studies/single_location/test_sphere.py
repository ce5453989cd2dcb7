"""Steps on the sphere: tangent, unit length, and first order equal to moving along the great
circle."""

import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from saccade.studies.single_location.dynamics.full import sphere_step, tangent


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10_000), dim=st.integers(2, 30), step_size=st.floats(0, 1e3))
def test_steps_stay_on_the_sphere(seed, dim, step_size):
    x, g = np.random.default_rng(seed).normal(size=(2, 4, dim))
    x = jnp.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))
    np.testing.assert_allclose(jnp.sum(x * tangent(x, jnp.asarray(g)), axis=-1), 0.0, atol=1e-13)
    np.testing.assert_allclose(
        jnp.linalg.norm(sphere_step(x, jnp.asarray(g), step_size), axis=-1), 1.0, rtol=1e-14)


def test_step_turns_by_the_arctangent_of_its_length():
    x, g = jnp.array([1.0, 0.0, 0.0]), jnp.array([7.0, -0.3, 0.4])
    moved = sphere_step(x, g, 0.2)
    angle = np.arctan(0.2 * 0.5)
    np.testing.assert_allclose(
        moved, [np.cos(angle), np.sin(angle) * 0.6, -np.sin(angle) * 0.8], rtol=1e-14)
