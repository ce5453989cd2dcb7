"""What happens as the dimension grows: how far single trials of the two steps and of a fitted
read-out lie from anything that depends on ratios alone, and how sharply separability is lost."""

from typing import Any

import numpy as np
import xarray
from numpy.random import default_rng
from scipy.special import ndtr

from saccade.convex import ConvexFit, fit_readout
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments import readouts
from saccade.studies.sparse_token.experiments.draws import seeds_of
from saccade.studies.sparse_token.experiments.limits import Draws, draw_seen, separable_prefix
from saccade.studies.sparse_token.experiments.readouts import Loss, Model
from saccade.studies.sparse_token.experiments.steps import OVERLAPS, overlaps, repeated_steps
from saccade.studies.sparse_token.task import SparseToken

GROWN = ("w_cosine", "q_cosine", "train_loss", "test_error")


def error_on(seen: Draws, fitted: ConvexFit, query: np.ndarray, direction: Any) -> float:
    """Test error of attention over draws of (y, A, S, tau) that are shared by all trials."""
    view = readouts.view_of_attention(fitted.w, fitted.b, query, direction)
    across = view.across / np.sqrt(1 - view.alignment**2)  # along the unit vector of xi - rho q^
    mean = view.along * seen.along + across * seen.across + view.b
    return float(np.mean(ndtr(-seen.y * mean / (seen.spread * view.rest))))


@experiment(
    "sparse-token.growing-dimension", scales={"standard": {"dims": (16, 32, 64, 128, 256, 512)}})
def growing_dimension(
    key: Any, *, dims: tuple[int, ...] = (16, 32, 64, 128), length: int = 4, informative: int = 2,
    positive_rate: float = 0.45, signal: float = 2.2, query_samples_per_dim: float = 3.0,
    eta_w: float = 0.5, eta_b: float = 0.5, eta_q: float = 0.5, beta: float = 1.0,
    alignment: float = 0.8, sharpness: float = 1.2, samples_per_dim: float = 2.0,
    ridge: float = 0.05, loss: Loss = "square", trials: int = 384, test_points: int = 5000,
) -> xarray.Dataset:
    """Cosines after each of two gradient steps, and training loss and test error of a read-out with
    a fixed query, trial by trial at every dimension."""
    seen_seed, *seeds = seeds_of(key, 1 + len(dims))
    setting = (length, informative, positive_rate, signal)
    seen = draw_seen(default_rng(seen_seed), test_points, *setting, alignment, sharpness)
    names = [OVERLAPS.index(name) for name in GROWN[:2]]
    columns = []
    for seed, dim in zip(seeds, dims, strict=True):
        task = SparseToken.create(dim, *setting)
        query = readouts.tilted_query(dim, alignment, sharpness)
        step_seed, *fit_seeds = seed.spawn(1 + trials)
        after = repeated_steps(
            task, step_seed, trials, round(query_samples_per_dim * dim), False, eta_w=eta_w,
            eta_b=eta_b, eta_q=eta_q, beta=beta, loss=loss)
        fits = []
        for one in fit_seeds:
            sample = readouts.draw_both_labels(
                task, default_rng(one), round(samples_per_dim * dim), "attention", query)
            fitted = fit_readout(sample.features, sample.y, ridge, loss, 1e-8)
            fits.append([fitted.train_loss, error_on(seen, fitted, query, task.direction)])
        columns.append(np.hstack([overlaps(after, task.direction)[:, names], fits]))
    return readouts.table(GROWN, np.stack(columns, 1), ("trial", "dim"), {"dim": dims})


@experiment("sparse-token.separability-width", scales={"standard": {"trials": 1024}})
def separability_width(
    key: Any, *, model: Model = "attention", dims: tuple[int, ...] = (3, 9, 27), length: int = 6,
    informative: int = 2, positive_rate: float = 0.4, signal: float = 1.5, alignment: float = 0.8,
    sharpness: float = 1.0, most_per_dim: float = 10.0, trials: int = 320,
) -> xarray.Dataset:
    """Samples per dimension up to which streams of features of one model stay separable, trial by
    trial, at every dimension (the bias counted as one more weight), and the numbers of weights."""
    columns, weights = [], []
    for seed, dim in zip(seeds_of(key, len(dims)), dims, strict=True):
        task = SparseToken.create(dim, length, informative, positive_rate, signal)
        query, most = readouts.tilted_query(dim, alignment, sharpness), round(most_per_dim * dim)
        entries = dim * (length if model == "vectorised" else 1)
        counts = [
            separable_prefix(readouts.draw(task, default_rng(one), most, model, query), entries)
            for one in seed.spawn(trials)]
        columns.append(np.array(counts) / (entries + 1) * (entries / dim))
        weights.append(entries + 1)
    return xarray.Dataset(
        {"samples_per_dim": (("trial", "dim"), np.stack(columns, 1)), "weights": ("dim", weights)},
        {"dim": list(dims)})
