"""The claim on what looks into decoders: states, probes and nearest layers by hand."""

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_recovery.claims import answers, claim, seconds
from saccade.studies.sparse_recovery.experiments import probing_by_hand


def _off(run: Run) -> np.ndarray:
    """Differences of read-outs and probes, and of the shares left over those of the noise to 1."""
    data = run.data
    ratio = data.left.values.sum() / data.noise.values.sum()
    return one_row(
        [*data.states_off.values[1:], *np.abs(data.made.values - data.plain.values), ratio - 1])


PROBED = claim(
    "sparse-recovery.probing-by-hand", "SR-F4",
    "States after each layer are those of decoders with fewer layers, probes are ridge regression"
    " with an intercept on the first half of the samples, and the nearest LISTA-VM layer leaves, of"
    " a known layer's moves, the noise.",
    "Single precision in the states, rounding in the probes; 20 numbers fitted to 200 moves of four"
    " coordinates leave 5 % above the noise, and groups of 50 vary by a tenth.",
    Sabotage("other-layers", "By hand the first layer is left out.", {"skipped": 1}),
    Sabotage("other-ridge", "By hand a ridge of 2e-3.", {"penalty": 2e-3}),
    Sabotage("hard-thresholds", "Moves of a layer with hard thresholds.", {"hard": True}),
    measure=_off, resolution=[1e-5, 1e-5, *[1e-9] * 5, 0.15], kind=IDENTITY,
    experiment=probing_by_hand.probing_by_hand,
    parts=(
        "one layer", "two layers", "probe", *(f"explained, group {n}" for n in range(1, 5)),
        "left over noise"),
    citation=answers("mechanism 1", "Each transformer layer corresponds to one iteration"),
    scales=seconds(quick=3))
