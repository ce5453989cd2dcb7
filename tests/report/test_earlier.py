"""A picture is taken over from the report that is replaced only where nothing that makes it
changed."""

import gzip
import json

import pytest

from saccade.lab import registry
from saccade.lab.fingerprint import environment
from saccade.report import earlier, pictures
from saccade.report.light import LEDGER

CONDITIONS = pictures.Conditions("quick", 0, None, {})


@pytest.fixture
def figure():
    [one] = [item for item in registry.figures("single-location") if item.id.endswith("/3")]
    return one


@pytest.fixture
def report(figure, tmp_path):
    """A folder that looks like a report with this one figure; its ledger may be changed."""
    old = tmp_path / "old"
    (old / "figures").mkdir(parents=True)
    names = {"png": "figures/three.png"}
    for kind in ("png", "pdf"):
        (old / f"figures/three.{kind}").write_bytes(b"picture")

    def write(versions=None, **changes):
        shown = pictures.blank(figure, CONDITIONS)._replace(**names)._asdict() | changes
        ledger = {"figures": [shown], "versions": versions or environment()}
        (old / LEDGER).write_bytes(gzip.compress(json.dumps(ledger).encode()))
        return old

    return write


def test_what_nothing_changed_is_taken_over(figure, report, tmp_path):
    old = report()
    kept = earlier.unchanged([figure], old, CONDITIONS)
    assert [picture.id for picture in kept] == [figure.id]
    earlier.copy(kept, old, tmp_path / "new")
    assert (tmp_path / "new" / kept[0].png).read_bytes() == b"picture"


@pytest.mark.parametrize(
    "changes",
    [
        {"code": "another"}, {"seed": 1}, {"scale": "paper"}, {"png": ""},
        {"png": "figures/gone.png"}, {"pdf": "figures/three.pdf"}, {"versions": {"jax": "0"}},
        {"unknown_field": 1}])
def test_what_something_changed_is_drawn_again(figure, report, changes):
    assert earlier.unchanged([figure], report(**changes), CONDITIONS) == []


def test_for_print_a_picture_without_its_pdf_is_drawn_again(figure, report):
    for_print = CONDITIONS._replace(pdf=True)
    assert earlier.unchanged([figure], report(), for_print) == []
    assert earlier.unchanged([figure], report(pdf="figures/three.pdf"), for_print)


def test_no_report_is_no_problem(figure, tmp_path):
    assert earlier.unchanged([figure], tmp_path / "none", CONDITIONS) == []
