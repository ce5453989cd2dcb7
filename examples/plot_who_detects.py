"""
Who detects a weak, rare signal?
================================
One of L tokens carries a signal. Averaging the tokens needs a signal of the order of the square
root of L; looking at the loudest one needs only about sqrt(2 log L) + 3.
"""

import matplotlib.pyplot as plt
import numpy as np

import saccade

signals = np.linspace(0, 10, 41)
for length, style in ((10, ":"), (1000, "--"), (100_000, "-")):
    setting = {"length": length, "informative": 1, "positive_rate": 0.5}
    errors = [
        saccade.calc("sparse-token.oracle-error", **setting, signal=float(signal))
        for signal in signals]
    plt.plot(
        signals, [error["pooled"] for error in errors], "C0" + style, label=f"pooling, L = {length}"
    )
    plt.plot(
        signals, [error["hardmax"] for error in errors], "C1" + style,
        label=f"attention, L = {length}")
plt.xlabel("signal")
plt.ylabel("test error")
plt.legend(fontsize=7)
plt.show()
