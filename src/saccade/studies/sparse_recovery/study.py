"""What the paper is called, who wrote it, and the question it answers."""

from saccade.studies import Study

STUDY = Study(
    name="sparse-recovery", prefix="SR",
    title="On the Learn-to-Optimize Capabilities of Transformers in In-Context Sparse Recovery",
    authors="", year=2025, venue="International Conference on Learning Representations",
    asks=(
        "Which few coordinates explain the measurements: do transformers run, and learn, an"
        " algorithm that finds them for any matrix?"),
    package=__name__.rpartition(".")[0], highlights=("any-matrix",))
