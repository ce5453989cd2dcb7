"""The ledger of record: found by claim and scale, honest about its age, set against a new ledger,
and shown where a claim waits."""

import json

import pytest

from saccade.lab import index, record
from saccade.lab.fingerprint import code_version

MODULE = "saccade.studies.single_location.experiments.descent"
EXPERIMENT = "single-location.descent"


def row(name="a", verdict="holds", scale="quick", **changes):
    judged = {"date": "2026-11-01", "commit": "abc", "code": "x", "module": MODULE, "versions": {}}
    usual = {
        "id": f"single-location.{name}", "study": "single-location", "verdict": verdict,
        "scale": scale, "experiment": EXPERIMENT, "as_expected": True, "judged": judged,
        "sabotages": [{"name": "shift", "verdict": "refuted", "seconds": 2.0}], "repairs": [],
        "seconds": 1.0}
    return usual | changes


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Replaces the record by these rows."""

    def replace(*rows):
        (tmp_path / "single-location.json").write_text(json.dumps({"claims": rows}))
        monkeypatch.setattr(record, "FOLDER", tmp_path)
        record.rows.cache_clear()
        record.figures.cache_clear()

    yield replace
    record.rows.cache_clear()
    record.figures.cache_clear()


def test_rows_are_found_by_claim_and_scale(publish):
    publish(row(verdict="waiting", judged=None), row(scale="standard"), row("b"))
    assert record.published("single-location.a", "standard")["verdict"] == "holds"
    assert record.published("single-location.a", "quick")["verdict"] == "waiting"
    assert record.published("single-location.a")["scale"] == "standard"
    assert record.published("single-location.b")["scale"] == "quick"
    assert record.published("single-location.c") is None
    assert record.figures() == []


def test_a_row_judged_by_other_code_is_not_current():
    now = row()["judged"] | {"code": code_version(MODULE)}
    assert record.is_current(row()) is False
    assert record.is_current(row(judged=now)) is True
    assert record.is_current(row(judged=None)) is None
    assert record.is_current(row(), {EXPERIMENT: "x"}) is True
    assert record.is_current(row(judged=now), {EXPERIMENT: "y"}) is False


def test_a_claim_that_waits_carries_the_published_row_of_another_scale(publish):
    publish(row(verdict="waiting"), row(scale="standard", verdict="refuted"), row("b"))
    waits, judged, unknown = record.with_published(
        [row(verdict="waiting"), row("b"), row("c", verdict="waiting")])
    assert waits["published"]["verdict"] == "refuted" and waits["verdict"] == "waiting"
    assert waits["published"]["current"] is False
    assert "published" not in judged and unknown["published"] is None


def test_verdicts_are_compared_with_the_published_ones_at_the_same_scale(publish):
    publish(
        row("same"), row("other"), row("waited", verdict="waiting"), row("deep", scale="standard"))
    found = record.agreement([
        row("same"), row("other", verdict="refuted"), row("waited"), row("deep"), row("new"),
        row("late", verdict="waiting")])
    assert found.compared == 2
    assert [(item.claim, item.old, item.new) for item in found.differing] == [
        ("single-location.other", "holds", "refuted")]
    assert found.unpublished == [f"single-location.{name}" for name in ("waited", "deep", "new")]
    assert found.sentence == "1 of 2 verdicts as published."
    assert record.agreement([row("same")]).sentence == "1 of 1 verdicts as published."
    assert "No verdict" in record.agreement([row("new")]).sentence


def test_a_control_that_changed_its_verdict_is_a_difference(publish):
    mended = [{"name": "mend", "verdict": "holds"}]
    publish(row(repairs=mended))
    broken = [{"name": "shift", "verdict": "holds"}]
    unmended = [{"name": "mend", "verdict": "refuted"}]
    for changes in ({"sabotages": broken}, {"repairs": unmended}):
        found = record.agreement([row(**{"repairs": mended} | changes)])
        assert len(found.differing) == 1 and found.sentence.startswith("0 of 1")


def test_costs_are_the_published_seconds(publish, tmp_path):
    from saccade.lab import registry
    from saccade.lab.costs import JUDGING, of_claims
    from saccade.lab.ledger import Conditions

    [claim] = registry.find_claims(["single-location.zeta"])
    publish(row("zeta", seconds=7.0))
    alone = Conditions(folder=str(tmp_path / "store"))
    assert of_claims([claim], alone) == {claim.id: 7.0}
    assert of_claims([claim], alone._replace(sabotage=True)) == {claim.id: 9.0}
    publish(row("another"))
    assert of_claims([claim], alone) == {claim.id: claim.scales["quick"].seconds}
    from saccade.lab.ledger import evaluate

    evaluate(claim, alone)
    assert of_claims([claim], alone) == {claim.id: JUDGING}
    assert of_claims([claim], alone._replace(fresh=True))[claim.id] > JUDGING


CLAIM = {"statement": "One.", "expected": "holds", "sabotages": [{"name": "shift"}], "repairs": []}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, None), ({"statement": "Two."}, "statement is no longer"),
        ({"expected": "refuted"}, "expected is no longer"),
        ({"sabotages": []}, "sabotages are no longer"),
        ({"repairs": [{"name": "mend"}]}, "repairs are no longer"),
        ({"citation": ...}, "its citation"), ({"slack": ...}, "its slack"),
        ({"sabotages": [{"name": "shift", "verdict": "refuted"}]}, "its broke"),
        ({"verdict": "refuted", "as_expected": False}, "refuted, expected: holds"),
        ({"unbroken": ["left"]}, "no sabotage breaks: left"),
        (
            {
                "verdict": "waiting", "as_expected": None, "slack": None,
                "sabotages": [{"name": "shift", "verdict": None, "broke": []}]},
            None)])
def test_a_row_that_does_not_fit_its_claim_says_why(changes, why):
    full = (
        row(
            statement="One.", expected="holds", error=None, citation={}, slack=None,
            sabotages=[{"name": "shift", "verdict": "refuted", "broke": ["0"]}])
        | changes)
    told = record.misfit({name: held for name, held in full.items() if held is not ...}, CLAIM)
    assert told is None if why is None else why in told


def test_the_record_fits_the_claims_it_stands_for():
    """`python tools/record.py --update` leaves out the rows that do not."""
    claims = {item["id"]: item for item in index.listing()["claims"]}
    for name, by_scale in record.rows().items():
        for scale, published in by_scale.items():
            assert record.misfit(published, claims[name]) is None, (name, scale)


def test_what_is_published_is_whole():
    """The record in this tree: rows say what judged them, and their pictures are there."""
    for by_scale in record.rows().values():
        for scale, published in by_scale.items():
            assert published["scale"] == scale
            if published["verdict"] != "waiting":
                assert {"date", "code", "module", "versions"} <= set(published["judged"])
    for figure in record.figures():
        assert not figure["png"] or (record.FOLDER / figure["png"]).is_file()
        assert not figure["live"] or (record.FOLDER / f"{figure['live']}.gz").is_file()
