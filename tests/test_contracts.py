"""Every task and every model of every study, held to `saccade.contracts`.

A study lists what it offers in its `contracts.py`: TASKS and MODELS (a name and how to make one
from a key, at small sizes that fit each other) and SYMMETRIES (what reordering tokens does to a
model). Studies from other packages are found and held to the same.
"""

import math
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.contracts import Learner, Model, Sample, Symmetry, Task
from saccade.studies import BUILT_IN, STUDIES

KEY = jax.random.key(20)
FALSE_ALARM = 1e-3  # of one test of one task, by the bound in `strongest`
# What may stand where there is no token: only a model that never touches it stays finite.
GARBAGE = (0.0, -3.0, 1e200, math.inf, math.nan)


# What the studies list.


@cache
def listed(what: str) -> dict[tuple[str, str], Any]:
    """All TASKS, MODELS or SYMMETRIES by (study, name)."""
    rooms = {name: study.room("contracts") for name, study in STUDIES.items()}
    return {
        (study, name): item for study, room in rooms.items() if find_spec(room)
        for name, item in getattr(import_module(room), what).items()}


@cache
def built(what: str, study: str, name: str) -> Any:
    return listed(what)[study, name](jax.random.fold_in(KEY, 1))


@cache
def drawn(study: str, name: str, number: int = 0, n: int = 8000) -> Any:
    return built("TASKS", study, name).sample(jax.random.fold_in(KEY, 2 + number), n)


def tokens_for(study: str, n: int = 6) -> np.ndarray:
    """Tokens of the study's first task: its models are made for them."""
    name = next(name for owner, name in listed("TASKS") if owner == study)
    return np.array(drawn(study, name).X[:n])


def cases(what: str) -> Any:
    return pytest.mark.parametrize(
        ("study", "name"), [pytest.param(*pair, id="/".join(pair)) for pair in listed(what)])


def test_every_built_in_study_lists_tasks_and_models():
    homes = {name for name, study in STUDIES.items() if study.package.startswith("saccade.")}
    assert len(homes) == len(BUILT_IN)
    for what in ("TASKS", "MODELS", "SYMMETRIES"):
        assert homes <= {study for study, _ in listed(what)}
    assert set(listed("SYMMETRIES")) == set(listed("MODELS"))


# Tasks.


@cases("TASKS")
def test_a_task_has_the_form_of_a_task(study, name):
    task, sample = built("TASKS", study, name), drawn(study, name)
    assert isinstance(task, Task) and isinstance(sample, Sample)
    assert isinstance(sample, tuple) and sample._fields[:3] == ("X", "y", "where")
    n = len(sample.y)
    assert sample.X.shape == (n, task.length, task.dim) and sample.y.shape == (n,)
    assert sample.where.shape == (n, task.length) and sample.where.dtype == bool
    assert all(jnp.issubdtype(a.dtype, jnp.floating) for a in (sample.X, sample.y))
    assert np.isfinite(sample.X).all() and np.isfinite(sample.y).all()
    assert sample.where.any() and not sample.where.all()
    assert task.kind in ("regression", "classification")
    labels = set(np.unique(sample.y).tolist())
    assert (labels == {-1.0, 1.0}) == (task.kind == "classification")


@cases("TASKS")
def test_a_key_decides_the_draw(study, name):
    task = built("TASKS", study, name)
    first, again, other = (task.sample(jax.random.key(seed), 20) for seed in (1, 1, 2))
    jax.tree.map(np.testing.assert_array_equal, tuple(first), tuple(again))
    assert not np.array_equal(first.X, other.X) and not np.array_equal(first.y, other.y)
    rows = np.asarray(first.X).reshape(20, -1)
    assert len(np.unique(rows, axis=0)) == 20


@cases("TASKS")
def test_the_best_predictor_beats_a_constant(study, name):
    task, sample = built("TASKS", study, name), drawn(study, name, number=1, n=2000)
    best, y = np.asarray(task.best(sample.X)), np.asarray(sample.y)
    assert best.shape == y.shape and np.isfinite(best).all()
    if task.kind == "regression":
        gain = (y - y.mean()) ** 2 - (y - best) ** 2
    else:
        majority = 1.0 if y.mean() > 0 else -1.0
        gain = (y != majority) * 1.0 - (y != np.where(best > 0, 1.0, -1.0))
    assert gain.mean() > 3.3 * gain.std() / math.sqrt(len(gain))


class Swap(NamedTuple):
    """Pairs of draws, and how their features differ in the tokens they may exchange."""

    targets: np.ndarray  # (pairs, functions of y, or of y and the tokens that matter)
    tokens: np.ndarray  # (pairs, functions of the exchanged tokens)


def features(X: np.ndarray) -> np.ndarray:
    """Every token, their sum, and the sum of their outer products."""
    outer = np.einsum("nli,nlj->nij", X, X)[:, *np.triu_indices(X.shape[2])]
    return np.concatenate([X.reshape(len(X), -1), X.sum(1), outer], axis=1)


