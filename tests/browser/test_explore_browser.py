"""The live laboratory in a real browser: each notebook starts on this machine, can be used without
eyes or mouse, and answers."""

import socket
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("marimo", reason="the live laboratory needs the extra 'explore'")

from saccade.lab.notebooks import command, notebooks

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHECKS = (Path(__file__).parent / "checks.js").read_text()
PATIENCE = 300  # seconds; a busy machine without compiled programs is slow


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def served(request):
    """A notebook served on localhost, ended afterwards."""
    port = free_port()
    process = subprocess.Popen(
        command(request.param, port, headless=True), stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def check(page, name):
    """What a function of checks.js answers."""
    return page.evaluate(f"() => {{ {CHECKS}\nreturn {name}(); }}")


@pytest.mark.parametrize("served", notebooks(), indirect=True)
def test_a_notebook_is_named_readable_and_answers_the_keyboard(browser, served):
    page = browser.new_page()
    # Only this machine is asked: what marimo would fetch from elsewhere (it can do without) is
    # refused here.
    page.route(
        "**/*",
        lambda route: route.continue_() if "127.0.0.1" in route.request.url else route.abort())
    page.goto(served, timeout=PATIENCE * 1000)
    picture = page.locator(".js-plotly-plot").first
    picture.wait_for(timeout=PATIENCE * 1000)
    before = _settled(page, picture)
    assert check(page, "notebookFaults") == []
    _reach_a_slider(page)
    page.keyboard.press("ArrowRight")
    _changes(page, picture, before)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.wait_for_timeout(1000)  # pictures follow the window
    plots = page.locator(".js-plotly-plot .main-svg").all()
    edges = [plot.evaluate("(svg) => svg.getBoundingClientRect().right") for plot in plots]
    assert edges and max(edges) <= 390, "no picture is cut"
    page.locator("[role=figure]").first.evaluate("(figure) => figure.removeAttribute('aria-label')")
    assert check(page, "notebookFaults") == ["a picture without words"], "the check sees it"
    page.close()


def _settled(page, picture):
    """What the picture shows once it has stopped changing."""
    until, before = time.monotonic() + PATIENCE, ""
    while time.monotonic() < until:
        now = picture.inner_html()
        if now == before:
            return now
        before = now
        page.wait_for_timeout(1500)
    raise AssertionError("the picture never came to rest")


def _reach_a_slider(page):
    for _ in range(40):
        page.keyboard.press("Tab")
        if check(page, "focusedRole") == "slider":
            return
    raise AssertionError("no slider was reached by the Tab key")


def _changes(page, picture, before):
    """The picture lives in a shadow tree, so it is asked through the locator."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        page.wait_for_timeout(100)
        if picture.inner_html() != before:
            return
    raise AssertionError("the picture did not change after the slider moved")
