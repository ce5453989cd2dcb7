"""The benchmark harness on invented work, and every real benchmark in its tiny version: what they
compute, never how fast."""

import json
import math
import time

import pytest
from typer.testing import CliRunner

from saccade.cli import app
from saccade.errors import InvalidInput
from saccade.lab import benchmark, registry, timing
from saccade.lab.benchmark import Accuracy, Benchmark, Sides, Target, find, measure, measure_all
from saccade.lab.growth import Growth
from saccade.studies.single_location import benchmarks as single_location
from saccade.studies.single_location.dynamics import Setting

pytestmark = pytest.mark.slow

FIELDS = {
    "id", "work", "ratio", "ratio_low", "ratio_high", "target", "met", "ours_cpu_seconds",
    "peer_cpu_seconds", "accuracy", "tolerance", "peak_memory_mb", "rounds"}

THREE_TIMES = Target(">=", 3.0)


def invented(log, target=THREE_TIMES, difference=0.0, **rest):
    """A benchmark that notes who was called."""

    def prepare(size=10):
        note = log.append
        return Sides(
            lambda: note(("ours", size)), lambda: note(("peer", size)),
            lambda: note("check") or Accuracy(difference, 1e-9))

    return Benchmark("study.invented", "Nothing, twice.", prepare, target, tiny={"size": 1}, **rest)


@pytest.fixture
def clock(monkeypatch):
    """CPU time that passes by hand: the ratio of two works is then known exactly."""
    now = {"cpu": 0.0}
    monkeypatch.setattr(benchmark.time, "process_time", lambda: now["cpu"])
    monkeypatch.setattr(timing.gc, "collect", lambda: 0)  # seconds, in a process full of programs
    return now


def takes(clock, seconds):
    def work():
        clock["cpu"] += next(seconds) if hasattr(seconds, "__next__") else seconds

    return work


def with_costs(clock, ours, peer, **rest):
    return Benchmark(
        "study.costs", "Time itself.",
        lambda: Sides(takes(clock, ours), takes(clock, peer), lambda: Accuracy(0.0, 1.0)), **rest)


def test_accuracy_comes_first_then_sides_take_turns():
    log = []
    measure(invented(log), rounds=4)
    assert log[0] == "check"
    turns = [name for name, _ in log[1 + 2 * benchmark.QUIET :]]
    assert len(turns) == 8
    assert all({turns[i], turns[i + 1]} == {"ours", "peer"} for i in range(0, 8, 2))
    assert turns[0] != turns[2]  # neither side is always the first
    assert all(size == 10 for _, size in log[1:])


def test_ratio_is_the_median_with_quartiles_and_has_the_stated_direction(clock):
    # Two warm-up calls, then peer costs whose ratios to ours are 5, 1, 3, 2, 4.
    peer = iter([9.0, 9.0, 10.0, 2.0, 6.0, 4.0, 8.0])
    result = measure(with_costs(clock, 2.0, peer, target=Target(">=", 3.0)), rounds=5)
    assert (result.ratio_low, result.ratio, result.ratio_high) == (2.0, 3.0, 4.0)
    assert (result.ours_cpu_seconds, result.peer_cpu_seconds) == (2.0, 6.0)
    assert result.met is True
    swapped = measure(
        with_costs(clock, 2.0, 4.0, target=Target("<=", 0.4), ours_over_peer=True), rounds=1)
    assert swapped.ratio == swapped.ratio_low == swapped.ratio_high == 0.5
    assert swapped.met is False


def test_speed_without_the_same_accuracy_meets_nothing():
    for difference in (1.0, math.nan):
        result = measure(invented([], Target(">=", 0.0), difference), rounds=1)
        assert result.met is False
        assert result.accuracy_reached is False
    assert measure(invented([], Target(">=", 0.0)), rounds=1).met is True


def test_a_tiny_version_and_a_reported_one_are_not_judged():
    log = []
    assert measure(invented(log), rounds=1, tiny=True).met is None
    assert all(size == 1 for _, size in log[1:])
    assert measure(invented([], target=None), rounds=1).met is None


