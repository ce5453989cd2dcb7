"""What the map computes with: measures, closed forms against brute force, the room that
finds tasks and learners, and one cell of every learner."""

import itertools
from typing import Any

import jax
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from saccade.errors import InvalidInput
from saccade.lab import charting, registry
from saccade.studies.attention_atlas import experiments, measures, runs, theory
from saccade.studies.attention_atlas.learners.lasso import shrunk
from saccade.studies.attention_atlas.task import Split

KEY = jax.random.key(4)


def random(seed=0):
    return np.random.default_rng(seed)


def test_the_proximal_step_shortens_rows():
    w = np.array([[3.0, 4.0], [0.1, 0.0]])
    assert np.allclose(shrunk(w, 1.0), [[2.4, 3.2], [0.0, 0.0]])


def test_localisation_is_the_auroc_within_samples():
    weights, where = random().random((30, 5)), np.zeros((30, 5), bool)
    where[np.arange(30), random(1).integers(0, 5, 30)] = True
    found = measures.looking(weights, where)
    by_hand = np.mean([roc_auc_score(w, x) for w, x in zip(where, weights, strict=True)])
    assert found.auroc == pytest.approx(by_hand)
    assert found.top1 == pytest.approx(where[np.arange(30), weights.argmax(axis=1)].mean())


def test_even_weights_look_by_chance():
    where = np.arange(4) == np.array([[0], [3]])
    assert measures.looking(np.full((2, 4), 0.25), where) == (0.5, 0.25)


def test_what_is_not_there_is_not_compared():
    """Padding weighs nothing and does not matter: with it as without it."""
    weights, where = random().random((9, 5)), np.arange(5) < random(1).integers(1, 4, (9, 1))
    wider = [np.concatenate([table, 0 * table], axis=1) for table in (weights, where)]
    mask = np.arange(10) < 5 + np.zeros((9, 1))
    assert measures.looking(wider[0], wider[1], mask) == measures.looking(weights, where)
    even = measures.looking(mask / 5.0, wider[1], mask)
    assert even.auroc == 0.5 and even.top1 == pytest.approx(where.mean())


def test_the_null_is_the_more_frequent_label_or_the_mean():
    y = np.array([1.0, 1.0, 1.0, -1.0])
    assert measures.null_error(y, "classification") == 0.25
    assert measures.null_error(y, "regression") == pytest.approx(0.75)


def test_labels_that_are_all_alike_are_learned():
    """Rare labels may be missing from what is learned from: a constant, and no failure."""
    X, y = random().standard_normal((20, 4, 3)), -np.ones(20)
    for name in ("two-step", "place-sets", "pooled", "softmax"):
        learner: Any = experiments.find_learner(name).of("classification")
        model = learner.fit(X, y, key=KEY)
        assert (model(X) < 0).all() and np.isfinite(model.attention(X)).all()


def test_nothing_to_find_is_not_a_number():
    assert np.isnan(measures.looking(np.ones((2, 3)), np.ones((2, 3), bool)).auroc)


def test_the_majority_of_signs_by_listing():
    """The error of the best orderless guess of the first sign, over all patterns of L signs."""
    for length in (2, 3, 6):
        wrong = 0.0
        for signs in itertools.product((-1, 1), repeat=length):
            total = sum(signs)
            wrong += 0.5 if total == 0 else float(np.sign(total) != signs[0])
        expected = wrong / 2**length / 0.5
        assert theory.blind_to_places_classification(length) == pytest.approx(expected)


def test_the_best_linear_function_by_least_squares():
    law = 0.5 * np.eye(4)[0] + 0.5 / 4
    task = next(one for one in registry.charted_tasks() if one.id == "moving-50").make(KEY, 4, 3)
    sample = task.sample(jax.random.fold_in(KEY, 1), 40_000)
    X, y = np.asarray(sample.X).reshape(40_000, -1), np.asarray(sample.y)
    table = np.column_stack([X, np.ones(len(y))])
    left = y - table @ np.linalg.lstsq(table, y, rcond=None)[0]
    best = float(np.mean(np.square(np.asarray(task.best(sample.X)) - y)))
    excess = (np.mean(left**2) - best) / (0.5 - best)
    assert theory.linear_in_all_tokens(law, 0.5**0.5, best) == pytest.approx(excess, abs=0.02)


@pytest.mark.parametrize(("informative", "signal"), [(1, 2.0), (3, 1.3)])
def test_looking_along_the_direction_by_drawing(informative, signal):
    scores = random().standard_normal((40_000, 6))
    scores[:, :informative] += signal
    where = np.broadcast_to(np.arange(6) < informative, scores.shape)
    drawn = measures.looking(scores, where)
    expected = theory.looking_along_the_direction(6, informative, signal)
    assert drawn == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_best_of_a_split_signal_is_unbiased_and_best(share):
    task = Split.create(KEY, 4, 6, share)
    sample = task.sample(jax.random.fold_in(KEY, 2), 20_000)
    guess = task.best(sample.X)
    assert sample.y.var() == pytest.approx(1, abs=0.05)
    assert np.mean((sample.y - guess) * guess) == pytest.approx(0, abs=0.03)
    assert np.mean((sample.y - guess) ** 2) < sample.y.var()


