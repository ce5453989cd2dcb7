"""What there is, from Python: `saccade.list()` shows everything by kind, `saccade.describe(NAME)`
one thing with its inputs, and `saccade.formulas.single_location.risk` is a calculator as a function
whose inputs a notebook completes.

Names and descriptions come from the index; a study is imported only when something is computed.
"""

import inspect
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, NamedTuple

from saccade.errors import require_word, unknown
from saccade.lab import index, record, tables
from saccade.studies import STUDIES

SHOWN = {
    "claims": tables.Claims, "figures": tables.Figures, "calculators": tables.Calculators,
    "experiments": tables.Experiments}


class Listing(NamedTuple):
    """Everything offered, by kind: lists of dictionaries that show themselves as tables."""

    studies: tables.Rows
    claims: tables.Rows
    figures: tables.Rows
    calculators: tables.Rows
    experiments: tables.Rows

    def __repr__(self) -> str:
        return "\n\n".join(f"{kind.capitalize()}\n{rows!r}" for kind, rows in self._named())

    def _repr_html_(self) -> str:
        return "".join(f"<h4>{kind}</h4>{rows._repr_html_()}" for kind, rows in self._named())

    def _named(self) -> list[tuple[str, tables.Rows]]:
        return [(kind, rows) for kind, rows in self._asdict().items() if rows]


def list_(study: str | None = None) -> Listing:
    """All claims, figures, calculators and experiments of one study, or of all."""
    found = index.listing(study)
    studies = [STUDIES[study]] if study else STUDIES.values()
    return Listing(
        tables.Studies(item._asdict() for item in studies),
        *(SHOWN[kind](found[kind]) for kind in SHOWN))


class Description(dict[str, dict[str, Any]]):
    """What bears a name, by kind (a calculator and a claim may share one); shows itself in lines,
    or in a notebook as tables."""

    def __repr__(self) -> str:
        return "\n\n".join("\n".join(_lines(kind, about)) for kind, about in self.items())

    def _repr_html_(self) -> str:
        return "".join(_html(kind, about) for kind, about in self.items())


def describe(name: str) -> Description:
    """What is called `name`: a claim (or its row, SL-P15), a figure, a calculator, an experiment or
    a study, with its inputs, their defaults and where it comes from; a claim with the experiment it
    judges, whose parameters `verify` may change."""
    require_word("name", name, "saccade.list() shows all")
    if name in STUDIES:
        counts = {kind: len(items) for kind, items in index.listing(name).items()}
        return Description({"study": STUDIES[name]._asdict() | counts})
    study = name.replace("/", ".").split(".")[0]
    listing = index.listing(study if study in STUDIES else None)
    found = {
        kind.removesuffix("s"): item for kind, items in listing.items() for item in items
        if name in (item["id"], item.get("spec"))}
    if "claim" in found:
        [found["claim"]] = record.in_listing([found["claim"]])
    if "claim" in found and "experiment" not in found:  # what verify may change
        judged = found["claim"]["experiment"]
        found |= {
            "experiment": next(item for item in listing["experiments"] if item["id"] == judged)}
    if not found:
        everything = [item for items in index.listing().values() for item in items]
        known = [name for item in everything for name in (item["id"], item.get("spec")) if name]
        raise unknown("claim, figure, calculator, experiment or study", name, [*known, *STUDIES])
    return Description(found)


def _lines(kind: str, about: Mapping[str, Any]) -> list[str]:
    lines = [f"{kind} {about.get('id') or about.get('name')}"]
    for key, value in _readable(about).items():
        if isinstance(value, Mapping) and value:
            width = max(map(len, value))
            lines.append(f"  {key}:")
            lines += [f"    {name:{width}}  {_told(item)}" for name, item in value.items()]
        elif key not in ("id", "name") and value not in (None, "", [], {}):
            lines.append(f"  {key}: {_told(value)}")
    return lines


