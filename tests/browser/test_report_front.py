"""The report of the record in a real browser: pictures come first, the ledger is paged, and
attention is seen finding what matters."""

import pytest

from saccade.report import write_recorded
from saccade.report.light import lean
from saccade.studies import STUDIES

pytestmark = pytest.mark.browser

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
TOP = "(e) => e.getBoundingClientRect().top + scrollY"
HEIGHT = "document.documentElement.scrollHeight"

SAME = """([one, other]) => {
  const read = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    const texts = page.createTreeWalker(page, NodeFilter.SHOW_TEXT), blanks = [];
    while (texts.nextNode()) if (!texts.currentNode.data.trim()) blanks.push(texts.currentNode);
    blanks.forEach((blank) => blank.remove());
    return page;
  };
  return read(one).isEqualNode(read(other));
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_recorded(tmp_path_factory.mktemp("recorded") / "report").parent


@pytest.fixture
def opened(browser, folder):
    """Opens a page of the report at a size; closed afterwards."""
    contexts = []

    def open_page(name, size, **options):
        contexts.append(browser.new_context(viewport=size, **options))
        page = contexts[-1].new_page()
        page.goto((folder / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def first_figure(page):
    figures = page.locator("main .looks, main img")
    return min(figures.nth(number).evaluate(TOP) for number in range(min(figures.count(), 3)))


@pytest.mark.parametrize(
    ("size", "figure", "ledger", "whole"), [(DESKTOP, 900, 3000, 8000), (PHONE, 844, 7500, 18_000)],
    ids=["desktop", "phone"])
def test_the_front_page_begins_with_pictures_and_is_short(opened, size, figure, ledger, whole):
    page = opened("index.html", size)
    assert first_figure(page) < figure
    assert page.locator("#ledger").evaluate(TOP) < ledger
    assert page.evaluate(HEIGHT) < whole
    assert page.locator(".highlight img").count() == 5
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.parametrize("study", STUDIES)
def test_the_first_screen_of_a_study_has_a_picture(opened, study):
    for size in (DESKTOP, PHONE):
        page = opened(f"study/{study}.html", size)
        assert first_figure(page) < 900
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.parametrize("name", ["index.html", "study/spatial.html", "study/sparse-recovery.html"])
def test_no_page_is_wider_than_its_window_whatever_that_is(opened, name):
    page = opened(name, DESKTOP)
    if name == "index.html":
        page.get_by_role("button", name="Show all").click()
    for width in (390, 700, 1000, 1100, 1217, 1280, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width


WIDER = "(all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).length"


@pytest.mark.parametrize(
    "claim",
    [
        "single-location.critical-temperature", "spatial.population-exact", "spatial.sampler-law",
        "sparse-recovery.executes-in-float32", "sparse-token.pooled-fails-at-log"])
def test_no_table_of_a_claim_is_cut_on_a_desktop(opened, claim):
    page = opened(f"claims/{claim}.html", DESKTOP)
    tables = page.locator(".scroll")
    assert tables.count() > 0 and tables.evaluate_all(WIDER) == 0


def shown(page):
    return page.locator("#ledger tbody tr:visible").count()


def test_the_ledger_is_paged_and_a_filter_looks_at_all_of_it(opened):
    page = opened("index.html", DESKTOP)
    assert shown(page) == 20
    first = page.locator("#ledger tbody tr:visible th a").first.inner_text()
    page.get_by_role("button", name="Next").click()
    assert shown(page) == 20
    assert page.locator("#ledger tbody tr:visible th a").first.inner_text() != first
    page.get_by_label("Text", exact=True).fill("bag-estimators.b")
    assert 0 < shown(page) < 20 and not page.get_by_role("button", name="Next").is_visible()
    page.get_by_label("Text", exact=True).fill("")
    page.get_by_role("button", name="Show all").click()
    assert shown(page) > 250


def test_the_ledger_filters_by_reading_and_by_loose_bounds_and_finds_greek(opened):
    page = opened("index.html", DESKTOP)
    page.get_by_label("Bounds", exact=True).select_option("loose")
    loose = page.locator("#ledger tbody tr:visible")
    assert loose.count() > 0
    assert loose.count() == page.locator("#ledger tbody tr:visible .chip.loose").count()
    page.get_by_label("Bounds", exact=True).select_option("")
    page.get_by_label("Reading", exact=True).select_option("ours")
    readings = page.locator("#ledger tbody tr:visible .reading")
    assert readings.count() > 0 and set(readings.all_inner_texts()) == {"ours"}
    page.get_by_label("Reading", exact=True).select_option("")
    page.get_by_label("Text", exact=True).fill("lambda")
    assert shown(page) > 0 and page.locator("#ledger tbody tr:visible math").count() > 0


def heights(page):
    """The drawn heights of the bars of the first moving picture, and of those that matter."""
    bars = page.locator(".looks").first.locator(".bar")
    sizes = bars.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().height)")
    lit = bars.evaluate_all("(all) => all.map((e) => e.classList.contains('matters'))")
    return sizes, [size for size, is_lit in zip(sizes, lit, strict=True) if is_lit]


def test_attention_finds_the_token_step_by_step(opened):
    page = opened("study/single-location.html", DESKTOP, reduced_motion="reduce")
    sizes, [matters] = heights(page)
    assert matters == max(sizes), "without motion the end is shown"
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    sizes, [matters] = heights(page)
    assert matters < max(sizes), "at the start it looks elsewhere"
    assert page.locator(".stepper output").inner_text() == "0"
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    sizes, [matters] = heights(page)
    assert matters == max(sizes)


def test_pictures_move_once_and_only_where_motion_is_wanted(opened):
    count = "window.started = 0; addEventListener('animationstart', () => { started += 1; }, true);"

    def reloaded(motion):  # starts are counted: on a busy machine all is over when one can ask
        page = opened("index.html", DESKTOP, reduced_motion=motion)
        page.add_init_script(count)
        page.reload()
        page.wait_for_timeout(500)
        return page

    assert reloaded("reduce").evaluate("started") == 0
    moving = reloaded("no-preference")
    assert moving.evaluate("started") > 0
    ends = "document.getAnimations().map((one) => one.effect.getComputedTiming().endTime)"
    assert max(moving.evaluate(ends)) <= 5000, "what moves for longer would need a way to stop it"


def test_without_scripts_the_pictures_and_the_whole_ledger_are_there(opened):
    page = opened("index.html", DESKTOP, java_script_enabled=False)
    assert page.locator("#ledger tbody tr").last.is_visible()
    assert page.locator(".looks").count() >= 6 and page.locator("button:visible").count() == 0


@pytest.mark.parametrize(
    "name", ["index.html", "study/spatial.html", "claims/spatial.population-exact.html"])
def test_what_html_implies_is_left_out_and_nothing_else(opened, name):
    page = opened(name, DESKTOP)
    whole = page.content()  # the browser writes every end, and every quote
    lighter = lean(whole)
    assert page.evaluate(SAME, [whole, lighter])
    for word in ("</td>", ' scope="col"', ' id="'):
        assert whole.count(word) > lighter.count(word) == 0
    assert not page.evaluate(SAME, [whole, whole.replace("</td>", "", 1).replace("<td", "<th", 1)])