def swap(sample: Any, inside: bool) -> Swap:
    """Pair draws whose `where` agrees (or nearly) and take the places outside `where` in both, or
    inside it. Differences within a pair change sign when those tokens are exchanged."""
    X, y, where = (np.asarray(a) for a in sample[:3])
    order = np.lexsort(where.T)[: len(y) // 2 * 2]
    one, two = order[::2], order[1::2]
    places = (where[one] & where[two]) if inside else ~(where[one] | where[two])
    functions = np.stack([y, y**2], axis=1)
    if not inside:  # what the tokens that matter do to y may not depend on the others either
        seen = np.where(where[:, :, None], X, 0).sum(1)
        functions = np.concatenate([functions, y[:, None] * seen], axis=1)
    taken = [features(X[part] * places[:, :, None]) for part in (one, two)]
    return Swap(functions[one] - functions[two], taken[0] - taken[1])


def strongest(pairs: Swap) -> float:
    """The largest of the M self-normalised sums |sum_k g_k| / (sum_k g_k^2)^1/2, g_k a product of a
    function of y and one of the tokens, over the bound that all M stay below with probability
    1 - FALSE_ALARM if exchanging the tokens changes nothing.

    Then g_k and -g_k are equally likely, whatever |g_k|, so that each sum is a weighted sum of fair
    signs: P(|sum| > t) <= 2 exp(-t^2 / 2) (Hoeffding), and t = (2 log(2 M / FALSE_ALARM))^1/2
    serves all of them. No law of large numbers is needed, and no variance is known.
    """
    sums = np.abs(pairs.targets.T @ pairs.tokens)
    sizes = np.sqrt((pairs.targets**2).T @ pairs.tokens**2)
    rounding = 1e-9 * sizes.max()
    bound = math.sqrt(2 * math.log(2 * sums.size / FALSE_ALARM))
    return float(np.max(np.where(sizes > rounding, sums / np.maximum(sizes, rounding), 0)) / bound)


@cases("TASKS")
def test_where_marks_what_matters(study, name):
    """Exchanging tokens outside `where` between draws leaves the joint law of them, of y and of the
    tokens inside; exchanging those inside does not."""
    sample = drawn(study, name)
    assert strongest(swap(sample, inside=False)) < 1
    assert strongest(swap(sample, inside=True)) > 1


# Toys: what keeps the contract passes, and each way of breaking it is seen.


class ToySample(NamedTuple):
    X: jax.Array
    y: jax.Array
    where: jax.Array


class Toy(eqx.Module):
    """y = the first coordinate of the marked token, or with `partner` its product with the same
    coordinate of the next; `shift` moves the mark away."""

    shift: int = eqx.field(static=True, default=0)
    partner: bool = eqx.field(static=True, default=False)
    kind = "regression"
    length, dim = 5, 3

    def sample(self, key: jax.Array, n: int) -> ToySample:
        place_key, token_key = jax.random.split(key)
        X = jax.random.normal(token_key, (n, self.length, self.dim))
        place = jax.random.randint(place_key, (n, 1), 0, self.length)
        first = X[:, :, 0] * (jnp.roll(X[:, :, 0], -1, axis=1) if self.partner else 1)
        y = jnp.take_along_axis(first, place, axis=1)[:, 0]
        return ToySample(X, y, jnp.arange(self.length) == (place + self.shift) % self.length)

    def best(self, X: jax.Array) -> jax.Array:
        return X[:, :, 0].mean(axis=1)


def test_the_toy_keeps_the_contract_of_a_task(getkey):
    assert isinstance(Toy(), Task)
    sample = Toy().sample(getkey(), 8000)
    assert strongest(swap(sample, inside=False)) < 1
    assert strongest(swap(sample, inside=True)) > 2


@pytest.mark.parametrize(
    "toy", [Toy(shift=1), Toy(partner=True), Toy(shift=1, partner=True)],
    ids=["wrong token", "one of two tokens", "the other of two tokens"])
def test_a_mark_at_the_wrong_token_is_seen(toy, getkey):
    assert strongest(swap(toy.sample(getkey(), 8000), inside=False)) > 1


def test_a_mark_at_a_token_without_effect_is_seen(getkey):
    assert strongest(swap(Toy(shift=1).sample(getkey(), 8000), inside=True)) < 1


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_promised(getkey):
    highest = [strongest(swap(Toy().sample(getkey(), 400), inside=False)) for _ in range(100)]
    assert max(highest) < 1


class ToyModel(eqx.Module):
    """Softmax attention; `faulty` names the part of the contract it breaks."""

    query: jax.Array
    positions: jax.Array
    faulty: str = eqx.field(static=True, default="")

    def attention(self, X, mask=None):
        scores = X @ self.query + self.positions
        if mask is not None and self.faulty != "blind to the mask":
            scores = jnp.where(mask, scores, -jnp.inf)
        return jax.nn.softmax(scores, axis=-1)

    def __call__(self, X, mask=None):
        if mask is not None and self.faulty != "touches masked tokens":
            X = jnp.where(mask[:, :, None], X, 0)
        return (self.attention(X, mask) * X[:, :, 0]).sum(axis=1)


def toy_model(faulty: str = "", positions=0.0) -> ToyModel:
    return ToyModel(jnp.arange(3) * 1.0, jnp.broadcast_to(jnp.asarray(positions), (5,)), faulty)


@pytest.fixture
def toy_tokens(getkey) -> np.ndarray:
    return np.array(Toy().sample(getkey(), 6).X)


def test_the_toy_keeps_the_contract_of_a_model(toy_tokens):
    hold_to_the_form(toy_model(), toy_tokens)
    hold_to_the_mask(toy_model(), toy_tokens)
    order = [4, 0, 3, 1, 2]
    assert is_symmetric(toy_model(), toy_tokens, order)
    assert not is_symmetric(toy_model(positions=np.arange(5.0)), toy_tokens, order)


@pytest.mark.parametrize("faulty", ["blind to the mask", "touches masked tokens"])
def test_a_model_that_sees_masked_tokens_is_seen(faulty, toy_tokens):
    with pytest.raises(AssertionError):
        hold_to_the_mask(toy_model(faulty), toy_tokens)


def test_a_learner_is_what_fits():
    class Constant:
        def fit(self, X, y, mask=None, *, key):
            return toy_model()

    assert isinstance(Constant(), Learner) and not isinstance(toy_model(), Learner)


# Models.


close = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-9)


