"""The live laboratory in a real browser: each notebook starts on this machine, a slider moves, the picture changes."""

import socket
import subprocess
import time

import pytest

pytest.importorskip("marimo", reason="the live laboratory needs the extra 'explore'")

from saccade.explore import NOTEBOOKS, command

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATIENCE = 180  # seconds; a busy machine compiles slowly


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def served(request):
    """A notebook served on localhost, ended afterwards."""
    port = free_port()
    process = subprocess.Popen(
        command(request.param, port, headless=True), stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
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


@pytest.mark.parametrize("served", NOTEBOOKS, indirect=True)
def test_a_moved_slider_changes_the_picture(browser, served):
    page = browser.new_page()
    # Only this machine is asked: what marimo would fetch from elsewhere (it can do without) is refused here.
    page.route("**/*", lambda route: route.continue_() if "127.0.0.1" in route.request.url else route.abort())
    page.goto(served)
    picture = page.locator(".js-plotly-plot").first
    picture.wait_for(timeout=PATIENCE * 1000)
    page.wait_for_timeout(1500)
    before = picture.inner_html()
    page.locator("[role=slider]").first.focus()
    page.keyboard.press("ArrowRight")
    _changes(page, picture, before)
    page.close()


def _changes(page, picture, before):
    """The picture lives in a shadow tree, so it is asked through the locator."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        page.wait_for_timeout(100)
        if picture.inner_html() != before:
            return
    raise AssertionError("the picture did not change after the slider moved")
