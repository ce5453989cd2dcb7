"""
When the truth stops attracting
===============================
In single-location regression the truth is a local minimum of the risk only below a critical inverse
temperature, which has a closed form. It falls as the sequence grows.
"""

import matplotlib.pyplot as plt

import saccade

lengths = [2, 4, 8, 16, 32, 64]
for dim in (80, 400, 4000):
    values = [
        saccade.calc("single-location.critical-inverse-temperature", dim=dim, length=length)[
            "inverse_temperature"]
        for length in lengths]
    plt.semilogx(lengths, values, "o-", label=f"d = {dim}", base=2)
plt.xlabel("tokens L")
plt.ylabel("critical inverse temperature")
plt.legend()
plt.show()