def hold_to_the_form(model: Any, X: np.ndarray) -> None:
    """Shapes, finite numbers, a full mask is no mask, and compiled it says the same."""
    assert isinstance(model, Model)
    prediction, attention = model(X), model.attention(X)
    assert prediction.shape == X.shape[:1] and attention.shape == X.shape[:2]
    assert np.isfinite(prediction).all() and np.isfinite(attention).all()
    full = np.ones(X.shape[:2], bool)
    close(model(X, full), prediction)
    close(model.attention(X, full), attention)
    if isinstance(model, eqx.Module):
        compiled: Callable = eqx.filter_jit(lambda model, X, mask: model(X, mask))
        close(compiled(model, X, jnp.asarray(full)), prediction)


def hold_to_the_mask(model: Any, X: np.ndarray) -> None:
    """Attention is zero where there is no token, and what stands there changes nothing."""
    mask = np.random.default_rng(3).random(X.shape[:2]) < 0.6
    mask[:, 0] |= ~mask.any(axis=1)
    prediction, attention = model(X, mask), model.attention(X, mask)
    assert np.isfinite(prediction).all()
    assert (np.asarray(attention)[~mask] == 0).all()
    for garbage in GARBAGE:
        altered = np.where(mask[:, :, None], X, garbage)
        close(model(altered, mask), prediction)
        close(model.attention(altered, mask), attention)


def is_symmetric(model: Any, X: np.ndarray, order: list[int]) -> bool:
    """Whether reordering the tokens leaves the prediction and reorders the attention."""
    same = np.allclose(model(X[:, order]), model(X), rtol=1e-9, atol=1e-9)
    attention = np.asarray(model.attention(X))[:, order]
    return same and np.allclose(model.attention(X[:, order]), attention, rtol=1e-9, atol=1e-9)


@st.composite
def orders(draw, groups: list[int]) -> list[int]:
    """A reordering that leaves every token in its group."""
    order = list(range(len(groups)))
    for group in sorted(set(groups)):
        places = [place for place, other in enumerate(groups) if other == group]
        for place, token in zip(places, draw(st.permutations(places)), strict=True):
            order[place] = token
    return order


@cases("MODELS")
def test_a_model_has_the_form_of_a_model(study, name):
    hold_to_the_form(built("MODELS", study, name), tokens_for(study))


@cases("MODELS")
def test_a_masked_token_changes_nothing(study, name):
    hold_to_the_mask(built("MODELS", study, name), tokens_for(study))


@cases("MODELS")
def test_a_model_meets_every_task_of_its_size(study, name):
    model, shape = built("MODELS", study, name), tokens_for(study).shape[1:]
    for owner, task in listed("TASKS"):
        X = drawn(owner, task).X[:4]
        if X.shape[1:] == shape:
            assert np.isfinite(model(X)).all() and model.attention(X).shape == X.shape[:2]


@pytest.mark.slow
@cases("MODELS")
def test_reordering_tokens_does_what_is_stated(study, name):
    model, X = built("MODELS", study, name), tokens_for(study, n=3)
    symmetry: Symmetry = listed("SYMMETRIES")[study, name]
    length = X.shape[1]
    if symmetry.kind == "none":
        assert not is_symmetric(model, X, list(np.roll(np.arange(length), 1)))
        return
    invariant = symmetry.kind == "invariant"
    groups = [0] * length if invariant else np.asarray(symmetry.groups).tolist()
    assert len(groups) == length and (invariant or 1 < len(set(groups)) < length)

    @given(orders(groups))
    def check(order: list[int]) -> None:
        assert is_symmetric(model, X, order)

    check()
    if not invariant:  # the groups are there for a reason
        assert not is_symmetric(model, X, list(np.roll(np.arange(length), 1)))
