"""Who finds the group, learning curves and scans: against sums by hand, and where the answer is
known."""

import jax
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.lab.experiment import Run
from saccade.studies.group_sparse.experiments import descent, finding, transfer
from saccade.studies.group_sparse.experiments.transfer import joint_exponents, shares_explained

KEY = jax.random.key(0)


def planted(strength: float = 3.0):
    """Six groups of two, of which the fifth decides the label."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 12))
    labels = np.where(rows[:, 8] >= 0, 1.0, -1.0)
    rows[:, 8] += strength * labels
    return rows, labels


@pytest.mark.parametrize("name", ["screening", "celer", "abess", "adelie"])
def test_every_finder_finds_a_planted_group(name):
    if name != "screening":
        pytest.importorskip(name)
    rows, labels = planted()
    weights = finding.FINDERS[name](rows, labels, 2)
    assert weights.shape == (6,) and weights.argmax() == 4


def test_group_lasso_is_where_its_optimality_conditions_are():
    """At the minimum of |y - Xw|^2/(2n) + lambda sum |w_g| correlations with the residual are
    lambda on active groups, less elsewhere."""
    pytest.importorskip("celer")
    from celer import GroupLasso

    rows, labels = planted(0.5)
    penalty = (
        finding.PENALTY * np.linalg.norm((rows.T @ labels).reshape(6, 2), axis=1).max()
        / len(labels))
    fit = GroupLasso(groups=2, alpha=penalty, fit_intercept=False, tol=1e-10).fit(
        np.asfortranarray(rows), labels)
    pulls = np.linalg.norm((rows.T @ (labels - rows @ fit.coef_)).reshape(6, 2), axis=1) / len(
        labels)
    active = finding.by_celer(rows, labels, 2) > 0
    assert active.any() and not active.all()
    np.testing.assert_allclose(pulls[active], penalty, rtol=1e-3)
    assert np.all(pulls[~active] <= penalty * 1.001)


def test_finders_see_the_draws_that_the_layer_sees():
    data = finding.peers.function(
        KEY, finders=("screening",), groups=4, group_dim=2, relevant=1, samples=(60,), draws=6,
        steps=40)
    assert list(data.finder.values) == ["screening", "layer"]
    assert data.found.mean("draw").values.min() > 0.8 and np.all(data.seconds > 0)
    without = finding.peers.function(
        KEY, finders=("screening",), groups=4, group_dim=2, samples=(20,), draws=2, relevant=1,
        step_sizes=())
    assert list(without.finder.values) == ["screening"]


def test_an_unknown_finder_is_refused():
    with pytest.raises(InvalidInput, match="finder"):
        finding.peers.function(KEY, finders=("lasso",))


def test_share_explained_is_one_for_a_power_law_and_joint_exponents_are_found():
    d, D = np.array([2.0, 4, 8, 16]), np.array([16.0, 4, 8, 2])
    values = np.stack([3 * d**1.5 * D**0.2, d * D], axis=1)
    assert shares_explained(values[:, 1:], d * D) == pytest.approx([1.0])
    assert shares_explained(values[:, :1], d * D)[0] < 0.9
    import xarray

    run = Run(xarray.Dataset(coords={"group_dim": ("pair", d), "groups": ("pair", D)}), None)
    np.testing.assert_allclose(joint_exponents(values, run), [[1.5, 1.0], [0.2, 1.0]])


def test_curves_that_stop_early_agree_up_to_where_they_stop():
    settings = {
        "pairs": ((2, 3),), "samples": 200, "points": 6, "draws": 4, "readers": ("flattened",)}
    whole = transfer.batch_transfer.function(KEY, **settings).error.values
    stopped = transfer.batch_transfer.function(KEY, enough=0.1, **settings).error.values
    for full, short in zip(
        whole.reshape(-1, whole.shape[-1]), stopped.reshape(-1, whole.shape[-1]), strict=True
    ):
        reached = np.argmax(full <= 0.1) if (full <= 0.1).any() else len(full) - 1
        np.testing.assert_array_equal(full[: reached + 1], short[: reached + 1])
        assert np.all(short[reached:] == short[reached])


def test_rows_of_zeros_in_an_encoding_change_nothing():
    small = {
        "groups": 3, "group_dim": 2, "relevant": 1, "steps": 12, "batch": 20, "repetitions": 3,
        "kind": "sine"}
    narrow = descent.encoding_scan.function(KEY, dims=(3,), **small)
    wide = descent.encoding_scan.function(KEY, dims=(9,), **small)
    np.testing.assert_allclose(narrow.attention.values, wide.attention.values, atol=1e-12)
    bare = descent.encoding_scan.function(KEY, dims=(0,), **small)
    np.testing.assert_allclose(bare.attention.values.mean(), 1 / 3, atol=0.03)
