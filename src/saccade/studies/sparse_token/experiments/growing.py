"""Formulas for infinitely many dimensions beside single trials at growing ones: two gradient steps
and where they look, fitted read-outs of the three models, and the whole protocol."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import xarray
from numpy.random import SeedSequence, default_rng
from scipy.special import ndtri, softmax
from scipy.stats import qmc

from saccade.convex import ConvexFit, fit_readout
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments import readouts
from saccade.studies.sparse_token.experiments.draws import seeds_of
from saccade.studies.sparse_token.experiments.readouts import Loss, Model
from saccade.studies.sparse_token.experiments.steps import OVERLAPS, overlaps, repeated_steps
from saccade.studies.sparse_token.task import SparseToken, SparseTokenSetting

Case = tuple[int, int, float, float, float, float, float, float, float, Loss]
"""L, R, pi, theta; n0/d; eta_w, eta_b, eta_q, beta; loss."""
CASES: tuple[Case, ...] = (
    (5, 2, 0.3, 3.5, 1.5, 1.4, 0.6, 8.0, 0.7, "logistic"),
    (8, 1, 0.2, 2.0, 6.0, 0.7, 0.4, 60.0, 0.8, "logistic"),
    (2, 1, 0.45, 3.0, 0.7, 3.0, 0.5, 0.03, 1.3, "square"),
    (3, 3, 0.35, 1.5, 2.0, 0.6, 0.8, 2.0, 0.8, "logistic"))
STEPPED = ("w_norm", "q_cosine", "q_norm", "share")
ASKED = ("test_error", "other_error")
FITTED = ("train_loss", "test_error", "w_norm")


@cache
def normal_nodes(length: int, log2_points: int = 11) -> np.ndarray:
    """Evenly spread normal noise of the tokens, one row a sample: the same for every trial, and
    finer than plain draws, so that what a trial is asked adds nothing that does not shrink with
    d."""
    uniform = qmc.Sobol(length, scramble=True, rng=7).random_base2(log2_points)
    return ndtri(np.clip(uniform, 1e-9, 1 - 1e-9))


def share_of_informative(setting: SparseTokenSetting, cosine: float, sharpness: float) -> float:
    """Mean attention on the informative tokens of positive samples."""
    planted = np.arange(setting.length) < setting.informative
    scores = normal_nodes(setting.length, 10) + cosine * setting.signal * planted
    return float(softmax(sharpness * scores, axis=1)[:, planted].sum(1).mean())


def error_at_nodes(setting: SparseTokenSetting, fitted: ConvexFit, query, direction) -> float:
    """Test error of an attention read-out over the nodes of the tokens."""
    view = readouts.view_of_attention(fitted.w, fitted.b, query, direction)
    planted = setting.signal * (np.arange(setting.length) < setting.informative)
    noise = normal_nodes(setting.length)
    caught = readouts.chances_above(view, noise + view.alignment * planted, planted).mean()
    false, rate = readouts.chances_above(view, noise, None).mean(), setting.positive_rate
    return float(rate * (1 - caught) + (1 - rate) * false)


def sample_sizes(dims: tuple[int, ...], per_dim: float, stay: bool) -> list[int]:
    """n/d samples at every dimension; those of the first at all of them, if they `stay`."""
    return [round(per_dim * (dims[0] if stay else dim)) for dim in dims]


@experiment("sparse-token.growing-steps", scales={"standard": {"dims": (32, 128, 512)}})
def growing_steps(
    key: Any, *, dims: tuple[int, ...] = (12, 36, 108), cases: tuple[Case, ...] = CASES,
    samples_stay: bool = False, trials: int = 384,
) -> xarray.Dataset:
    """Norms and cosine after two gradient steps, and the attention that the query then gives to
    informative tokens, trial by trial at every dimension, case by case."""
    blocks = []
    for seed, case in zip(seeds_of(key, len(cases)), cases, strict=True):
        sizes = zip(
            seed.spawn(len(dims)), dims, sample_sizes(dims, case[4], samples_stay), strict=True)
        blocks.append(np.stack([_stepped(case, one, dim, n, trials) for one, dim, n in sizes], 1))
    return readouts.table(STEPPED, np.stack(blocks, 1), ("trial", "case", "dim"), {"dim": dims})


def _stepped(case: Case, seed: SeedSequence, dim: int, n: int, trials: int) -> np.ndarray:
    """What two steps on n samples reach (`STEPPED`), one row a trial."""
    length, informative, positive_rate, signal, _, eta_w, eta_b, eta_q, beta, loss = case
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    after = repeated_steps(
        task, seed, trials, n, False, eta_w=eta_w, eta_b=eta_b, eta_q=eta_q, beta=beta, loss=loss)
    names = [OVERLAPS.index(name) for name in STEPPED[:3]]
    found = overlaps(after, task.direction)[:, names]
    shares = [share_of_informative(task.setting, cosine, beta * norm) for _, cosine, norm in found]
    return np.column_stack([found, shares])


@experiment("sparse-token.growing-fits", scales={"standard": {"trials": 1024}})
def growing_fits(
    key: Any, *, model: Model = "attention", dims: tuple[int, ...] = (8, 24, 72), length: int = 5,
    informative: int = 2, positive_rate: float = 0.4, signal: float = 2.5, alignment: float = 0.7,
    sharpness: float = 1.3, samples_per_dim: float = 2.5, ridge: float = 0.03,
    loss: Loss = "logistic", place_probabilities: tuple[float, ...] = (),
    samples_stay: bool = False, trials: int = 256,
) -> xarray.Dataset:
    """Training loss, test error and |w| of read-outs of one model, trial by trial at every
    dimension; with `place_probabilities` one informative token at uneven places."""
    table = (np.eye(length, dtype=bool), np.array(place_probabilities))
    columns = []
    for seed, dim, n in zip(
        seeds_of(key, len(dims)), dims, sample_sizes(dims, samples_per_dim, samples_stay),
        strict=True,
    ):
        task = SparseToken.create(
            dim, length, informative, positive_rate, signal, None,
            *(table if place_probabilities else ()))
        query = readouts.tilted_query(dim, alignment, sharpness)
        fits = [_one_fit(task, one, n, model, query, ridge, loss) for one in seed.spawn(trials)]
        columns.append(fits)
    return readouts.table(FITTED, np.stack(columns, 1), ("trial", "dim"), {"dim": dims})


def _one_fit(
    task: SparseToken, seed: SeedSequence, n: int, model: str, query: Any, ridge: float, loss: str
) -> list[float]:
    """Draw, fit and measure (`FITTED`)."""
    rng = default_rng(seed)
    sample = readouts.draw_both_labels(task, rng, n, model, query)
    fitted = fit_readout(sample.features, sample.y, ridge, loss, 1e-8)
    error = (
        error_at_nodes(task.setting, fitted, query, task.direction) if model == "attention"
        else readouts.readout_test_error(task, fitted, model, query, rng))
    return [fitted.train_loss, error, float(np.linalg.norm(fitted.w))]


@experiment("sparse-token.growing-protocol", scales={"standard": {"trials": 1024}})
def growing_protocol(
    key: Any, *, dims: tuple[int, ...] = (10, 30, 90), length: int = 4, informative: int = 1,
    positive_rate: float = 0.45, signal: float = 3.4, query_samples_per_dim: float = 4.0,
    eta_q: float = 12.0, samples_per_dim: float = 3.0, ridge: float = 0.02, loss: Loss = "square",
    test_length: int = 9, samples_stay: bool = False, trials: int = 256,
) -> xarray.Dataset:
    """Test errors of attention whose query two steps have taught, on samples of its own, trial by
    trial at every dimension: at the length it was trained at, and at another."""
    columns = []
    setting = SparseTokenSetting(length, informative, positive_rate, signal)
    asked = (setting, replace(setting, length=test_length))
    counts = zip(
        sample_sizes(dims, query_samples_per_dim, samples_stay),
        sample_sizes(dims, samples_per_dim, samples_stay), strict=True)
    for seed, dim, (taught, n) in zip(seeds_of(key, len(dims)), dims, counts, strict=True):
        task = SparseToken.create(dim, length, informative, positive_rate, signal)
        step_seed, fit_seed = seed.spawn(2)
        queries = repeated_steps(task, step_seed, trials, taught, False, eta_q=eta_q, loss=loss).q
        rows = []
        for one, query in zip(fit_seed.spawn(trials), queries, strict=True):
            sample = readouts.draw_both_labels(task, default_rng(one), n, "attention", query)
            fitted = fit_readout(sample.features, sample.y, ridge, loss, 1e-8)
            rows.append([error_at_nodes(item, fitted, query, task.direction) for item in asked])
        columns.append(rows)
    return readouts.table(ASKED, np.stack(columns, 1), ("trial", "dim"), {"dim": dims})
