"""What a row is worth is said: how its sentence was read, whom it refutes, its slack, what its
controls broke."""

import html
import re

import pytest

from saccade.report import write_report
from saccade.report.entries import read_rows

CONTROL = {
    "name": "shift", "says": "Move it.", "verdict": "refuted", "prediction": 1.0,
    "measurement": 4.0}


def row(name="risk", **changes):
    usual = {
        "id": f"single-location.{name}", "study": "single-location", "statement": "It is one.",
        "source": "Theorem 1", "status": "exact", "kind": "estimate", "expected": "holds",
        "verdict": "holds", "prediction": 1.0, "measurement": 1.01, "interval": [0.98, 1.04],
        "resolution": 0.1, "part": "0", "parts": [], "sabotages": [CONTROL]}
    return usual | changes


def pages_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.html")}


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def cited(reading, **changes):
    citation = {"place": "Theorem 5", "words": "descent always recovers", "reading": reading}
    return row("cited", citation=citation, **changes)


def written(tmp_path, *rows):
    page = write_report(
        list(rows), tmp_path / "report", scale="quick", seed=0, store=None, figures=[])
    return pages_of(page.parent)


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        ("exact", "refutes the paper"), ("scaled", "refutes the paper"),
        ("proxy", "refuted (a stand-in)"), ("ours", "refuted (our reading)")])
def test_only_an_exact_or_scaled_reading_refutes_the_paper(tmp_path, reading, said):
    pages = written(tmp_path, cited(reading, verdict="refuted", expected="refuted"))
    for name in ("index.html", "claims/single-location.cited.html"):
        text = text_of(pages[name])
        assert said in text and "Theorem 5" in text and "descent always recovers" in text
        assert reading in text
        assert ("refutes the paper" in text) is (said == "refutes the paper")
    assert f"data-reading={reading}" in pages["index.html"]


def test_a_refutation_whose_reading_is_not_stated_refutes_nobody(tmp_path):
    pages = written(tmp_path, row(verdict="refuted", expected="refuted"))
    assert "refutes the paper" not in "".join(pages.values())
    assert "data-reading=none" in pages["index.html"] and "not stated" in pages["index.html"]


BOUND = {"kind": "bound", "side": "below"}


@pytest.mark.parametrize(
    ("slack", "said", "loose"),
    [
        (
            {"low": 0.5, "high": None, "share": 0.45, "loose": False},
            "by a factor of 2 (measured / bound 0.45)", False),
        (
            {"low": None, "high": 4.0, "share": 5.0, "loose": False},
            "by a factor of 4 (measured / bound 5)", False),
        ({"low": 1e-3, "high": None, "share": 1e-4, "loose": True}, "by a factor of 1000", True),
        ({"low": None, "high": None, "share": None, "loose": True}, "no factor moves it", True)])
def test_a_bound_says_by_how_much_it_holds_and_whether_it_is_loose(tmp_path, slack, said, loose):
    pages = written(tmp_path, row(**BOUND, slack=slack))
    for name in ("index.html", "claims/single-location.risk.html"):
        assert said in text_of(pages[name])
        assert ('class="chip loose"' in pages[name]) is loose
    assert f"data-bound={'loose' if loose else 'tight'}" in pages["index.html"]


@pytest.mark.parametrize(
    ("resolution", "slack", "said"),
    [
        (0.01, {"room": 0.3, "resolutions": 30.0, "loose": True}, "with room for 30 resolutions"),
        (0.0, {"room": 0.3, "resolutions": None, "loose": False}, "with room for 0.3")])
