"""
Which patches belong together?
==============================
An image has 16 patches in four hidden sets, and one set decides the label. A layer trained on
labels alone learns a matrix A that says how much each patch looks at each other one. Sorted by set,
it shows the sets.
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

from saccade.studies.spatial.dynamics.descent import Layer, random_start, realistic_descent
from saccade.studies.spatial.models import association
from saccade.studies.spatial.task import Spatial

sets = [0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3]  # neighbours need not belong together
images = Spatial.create(jax.random.key(1), sets, 8, 0.3).sample(jax.random.key(2), 2000)
X, y = jnp.asarray(images.X, jnp.float32), jnp.asarray(images.y, jnp.float32)
start = random_start(jax.random.key(4), 16, 8, 1.0, 1e-3, jnp.float32)
run = realistic_descent(X, y, start, Layer(), 1e-2, 20.0, 100, 20)

A = np.asarray(run.A[-1])
A = A - np.diag(np.diag(A))  # the diagonal is not trained
order = np.argsort(sets, kind="stable")
found = association(np.asarray(run.A[-1]), sets)
figure, panels = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for panel, values, words in (
    (panels[0], A, "patches in order"), (panels[1], A[np.ix_(order, order)], "sorted by set"),
):
    shown = panel.imshow(values, cmap="Blues")
    panel.set(title=words, xlabel="patch looked at", ylabel="patch that looks")
figure.colorbar(shown, ax=panels, label="learned A")
figure.suptitle(f"top companions right in {found.off_diagonal_overlap:.0%} of places")
plt.show()
