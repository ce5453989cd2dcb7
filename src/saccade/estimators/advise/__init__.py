"""Is attention worth it on these data? Measured on the same folds, with what theory expects."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from saccade.errors import InvalidInput, require
from saccade.estimators.advise.advice import Advice, Data, Recommendation, recommend
from saccade.estimators.advise.comparing import CANDIDATES, Report, compare
from saccade.estimators.advise.signal import Signal, estimate_signal
from saccade.estimators.bags import Bags
from saccade.estimators.pooled import PooledClassifier
from saccade.estimators.threads import one_thread

Theory = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""From the facts (n, length, dim, signal, informative, positive_rate) to a forecast."""
FITTING = 0.9  # share of the work that is fitting
FEWEST = 4  # bags of each class below which nothing can be cross-validated twice


def read_bags(
    X: Any, y: Any, mask: Any = None, positive: Any = None
) -> tuple[Bags, np.ndarray, tuple[str, str]]:
    """Bags of finite tokens, which of them are positive, and the labels: the positive one [the
    larger] and the other. `positive` may also be the label as a word."""
    reader = PooledClassifier()
    try:
        bags = reader._read(X, mask, reset=True)
        codes = reader._read_labels(y, len(bags))
    except ValueError as problem:
        raise InvalidInput(" ".join(str(problem).split())) from None
    if len(reader.classes_) > 2:
        raise InvalidInput(
            f"y has {len(reader.classes_)} classes and advice is for two: tell one from the rest,"
            f" e.g. by y == {reader.classes_[0]}.")
    fewest = int(min(codes.sum(), (codes == 0).sum()))
    if fewest < FEWEST:
        raise InvalidInput(
            f"y has {fewest} bags of one class; advice needs at least {FEWEST} of each.")
    code = 1 if positive is None else _code(positive, reader.classes_)
    return bags, codes == code, (str(reader.classes_[code]), str(reader.classes_[1 - code]))


def _code(positive: Any, labels: np.ndarray) -> int:
    """Which label is meant; a word from a command line will do."""
    same = [bool(one == positive) or str(one) == str(positive) for one in labels.tolist()]
    require(any(same), "positive", positive, f"must be one of {', '.join(map(str, labels))}")
    return same.index(True)


def advise(
    X: Any, y: Any, mask: Any = None, *, positive: Any = None, folds: int = 5, repeats: int = 2,
    seed: int = 0, theories: Mapping[str, Theory] | None = None,
    progress: Report = lambda amount, text: None,
) -> Advice:
    """Fit mean, four statistics, log-mean-exp, attention, flattened logistic regression (where bags
    have one length) and a forest on the same folds; compare, estimate the signal, ask theory.

    Tokens are looked for that make a bag `positive` [the larger label]: log-mean-exp and the signal
    are not symmetric. `progress(amount, text)` is told of every fit; amounts add up to 1.
    """
    require(folds >= 2, "folds", folds, "must be at least 2")
    require(repeats >= 1, "repeats", repeats, "must be at least 1")
    bags, inside, labels = read_bags(X, y, mask, positive)
    names = [name for name in CANDIDATES if name != "flat" or len(set(bags.lengths)) == 1]
    comparison = compare(
        bags, inside, names, folds, repeats, seed,
        lambda amount, text: progress(FITTING * amount, text))
    with one_thread():
        signal = estimate_signal(bags, inside, seed)
    progress((1 - FITTING) / 2, "signal estimated")
    forecasts = _forecasts(theories or {}, bags, inside, signal, names)
    progress((1 - FITTING) / 2, "advice ready")
    recommendation = recommend(len(bags), comparison)
    return Advice(_described(bags, inside, labels), comparison, signal, forecasts, recommendation)


def _described(bags: Bags, positive: np.ndarray, labels: tuple[str, str]) -> Data:
    lengths = bags.lengths
    return Data(
        len(bags), len(bags.tokens), bags.tokens.shape[1], int(lengths.min()),
        int(np.median(lengths)), int(lengths.max()), int(positive.sum()), *labels)


def _forecasts(
    theories: Mapping[str, Theory], bags: Bags, positive: np.ndarray, signal: Signal,
    names: list[str],
) -> dict[str, Mapping[str, Any]]:
    """What each theory predicts of the candidates `names`, or why it says nothing."""
    if not signal.told:
        reason = "no signal can be told, so nothing is predicted."
        return {name: {"absent": reason} for name in theories}
    length = int(np.median(bags.lengths))
    facts = {
        "n": len(bags), "length": length, "dim": bags.tokens.shape[1],
        "signal": signal.signal.value,
        "informative": int(np.clip(round(signal.share.value * length), 1, length)),
        "positive_rate": float(positive.mean())}
    answers: dict[str, Mapping[str, Any]] = {}
    for name, theory in theories.items():
        try:
            answers[name] = _about(theory(facts), names)
        except (InvalidInput, ArithmeticError) as problem:
            answers[name] = {"absent": str(problem)}
    return answers


def _about(forecast: Mapping[str, Any], names: list[str]) -> Mapping[str, Any]:
    """What of a forecast is about these candidates: bags of different lengths are not flattened."""
    errors = {name: error for name, error in forecast["errors"].items() if name in names}
    changes = [
        one for one in forecast["changes"] if one["better"] in names and one["worse"] in names]
    return {**forecast, "errors": errors, "changes": changes}