def test_near_zero_a_row_says_its_room_in_resolutions(tmp_path, resolution, slack, said):
    nowhere = dict.fromkeys(("low", "high", "share", "factor"))
    ordering = row(
        kind="ordering", prediction=0.0, resolution=resolution, slack=nowhere | slack,
        parts=[PARTS[0] | {"slack": nowhere | slack}, PARTS[1]])
    pages = written(tmp_path, ordering)
    for name in ("index.html", "claims/single-location.risk.html"):
        assert said in text_of(pages[name])
        assert ('class="chip loose"' in pages[name]) is slack["loose"]
    assert f"data-bound={'loose' if slack['loose'] else 'tight'}" in pages["index.html"]
    table = text_of(pages["claims/single-location.risk.html"].split("id=parts")[1])
    assert "Slack" in table and ("30 res loose" if slack["loose"] else "0.3") in table


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.9, 1.2, "for predictions from 0.9 to 1.2 times the stated one"),
        (1 - 2e-5, 1 + 1e-5, "for predictions within 1e−5 of the stated one, relatively")])
def test_a_narrow_band_is_not_said_to_reach_from_one_to_one(tmp_path, low, high, said):
    slack = {"low": low, "high": high, "share": None, "loose": False}
    assert said in text_of(written(tmp_path, row(slack=slack))["claims/single-location.risk.html"])


PARTS = [
    {
        "part": name, "verdict": "holds", "prediction": 1.0, "measurement": 1.0,
        "interval": [1.0, 1.0], "resolution": 0.1}
    for name in ("risk", "overlap")]


def test_a_sabotage_says_which_parts_it_broke(tmp_path):
    half = row(parts=PARTS, sabotages=[CONTROL | {"broke": ["overlap"]}], unbroken=["risk"])
    page = written(tmp_path, half)["claims/single-location.risk.html"]
    table = text_of(page.split("id=sabotages")[1])
    assert "Broke" in table and "overlap" in table
    assert "No sabotage breaks the part risk." in text_of(page)
    assert "no sabotage breaks it" in text_of(page.split("id=parts")[1])
    [entry] = read_rows([half])
    assert entry.unexpected, "a part that nothing breaks is not as expected"
    whole = row(parts=PARTS, sabotages=[CONTROL | {"broke": ["risk", "overlap"]}], unbroken=[])
    assert not read_rows([whole])[0].unexpected
    assert "every part" in text_of(written(tmp_path, whole)["claims/single-location.risk.html"])


def test_a_control_that_proves_nothing_is_named(tmp_path):
    empty = row(sabotages=[CONTROL | {"trivial": "it measures nothing but zeros"}])
    pages = written(tmp_path, empty)
    said = "The control “shift” proves nothing: it measures nothing but zeros."
    assert said in text_of(pages["claims/single-location.risk.html"])
    assert "proves nothing: shift" in text_of(pages["index.html"])
    assert read_rows([empty])[0].unexpected
    mended = {"repairs": [CONTROL | {"verdict": "holds", "trivial": "it measures nothing"}]}
    [entry] = read_rows([row(verdict="refuted", expected="refuted", sabotages=[], **mended)])
    assert entry.unexpected and entry.trivial == [("shift", "it measures nothing")]


def test_a_row_at_own_parameters_says_so_on_every_page_and_how_to_get_it_again(tmp_path):
    setting = "not the published setting: dim = 50; the resolution was argued for the published one"
    own = row(setting=setting, changes={"dim": 50, "start": "a b"}, precision="float32")
    pages = written(tmp_path, own, row("other"))
    claim = pages["claims/single-location.risk.html"]
    assert setting[1:] + "." in text_of(claim)
    for name in ("index.html", "study/single-location.html"):
        assert text_of(pages[name]).count("not the published setting: dim = 50") == 1
    command = "--set dim=50 --set 'start=\"a b\"' --precision float32"
    assert command in html.unescape(text_of(claim))
    assert "changes={'dim': 50, 'start': 'a b'}, precision=\"float32\"" in html.unescape(claim)
    assert "not the published setting" not in pages["claims/single-location.other.html"]


def test_what_a_setting_says_is_text_and_never_markup(tmp_path):
    own = row(setting="not the published setting: x = <b>", changes={"x": "<b>"})
    assert "<b>" not in "".join(written(tmp_path, own).values())
