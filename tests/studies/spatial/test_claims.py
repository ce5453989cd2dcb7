"""The claims of the spatial study: every row has one; the benchmarks compare like with like."""

import pytest

from saccade.lab import registry

BENCHMARKS = registry.benchmarks("spatial")
CLAIMS = registry.claims("spatial")

ROWS = {
    "D22", "T31", "T31x", "T32", "L41", "L41s", "L42", "P0", "POP", "L43", "T41", "PERM", "EV",
    "T42", "T51", "T52", "T52x", "F2", "LD6", "K1", "K3", "K4", "K5", "K6", "K7", "E12", "E16",
    "E17", "I1", "I2", "I3", "B1", "D1", "D4", "D5", "D8", "D9", "D10", "D13", "D14", "D16", "G1",
    "G2", "G3", "G4", "E9", "X10"}


def test_every_row_of_the_study_has_its_claim():
    assert {f"VS-{row}" for row in ROWS} <= {
        row.strip() for claim in CLAIMS for row in claim.spec.split(",")}


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda item: item.id)
def test_both_sides_of_the_benchmarks_agree(benchmark):
    if benchmark.is_lacking:
        pytest.skip(f"the peer {benchmark.needs} is not installed")
    assert benchmark.prepare(**benchmark.tiny).check().reached
