"""Training what is left at the truth: lambda alone, or lambda and the length of v."""

from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.theory import Best, Setting

from .tables import MOMENTS, Kind


def trained_temperature(
    dim: float, length: float, gamma: float = 2**-0.5, kind: Kind = "softmax"
) -> Best:
    """Where descent on lambda alone ends at (k*, v*): the zero of R_lambda (softmax), or the least
    of a line search (erf)."""
    train = theory.best_inverse_temperature if kind == "softmax" else theory.best_erf
    return train(dim, length, gamma)


def oracle_risk_at(dim: float, length: float, lam: float, gamma: float = 2**-0.5) -> float:
    """The risk at the truth, not trained."""
    return theory.oracle_risk(Setting(dim, length, lam, gamma))


def trained_length(dim: float, length: float, gamma: float, kind: Kind) -> Best:
    """The least over lambda and |v| of the risk at the truth. Erf among many tokens has it as
    lambda falls to zero, where its weights are the scores: lambda m then stops at 1e-3, whose risk
    is that of the limit up to 1e-6."""
    low, high = theory.first_window(dim, gamma)
    if kind == "softmax":
        theory.check_least(dim, length, gamma)
    else:
        low = 1e-3 / max((dim / 2) ** 0.5, gamma)

    def at(lam: float) -> float:
        setting = Setting(dim, length, lam, gamma)
        return theory.fitted_risk(setting, MOMENTS[kind](setting, 1.0))

    return Best(*theory.least_over(at, low, high, stays=kind == "erf"))
