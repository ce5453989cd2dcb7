"""The studies: one paper each, with its names, its citation and the question it answers."""

from typing import NamedTuple


class Study(NamedTuple):
    """One paper: `module` is the name its files bear in every room."""

    name: str
    module: str
    prefix: str
    title: str
    authors: str
    year: int
    venue: str
    asks: str

    @property
    def bibtex(self) -> str:
        """A BibTeX entry; the author line is left out where the names are not known to us."""
        key = self.authors.split(" and ")[0].split(",")[0].lower() if self.authors else self.name
        fields = {"title": self.title, "author": self.authors, "booktitle": self.venue, "year": str(self.year)}
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
        return f"@inproceedings{{{key}{self.year},\n" + ",\n".join(lines) + "\n}"


STUDIES: dict[str, Study] = {
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
    )
}
