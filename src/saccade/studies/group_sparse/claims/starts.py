"""Claims on encodings that are fixed or learned and on starts that are not zero, over several D."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, ORDERING
from saccade.studies.group_sparse.claims import answers, claim
from saccade.studies.group_sparse.experiments import learned

_over_groups = partial(
    claim, source="assumptions of Theorem 3.2", status="heuristic", statistic="median",
    experiment=learned.starts_and_encodings, figure="group-sparse/starts")
ENCODINGS = answers(
    "Next checks 2", "Replace the sinusoidal positional encodings with learned or random positional"
    " encodings and measure the degradation")
STARTS = answers(
    "Next checks 1", "Repeat the main experiment with non-zero initialization (e.g., Xavier)")


SCALES = {"standard": Scale(repetitions=4, seconds=220)}
SIZES = ("D=4", "D=8", "D=12")


def _attention(run: Run, name: str) -> np.ndarray:
    """Attention on the group, [run][D]."""
    return run.data.attention.sel(setting=name).values.T


def _gain(run: Run, name: str = "learned, from sine") -> np.ndarray:
    return _attention(run, name) - _attention(run, "sine")


_encodings = partial(_over_groups, citation=ENCODINGS, scales=SCALES, resolution=0.0)

LEARNED = _encodings(
    "group-sparse.learned-encodings-gain", "GS-N2",
    "Encodings that start as sines and are learned with W concentrate more than fixed ones, D = 4,"
    " 8 and 12.", "Medians of differences between independent runs, which scatter by 0.01.",
    kind=ORDERING, measure=_gain, resolution=0.005, parts=SIZES,
    sabotages=(Sabotage(
        "unit-one-hot", "One-hot codes of length one, fixed, in their place.",
        measure=lambda run: _gain(run, "one-hot, length 1")),))

SCRATCH = _encodings(
    "group-sparse.small-encodings-stand", "GS-N2",
    "Encodings learned from scratch, from a tenth of the usual length, leave attention uniform for"
    " 400 steps.",
    "Medians; attention moves as the fourth power of the length, so a tenth of it is a saddle.",
    "Learned encodings need a start that is not small, as unmerged query and key matrices do.",
    kind=BELOW, measure=lambda run: _attention(run, "learned, from scratch"),
    predict=lambda run: 1 / run.data.groups.values + 0.02, parts=SIZES,
    sabotages=(Sabotage(
        "usual-length", "Random encodings of the usual length, learned.",
        measure=lambda run: _attention(run, "learned, from random")),))

RANDOM = _encodings(
    "group-sparse.random-encodings-over-groups", "GS-N2",
    "Random encodings of D dimensions, fixed, stay below 0.9 at every D, and one-hot codes of"
    " length one below 0.9, 0.5 and 0.35: shorter than the sines', they concentrate ever more"
    " slowly.", "Medians over draws; the sines reach 0.95, 0.95 and 0.92.", kind=BELOW,
    measure=lambda run: np.hstack(
        [_attention(run, "random"), _attention(run, "one-hot, length 1")]),
    predict=lambda run: [0.9, 0.9, 0.9, 0.9, 0.5, 0.35],
    parts=(*[f"random, {size}" for size in SIZES], *[f"one-hot, {size}" for size in SIZES]),
    sabotages=(Sabotage(
        "sine", "The sine encodings.",
        measure=lambda run: np.hstack([_attention(run, "sine")] * 2)),))


def _at_twelve(run: Run, names: tuple[str, ...] = ("Xavier", "Xavier in W")) -> np.ndarray:
    """Attention and error at the largest D of two starts."""
    last = run.data.isel(groups=-1).sel(setting=list(names))
    return np.concatenate([last.attention.values, last.error.values]).T


XAVIER = _over_groups(
    "group-sparse.xavier-worse-with-groups", "GS-N1",
    "At D = 12 Xavier's start, in W and v or in W alone, leaves attention below 0.6 where the zero"
    " start has 0.92, and the error below 0.1 all the same.",
    "Medians over starts, each setting at the best of three step sizes.",
    "With Xavier's W attention falls from 0.92 at D = 4 to 0.29 and 0.20 at D = 8 and 12.",
    citation=STARTS, kind=BELOW, measure=_at_twelve, predict=lambda run: [0.6, 0.6, 0.1, 0.1],
    resolution=0.0, scales=SCALES,
    parts=("attention", "attention, W alone", "error", "error, W alone"),
    sabotages=(
        Sabotage(
            "zero-start", "The zero start.", measure=lambda run: _at_twelve(run, ("sine",) * 2)),
        Sabotage(
            "small-encodings", "Learned from short encodings: uniform attention.",
            measure=lambda run: _at_twelve(run, ("learned, from scratch",) * 2))))
