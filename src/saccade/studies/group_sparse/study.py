"""What the paper is called, who wrote it, and the question it answers."""

from saccade.studies import Study

STUDY = Study(
    name="group-sparse", prefix="GS",
    title="Transformer Learns Optimal Variable Selection in Group-Sparse Classification",
    authors="", year=2025, venue="arXiv 2504.08638",
    asks=(
        "One group of variables decides the label: does a one-layer transformer learn to look at"
        " it, and does that transfer?"),
    package=__name__.rpartition(".")[0],
    highlights=("exponential-concentration", "screening-finds-more"))
