"""What the pages for people show can be run as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "howto").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch, fresh_store):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for number, text in enumerate(blocks(page)):
        exec(compile(text, f"{page.stem}-{number}", "exec"), names)


def test_there_are_pieces_to_run():
    assert sum(len(blocks(page)) for page in PAGES) >= 8


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


def test_the_page_of_benchmarks_invents_no_row():
    """Its tables are written by `saccade bench --page`, and name no row that is not there."""
    from saccade.lab.registry import benchmarks

    page = (ROOT / "docs" / "benchmarks.md").read_text()
    tables = page.split("<!-- measured: begin -->")[1].split("<!-- measured: end -->")[0]
    rows = set(re.findall(r"^\| `([a-z-]+\.[a-z0-9.-]+)`", tables, re.MULTILINE))
    assert rows and rows <= {one.id for one in benchmarks()}
