"""What the claims of this study share: the setting of a run, its predicted fit, and resolutions as
shares of a prediction."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from saccade.lab.experiment import Run
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.task import SparseTokenSetting

PAPER = "Barnfield, Cui, Lu"
FIT_PARTS = ("train_loss", "test_error", "train_error", "w_norm")


def setting_of(run: Run, **changes: Any) -> SparseTokenSetting:
    """The setting of a run, with changes."""
    names = ("length", "informative", "positive_rate", "signal")
    return SparseTokenSetting(**({name: getattr(run.parameters, name) for name in names} | changes))


@cache
def solved(
    setting, model: str, alpha: float, ridge: float, loss: str, alignment=None, sharpness=None
) -> theory.Fit:
    """`theory.fit`, computed once; equations that were not solved are an error, never a
    prediction."""
    made = theory.fit(setting, model, alpha, ridge, loss, alignment, sharpness)
    if made.status != "converged":
        raise ArithmeticError(
            f"the equations were solved only to a residual of {made.residual:.2g}")
    return made


def predicted_fit(
    run: Run, alpha: float | None = None, model: str | None = None, **changes: Any
) -> theory.Fit:
    """The fit a run of `sparse-token.fitted` measures."""
    p = run.parameters
    model = model or p.model
    query = {"alignment": p.alignment, "sharpness": p.sharpness} if model == "attention" else {}
    values = {"ridge": p.ridge, "loss": p.loss} | query | changes
    return solved(
        setting_of(run), model, p.samples_per_dim[0] if alpha is None else alpha, **values)


def fit_values(made: theory.Fit, parts=FIT_PARTS) -> list[float]:
    return [float(getattr(made, name)) for name in parts]


def measured(run: Run, parts=FIT_PARTS, case: int = 0) -> np.ndarray:
    """Columns of a fitted run, one a part."""
    return np.stack([run.data[name].values[:, case] for name in parts], 1)


def share_of(
    predict: Callable[[Run], Any], shares: Any, floor: float = 1e-12
) -> Callable[[Run], np.ndarray]:
    """A resolution that is a share of what is predicted, part by part."""
    return lambda run: np.maximum(
        np.asarray(shares) * np.abs(np.asarray(predict(run), float)), floor)
