"""Softmax attention in single-location regression: the exact theory."""

from .erf import best_erf, erf_moments, erf_oracle_risk
from .kernels import FINE, FINEST, ROUGH, Rule
from .laws import (
    RISK_TO_ARGMAX,
    SOFTMAX_CAPACITY,
    bayes_capacity,
    best_inverse_temperature_gap,
    best_inverse_temperature_law,
    creeping_speed,
    erf_threshold,
    null_threshold,
    score_to_softmax,
    softmax_rate,
)
from .moments import COUNT, Moments, kernels, moments, stacked, unstacked
from .oracle import (
    Best,
    best_inverse_temperature,
    check_least,
    first_window,
    oracle_risk,
    oracle_slope,
)
from .risk import Value, derivative, evaluate, manifold_risk, risk, with_accuracy
from .rivals import Sees, argmax_risk, bayes_risk, fitted_risk, linear_risk
from .roots import least_over, root_between
from .setting import ORACLE, Overlaps, Setting, check_overlaps, check_setting, in_plane
from .several import best_several, several_risk
from .stability import (
    Hessian,
    Window,
    hessian_of,
    instability,
    margin,
    oracle_hessian,
    saturated_curvature,
    unstable_window,
)
from .swapped import (
    End,
    Swapped,
    SwappedWindow,
    settle,
    stability_at,
    swapped_state,
    swapped_window,
)

__all__ = [
    "COUNT", "FINE", "FINEST", "ORACLE", "RISK_TO_ARGMAX", "ROUGH", "SOFTMAX_CAPACITY", "Best",
    "End", "Hessian", "Moments", "Overlaps", "Rule", "Sees", "Setting", "Swapped", "SwappedWindow",
    "Value", "Window", "argmax_risk", "bayes_capacity", "bayes_risk", "best_erf",
    "best_inverse_temperature", "best_inverse_temperature_gap", "best_inverse_temperature_law",
    "best_several", "check_least", "check_overlaps", "check_setting", "creeping_speed",
    "derivative", "erf_moments", "erf_oracle_risk", "erf_threshold", "evaluate", "first_window",
    "fitted_risk", "hessian_of", "in_plane", "instability", "kernels", "least_over", "linear_risk",
    "manifold_risk", "margin", "moments", "null_threshold", "oracle_hessian", "oracle_risk",
    "oracle_slope", "risk", "root_between", "saturated_curvature", "score_to_softmax", "settle",
    "several_risk", "softmax_rate", "stability_at", "stacked", "swapped_state", "swapped_window",
    "unstable_window", "unstacked", "with_accuracy"]
