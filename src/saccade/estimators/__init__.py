"""Attention for people with their own bags and sequences, in scikit-learn's manner.

    from saccade.estimators import BagClassifierCV
    model = BagClassifierCV().fit(X, y)          # X: (n, L, d), or a list of (L_i, d)
    model.best_name_, model.predict(X), model.attention(X)

X is (n, L, d) with an optional mask, a list of (L_i, d) arrays, `Bags(tokens, offsets)`, or
(n, n_tokens * d). NumPy and SciPy only.
"""

from saccade.estimators.attention import AttentionClassifier, AttentionRegressor
from saccade.estimators.bags import Bags
from saccade.estimators.evidence import EvidenceClassifier
from saccade.estimators.formats import from_long, from_series, transpose
from saccade.estimators.group import GroupAttentionClassifier
from saccade.estimators.log_mean_exp import LogMeanExpClassifier
from saccade.estimators.looking import localisation, plot_attention
from saccade.estimators.patches import PatchAssociationClassifier
from saccade.estimators.pooled import PooledClassifier
from saccade.estimators.recovery import SparseRecovery
from saccade.estimators.samples import (
    make_group_bags,
    make_patch_bags,
    make_single_location_bags,
    make_sparse_token_bags,
)
from saccade.estimators.selection import BagClassifierCV
from saccade.estimators.two_step import TwoStepAttentionClassifier
