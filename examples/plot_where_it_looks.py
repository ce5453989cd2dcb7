"""
Where it looks, and whether to believe it
=========================================
On data whose truth is known the attention of a classifier can be scored: how often is its heaviest
token the informative one? Log-mean-exp gets there with the fewest bags.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from saccade.estimators import AttentionClassifier, LogMeanExpClassifier, TwoStepAttentionClassifier

random = np.random.default_rng(2)
length, dim = 20, 12


def bags(n, signal=3.5):
    """One token of every positive bag is shifted; `where` says which."""
    X = random.standard_normal((n, length, dim))
    y = np.arange(n) % 2
    where = np.arange(length) == random.integers(0, length, n)[:, None]
    X[where & (y == 1)[:, None], 0] += signal
    return X, y, where


X_test, y_test, where = bags(400)
positive = y_test == 1
models = {
    "log-mean-exp": LogMeanExpClassifier(), "attention": AttentionClassifier(n_heads=1),
    "two gradient steps": TwoStepAttentionClassifier()}
counts = (30, 60, 120, 240)
warnings.simplefilter("ignore")  # with 30 bags some fits are not better than pooling, and say so
for name, model in models.items():
    scores = [
        model.fit(*bags(n)[:2]).localisation_score(X_test[positive], where[positive]).hit
        for n in counts]
    middle = np.array([score.value for score in scores])
    plt.errorbar(
        counts, middle, yerr=[middle - [s.low for s in scores], [s.high for s in scores] - middle],
        fmt="o-", capsize=2, label=name)
plt.axhline(1 / length, color="0.6", linestyle=":", label="guessing")
plt.xscale("log")
plt.xticks(counts, counts)
plt.minorticks_off()
plt.xlabel("training bags")
plt.ylabel("heaviest token is the informative one")
plt.legend()
plt.show()

# %%
# One bag a row, informative tokens in red.

model = LogMeanExpClassifier().fit(*bags(240)[:2])
chosen = np.flatnonzero(positive)[:6]
model.plot_attention(X_test[chosen], where=where[chosen])
plt.show()

# %%
# Where there is no signal there is nothing to believe: compare the held-out loss with that of
# guessing, log 2, and with pooling. If it is not below pooling, `attention` warns.

noise, labels, _ = bags(400, signal=0.0)
nothing = LogMeanExpClassifier().fit(noise, labels)
print(f"held-out loss {nothing.cv_loss_:.3f}, pooling {nothing.pooling_loss_:.3f}, log 2 = 0.693")
print("better than pooling:", nothing.better_than_pooling_)
