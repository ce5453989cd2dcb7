"""The sparse-recovery task: laws of matrices and supports, blocks, pools, refusals."""

import jax
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.sparse_recovery.task import DESIGNS, SparseRecovery, covariance

KEY = jax.random.key(3)


@pytest.mark.parametrize("design", DESIGNS)
def test_rows_have_the_stated_covariance(design):
    X = np.asarray(
        SparseRecovery.create(6, 4, 2, design=design, correlation=0.6).matrices(KEY, 4000))
    rows = X.reshape(-1, 6)
    expected = np.asarray(covariance(6, 0.6)) if design == "correlated" else np.eye(6)
    # 16,000 rows: an entry of the covariance has a standard error below 0.012; five of them
    np.testing.assert_allclose(rows.T @ rows / len(rows), expected, atol=0.06)
    bounds = {"rademacher": 1.0, "uniform": np.sqrt(3), "orthonormal": np.sqrt(6)}
    assert np.abs(X).max() <= bounds.get(design, np.inf) + 1e-12


def test_orthonormal_rows_are_orthonormal():
    X = np.asarray(SparseRecovery.create(8, 8, 1, design="orthonormal").matrices(KEY, 5))
    np.testing.assert_allclose(
        X @ X.swapaxes(1, 2), np.broadcast_to(8 * np.eye(8), (5, 8, 8)), atol=1e-12)


def test_supports_are_uniform_subsets_and_values_are_normal():
    sample = SparseRecovery.create(6, 3, 2).sample(KEY, 9000)
    support = np.asarray(sample.support)
    assert (support.sum(1) == 2).all() and ((np.asarray(sample.beta) != 0) == support).all()
    pairs = support.T.astype(float) @ support / 9000
    # each of 15 pairs has probability 1/15: standard error 0.0026
    np.testing.assert_allclose(pairs[np.triu_indices(6, 1)], 1 / 15, atol=0.014)
    assert abs((np.asarray(sample.beta) ** 2).sum(1).mean() - 2) < 5 * 2 / np.sqrt(9000)


def test_values_are_measurements_plus_noise():
    sample = SparseRecovery.create(5, 4, 2, noise=0.5).sample(KEY, 4000)
    noise = np.asarray(sample.y) - np.einsum("bnd,bd->bn", sample.X, sample.beta)
    assert abs(noise.std() - 0.5) < 5 * 0.5 / np.sqrt(2 * noise.size)
    left = np.asarray(sample.query_y) - (np.asarray(sample.query) * np.asarray(sample.beta)).sum(1)
    assert abs(left.std() - 0.5) < 5 * 0.5 / np.sqrt(2 * left.size)


def test_blocks_inside_a_pool():
    sample = SparseRecovery.create(11, 3, 4, block=2, pool=range(2, 8)).sample(KEY, 300)
    support = np.asarray(sample.support)
    assert (support.sum(1) == 4).all() and not support[:, [0, 1, 8, 9, 10]].any()
    assert (support[:, 2:8:2] == support[:, 3:8:2]).all()


def test_several_vectors_share_a_matrix_and_no_rows_are_possible():
    sample = SparseRecovery.create(5, 3, 1).sample(KEY, 6, vectors=3)
    X = np.asarray(sample.X)
    assert (
        (X[0] == X[2]).all() and (X[0] != X[3]).any()
        and (np.asarray(sample.beta)[0] != np.asarray(sample.beta)[1]).any())
    assert SparseRecovery.create(measurements=0).sample(KEY, 2).y.shape == (2, 0)


def test_single_precision_on_request():
    assert SparseRecovery.create().sample(KEY, 2, dtype=np.float32).y.dtype == np.float32


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"sparsity": 21}, "sparsity"), ({"sparsity": 0}, "sparsity"), ({"pool": []}, "pool"),
        ({"pool": [0, 0, 1, 2]}, "pool"), ({"pool": [0, 1, 20]}, "pool"),
        ({"pool": [0, 1]}, "sparsity"), ({"noise": -1.0}, "noise"), ({"dim": 0}, "dim"),
        ({"dim": 2.5}, "dim"), ({"measurements": -1}, "measurements"),
        ({"design": "gausian"}, "gaussian"), ({"correlation": 1.0}, "correlation"),
        ({"design": "orthonormal", "measurements": 30}, "measurements"), ({"block": 2}, "sparsity"),
        ({"block": 2, "sparsity": 2, "pool": [1, 2]}, "pool"), ({"noise": float("nan")}, "noise")])
def test_bad_input_is_one_sentence(changes, word):
    with pytest.raises(InvalidInput, match=word) as refused:
        SparseRecovery.create(**changes)
    assert str(refused.value).count("\n") == 0
