"""Claims on the paper's decoders at the paper's size: how far minutes of training reach, without
and with a curriculum.

One to three networks are trained, too few for an interval over trainings: a network is a part, its
replicates are test tasks, and every statement says that it speaks of these networks only.
"""

from typing import Any

import numpy as np

from saccade.lab.claim import Claim
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents
from saccade.lab.kinds import ORDERING
from saccade.studies.sparse_recovery.claims import (
    COMPARABLE,
    PAPER,
    UNLIKE_CLASSICAL,
    answers,
    broken,
    cited,
    claim,
    seconds,
)
from saccade.studies.sparse_recovery.experiments import paper_size, trainings

RIVALS = ("ISTA", "FISTA", "LISTA-VM", "LISTA-VM, full", "ALISTA", "LASSO")
FIGURE = "sparse-recovery/paper-size"
LABELS = (
    " The mean over queries of a label's squared error is |b - beta|^2. Replicates are test tasks"
    " of one network, a part is a network: what another training would do is not judged.")
SMALL = "The paper's small decoder (12 layers, 4 heads, width 42)"
GPT2 = "A reduced GPT-2-like decoder (4 layers, 4 heads, width 64)"


def _ahead(run: Run, rivals: tuple[str, ...], name: str = "label_error") -> np.ndarray:
    """|b - beta|^2 of each rival (cut at twice the non-zeros: some diverge) minus the decoder's
    squared error of the label, [task][seed x rival]."""
    errors = run.data.rival_error.sel(rival=list(rivals)).values
    errors = np.minimum(errors, 2.0 * run.parameters.sparsity)
    return np.concatenate([errors - label for label in run.data[name].values]).T


def _behind_zero(run: Run, rivals: tuple[str, ...]) -> np.ndarray:
    """The decoder's squared error of the label minus that of predicting zero, in the place of
    every rival, [task][seed x rival]."""
    behind = run.data.label_error.values - run.data.zero_error.values
    return np.repeat(behind, len(rivals), axis=0).T


def _by_seed(rivals: tuple[str, ...], seeds: int) -> tuple[str, ...]:
    named = tuple(f"seed {seed}: {rival}" for seed in range(seeds) for rival in rivals)
    return named if seeds > 1 else rivals


def _said_of(changes: dict[str, Any]) -> str:
    """Of which networks a statement speaks."""
    seeds = changes.get("seeds", 1)
    return (
        f" Said of each of the {seeds} networks trained here, of no other." if seeds > 1
        else " Said of the one network trained here, of no other.")


def _not_reached(
    id: str, what: str, which: str, changes: dict[str, Any], rivals: tuple[str, ...], argued: str,
    finding: str, **more: Any,
) -> Claim:
    return claim(
        id, "SR-F4",
        f"{what}, trained on the labels of every prefix at the paper's size (20 coordinates, 10"
        f" rows, 3 non-zeros) as far as minutes reach, is still behind {which}."
        + _said_of(changes), argued + LABELS,
        broken(
            "zero-for-all", "Predicting zero in the place of every rival.", _behind_zero, rivals),
        measure=lambda run: -_ahead(run, rivals), kind=ORDERING, statistic="mean", status="trained",
        experiment=paper_size.paper_size, parts=_by_seed(rivals, changes.get("seeds", 1)),
        citation=answers("key results", COMPARABLE), figure=FIGURE, finding=finding,
        **{"resolution": 0.8, "scales": seconds(standard=200, **changes), **more})


def _plain(id: str, what: str, changes: dict[str, Any]) -> Claim:
    """Without a curriculum: nothing is learned."""
    return _not_reached(
        id, what,
        "ISTA, FISTA, LISTA-VM and ALISTA with 12 steps or layers, and behind the converged LASSO",
        changes, RIVALS,
        "Means over 2000 tasks; squared labels spread by about 6, so seven standard errors are 0.9;"
        " the rivals are ahead by 1.5 or more.",
        "What the paper reaches with 10^6 epochs of 50,000 instances is not reached here: after"
        " minutes without a curriculum its decoders at its size are near predicting zero.")


SMALL_PLAIN = _plain("sparse-recovery.paper-size-not-reached", SMALL, {})
GPT2_PLAIN = _plain("sparse-recovery.gpt2-like-not-reached", GPT2, dict(trainings.GPT2_LIKE))


