"""The deep transformer and its Adam steps against the same network written in PyTorch, where PyTorch is installed."""

import pytest

pytest.importorskip("torch")

from saccade.benchmarks import torch_steps


@pytest.mark.parametrize("benchmark", [*torch_steps.SPATIAL, *torch_steps.SPARSE_RECOVERY], ids=lambda item: item.id)
def test_losses_of_two_steps_agree(benchmark):
    accuracy = benchmark.prepare(**benchmark.tiny).check()
    assert accuracy.difference < 1e-5
