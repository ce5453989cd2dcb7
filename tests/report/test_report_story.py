"""The story and the symbols of a study, as the report tells them."""

import pytest

from saccade.report.mathematics import formula
from saccade.report.story import page, rendered, section, told
from saccade.studies import BUILT_IN


@pytest.mark.parametrize("study", BUILT_IN)
def test_every_study_has_a_story_and_symbols(study):
    found = told(study, {})
    assert set(found) == {"story", "symbols"}
    assert "<table>" in found["symbols"] and "<code>" in found["symbols"]
    assert (
        "$" not in found["story"] + found["symbols"]
        and "\\" not in found["story"] + found["symbols"])


def test_claims_named_in_the_story_are_links():
    html = told("single-location", {"single-location.norm-hit-rate": "../claims/x.html"})["story"]
    assert '<a href="../claims/x.html"><code>single-location.norm-hit-rate</code></a>' in html


def test_markup_in_a_text_is_escaped_and_dangerous_links_are_not_links():
    html = rendered('<img src=x onerror="1"> [a](javascript:alert(1)) $a<b$')
    assert "<img" not in html and 'href="javascript' not in html and "a&lt;b" in html


def test_a_section_ends_where_the_next_begins():
    assert (
        section("# t\n## One\nfirst\n### inner\nx\n## Two\nsecond\n", "One")
        == "first\n### inner\nx")
    assert section("no headings", "One") == "" and page("no-such-study") == ""


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (r"\lambda_t = \lambda/(1 + \mathtt{decay}\,t)", "λ<sub>t</sub> = λ/(1 + decay t)"),
        (r"e^{-\Theta(D)}", "e<sup>-Θ(D)</sup>"), (r"\frac1n\sum_i", "1/n∑<sub>i</sub>"),
        (r"\sqrt{2/\pi}\,\sqrt L", "√(2/π) √ L"),
        (r"\langle v_1, v^\star\rangle", "⟨ v<sub>1</sub>, v<sup>*</sup>⟩")])
def test_formulas_become_characters(given, shown):
    assert formula(given) == shown
