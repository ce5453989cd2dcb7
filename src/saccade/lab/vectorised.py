"""Experiments that many cells of a sweep share as one program.

    @vectorised("my-study.regime", varying=("groups", "step_size"), outputs={"gap": ()})
    def regime(key, *, groups: int = 8, step_size: float = 0.5) -> dict[str, Array]: ...

is a pure JAX function of a key and numbers that is mapped over cells: parameters in `varying`
arrive as traced numbers. Where a cell is more than one such function (a list of states to make, an
end to name), the experiment takes the whole group itself:

    @in_groups("my-study.association", varying=("rate",))
    def association(keys, *, rate: float = 0.25, patches: int = 64) -> list[xarray.Dataset]: ...

There they arrive as NumPy arrays with an entry per cell. The other parameters are fixed for a group
and arrive as they are. Every group has the same `width`, a lone cell is padded with copies of
itself: memory is bounded by `width` cells, one compiled program serves all groups, and the numbers
of a cell do not depend on who shares its group. `check` looks at the parameters of one cell before
anything is computed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, update_wrapper
from typing import TYPE_CHECKING, Any

from saccade.lab.experiment import Batch, Experiment, experiment

if TYPE_CHECKING:
    import xarray

Dims = tuple[str, ...]
Scales = Mapping[str, Mapping[str, Any]]
Check = Callable[[Any], None]
Together = Callable[[Sequence[Any], Mapping[str, Any], Mapping[str, Any]], "list[xarray.Dataset]"]
"""keys, columns of what varies and values of what is fixed, for exactly `width` cells"""


def vectorised(
    id: str, *, varying: Sequence[str], outputs: Mapping[str, Dims], width: int = 16,
    scales: Scales | None = None, check: Check = lambda parameters: None,
) -> Callable[[Callable], Experiment]:
    """Register a pure `f(key, *, name: type = default, ...) -> {output: array}` with its dims."""

    def register(core: Callable) -> Experiment:
        return _registered(id, core, _mapped(core, outputs), varying, width, scales, check)

    return register


def in_groups(
    id: str, *, varying: Sequence[str], width: int = 16, scales: Scales | None = None,
    check: Check = lambda parameters: None,
) -> Callable[[Callable], Experiment]:
    """Register `f(keys, *, name: type of one = default, ...) -> [dataset of each cell]`."""

    def register(core: Callable) -> Experiment:
        return _registered(
            id, core, lambda keys, columns, fixed: core(keys, **columns, **fixed), varying, width,
            scales, check)

    return register


def _registered(
    id: str, core: Callable, together: Together, varying: Sequence[str], width: int,
    scales: Scales | None, check: Check,
) -> Experiment:
    made = experiment(id, scales)(core)

    def compute(keys: Sequence[Any], parameters: Sequence[Any]) -> list["xarray.Dataset"]:
        for one in parameters:
            check(one)
        groups = (slice(start, start + width) for start in range(0, len(parameters), width))
        return [
            data for group in groups
            for data in _padded(together, keys[group], parameters[group], varying, width)]

    def alone(key: Any, **values: Any) -> "xarray.Dataset":
        return compute([key], [made.model(**values)])[0]

    return replace(
        made, function=update_wrapper(alone, core), batch=Batch(frozenset(varying), width, compute))


def _padded(
    together: Together, keys: Sequence[Any], group: Sequence[Any], varying: Sequence[str],
    width: int,
) -> list["xarray.Dataset"]:
    """One dataset per cell of a group, padded to `width` with copies of its last cell."""
    import numpy as np

    places = [min(place, len(group) - 1) for place in range(width)]
    columns = {
        name: np.array([getattr(group[place], name) for place in places]) for name in varying}
    fixed = {
        name: getattr(group[0], name) for name in type(group[0]).model_fields if name not in varying
    }
    return together([keys[place] for place in places], columns, fixed)[: len(group)]


def _mapped(core: Callable, outputs: Mapping[str, Dims]) -> Together:
    """A function of one cell under vmap, compiled once for given fixed parameters."""

    @lru_cache(maxsize=32)
    def program(fixed: tuple[tuple[str, Any], ...]) -> Callable:
        import jax

        def cell(key_data, varying):
            return core(jax.random.wrap_key_data(key_data), **varying, **dict(fixed))

        return jax.jit(jax.vmap(cell))

    def together(
        keys: Sequence[Any], columns: Mapping[str, Any], fixed: Mapping[str, Any]
    ) -> list["xarray.Dataset"]:
        import jax
        import numpy as np
        import xarray

        data = np.stack([np.asarray(jax.random.key_data(key)) for key in keys])
        made = program(tuple(fixed.items()))(
            data, {name: values.astype(float) for name, values in columns.items()})
        found = {name: np.asarray(value) for name, value in made.items()}
        return [
            xarray.Dataset({name: (dims, found[name][place]) for name, dims in outputs.items()})
            for place in range(len(keys))]

    return together
