"""Many runs as one dataset: the axes of a grid become dimensions, other designs get the dimension
`cell`; `status` says which are there. It is written for other programs as zarr, netCDF, parquet or
CSV, as the ending of the name says.

Arrays are stacked cell by cell. Where cells have different sizes, the smaller are padded with NaN
(numbers become floats) or empty words, and the variable's attribute `padded` says so. Cells that
are not there are padded whole.
"""

import warnings
from collections.abc import Mapping, Sequence
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from saccade.errors import InvalidInput, unknown
from saccade.lab.archive.runs import DAMAGED, printable
from saccade.lab.layout import DAMAGE, FINISHED, Contents, canonical, repetition_of
from saccade.lab.store import DamagedRun, Store
from saccade.lab.sweep.plan import Plan
from saccade.lab.whole import whole

if TYPE_CHECKING:
    import pandas
    import xarray

REPLICATE = "replicate"
CELL = "cell"
ENDINGS = (".zarr", ".nc", ".parquet", ".csv")


class Frame(NamedTuple):
    """How cells are arranged: dimensions with their labels, further columns, and every status."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    labels: Mapping[str, tuple[tuple[str, ...], Any]]
    status: Sequence[str]


def gather_plan(plan: Plan) -> "xarray.Dataset":
    """The cells of a sweep as one dataset."""
    words = [plan.status[cell.name] for cell in plan.cells]
    found = [
        _read(plan.store, cell.name) if word == FINISHED else None
        for cell, word in zip(plan.cells, words, strict=True)]
    status = [
        DAMAGED if contents is None and word == FINISHED else word
        for word, contents in zip(words, found, strict=True)]
    replicates = plan.specification.replicates
    axes = plan.axes
    if axes:
        dims, shape = (*axes, REPLICATE), (*(len(values) for values in axes.values()), replicates)
        labels = {name: ((name,), _label(values)) for name, values in axes.items()}
    else:
        dims, shape = (CELL, REPLICATE), (len(plan.cells) // replicates, replicates)
        places = [cell.place for cell in plan.cells[::replicates]]
        names = list({name: None for place in places for name in place})
        labels = {
            name: ((CELL,), _label([place.get(name, np.nan) for place in places])) for name in names
        }
    whole = stack(Frame(dims, shape, labels, status), found)
    whole.attrs |= {
        "run": plan.target.label, "title": plan.specification.title,
        "seed": plan.specification.seed}
    return whole.squeeze(REPLICATE, drop=True) if replicates == 1 else whole


def _read(store: Store, name: str) -> Contents | None:
    """Verified contents; a damaged run is reported and left: to open runs changes no store."""
    try:
        return store.contents(name)
    except DAMAGE as problem:
        warnings.warn(
            f"Run {name} is damaged ({printable(problem)}) and left out.", DamagedRun, stacklevel=4)
        return None


def gather_names(store: Store, names: Sequence[str]) -> "xarray.Dataset":
    """Finished runs of one experiment along `cell`, labelled by the parameters that differ."""
    found = [contents for name in names if (contents := _read(store, name)) is not None]
    if not found:
        raise InvalidInput("There is no finished run to open.")
    requests = [contents.record["request"] for contents in found]
    experiments = sorted({request["experiment"] for request in requests})
    if len(experiments) > 1:
        raise InvalidInput(
            f"These are runs of {len(experiments)} experiments ({', '.join(experiments[:4])}, ...);"
            " choose one.")
    columns = {
        "repetition": [repetition_of(request) for request in requests],
        "seed": [request["seed"] for request in requests]}
    columns |= {
        name: [request["parameters"].get(name) for request in requests]
        for name in requests[0]["parameters"]}
    different = {
        name: values for name, values in columns.items()
        if len({canonical(value) for value in values}) > 1}
    labels = {name: ((CELL,), _label(values)) for name, values in different.items()}
    frame = Frame((CELL,), (len(found),), labels, [FINISHED] * len(found))
    whole = stack(frame, found)
    whole.attrs["run"] = experiments[0]
    return whole


def _label(values: Sequence[Any]) -> np.ndarray:
    """Values as an array of numbers or words; anything else by its JSON."""
    if all(isinstance(value, bool | int | float) for value in values):
        return np.asarray(values)
    return np.asarray([value if isinstance(value, str) else canonical(value) for value in values])


def stack(frame: Frame, found: Sequence[Contents | None]) -> "xarray.Dataset":
    import xarray

    names = list({name: None for contents in found if contents for name in contents.variables})
    first = next((contents for contents in found if contents), None)
    constant, data = {}, {}
    for name in names:
        entries = [contents.variables.get(name) if contents else None for contents in found]
        if _shared_coordinate(name, first, entries):
            constant[name] = next(entry for entry in entries if entry)
        else:
            data[_free(name, frame)] = _stacked(frame, entries)
    status = (frame.dims, np.asarray(frame.status).reshape(frame.shape))
    return xarray.Dataset({**data, "status": status}).assign_coords({**constant, **frame.labels})


def _free(name: str, frame: Frame) -> str:
    """A variable that bears the name of an axis of the sweep gets another."""
    return (
        f"{name}_in_run" if name in frame.labels or name in frame.dims or name == "status" else name
    )


def _shared_coordinate(name: str, first: Contents | None, entries: Sequence[Any]) -> bool:
    """Whether every cell has the same coordinate, so that it is given once."""
    if first is None or not first.record["arrays"].get(name, {}).get("coordinate"):
        return False
    values = [entry[1] for entry in entries if entry]
    return all(
        value.shape == values[0].shape and np.array_equal(value, values[0]) for value in values)


def _stacked(
    frame: Frame, entries: Sequence[Any]
) -> tuple[tuple[str, ...], np.ndarray, dict[str, Any]]:
    there = [entry for entry in entries if entry]
    dims, attrs = list(there[0][0]), dict(there[0][2])
    ranks = {entry[1].ndim for entry in there}
    if len(ranks) > 1:
        raise InvalidInput(
            "The runs hold arrays of different numbers of dimensions; they cannot be opened as one"
            " dataset.")
    shape = tuple(max(sizes) for sizes in zip(*(entry[1].shape for entry in there))) if dims else ()
    whole = len(there) == len(entries) and all(entry[1].shape == shape for entry in there)
    if whole:
        stacked = np.stack([entry[1] for entry in entries])
    else:
        if any(entry[1].shape != shape for entry in there):
            attrs["padded"] = 1
        stacked = np.full((len(entries), *shape), *_filler([entry[1] for entry in there]))
        for number, entry in enumerate(entries):
            if entry:
                stacked[(number, *(slice(size) for size in entry[1].shape))] = entry[1]
    return (*frame.dims, *dims), stacked.reshape(*frame.shape, *shape), attrs


def _filler(arrays: Sequence[np.ndarray]) -> tuple[Any, Any]:
    """What stands for nothing, and the type that can hold it."""
    kind = np.result_type(*arrays)
    if kind.kind == "U":
        return "", kind
    return np.nan, kind if kind.kind in "fc" else np.dtype(float)


def check_ending(path: str) -> None:
    """Refuse an impossible output before anything is read."""
    if Path(path).suffix not in ENDINGS:
        raise InvalidInput(
            f"output = {path!r} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}.")


def export(data: "xarray.Dataset", path: str, variables: list[str] | None = None) -> Path:
    """Write `data` or some `variables`; a table has a row per cell, or per entry of the latter."""
    check_ending(path)
    for name in variables or ():
        if name not in data.variables:
            raise unknown("variable in these runs", name, [str(known) for known in data.variables])
    chosen = data[list(dict.fromkeys([*variables, "status"]))] if variables else data
    place = Path(path)
    try:
        with whole(path) as part:
            _write(chosen, part, bool(variables))
    except ImportError as problem:
        raise InvalidInput(
            f"{place.suffix} files need {problem.name or 'a library'}, which is not installed: pip"
            " install 'saccade[export]'.") from None
    return place


def _write(data: "xarray.Dataset", path: Path, chosen: bool) -> None:
    if path.suffix == ".zarr":
        # Format 2: words have no settled form in format 3 yet.
        data.to_zarr(path, mode="w", consolidated=False, zarr_format=2)
    elif path.suffix == ".nc":
        # netCDF-4 where it can be written; else the older format, which scipy writes.
        modern = util.find_spec("h5netcdf") and util.find_spec("h5py")
        data.to_netcdf(path, engine="h5netcdf" if modern else "scipy")
    elif path.suffix == ".parquet":
        table(data, chosen).to_parquet(path, engine="pyarrow", index=False)
    else:
        table(data, chosen).to_csv(path, index=False)


def table(data: "xarray.Dataset", chosen: bool = False) -> "pandas.DataFrame":
    """A row per cell, with what is one number or word there; `chosen` variables may be arrays."""
    if not chosen:
        cells = set(data["status"].dims)
        data = data[[str(name) for name in data.data_vars if set(data[name].dims) <= cells]]
        if set(data.data_vars) == {"status"}:
            raise InvalidInput(
                "These runs hold arrays only; choose those for the table with --variables.")
        data = data.drop_vars(
            [str(name) for name in data.coords if not set(data[name].dims) <= cells])
    return data.to_dataframe().reset_index()