def test_results_are_json_and_the_work_is_stated_before_it_is_done():
    log = []
    results = measure_all(["invented"], 2, report=log.append, known=[invented(log)])
    assert log[0] == "study.invented: Nothing, twice."
    assert json.loads(json.dumps(results)) == results
    assert set(results[0]) >= FIELDS
    assert results[0]["target"] == "ratio >= 3"
    assert 10 < results[0]["peak_memory_mb"] < 1e5


def test_cpu_time_is_not_waiting_time():
    def prepare():
        return Sides(lambda: time.sleep(0.2), lambda: None, lambda: Accuracy(0.0, 1.0))

    result = measure(Benchmark("study.sleep", "Waiting.", prepare), rounds=1)
    assert result.ours_wall_seconds >= 0.2
    assert result.ours_cpu_seconds < result.ours_wall_seconds


def test_names_and_rounds_that_cannot_be():
    with pytest.raises(
        InvalidInput,
        match=r"no benchmark named .*dimension-fre.*did you mean 'single-location.dimension-free'",
    ):
        find(["dimension-fre"])
    with pytest.raises(InvalidInput, match="rounds"):
        measure_all([], rounds=0)


def test_names_may_be_short_or_wild():
    known = registry.benchmarks("single-location")
    assert [one.id for one in find(["figure-4a"])] == ["single-location.figure-4a"]
    assert find(["single-location"]) == find(["single-location.*"]) == known
    assert set(one.id for one in known) <= set(one.id for one in find([]))


def of_kind(kind):
    return [one for one in registry.benchmarks() if isinstance(one, kind)]


@pytest.mark.parametrize("one", of_kind(Growth), ids=lambda one: one.id)
def test_tiny_sizes_can_be_worked_on(one):
    for size in one.tiny or one.sizes[:1]:
        one.prepare(size)()


@pytest.mark.parametrize("one", of_kind(Benchmark), ids=lambda one: one.id)
def test_tiny_version_does_the_same_work_on_both_sides(one):
    if one.is_lacking:
        pytest.skip(f"the peer {one.needs} is not installed")
    sides = one.prepare(**one.tiny)
    accuracy = sides.check()
    assert accuracy.reached, accuracy
    sides.ours()
    sides.peer()


def test_a_wrong_engine_is_not_taken_for_a_fast_one(monkeypatch):
    """Half the step size on our side only: every check that compares paths must see it."""
    right = single_location.dynamics.overlap_trajectory

    def wrong(start, setting: Setting, step_size, steps, **rest):
        return right(start, setting, step_size / 2, steps, **rest)

    monkeypatch.setattr(single_location.dynamics, "overlap_trajectory", wrong)
    for name in ("dimension-free", "reduced-vs-full", "figure-4a"):
        (one,) = find([f"single-location.{name}"])
        assert not one.prepare(**one.tiny).check().reached, name


def test_an_in_law_engine_of_another_dimension_is_seen(monkeypatch):
    right = single_location.dynamics.stochastic_trajectory_in_law

    def wrong(key, start, setting: Setting, **rest):
        return right(key, start, setting._replace(dim=4 * setting.dim), **rest)

    monkeypatch.setattr(single_location.dynamics, "stochastic_trajectory_in_law", wrong)
    (one,) = find(["in-law-vs-brute"])
    assert not one.prepare(**one.tiny).check().reached


def test_a_row_whose_peer_is_not_installed_is_left_out_and_that_is_said():
    log = []
    lacking = invented(log, needs="no_such_library")
    assert measure_all([], 1, report=log.append, known=[lacking, invented([])]) != []
    assert log[:2] == [
        "study.invented: Nothing, twice.", "  left out: its peer no_such_library is not installed"]
    assert invented(log, needs="json").is_lacking is False


def test_command_line(tmp_path):
    file = tmp_path / "speed.json"
    said = CliRunner().invoke(
        app, ["bench", "figure-4a", "--tiny", "--rounds", "1", "--json", str(file)])
    assert said.exit_code == 0, said.output
    assert "single-location.figure-4a" in said.output
    assert set(json.loads(file.read_text())[0]) >= FIELDS
    assert CliRunner().invoke(app, ["bench", "figure-4b"]).exit_code == 2