def _passed(
    id: str, what: str, which: str, changes: dict[str, Any], rivals: tuple[str, ...], finding: str,
    **more: Any,
) -> Claim:
    """With a curriculum: whom it is ahead of."""
    return claim(
        id, "SR-F4",
        f"{what}, trained at the paper's size with a curriculum from 5 coordinates and one non-zero"
        f" to 20 and three, is ahead of {which} on new matrices." + _said_of(changes),
        SPREAD + LABELS,
        broken(
            "values-of-another-task", "The decoders, shown the values y of the next task.", _ahead,
            rivals, "misled_error"),
        measure=lambda run: _ahead(run, rivals), kind=ORDERING, statistic="mean", status="trained",
        experiment=paper_size.paper_size, parts=_by_seed(rivals, changes.get("seeds", 1)),
        source=f"section 6, {PAPER}; a smaller network, far fewer instances, a curriculum of ours",
        citation=cited(
            "key results; a smaller or altered network and a curriculum stand in", UNLIKE_CLASSICAL,
            "proxy"),
        figure=FIGURE, finding=finding,
        **{"resolution": 0.3, "scales": seconds(standard=2500, **changes), **more})


def _exponents(run: Run, prefix: int) -> np.ndarray:
    """Exponents of the label's error after `prefix` pairs in the instances seen, from where the
    curriculum has ended, [group of test tasks][seed]."""
    whole = run.data.record.values >= run.parameters.grown * run.parameters.steps
    curve = run.data.curve.isel(prefix=prefix, record=whole).transpose("group", "seed", "record")
    return exponents(run.data.instances.values[whole], curve.values)


def _goes_on(id: str, what: str, changes: dict[str, Any], cost: float) -> Claim:
    """With a curriculum: the learning curve after it."""
    return claim(
        id, "SR-F4",
        f"{what}, trained at the paper's size with a curriculum, goes on learning once the tasks"
        " are whole: its error falls as a power of the instances seen." + _said_of(changes),
        "Exponents over groups of 160 test tasks, which see the same decoders along the curve; a"
        " part a network: what another training would do is not judged. An exponent of 0.03 would"
        " need more than 10^10 times the instances to halve an error.",
        broken(
            "first-label", "The label of the first row, of which nothing has been shown.",
            lambda run: -_exponents(run, 0)),
        measure=lambda run: -_exponents(run, -1), kind=ORDERING, resolution=0.03, statistic="mean",
        status="trained", experiment=paper_size.paper_size, figure=FIGURE,
        citation=answers("key results", COMPARABLE),
        parts=tuple(f"seed {seed}" for seed in range(changes.get("seeds", 1))),
        scales=seconds(standard=cost, **changes))


BLIND = ("zero", "LISTA", "LISTA-CP")
SEEING = (*RIVALS, "FISTA, its depth", "least squares")
WITHOUT_MATRIX = "predicting zero, and of LISTA and LISTA-CP trained on ever new matrices,"
SPREAD = "Means over 8000 tasks; differences spread by about 3.5, so seven standard errors are 0.3."
GPT2_GROWN, SMALL_GROWN = dict(trainings.GPT2_GROWN), dict(trainings.SMALL_GROWN)
NORMED = "The paper's small decoder (12 layers, 4 heads, width 42), given LayerNorms"

GPT2_PASSES = _passed(
    "sparse-recovery.gpt2-grown-ahead", GPT2, WITHOUT_MATRIX, GPT2_GROWN, BLIND,
    "With a curriculum, and prompts that repeat x, a small decoder leaves the plateau at the"
    " paper's size within minutes, as networks that do not see the matrix never do.")

GPT2_BEHIND = _not_reached(
    "sparse-recovery.gpt2-grown-not-reached", GPT2 + " with a curriculum",
    "ISTA, FISTA, LISTA-VM and ALISTA with 12 steps or layers, FISTA with as many steps as it has"
    " layers, the shortest least squares and the converged LASSO", GPT2_GROWN, SEEING, SPREAD,
    "Minutes with a curriculum are enough to leave the plateau, not to reach algorithms of its own"
    " depth. By its own law the decoder would pass ISTA and FISTA of 12 steps long before the"
    " paper's number of instances, and not come near the LASSO.", resolution=0.3,
    scales=seconds(standard=2500, **GPT2_GROWN))

GPT2_GOES_ON = _goes_on("sparse-recovery.gpt2-grown-goes-on", GPT2, GPT2_GROWN, 2500)

SMALL_PASSES = _passed(
    "sparse-recovery.small-grown-ahead", NORMED, WITHOUT_MATRIX, SMALL_GROWN, BLIND,
    "So does the paper's small decoder, once it has LayerNorms, in 2,000 steps.",
    scales=seconds(standard=600, **SMALL_GROWN))

SMALL_BEHIND = _not_reached(
    "sparse-recovery.small-grown-not-reached", NORMED + " and a curriculum",
    "ISTA, FISTA, LISTA-VM and ALISTA with 12 steps or layers, the shortest least squares and the"
    " converged LASSO", SMALL_GROWN, (*RIVALS, "least squares"), SPREAD,
    "It is as far behind the algorithms of its depth as the GPT-2-like decoder.", resolution=0.3,
    scales=seconds(standard=600, **SMALL_GROWN))

SMALL_GOES_ON = _goes_on("sparse-recovery.small-grown-goes-on", NORMED, SMALL_GROWN, 600)
