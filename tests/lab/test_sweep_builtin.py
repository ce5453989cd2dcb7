"""The built-in sweeps: each can be planned as it is, and its figure be drawn from a small version of it."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from saccade.dynamics.group_sparse import REGIMES, regime_map
from saccade.lab.engines.here import here
from saccade.lab.store import Store
from saccade.lab.sweep import conduct, plan, specification
from saccade.lab.sweep.builtin import all_built_in, draw, find
from saccade.studies import BUILT_IN

SMALL = {
    "single-location/phase": (
        {"dim": [10, 40], "inverse_temperature": [0.1, 2.0]},
        {"steps": 40, "record_every": 20, "repetitions": 4},
    ),
    "sparse-token/winner": ({"signal": [1.0, 6.0], "alignment": [0.0, 1.0]}, {}),
    "group-sparse/phase": ({"groups": [4, 64], "step_size": [0.05, 1.0, 10.0]}, {"steps": 400}),
    "sparse-recovery/success": ({"measurements": [4, 30], "sparsity": [1, 2]}, {"trials": 8}),
    "spatial/association": ({"spurious_rate": [0.1, 0.9], "set_size": [2, 4]}, {"steps": 40, "states": 200}),
}


def small(name, folder):
    whole = find(name).specification()
    axes, fixed = SMALL[name]
    made = specification({**whole.model_dump(), "axes": axes, "fixed": {**whole.fixed, **fixed}})
    return conduct(plan(made, Store(folder)), here).open()


def test_every_study_has_one_and_every_one_can_be_planned(tmp_path):
    assert {item.study for item in all_built_in()} == set(BUILT_IN)
    for item in all_built_in():
        made = plan(item.specification(), Store(tmp_path / "none"))
        assert made.counts() == {"missing": len(made.cells)} and len(made.axes) == 2
        assert item.caption.endswith(".") and item.minutes > 0


@pytest.mark.parametrize("name", sorted(SMALL))
def test_its_figure_is_drawn(name, tmp_path):
    data = small(name, tmp_path)
    assert set(np.unique(data.status)) == {"finished"}
    drawing = draw(find(name), data)
    assert len(drawing.axes) >= 3
    plt.close(drawing)


def test_the_batched_regimes_are_those_of_the_study(tmp_path):
    from saccade.sweeps.group_sparse import regimes_of

    data = small("group-sparse/phase", tmp_path)
    words = regime_map([4, 64], [0.05, 1.0, 10.0], 400).regime
    assert np.array(REGIMES)[regimes_of(data, 400).astype(int)].tolist() == words.tolist()


def test_attention_wins_with_the_right_query_and_loses_with_the_wrong_one(tmp_path):
    errors = small("sparse-token/winner", tmp_path).test_error.sel(signal=6.0)
    assert errors.sel(alignment=1.0).idxmin("model") == "attention"
    assert errors.sel(alignment=0.0).idxmin("model") == "pooled"


def test_enough_measurements_find_any_vector(tmp_path):
    success = small("sparse-recovery/success", tmp_path).success
    assert (success.sel(measurements=30).sel({"method": ["LASSO", "least squares"]}) == 1).all()
    assert (success.sel(measurements=4, sparsity=2) < 0.7).all()


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_the_line_of_l1_minimisation_is_the_sampled_distance_to_the_cone(share):
    """E min_t dist^2(g, t subdifferential of |x|_1) / d for one x in d = 4000, against the formula; a standard error is below 0.002."""
    from saccade.sweeps.sparse_recovery import needed_share

    rng, dim = np.random.default_rng(3), 4000
    g = rng.standard_normal((40, dim))
    on = np.arange(dim) < share * dim
    scales = np.linspace(0, 4, 161)
    distances = [((g[:, on] - t) ** 2).sum(1) + (np.maximum(np.abs(g[:, ~on]) - t, 0) ** 2).sum(1) for t in scales]
    assert abs(np.min(distances, axis=0).mean() / dim - needed_share(share)) < 0.01
