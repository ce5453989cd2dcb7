"""What a sweep asks for: a run by name, and the cells to evaluate it at: a grid, a list, or a
random design of named axes.

Everything is validated before anything runs; an unknown key is refused with the nearest name.
"""

import itertools
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from saccade.errors import InvalidInput, require, shown
from saccade.lab.calculator import as_json
from saccade.lab.experiment import LARGEST_SEED, number_for, validated

MOST_CELLS = 200_000  # laid out, each takes 5 kB; in the store, each is a folder
Place = dict[str, Any]
"""the values of the axes in one cell"""


class Span(BaseModel):
    """An axis by its ends: `count` even values in a grid, or a range of random draws."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    low: float = Field(description="the smallest value")
    high: float = Field(description="the largest value")
    count: int | None = Field(None, ge=1, description="number of values in a grid")
    spacing: Literal["linear", "log"] = "linear"
    whole: bool = Field(False, description="whole numbers only")

    def at(self, share: float) -> float | int:
        """The value at a share of the way from low to high."""
        if self.spacing == "log":
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + share * (self.high - self.low)
        value = min(max(value, self.low), self.high)
        return round(value) if self.whole else float(f"{value:.12g}")

    def values(self) -> list[float | int]:
        """The grid; whole numbers that fall together are given once."""
        count = self.count or 1
        return list(dict.fromkeys(
            self.at(number / (count - 1) if count > 1 else 0.0) for number in range(count)))


class Specification(BaseModel):
    """A sweep, as its TOML file writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: str = Field(
        description="an experiment or a calculator, or module:name of your own experiment")
    title: str = ""
    design: Literal["grid", "list", "random"] = "grid"
    axes: dict[str, Any] = Field(
        {}, description="parameter = list of values, or {low, high, count, spacing, whole}")
    cells: list[dict[str, Any]] = Field(
        [], description="the cells of a list design, parameters by name")
    samples: int | None = Field(None, ge=1, description="number of cells of a random design")
    fixed: dict[str, Any] = Field({}, description="parameters that all cells share")
    scale: str = "quick"
    replicates: int = Field(1, ge=1, description="independent repetitions of every cell")
    seed: int = Field(0, ge=0, le=LARGEST_SEED)


def specification(values: Mapping[str, Any]) -> Specification:
    """The validated sweep, or one sentence about the first thing that is wrong."""
    made = validated(Specification, as_json(values), "the sweep")
    assert isinstance(made, Specification)
    _check_design(made)
    both = sorted(
        set(made.fixed) & ({name for cell in made.cells for name in cell} | set(made.axes)))
    if both:
        raise InvalidInput(f"The parameter {both[0]!r} is both fixed and varied; give it once.")
    return made


def read(path: str | Path) -> Specification:
    """The sweep in a TOML file."""
    try:
        with open(path, "rb") as handle:
            values = tomllib.load(handle)
    except OSError as problem:
        raise InvalidInput(
            f"The sweep file {str(path)!r} cannot be read ({(problem.strerror or '').lower()})."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"The sweep file {str(path)!r} is not valid TOML ({problem}).") from None
    return specification(values)


def _check_design(made: Specification) -> None:
    needed = {"grid": "axes", "list": "cells", "random": "axes"}[made.design]
    if not getattr(made, needed):
        raise InvalidInput(f"A {made.design} design needs {needed}; the sweep has none.")
    other = "axes" if needed == "cells" else "cells"
    if getattr(made, other):
        raise InvalidInput(
            f"A {made.design} design takes {needed}, not {other}; remove them or change the design."
        )
    if (made.design == "random") != (made.samples is not None):
        rule = (
            "needs samples, the number of cells" if made.design == "random" else "takes no samples")
        raise InvalidInput(f"A {made.design} design {rule}.")


def _axis(name: str, given: Any, design: str) -> Span | list[Any]:
    if isinstance(given, Mapping):
        span = validated(Span, given, f"axis {name}")
        assert isinstance(span, Span)
        require(
            span.low <= span.high, f"axis {name}: low", span.low,
            f"must not be above high = {span.high:g}")
        require(
            span.spacing != "log" or span.low > 0, f"axis {name}: low", span.low,
            "must be above 0 with log spacing")
        wanted = design == "grid"
        require(
            (span.count is not None) == wanted, f"axis {name}: count", span.count,
            "belongs to grids, and they need it")
        return span
    if not isinstance(given, list | tuple | range) or not len(given):
        raise InvalidInput(
            f"axis {name} = {shown(given)} must be a list of values or hold low and high by name.")
    repeated = _repeated(given)
    require(not repeated, f"axis {name}", repeated[:1], "appears twice in the list")
    return list(given)


def _repeated(values: Sequence[Any]) -> list[Any]:
    """The values that came before; at once where they are numbers or words."""
    try:
        seen: set[Any] = set()
        return [value for value in values if value in seen or seen.add(value)]
    except TypeError:  # lists and the like
        return [value for number, value in enumerate(values) if value in values[:number]]


def grid_axes(made: Specification) -> dict[str, list[Any]]:
    """The values along each axis of a grid; nothing for other designs."""
    if made.design != "grid":
        return {}
    axes = {name: _axis(name, given, made.design) for name, given in made.axes.items()}
    return {name: axis.values() if isinstance(axis, Span) else axis for name, axis in axes.items()}


def check_count(made: Specification) -> None:
    """Refuse more than MOST_CELLS, counted without listing them."""
    if made.design == "grid":
        sizes = [_size(given) for given in made.axes.values()]
    else:
        sizes = [len(made.cells) if made.design == "list" else made.samples or 0]
    count = math.prod(sizes) * made.replicates
    require(
        count <= MOST_CELLS, "cells", count,
        f"are too many: a sweep may have {MOST_CELLS} with its replicates; take fewer or split it")


def _size(given: Any) -> int:
    """The number of values on an axis, or 1 where `_axis` will refuse it."""
    count = given.get("count") if isinstance(given, Mapping) else None
    if isinstance(count, int):
        return max(count, 1)
    return len(given) if isinstance(given, list | tuple | range) else 1


def places(made: Specification) -> list[Place]:
    """Every cell of the design, in order, without replicates."""
    check_count(made)
    if made.design == "list":
        return [dict(cell) for cell in made.cells]
    if made.design == "random":
        return _drawn(made)
    axes = grid_axes(made)
    return [dict(zip(axes, values)) for values in itertools.product(*axes.values())]


def _drawn(made: Specification) -> list[Place]:
    """Independent draws. Each axis has its own stream: more samples only add cells."""
    import numpy as np

    columns: dict[str, list[Any]] = {}
    for name, given in made.axes.items():
        axis = _axis(name, given, made.design)
        shares = np.random.default_rng(number_for(f"sweep axis {name}", 0, made.seed)).random(
            made.samples)
        if isinstance(axis, Span):
            columns[name] = [axis.at(float(share)) for share in shares]
        else:
            columns[name] = [axis[int(share * len(axis))] for share in shares]
    return [dict(zip(columns, values)) for values in zip(*columns.values())]
