"""The report in a real browser: opened from the file system, by keyboard, on a phone, in the dark,
on paper, without scripts."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from saccade.lab.figure import Figure
from saccade.report import write_report

pytestmark = pytest.mark.browser

BACKGROUND = "getComputedStyle(document.body).backgroundColor"
CHECKS = (Path(__file__).parent / "checks.js").read_text()


def until(page, expression: str) -> None:
    """Wait for what an expression says. Asked from here: the page forbids itself to evaluate text,
    which Playwright's own waiting does."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"not within ten seconds: {expression}")


def check(page, name):
    """The faults that a function of checks.js lists."""
    return page.evaluate(f"() => {{ {CHECKS}\nreturn {name}(); }}")


def numbers(prediction=None, measurement=None, half=0.0, resolution=None):
    ends = None if measurement is None else [measurement - half, measurement + half]
    return {
        "prediction": prediction, "measurement": measurement, "interval": ends,
        "resolution": resolution}


def row(study, name, verdict="holds", status="exact", seconds=1.0, **changes):
    usual = {
        "id": f"{study}.{name}", "study": study, "spec": "SL-X",
        "statement": f"A long enough statement about {name}, with d <= 80.", "source": "Theorem 1",
        "status": status, "kind": "estimate", "expected": "holds", "verdict": verdict,
        "part": "risk", "parts": [], "replicates": 40, "looks": 1, "seconds": seconds,
        "needs": None, "error": None, "finding": "", "corrected": None, "figure": None,
        "argued": "A finite-size term.", "scale": "quick", "seed": 0,
        "sabotages": [
            {"name": "shift", "says": "Move it.", "verdict": "refuted"}
            | numbers(1.0, 9.0, 0.1, 0.1)]}
    return usual | numbers(1.0, 1.02, 0.05, 0.1) | changes


def sample_rows():
    part = {"part": "risk", "verdict": "holds"} | numbers(1.0, 1.02, 0.05, 0.1)
    return [
        row(
            "single-location", "risk", seconds=2.0, figure="single-location/4a",
            parts=[part, part | {"part": "overlap"}]),
        row(
            "single-location", "recovery", "refuted",
            "heuristic: an argument of many words, longer than a phone is wide", 30.0)
        | {"expected": "refuted"}
        | {"corrected": "single-location.risk", "finding": "It fails now and then."}
        | numbers(0.0, 0.04, 0.01, 0.005),
        row("single-location", "descent", "undecided", "bound", 4.0, kind="bound"),
        row("group-sparse", "a-very-long-name-of-a-claim-that-goes-on-and-on", seconds=0.1)
        | numbers(1e-12, 1.5e-12, 0.0, 1e-12),
        row(
            "group-sparse", "network", "waiting", needs={"scale": "standard", "minutes": 12.0},
            seconds=None)
        | numbers()]


def drawn(runs):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(11, 2.6))
    axes.plot([0, 1], [0, 1])
    return figure


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    figures = [Figure("single-location/4a", "Recovery", "A line.", "Figure 4a", {}, drawn)]
    figures += [Figure("group-sparse/1", "Absent", "Nothing.", "Figure 1", {}, lambda runs: 1 / 0)]
    folder = tmp_path_factory.mktemp("browser") / "report"
    return write_report(
        sample_rows(), folder, scale="quick", seed=0, store=None, figures=figures).parent


STUDIES = ("study/single-location.html", "study/group-sparse.html")
CLAIMS = ("single-location.risk", "single-location.recovery", "group-sparse.network")
PAGES = ("index.html", *STUDIES, *(f"claims/{name}.html" for name in CLAIMS))


@contextmanager
def opened(browser, path, **options):
    """The page from the file system; it must log no error and ask for nothing outside."""
    context = browser.new_context(**options)
    errors, requests = [], []
    context.on("request", lambda request: requests.append(request.url))
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console",
        lambda message: (
            errors.append(message.text) if message.type in ("error", "warning") else None))
    page.goto(path.as_uri())
    try:
        yield page
    finally:
        context.close()
    assert errors == []
    assert [url for url in requests if not url.startswith(("file://", "data:", "blob:"))] == []


def shown(page):
    return [
        line.split("\n")[0].split(" ")[0]
        for line in page.locator("#ledger tbody tr:visible th a").all_inner_texts()]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_clean_named_and_readable(browser, report, name, scheme):
    with opened(browser, report / name, color_scheme=scheme) as page:
        assert check(page, "nameless") == []
        assert check(page, "poorContrast") == []
        assert all(page.evaluate(
            "[...document.images].map((image) => image.complete && image.naturalWidth > 0)"))


