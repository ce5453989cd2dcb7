"""A study in one moving picture: where attention looks while it learns.

The weights were recorded from a run of the study's own notebook (`looks` in its `explore.py`) and
lie in the study's folder as `looks.json`; `python -m saccade.report.heroes` records them anew. The
drawing is SVG, moved by CSS alone: the page's style has one animation of eight frames, and every
token says its eight weights.
"""

import json
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from typing import NamedTuple

from saccade.lab.notebooks import Looks, notebooks
from saccade.studies import STUDIES, Study

FILE = "looks.json"
FRAMES = "abcdefgh"
WIDTH, HEIGHT, FLOOR = 320.0, 132.0, 112.0
SIDE = 29.0  # of a patch in a grid
LEAST = 0.015  # of the height: a token nobody looks at is still seen


class Token(NamedTuple):
    """One bar, or one patch of a grid: its place, its weights as CSS, and whether it matters."""

    x: float
    y: float
    style: str
    matters: bool
    asks: bool


class Hero(NamedTuple):
    """The drawing of `Looks`: tokens `width` wide, as a row of bars or as a grid of patches."""

    tokens: list[Token]
    width: float
    is_grid: bool
    steps: list[str]
    unit: str
    says: str


def hero(study: Study | None) -> Hero | None:
    """The study's own, if it has recorded one."""
    place = files(study.package) / FILE if study else None
    if place is None or not place.is_file():
        return None
    return drawn(Looks(**json.loads(place.read_text(encoding="utf-8"))))


def drawn(looks: Looks) -> Hero:
    """Weights are drawn against the largest of all frames."""
    looks = eight_frames(looks)
    most = max(max(row) for row in looks.weights) or 1.0
    shares = [[max(weight / most, LEAST) for weight in row] for row in looks.weights]
    count = len(shares[0])
    room = SIDE if looks.columns else WIDTH / count
    width = round(room * (0.9 if looks.columns else 0.66), 1)
    left = (WIDTH - room * looks.columns) / 2 if looks.columns else 0.0
    tokens = [
        Token(
            round(left + room * (number % (looks.columns or count)) + (room - width) / 2, 1),
            round(8 + room * (number // looks.columns), 1) if looks.columns else FLOOR,
            ";".join(
                f"--{letter}:{row[number]:.3g}" for letter, row in zip(FRAMES, shares, strict=True)
            ),
            number in looks.where, number == looks.asks)
        for number in range(count)]
    steps = [f"{step:,}".replace(",", "\u2009") for step in looks.steps]
    return Hero(tokens, width, bool(looks.columns), steps, looks.unit, looks.says)


def _frames(recorded: int) -> Sequence[int]:
    """Eight of the recorded states, evenly, the first and the last among them."""
    last = len(FRAMES) - 1
    return [round(place * (recorded - 1) / last) for place in range(len(FRAMES))]


def record(name: str) -> str:
    """Run the notebook's `looks` of a study and keep its answer in the study's folder."""
    module = import_module(STUDIES[name].room("explore"))
    place = notebooks()[name].with_name(FILE)
    kept = eight_frames(module.looks())
    place.write_text(json.dumps(kept._asdict()) + "\n", encoding="utf-8")
    return str(place)


def eight_frames(looks: Looks) -> Looks:
    """Of all recorded states as many as the animation has frames, with four digits."""
    frames = _frames(len(looks.steps))
    weights = [[round(weight, 4) for weight in looks.weights[frame]] for frame in frames]
    return looks._replace(steps=[looks.steps[frame] for frame in frames], weights=weights)


if __name__ == "__main__":
    for study in notebooks():
        print(record(study))
