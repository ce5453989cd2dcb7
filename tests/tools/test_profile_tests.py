"""The profile of tests says where CPU seconds went, those of started processes included."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "profile_tests.py"
TOY = """
import subprocess, sys
BUSY = "import time\\nend = time.process_time() + {}\\nwhile time.process_time() < end: pass"

def test_busy():
    exec(BUSY.format(0.3))

def test_starts_another():
    subprocess.run([sys.executable, "-c", BUSY.format(0.6)], check=True)

def test_idle():
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_every_test_has_its_seconds_whoever_ran_it(tmp_path, workers):
    (tmp_path / "test_toy.py").write_text(TOY)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    file = tmp_path / "seconds.json"
    made = subprocess.run(
        [sys.executable, str(TOOL), "-n", str(workers), str(tmp_path)], cwd=tmp_path,
        env=os.environ | {"PROFILE_JSON": str(file)}, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    cpu = {name.split("::")[1]: row[0] for name, row in json.loads(file.read_text()).items()}
    assert cpu["test_busy"] >= 0.3 and cpu["test_starts_another"] >= 0.6 and cpu["test_idle"] < 0.3
    assert "test_toy.py" in made.stdout and "3 tests" in made.stdout
