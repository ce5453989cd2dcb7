"""What a claim or a figure needs beyond the library: packages of an extra, or a data set."""

from importlib.util import find_spec
from typing import Any


def lacking(requires: str | None) -> dict[str, Any] | None:
    """What of `requires` is not here: packages of an extra, "nlp:safetensors,tokenizers", or image
    sets, "data:cifar10"."""
    kind, _, listed = (requires or "").partition(":")
    names = [name for name in listed.split(",") if name]
    if kind == "data":
        from saccade.datasets.images import how_to_get, is_here

        absent = [name for name in names if not is_here(name)]
        return {"data": absent, "get": how_to_get(absent[0])} if absent else None
    missing = [name for name in names if find_spec(name) is None]
    return {"extra": kind, "missing": missing} if missing else None
