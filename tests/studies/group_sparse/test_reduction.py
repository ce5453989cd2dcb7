"""Orbits, gaps, preconditioner and the position matrix against entry-by-entry counting."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saccade.studies.group_sparse.models import encoding
from saccade.studies.group_sparse.theory.reduction import (
    coordinates_from_gaps,
    feature_matrix,
    gaps,
    lemma_direction,
    position_matrix,
    position_scores,
    preconditioner,
)

ORBITS = ("ss", "so", "os", "dd", "oo")


def orbit(key, query, relevant):
    """The orbit of an entry, from its definition."""
    if key == relevant:
        return "ss" if query == relevant else "so"
    if query == relevant:
        return "os"
    return "dd" if key == query else "oo"


@pytest.mark.parametrize(("groups", "relevant"), [(2, 1), (3, 0), (6, 4)])
def test_scores_and_position_matrix_by_counting(groups, relevant):
    values = dict(zip(ORBITS, [1.5, -0.3, 0.7, 0.2, -1.1]))
    expected = [[values[orbit(i, j, relevant)] for j in range(groups)] for i in range(groups)]
    numbers = jnp.asarray(list(values.values()))
    np.testing.assert_allclose(position_scores(numbers, groups, relevant), expected)
    P = encoding("sine", groups)
    np.testing.assert_allclose(
        P.T @ position_matrix(numbers, P, relevant) @ P, expected, atol=1e-12)


@pytest.mark.parametrize(("groups", "dim"), [(2, 1), (3, 2), (7, 5)])
def test_preconditioner_counts_the_entries_of_every_orbit(groups, dim):
    counts = dict.fromkeys(ORBITS, 0)
    for i in range(groups):
        for j in range(groups):
            counts[orbit(i, j, 0)] += 1
    expected = [1, 1, 1 / (dim - 1) if dim > 1 else 0] + [
        4 / counts[o] if counts[o] else 0 for o in ORBITS]
    np.testing.assert_allclose(preconditioner(groups, dim, 2.0), expected)


@given(st.sampled_from([2, 3, 9]), st.floats(-5, 5), st.floats(-5, 5), st.floats(-5, 5))
def test_gaps_go_there_and_back_with_zero_column_sums(groups, A, B, C):
    coordinates = coordinates_from_gaps(groups, 0.5, 0.1, 0.2, A, B, C)
    np.testing.assert_allclose(gaps(coordinates), [A, B, C], atol=1e-12)
    np.testing.assert_allclose(
        position_scores(coordinates[3:], groups, 0).sum(axis=0), 0, atol=1e-11)


def test_feature_matrix_has_the_two_eigenvalues():
    direction = jnp.asarray([0.6, 0.0, 0.8])
    np.testing.assert_allclose(
        np.linalg.eigvalsh(feature_matrix(2.0, -0.5, direction)), [-0.5, -0.5, 2.0], atol=1e-12)


def test_lemma_direction_is_the_papers_matrix_seen_through_the_encoding():
    groups, relevant = 5, 3
    P = np.asarray(encoding("sine", groups))
    paper = np.outer(
        sum(P[:, relevant] - P[:, j] for j in range(groups) if j != relevant), P.sum(axis=1))
    seen, ours = P.T @ paper @ P, np.asarray(lemma_direction(groups, relevant))
    cosine = np.sum(seen * ours) / np.linalg.norm(seen) / np.linalg.norm(ours)
    assert cosine == pytest.approx(1.0, abs=1e-12)


def test_equal_gaps_without_c_lie_along_the_lemma():
    scores = position_scores(coordinates_from_gaps(6, A=1.3, B=1.3)[3:], 6, 2)
    np.testing.assert_allclose(scores, 1.3 * lemma_direction(6, 2), atol=1e-12)
    assert jax.numpy.linalg.matrix_rank(scores) == 1
