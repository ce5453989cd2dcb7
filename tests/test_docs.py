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


def words(text: str) -> int:
    return len(text.split())


def test_the_readme_is_short_and_begins_with_something_to_run():
    text = (ROOT / "README.md").read_text()
    assert words(text) <= 700
    assert words(text.split("```")[0]) <= 80
    assert len(BLOCK.findall(text)[0].strip().splitlines()) <= 4, "three lines and an empty one"


def test_every_link_of_the_readme_leads_somewhere():
    targets = re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text())
    assert len(targets) > 10
    assert [name for name in targets if not (ROOT / name).exists()] == []


def test_the_page_of_benchmarks_has_every_row():
    """Its tables are written by `saccade bench --page`."""
    from saccade.cli.completion import benchmarks

    page = (ROOT / "docs" / "benchmarks.md").read_text()
    tables = page.split("<!-- measured: begin -->")[1].split("<!-- measured: end -->")[0]
    rows = set(re.findall(r"^\| `([a-z-]+\.[a-z0-9-]+)`", tables, re.MULTILINE))
    assert rows and rows <= set(benchmarks(""))
