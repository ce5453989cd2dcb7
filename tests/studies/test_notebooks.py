"""The notebooks are scripts too: each runs from top to bottom, and the command that opens one
refuses what cannot be."""

import subprocess
import sys

import pytest

from saccade.errors import InvalidInput
from saccade.lab import notebooks as explore


@pytest.mark.slow
@pytest.mark.parametrize("study", explore.notebooks())
def test_a_notebook_runs_as_a_plain_script(study):
    pytest.importorskip("marimo", reason="the notebooks need the extra 'explore'")
    done = subprocess.run(
        [sys.executable, str(explore.notebook(study))], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_notebook_is_served_on_this_machine_only():
    pytest.importorskip("marimo", reason="the notebooks need the extra 'explore'")
    words = explore.command("single-location", 2718, headless=True)
    assert words[words.index("--host") + 1] == "127.0.0.1" and "--headless" in words
    with pytest.raises(InvalidInput, match="port = 0"):
        explore.command("single-location", 0)


def test_an_unknown_notebook_gets_the_nearest_name():
    with pytest.raises(InvalidInput, match="single-location"):
        explore.notebook("single-locaton")


def test_without_marimo_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(explore, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"saccade\[explore\]"):
        explore.command("single-location")
