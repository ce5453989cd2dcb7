"""`saccade.sweep`: the same sweeps from Python."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saccade.errors import InvalidInput
from saccade.lab.engines import choose
from saccade.lab.store import Store
from saccade.lab.sweep.builtin import find
from saccade.lab.sweep.design import Specification, read, specification
from saccade.lab.sweep.execute import Outcome, execute
from saccade.lab.sweep.perform import Done
from saccade.lab.sweep.plan import plan

if TYPE_CHECKING:
    from saccade.lab.engines.cluster import Tls

Source = str | Path | Mapping[str, Any]


def sweep(
    source: Source, *, jobs: int | None = None, cluster: str | None = None,
    tls: "Tls | None" = None, store: str | None = None, retry: bool = False, dry_run: bool = False,
    done: Callable[[Done], None] = lambda done: None, **asked: Any,
) -> Outcome:
    """Evaluate many cells and keep each as a run: `sweep("single-location.risk", axes={"kappa":
    [0.1, 0.5]}, fixed={...}).open()`.

    `source` is a TOML file, a built-in sweep (`study/name`), a mapping with the contents of such a
    file, or the name of an experiment or a calculator, with `axes`, `cells`, `samples`, `design`,
    `fixed`, `scale`, `replicates`, `seed` beside it.
    """
    made, folder = understood(source, asked)
    engine = choose(jobs, cluster, tls)
    laid_out = plan(made, Store(store), folder, mend=not dry_run)
    if dry_run:
        return Outcome(laid_out, 0, 0.0)
    return execute(laid_out, engine, retry, done)


def understood(
    source: Source, asked: Mapping[str, Any] | None = None
) -> tuple[Specification, str | None]:
    """The specification that `source` means, and the folder in which its own modules are looked
    for."""
    asked = asked or {}
    if isinstance(source, Mapping):
        return specification({**source, **asked}), None
    if isinstance(source, str) and not source.endswith(".toml") and "/" not in source:
        return specification({"run": source, **asked}), None
    if asked:
        raise InvalidInput(
            f"{next(iter(asked))!r} cannot be given beside a sweep file; write it into a copy of"
            " the file.")
    if isinstance(source, Path) or source.endswith(".toml"):
        return read(source), str(Path(source).absolute().parent)
    return find(source).specification(), None
