"""The item-by-item table: what it makes of claims, and that every page has the one its claims
make."""

import sys
from pathlib import Path

import pytest

from saccade.lab import index
from saccade.studies import STUDIES

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import items


def claim(name: str, place: str, **changes) -> dict:
    plain = {"id": name, "spec": "X-1", "expected": "holds", "scales": ["quick"]}
    return plain | {"citation": {"place": place, "reading": "exact"}} | changes


def test_a_row_is_a_place_with_its_claims_in_natural_order():
    claims = [
        claim("s.ten", "Lemma 10"), claim("s.nine", "Lemma 9", expected="refuted"),
        claim("s.late", "Lemma 9", scales=["standard"]), claim("s.own", "none: our own statement")]
    missing = [{"place": "Lemma 9b", "words": "|a| is constant", "reason": "it is not stated"}]
    lines = items.table(claims, missing).splitlines()
    assert lines[2:] == [
        "| Lemma 9 | X-1 | `s.late` (exact, standard), `s.nine` (exact, expected refuted) |",
        "| Lemma 9b: \\|a\\| is constant | | not judged: it is not stated |",
        "| Lemma 10 | X-1 | `s.ten` (exact) |", "",
        "4 claims: 3 on places of the source, 1 with no source but this page. Items that are not "
        "judged: 1."]


def test_only_what_stands_between_the_marks_is_written():
    page = f"before\n{items.BEGIN}\nold\n{items.END}\nafter"
    assert items.written(page, "new") == f"before\n{items.BEGIN}\nnew\n{items.END}\nafter"


def page_of(study: str) -> str:
    return (index.folder(study) / "page.md").read_text()


def test_every_paper_has_its_table():
    assert sum(items.BEGIN in page_of(study) for study in STUDIES) >= 6


@pytest.mark.parametrize("study", [study for study in STUDIES if items.BEGIN in page_of(study)])
def test_the_table_of_a_page_is_what_its_claims_say(study):
    page = page_of(study)
    lines = items.table(index.of(study)["claims"], items.unjudged(index.folder(study)))
    assert items.written(page, lines) == page, "run: python tools/items.py"