def test_the_contrast_check_sees_poor_contrast(browser, report):
    with opened(browser, report / "index.html") as page:
        page.evaluate("document.querySelector('h1').style.color = '#ccc'")
        assert len(check(page, "poorContrast")) == 1


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [390, 800])
def test_a_narrow_screen_needs_no_sideways_scrolling(browser, report, name, width):
    with opened(browser, report / name, viewport={"width": width, "height": 844}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_ledger_filters_by_study_verdict_status_and_text(browser, report):
    with opened(browser, report / "index.html") as page:
        everything = shown(page)
        assert len(everything) == 5
        page.get_by_label("Study", exact=True).select_option("group-sparse")
        assert (
            len(shown(page)) == 2 and "2 of 5 claims" in page.locator("[data-shown]").inner_text())
        page.get_by_label("Verdict", exact=True).select_option("waiting")
        assert shown(page) == ["network"]
        page.get_by_role("button", name="Clear").click()
        until(page, "document.querySelectorAll('#ledger tbody tr:not([hidden])').length === 5")
        page.get_by_label("Verdict", exact=True).select_option("unexpected")
        assert shown(page) == ["descent"]
        page.get_by_label("Verdict", exact=True).select_option("")
        page.get_by_label("Status", exact=True).select_option("heuristic")
        assert shown(page) == ["recovery"]
        page.get_by_label("Status", exact=True).select_option("")
        page.get_by_label("Text", exact=True).fill("STATEMENT risk")
        assert shown(page) == ["risk"]
        page.get_by_label("Text", exact=True).fill("nowhere to be found")
        assert (
            shown(page) == [] and page.get_by_text("No claim matches these filters.").is_visible())


def test_a_filtered_ledger_has_an_address(browser, report):
    with opened(browser, report / "index.html") as page:
        page.get_by_label("Verdict", exact=True).select_option("refuted")
        address = page.url
        page.goto("about:blank")
        page.goto(address)
        assert shown(page) == ["recovery"]
        assert page.get_by_label("Verdict", exact=True).input_value() == "refuted"


def test_columns_sort_by_number_both_ways_with_missing_values_last(browser, report):
    with opened(browser, report / "index.html") as page:
        head = page.get_by_role("columnheader", name="Time")
        head.get_by_role("button").click()
        assert shown(page) == [
            "a-very-long-name-of-a-claim-that-goes-on-and-on", "risk", "descent", "recovery",
            "network"]
        assert head.get_attribute("aria-sort") == "ascending"
        head.get_by_role("button").click()
        assert shown(page) == [
            "recovery", "descent", "risk", "a-very-long-name-of-a-claim-that-goes-on-and-on",
            "network"]
        page.get_by_role("columnheader", name="Verdict").get_by_role("button").click()
        assert head.get_attribute("aria-sort") is None
        assert shown(page)[-1] == "network"


def test_the_phone_can_sort_too(browser, report):
    with opened(browser, report / "index.html", viewport={"width": 390, "height": 844}) as page:
        page.get_by_label("Sort by", exact=True).select_option("seconds")
        assert shown(page)[0].startswith("a-very") and shown(page)[-1] == "network"
        assert page.get_by_role("table").get_by_role("row").count() == 6, (
            "restacked rows are still rows")


def test_keyboard_alone_reaches_filters_sorting_and_a_claim(browser, report):
    with opened(browser, report / "index.html") as page:
        focused = "(document.activeElement.innerText || document.activeElement.name || '').trim()"
        page.keyboard.press("Tab")
        assert page.evaluate(focused) == "Skip to the content"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        visited = []
        while len(visited) < 60 and "risk" not in visited:
            page.keyboard.press("Tab")
            visited.append(page.evaluate(focused))
            if visited[-1] == "text":
                page.keyboard.type("risk")
            if visited[-1].startswith("Measured"):
                page.keyboard.press("Enter")
        assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Measured")
        assert page.locator("#ledger tbody tr:visible").count() == 1
        page.keyboard.press("Enter")
        page.wait_for_url("**/claims/single-location.risk.html")


def test_the_theme_can_be_chosen_and_is_remembered(browser, report):
    with opened(browser, report / "index.html", color_scheme="light") as page:
        light = page.evaluate(BACKGROUND)
        page.get_by_role("button", name="Use dark colours").press("Enter")
        dark = page.evaluate(BACKGROUND)
        assert dark != light
        page.goto((report / "claims/single-location.risk.html").as_uri())
        assert page.evaluate(BACKGROUND) == dark
        page.get_by_role("button", name="Use light colours").click()
        assert page.evaluate(BACKGROUND) == light
    with opened(browser, report / "index.html", color_scheme="dark") as page:
        assert page.evaluate(BACKGROUND) == dark


def test_a_claim_shows_its_figure_its_scale_and_its_commands(browser, report):
    with opened(
        browser, report / "claims/single-location.risk.html",
        permissions=["clipboard-read", "clipboard-write"],
    ) as page:
        picture = page.get_by_role("img", name="Recovery")
        picture.scroll_into_view_if_needed()
        until(page, "document.images[0].complete && document.images[0].naturalWidth > 100")
        drawing = page.get_by_role("img", name="Prediction 1, resolution 0.1, measured 1.02.")
        assert drawing.bounding_box()["width"] > 300
        page.get_by_role("link", name="How to cite it").click()
        page.get_by_role("button", name="Copy: BibTeX").click()
        page.get_by_role("button", name="Copy: BibTeX").get_by_text("Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()").startswith(
            "@inproceedings{marion2025")


def test_without_scripts_the_whole_ledger_is_a_plain_table(browser, report):
    with opened(browser, report / "index.html", java_script_enabled=False) as page:
        assert page.locator("#ledger tbody tr").count() == 5
        assert page.locator("#ledger tbody tr").last.is_visible()
        assert page.locator("form").is_hidden() and page.locator("button:visible").count() == 0


def test_paper_is_light_and_without_controls(browser, report):
    with opened(browser, report / "index.html", color_scheme="dark") as page:
        page.emulate_media(media="print")
        assert page.evaluate(BACKGROUND) == "rgb(255, 255, 255)"
        controls = "button:not(.sorter):visible, select:visible, input:visible"
        assert page.locator(controls).count() == 0
        assert check(page, "poorContrast") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_figure_becomes_interactive_and_a_picture_again(browser, report, scheme):
    with opened(browser, report / "study" / "single-location.html", color_scheme=scheme) as page:
        button = page.get_by_role("button", name="Interactive").first
        button.press("Enter")
        page.locator("[data-live] .main-svg").first.wait_for()
        assert page.evaluate("document.querySelector('[data-live]').data[0].y") == [0, 1]
        assert not page.locator(".plate").first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_role("button", name="Picture").first.click()
        assert page.locator(".plate").first.is_visible()
        assert not page.locator("[data-live]").first.is_visible()
