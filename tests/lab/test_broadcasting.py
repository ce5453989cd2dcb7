"""Arrays of NumPy and JAX in place of numbers, for calculators, sweeps and runs."""

import jax.numpy as jnp
import numpy as np
import pytest
import xarray

import saccade
from saccade.errors import InvalidInput

AT = {"kappa": 0.3, "nu": 0.5, "dim": 80, "length": 10}


@pytest.mark.parametrize("library", [np, jnp])
def test_a_calculator_takes_an_array_and_gives_one(library):
    temperatures = library.linspace(0.1, 1.0, 5)
    found = saccade.calc("single-location.risk", inverse_temperature=temperatures, **AT)
    one = [
        saccade.calc("single-location.risk", inverse_temperature=float(t), **AT)
        for t in temperatures]
    assert isinstance(found["risk"], np.ndarray) and found["gradient"]["nu"].shape == (5,)
    np.testing.assert_array_equal(found["risk"], [answer["risk"] for answer in one])
    np.testing.assert_array_equal(
        found["gradient"]["nu"], [answer["gradient"]["nu"] for answer in one])


def test_arrays_are_broadcast_against_each_other():
    found = saccade.calc(
        "single-location.critical-inverse-temperature", dim=np.array([[50], [100], [400]]),
        length=np.arange(5, 9))
    assert found["inverse_temperature"].shape == (3, 4)
    assert (
        found["inverse_temperature"][2, 1]
        == (saccade.calc("single-location.critical-inverse-temperature", dim=400, length=6)[
            "inverse_temperature"]))


def test_what_is_an_array_by_nature_is_taken_whole():
    steps = np.array([1, 2, 4])
    found = saccade.calc(
        "single-location.trajectory", record=steps, steps=4, step_size=np.array([0.01, 0.02]),
        inverse_temperature=0.5, **AT)
    assert found["kappa"].shape == (2, 3)


def test_words_and_scalars_are_as_they_were():
    found = saccade.calc("single-location.risk", inverse_temperature=np.float32(0.5), **AT)
    assert type(found["risk"]) is float
    series = xarray.DataArray([0.1, 0.2], dims="t")
    assert saccade.calc("single-location.risk", inverse_temperature=series, **AT)["risk"].shape == (
        2,)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"inverse_temperature": np.array([0.1, -1.0])}, "inverse_temperature = -1.0 is refused"),
        ({"inverse_temperature": np.ones(3), "gamma": np.ones(2)}, "do not fit together"),
        ({"inverse_temperature": np.ones(0)}, "at least one"),
        ({"inverse_temperature": [0.1, 0.2]}, "must be a number"),
        ({"temperature": np.ones(3)}, "did you mean 'inverse_temperature'")])
def test_refusals_name_the_entry(inputs, words):
    with pytest.raises(InvalidInput, match=words):
        saccade.calc("single-location.risk", **{**AT, **inputs})


@pytest.mark.parametrize("library", [np, jnp])
def test_a_sweep_takes_arrays(library, fresh_store):
    kappas = library.linspace(0.0, 0.9, 4)
    fixed = {"nu": np.float64(0.5), "dim": 80, "length": np.int64(10), "inverse_temperature": 0.6}
    data = saccade.sweep("single-location.risk", axes={"kappa": kappas}, fixed=fixed).open()
    np.testing.assert_allclose(data["kappa"], kappas)
    one = saccade.calc("single-location.risk", **{**fixed, "kappa": float(kappas[2])})
    assert float(data["risk"][2]) == one["risk"]
    listed = saccade.sweep(
        "single-location.risk", cells=[{"kappa": kappas[1]}], design="list", fixed=fixed,
        dry_run=True)
    assert listed.plan.status[listed.keys[0]] == "finished"


def test_a_long_axis_is_looked_through_once():
    axes = {"kappa": np.linspace(0, 1, 100_000)}
    with pytest.raises(InvalidInput, match="needs the inputs"):
        saccade.sweep("single-location.risk", axes=axes, dry_run=True)
    with pytest.raises(InvalidInput, match="twice"):
        saccade.sweep("single-location.risk", axes={"kappa": np.zeros(2)}, dry_run=True)


def test_a_run_takes_numbers_of_numpy(fresh_store):
    asked = {"steps": 20, "record_every": 10, "repetitions": 2}
    data = saccade.run("single-location.descent", dim=np.int64(50), **asked)
    assert data.identical(saccade.run("single-location.descent", dim=50, **asked))
