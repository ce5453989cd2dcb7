"""Claims on who finds the group from few samples (the layer from scratch, screening, group lasso,
best subset), and on real images in one patch among noise."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, BELOW, ORDERING
from saccade.studies.group_sparse.claims import cited, claim
from saccade.studies.group_sparse.experiments import finding, images

_ours = partial(claim, source="ours", status="heuristic")

SCREENING = _ours(
    "group-sparse.screening-finds-more", "GS-F1",
    "On 16, 32 and 48 samples (d = 8, D = 16) screening finds the relevant group more often than"
    " the layer trained from scratch.",
    "Paired on the same draws; a difference of 0.1 would matter.",
    "For finding the group from scratch a one-line screening beats the transformer; the paper's"
    " advantage is transfer of an attention already learned.", kind=ORDERING,
    experiment=finding.from_scratch,
    measure=lambda run: (run.data.screening_finds - run.data.layer_finds).values.T, resolution=0.1,
    statistic="mean", parts=("n=16", "n=32", "n=48"),
    scales={
        "quick": Scale({"samples": (16, 32, 48), "held_out": 100}, repetitions=8, seconds=8),
        "standard": Scale(
            {"samples": (16, 32, 48), "draws": 128, "held_out": 100}, repetitions=2, seconds=60)},
    figure="group-sparse/finding",
    sabotages=(Sabotage(
        "other-labels",
        "Labels made by another group: neither can find it, and 20 steps show it.",
        {"informative": False, "draws": 320, "steps": 20}),))

INTERPOLATES = _ours(
    "group-sparse.interpolation-first", "GS-F1",
    "From scratch on 32 samples the layer interpolates before it selects: training loss below"
    " 0.05, attention below 0.3.", "Medians over draws.", kind=BELOW,
    experiment=finding.from_scratch,
    measure=lambda run: np.stack([run.data.train_loss.values[0], run.data.attention.values[0]], 1),
    predict=lambda run: [0.05, 0.3], resolution=0.0, statistic="median",
    parts=("training loss", "attention"),
    scales={
        "quick": Scale(seconds=10), "standard": Scale({"samples": (32,), "draws": 128}, seconds=60),
    },
    sabotages=(
        Sabotage("short", "Stop after five steps.", {"steps": 5}),
        Sabotage(
            "two-groups", "Two groups, of which even uniform attention gives each a half.",
            {"groups": 2, "relevant": 1})))


def ahead(run: Run, first: str, second: str, samples: int) -> np.ndarray:
    """Hits of `first` minus hits of `second` on the same draws."""
    hits = run.data.found.sel(samples=samples)
    return (hits.sel(finder=first) - hits.sel(finder=second)).values


_peers = partial(
    _ours, kind=ORDERING, experiment=finding.peers, statistic="mean", figure="group-sparse/peers",
    sabotages=(Sabotage(
        "other-labels", "Labels made by another group: none can find it.",
        {"informative": False}),))


def _find_more(name: str, finders: tuple[str, ...], who: str) -> Claim:
    return _peers(
        f"group-sparse.{name}", "GS-F1",
        f"On 32 samples (d = 8, D = 16) {who} the relevant group more often than the layer.",
        "Paired on the same draws; the layer has the best of three step sizes, chosen with the"
        " truth in hand.",
        measure=lambda run: np.stack([ahead(run, finder, "layer", 32) for finder in finders], 1),
        resolution=0.1, parts=finders,
        scales={"quick": Scale({"finders": finders}, repetitions=4, seconds=8)},
        requires=f"bench:{','.join(finders)}")


PEERS = _find_more(
    "peers-find-more", ("celer", "abess"), "group lasso (celer) and best subset (abess) find")
ADELIE = _find_more("adelie-finds-more", ("adelie",), "logistic group lasso (adelie) finds")
SKGLM = _find_more("skglm-finds-more", ("skglm",), "logistic group lasso (skglm) finds")

AMONG_PEERS = _peers(
    "group-sparse.subset-needs-a-few-more", "GS-F1",
    "Among the peers the group lasso leads on 12 samples and best subset on 24; screening is"
    " between or behind.",
    "Paired on the same draws; differences of 0.1 or more in earlier runs of 100 draws.",
    "Who finds the group: group lasso below 16 samples, best subset from 24 on, everyone but the"
    " layer from 48 on (d = 8, D = 16).",
    measure=lambda run: np.stack(
        [ahead(run, "celer", "abess", 12), ahead(run, "abess", "screening", 24)], 1),
    resolution=0.02, parts=("n=12: celer over abess", "n=24: abess over screening"),
    scales={"quick": Scale(
        {"samples": (12, 24), "draws": 256, "step_sizes": ()}, repetitions=4, seconds=8)},
    requires="bench:celer,abess")

_image = partial(
    claim, status="heuristic", kind=ABOVE, experiment=images.images,
    measure=lambda run: run.data.attention.values, predict=lambda run: 1.5 / run.parameters.groups,
    resolution=0.0, statistic="median", figure="group-sparse/images",
    sabotages=(Sabotage(
        "moving-image", "The image in a random patch each time: position says nothing.",
        {"shuffled_patches": True}),))

DIGITS = _image(
    "group-sparse.attention-finds-image", "GS-R1",
    "Digits 0 and 1 in one of nine patches, noise elsewhere, 120 images: attention on the image's"
    " patch is above uniform by half.", "Uniform attention is 1/9; medians over splits and noise.",
    source="stands in for the paper's CIFAR-10 experiment",
    citation=cited(
        "experiments; digits stand in for CIFAR-10", "Frog vs Airplane, 500 images each", "proxy"),
    scales={"quick": Scale(seconds=12), "standard": Scale(seconds=120)})

FROGS = _image(
    "group-sparse.attention-finds-frog", "GS-R1",
    "CIFAR-10's airplanes and frogs (500 each, means over 4 x 4 pixels) in one of nine patches,"
    " noise elsewhere: attention on the image's patch is above uniform by half.",
    "Uniform attention is 1/9; medians over splits (800 images to train, 200 to test) and noise."
    " Of two step sizes tried on one split, 0.02 and 0.005, the first is taken.",
    source="the paper's CIFAR-10 experiment, at a quarter of the resolution a side",
    citation=cited(
        "experiments; at a quarter of the resolution a side, statistic and layout ours",
        "Frog vs Airplane, 500 images each", "proxy"),
    scales={"standard": Scale(images.FROGS, seconds=160)}, requires="data:cifar10")
