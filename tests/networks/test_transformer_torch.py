"""The deep transformer and its Adam steps against the same network written in PyTorch, where
PyTorch is installed."""

import pytest

pytest.importorskip("torch")

from saccade.networks import torch_steps

BUILDERS = (torch_steps.vanilla_vit, torch_steps.positional_vit, torch_steps.paper_decoder)


@pytest.mark.parametrize("prepare", BUILDERS, ids=lambda prepare: prepare.__name__)
def test_losses_of_two_steps_agree(prepare):
    assert prepare(**torch_steps.TINY).check().difference < 1e-5
