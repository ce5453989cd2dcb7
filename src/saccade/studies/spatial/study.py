"""What the paper is called, who wrote it, and the question it answers."""

from saccade.studies import Study

STUDY = Study(
    name="spatial", prefix="VS", title="Vision Transformers provably learn spatial structure",
    authors="Jelassi, Samy and Sander, Michael and Li, Yuanzhi", year=2022,
    venue="Advances in Neural Information Processing Systems",
    asks="Patches belong together in hidden sets: does a transformer discover which, from labels"
    " alone, and what is that good for?", package=__name__.rpartition(".")[0],
    highlights=("gaussian-no-association",))
