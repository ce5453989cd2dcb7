"""The studies: one paper each, one folder each, with its names, its citation and the question it
answers.

`saccade/studies/<study>/study.py` describes a study as STUDY. A package of somebody else's has the
same form and says where its STUDY is by an entry point of the group `saccade.studies`; `saccade
new-study NAME` lays such a package out. Both are found by the same code.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

GROUP = "saccade.studies"
BUILT_IN = (
    "single_location", "sparse_token", "group_sparse", "sparse_recovery", "spatial",
    "softmax_location", "bag_estimators", "attention_atlas")


class Study(NamedTuple):
    """One paper: `package` is the folder of everything about it, `prefix` begins the names of its
    rows, `highlights` are its most surprising claims, without the study's name; `judges` are shared
    packages whose formulas its claims judge, and which mutants therefore alter with its own."""

    name: str
    prefix: str
    title: str
    authors: str
    year: int
    venue: str
    asks: str
    package: str
    highlights: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()

    def room(self, name: str) -> str:
        """The module that holds this study's claims, figures, ..."""
        return f"{self.package}.{name}"

    @property
    def bibtex(self) -> str:
        """A BibTeX entry; the author line is left out where the names are not known to us."""
        key = self.authors.split(" and ")[0].split(",")[0].lower() if self.authors else self.name
        fields = {
            "title": self.title, "author": self.authors, "booktitle": self.venue,
            "year": str(self.year)}
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@inproceedings{{{key}{self.year},\n" + ",\n".join(lines) + "\n}"


def built_in() -> list[EntryPoint]:
    """saccade's own studies, as an entry point would name them."""
    return [EntryPoint(name, f"{__name__}.{name}.study:STUDY", GROUP) for name in BUILT_IN]


def registered(points: Iterable[EntryPoint]) -> dict[str, Study]:
    """The studies behind entry points, by name. One that cannot be used is left out with a warning:
    it must not take the others with it."""
    studies: dict[str, Study] = {}
    for point in points:
        try:
            study = _usable(point.load(), studies)
        except Exception as problem:
            warnings.warn(
                f"The study {point.name!r} ({point.value}) is left out: {problem}", stacklevel=2)
        else:
            studies[study.name] = study
    return studies


def _usable(study: object, taken: dict[str, Study]) -> Study:
    if not isinstance(study, Study):
        raise TypeError(
            f"its entry point gives a {type(study).__name__}, not a saccade.studies.Study.")
    if study.name in taken:
        raise ValueError(f"there is already a study called {study.name!r}.")
    return study


class Known(Mapping[str, Study]):
    """All studies by name. They are looked for on first use, not on import: their packages import
    this module."""

    @cached_property
    def _all(self) -> dict[str, Study]:
        return registered([*built_in(), *entry_points(group=GROUP)])

    def __getitem__(self, name: str) -> Study:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


STUDIES = Known()
