"""The house style of figures: fonts, sizes and colours (a colour-blind safe palette)."""

from typing import Any

STYLE: Any = {
    "font.size": 9, "font.family": "sans-serif", "axes.titlesize": 9, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.labelsize": 9, "axes.spines.top": False,
    "axes.spines.right": False, "axes.linewidth": 0.8, "axes.grid": True, "grid.color": "0.92",
    "grid.linewidth": 0.6, "axes.axisbelow": True, "legend.frameon": False, "legend.fontsize": 8,
    "lines.linewidth": 1.4, "xtick.labelsize": 8, "ytick.labelsize": 8,
    "figure.constrained_layout.use": True, "pdf.fonttype": 42, "svg.hashsalt": "saccade",
    "figure.dpi": 110}

BLUE, ORANGE, GREEN, RED, PURPLE, BROWN, PINK, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#7B3294", "#8C6D31", "#CC79A7", "#666666")
CYCLE = (BLUE, ORANGE, GREEN, RED, PURPLE, BROWN, PINK)
THEORY = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.0}
