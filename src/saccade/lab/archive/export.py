"""A dataset for other programs: zarr, netCDF, parquet or CSV. The ending of the name chooses."""

from pathlib import Path
from typing import TYPE_CHECKING

from saccade.errors import InvalidInput, unknown

if TYPE_CHECKING:
    import pandas
    import xarray

ENDINGS = (".zarr", ".nc", ".parquet", ".csv")


def check_ending(path: str) -> None:
    """Refuse an impossible output before anything is read."""
    if Path(path).suffix not in ENDINGS:
        raise InvalidInput(
            f"output = {path!r} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}.")


def export(data: "xarray.Dataset", path: str, variables: list[str] | None = None) -> Path:
    """Write `data`, or only some of its variables; a table has one row per cell, or one per entry
    if arrays are asked for."""
    check_ending(path)
    for name in variables or ():
        if name not in data.variables:
            raise unknown("variable in these runs", name, [str(known) for known in data.variables])
    chosen = (
        data[[*variables, *(["status"] if "status" not in variables else [])]] if variables
        else data)
    place = Path(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        {".zarr": _zarr, ".nc": _netcdf, ".parquet": _parquet, ".csv": _csv}[place.suffix](
            chosen, place, bool(variables))
    except OSError as problem:
        raise InvalidInput(
            f"output = {path!r} cannot be written ({(problem.strerror or str(problem)).lower()})."
        ) from None
    except ImportError as problem:
        raise InvalidInput(
            f"{place.suffix} files need {problem.name or 'a library'}, which is not installed: pip"
            " install 'saccade[export]'.") from None
    return place


def _zarr(data: "xarray.Dataset", path: Path, chosen: bool) -> None:
    # Format 2: words have no settled form in format 3 yet.
    data.to_zarr(path, mode="w", consolidated=False, zarr_format=2)


def _netcdf(data: "xarray.Dataset", path: Path, chosen: bool) -> None:
    from importlib.util import find_spec

    # netCDF-4 where it can be written; else the older format, which scipy writes.
    modern = find_spec("h5netcdf") and find_spec("h5py")
    data.to_netcdf(path, engine="h5netcdf" if modern else "scipy")


def _parquet(data: "xarray.Dataset", path: Path, chosen: bool) -> None:
    table(data, chosen).to_parquet(path, engine="pyarrow", index=False)


def _csv(data: "xarray.Dataset", path: Path, chosen: bool) -> None:
    table(data, chosen).to_csv(path, index=False)


def table(data: "xarray.Dataset", chosen: bool = False) -> "pandas.DataFrame":
    """One row per cell with every variable that is one number or word there; `chosen` variables may
    have more dimensions."""
    if not chosen:
        cells = set(data["status"].dims)
        data = data[[str(name) for name in data.data_vars if set(data[name].dims) <= cells]]
        if set(data.data_vars) == {"status"}:
            raise InvalidInput(
                "These runs hold arrays only; choose those for the table with --variables.")
        data = data.drop_vars(
            [str(name) for name in data.coords if not set(data[name].dims) <= cells])
    return data.to_dataframe().reset_index()
