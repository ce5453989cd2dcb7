"""Growth rows on invented work with a clock set by hand; results as files, compared and written."""

import json
import math

import pytest
from typer.testing import CliRunner

from saccade.cli import app
from saccade.errors import InvalidInput
from saccade.lab import benchmark_files, timing
from saccade.lab.benchmark import measure_all
from saccade.lab.growth import Growth, measure_growth, slope
from saccade.lab.timing import QUIET, Target


@pytest.fixture
def clock(monkeypatch):
    now = {"cpu": 0.0}
    monkeypatch.setattr(timing.time, "process_time", lambda: now["cpu"])
    monkeypatch.setattr(timing.gc, "collect", lambda: 0)  # seconds, in a process full of programs
    return now


def growing(clock, power, log=None, **rest):
    def prepare(size):
        def work():
            clock["cpu"] += 3e-3 * size**power
            if log is not None:
                log.append(size)

        return work

    return Growth("study.grows", "Work.", "dim", (10, 20, 40), prepare, tiny=(1, 2), **rest)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_the_exponent_is_that_of_the_work(clock, power):
    row = measure_growth(growing(clock, power, target=Target("<=", 1.2)), rounds=3)
    assert math.isclose(row["exponent"], power, abs_tol=1e-9)
    assert row["met"] is (power <= 1.2) and row["target"] == "exponent <= 1.2"
    assert row["cpu_seconds"] == pytest.approx([3e-3 * n**power for n in (10, 20, 40)])
    assert json.loads(json.dumps(row)) == row


def test_sizes_take_turns_forwards_and_backwards(clock):
    log = []
    measure_growth(growing(clock, 1.0, log), rounds=2)
    assert log[3 * QUIET :] == [10, 20, 40, 40, 20, 10]


def test_a_tiny_version_is_not_judged(clock):
    log = []
    row = measure_growth(growing(clock, 9.0, log, target=Target("<=", 1.0)), rounds=1, tiny=True)
    assert row["met"] is None and set(log) == {1, 2}


def test_a_slope_needs_two_sizes():
    for sizes in ((5,), (5, 5), (0, 1)):
        with pytest.raises(InvalidInput, match="two different positive sizes"):
            Growth("study.x", "Work.", "dim", sizes, lambda size: lambda: None)
    assert slope((1, 10, 100), (0.2, 2, 20)) == pytest.approx(1.0)


def test_growth_is_measured_among_the_others(clock):
    said = []
    [row] = measure_all([], 2, report=said.append, known=[growing(clock, 1.0)])
    assert row["kind"] == "growth" and "CPU ~ dim^1.00" in said[1]


def ratio(name, value, means="peer / ours", **rest):
    usual = dict.fromkeys(
        (
            "ratio_low", "ratio_high", "ours_cpu_seconds", "peer_cpu_seconds", "accuracy",
            "tolerance", "peak_memory_mb"),
        1.0)
    return (
        usual
        | {
            "id": name, "work": f"Work of {name}.", "ratio": value, "ratio_means": means,
            "met": None, "target": "ratio >= 2", "accuracy_reached": True, "tiny": False}
        | rest)


def exponent(name, value):
    return {
        "id": name, "work": "Grows.", "exponent": value, "exponent_low": value,
        "exponent_high": value, "axis": "dim", "sizes": [1, 2], "cpu_seconds": [1.0, 2.0],
        "target": "reported only", "met": None, "tiny": False}


@pytest.mark.parametrize(
    ("old", "new", "worse"),
    [
        (ratio("a", 3.0), ratio("a", 2.01), False), (ratio("a", 3.0), ratio("a", 1.99), True),
        (ratio("a", 3.0), ratio("a", 30.0), False),
        (ratio("a", 1.0, "ours / peer"), ratio("a", 1.49, "ours / peer"), False),
        (ratio("a", 1.0, "ours / peer"), ratio("a", 1.51, "ours / peer"), True),
        (exponent("a", 0.0), exponent("a", 0.3), False),
        (exponent("a", 1.0), exponent("a", 1.4), True)])
def test_a_ratio_may_fall_and_an_exponent_rise_by_a_third(old, new, worse):
    [change] = benchmark_files.against([new], [old])
    assert change.worse is worse


def test_only_what_both_have_in_full_is_compared():
    old = [ratio("a", 9.0), ratio("b", 9.0, tiny=True), ratio("c", 9.0)]
    new = [ratio("b", 1.0), ratio("c", 1.0, tiny=True), ratio("d", 1.0)]
    assert benchmark_files.against(new, old) == []


@pytest.fixture
def files(tmp_path):
    def write(**contents):
        paths = {name: tmp_path / f"{name}.json" for name in contents}
        for name, rows in contents.items():
            paths[name].write_text(json.dumps(rows))
        return paths

    return write


def bench(*words):
    return CliRunner().invoke(app, ["bench", *map(str, words)])


def test_two_files_are_compared_without_measuring(files):
    paths = files(old=[ratio("a.b", 3.0)], same=[ratio("a.b", 2.9)], slow=[ratio("a.b", 1.0)])
    good = bench("--from", paths["same"], "--against", paths["old"])
    assert good.exit_code == 0 and "1 rows compared, 0 worse" in good.stdout
    bad = bench("--from", paths["slow"], "--against", paths["old"])
    assert bad.exit_code == 1 and "worse" in bad.stdout


@pytest.mark.parametrize("text", ["{}", "[1]", '[{"id": "x"}]', "no", '[{"id": "x", "ratio": 0}]'])
def test_a_file_of_something_else_is_refused(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    for result in (bench("--from", path), bench("--from", path, "--against", path)):
        assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert bench("--from", tmp_path / "none.json").exit_code == 2


def test_the_page_is_written_between_its_marks_and_the_rest_stays(files, tmp_path):
    paths = files(rows=[ratio("a.b", 3.0, met=True), exponent("a.grows", 1.25)])
    page = tmp_path / "page.md"
    page.write_text(f"# Mine\n{benchmark_files.BEGIN}\nold\n{benchmark_files.END}\nnotes\n")
    for _ in range(2):  # writing again changes nothing
        assert bench("--from", paths["rows"], "--page", page).exit_code == 0
        text = page.read_text()
        assert text.startswith("# Mine\n") and text.endswith("\nnotes\n") and "old" not in text
        assert text.count("| `a.b` | 3 |") == 1 and "| `a.grows` | 1.25 |" in text
        assert ">= 2, met" in text and "Work of a.b." in text
    only = files(one=[ratio("a.b", 7.0, met=True), ratio("a.new", 2.5, met=None)])["one"]
    assert bench("--from", only, "--page", page).exit_code == 0
    text = page.read_text()  # a row that was not measured again keeps its line
    assert "| `a.b` | 7 |" in text and "| `a.b` | 3 |" not in text
    assert text.count("| `a.new` | 2.5 |") == 1 and text.count("| `a.grows` | 1.25 |") == 1
    assert text.count("Work of a.b.") == text.count("Work of a.new.") == 1
    page.write_text("no marks")
    refused = bench("--from", paths["rows"], "--page", page)
    assert refused.exit_code == 2 and page.read_text() == "no marks"