def _readable(about: Mapping[str, Any]) -> dict[str, Any]:
    """The published verdict of a claim in one line."""
    said = {"published": record.told(about["published"])} if "published" in about else {}
    return {**about, **said}


def _told(value: Any) -> str:
    """A parameter of an experiment as `int = 400 (paper: 1000)`; a list by its names."""
    if isinstance(value, Mapping) and "type" in value:
        scales = ", ".join(f"{scale}: {item}" for scale, item in value["scales"].items())
        return f"{value['type']} = {value['default']}{f' ({scales})' if scales else ''}"
    if isinstance(value, list):
        return ", ".join(
            str(item.get("name", item)) if isinstance(item, Mapping) else str(item)
            for item in value)
    return str(value)


def _html(kind: str, about: Mapping[str, Any]) -> str:
    name, about = escape(str(about.get("id") or about.get("name"))), _readable(about)
    plain = [
        (key, _told(value)) for key, value in about.items()
        if not isinstance(value, Mapping) and key not in ("id", "name") and value not in (None, "")]
    parts = [
        tables.html_table(("", ""), [(name, _told(item)) for name, item in value.items()], key)
        for key, value in about.items() if isinstance(value, Mapping) and value]
    return f"<h4>{kind} {name}</h4>{tables.html_table(('', ''), plain)}{''.join(parts)}"


def formula(name: str) -> Callable[..., dict[str, Any]]:
    """A calculator as a function with its own signature: `formula("single-location.zeta")(t=1,
    variance=0.5)`."""
    from saccade.lab.calculator import find

    calculator = find(name)

    def ask(**inputs: Any) -> dict[str, Any]:
        return calculator(inputs)

    return _dressed(ask, name, calculator.inputs.model_fields, calculator.describe())


def runner(name: str) -> Callable[..., Any]:
    """An experiment as a function of its parameters, at the quick scale."""
    from saccade.lab import registry
    from saccade.lab.calculator import as_json
    from saccade.lab.run import run
    from saccade.lab.telling import Telling

    experiment = registry.one("experiment", name, registry.of_study(name, registry.experiments))

    def ask(**parameters: Any) -> Any:
        with Telling(name):
            return run(experiment, {key: as_json(value) for key, value in parameters.items()}).data

    return _dressed(ask, name, experiment.model.model_fields, experiment.describe())


def _dressed(
    ask: Callable[..., Any], name: str, fields: Mapping[str, Any], about: Mapping[str, Any]
) -> Callable[..., Any]:
    ask.__name__ = name.split(".", 1)[1].replace("-", "_")
    ask.__qualname__ = name
    ask.__doc__ = f"{about['about']}\n\n" + "\n".join(_lines("", about)[1:])
    ask.__signature__ = inspect.Signature(
        [  # type: ignore[attr-defined]
            inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, annotation=info.annotation,
                default=inspect.Parameter.empty if info.is_required() else info.default)
            for key, info in sorted(fields.items(), key=lambda item: not item[1].is_required())
        ])
    return ask


class Room:
    """Names as attributes, with underscores for hyphens, which a notebook completes: studies first,
    then what each has of one kind."""

    def __init__(self, kind: str, make: Callable[[str], Any], study: str | None = None):
        self._kind, self._make, self._study = kind, make, study

    def _names(self) -> dict[str, str]:
        if self._study is None:
            return {name.replace("-", "_"): name for name in STUDIES}
        items = index.listing(self._study)[self._kind]
        return {item["id"].split(".", 1)[1].replace("-", "_"): item["id"] for item in items}

    def __dir__(self) -> list[str]:
        return sorted(self._names())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = self._names()
        if name not in known:
            problem = unknown(self._kind.removesuffix("s"), name, known)
            raise AttributeError(str(problem)) from None
        if self._study is None:
            return Room(self._kind, self._make, known[name])
        return self._make(known[name])

    def __repr__(self) -> str:
        return f"{self._kind} of {self._study or 'the studies'}: {', '.join(dir(self))}"


formulas = Room("calculators", formula)
experiments = Room("experiments", runner)
