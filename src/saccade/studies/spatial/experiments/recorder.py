"""The recorder of descent beside a loop: a map that knows its step, seen at uneven stops, and the
step at which it leaves the numbers of training."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.descent import LARGEST, descend, watch, watched
from saccade.lab.experiment import experiment

STOPS = (0, 1, 4, 9)
START = (0.3, -0.9)
"""The second leaves first, downwards."""


@experiment("spatial.recorder")
def recorder(key: Any, *, later: int = 0, growth: float = 7.0) -> xarray.Dataset:
    """States and stops as observed, the end, and when x <- growth x + t is first too large; by the
    recorder and by a loop, whose steps count from `later` on."""

    def step(x: Any, t: Any) -> Any:
        return growth * x + 0.1 * t

    def run(start: Any, stops: Any) -> Any:
        end, seen = descend(
            watched(step), lambda now, stop: (now.state, 2 * stop), watch(start), stops)
        return end.state, end.diverged_at, *seen

    stops = np.array(STOPS)
    state, diverged_at, states, marks = jax.jit(run)(np.array(START), stops)
    far = jax.jit(run)(np.array(START), np.array([0, 5, 40, 40]))[1]
    x, plain, first = np.array(START), [], -1
    for t in range(later, 41 + later):
        if t - later in STOPS:
            plain.append(x)
        x = step(x, t)
        if first < 0 and np.abs(x).max() >= LARGEST:
            first = t + 1
    made = [*np.ravel(states), *np.ravel(state), *marks, diverged_at, far]
    by_hand = [*np.ravel(plain), *plain[-1], *(2 * stops + later), -1 - later, first]
    return xarray.Dataset({"made": ("part", np.array(made, float)), "plain": ("part", by_hand)})
