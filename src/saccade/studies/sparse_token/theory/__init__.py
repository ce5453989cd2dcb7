"""Sparse tokens: what can be learned, what two gradient steps learn, and what a fitted classifier
will do.

Source: Barnfield, Cui and Lu, "High-dimensional analysis of single-layer attention for sparse-token
classification" (arXiv 2509.25153).

    oracle.py      best errors with known direction
    alignment.py   two gradient steps
    fitted.py      fitted classifiers, also with places that are not equally likely (law.py,
                   losses.py, saddle.py, square.py behind it)
    separation.py  capacity
    maps.py        where the query looks, at one length and as it grows
    plan.py        how many samples a target error needs
"""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.sparse_token.theory.alignment import Alignment, alignment_after_two_steps
from saccade.studies.sparse_token.theory.fitted import (
    Fit,
    GridReport,
    check_grid,
    fit,
    fit_at_places,
    fit_curve,
)
from saccade.studies.sparse_token.theory.law import error_rate, feature_law
from saccade.studies.sparse_token.theory.losses import prox_logistic
from saccade.studies.sparse_token.theory.maps import (
    informative_share,
    mean_log_noise,
    mean_log_odds,
)
from saccade.studies.sparse_token.theory.oracle import (
    OracleError,
    bayes_error,
    hardmax_oracle_error,
    pooled_oracle_error,
    softmax_oracle_error,
    subset_bayes_error,
    vectorised_lower_bound,
)
from saccade.studies.sparse_token.theory.plan import Need, Plan, best_errors, plan
from saccade.studies.sparse_token.theory.separation import capacity
from saccade.studies.sparse_token.theory.square import LargeSampleRate, large_sample_rate
