"""The recorder of descent against a plain loop, and the notice of divergence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saccade.descent import LARGEST, descend, divergence_report, watch, watched


def step(state, t):
    """Depends on the number of the step, so that a step too many or too few is seen."""
    return {"x": 0.9 * state["x"] + jnp.cos(t), "y": state["y"] - state["x"] / (1.0 + t)}


def observe(state, stop):
    return state["x"] + state["y"], stop


def by_hand(stops):
    state, seen, done = {"x": 1.0, "y": -2.0}, [], 0
    for stop in stops:
        for t in range(done, stop):
            before = dict(state)
            state["x"] = 0.9 * before["x"] + np.cos(t)
            state["y"] = before["y"] - before["x"] / (1.0 + t)
        done = stop
        seen.append(state["x"] + state["y"])
    return state, seen


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4).map(sorted))
def test_stops_are_numbers_of_steps_and_may_repeat(stops):
    start = {"x": jnp.asarray(1.0), "y": jnp.asarray(-2.0)}
    end, (seen, numbers) = jax.jit(lambda stops: descend(step, observe, start, stops))(
        jnp.asarray(stops))
    state, expected = by_hand(stops)
    np.testing.assert_allclose(seen, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(end["y"], state["y"], rtol=1e-12, atol=1e-12)
    assert numbers.tolist() == stops


@pytest.mark.parametrize(
    ("factor", "steps", "first"), [(10.0, 20, 9), (0.5, 20, -1), (10.0, 8, -1), (jnp.nan, 3, 1)])
def test_the_first_step_past_the_largest_number_is_noted(factor, steps, first):
    """From 1, ten times a step: 10^9 after nine steps is the first above the limit."""
    assert LARGEST == 1e8
    end, seen = descend(
        watched(lambda x, t: factor * x), lambda now, stop: now.diverged_at,
        watch(jnp.asarray(0.99)), jnp.asarray([1, steps]))
    assert int(end.diverged_at) == int(seen[-1]) == first


def test_the_sentence_names_the_step_and_what_to_change():
    assert divergence_report(-1, 0.5) == ""
    assert divergence_report(7, 0.5, "learning_rate") == (
        "diverged at step 7: learning_rate = 0.5 is too large; try a tenth of it.")
