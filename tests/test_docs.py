"""What the pages for people show can be run as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "howto").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> list:
    return [
        pytest.param(text, id=f"{page.stem}-{number}") for page in PAGES
        for number, text in enumerate(BLOCK.findall(page.read_text()))]


@pytest.mark.slow
@pytest.mark.parametrize("text", blocks())
def test_a_piece_of_python_runs(text, tmp_path, monkeypatch, fresh_store):
    monkeypatch.chdir(tmp_path)
    exec(compile(text, "page", "exec"), {"__name__": "page"})


def test_there_are_pieces_to_run():
    assert len(blocks()) >= 8
