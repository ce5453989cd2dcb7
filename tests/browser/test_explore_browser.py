"""The live laboratory in a real browser: each notebook starts on this machine, can be used without
eyes or mouse, and answers."""

import socket
import subprocess
import time

import pytest

pytest.importorskip("marimo", reason="the live laboratory needs the extra 'explore'")

from saccade.lab.notebooks import command, notebooks

pytestmark = [pytest.mark.browser, pytest.mark.slow]
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


# What we write into a notebook, looked for through every shadow tree: controls and pictures with
# names, headings in order, words one can read.
FAULTS = """() => {
  const all = function* (root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* all(element.shadowRoot);
    }
  };
  const elements = [...all(document)];
  const up = (e) => e.parentElement ?? (e.getRootNode() instanceof ShadowRoot ? e.getRootNode().host : null);
  const within = (e, test) => { for (; e; e = up(e)) if (test(e)) return e; return null; };
  const name = (e) => e.getAttribute("aria-label") || [...(e.labels ?? [])].map((label) => label.textContent).join(" ")
    || (e.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => e.getRootNode().getElementById(id)?.textContent ?? "").join("");
  const controls = elements.filter((e) => e.matches("[role=slider], textarea"));
  const faults = controls.filter((e) => !name(e).trim()).map((e) => `no name: ${e.outerHTML.slice(0, 90)}`);
  for (const plot of elements.filter((e) => e.matches(".js-plotly-plot")))
    if (!within(plot, (e) => e.getAttribute("role") === "figure" && e.getAttribute("aria-label"))) faults.push("a picture without words");
  const headings = elements.filter((e) => e.matches("h1, h2, h3")).map((e) => Number(e.tagName[1]));
  if (headings.filter((level) => level === 1).length !== 1) faults.push(`headings of the first level: ${headings}`);
  headings.forEach((level, place) => { if (level > (headings[place - 1] ?? 0) + 1) faults.push(`heading jumps: ${headings}`); });
  if (!document.title.startsWith("saccade") || !document.documentElement.lang) faults.push("title or language");
  const paint = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const channels = (text) => {
    paint.clearRect(0, 0, 1, 1); paint.fillStyle = text; paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = (e) => { const found = within(e, (one) => channels(getComputedStyle(one).backgroundColor)[3] === 255);
    return found ? channels(getComputedStyle(found).backgroundColor) : [255, 255, 255]; };
  const said = elements.filter((e) => e.matches("h1, h2, p, strong, em, label") && e.textContent.trim() && e.checkVisibility());
  for (const e of said) {
    const [a, b] = [light(channels(getComputedStyle(e).color)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${e.textContent.trim().slice(0, 40)}`);
  }
  return said.length ? faults : ["nothing is said"];
}"""

FOCUSED = """() => {
  let e = document.activeElement;
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  return e?.getAttribute("role") ?? "";
}"""


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
    assert page.evaluate(FAULTS) == []
    _reach_a_slider(page)
    page.keyboard.press("ArrowRight")
    _changes(page, picture, before)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("[role=figure]").first.evaluate("(figure) => figure.removeAttribute('aria-label')")
    assert page.evaluate(FAULTS) == ["a picture without words"], "the check sees what is missing"
    page.close()


def _settled(page, picture):
    """What the picture shows once it has stopped changing: the first one may still be in the
    making."""
    until, seen = time.monotonic() + PATIENCE, ""
    while time.monotonic() < until:
        now = picture.inner_html()
        if now == seen:
            return now
        seen = now
        page.wait_for_timeout(1500)
    raise AssertionError("the picture never came to rest")


def _reach_a_slider(page):
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == "slider":
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
