"""What this study is called and the question it answers."""

from saccade.studies import Study

STUDY = Study(
    name="attention-atlas", prefix="AA", title="The atlas: which attention solves which sparsity",
    authors="", year=2026, venue="saccade",
    asks="Which layer of which paper solves which paper's task, and from how many samples?",
    package=__name__.rpartition(".")[0])
