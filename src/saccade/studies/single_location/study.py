"""What the paper is called, who wrote it, and the question it answers."""

from saccade.studies import Study

STUDY = Study(
    name="single-location", prefix="SL",
    title="Attention layers provably solve single-location regression",
    authors="Marion, Pierre and Berthier, Raphaël and Biau, Gérard and Boyer, Claire", year=2025,
    venue="International Conference on Learning Representations",
    asks="One token at a random place decides the output: does projected gradient descent find"
    " where to look?", package=__name__.rpartition(".")[0],
    highlights=("swapped-state", "schedule-always-recovers"))
