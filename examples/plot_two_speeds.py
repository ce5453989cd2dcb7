"""
Two speeds of finding a sparse vector
=====================================
Three of 20 coordinates explain 40 measurements. ISTA comes down like 1/k at worst and FISTA like
1/k^2; theory says how far above the minimum each can be after k steps, and one problem shows how
much sooner they arrive.
"""

import jax
import matplotlib.pyplot as plt
import numpy as np

import saccade
from saccade.studies.sparse_recovery.task import SparseRecovery

problem = SparseRecovery.create(measurements=40, sparsity=3).sample(jax.random.key(0), 1)
X, y = np.asarray(problem.X[0]).tolist(), np.asarray(problem.y[0]).tolist()
steps = np.unique(np.geomspace(1, 1000, 40).astype(int)).tolist()
rates = saccade.calc("sparse-recovery.rates", X=X, y=y, lam=0.3, record=steps)
for name, colour in (("ista", "C0"), ("fista", "C1")):
    reached = np.maximum(rates[f"{name}_gap"], 1e-15)  # below that, rounding
    plt.loglog(rates["steps"], reached, colour, label=name.upper())
    plt.loglog(
        rates["steps"], rates[f"{name}_bound"], colour + "--", label=f"{name.upper()}, at most")
plt.xlabel("step k")
plt.ylabel("objective above its minimum")
plt.legend()
plt.show()
