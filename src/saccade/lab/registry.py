"""Finds what the studies offer: claims, experiments, figures and calculators, by name or by pattern, with the nearest name on a miss."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from saccade.errors import unknown
from saccade.studies import STUDIES

if TYPE_CHECKING:
    from saccade.lab.benchmark import Benchmark
    from saccade.lab.calc import Calculator
    from saccade.lab.claim import Claim
    from saccade.lab.experiment import Experiment
    from saccade.lab.figure import Figure


def _offered(room: str, attribute: str, study: str | None) -> list[Any]:
    """`saccade.<room>.<study>.<ATTRIBUTE>` of one study, or of all in order; a study from elsewhere may leave rooms out."""
    if study is not None and study not in STUDIES:
        raise unknown("study", study, STUDIES)
    names = [study] if study else list(STUDIES)
    studies = [STUDIES[name] for name in names if not STUDIES[name].package or find_spec(STUDIES[name].room(room))]
    modules = [import_module(study.room(room)) for study in studies]
    return [item for module in modules for item in getattr(module, attribute)]


def claims(study: str | None = None) -> "list[Claim]":
    return _offered("claims", "CLAIMS", study)


def experiments(study: str | None = None) -> "list[Experiment]":
    return _offered("experiments", "EXPERIMENTS", study)


def figures(study: str | None = None) -> "list[Figure]":
    return _offered("figures", "FIGURES", study)


def calculators(study: str | None = None) -> "list[Calculator]":
    return _offered("calculators", "CALCULATORS", study)


def benchmarks(study: str | None = None) -> "list[Benchmark]":
    return _offered("benchmarks", "BENCHMARKS", study)


def one(kind: str, name: str, items: Iterable[Any]) -> Any:
    """The item called `name`, or a refusal that suggests the nearest."""
    by_id = {item.id: item for item in items}
    if name not in by_id:
        raise unknown(kind, name, by_id)
    return by_id[name]


def find_claims(patterns: Sequence[str] = ()) -> "list[Claim]":
    """Claims whose id, study or spec row matches any pattern (shell wildcards); every pattern must match something."""
    known = claims()
    if not patterns:
        return known
    wanted: set[str] = set()
    for pattern in patterns:
        matched = {claim.id for claim in known if _matches(claim, pattern)}
        if not matched:
            names = [claim.id for claim in known] + [claim.spec for claim in known] + list(STUDIES)
            raise unknown("claim", pattern, names)
        wanted |= matched
    return [claim for claim in known if claim.id in wanted]


def _matches(claim: "Claim", pattern: str) -> bool:
    names = (claim.id, claim.id.split(".", 1)[1], claim.study, claim.spec)
    return any(fnmatchcase(name, pattern) for name in names)
