"""Detection by log-mean-exp and mean pooling beside the best classifier."""

from typing import Any

import matplotlib.pyplot as plt

from saccade.lab.figure import Figure
from saccade.lab.style import BLUE, ORANGE, THEORY
from saccade.studies.bag_estimators.experiments import detection
from saccade.studies.bag_estimators.theory import bayes_auc


def _draw(runs) -> Any:
    data, parameters = runs["detection"].data, runs["detection"].parameters
    drawing, axes = plt.subplots(figsize=(4.6, 3.2))
    for shift, name, colour in ((-0.16, "log_mean_exp", BLUE), (0.16, "mean", ORANGE)):
        places = [number + shift for number in range(len(parameters.signals))]
        axes.boxplot(
            data[name].values, positions=places, widths=0.25, label=name.replace("_", "-"),
            medianprops={"color": colour}, boxprops={"color": colour}, showfliers=False)
    for number, signal in enumerate(parameters.signals):
        best = bayes_auc(signal, parameters.length)
        axes.plot(
            [number - 0.4, number + 0.4], [best, best],
            label="best of all" if number == 0 else None, **THEORY)
    axes.set_xticks(range(len(parameters.signals)), [f"{s:g}" for s in parameters.signals])
    axes.set(xlabel="signal theta", ylabel="test AUC")
    axes.legend(loc="center right")
    return drawing


DETECTION = Figure(
    "bag-estimators/detection", "Log-mean-exp against mean pooling",
    "AUC on fresh bags after training on 500, over 32 data sets; dashed: the best classifier that"
    " knows the direction.", "ours", {"detection": (detection, {})}, _draw, seconds={"quick": 15})
