"""The built-in sweeps: each can be planned as it is, and its figure be drawn from a small version
of it."""

import jax
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray

from saccade.lab import registry
from saccade.lab.engines import here
from saccade.lab.store import Store
from saccade.lab.sweep.api import draw, execute, find
from saccade.lab.sweep.design import specification
from saccade.lab.sweep.plan import plan
from saccade.studies.group_sparse.dynamics.position_map import REGIMES, regime_map

pytestmark = pytest.mark.slow

SMALL = {
    "single-location/phase": (
        {"dim": [10, 40], "inverse_temperature": [0.1, 2.0]}, {"steps": 40, "repetitions": 4}),
    "sparse-token/winner": ({"signal": [1.0, 6.0], "alignment": [0.0, 1.0]}, {}),
    "group-sparse/phase": ({"groups": [4, 64], "step_size": [0.05, 1.0, 10.0]}, {"steps": 400}),
    "sparse-recovery/success": ({"measurements": [4, 30], "sparsity": [1, 2]}, {"trials": 8}),
    "spatial/association": (
        {"spurious_rate": [0.1, 0.9], "set_size": [2, 4]}, {"steps": 40, "states": 200})}


def planned(name, folder):
    whole = find(name).specification()
    axes, fixed = SMALL[name]
    made = specification({**whole.model_dump(), "axes": axes, "fixed": {**whole.fixed, **fixed}})
    return plan(made, Store(folder))


def small(name, folder):
    return execute(planned(name, folder), here).open()


def test_every_one_can_be_planned(tmp_path):
    assert len({item.study for item in registry.sweeps()}) >= 5
    for item in registry.sweeps():
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
    from saccade.studies.group_sparse.sweeps import regimes_of

    data = small("group-sparse/phase", tmp_path)
    words = regime_map([4, 64], [0.05, 1.0, 10.0], 400).regime
    assert np.array(REGIMES)[regimes_of(data, 400).astype(int)].tolist() == words.tolist()


@pytest.mark.parametrize("name", sorted(set(SMALL) - {"sparse-token/winner"}))
def test_batched_cells_are_lone_cells_bit_for_bit(name, tmp_path):
    made = planned(name, tmp_path)
    batch = made.target.batch
    assert batch is not None and max(len(group) for group in made.groups()) > 1
    execute(made, here)
    for cell in (made.cells[0], made.cells[-1]):
        alone = made.target.compute(
            made.target.key(cell.replicate, made.specification.seed), cell.parameters)
        xarray.testing.assert_identical(made.store.load(cell.request), alone)


def test_ends_are_those_of_the_study_from_the_same_starts():
    from saccade.studies.single_location.cells import ends
    from saccade.studies.single_location.experiments.descent import descent

    key, asked = (
        jax.random.key(4),
        {"dim": 20, "inverse_temperature": 0.4, "step_size": 4e-3, "steps": 6000})
    path = descent.function(key, **asked, record_every=6000, repetitions=20)
    end = ends.function(key, **asked, repetitions=20)
    assert len(set(end.outcome.values.tolist())) > 1
    np.testing.assert_array_equal(end.outcome, path.outcome)
    np.testing.assert_allclose(end.kappa, path.kappa.isel(step=-1), atol=1e-8)


def test_association_is_that_of_the_study():
    from saccade.studies.spatial.cells import association
    from saccade.studies.spatial.experiments.idealised import idealised

    asked = {"patches": 12, "set_size": 3, "spurious_rate": 0.3, "steps": 300, "states": 150}
    path, end = idealised.function(None, **asked), association.function(None, **asked)
    for name in ("alpha", "gamma", "rho"):
        np.testing.assert_allclose(end[name], path[f"final_{name}"], rtol=1e-9)
    assert abs(float(end.gamma)) > 1e-3 and end.thinned == path.thinned > 0


def test_a_cell_that_diverges_does_not_take_its_group_along(tmp_path):
    axes, fixed = (
        {"eta_v": [5e-4, 1e300], "spurious_rate": [0.2]},
        {"patches": 12, "set_size": 3, "steps": 30})
    made = specification({"run": "spatial.association", "axes": axes, "fixed": fixed})
    laid_out = plan(made, Store(tmp_path))
    assert [len(group) for group in laid_out.groups()] == [2]
    outcome = execute(laid_out, here)
    assert list(outcome.failed.values()) == ["diverged"] and outcome.plan.counts()["finished"] == 1


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
    """E min_t dist^2(g, t subdifferential of |x|_1) / d for one x in d = 4000, against the formula;
    a standard error is below 0.002."""
    from saccade.studies.sparse_recovery.sweeps import needed_share

    rng, dim = np.random.default_rng(3), 4000
    g = rng.standard_normal((40, dim))
    on = np.arange(dim) < share * dim
    scales = np.linspace(0, 4, 161)
    distances = [
        ((g[:, on] - t) ** 2).sum(1) + (np.maximum(np.abs(g[:, ~on]) - t, 0) ** 2).sum(1)
        for t in scales]
    assert abs(np.min(distances, axis=0).mean() / dim - needed_share(share)) < 0.01
