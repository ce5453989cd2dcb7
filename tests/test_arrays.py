"""Formulas on NumPy's numbers and on JAX's give the same; normals do not depend on their shape."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade import gaussian
from saccade.arrays import floats, generator, namespace, normals

FORMULAS = [
    gaussian.owens_t, gaussian.zeta, gaussian.zeta_curvature, gaussian.zeta_derivatives,
    gaussian.expect_erf, gaussian.expect_erf_prime, gaussian.expect_erf_derivatives,
    gaussian.expect_erf_prime_squared, gaussian.expect_erf_erf_prime]


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.__name__)
def test_numpy_and_jax_agree(formula):
    t, variance = np.array([-1.3, 0.0, 0.2, 4.0]), np.array([0.3, 0.7, 0.05, 0.9])
    plain, traced = formula(t, variance), jax.jit(formula)(t, variance)
    assert all(isinstance(part, np.ndarray) for part in jax.tree.leaves(plain))
    for one, other in zip(jax.tree.leaves(plain), jax.tree.leaves(traced), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-16)


def test_one_array_of_jax_is_enough():
    assert namespace(1.0, np.ones(2)) is np and namespace(1.0, jnp.ones(2)) is jnp
    assert all(isinstance(value, jax.Array) for value in floats(1, np.ones(2), jnp.ones(2)))
    assert jax.jit(lambda x: namespace(x) is jnp)(1.0)


@pytest.mark.parametrize("shape", [(), (3,), (2, 80), (16, 16), (257,), (5, 7, 100)])
def test_normals_are_those_of_jax_whatever_the_shape(shape):
    """To an ulp or two: the same bits, but a vectorised loop may round otherwise."""
    key = jax.random.key(3)
    drawn = normals(key, shape)
    assert isinstance(drawn, np.ndarray)
    np.testing.assert_allclose(drawn, jax.random.normal(key, shape), rtol=1e-14)
    np.testing.assert_allclose(drawn, jax.jit(lambda key: normals(key, shape))(key), rtol=1e-14)


def test_generators_follow_their_keys():
    first, again, other = (generator(jax.random.key(seed)).standard_normal(5) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.any(first == other)
