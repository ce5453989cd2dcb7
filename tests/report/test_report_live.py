"""The interactive version of a figure holds the numbers that were drawn."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest

from saccade.report.live import interactive
from saccade.report.words import plain_words


@pytest.fixture
def axes():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def traces(axes):
    return interactive(axes.figure)["data"]


def test_curves_points_and_logarithmic_axes_keep_their_numbers(axes):
    axes.loglog([1, 10, 100], [3.0, 2.0, np.nan], "o--", label=r"risk $R_\lambda$")
    axes.set(xlabel=r"steps $t$", ylabel="loss", xlim=(1, 1000))
    plotly = interactive(axes.figure)
    (trace,) = plotly["data"]
    assert trace["x"] == [1, 10, 100] and trace["y"] == [3.0, 2.0, None]
    assert trace["mode"] == "lines+markers" and trace["line"]["dash"] == "dash"
    assert trace["name"] == "risk R<sub>λ</sub>" and trace["showlegend"]
    assert plotly["layout"]["xaxis"]["type"] == "log" and plotly["layout"]["xaxis"]["range"] == [
        0, 3]
    assert plotly["layout"]["xaxis"]["title"]["text"] == "steps t"
    json.dumps(plotly, allow_nan=False)


def test_a_vertical_line_is_where_it_was_drawn(axes):
    axes.plot([0, 4], [10, 30])
    axes.set_ylim(10, 30)
    axes.axvline(2.5)
    upright = traces(axes)[1]
    assert upright["x"] == pytest.approx([2.5, 2.5]) and upright["y"] == pytest.approx([10, 30])


def test_error_bars_and_bands_are_there(axes):
    axes.errorbar([1, 2], [5, 6], yerr=[0.5, 1.0], fmt="o")
    axes.fill_between([0, 1], [0, 0], [1, 2], color="red", alpha=0.3)
    shown = traces(axes)
    bars = next(trace for trace in shown if trace.get("fill") == "none")
    assert {round(value, 6) for value in bars["y"] if value is not None} == {4.5, 5.5, 5.0, 7.0}
    band = next(trace for trace in shown if trace.get("fill") == "toself")
    assert max(value for value in band["y"] if value is not None) == pytest.approx(2)
    assert band["fillcolor"] == "rgba(255,0,0,0.3)"


def test_maps_have_their_cells_where_they_are(axes):
    values = np.arange(6.0).reshape(2, 3)
    axes.imshow(values)
    image = traces(axes)[0]
    assert image["z"] == values.tolist() and image["x"] == [0, 1, 2] and image["y"] == [0, 1]
    axes.clear()
    axes.pcolormesh([0, 1, 2, 3], [10, 20, 40], values)
    mesh = traces(axes)[0]
    assert mesh["z"] == values.tolist() and mesh["x"] == [0.5, 1.5, 2.5] and mesh["y"] == [15, 30]


def test_panels_get_their_own_axes_and_each_name_stands_once_in_the_legend():
    figure, panels = plt.subplots(1, 2)
    for panel in panels:
        panel.plot([0, 1], [0, 1], label="theory")
    plotly = interactive(figure)
    plt.close(figure)
    assert [trace["xaxis"] for trace in plotly["data"]] == ["x", "x2"]
    assert [trace["showlegend"] for trace in plotly["data"]] == [True, False]
    assert plotly["layout"]["xaxis"]["domain"][1] <= plotly["layout"]["xaxis2"]["domain"][0]


def test_words_are_escaped_and_mathematics_becomes_characters():
    assert plain_words("<script>alert(1)</script>") == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert plain_words(r"$\theta^{2}$ & $\mathrm{x}_k$") == "θ<sup>2</sup> &amp; x<sub>k</sub>"
