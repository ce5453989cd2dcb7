"""Claims on uneven places: the vectorised classifier learns them, the other two never notice."""

import numpy as np

from saccade.lab.claim import Sabotage
from saccade.lab.experiment import Run
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims import common
from saccade.studies.sparse_token.claims.common import PAPER, estimate, share_of, wrong
from saccade.studies.sparse_token.experiments import same_tokens
from saccade.studies.sparse_token.task import SparseTokenSetting

FITTED = ("train_loss", "test_error", "w_norm")


def _setting(run: Run) -> SparseTokenSetting:
    p = run.parameters
    return SparseTokenSetting(len(p.place_probabilities), 1, p.positive_rate, p.signal)


def _measured(run: Run) -> np.ndarray:
    """Training loss, test error, |W| of the vectorised classifier, its overlap at the first place
    and at the others on average."""
    fitted = [run.data[name].sel(model="vectorised").values for name in FITTED]
    signals = run.data.token_signal.values
    return np.stack([*fitted, signals[:, 0], signals[:, 1:].mean(1)], 1)


def _predicted(run: Run, chances=None) -> list[float]:
    p = run.parameters
    law = p.place_probabilities if chances is None else chances
    fit = common.checked(theory.fit_at_places(
        _setting(run), np.eye(len(law)), law, p.samples_per_dim, p.ridge, p.loss))
    signals = fit.token_signal
    return [*(getattr(fit, name) for name in FITTED), signals[0], float(np.mean(signals[1:]))]


LEARNED = estimate(
    "uneven-places", "ST-T5",
    "When one place is likelier than the others (0.7 against 0.1) the vectorised classifier learns"
    " it: training loss, test error, |W| and the overlaps of its tokens are those of one equation"
    " a token.",
    "At d = 40 a trial fluctuates by 18, 5, 2, 7 and 19 %; nine of that over sqrt(256), and a"
    " finite-size error of order 1/d (1 to 2 %).",
    wrong("uniform-law", "Predict for places that are equally likely.", _predicted, [0.25] * 4),
    wrong(
        "certain-place", "Predict for a place that is nearly certain.", _predicted,
        [0.97, 0.01, 0.01, 0.01]),
    source=f"Theorem 5, {PAPER}, beyond exchangeable places; equations ours",
    experiment=same_tokens.uneven_places, measure=_measured, predict=_predicted,
    resolution=share_of(_predicted, [0.12, 0.045, 0.03, 0.06, 0.13]),
    parts=(*FITTED, "overlap at the likely place", "overlap elsewhere"),
    scales=common.both_scales({}, {}, (8, 4), (6, 60)))


def _unseen(run: Run) -> list[float]:
    p = run.parameters
    return [
        common.solved(
            _setting(run), model, p.samples_per_dim, p.ridge, p.loss, **common.query_of(run, model)
        ).test_error
        for model in ("attention", "pooled")]


def _errors(run: Run, *models: str) -> np.ndarray:
    return np.stack([run.data.test_error.sel(model=name).values for name in models], 1)


BLIND = estimate(
    "uneven-places-unseen", "ST-T5",
    "Attention and pooling do not notice that one place is likelier than the others: their test"
    " errors are those of equally likely places.",
    "Test errors fluctuate by 4 % a trial at d = 40; nine of that over sqrt(256), and a"
    " finite-size error of 1 to 2 %.",
    Sabotage(
        "one-that-sees", "Ask the vectorised classifier, and expect equally likely places.",
        measure=lambda run: _errors(run, "vectorised", "vectorised"),
        predict=lambda run: _predicted(run, [0.25] * 4)[1]),
    Sabotage(
        "pool-instead", "Expect pooling's error of attention.",
        predict=lambda run: [_unseen(run)[1]] * 2),
    source=f"permutation invariance; Theorems 4 and 5, {PAPER}",
    experiment=same_tokens.uneven_places, measure=lambda run: _errors(run, "attention", "pooled"),
    predict=_unseen, resolution=share_of(_unseen, 0.04), parts=("attention", "pooled"),
    scales=common.both_scales({}, {}, (8, 4), (1, 1)),
    finding=(
        "A likely place helps only the vectorised classifier (test error 0.26 instead of 0.32 at"
        " 0.7 against 0.1, L = 4, n/d = 8, theta = 3); attention with a good query does not need"
        " it."))
