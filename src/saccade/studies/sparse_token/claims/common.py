"""What the claims of this study share: predicted fits, resolutions as shares of a prediction, and
forms of claims and sabotages."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from saccade.lab.calculator import Calculator
from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, ORDERING
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims.citations import CITATIONS
from saccade.studies.sparse_token.task import SparseTokenSetting

PAPER = "Barnfield, Cui, Lu"
Predict = Callable[..., Any]


def claim(
    id: str, spec: str, statement: str, argued: str, *sabotages: Sabotage, **fields: Any
) -> Claim:
    """A claim of this study, cited in `citations.py`; the other fields by name."""
    return Claim(
        id=id, citation=CITATIONS[id.removeprefix("sparse-token.")], spec=spec, statement=statement,
        argued=argued, sabotages=sabotages, **fields)


estimate = partial(claim, status="asymptotic", kind=ESTIMATE, statistic="mean")
ordering = partial(claim, kind=ORDERING, statistic="mean")


def wrong(
    name: str, says: str, predict: Predict, *values: Any, at: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Sabotage:
    """A sabotage of the prediction, to `predict(run, *values, **changes)`; measured `at` other
    parameters, if any are given."""
    return Sabotage(name, says, at or {}, predict=lambda run: predict(run, *values, **changes))


def constant(run: Run, value: Any) -> Any:
    """A prediction that does not look at the run."""
    return value


def both_scales(
    quick: Mapping[str, Any], standard: Mapping[str, Any], repetitions: tuple[int, int],
    seconds: tuple[float, float],
) -> dict[str, Scale]:
    """The scales `quick` and `standard`."""
    return {
        "quick": Scale(quick, repetitions[0], seconds[0]),
        "standard": Scale(standard, repetitions[1], seconds[1])}


def setting_of(run: Run, **changes: Any) -> SparseTokenSetting:
    """The setting of a run, with changes."""
    return SparseTokenSetting.of(run.parameters, **changes)


def checked(answer: Any) -> Any:
    """An answer of the theory; equations that were not solved are an error, never a prediction."""
    if answer.status != "converged":
        raise ArithmeticError(
            f"the equations were solved only to a residual of {answer.residual:.2g}")
    return answer


def asked(calculator: Calculator, **values: Any) -> Any:
    """What a calculator says, by its names."""
    return SimpleNamespace(**calculator(values))


def query_of(run: Run, model: str) -> dict[str, float]:
    """Alignment and sharpness, where the model has a query."""
    p = run.parameters
    return {"alignment": p.alignment, "sharpness": p.sharpness} if model == "attention" else {}


@cache
def solved(
    setting, model: str, alpha: float, ridge: float, loss: str, alignment=None, sharpness=None
) -> theory.Fit:
    """`theory.fit`, computed once."""
    return checked(theory.fit(setting, model, alpha, ridge, loss, alignment, sharpness))


def share_of(predict: Predict, shares: Any, floor: float = 1e-12) -> Callable[[Run], np.ndarray]:
    """A resolution that is a share of what is predicted, part by part."""
    return lambda run: np.maximum(
        np.asarray(shares) * np.abs(np.asarray(predict(run), float)), floor)
