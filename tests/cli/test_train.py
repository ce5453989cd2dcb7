"""`saccade train`: the cost is said first, results land in the store, refusals are one sentence."""

import pytest
from typer.testing import CliRunner

from saccade.cli import app
from saccade.lab import registry
from saccade.lab.pace import CPU_YEAR, spoken
from saccade.lab.training import Training, find_trainings
from saccade.studies.sparse_recovery.experiments import trained

pytestmark = pytest.mark.slow

TINY = {
    "dim": 2, "measurements": 2, "layers": 1, "steps": 60, "batch": 8, "test_tasks": 200,
    "scalar_steps": 5}


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """One training small enough for a test, with its checkpoints in a folder of its own."""
    monkeypatch.setenv("SACCADE_CHECKPOINTS", str(tmp_path / "checkpoints"))
    item = Training(
        "tiny", "a tiny decoder", trained.trained, {"quick": TINY, "paper": TINY}, lambda given: 5.0
    )
    monkeypatch.setattr(registry, "trainings", lambda study=None: [item])
    return item


def call(*arguments):
    return CliRunner().invoke(app, ["train", *arguments])


def test_a_training_says_its_cost_reports_and_is_kept(tiny, tmp_path):
    store = str(tmp_path / "store")
    first = call("sparse-recovery", "--store", store)
    assert first.exit_code == 0, first.output
    assert first.stderr.startswith("tiny: a tiny decoder; about 5 seconds")
    assert "softmax: step 60 of 60" in first.stderr
    assert not any((tmp_path / "checkpoints").iterdir())
    again = call("sparse-recovery", "--store", store)
    assert again.stderr.splitlines() == ["tiny: already in the store."]


def test_an_interrupted_training_goes_on_from_its_checkpoint(tiny, tmp_path, monkeypatch):
    import xarray

    from saccade.lab.store import Store

    steps = []

    def stop(name, step, steps_in_all, loss):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tiny.run("quick", 0, Store(tmp_path / "one"), False, stop)
    assert list((tmp_path / "checkpoints").rglob("*.npz"))
    resumed = tiny.run(
        "quick", 0, Store(tmp_path / "one"), True, lambda name, step, of, loss: steps.append(step))
    whole = tiny.run("quick", 0, Store(tmp_path / "two"), False, lambda *said: None)
    xarray.testing.assert_identical(resumed.data, whole.data)


def test_long_trainings_ask_first(monkeypatch, tmp_path):
    long = Training(
        "long", "a long one", trained.trained, {"paper": TINY}, lambda given: 5 * CPU_YEAR)
    monkeypatch.setattr(registry, "trainings", lambda study=None: [long])
    said = call("sparse-recovery", "--scale", "paper", "--store", str(tmp_path / "store"))
    assert said.exit_code == 0
    assert "about 5 CPU-years on one core of this machine" in said.stderr
    assert "Nothing was started" in said.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["sparse-recovry"], "did you mean 'sparse-recovery'"),
        (["sparse-recovery", "softmx"], "did you mean 'softmax'"),
        (["sparse-recovery", "gpt2"], "scale = 'quick' is not offered for gpt2; it has: paper."),
        (["sparse-recovery", "--scale", "papr"], "did you mean 'paper'"),
        (["single-location"], "has nothing to train at scale quick")])
def test_refusals_are_one_sentence(arguments, says):
    said = call(*arguments)
    assert said.exit_code == 2
    assert says in said.stderr
    assert len(said.stderr.strip().splitlines()) == 1


def test_every_training_has_valid_parameters_at_its_scales():
    for item in registry.trainings("sparse-recovery"):
        for scale in item.scales:
            assert item.steps(scale) >= item.parameters(scale).steps
    assert [item.name for item in find_trainings("sparse-recovery", [], "paper")] == [
        "small", "gpt2"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 seconds"), (80, "80 seconds"), (600, "10 minutes"), (1e9, "32 CPU-years")])
def test_durations_are_spoken(seconds, words):
    assert spoken(seconds) == words
