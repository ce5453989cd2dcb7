"""What every test shares: a drawing backend without windows, a store of its own, fixed randomness,
a browser."""

import gc
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from hypothesis import settings

# Before anything imports saccade or matplotlib: no test may touch a user's store or open a window.
# Workers of one session share its store: what one computed for the ledger, another need not.
OWN = "SACCADE_TESTS_STORE" not in os.environ
if OWN:
    os.environ["SACCADE_TESTS_STORE"] = tempfile.mkdtemp(prefix="saccade-tests-")
STORE = os.environ["SACCADE_TESTS_STORE"]
os.environ["SACCADE_STORE"] = STORE
os.environ["MPLBACKEND"] = "Agg"

settings.register_profile("saccade", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("saccade")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The background-network flags keep Chromium from calling home, the sandbox flag lets it start as
# root.
BROWSER_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run")


@cache
def browser_path() -> str | None:
    """The first Chromium that starts, or None. `$SACCADE_CHROMIUM` is asked first."""
    for name in filter(None, (os.environ.get("SACCADE_CHROMIUM"), *BROWSERS)):
        path = shutil.which(name)
        if (
            path
            and subprocess.run([path, "--version"], capture_output=True, check=False).returncode
            == 0
        ):
            return path
    return None


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip_without_browser(items)
    keep_files_together(items)


def keep_files_together(items: list[pytest.Item]) -> None:
    """A worker gets whole files, unless a test says its own group: what a file prepares, traces and
    compiles is then done once, not once in every worker. Groups with slow tests come first, so
    that what ends the session is small and both workers end together."""
    slow: dict[str, bool] = {}
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))
        slow[group(item)] = slow.get(group(item), False) or "slow" in item.keywords
    items.sort(key=lambda item: not slow[group(item)])


def group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return mark.args[0] if mark else ""


def skip_without_browser(items: list[pytest.Item]) -> None:
    """Skip what needs a browser where there is none, with the reason."""
    needing = [item for item in items if item.get_closest_marker("browser")]
    if needing and browser_path() is None:
        reason = f"no Chromium here (looked for {', '.join(BROWSERS)} and $SACCADE_CHROMIUM)"
        for item in needing:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Thousands of tests and all studies are there to stay: the collector of garbage need not look
    at them again and again."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown() -> None:
    """Thousands of tests in one process would hold more compiled programs than Linux allows it
    memory maps."""
    from saccade.lab.programs import let_go_of_programs

    let_go_of_programs()


def pytest_sessionfinish() -> None:
    if OWN:
        shutil.rmtree(STORE, ignore_errors=True)


@pytest.fixture
def getkey(request: pytest.FixtureRequest) -> Callable:
    """`getkey()` gives a fresh key at each call: the same ones in every run, others in every
    test."""
    import zlib

    import jax

    name = request.node.nodeid.removesuffix(f"@{group(request.node)}")  # as without workers
    root = jax.random.key(zlib.crc32(name.encode()))
    counter = itertools.count()
    return lambda: jax.random.fold_in(root, next(counter))


@pytest.fixture
def strict_shapes() -> Iterator[None]:
    """Refuse silent broadcasting between arrays of different rank while the test runs."""
    import jax

    with jax.numpy_rank_promotion("raise"):
        yield


@pytest.fixture
def fresh_store(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """An empty store for this test alone; gives its folder."""
    monkeypatch.setenv("SACCADE_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """A headless Chromium, started once; ask for it only in tests marked `browser`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser_path(), args=list(BROWSER_FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser) -> Iterator:
    """An empty page that fails the test if it logs an error; `page.goto(path.as_uri())` opens a
    report."""
    errors: list[str] = []
    page = browser.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield page
    page.close()
    assert not errors, f"the page reported errors: {errors}"
