"""The profile of a claim: its cost, the program it compiled, and the line that asked for it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_claim_is_profiled_from_nothing(tmp_path):
    file = tmp_path / "profile.json"
    command = [sys.executable, ROOT / "tools" / "compile_profile.py", "--top", "5", "--json", file]
    paths = {"PYTHONPATH": str(ROOT / "src")}
    run = subprocess.run(
        [*command, "single-location.fixed-points"], env=os.environ | paths, capture_output=True,
        text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(file.read_text())
    (cost,), (row,) = found["claims"], found["rows"]
    assert cost["id"] == row["id"] == "single-location.fixed-points"
    assert row["verdict"] == "holds" and {one["verdict"] for one in row["sabotages"]} == {"refuted"}
    programs = {name: times for name, times, _ in found["programs"]}
    assert all(times >= 1 for times in programs.values()) and programs
    lines = {name for name, _, _ in found["lines"]}
    assert any(name.startswith("studies/single_location/experiments/") for name in lines)
    assert cost["programs"] == sum(times for _, times, _ in found["programs"])
    assert 0 < cost["cpu"] <= found["cpu"] and any(name in run.stdout for name in programs)
