"""Formulas are typeset: LaTeX of the pages, and the plain formulas of claims' sentences."""

import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from saccade.lab import record
from saccade.report.formulas import FUNCTIONS, mathml
from saccade.report.study import page_text
from saccade.report.typesetting import typeset
from saccade.studies import STUDIES


def parsed(html):
    """The page's text as a tree: whatever is not well-formed fails here."""
    return ElementTree.fromstring(f"<p>{html}</p>")


def words_of(html):
    return "".join(parsed(html).itertext())


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\gamma^2", "<msup><mi>γ</mi><mn>2</mn></msup>"),
        (r"\lambda_0", "<msub><mi>λ</mi><mn>0</mn></msub>"),
        (r"x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        (r"\frac{a}{b}", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        (r"\frac1n", "<mfrac><mn>1</mn><mi>n</mi></mfrac>"),
        (r"\sqrt{2}", "<msqrt><mrow><mn>2</mn></mrow></msqrt>"), (r"\mathcal N", "<mi>𝒩</mi>"),
        (r"\mathbb{R}", "<mi>ℝ</mi>"), (r"\mathrm{erf}", "<mtext>erf</mtext>"),
        (r"\hat w", '<mover accent="true"><mi>w</mi><mo stretchy="false">^</mo></mover>')])
def test_latex_becomes_mathml(latex, expected):
    assert mathml(latex) == f"<math>{expected}</math>"


def test_a_table_of_cases_has_rows_and_cells():
    tree = parsed(mathml(r"\begin{cases}1 & x > 0\\ 0 & \mathrm{else}\end{cases}"))
    assert len(tree.findall(".//mtr")) == 2 and len(tree.findall(".//mtd")) == 4


@example(r"\frac{")
@example("^")
@example(r"\begin{cases} a")
@given(st.text(alphabet=r"\{}[]^_&<>$abfrcsqt12 ", max_size=40))
def test_any_text_gives_well_formed_mathml(text):
    parsed(mathml(text))


@pytest.mark.parametrize("name", STUDIES)
def test_every_formula_of_a_page_is_typeset_with_no_name_of_a_command_left(name):
    formulas = re.findall(r"\$([^$]+)\$", page_text(STUDIES[name]))
    for formula in formulas:
        text = words_of(mathml(formula.replace("\n", " ")))
        commands = set(re.findall(r"\\([A-Za-z]{3,})", formula)) - FUNCTIONS
        left = {command for command in commands if command in text}
        assert not left and "\\" not in text, (formula, text)


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("With gamma^2 = 1/2 it holds.", ["<msup><mi>γ</mi>"]),
        ("A signal of sqrt(2 log L) + 3 suffices.", ["<msqrt>", "<mi>log</mi>", "<mi>L</mi>"]),
        ("It falls as t^(-2/3).", ["<msup><mi>t</mi><mrow><mo>−</mo>"]),
        ("k has become v*, and", ["<mi>k</mi>", "<mi>⋆</mi>"]),
        ("of order eps^(-3) steps", ["<mi>ε</mi>"]),
        ("at alpha0 = 4", ["<msub><mi>α</mi><mrow><mn>0</mn>"]),
        ("scores grow like eta_q beta^2", ["<msub><mi>η</mi>", "<msup><mi>β</mi>"])])
def test_formulas_in_a_sentence_are_typeset(typed, parts):
    html = typeset(typed)
    assert all(part in html for part in parts), html


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("d=400 L=10 gamma=1", "d=400 L=10 γ=1"), ("at L = 10 theta = 2 it", "at L = 10 θ = 2 it"),
        ("x = 2 L", "x = 2L")])
def test_an_equation_after_another_is_no_product(typed, words):
    assert words_of(typeset(typed)) == words


@pytest.mark.parametrize(
    "plain",
    [
        "A run fails in 4 % of cases.", "30 of 30 recoveries, e.g. in Figure 7b.", "I see a token.",
        "The transformer's layers are not steps.", "Lemma D.6 drops a term.", "a 5-fold gain"])
def test_words_stay_words(plain):
    assert "<math>" not in typeset(plain)


@example("|x|^<script>")
@given(st.text(alphabet="abkLv ()|^_*+-/=<>&\"'.,123lambdasqrt", max_size=60))
def test_typesetting_loses_no_word_and_escapes_everything(text):
    assert "<script" not in typeset(text)
    letters = re.findall(r"[^\W\d_]{5,}", words_of(typeset(text)))
    assert all(word in text for word in letters)


def test_sentences_of_the_record_have_no_bare_exponents_left():
    rows = [row for by_scale in record.rows().values() for row in by_scale.values()]
    bare = re.compile(r"\b[a-zA-Z]+\^[\w(]|\bsqrt\(")
    typed = [row["statement"] for row in rows if bare.search(row["statement"])]
    left = [text for text in typed if bare.search(words_of(typeset(text)))]
    assert len(typed) > 20 and len(left) <= 0.1 * len(typed), json.dumps(left, indent=1)
