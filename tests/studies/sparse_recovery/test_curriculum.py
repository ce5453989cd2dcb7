"""A curriculum cuts tasks down to what is there at a step, and grows to the whole task."""

import jax
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.sparse_recovery.dynamics import decoders
from saccade.studies.sparse_recovery.dynamics.curriculum import (
    Curriculum,
    cut_down,
    sizes_at,
    with_curriculum,
)
from saccade.studies.sparse_recovery.task import SparseRecovery

TASK = SparseRecovery.create(dim=9, measurements=4, sparsity=3)
STEPS = 120


@pytest.mark.parametrize(
    ("step", "sizes"),
    [
        (0, (4, 1)), (9, (4, 1)), (10, (5, 1)), (20, (6, 2)), (59, (9, 3)), (60, (9, 3)),
        (119, (9, 3))])
def test_both_sizes_rise_in_equal_stretches_until_half_of_the_steps(step, sizes):
    assert tuple(map(int, sizes_at(step, TASK, Curriculum(4, 1, 0.5), STEPS))) == sizes


def test_a_share_of_zero_is_the_whole_task_after_one_step():
    assert tuple(map(int, sizes_at(1, TASK, Curriculum(4, 1, 0.0), STEPS))) == (9, 3)


def test_what_is_cut_down_is_a_task_of_its_own():
    sample = TASK.sample(jax.random.key(0), 400)
    X, y, beta, support, _, query, query_y = map(
        np.asarray, cut_down(jax.random.key(1), sample, 5, 2))
    assert not X[..., 5:].any() and not query[:, 5:].any() and not beta[:, 5:].any()
    assert ((beta != 0) == support).all() and (support.sum(1) == 2).all()
    assert np.allclose(support[:, :5].mean(0), 0.4, atol=0.12)
    assert np.allclose(beta[support].var(), 1, atol=0.2)
    assert np.allclose(y, [rows @ one for rows, one in zip(X, beta, strict=True)])
    assert np.allclose(query_y, (query * beta).sum(1))


def test_a_problem_draws_by_its_step():
    recipe = decoders.DecoderRecipe("small", 2, STEPS, 16)
    problem = with_curriculum(
        decoders.decoder_problem(TASK, recipe), TASK, Curriculum(4, 1, 0.5), STEPS)
    first, last = (problem.batch(jax.random.key(2), step, None) for step in (0, STEPS - 1))
    assert (np.asarray(first.support).sum(1) == 1).all()
    assert (np.asarray(last.support).sum(1) == 3).all() and np.asarray(last.X)[..., -1].any()


@pytest.mark.parametrize(
    ("curriculum", "name"),
    [
        (Curriculum(10, 1, 0.5), "first_dim"), (Curriculum(4, 0, 0.5), "first_sparsity"),
        (Curriculum(1, 2, 0.5), "first_dim"), (Curriculum(4, 1, 1.5), "grown")])
def test_impossible_beginnings_are_refused(curriculum, name):
    problem = decoders.decoder_problem(TASK, decoders.DecoderRecipe("small", 2, STEPS, 16))
    with pytest.raises(InvalidInput, match=name):
        with_curriculum(problem, TASK, curriculum, STEPS)


@pytest.mark.parametrize("structure", [{"pool": range(6)}, {"block": 3}])
def test_supports_with_a_structure_are_refused(structure):
    """A curriculum draws supports anew, anywhere among the first coordinates."""
    task = SparseRecovery.create(dim=9, measurements=4, sparsity=3, **structure)
    with pytest.raises(InvalidInput, match="pool"):
        with_curriculum(None, task, Curriculum(4, 1, 0.5), STEPS)  # type: ignore[arg-type]
