"""What the study is called, whose question it answers, and the question."""

from saccade.studies import Study

STUDY = Study(
    name="softmax-location", prefix="SM",
    title="Softmax attention in single-location regression: an exact theory", authors="", year=2026,
    venue="saccade, after Marion, Berthier, Biau, Boyer (2025)",
    asks="Softmax couples all tokens and was set aside as out of reach: does it learn where to"
    " look, and is it better or worse than erf?", package=__name__.rpartition(".")[0],
    highlights=("no-swap", "schedule-harmful"))
