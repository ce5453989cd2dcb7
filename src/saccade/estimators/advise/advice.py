"""The advice: what was measured, what theory says, and one sentence with its reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from saccade.estimators.advise.comparing import CANDIDATES, Comparison
from saccade.estimators.advise.signal import Signal
from saccade.estimators.looking import Interval

POOLS = ("mean", "all")
CHANCE = 0.05
WORTH_COUNTING = 0.005  # smaller differences in AUC are not worth more bags


class Data(NamedTuple):
    """What the data are: counts, the label that counts as positive, and the other."""

    bags: int
    tokens: int
    dim: int
    shortest: int
    median: int
    longest: int
    positives: int
    positive: str
    negative: str = ""


class Recommendation(NamedTuple):
    """`choice` is the classifier to take; `told` whether a difference could be told at all."""

    choice: str
    told: bool
    sentence: str
    reason: str


@dataclass(frozen=True)
class Advice:
    """`print(advice)` for people, `advice.to_dict()` for programs, `advice.page("x.html")` to show.

    `forecasts` are what the theories of studies predict (or `{"absent": why}`), by their names.
    """

    data: Data
    comparison: Comparison
    signal: Signal | None
    forecasts: Mapping[str, Mapping[str, Any]]
    recommendation: Recommendation

    @property
    def names(self) -> list[str]:
        return list(self.comparison.auc)

    def differences(self) -> list[dict[str, Any]]:
        """Paired differences in AUC of every other candidate to both ways of pooling."""
        pairs = [(name, pool) for pool in POOLS for name in self.names if name != pool]
        return [_row(name, pool, self.comparison.difference(name, pool)) for name, pool in pairs]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        compared = self.comparison
        scores = {
            name: {
                "label": CANDIDATES[name].label, "auc": compared.score(name)._asdict(),
                "error": compared.mistakes(name)._asdict(),
                "cpu_seconds": round(compared.seconds[name], 3)}
            for name in self.names}
        signal = (
            None if self.signal is None
            else {
                "signal": self.signal.signal._asdict(), "share": self.signal.share._asdict(),
                "told": bool(self.signal.told)})
        return {
            "data": self.data._asdict(), "folds": len(compared.auc["mean"]), "scores": scores,
            "differences": self.differences(), "signal": signal,
            "forecasts": {name: dict(one) for name, one in self.forecasts.items()},
            "recommendation": self.recommendation._asdict()}

    def __str__(self) -> str:
        from saccade.estimators.advise.words import as_text

        return as_text(self)

    def page(self, path: str) -> str:
        """Write a page with pictures (one HTML file that needs no other); gives its path."""
        from saccade.estimators.advise.page import write_page

        return write_page(self, path)


def _row(name: str, other: str, difference: Interval) -> dict[str, Any]:
    return {"name": name, "other": other} | difference._asdict() | {"verdict": verdict(difference)}


def verdict(difference: Interval) -> str:
    """better, worse, or not told."""
    if difference.low > 0:
        return "better"
    return "worse" if difference.high < 0 else "not told"


def signed(difference: Interval) -> str:
    """+.012 ± .034"""
    return f"{difference.value:+.3f} ± {(difference.high - difference.low) / 2:.3f}"


def recommend(n: int, comparison: Comparison) -> Recommendation:
    """Attention if the best of what looks is better than the best pooling; pooling if worse, or if
    no difference can be told. The level is shared among the pairs that could have been the best."""
    names = list(comparison.auc)
    lookers = [name for name in names if CANDIDATES[name].looks]
    look, pool = (
        max(group, key=lambda name: comparison.score(name).value)
        for group in (lookers, [name for name in POOLS if name in names]))
    top = max(names, key=lambda name: comparison.score(name).value)
    score = comparison.score(top)
    if score.low <= 0.5:
        half = (score.high - score.low) / 2
        return Recommendation(
            pool, False, f"Nothing can be told with {n} bags: no classifier is better than chance.",
            f"the best AUC is {score.value:.3f} ± {half:.3f} ({CANDIDATES[top].label})")
    level = CHANCE / (len(lookers) * len(POOLS))
    difference = comparison.difference(look, pool, level)
    return _decided(n, comparison, look, pool, difference)


def _decided(
    n: int, comparison: Comparison, look: str, pool: str, difference: Interval
) -> Recommendation:
    looking, pooling = CANDIDATES[look].label, CANDIDATES[pool].label
    told = verdict(difference)
    gain = f"AUC {signed(difference)} against {pooling}"
    choice = look if told == "better" else pool
    if told == "better":
        sentence, reason = f"Use attention ({looking}): it is worth it here.", gain
    elif told == "worse":
        sentence = f"Use pooling ({pooling}): attention loses here."
        reason = f"{looking}: {gain}"
    else:
        sentence = (
            f"Use pooling ({pooling}), the simpler one: no difference can be told with {n} bags.")
        reason = f"{looking}: {gain}{_bags_needed(n, difference)}"
    return Recommendation(
        choice, told != "not told", sentence, reason + _others(comparison, choice))


def _bags_needed(n: int, difference: Interval) -> str:
    """Half-widths shrink as 1/sqrt(n): the n at which a difference of this size could be told."""
    half = (difference.high - difference.low) / 2
    if abs(difference.value) < WORTH_COUNTING:
        return "; the estimate is near 0, and so small a difference would not be worth more bags"
    needed = n * (half / abs(difference.value)) ** 2
    return f"; a difference of this size would take about {rounded(needed)} bags to tell"


def rounded(count: float) -> str:
    """A number of bags to two digits, written out."""
    return f"{float(f'{count:.2g}'):,.0f}"


def _others(comparison: Comparison, choice: str) -> str:
    """What else is clearly better than the choice, though it is neither pooling nor attention."""
    others = [name for name in comparison.auc if name in ("flat", "forest")]
    found = [
        f"{CANDIDATES[name].label} {signed(comparison.difference(name, choice))}" for name in others
        if verdict(comparison.difference(name, choice)) == "better"]
    return f"; better still: {', '.join(found)}" if found else ""
