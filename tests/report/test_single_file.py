"""The report as one file: every page and picture inside, every link leads somewhere in it, nothing
is fetched."""

import re
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from saccade.cli import app


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    """What the command line said, written once for all tests here."""
    place = tmp_path_factory.mktemp("report")
    words = ["report", "-o", str(place / "report"), "--single-file", str(place / "one.html")]
    return place, CliRunner().invoke(app, words)


@pytest.fixture(scope="module")
def bound(answer):
    place, _ = answer
    return place / "report", (place / "one.html").read_text(encoding="utf-8")


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.sources, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name == "href":
                self.links.append(value)
            elif name == "src":
                self.sources.append(value)


def test_every_page_and_picture_is_in_it_once(bound):
    folder, text = bound
    pages = list(folder.rglob("*.html"))
    assert text.count('<div class="page') == len(pages) > 300
    assert text.count('<div class="page first"') == 1
    shown = {
        path.name for page in pages for path in folder.rglob("*.png")
        if f'src="{"../" * (len(page.relative_to(folder).parts) - 1)}figures/{path.name}"'
        in page.read_text(encoding="utf-8")}
    assert text.count("data:image/png;base64,") == len(shown) > 20
    for page in pages:
        title = re.search(r"<h1[^>]*>(.*?)</h1>", page.read_text(encoding="utf-8"), re.S)
        assert title is None or title[1].split("<")[0] in text


def test_every_link_leads_into_the_file_and_names_are_unique(bound):
    _, text = bound
    reader = Reader()
    reader.feed(text)
    assert len(reader.ids) == len(set(reader.ids))
    inside = [link[1:] for link in reader.links if link.startswith("#")]
    assert inside and set(inside) <= set(reader.ids)
    others = {link for link in reader.links if not link.startswith(("#", "data:", "http"))}
    assert others == set() and reader.sources == [] and "script" not in reader.tags
    assert "default-src 'none'" in text and "img" not in reader.tags


def test_on_the_command_line_it_is_whole_or_not_there(answer):
    place, said = answer
    assert said.exit_code == 0, said.output
    assert said.stdout.splitlines()[-1] == f"One file: {place / 'one.html'}"
    assert (place / "one.html").stat().st_size < 12e6
    refused = CliRunner().invoke(app, ["report", "--single-file", "/dev/null/x.html"])
    assert refused.exit_code == 2 and "cannot be written" in refused.stderr


@pytest.mark.browser
def test_a_browser_shows_one_page_at_a_time(bound, page):
    folder, _ = bound
    page.goto(folder.with_name("one.html").as_uri())
    assert page.locator(".page:visible").count() == 1
    page.locator('.page.first a[href^="#study-"]').first.click()
    assert page.locator(".page:visible").count() == 1
    assert page.locator(".page:visible").get_attribute("id").startswith("study-")
    picture = page.locator(".page:visible svg.picture").first
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box["width"] > 100 and box["height"] > 50
