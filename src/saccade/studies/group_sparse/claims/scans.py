"""Claims on scans: how many dimensions random encodings need, no encodings at all, and correlated
groups up to 0.99."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, BELOW, ORDERING
from saccade.studies.group_sparse.experiments import scans

DIMENSION = Claim(
    id="group-sparse.encoding-dimension", spec="GS-N2",
    statement=(
        "Random encodings of the same length work better in more dimensions: attention is higher"
        " with 24 than with 2."),
    source="ours; orthogonality is an assumption of Theorem 3.2", status="heuristic", kind=ORDERING,
    experiment=scans.encoding_scan,
    measure=lambda run: (run.data.attention.sel(dim=24) - run.data.attention.sel(dim=2)).values,
    predict=lambda run: 0.0, resolution=0.02,
    argued=(
        "Differences between independent draws of the encodings, six groups; random vectors are"
        " nearly orthogonal in many dimensions."),
    statistic="mean", scales={"standard": Scale(repetitions=2, seconds=60)},
    finding=(
        "What random encodings lack is orthogonality: with 48 dimensions for six groups attention"
        " is 0.02 below the sine encodings'."),
    sabotages=(Sabotage("orthogonal", "The sine encodings at every dimension.", {"kind": "sine"}),))

NO_ENCODING = Claim(
    id="group-sparse.no-encoding-no-selection", spec="GS-N2",
    statement=(
        "Without encodings the layer sees a set: attention stays uniform and the error above 0.3."),
    source="encodings are an assumption of Theorem 3.2",
    status="exact (attention), heuristic (error)", kind=ABOVE, experiment=scans.encoding_scan,
    measure=lambda run: run.data.error.sel(dim=run.parameters.dims[0]).values,
    predict=lambda run: 0.3, resolution=0.0,
    argued="Uniform attention errs on arctan(sqrt(5))/pi = 0.366 of the inputs with six groups.",
    statistic="median",
    scales={"quick": Scale({"dims": (0,), "steps": 100, "step_size": 0.25}, seconds=5)},
    sabotages=(Sabotage("sine", "The sine encodings.", {"dims": (6,), "kind": "sine"}),))

FROZEN = Sabotage("frozen-attention", "Attention frozen at uniform.", {"attention_speed": 0.0})

CORRELATED = Claim(
    id="group-sparse.correlated-groups", spec="GS-N4",
    statement=(
        "Groups with a common correlation of up to 0.8 hardly disturb the selection: attention"
        " passes 0.8 within 150 steps."),
    source="independence is an assumption of Theorem 3.2", status="heuristic", kind=ABOVE,
    experiment=scans.correlation_scan,
    measure=lambda run: run.data.attention.sel(correlation=[0.2, 0.5, 0.8]).values.T,
    predict=lambda run: 0.8, resolution=0.0,
    argued="Medians over runs; independent groups reach 0.91 there.", statistic="median",
    parts=("rho=0.2", "rho=0.5", "rho=0.8"), scales={"quick": Scale(repetitions=2, seconds=8)},
    sabotages=(FROZEN,))


def _attention_and_error(run: Run, correlations: list[float]) -> np.ndarray:
    return np.concatenate(
        [run.data[name].sel(correlation=correlations).values for name in ("attention", "error")]).T


CORRELATION_FADES = Claim(
    id="group-sparse.correlation-makes-selection-idle", spec="GS-N4",
    statement=(
        "Near full correlation attention is slow (below 0.8 at rho = 0.95, 0.4 at 0.99), and the"
        " error below 0.06 all the same."),
    source="ours", status="heuristic", kind=BELOW, experiment=scans.correlation_scan,
    measure=lambda run: _attention_and_error(run, [0.95, 0.99]),
    predict=lambda run: [0.8, 0.4, 0.06, 0.06], resolution=0.0,
    argued=(
        "Medians over runs; every group then carries nearly the same signal, so there is little to"
        " select."),
    statistic="median",
    parts=("attention, rho=0.95", "attention, rho=0.99", "error, rho=0.95", "error, rho=0.99"),
    scales={"quick": Scale(repetitions=2, seconds=8)},
    finding=(
        "At a correlation of 0.99 attention is 0.26 after 150 steps and the error 0.03: what is"
        " hardly needed is learned slowly."),
    sabotages=(Sabotage(
        "little-correlation", "Look at rho = 0.2 and 0.5 instead.",
        measure=lambda run: _attention_and_error(run, [0.2, 0.5])),))
