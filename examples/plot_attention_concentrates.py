"""
Attention concentrates slowly
=============================
Group-sparse classification with the feature part frozen: two numbers follow population descent. The
attention outside the relevant group falls like t^(-2/3), not exponentially.
"""

import matplotlib.pyplot as plt
import numpy as np

import saccade

record = np.unique(np.geomspace(1, 20_000, 60).astype(int)).tolist()
for groups in (4, 16, 64):
    run = saccade.calc(
        "group-sparse.position-only", groups=groups, step_size=0.1, steps=20_000, record=record)
    plt.loglog(run["steps"], 1 - np.asarray(run["attention"]), label=f"D = {groups}")
times = np.asarray([1000.0, 20_000.0])
plt.loglog(times, 4 * times ** (-2 / 3), "k--", label="slope -2/3")
plt.xlabel("step")
plt.ylabel("attention elsewhere, 1 - S")
plt.legend()
plt.show()
