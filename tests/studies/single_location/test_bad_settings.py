"""What the single-location formulas refuse, and that the refusal names the parameter."""

import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.single_location.theory import (
    ORACLE,
    Overlaps,
    Setting,
    check_overlaps,
    check_setting,
)
from saccade.studies.single_location.theory.overlaps import distance_to_manifold, gram

GOOD = Setting(400, 10, 0.1)
BAD = [
    ("dim", 1), ("dim", 4.5), ("dim", float("inf")), ("length", 0), ("length", 2.5),
    ("inverse_temperature", 0.0), ("inverse_temperature", float("nan")), ("gamma", -0.5),
    ("gamma", 0.0), ("noise", -1e-3), ("noise", float("inf"))]


@pytest.mark.parametrize("name, value", BAD)
def test_a_setting_no_task_can_have_is_refused(name, value):
    with pytest.raises(InvalidInput, match=f"^{name} = "):
        check_setting(GOOD._replace(**{name: value}))


def test_good_settings_pass_batches_included():
    assert check_setting(GOOD) is GOOD
    check_setting(Setting(np.array([2, 10**12]), 1, np.array([1e-4, 20.0])))
    with pytest.raises(InvalidInput, match="dim"):
        check_setting(GOOD._replace(dim=np.array([400, 1])))


@pytest.mark.parametrize("name", Overlaps._fields)
@pytest.mark.parametrize("value", [1.5, -2.0, float("nan")])
def test_an_overlap_beyond_one_is_refused(name, value):
    with pytest.raises(InvalidInput, match=f"^{name} = "):
        check_overlaps(Overlaps(0.1, 0.1)._replace(**{name: value}))


def test_overlaps_of_no_unit_vectors_are_refused():
    with pytest.raises(InvalidInput, match=r"^overlaps"):
        check_overlaps(Overlaps(kappa=0.9, nu=0.0, eta=0.9))
    with pytest.raises(InvalidInput, match=r"^overlaps"):
        check_overlaps(Overlaps(kappa=1.0, nu=1.0, rho=0.5))


def test_overlaps_of_unit_vectors_pass_those_on_the_boundary_too():
    vectors = np.random.default_rng(0).normal(size=(50, 2, 6))
    k, v = np.moveaxis(vectors / np.linalg.norm(vectors, axis=2, keepdims=True), 1, 0)
    check_overlaps(Overlaps(k[:, 0], v[:, 1], v[:, 0], k[:, 1], np.sum(k * v, axis=1)))
    check_overlaps(ORACLE)
    check_overlaps(Overlaps(0.6, 0.8, -0.6, 0.8, 0.6 * -0.6 + 0.8 * 0.8))


def test_the_gram_matrix_is_made_of_inner_products():
    vectors = np.random.default_rng(2).normal(size=(2, 5))
    k, v = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.stack([np.eye(5)[0], np.eye(5)[1], k, v])
    at = Overlaps(k[0], v[1], v[0], k[1], k @ v)
    assert np.allclose(gram(at), rows @ rows.T, atol=1e-15)
    assert float(distance_to_manifold(at)) == pytest.approx(
        np.sqrt(v[0] ** 2 + k[1] ** 2 + (k @ v) ** 2))
