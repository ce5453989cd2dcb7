"""The claims of single-location regression, in the order of the paper, and what they share: how
they are written and what they read off a run."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.studies.single_location.claims.citations import CITATIONS
from saccade.studies.single_location.theory import Overlaps, Setting

ORDER = ("data", "risk", "manifold", "steps", "constants", "recovery", "states", "beyond", "draws")


def claim(
    id: str, spec: str, statement: str, *, sabotages: Sabotage | tuple[Sabotage, ...] = (),
    figure: str | None = None, corrected: str | None = None, **fields: Any,
) -> Claim:
    """A claim of this study, cited in `citations.py`; its figure and its correction are named
    without the study."""
    return Claim(
        id=id, spec=spec, citation=CITATIONS[id.removeprefix("single-location.")],
        statement=statement, sabotages=sabotages if isinstance(sabotages, tuple) else (sabotages,),
        figure=figure and f"single-location/{figure}",
        corrected=corrected and f"single-location.{corrected}", **fields)


def quick(
    parameters: Mapping[str, Any] | None = None, repetitions: int = 1, seconds: float = 1.0
) -> dict[str, Scale]:
    """The scales of a claim that has only this one."""
    return {"quick": Scale(parameters or {}, repetitions, seconds)}


def changed(name: str, says: str, **parameters: Any) -> Sabotage:
    """A sabotage that changes parameters of the experiment."""
    return Sabotage(name, says, parameters=parameters)


def setting(run: Run, inverse_temperature: Any = None) -> Setting:
    """The run's setting, without noise; at other inverse temperatures if they are given."""
    p = run.parameters
    lam = p.inverse_temperature if inverse_temperature is None else inverse_temperature
    return Setting(p.dim, p.length, lam, p.gamma)


def start(run: Run) -> Overlaps:
    return Overlaps(*(run.data[f"first_{name}"].values for name in Overlaps._fields))


def recorded(run: Run, names: Sequence[str] = Overlaps._fields) -> np.ndarray:
    """The named overlaps along the run, one after the other."""
    return np.stack([run.data[name].values for name in names])
