"""Experiments that many cells of a sweep share as one program: a pure JAX function of a key and numbers, mapped over cells.

    @vectorised("group-sparse.regime", varying=("groups", "step_size"), outputs={"gap": (), "loss": ()})
    def regime(key, *, groups: int = 8, step_size: float = 0.5, steps: int = 5000) -> dict[str, Array]:

Parameters in `varying` arrive as traced numbers; the others are fixed for a group of cells and arrive as they are. Every group has
the same `width`, a lone cell is padded with copies of itself: memory is bounded by `width` cells, one compiled program serves all
groups, and the numbers of a cell do not depend on who shares its group. `check` looks at the parameters of one cell at the door.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, update_wrapper
from typing import TYPE_CHECKING, Any

from saccade.lab.experiment import Batch, Experiment, experiment

if TYPE_CHECKING:
    import xarray

Dims = tuple[str, ...]


def vectorised(
    id: str,
    *,
    varying: Sequence[str],
    outputs: Mapping[str, Dims],
    width: int = 16,
    scales: Mapping[str, Mapping[str, Any]] | None = None,
    check: Callable[[Any], None] = lambda parameters: None,
) -> Callable[[Callable], Experiment]:
    """Register a pure function `f(key, *, name: type = default, ...) -> {output: array}` with the dimensions of its outputs."""

    def register(core: Callable) -> Experiment:
        made = experiment(id, scales)(core)
        program = _program(core)

        def compute(keys: Sequence[Any], parameters: Sequence[Any]) -> list["xarray.Dataset"]:
            for one in parameters:
                check(one)
            groups = (slice(start, start + width) for start in range(0, len(parameters), width))
            return [
                data
                for group in groups
                for data in _group(program, keys[group], parameters[group], varying, outputs, width)
            ]

        def alone(key: Any, **values: Any) -> "xarray.Dataset":
            return compute([key], [made.model(**values)])[0]

        return replace(made, function=update_wrapper(alone, core), batch=Batch(frozenset(varying), width, compute))

    return register


def _program(core: Callable) -> Callable[[tuple], Callable]:
    """The compiled program for given fixed parameters."""

    @lru_cache(maxsize=32)
    def compiled(fixed: tuple[tuple[str, Any], ...]) -> Callable:
        import jax

        def cell(key_data, varying):
            return core(jax.random.wrap_key_data(key_data), **varying, **dict(fixed))

        return jax.jit(jax.vmap(cell))

    return compiled


def _group(
    program: Callable,
    keys: Sequence[Any],
    group: Sequence[Any],
    varying: Sequence[str],
    outputs: Mapping[str, Dims],
    width: int,
) -> list["xarray.Dataset"]:
    """One dataset per cell of a group of at most `width`."""
    import jax
    import numpy as np
    import xarray

    places = [min(place, len(group) - 1) for place in range(width)]
    data = np.stack([np.asarray(jax.random.key_data(keys[place])) for place in places])
    columns = {name: np.array([float(getattr(group[place], name)) for place in places]) for name in varying}
    names = [name for name in type(group[0]).model_fields if name not in varying]
    run = program(tuple((name, getattr(group[0], name)) for name in names))
    found = {name: np.asarray(value) for name, value in run(data, columns).items()}
    return [
        xarray.Dataset({name: (dims, found[name][place]) for name, dims in outputs.items()})
        for place in range(len(group))
    ]
