"""The verbs, from Python: the same names and the same results as on the command line."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saccade.errors import InvalidInput, require, require_names, require_whole, unknown
from saccade.lab import ledger, registry
from saccade.lab import run as runs
from saccade.lab.calculator import as_json
from saccade.lab.experiment import SCALES, check_seed
from saccade.lab.store import Store
from saccade.lab.tables import Judged

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure as Drawing

    from saccade.estimators.advise import Advice
    from saccade.lab.workers import Watcher

Row = dict[str, Any]


OPTIONS = ("scale", "repetition", "seed", "store", "fresh", "precision")


def run(
    name: str, changes: Mapping[str, Any] | None = None, /, *, scale: str | None = None,
    repetition: int | None = None, seed: int | None = None, store: str | None = None,
    fresh: bool | None = None, precision: str | None = None, progress: bool = True, **more: Any,
) -> "xarray.Dataset":
    """The labelled dataset of experiment `name`, computed once and stored.

    Parameters are given as a mapping, `run("spatial.realistic", {"block": 3}, scale="standard")`,
    or as keywords, `run("single-location.descent", dim=100)`; keywords that an experiment shares
    with the options of running it are refused, so that neither is taken for the other.
    `precision="float32"` lets JAX compute in single precision; such runs are stored apart. What
    takes more than two seconds says so on standard error, here and in all verbs, unless `progress`
    is False or `$SACCADE_QUIET` is set.
    """
    from saccade.lab.telling import Telling

    require_names("changes", changes)
    experiment = registry.one("experiment", name, registry.of_study(name, registry.experiments))
    given = dict(zip(OPTIONS, (scale, repetition, seed, store, fresh, precision)))
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for option in options if changes is None else ():
        if option in experiment.model.model_fields:
            raise InvalidInput(
                f"{option!r} is a parameter of {name} and an option of running it; write"
                f' run({name!r}, {{"{option}": ...}}) for the parameter, or'
                f" run({name!r}, {{}}, {option}=...) for the option.")
    options["store"] = Store(store)
    asked = {name: as_json(value) for name, value in {**(changes or {}), **more}.items()}
    with Telling(f"saccade.run: {name}", wanted=progress):
        return runs.run(experiment, asked, **options).data


def verify(
    *patterns: str, scale: str = "quick", sabotage: bool = False, seed: int = 0, jobs: int = 1,
    store: str | None = None, fresh: bool = False, watch: "Watcher | None" = None,
    precision: str = "float64", changes: Mapping[str, Any] | None = None, progress: bool = True,
    **more: Any,
) -> list[Row]:
    """Judge the claims that match `patterns` (all if none); one dictionary per claim, as in the
    JSON of the command line. `watch` is told of each as it is judged. One that waits carries its
    row of the ledger of record as `published`, where that has a verdict.

    Other keywords are parameters of the claims' experiments, `verify("SL-P15", dim=50)`; so are
    `changes`, where a name means an option here. Rows are then marked as not the published setting.
    """
    from saccade.lab import costs, record, settings
    from saccade.lab.precisions import check_precision
    from saccade.lab.telling import Followed

    require_whole("jobs", jobs, 1)
    seed = check_seed(seed)
    require_names("changes", changes)
    chosen = registry.find_claims(patterns)
    check_precision(precision)
    own = settings.as_changes({**(changes or {}), **more})
    conditions = ledger.Conditions(scale, seed, sabotage, fresh, store, own, precision)
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    settings.check_claims(chosen, scale, own)
    conditions.store.check_writable()
    seconds = costs.of_claims(chosen, conditions)
    with Followed("saccade.verify", progress and watch is None) as followed:
        rows = ledger.judge_all(chosen, conditions, jobs, watch or followed, seconds)
    return Judged(record.with_published(rows))


def figure(
    name: str, changes: Mapping[str, Any] | None = None, /, *, scale: str = "quick", seed: int = 0,
    store: str | None = None, fresh: bool = False, progress: bool = True, **more: Any,
) -> "Drawing":
    """Draw figure `name`, for example `figure("single-location/4a")`; a matplotlib Figure. Other
    keywords (or a mapping) are parameters of its experiments, `figure("sparse-token/1", signal=3)`;
    the drawing then says that it is not the published setting."""
    from saccade.lab import costs
    from saccade.lab.figure import draw_as_asked
    from saccade.lab.settings import as_changes, changed_figure
    from saccade.lab.telling import Followed
    from saccade.lab.workers import Piece, carry_out

    require_names("changes", changes)
    chosen = registry.one("figure", name, registry.of_study(name, registry.figures))
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    seed = check_seed(seed)
    own = as_changes({**(changes or {}), **more})
    conditions = ledger.Conditions(scale, seed, fresh=fresh, folder=store)
    seconds = costs.of_figures([changed_figure(chosen, own)], conditions)[chosen.id]
    asked = chosen, own, scale, seed, conditions.store, fresh
    with Followed("saccade.figure", progress) as watch:
        return carry_out([Piece(chosen.id, draw_as_asked, asked, seconds)], watch=watch)[0]


def report(
    rows: list[Row] | None = None, folder: str | Path = "report", *, scale: str = "quick",
    seed: int = 0, store: str | None = None, jobs: int = 0, watch: "Watcher | None" = None,
    progress: bool = True, pdf: bool = False,
) -> Path:
    """Write the static report of judged `rows`, or of the ledger of record (then nothing is
    computed); the path of its first page. Figures are drawn in this process or in `jobs` others,
    and `watch` is told of each; with `pdf` each is there for print, too."""
    from saccade.lab.telling import Followed
    from saccade.report import write_recorded, write_report

    seed = check_seed(seed)
    require_whole("jobs", jobs, 0)
    require(isinstance(folder, str | Path), "folder", folder, "must be the name of a folder")
    if rows is None:
        return write_recorded(folder)
    is_list = isinstance(rows, list | tuple) and len(rows) > 0
    require(is_list, "rows", rows, "must be a list of at least one judged claim")
    with Followed("saccade.report", progress and watch is None) as followed:
        return write_report(
            rows, folder, scale=scale, seed=seed, store=Store(store), jobs=jobs,
            watch=watch or followed, pdf=pdf)


def advise(
    X: Any, y: Any, mask: Any = None, *, positive: Any = None, folds: int = 5, repeats: int = 2,
    seed: int = 0, progress: Callable[[float, str], None] | bool = True,
) -> "Advice":
    """Is attention worth it on bags X (n, L, d; or a list of (L_i, d) arrays) with labels y?

    Pooling, attention and others on the same folds (`folds` x `repeats`), with intervals; estimated
    signal; what the studies' theories predict; one sentence. `print` it, or `.page("x.html")`.
    `positive` is the label of bags that hold what is looked for [the larger label].
    `progress(amount, text)` is told of every fit, instead of standard error; amounts add up to 1.
    """
    from saccade.estimators.advise import advise as measure
    from saccade.lab.telling import Telling

    with Telling("saccade.advise", 1.0, wanted=progress is True) as telling:
        theories = {item.id: _theory(item) for item in registry.advisers()}
        return measure(
            X, y, mask, positive=positive, folds=folds, repeats=repeats, seed=seed,
            theories=theories, progress=progress if callable(progress) else telling)


def cite(study: str | None = None) -> str:
    """BibTeX of saccade and of the paper behind a study, or of all of them."""
    from saccade.studies import STUDIES

    if study is not None and (not isinstance(study, str) or study not in STUDIES):
        raise unknown("study", study, STUDIES)
    papers = [STUDIES[study]] if study else STUDIES.values()
    return "\n\n".join(dict.fromkeys([_own_entry(), *(item.bibtex for item in papers)]))


def _own_entry() -> str:
    from saccade import __version__

    return (
        "@software{saccade,\n  title = {saccade: when does attention learn where to look?},\n"
        "  author = {{The saccade authors}},\n"
        f"  version = {{{__version__}}},\n"
        "  note = {Papers on attention and sparse data, made executable}\n}")


def _theory(adviser: Any) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """An adviser's forecast as plain values."""
    from saccade.lab.adviser import Facts

    def forecast(facts: Mapping[str, Any]) -> Mapping[str, Any]:
        told = adviser.forecast(Facts(**facts))
        changes = [change._asdict() for change in told.changes]
        return told._asdict() | {
            "changes": changes, "errors": dict(told.errors), "facts": dict(facts),
            "says": adviser.says, "source": adviser.source, "status": adviser.status}

    return forecast
