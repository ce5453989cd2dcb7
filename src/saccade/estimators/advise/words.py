"""The advice in plain words, for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from saccade.estimators.advise.advice import Advice, rounded
from saccade.estimators.advise.comparing import CANDIDATES
from saccade.estimators.looking import Interval


def as_text(advice: Advice) -> str:
    """A paragraph on the data, a table of what was measured, signal, theory, the recommendation."""
    parts = [
        about_data(advice), "\n".join(table(advice)), about_signal(advice),
        *(about_forecast(advice, name) for name in advice.forecasts), conclusion(advice)]
    return "\n\n".join(part for part in parts if part)


def about_data(advice: Advice) -> str:
    data = advice.data
    lengths = (
        f"{data.median} tokens each" if data.shortest == data.longest
        else f"{data.shortest} to {data.longest} tokens each (median {data.median})")
    return (
        f"{data.bags} bags, {data.positives} of them positive (label {data.positive}), {lengths},"
        f" {data.dim} features a token. Tokens that make a bag {data.positive} are looked for; if"
        f" {data.negative} is what they make it, say so: positive={data.negative}.")


def table(advice: Advice) -> Iterator[str]:
    """AUC with its interval, and the paired differences to both ways of pooling."""
    compared = advice.comparison
    folds = len(compared.auc["mean"])
    head = "to the mean", "to the four"
    yield f"{f'AUC over {folds} folds':<32}{'':>18}{head[0]:>20}{head[1]:>20}"
    for name in advice.names:
        cells = [
            "" if name == pool else pm(compared.difference(name, pool), "+.3f")
            for pool in ("mean", "all")]
        label = CANDIDATES[name].label
        yield f"  {label:<30}{pm(compared.score(name)):>18}{cells[0]:>20}{cells[1]:>20}".rstrip()


def pm(interval: Interval, form: str = ".3f") -> str:
    return f"{interval.value:{form}} ± {(interval.high - interval.low) / 2:.3f}"


def between(interval: Interval, scale: float = 1.0, form: str = ".2g") -> str:
    value, low, high = (f"{scale * number:{form}}" for number in interval)
    return f"{value} ({low} to {high})"


def about_signal(advice: Advice) -> str:
    found = advice.signal
    if found is None:
        return ""
    if not found.told:
        return (
            "Signal: none can be told; an informative token lies at most"
            f" {found.signal.high:.2g} deviations off the noise.")
    return (
        f"Signal: informative tokens lie {between(found.signal)} deviations off the noise of"
        f" negative bags, and are {between(found.share, 100)} % of the tokens of a positive bag.")


def about_forecast(advice: Advice, name: str) -> str:
    """Predicted errors beside the measured ones, and where the order changes."""
    forecast = advice.forecasts[name]
    if "absent" in forecast:
        return f"Theory ({name}): {forecast['absent']}"
    lines = [f"Theory ({name}), if {forecast['says']}: error at n = {advice.data.bags}"]
    for model, errors in forecast["errors"].items():
        predicted = errors[forecast["here"]]
        measured = advice.comparison.error.get(model)
        beside = "" if measured is None else f", measured {pm(advice.comparison.mistakes(model))}"
        lines.append(f"  {CANDIDATES[model].label:<30}predicted {predicted:.3f}{beside}")
    lines.append(f"  {'any classifier':<30}at least {forecast['smallest']:.3f}")
    lines += [f"  {order(change, forecast['n'][0])}" for change in forecast["changes"]]
    return "\n".join([*lines, f"  {fit_of(advice, name)}"])


def order(change: Mapping[str, Any], fewest: float) -> str:
    """Where the order of two classifiers changes, as a sentence."""
    better, worse = (CANDIDATES[change[side]].label for side in ("better", "worse"))
    if change["n"] is None:
        return f"Up to {rounded(change['most'])} bags {better} does not overtake {worse}."
    if change["n"] <= fewest:
        return f"From {rounded(fewest)} bags on, the fewest looked at, {better} is before {worse}."
    return f"From about {rounded(change['n'])} bags on {better} overtakes {worse}."


def fit_of(advice: Advice, name: str) -> str:
    """Whether the prediction for the mean, the simplest, lies in the interval measured, and nothing
    did better than anything could."""
    forecast = advice.forecasts[name]
    compared = advice.comparison
    best = min(compared.error, key=lambda one: compared.mistakes(one).high)
    if compared.mistakes(best).high < forecast["smallest"]:
        return (
            f"The error of {CANDIDATES[best].label} is below what any classifier could reach: these"
            " data are not of this kind, do not rely on it.")
    predicted, measured = forecast["errors"]["mean"][forecast["here"]], compared.mistakes("mean")
    if measured.low <= predicted <= measured.high:
        return "The prediction for mean pooling agrees with what was measured."
    return (
        "The prediction for mean pooling does not agree with what was measured: these data are not"
        " of this kind, do not rely on it.")


def conclusion(advice: Advice) -> str:
    told = advice.recommendation
    return f"{told.sentence}\n  because {told.reason}."
