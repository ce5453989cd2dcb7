"""The advice as a page with pictures: one HTML file that needs no other, written whole."""

import base64
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from saccade.errors import InvalidInput
from saccade.estimators.advise import words
from saccade.estimators.advise.advice import POOLS, Advice
from saccade.estimators.advise.comparing import CANDIDATES
from saccade.estimators.looking import Interval

BLUE, ORANGE, GREY, GREEN = "#0072B2", "#E69F00", "#666666", "#009E73"
LINE = {"mean": ORANGE, "attention": BLUE, "flat": GREEN}


def write_page(advice: Advice, path: str | Path) -> str:
    """Render, write to a temporary sibling and rename: a page is there whole or not at all."""
    target = Path(path).expanduser()
    text = rendered(advice)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(temporary, 0o644)
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise InvalidInput(
            f"page = {str(path)!r} cannot be written ({(problem.strerror or '').lower()})."
        ) from None
    return str(target)


def rendered(advice: Advice) -> str:
    from importlib.resources import files

    from jinja2 import Environment, StrictUndefined

    source = (files("saccade.estimators.advise") / "page.html.j2").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(source)
    forecasts = {
        name: None if "absent" in one else _picture(draw_forecast(advice, one))
        for name, one in advice.forecasts.items()}
    return template.render(
        advice=advice, words=words, labels={name: one.label for name, one in CANDIDATES.items()},
        scores=_picture(draw_scores(advice)), gains=_picture(draw_gains(advice)),
        forecasts=forecasts)


def _picture(figure: Any) -> str:
    """A PNG as a data address."""
    import matplotlib.pyplot as plt

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=140)
    plt.close(figure)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _axes(height: float, width: float = 6.4) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="0.92")
    axes.set_axisbelow(True)
    return figure, axes


def draw_scores(advice: Advice) -> Any:
    """AUC of every candidate with its interval, best on top."""
    scores = {name: advice.comparison.score(name) for name in advice.names}
    order = sorted(scores, key=lambda name: scores[name].value)
    figure, axes = _axes(0.9 + 0.34 * len(order))
    for place, name in enumerate(order):
        colour = BLUE if CANDIDATES[name].looks else ORANGE if name in POOLS else GREY
        _bar(axes, place, _inside(scores[name], 0.0, 1.0), colour)
    axes.set_yticks(range(len(order)), [CANDIDATES[name].label for name in order])
    axes.set_xlim(right=1.01)
    axes.set_xlabel("AUC on held-out bags, 95 % (blue: looks, orange: pools)")
    axes.axvline(0.5, color="0.6", linestyle=":")
    return figure


def draw_gains(advice: Advice) -> Any:
    """Paired differences to both ways of pooling on the same folds, each pair once."""
    rows = [row for row in advice.differences() if (row["name"], row["other"]) != POOLS]
    figure, axes = _axes(0.9 + 0.27 * len(rows))
    for place, row in enumerate(reversed(rows)):
        told = row["verdict"] != "not told"
        interval = advice.comparison.difference(row["name"], row["other"])
        _bar(axes, place, _inside(interval, -1.0, 1.0), BLUE if told else GREY)
    texts = [
        f"{CANDIDATES[row['name']].label} - {CANDIDATES[row['other']].label}"
        for row in reversed(rows)]
    axes.set_yticks(range(len(rows)), texts)
    axes.set_xlabel("difference in AUC, 95 % (grey: not told)")
    axes.axvline(0, color="black", linewidth=0.8)
    return figure


def _inside(interval: Interval, low: float, high: float) -> Interval:
    """What of an interval is possible: with few folds Student's reaches beyond."""
    return Interval(interval.value, max(low, interval.low), min(high, interval.high))


def _bar(axes: Any, place: int, interval: Interval, colour: str) -> None:
    axes.plot([interval.low, interval.high], [place, place], color=colour, linewidth=2)
    axes.plot([interval.value], [place], "o", color=colour)


def draw_forecast(advice: Advice, forecast: Any) -> Any:
    """Predicted error against n, with what was measured at the n of the data."""
    figure, axes = _axes(3.1)
    here = forecast["n"][forecast["here"]]
    for name, errors in forecast["errors"].items():
        colour = LINE.get(name, GREY)
        axes.plot(forecast["n"], errors, color=colour, label=CANDIDATES[name].label)
        if name in advice.comparison.error:
            measured = advice.comparison.mistakes(name)
            # beside each other, not on top
            shift = here * (1 + 0.06 * (list(forecast["errors"]).index(name) - 1))
            axes.plot([shift, shift], np.clip(measured[1:], 0, 1), color=colour, linewidth=1.5)
            axes.plot([shift], [measured.value], "o", color=colour)
    axes.axhline(forecast["smallest"], color="0.5", linestyle=":", label="any classifier")
    axes.set(xscale="log", xlabel="bags n (dots: measured here)", ylabel="test error")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    return figure
