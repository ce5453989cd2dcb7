"""Claims on pre-training by descent and what it brings downstream: on the same group, on another,
on two groups, and where groups overlap."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.fits import slopes
from saccade.lab.kinds import ABOVE, ESTIMATE, ORDERING, SLOPE
from saccade.studies.group_sparse.claims import answers, cited, claim
from saccade.studies.group_sparse.claims.mixtures import SHARED_PATTERN
from saccade.studies.group_sparse.claims.transfer import BETTER, BOUND, RATE
from saccade.studies.group_sparse.experiments import pretrained
from saccade.studies.group_sparse.theory.mixture import mixture_error

_on_streams = partial(
    claim, source="Theorem 4.2", status="heuristic", experiment=pretrained.pretrained,
    statistic="mean", figure="group-sparse/pretrained")


def _at(**parameters: object) -> dict[str, Scale]:
    return {"standard": Scale(parameters, repetitions=4, seconds=60)}


def _last(run: Run, learner: str, measure: str = "online") -> np.ndarray:
    return run.data.error.sel(learner=learner, measure=measure).values[:, -1]


def _beyond(run: Run, first: str, second: str, measure: str = "online") -> np.ndarray:
    """By how much the errors of `first` exceed those of `second` after the last sample."""
    return _last(run, first, measure) - _last(run, second, measure)


LEARNED = ("population, frozen", "population, free", "finite, frozen", "finite, free")
SAME = _on_streams(
    "group-sparse.pretrained-as-closed-form", "GS-T5e",
    "W that descent found, on the population or on 1000 samples of another direction (d = D = 8),"
    " serves the next direction as well as a selector made in closed form: average online errors"
    " of 2000 samples differ by less than 0.02.",
    "Paired on the same streams; 0.02 is a fifth of what logistic regression errs.",
    citation=answers("Theorem 4.2", BOUND), kind=ESTIMATE,
    measure=lambda run: np.stack(
        [_beyond(run, name, f"closed form, {name.split(', ')[1]}") for name in LEARNED], 1),
    resolution=0.02, parts=LEARNED, scales=_at(),
    sabotages=(Sabotage(
        "not-trained", "W = 0 in the place of each.",
        measure=lambda run: np.stack(
            [
                _beyond(run, f"none, {mode}", f"closed form, {mode}")
                for mode in ("frozen", "free")]
            * 2, 1)),))

BEATS = _on_streams(
    "group-sparse.pretrained-beats-logistic", "GS-T5e",
    "Fine-tuned online from W that descent found, frozen or free, the layer (d = D = 8) makes fewer"
    " mistakes on 2000 samples than logistic regression on the flattened input.",
    "Paired on the same streams; one per cent of error is what matters.",
    citation=cited("abstract; errors stand in for sample complexity", BETTER, "proxy"),
    kind=ORDERING,
    measure=lambda run: np.stack([_beyond(run, "logistic", name) for name in LEARNED], 1),
    resolution=0.01, parts=LEARNED, scales=_at(),
    sabotages=(Sabotage(
        "not-trained", "W = 0 and frozen in the place of each.",
        measure=lambda run: np.stack([_beyond(run, "logistic", "none, frozen")] * 4, 1)),))


def _exponents(
    run: Run, learners: tuple[str, ...] = ("population, free", "logistic")
) -> np.ndarray:
    """Slope of log average online error against log n over the last factor of six, by stream."""
    counts = run.data.samples.values
    late = counts >= counts[-1] / 6
    errors = run.data.error.sel(learner=list(learners), measure="online").values[..., late]
    return slopes(np.log(counts[late]), np.log(np.maximum(errors, 1 / counts[late]))).T


_falls = partial(_on_streams, measure=_exponents, parts=("pre-trained W, free", "logistic"))
UNTRAINED = Sabotage(
    "not-trained", "W = 0 and frozen in the place of both.",
    measure=lambda run: _exponents(run, ("none, frozen",) * 2))

RATE_WITH_MARGIN = _falls(
    "group-sparse.error-falls-as-n-with-margin", "GS-T5e",
    "With a margin of 0.5 the average online error falls as 1/n, from W that descent found and for"
    " logistic regression alike.",
    "Stream by stream over the last factor of six, from n = 333 on; by then hardly a mistake is"
    " made.", citation=RATE, kind=SLOPE, predict=lambda run: -1.0, resolution=0.1,
    scales=_at(margin=0.5), sabotages=(UNTRAINED,))

RATE_WITHOUT = _falls(
    "group-sparse.error-falls-slower-without-margin", "GS-T5e",
    "Without a margin the average online error falls more slowly than 1/n, with an exponent between"
    " -0.7 and -0.4 at n = 333 to 2000.",
    "Stream by stream over the last factor of six; the bound's 1/n needs its margin.",
    citation=answers("Theorem 4.2", BOUND), kind=SLOPE, predict=lambda run: -0.55, resolution=0.15,
    scales=_at(), sabotages=(UNTRAINED,))


def _floor(run: Run, weights: tuple[float, ...]) -> float:
    """Error of a selector of group 1 with this attention, for a label with these weights."""
    p = run.parameters
    shares = np.full(p.groups, (1 - p.attention) / (p.groups - 1))
    shares[1] = p.attention
    return mixture_error(shares.tolist(), [*weights, *[0.0] * (p.groups - len(weights))])


_frozen = partial(
    _on_streams, source="ours; outside Theorem 4.2", citation=SHARED_PATTERN, kind=ESTIMATE,
    measure=lambda run: _last(run, "closed form, frozen", "test"))
FREE = Sabotage(
    "free", "W moves as well.", measure=lambda run: _last(run, "closed form, free", "test"))

FLOOR_OTHER = _frozen(
    "group-sparse.frozen-on-wrong-group", "GS-T5e",
    "Frozen on the wrong group the layer learns nothing from 2000 samples: its error is the"
    " arccos(rho)/pi = 0.4986 of its attention.",
    "Test errors on 500 samples, 32 streams and more leave 0.01.",
    predict=lambda run: _floor(run, (0.0, 0.0, 1.0)), resolution=0.02,
    scales=_at(downstream="other"), sabotages=(FREE,))

FLOOR_TWO = _frozen(
    "group-sparse.frozen-on-one-of-two", "GS-T5e",
    "Frozen on one of two groups that decide together the layer errs as its attention does:"
    " arccos(rho)/pi = 0.249.", "2000 samples leave v 0.005 above it; 32 streams 0.005.",
    predict=lambda run: _floor(run, (0.0, 1.0, 1.0)), resolution=0.02, scales=_at(downstream="two"),
    sabotages=(FREE,))

NEGATIVE = _on_streams(
    "group-sparse.negative-transfer", "GS-T5e",
    "Pre-training on another group hurts, and W free to move recovers only in part: after 2000"
    " samples the test error is above that of a start from W = 0, and the average online error"
    " above logistic regression's.",
    "Paired on the same streams; the step size is the best of four for each.",
    "From W = 0 the layer has the new group after 2000 samples (attention 0.98, test error 0.02);"
    " from W of another group some streams have it and some not (0.6 and 0.12 on average).",
    source="ours; outside Theorem 4.2", citation=SHARED_PATTERN, kind=ORDERING,
    measure=lambda run: np.stack(
        [
            _beyond(run, "population, free", "none, free", "test"),
            _beyond(run, "population, free", "logistic")],
        1),
    resolution=0.02, parts=("test error, over W = 0", "online error, over logistic"),
    scales=_at(downstream="other"),
    sabotages=(
        Sabotage("same-group", "The same group decides downstream.", {"downstream": "same"}),))

SHARES_AGAIN = _on_streams(
    "group-sparse.free-attention-learns-to-share", "GS-T5e",
    "When a second group decides downstream, W free to move shares its attention between the two:"
    " each has more than 0.4 after 2000 samples.",
    "Means over streams; half each by symmetry, less what is left on the others.",
    source="ours; outside Theorem 4.2", citation=SHARED_PATTERN, kind=ABOVE,
    measure=lambda run: run.data.looks.sel(learner="population, free").values[:, 1:3],
    predict=lambda run: 0.4, resolution=0.0, parts=("old group", "new group"),
    scales=_at(downstream="two"),
    sabotages=(
        Sabotage("one-group", "The old group alone decides.", {"downstream": "same"}),
        Sabotage("other-group", "The new group alone decides.", {"downstream": "other"})))


def _overlapping(run: Run, learner: str = "population, frozen") -> np.ndarray:
    """How much closer to logistic regression, and where a start from W = 0 looks."""
    looks = run.data.looks.sel(learner="none, free").values
    return np.stack([_beyond(run, "logistic", learner), looks[:, 0] + looks[:, 1] - 0.9], 1)


OVERLAP = _on_streams(
    "group-sparse.overlap-leaves-transfer", "GS-T5e",
    "Groups that share half of their variables leave the advantage of a pre-trained W; from W = 0"
    " attention goes to the two groups that hold the deciding variable, more than 0.9 in all.",
    "Paired on the same streams; the deciding variable lies in groups 0 and 1.",
    source="ours; outside Theorem 4.2", status="heuristic", kind=ORDERING, measure=_overlapping,
    citation=answers("Mechanism 1, break condition", "groups are not distinct (e.g., overlapping)"),
    resolution=0.01, parts=("online error, below logistic", "attention on the two, above 0.9"),
    scales=_at(downstream="overlap"),
    sabotages=(
        Sabotage(
            "not-trained", "W = 0 and frozen in the place of the pre-trained.",
            measure=lambda run: _overlapping(run, "none, frozen")),
        Sabotage("other-group", "Another group decides, none overlap.", {"downstream": "other"})))
