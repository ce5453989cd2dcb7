"""
Where attention loses
=====================
Attention is worth it where few tokens matter. Here all of them do, a little: every token of a
positive bag is shifted by a quarter of its deviation. The mean collects all of it; a model that
looks for the one token that decides throws most of it away.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from saccade.estimators import AttentionClassifier, LogMeanExpClassifier, PooledClassifier

random = np.random.default_rng(0)
n, length, dim = 400, 20, 10
y = np.arange(n) % 2
models = {
    "mean pooling": PooledClassifier(), "attention": AttentionClassifier(n_heads=1),
    "log-mean-exp": LogMeanExpClassifier()}


def bags(shift, share):
    """A `share` of the tokens of positive bags is shifted."""
    X = random.standard_normal((n, length, dim))
    informative = random.random((n, length)) < share
    X[informative & (y == 1)[:, None], 0] += shift
    return X


# %%
# The same total shift of the mean token, 0.25, once spread over all tokens and then held by fewer
# and fewer. On the left pooling wins, on the right attention does.

shares = (1.0, 0.5, 0.2, 0.1, 0.05)
sets = [bags(0.25 / share, share) for share in shares]
for name, model in models.items():
    scores = [cross_val_score(model, X, y, scoring="roc_auc", cv=5).mean() for X in sets]
    plt.plot(shares, scores, "o-", label=name)
plt.gca().invert_xaxis()
plt.xscale("log")
plt.xticks(shares, [f"{share:.0%}" for share in shares])
plt.minorticks_off()
plt.xlabel("share of tokens that are informative (their shift is 0.25 over it)")
plt.ylabel("AUC, cross-validated")
plt.legend()
plt.show()
