"""
Bags of different lengths: lists, masks, tables
===============================================
Real bags are ragged. A list of arrays, an array with a mask and a pandas table with one row a token
give the same model; nothing is padded inside.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas

from saccade.estimators import LogMeanExpClassifier, from_long

random = np.random.default_rng(3)
n, longest, dim = 120, 15, 4
y = np.arange(n) % 2
lengths = random.integers(3, longest + 1, n)
bags = [random.standard_normal((length, dim)) for length in lengths]
for bag, label in zip(bags, y, strict=True):
    bag[random.integers(len(bag)), 1] += 4 * label

# %%
# A list is all it takes.

as_list = LogMeanExpClassifier().fit(bags, y)

# %%
# The same as an array: what the mask hides is never read, not even if it is NaN.

X = np.full((n, longest, dim), np.nan)
mask = np.arange(longest) < lengths[:, None]
X[mask] = np.concatenate(bags)
as_array = LogMeanExpClassifier().fit(X, y, mask=mask)

# %%
# And as a table with one row a token.

table = pandas.DataFrame(np.concatenate(bags), columns=["red", "green", "blue", "size"])
table.insert(0, "sample", np.repeat(np.arange(n), lengths))
table.insert(1, "ill", np.repeat(y, lengths))
print(table.head(3))
tokens, labels, names = from_long(table, bag="sample", label="ill")
as_table = LogMeanExpClassifier().fit(tokens, labels)

# %%
# One model, whatever the form.

coefficients = [model.coef_[0] for model in (as_list, as_array, as_table)]
print(np.ptp(coefficients, axis=0).max(), "is the largest difference between their coefficients")
assert np.allclose(coefficients, coefficients[0], atol=1e-9)
plt.bar(["red", "green", "blue", "size"], as_table.coef_[0])
plt.ylabel("evidence for ill")
plt.show()
