"""Outcomes by number carry their words; descent records at least its end; calculators have the
defaults of the functions behind them."""

import inspect

import numpy as np
import pytest
import xarray

import saccade
from saccade.errors import InvalidInput
from saccade.lab import registry
from saccade.lab.archive.dataset import export
from saccade.lab.coded import coded, in_words
from saccade.studies import STUDIES

SHORT = {"dim": 50, "steps": 30, "repetitions": 3}


def test_a_run_carries_its_words_through_the_store_and_into_files(fresh_store, tmp_path):
    for _ in range(2):  # computed, then read
        data = saccade.run("single-location.descent", **SHORT)
        assert data.outcome.attrs["flag_meanings"] == "recovered swapped attractor other"
        assert list(data.outcome.attrs["flag_values"]) == [0, 1, 2, 3]
        assert in_words(data.outcome).values.tolist() == ["other"] * 3
    cell = {"dim": 50, "steps": 10, "repetitions": 2}
    swept = saccade.sweep("single-location.ends", axes={"gamma": [0.6, 0.7]}, fixed=cell).open()
    assert "recovered" in swept.outcome.attrs["flag_meanings"]
    path = export(swept, str(tmp_path / "ends.nc"))
    with xarray.open_dataset(path) as again:
        assert again.outcome.attrs["flag_meanings"] == "recovered swapped attractor other"


def test_words_with_blanks_and_what_has_none():
    variable = xarray.Dataset({"fate": coded("run", [1, 0], ("on the way", "there"))}).fate
    assert in_words(variable).values.tolist() == ["there", "on_the_way"]
    with pytest.raises(InvalidInput, match="no words"):
        in_words(xarray.DataArray([1], name="x"))


def test_attention_is_erf_or_softmax_in_sampled_descent(fresh_store):
    """From the manifold both find the oracle's place, and softmax is another path."""
    asked = dict(
        dim=12, length=4, steps=600, repetitions=4, step_size=0.05, start="manifold", noise=0.0)
    ends = {
        name: saccade.run("single-location.sampled-descent", activation=name, **asked)
        for name in ("erf", "softmax")}
    erf, softmax = ends["erf"], ends["softmax"]
    assert "risk" in erf and "risk" not in softmax
    np.testing.assert_array_equal(erf.first_kappa, softmax.first_kappa)
    for data in ends.values():
        last = data.isel(step=-1)
        assert np.all(np.isfinite(last.kappa))
        assert np.abs(last.nu).mean() > 0.8 > np.abs(data.first_nu).mean()
    assert not np.allclose(erf.kappa, softmax.kappa)
    with pytest.raises(InvalidInput, match="activation"):
        saccade.run("single-location.sampled-descent", activation="relu")


@pytest.mark.parametrize("name", ["descent", "stochastic-descent", "full-descent"])
def test_descent_records_at_least_its_end(name, fresh_store):
    data = saccade.run(f"single-location.{name}", **SHORT, record_every=200)
    assert data.step.values.tolist() == [30] and np.isfinite(data.risk).all()


def functions_of(study):
    """What a study computes with, by name; the first of each name."""
    found = {}
    for room in ("theory", "dynamics", "models", "task"):
        for module in registry.modules(STUDIES[study].room(room)):
            for name, item in vars(module).items():
                if inspect.isfunction(item) and item.__module__.startswith(STUDIES[study].package):
                    found.setdefault(name, item)
    return found


@pytest.mark.parametrize("study", list(STUDIES))
def test_calculators_have_the_defaults_of_python(study):
    """Of the function of the same name, where an input has a name of its parameters."""
    known = functions_of(study)
    for calculator in registry.calculators(study):
        function = known.get(calculator.function.__name__)
        for name, parameter in inspect.signature(function).parameters.items() if function else ():
            info = calculator.inputs.model_fields.get(name)
            if info is not None and parameter.default is not parameter.empty:
                assert info.default == parameter.default, f"{calculator.id}: {name}"


def test_gradient_steps_asks_for_data_alone():
    from saccade.studies.sparse_token.dynamics import gradient_steps

    X, y = [[[1.0, 2.0], [0.0, 1.0]], [[0.5, -1.0], [1.0, 0.0]]], [1, -1]
    found = saccade.calc("sparse-token.gradient-steps", X=X, y=y)
    for name, value in gradient_steps(X, y)._asdict().items():
        np.testing.assert_array_equal(found[name], value)


def test_a_whole_run_is_put_into_words_and_what_is_none_is_refused(fresh_store):
    data = saccade.run("single-location.descent", dim=20, steps=20, repetitions=2)
    assert saccade.in_words(data).outcome.equals(saccade.in_words(data.outcome))
    assert saccade.in_words(data).kappa.identical(data.kappa)
    for wrong in (data[["kappa"]], data.kappa, np.zeros(2), 3):
        with pytest.raises(saccade.InvalidInput):
            saccade.in_words(wrong)
