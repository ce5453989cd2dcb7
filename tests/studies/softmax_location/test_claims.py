"""The claims of this study: every row of its list is judged, each with a citation."""

from saccade.lab import registry

ROWS = {f"SM-{number}" for number in range(1, 19)}
COMPARISONS = {f"SM-C{number}" for number in range(1, 6)}
QUESTIONS = {f"SM-Q{number}" for number in range(1, 5)}
CLAIMS = registry.claims("softmax-location")


def test_every_row_has_a_claim():
    rows = {row.strip() for claim in CLAIMS for row in claim.spec.split(",")}
    assert rows == ROWS | COMPARISONS | QUESTIONS


def test_every_claim_says_where_its_sentence_stands():
    assert all(claim.citation is not None for claim in CLAIMS)
    assert all(claim.citation.reading == "ours" for claim in CLAIMS if claim.citation)
