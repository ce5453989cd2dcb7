"""Claims on who finds the group from few samples: group lasso, best subset, screening, and the
layer from scratch."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ORDERING
from saccade.studies.group_sparse.experiments import peers

OTHER_LABELS = Sabotage(
    "other-labels", "Labels made by another group: none can find it.", {"informative": False})


def ahead(run: Run, first: str, second: str, samples: int) -> np.ndarray:
    """Hits of `first` minus hits of `second` on the same draws."""
    found = run.data.found.sel(samples=samples)
    return (found.sel(finder=first) - found.sel(finder=second)).values


def _finds_more(name: str, finders: tuple[str, ...], statement: str, requires: str) -> Claim:
    return Claim(
        id=f"group-sparse.{name}", spec="GS-F1", statement=statement, source="ours",
        status="heuristic", kind=ORDERING, experiment=peers.peers,
        measure=lambda run: np.stack([ahead(run, finder, "layer", 32) for finder in finders], 1),
        predict=lambda run: np.zeros(len(finders)), resolution=0.1,
        argued=(
            "Paired on the same draws; the layer has the best of three step sizes, chosen with the"
            " truth in hand."),
        statistic="mean", parts=finders,
        scales={"quick": Scale({"finders": finders}, repetitions=4, seconds=8)},
        figure="group-sparse/peers", sabotages=(OTHER_LABELS,), requires=requires)


PEERS = _finds_more(
    "peers-find-more", ("celer", "abess"),
    "On 32 samples (d = 8, D = 16) group lasso (celer) and best subset (abess) find the relevant"
    " group more often than the layer.", "bench:celer,abess")
ADELIE = _finds_more(
    "adelie-finds-more", ("adelie",),
    "On 32 samples (d = 8, D = 16) logistic group lasso (adelie) finds the relevant group more"
    " often than the layer.", "bench:adelie")
SKGLM = _finds_more(
    "skglm-finds-more", ("skglm",),
    "On 32 samples (d = 8, D = 16) logistic group lasso (skglm) finds the relevant group more often"
    " than the layer.", "bench:skglm")

AMONG_PEERS = Claim(
    id="group-sparse.subset-needs-a-few-more", spec="GS-F1",
    statement=(
        "Among the peers the group lasso leads on 12 samples and best subset on 24; screening is"
        " between or behind."),
    source="ours", status="heuristic", kind=ORDERING, experiment=peers.peers,
    measure=lambda run: np.stack(
        [ahead(run, "celer", "abess", 12), ahead(run, "abess", "screening", 24)], 1),
    predict=lambda run: np.zeros(2), resolution=0.02,
    argued="Paired on the same draws; differences of 0.1 or more in earlier runs of 100 draws.",
    statistic="mean", parts=("n=12: celer over abess", "n=24: abess over screening"),
    scales={"quick": Scale(
        {"samples": (12, 24), "draws": 256, "step_sizes": ()}, repetitions=4, seconds=8)},
    figure="group-sparse/peers",
    finding=(
        "Who finds the group: group lasso below 16 samples, best subset from 24 on, everyone but"
        " the layer from 48 on (d = 8, D = 16)."),
    sabotages=(OTHER_LABELS,), requires="bench:celer,abess")
