"""The report of the ledger of record: no computing, published verdicts where claims wait, and
nothing old passed off as new."""

import gzip
import json
import os
import subprocess
import sys

import pytest

from saccade.errors import InvalidInput
from saccade.lab import record
from saccade.lab.compare import read_text
from saccade.lab.fingerprint import code_version
from saccade.report import write_recorded
from saccade.report.entries import read_rows, tally
from saccade.report.light import LEDGER

MODULE = "saccade.studies.single_location.experiments.descent"
HERE = code_version(MODULE)


def row(name="a", verdict="holds", scale="quick", code=HERE, **changes):
    judged = {
        "date": "2026-11-01", "commit": "abc123", "code": code, "module": MODULE,
        "versions": {"jax": "9.9.9"}}
    usual = {
        "id": f"single-location.{name}", "study": "single-location", "verdict": verdict,
        "scale": scale, "experiment": "single-location.descent", "judged": judged, "seed": 0,
        "statement": f"Statement {name}.", "expected": "holds", "kind": "estimate",
        "prediction": 1.0, "measurement": 1.125, "interval": [1.0, 1.25], "resolution": 0.5,
        "sabotages": [], "needs": None}
    return usual | changes


def waiting(name="a"):
    return row(
        name, "waiting", judged=None, prediction=None, measurement=None, interval=None,
        needs={"scale": "standard", "minutes": 3.0})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A record of three claims and one figure."""
    place = tmp_path / "record"
    (place / "figures").mkdir(parents=True)
    rows = [waiting(), row(scale="standard", measurement=1.0625), row("b"), row("old", code="x")]
    (place / "single-location.json").write_text(json.dumps({"claims": rows}))
    figure = {
        "id": "single-location/4a", "study": "single-location", "title": "Figure 4a",
        "caption": "c", "source": "s", "command": "saccade figure", "png": "figures/f.png",
        "pdf": "", "width": 2, "height": 1, "live": "figures/f.js", "missing": "", "waits": False,
        "scale": "quick", "seed": 0, "seconds": 1.0, "code": "x", "module": MODULE, "current": True}
    (place / "figures.json").write_text(json.dumps({"figures": [figure]}))
    (place / "figures" / "f.png").write_bytes(b"\x89PNG picture")
    (place / "figures" / "f.js.gz").write_bytes(gzip.compress(b"live"))
    monkeypatch.setattr(record, "FOLDER", place)
    record.rows.cache_clear()
    record.figures.cache_clear()
    yield write_recorded(tmp_path / "report").parent
    record.rows.cache_clear()
    record.figures.cache_clear()


def test_the_pages_and_pictures_are_there(folder):
    assert (folder / "figures" / "f.png").read_bytes() == b"\x89PNG picture"
    assert (folder / "figures" / "f.js").read_bytes() == b"live"
    index = (folder / "index.html").read_text()
    assert "This is the ledger of record, judged 2026-11-01" in index
    study = (folder / "study" / "single-location.html").read_text()
    assert "figures/f.png" in study and ".pdf" not in study
    assert "drawn by earlier code" in study


def test_a_claim_that_waits_shows_its_published_verdict_marked_as_such(folder):
    page = (folder / "claims" / "single-location.a.html").read_text()
    assert "Published at scale standard" in page and "published, scale standard" in page
    assert "1.0625" in page and "2026-11-01, commit abc123" in page and "jax 9.9.9" in page
    index = (folder / "index.html").read_text()
    assert "1 of them shows the published verdict" in index and "1.0625" in index
    rows = json.loads(read_text(folder / LEDGER))["claims"]
    assert [row["verdict"] for row in rows] == ["waiting", "holds", "holds"]
    counts = tally(read_rows(rows))
    assert (counts.holds, counts.waiting, counts.published) == (2, 1, 1), "it still only waits"


def test_what_other_code_judged_says_so(folder):
    index = (folder / "index.html").read_text()
    assert "1 verdict was reached by other code than is installed here" in index
    assert "earlier code" in (folder / "claims" / "single-location.old.html").read_text()
    assert "earlier code" not in (folder / "claims" / "single-location.b.html").read_text()


def test_a_package_without_a_record_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "rows", dict)
    with pytest.raises(InvalidInput, match="without a ledger of record"):
        write_recorded(tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_no_array_library_of_the_laboratory_is_imported(tmp_path):
    script = (
        "import sys; from saccade.cli import app\ntry: app(['report', '-o', sys.argv[1]])\nfinally:"
        " print(sorted({'jax', 'matplotlib', 'xarray'} & set(sys.modules)), file=sys.stderr)")
    said = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "report")], capture_output=True, text=True,
        env=os.environ)
    assert said.returncode == 0, said.stderr
    assert said.stderr.splitlines()[-1] == "[]"
    assert said.stdout.splitlines()[-1] == f"Report: {tmp_path / 'report' / 'index.html'}"
