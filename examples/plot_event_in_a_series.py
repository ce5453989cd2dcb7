"""
An event in a series
====================
A long series is labelled, but nobody says when it happened. Cut it into windows, let the windows be
the tokens of a bag, and the model that decides also says where it looked.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_predict

from saccade.estimators import LogMeanExpClassifier

random = np.random.default_rng(1)
n, times, window, step = 200, 240, 16, 8
bump = 1.6 * np.hanning(window)

y = np.arange(n) % 2
series = random.standard_normal((n, times))
start = random.integers(0, (times - window) // step, n) * step  # where it happens, if it does
for place in np.flatnonzero(y):
    series[place, start[place] : start[place] + window] += bump

# %%
# A token is a window of 16 times, one every 8: bags (n, 29, 16).

X = np.lib.stride_tricks.sliding_window_view(series, window, axis=1)[:, ::step]
model = LogMeanExpClassifier()
scores = cross_val_predict(model, X, y, cv=5, method="decision_function")
print(f"right in {np.mean((scores > 0) == y):.0%} of held-out series")

# %%
# Train on the first 150 series and look at three of the others. Grey: where the event really is.

model.fit(X[:150], y[:150])
attention = model.attention(X[150:])
shown = [number for number in range(50) if y[150 + number]][:3]
figure, rows = plt.subplots(3, 1, sharex=True, figsize=(7, 4.5), layout="constrained")
for axes, number in zip(rows, shown, strict=True):
    axes.plot(series[150 + number], color="0.4", linewidth=0.8)
    axes.axvspan(start[150 + number], start[150 + number] + window, color="0.85")
    centres = np.arange(X.shape[1]) * step + window / 2
    axes.bar(centres, 6 * attention[number], width=step, bottom=-3, color="C1", alpha=0.7)
rows[-1].set_xlabel("time (orange: attention of the window)")
plt.show()
hits = [abs(attention[i].argmax() * step - start[150 + i]) <= step for i in range(50) if y[150 + i]]
print(f"the heaviest window is at the event, or next to it, in {np.mean(hits):.0%} of them")
