"""The claims of single-location regression: every row of the study has one."""

from saccade.lab import registry

CLAIMS = registry.claims("single-location")
ROWS = [
    "T1a", "T1b", "P15", "L18", "Z", "C2", "P3", "P3b", "F3", "L4", "L7", "D5", "P8", "P9", "P10",
    "P11", "P12", "P12b", "P13", "X1", "T5", "F4a", "F4a2", "F5", "F6", "F7a", "F7b", "N1", "N2",
    "N3", "N4", "N5", "M1", "L14", "L17", "G1", "E1", "A1", "T1tab", "F1b"]


def test_every_row_of_the_study_has_its_claim():
    assert {claim.spec for claim in CLAIMS} == {f"SL-{row}" for row in ROWS}


def test_quotations_are_short_and_every_citation_is_used():
    from saccade.studies.single_location.claims.citations import CITATIONS

    assert {claim.id.split(".")[1] for claim in CLAIMS} == set(CITATIONS)
    assert max(len(item.words.split()) for item in CITATIONS.values()) <= 25