def test_the_score_of_runs_is_the_likelihood_ratio():
    X, lengths, _ = runs.bags_with_a_run(random(), 5, 3, 1.3)
    for row, length in enumerate(lengths):
        ratios = [
            np.exp(sum(1.3 * x - 1.3**2 / 2 for x in X[row, u : u + 3])) for u in range(length - 2)]
        found = runs.best_scores(X[row : row + 1], lengths[row : row + 1], 3, 1.3)
        assert found[0] == pytest.approx(np.log(np.mean(ratios)))


def test_every_study_brings_tasks_and_names_are_single():
    tasks, learners = registry.charted_tasks(), registry.charted_learners()
    for items in (tasks, learners):
        assert len({one.id for one in items}) == len(items)
    assert len({one.study for one in tasks}) >= 5 and len(learners) >= 13


@pytest.mark.parametrize("name", [one.id for one in registry.charted_learners() if one.quick])
def test_a_cell_of_every_learner(name):
    learner = experiments.find_learner(name)
    task = "sparse-token-1" if "classification" in learner.kinds else "split-50"
    asked = experiments.cell.parameters(
        "quick", {"task": task, "learner": name, "samples": 60, "draws": 2, "test": 200})
    data = experiments.cell.compute(KEY, asked)
    assert np.isfinite(data.excess).all() and (data.word == 0).all()
    assert ((data.auroc >= 0) & (data.auroc <= 1)).all()
    again = experiments.cell.compute(KEY, asked)
    assert np.array_equal(again.error, data.error)


def outcomes(task, learners, samples, **sizes):
    asked = [experiments.Meeting(task, one, count) for one in learners for count in samples]
    sizes = {"draws": 2, "length": 6, "dim": 4, "test": 100} | sizes
    return experiments.outcomes(KEY, asked, **sizes)


def test_learners_meet_the_same_draws():
    found = outcomes("group-sparse", ("null", "pooled"), (40, 80))
    assert (found["best"] == found["best"][0]).all() and (found["null"] == found["null"][0]).all()
    assert found["error"][2, 0] != found["error"][3, 0]


def test_a_smaller_sample_is_the_beginning_of_a_larger_one():
    sizes = experiments.Sizes(experiments.POOL, 6, 4, 100, (0, 1))
    draw = experiments.draw_of("split-50", 3, sizes)
    assert draw.known.rows(slice(9)).X is not None and len(draw.known.y) == experiments.POOL
    assert np.array_equal(draw.known.rows(slice(9)).X, draw.known.rows(slice(50)).X[:9])


def test_meetings_are_lists_side_by_side():
    assert experiments.aligned(a=(1, 2), b=(3,)) == [(1, 3), (2, 3)]
    with pytest.raises(InvalidInput, match="b = 2 entries must be 1, or 3"):
        experiments.aligned(a=(1, 2, 3), b=(1, 2))


def test_the_guess_without_order_is_a_conditional_mean():
    """What it leaves is at right angles to it, and to the sum of all tokens along u."""
    task = Split.create(KEY, 4, 6, 0.0)
    sample = task.sample(jax.random.fold_in(KEY, 3), 40_000)
    guess = task.without_order(sample.X, 4)
    left = sample.y - guess
    assert np.mean(left * guess) == pytest.approx(0, abs=0.01)
    assert np.mean(left * (sample.X @ task.directions[1]).sum(axis=1)) == pytest.approx(0, abs=0.03)
    shuffled = sample.X[:, np.random.default_rng(0).permutation(4)]
    assert np.allclose(task.without_order(shuffled, 4), guess)


def test_what_is_refused():
    tasks, learners = registry.charted_tasks(), registry.charted_learners()
    with pytest.raises(InvalidInput, match="did you mean 'group-sparse'"):
        charting.chosen("task", ["group-spars"], tasks, "quick")
    with pytest.raises(InvalidInput, match="takes classification only"):
        charting.laid(
            charting.chosen("task", ["split-0"], tasks, "quick"),
            charting.chosen("learner", ["two-step"], learners, "quick"), [50], 8, 8)
    with pytest.raises(InvalidInput, match="must be even"):
        experiments.kind_of("spatial", 7, 8)
    with pytest.raises(InvalidInput, match="has 1797 and keeps 30 to judge by"):
        outcomes("digits", ("null",), (1797,))
    with pytest.raises(InvalidInput, match="one length only"):
        experiments.find_learner("flattened").of("classification", ragged=True)
    for text, word in (("10,x", "whole numbers"), ("3", "from 8"), ("50,50", "twice")):
        with pytest.raises(InvalidInput, match=word):
            charting.sizes(text)


def test_a_diverged_draw_is_a_result_with_a_word():
    class Broken:
        kinds = ("classification",)
        id = "broken"

        def of(self, kind, ragged):
            return self

        def fit(self, X, y, mask=None, *, key):
            return lambda X, mask: np.full(len(X), np.nan)

    draw = experiments.draw_of("group-sparse", 0, experiments.Sizes(50, 6, 4, 100, (0, 1)))
    found = experiments.met(Broken(), draw, 50, KEY)
    assert found["word"] == 1 and np.isnan(found["excess"])
