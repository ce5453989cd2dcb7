"""What the paper is called, who wrote it, and the question it answers."""

from saccade.studies import Study

STUDY = Study(
    name="sparse-token", prefix="ST",
    title="High-Dimensional Analysis of Single-Layer Attention for Sparse-Token Classification",
    authors="Barnfield and Cui and Lu", year=2026,
    venue="International Conference on Learning Representations",
    asks=(
        "A weak signal hides in a few randomly placed tokens: what can attention detect that linear"
        " classifiers cannot, how soon?"),
    package=__name__.rpartition(".")[0], highlights=("negative-alignment",))
