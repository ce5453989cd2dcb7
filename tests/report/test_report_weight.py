"""A report stays light enough to send: what a page, a figure and the shared files weigh, and so
what the whole ledger would."""

import base64
import gzip
import re
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from saccade.lab.figure import Figure
from saccade.report import write_recorded, write_report
from saccade.report.light import (
    DPI,
    LEDGER,
    LIMIT_MB,
    PACKED,
    Weight,
    pack_live,
    save_light_png,
    weigh,
)
from saccade.report.traces import outline, points

pytestmark = pytest.mark.slow

NUMBERS = {
    "prediction": 1.0 / 3, "measurement": 0.35, "interval": [0.331234567, 0.36], "resolution": 0.1}
CLAIMS, FIGURES = 700, 85  # a few more than there are
USUAL_PARTS, USUAL_CURVES = 3, 12


def row(number):
    parts = [
        {"part": f"width {place}", "verdict": "holds", "looks": 1, **NUMBERS}
        for place in range(USUAL_PARTS)]
    sabotages = [
        {"name": "shift", "says": "Move it by a tenth.", "verdict": "refuted", **NUMBERS}
        for _ in range(2)]
    words = "A statement of the usual length, with a formula kappa^2 + nu^2 and a bound d <= 80."
    texts = {
        "statement": words, "argued": words, "source": "Theorem 1", "status": "exact",
        "spec": "SL-X", "finding": ""}
    return {
        "id": f"single-location.claim-{number}", "verdict": "holds", "kind": "estimate",
        "seconds": 1.0, **texts, **NUMBERS, "parts": parts, "sabotages": sabotages}


def drawn(runs):
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2))
    steps = np.linspace(0, 1, 51)
    for number in range(USUAL_CURVES):
        panels[number % 2].plot(steps, np.sin(steps * (number + 1)), label=f"curve {number}")
    panels[0].fill_between(np.linspace(0, 1, 400), -1, np.linspace(0, 1, 400) ** 2, alpha=0.2)
    return figure


def weight_of(tmp_path, claims, figures):
    rows = [row(number) for number in range(claims)]
    shown = [
        Figure(f"single-location/{number}", "Title", "Caption.", "Figure", {}, drawn)
        for number in range(figures)]
    page = write_report(
        rows, tmp_path / f"{claims}-{figures}", scale="quick", seed=0, store=None, figures=shown)
    return weigh(page.parent).bytes


def test_the_whole_ledger_stays_under_its_limit(tmp_path):
    base, more_claims, more_figures = (
        weight_of(tmp_path, *counts) for counts in ((2, 1), (12, 1), (2, 2)))
    claim, figure = (more_claims - base) / 10, more_figures - base
    shared = base - 2 * claim - figure
    assert shared + CLAIMS * claim + FIGURES * figure < LIMIT_MB * 1e6, (shared, claim, figure)


def test_the_report_of_the_record_has_room_for_thirty_more_claims(tmp_path):
    folder = write_recorded(tmp_path / "report").parent
    pages = sum(path.stat().st_size for path in folder.rglob("*.html"))
    by_claim = (pages + (folder / LEDGER).stat().st_size) / len(list(folder.glob("claims/*")))
    assert weigh(folder).bytes + 30 * by_claim < LIMIT_MB * 1e6


def test_plotly_is_whole_when_unpacked(tmp_path):
    weight_of(tmp_path, 1, 1)
    packed = re.findall(r'"([^"]+)"', (tmp_path / "1-1" / PACKED).read_text())[0]
    original = (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    assert gzip.decompress(base64.b85decode(packed)) == original


def test_the_numbers_of_a_figure_are_packed_once_and_whole(tmp_path):
    path, text = tmp_path / "f.js", '{"data":[{"y":[0.5,0.25]}]}'
    path.write_text(f'(window.saccadeFigures ??= {{}})["a/1"] = {text};\n')
    pack_live(path)
    once = path.read_text()
    pack_live(path)
    assert path.read_text() == once, "a packed file stays"
    packed = re.findall(r'= "([^"]+)";', once)[0]
    assert gzip.decompress(base64.b85decode(packed)).decode() == text


def pictures(tmp_path, figure):
    """The picture of the report and the full one, as arrays, and the share of the weight left."""
    light, full = save_light_png(figure, tmp_path / "light.png"), tmp_path / "full.png"
    figure.savefig(full, bbox_inches="tight", dpi=DPI)
    plt.close(figure)
    arrays = [np.asarray(Image.open(path).convert("RGB"), float) for path in (light, full)]
    return *arrays, light.stat().st_size / full.stat().st_size


def test_a_palette_changes_nothing_one_could_see(tmp_path):
    figure, axes = plt.subplots(figsize=(6, 3))
    for number in range(8):
        axes.plot(np.sin(np.arange(50) / (number + 1)))
    light, full, left = pictures(tmp_path, figure)
    apart = np.abs(light - full).max(axis=2)
    assert apart.mean() < 0.6 and np.quantile(apart, 0.999) < 40  # of 255, and those on soft edges
    assert apart[(full == 255).all(axis=2)].max() == 0, "paper stays white"
    assert left < 0.5


def test_a_picture_that_needs_its_colours_keeps_them(tmp_path):
    figure, axes = plt.subplots(figsize=(6, 3))
    axes.imshow(np.random.default_rng(0).random((20, 40, 3)), aspect="auto")
    light, full, _ = pictures(tmp_path, figure)
    assert np.array_equal(light, full)


def test_even_steps_are_said_as_a_rule_and_others_number_by_number():
    even = points(np.linspace(0, 3, 31), np.zeros(31))
    assert even["x0"] == 0 and np.isclose(even["dx"], 0.1) and "x" not in even
    uneven = points(np.geomspace(1, 10, 31), np.zeros(31))
    assert np.allclose(uneven["x"], np.geomspace(1, 10, 31), rtol=1e-4) and "dx" not in uneven


def test_an_outline_keeps_its_corners_and_loses_what_nobody_sees():
    figure, axes = plt.subplots()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    along = np.linspace(0, 1, 500)
    corner = np.column_stack([along, np.where(along < 0.5, along, 1 - along)])
    kept = outline([corner], axes)
    plt.close(figure)
    assert np.isnan(kept[-1]).all() and len(kept) < 30
    assert np.allclose(kept[0], corner[0], atol=1e-3) and np.allclose(
        kept[-2], corner[-1], atol=1e-3)
    assert abs(kept[:-1, 1].max() - 0.5) < 2e-3


def test_a_heavy_report_is_named_so():
    assert Weight(3, 2_500_000).words == "3 files, 2.5 MB"
    assert "heavier than the 12 MB" in Weight(900, 13_000_000).words
