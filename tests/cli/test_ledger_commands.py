"""`reproduce` and `report` on a ledger of one claim and one figure: one crew, the record in the
last lines, and only what the ledger is about."""

import dataclasses
import json

import pytest
from typer.testing import CliRunner

from saccade.cli import app, judge
from saccade.lab import record, registry
from saccade.lab.compare import Change, read_text
from saccade.lab.record import Agreement
from saccade.report import pictures
from saccade.report.light import LEDGER

CLAIM = "single-location.zeta"


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def small(monkeypatch, tmp_path):
    """One claim and one figure are all there is, for this process; the workers know them all."""
    claims, figures = registry.find_claims([CLAIM]), registry.figures("single-location")
    monkeypatch.setattr(registry, "find_claims", lambda patterns=(): claims)
    monkeypatch.setattr(
        registry, "figures",
        lambda study=None: [
            item for item in figures
            if item.id == "single-location/3" and study in (None, item.study)])
    return tmp_path / "report"


@pytest.fixture
def published(monkeypatch):
    """Publishes this verdict of the claim, or nothing."""

    def publish(verdict):
        row = {
            "id": CLAIM, "scale": "quick", "verdict": verdict, "seconds": 1.0, "sabotages": [],
            "repairs": []}
        monkeypatch.setattr(record, "rows", lambda: {CLAIM: {"quick": row}} if verdict else {})

    return publish


@pytest.mark.slow
def test_reproduce_judges_draws_and_compares(small, published, fresh_store):
    published("holds")
    result = run("reproduce", "--jobs", 2, "-o", small)
    assert result.stdout.splitlines()[-2:] == [
        "1 of 1 verdicts as published.", f"Report: {small / 'index.html'}"]
    assert "1 claims and 1 figures in 2 processes" in result.stderr
    ledger = json.loads(read_text(small / LEDGER))
    [row], [figure] = ledger["claims"], ledger["figures"]
    assert row["verdict"] == "holds" and row["judged"]["code"] and row["sabotages"][0]["verdict"]
    assert figure["seconds"] > 0 and (small / figure["png"]).is_file()
    assert figure["module"].startswith("saccade.studies.single_location")
    published("refuted")  # a second time, from the store
    again = run("reproduce", "--jobs", 1, "-o", small, code=1)
    assert f"{CLAIM}: published as refuted, here holds." in again.stdout
    assert "0 of 1 verdicts as published." in again.stdout


def test_what_is_not_published_is_named():
    lines = judge.published_lines(Agreement(2, [], ["a.b", "a.c", "a.d", "a.e"]))
    assert lines == [
        "Not in the ledger of record: a.b, a.c, a.d and 1 more.", "2 of 2 verdicts as published."]
    changed = Agreement(3, [Change("a.b", "shift", "refuted", "holds")], [])
    assert judge.published_lines(changed) == [
        "a.b, shift: published as refuted, here holds.", "2 of 3 verdicts as published."]


def test_only_the_figures_of_the_ledger_are_drawn(tmp_path, monkeypatch, fresh_store):
    drawn = []
    monkeypatch.setattr(
        pictures, "pieces",
        lambda figures, *rest, **options: drawn.extend(item.study for item in figures) or [])
    monkeypatch.setattr(pictures, "pictures_of", lambda figures, conditions, results: [])
    ledger = tmp_path / "ledger.json"
    run("verify", CLAIM, "--json", ledger)
    run("report", "--ledger", ledger, "-o", tmp_path / "report")
    assert set(drawn) == {"single-location"}


def test_a_claim_that_waits_shows_the_published_verdict(monkeypatch, fresh_store):
    from saccade.lab.claim import Scale

    [claim] = registry.find_claims([CLAIM])
    later = dataclasses.replace(claim, scales={"standard": Scale(seconds=60)})
    monkeypatch.setattr(registry, "find_claims", lambda patterns=(): [later])
    row = {"id": CLAIM, "scale": "standard", "verdict": "holds", "judged": None, "seconds": 60.0}
    monkeypatch.setattr(record, "rows", lambda: {CLAIM: {"standard": row}})
    assert "waiting: --scale standard, 1 min; published: holds at standard" in run("verify").stdout
    [said] = json.loads(run("verify", "--json", "-").stdout)["claims"]
    assert said["verdict"] == "waiting" and said["published"]["verdict"] == "holds"
    old = row | {
        "judged": {"code": "x", "module": claim.experiment.function.__module__},
        "experiment": claim.experiment.id}
    monkeypatch.setattr(record, "rows", lambda: {CLAIM: {"standard": old}})
    assert "published: holds at standard, by earlier code" in run("verify").stdout


def test_the_list_has_the_published_verdicts(monkeypatch):
    monkeypatch.setattr(
        record, "rows",
        lambda: {CLAIM: {"quick": {
            "id": CLAIM, "study": "single-location", "scale": "quick", "verdict": "holds",
            "as_expected": True, "judged": None, "experiment": "x"}}})
    found = json.loads(run("list", "single-location", "--json").stdout)["claims"]
    by_id = {row["id"]: row["published"] for row in found}
    assert by_id.pop(CLAIM)["verdict"] == "holds" and set(by_id.values()) == {None}
