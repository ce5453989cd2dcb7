"""The studies: one paper each, with its names, its citation and the question it answers.

saccade's own stand in BUILT_IN. A package of somebody else's adds one by an entry point of the group `saccade.studies` that names a
`Study`; `saccade new-study NAME` lays such a package out.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

GROUP = "saccade.studies"


class Study(NamedTuple):
    """One paper: `module` is the name its files bear in every room; `package` holds the rooms of a study from elsewhere."""

    name: str
    module: str
    prefix: str
    title: str
    authors: str
    year: int
    venue: str
    asks: str
    package: str = ""

    def room(self, name: str) -> str:
        """The module that holds this study's claims, figures, ..."""
        return f"{self.package}.{name}" if self.package else f"saccade.{name}.{self.module}"

    @property
    def bibtex(self) -> str:
        """A BibTeX entry; the author line is left out where the names are not known to us."""
        key = self.authors.split(" and ")[0].split(",")[0].lower() if self.authors else self.name
        fields = {"title": self.title, "author": self.authors, "booktitle": self.venue, "year": str(self.year)}
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@inproceedings{{{key}{self.year},\n" + ",\n".join(lines) + "\n}"


BUILT_IN: dict[str, Study] = {
    study.name: study
    for study in (
        Study(
            "single-location",
            "single_location",
            "SL",
            "Attention layers provably solve single-location regression",
            "Marion, Pierre and Berthier, Raphaël and Biau, Gérard and Boyer, Claire",
            2025,
            "International Conference on Learning Representations",
            "One token at a random place decides the output: does projected gradient descent find where to look?",
        ),
        Study(
            "sparse-token",
            "sparse_token",
            "ST",
            "High-Dimensional Analysis of Single-Layer Attention for Sparse-Token Classification",
            "Barnfield and Cui and Lu",
            2026,
            "International Conference on Learning Representations",
            "A weak signal hides in a few randomly placed tokens: what can attention detect that linear classifiers cannot, how soon?",
        ),
        Study(
            "group-sparse",
            "group_sparse",
            "GS",
            "Transformer Learns Optimal Variable Selection in Group-Sparse Classification",
            "",
            2025,
            "arXiv 2504.08638",
            "One group of variables decides the label: does a one-layer transformer learn to look at it, and does that transfer?",
        ),
        Study(
            "sparse-recovery",
            "sparse_recovery",
            "SR",
            "On the Learn-to-Optimize Capabilities of Transformers in In-Context Sparse Recovery",
            "",
            2025,
            "International Conference on Learning Representations",
            "Which few coordinates explain the measurements: do transformers run, and learn, an algorithm that finds them for any matrix?",
        ),
        Study(
            "spatial",
            "spatial",
            "VS",
            "Vision Transformers provably learn spatial structure",
            "Jelassi, Samy and Sander, Michael and Li, Yuanzhi",
            2022,
            "Advances in Neural Information Processing Systems",
            "Patches belong together in hidden sets: does a transformer discover which, from labels alone, and what is that good for?",
        ),
    )
}


def registered(found: Iterable[EntryPoint]) -> dict[str, Study]:
    """The studies other packages bring. One that cannot be used is left out with a warning: it must not take the others with it."""
    studies: dict[str, Study] = {}
    for point in found:
        try:
            study = _usable(point.load(), {**BUILT_IN, **studies})
        except Exception as problem:
            warnings.warn(f"The study {point.name!r} ({point.value}) is left out: {problem}", stacklevel=2)
        else:
            studies[study.name] = study
    return studies


def _usable(study: object, taken: dict[str, Study]) -> Study:
    if not isinstance(study, Study):
        raise TypeError(f"its entry point gives a {type(study).__name__}, not a saccade.studies.Study.")
    if study.name in taken:
        raise ValueError(f"there is already a study called {study.name!r}.")
    if not study.package:
        raise ValueError("its `package`, which holds its claims and figures, is not given.")
    return study


class Known(Mapping[str, Study]):
    """All studies by name. Others' are looked for on first use, not on import: their packages import this module."""

    @cached_property
    def _all(self) -> dict[str, Study]:
        return BUILT_IN | registered(entry_points(group=GROUP))

    def __getitem__(self, name: str) -> Study:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


STUDIES = Known()
