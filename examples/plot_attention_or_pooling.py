"""
Attention or pooling? From data to decision
===========================================
`saccade.advise` fits pooling, attention and a few others to the same folds, says with intervals
what differs, estimates how strong and how rare the signal is, and what theory makes of it.
"""

import matplotlib.pyplot as plt
import numpy as np

import saccade
from saccade.estimators.advise.page import draw_forecast, draw_scores

random = np.random.default_rng(0)
n, length, dim = 200, 12, 8
y = np.arange(n) % 2
X = random.standard_normal((n, length, dim))
X[np.flatnonzero(y), random.integers(0, length, n // 2)] += 3.5 / np.sqrt(dim)

advice = saccade.advise(X, y)
print(advice)

# %%
# The same as pictures; `advice.page("advice.html")` writes all of them into one page, and
# `saccade diagnose bags.npz --page advice.html` does so from a file.

draw_scores(advice)
plt.show()

# %%
# What the sparse-token theory expects at this and other numbers of bags, and what was measured.

draw_forecast(advice, next(iter(advice.forecasts.values())))
plt.show()

# %%
# With 40 of the bags the honest answer is another one.

few = saccade.advise(X[:40], y[:40])
print(few.recommendation.sentence)
print(few.recommendation.reason)
