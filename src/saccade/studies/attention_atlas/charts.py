"""The tasks of this study on the map: a signal split between place and mark, and digits."""

from functools import partial

from saccade.lab.chart import ChartedTask
from saccade.studies.attention_atlas.task import DIGITS, Digits, Split

STUDY = "attention-atlas"
SHARES = (0, 25, 50, 75, 100)

SPLIT = tuple(
    ChartedTask(
        f"split-{share}", STUDY,
        f"{share} of 100 of y at a random, marked token, the rest at a fixed, unmarked one",
        partial(Split.create, share=share / 100), quick=share in (0, 50))
    for share in SHARES)
IMAGES = ChartedTask(
    "digits", STUDY, "scikit-learn's digits, rows as tokens: 5 to 9 or 0 to 4?",
    lambda key, length, dim: Digits(), floor="unknown, 0 is taken", size=(8, 8), most=DIGITS,
    located=False)
