"""Small parts of the report: intervals drawn to scale, numbers, names, mark-up, a study's story."""

import math
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from saccade.lab.intervals import Interval
from saccade.lab.kinds import ABOVE, BELOW, ESTIMATE, IDENTITY, KINDS, ORDERING, SLOPE
from saccade.lab.verdict import decide
from saccade.report import words
from saccade.report.entries import read_rows
from saccade.report.scale_drawing import MARGIN, WIDTH, draw_to_scale, glyph, region
from saccade.report.study import StudyView, page_text, rendered, section
from saccade.studies import STUDIES


def row(**numbers):
    return {"kind": "estimate", "side": None, **numbers}


def test_only_backticks_are_markup():
    assert words.prose("no `b<c` +- <em> or<=so") == ("no <code>b&lt;c</code> ± &lt;em&gt; or≤so")


def test_ten_by_twenty_is_no_product_of_ten_and_x():
    assert words.prose("matrices of 10 x 20 or 3 x 4") == "matrices of 10 × 20 or 3 × 4"


@given(st.text(min_size=1, max_size=120))
def test_any_id_is_a_safe_file_name_and_different_ids_stay_apart(text):
    name = words.file_name(text)
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name) and ".." not in name and len(name) <= 80
    assert words.file_name(text + "x") != name


def test_plain_ids_keep_their_names():
    assert words.file_name("single-location.swapped-state") == "single-location.swapped-state"
    assert words.file_name("A") != words.file_name("a"), (
        "some file systems do not tell capitals apart")


def test_numbers_and_times_are_said_plainly():
    assert [words.number(value) for value in (None, math.nan, -1.5, 1 / 3, -2e-7, 15552, 1e9)] == [
        "–", "–", "−1.5", "0.333333", "−2e−7", "15552", "1e9"]
    assert [
        words.interval(ends) for ends in (None, [1, 1], [None, 2], [0, None], [None, None], [1, 2])
    ] == ["–", "exact", "at most 2", "at least 0", "unbounded", "1 to 2"]
    assert [words.duration(value) for value in (None, 0.001, 1.234, 12.3, 600)] == [
        "–", "under 0.01 s", "1.2 s", "12 s", "10 min"]


numbers = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))


@example(-1.7e308, 1.7e308, None, None, 0.1, ESTIMATE)
@example(0.0, 5e-324, 0.0, 1e-322, 0.0, IDENTITY)
@given(
    numbers, numbers, numbers, numbers, st.one_of(st.none(), st.floats(0, 1e6)),
    st.sampled_from(KINDS))
def test_drawings_stay_inside_their_frame_whatever_the_numbers(
    prediction, measured, low, high, resolution, kind
):
    judged = {
        "prediction": prediction, "measurement": measured, "interval": [low, high],
        "resolution": resolution, "kind": kind.name, "side": kind.side}
    large, small = draw_to_scale(judged), glyph(judged)
    if large is not None:
        places = [
            large.prediction, large.band[0], *(large.interval or ()),
            *(tick.x for tick in large.ticks)]
        assert all(MARGIN - 1 <= place <= WIDTH - MARGIN + 1 for place in places)
        assert 1 <= len(large.ticks) <= 6
    if small is not None:
        assert all(
            0 <= place <= 96 for place in (small.prediction, small.measurement, *small.band[:1]))


def test_the_drawing_is_to_scale():
    drawing = draw_to_scale(
        row(prediction=1.0, resolution=0.1, measurement=1.3, interval=[1.2, 1.4]))
    assert drawing is not None and drawing.interval is not None and drawing.measurement is not None
    per_unit = drawing.band[1] / 0.2
    assert drawing.measurement - drawing.prediction == pytest.approx(0.3 * per_unit, abs=0.25)
    assert drawing.interval[1] - drawing.interval[0] == pytest.approx(0.2 * per_unit, abs=0.25)
    marks = {tick.label: tick.x for tick in drawing.ticks}
    assert marks["1.2"] - marks["1"] == pytest.approx(0.2 * per_unit, abs=0.25)


def test_values_that_six_digits_cannot_tell_apart_are_drawn_as_differences():
    drawing = draw_to_scale(row(
        prediction=0.3339, resolution=1e-12, measurement=0.3339 + 1e-13,
        interval=[0.3339 + 1e-13] * 2))
    assert drawing is not None and drawing.title == "difference from the prediction"
    assert "0" in [tick.label for tick in drawing.ticks]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ESTIMATE, (0.9, 1.1)), (SLOPE, (0.9, 1.1)), (BELOW, (-math.inf, 1.1)),
        (ABOVE, (0.9, math.inf)), (ORDERING, (1.0, math.inf))])
def test_the_band_is_where_the_verdict_holds(kind, expected):
    low, high = region({"kind": kind.name, "side": kind.side}, 1.0, 0.1)
    assert (low, high) == pytest.approx(expected)
    inside = Interval(1.05, 1.04, 1.06)
    outside = Interval(0.75, 0.7, 0.8) if math.isinf(high) else Interval(1.25, 1.2, 1.3)
    assert decide(kind, inside, 1.0, 0.1) == "holds"
    assert decide(kind, outside, 1.0, 0.1) == "refuted"


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_story_and_symbols(name):
    study = StudyView(name, [], [])
    assert study.story and "<table>" in study.symbols and "<code>" in study.symbols
    assert not set("$\\") & set(study.story + study.symbols)


def test_claims_named_in_the_story_are_links():
    entries = read_rows([{"id": "single-location.norm-hit-rate", "verdict": "holds"}])
    address = "../claims/single-location.norm-hit-rate.html"
    link = (
        f'<a href="{address}" title="single-location.norm-hit-rate"><code>norm-hit-rate</code></a>')
    assert link in StudyView("single-location", entries, []).story


def test_markup_in_a_text_is_escaped_and_dangerous_links_are_not_links():
    html = rendered('<img src=x onerror="1"> [a](javascript:alert(1)) $a<b$')
    assert "<img" not in html and 'href="javascript' not in html
    assert "<mi>a</mi><mo>&lt;</mo><mi>b</mi>" in html


def test_a_section_ends_where_the_next_begins():
    text = "# t\n## One\nfirst\n### inner\nx\n## Two\nsecond\n"
    assert section(text, "One") == "first\n### inner\nx"
    assert section("no headings", "One") == "" and page_text(None) == ""


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (r"\lambda_t = \lambda/(1 + \mathtt{decay}\,t)", "λ<sub>t</sub> = λ/(1 + decay t)"),
        (r"e^{-\Theta(D)}", "e<sup>-Θ(D)</sup>"), (r"\frac1n\sum_i", "1/n∑<sub>i</sub>"),
        (r"\sqrt{2/\pi}\,\sqrt L", "√(2/π) √ L"),
        (r"\langle v_1, v^\star\rangle", "⟨ v<sub>1</sub>, v<sup>*</sup>⟩")])
def test_formulas_in_figures_become_characters(typed, shown):
    assert words.formula(typed) == shown
