"""A signal split between a place and a mark."""

from functools import partial

from saccade.lab.chart import ChartedTask
from saccade.studies.attention_atlas.charts import STUDY
from saccade.studies.attention_atlas.task import Split

SHARES = (0, 25, 50, 75, 100)

SPLIT = tuple(
    ChartedTask(
        f"split-{share}", STUDY,
        f"{share} of 100 of y at a random, marked token, the rest at a fixed, unmarked one",
        partial(Split.create, share=share / 100), quick=share in (0, 50))
    for share in SHARES)
