"""Options of running an experiment and its parameters never share a name unseen."""

import pytest
import xarray

import saccade
from saccade import api
from saccade.errors import InvalidInput
from saccade.lab import registry
from saccade.lab.experiment import experiment


@experiment("toy.named-like-options", scales={"paper": {"block": 9}})
def named_like_options(
    key, *, block: int = 1, scale: float = 2.0, seed: int = 5, repetition: int = 7
) -> xarray.Dataset:
    """Gives back what it was asked."""
    return xarray.Dataset({"block": block, "scale": scale, "seed": seed, "repetition": repetition})


@pytest.fixture(autouse=True)
def offered(monkeypatch, fresh_store):
    monkeypatch.setattr(registry, "of_study", lambda name, find: [named_like_options])


def values(*changes, **more) -> dict[str, float]:
    data = saccade.run("toy.named-like-options", *changes, **more)
    return {str(name): float(data[name]) for name in data}


USUAL = {"block": 1, "scale": 2, "seed": 5, "repetition": 7}


def test_a_parameter_that_is_no_option_is_a_parameter():
    assert values(block=3) == USUAL | {"block": 3}


def test_a_mapping_holds_parameters_and_keywords_hold_options():
    asked = {"scale": 3.5, "seed": 1, "repetition": 2}
    assert values(asked) == USUAL | asked
    assert values({}, scale="paper", seed=2) == USUAL | {"block": 9}
    assert values({"seed": 4}, seed=2) == USUAL | {"seed": 4}


@pytest.mark.parametrize("option", ["scale", "seed", "repetition"])
def test_a_keyword_that_could_be_either_is_refused(option):
    with pytest.raises(InvalidInput, match=f"'{option}' is a parameter of toy") as caught:
        values(**{option: 1})
    assert "\n" not in str(caught.value)


def test_a_block_is_no_repetition():
    """The real experiment that was mistaken: its parameter is no option of running it."""
    from saccade.studies.spatial.experiments.realistic import realistic

    assert "block" in realistic.model.model_fields and "block" not in api.OPTIONS
    assert not {"repetition", "seed", "store", "fresh"} & set(realistic.model.model_fields)
