"""Advice: intervals against a peer, the decision in all its branches, theory asked or refused."""

import json

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp
from sklearn.model_selection import RepeatedStratifiedKFold

import saccade
from saccade.errors import InvalidInput
from saccade.estimators.advise import advise, read_bags
from saccade.estimators.advise.advice import Advice, Data, recommend, verdict
from saccade.estimators.advise.comparing import CANDIDATES, Comparison, compare, corrected_interval
from saccade.estimators.advise.page import draw_gains, draw_scores
from saccade.estimators.advise.words import fit_of, order
from saccade.estimators.bags import Bags
from saccade.estimators.pooled import PooledClassifier

RANDOM = np.random.default_rng(0)


def sparse(n=60, length=6, dim=4, signal=4.0, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, length, dim))
    y = np.arange(n) % 2
    X[y == 1, random.integers(0, length), 0] += signal
    return X, y


def comparison(ratio=0.25, spread=0.01, **means):
    """Ten folds of every candidate around these AUCs, with independent noise."""
    names = [name for name in CANDIDATES if name != "flat"]
    random = np.random.default_rng(1)
    auc = {name: means.get(name, 0.7) + spread * random.standard_normal(10) for name in names}
    return Comparison(
        auc, {name: 1 - auc[name] for name in names}, dict.fromkeys(names, 1.0), ratio)


def test_without_overlap_the_interval_is_students():
    values = RANDOM.normal(0.1, 0.3, 12)
    told, peer = corrected_interval(values, 0.0), ttest_1samp(values, 0).confidence_interval(0.95)
    assert (told.low, told.high) == pytest.approx((peer.low, peer.high))


def test_overlap_widens_it_as_nadeau_and_bengio_say():
    values = RANDOM.normal(0.1, 0.3, 10)
    plain, wide = corrected_interval(values, 0.0), corrected_interval(values, 0.25)
    widths = [one.high - one.low for one in (plain, wide)]
    assert widths[1] / widths[0] == pytest.approx(np.sqrt(1 + 10 * 0.25))
    assert corrected_interval(values[:1], 0.25).high == np.inf


@pytest.mark.slow
def test_the_corrected_interval_covers_where_the_plain_one_does_not():
    """Mean of correlated fold results, whose variance is what the correction assumes:
    rho = n_test/(n_train + n_test)."""
    random = np.random.default_rng(3)
    rho, folds, covered = 0.2, 10, np.zeros(2)
    for _ in range(2000):
        values = np.sqrt(rho) * random.normal() + np.sqrt(1 - rho) * random.normal(size=folds)
        for place, ratio in enumerate((0.0, rho / (1 - rho))):
            told = corrected_interval(values, ratio)
            covered[place] += told.low <= 0 <= told.high
    assert covered[0] / 2000 < 0.85 and 0.93 < covered[1] / 2000 < 0.97


@pytest.mark.parametrize(
    ("means", "choice", "told", "says"),
    [
        ({"lme": 0.9}, "lme", True, "Use attention (log-mean-exp): it is worth it here."),
        ({"attention": 0.95, "lme": 0.9}, "attention", True, "Use attention (attention, four"),
        ({"mean": 0.9}, "mean", True, "Use pooling (mean pooling): attention loses here."),
        ({"all": 0.701, "lme": 0.7}, None, False, "no difference can be told with 92 bags"),
        (dict.fromkeys(CANDIDATES, 0.5), None, False, "no classifier is better than chance")])
def test_the_recommendation(means, choice, told, says):
    advice = recommend(92, comparison(**means))
    assert says in advice.sentence and advice.told is told
    assert choice is None or advice.choice == choice
    assert advice.choice in ("mean", "all") or told


def test_a_forest_that_is_better_still_is_named():
    assert "better still: forest" in recommend(92, comparison(forest=0.95)).reason


def test_a_noisy_comparison_asks_for_more_bags():
    reason = recommend(92, comparison(attention=0.75, spread=0.05)).reason
    needed = float(reason.split("about ")[1].split(" bags")[0].replace(",", ""))
    assert needed > 92


def test_verdicts():
    from saccade.estimators.looking import Interval

    assert verdict(Interval(0.1, 0.01, 0.2)) == "better"
    assert verdict(Interval(-0.1, -0.2, -0.01)) == "worse"
    assert verdict(Interval(0.1, -0.01, 0.2)) == "not told"


def test_all_see_the_same_folds_and_a_copy_of_a_candidate_ties():
    X, y = sparse()
    twice = {name: CANDIDATES["mean"] for name in ("mean", "again")}
    told = compare(Bags.from_array(X), y == 1, list(twice), folds=3, repeats=2, known=twice)
    assert len(told.auc["mean"]) == 6 and told.ratio == pytest.approx(1 / 2)
    assert np.array_equal(told.auc["mean"], told.auc["again"])
    assert told.difference("mean", "again").value == 0


def test_the_error_is_the_mean_of_those_of_the_two_classes():
    """Called positive above 0, whatever the share of positives."""
    X, y = sparse(60)
    X, y = X[y * np.arange(60) % 3 != 1], y[y * np.arange(60) % 3 != 1]
    told = compare(Bags.from_array(X), y == 1, ["mean"], folds=2, repeats=1)
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=0).split(y, y)
    for (train, test), error in zip(folds, told.error["mean"], strict=True):
        called = PooledClassifier().fit(X[train], y[train]).decision_function(X[test]) > 0
        wrong = [np.mean(called[y[test] == label] != label) for label in (0, 1)]
        assert error == pytest.approx(np.mean(wrong)) and error > 0.05


def test_advice_of_bags_with_one_deciding_token():
    X, y = sparse(80)
    said: list[tuple[float, str]] = []
    facts: list[dict] = []

    def theory(given):
        facts.append(dict(given))
        change = {"better": "attention", "worse": "mean", "n": 40.0, "most": 800.0}
        return {
            "n": [40.0, 80.0], "here": 1, "errors": {"mean": [0.3, 0.2]}, "smallest": 0.1,
            "changes": [change], "says": "so", "source": "there", "status": "asymptotic"}

    def silent(given):
        raise InvalidInput("n is too small.")

    advice = advise(
        X, y, folds=3, repeats=1, theories={"one": theory, "two": silent},
        progress=lambda amount, text: said.append((amount, text)))
    assert sum(amount for amount, _ in said) == pytest.approx(1)
    assert facts[0]["n"] == 80 and facts[0]["length"] == 6 and facts[0]["informative"] == 1
    assert 3 < facts[0]["signal"] < 5
    told = json.loads(json.dumps(advice.to_dict()))
    assert set(told["scores"]) == set(CANDIDATES)
    assert told["forecasts"]["two"] == {"absent": "n is too small."}
    text = str(advice)
    assert "80 bags, 40 of them positive" in text and "Theory (two): n is too small." in text
    assert advice.recommendation.sentence in text


@pytest.mark.parametrize(
    ("smallest", "predicted", "says"),
    [
        (0.3, 0.30, "The error of log-mean-exp is below what any classifier could reach"),
        (0.05, 0.30, "for mean pooling agrees"), (0.05, 0.45, "for mean pooling does not agree")])
def test_a_theory_that_the_data_contradict_is_not_to_be_relied_on(smallest, predicted, says):
    """Errors measured: .30 for the mean, .10 for log-mean-exp, each within about .02."""
    told = comparison(mean=0.7, lme=0.9)
    forecast = {
        "n": [92.0], "here": 0, "errors": {"mean": [predicted]}, "smallest": smallest,
        "changes": [], "says": "so"}
    data = Data(92, 400, 3, 2, 4, 9, 46, "1", "0")
    advice = Advice(data, told, None, {"one": forecast}, recommend(92, told))
    assert says in fit_of(advice, "one") and fit_of(advice, "one") in str(advice)


def test_drawings_stay_where_an_auc_can_be_and_show_a_pair_once():
    """Two folds that differ give intervals far beyond 1."""
    wild = comparison(mean=0.9, all=0.9, attention=0.9, spread=0.2)
    assert wild.score("mean").high > 1
    data = Data(92, 400, 3, 2, 4, 9, 46, "1")
    advice = Advice(data, wild, None, {}, recommend(92, wild))
    scores, gains = draw_scores(advice).axes[0], draw_gains(advice).axes[0]
    ends = [max(line.get_xdata()) for line in scores.lines]
    assert max(ends) <= 1 and scores.get_xlim()[1] < 1.02
    pairs = [label.get_text().split(" - ") for label in gains.get_yticklabels()]
    assert len({frozenset(pair) for pair in pairs}) == len(pairs) == 7


def test_bags_of_several_lengths_are_not_flattened():
    X, y = sparse(24, length=5)
    ragged = [bag[: 3 + number % 3] for number, bag in enumerate(X)]

    def theory(given):
        change = {"worse": "flat", "n": 40.0, "most": 800.0}
        return {
            "n": [40.0], "here": 0, "errors": {"mean": [0.3], "flat": [0.4]}, "smallest": 0.1,
            "changes": [change | {"better": "mean"}, change | {"better": "lme", "worse": "mean"}],
            "says": "so"}

    advice = advise(ragged, y, folds=2, repeats=1, theories={"one": theory})
    assert "flat" not in advice.names and advice.data.shortest == 3
    told = advice.forecasts["one"]
    assert set(told["errors"]) == {"mean"} and [one["better"] for one in told["changes"]] == ["lme"]
    assert "flattened" not in str(advice)


def test_a_mask_gives_what_a_list_gives():
    X, y = sparse(24, length=5)
    mask = np.ones((24, 5), bool)
    mask[::3, 3:] = False
    listed, *_ = read_bags([bag[keep] for bag, keep in zip(X, mask, strict=True)], y)
    masked, positive, labels = read_bags(np.where(mask[..., None], X, np.nan), y, mask)
    assert np.array_equal(listed.tokens, masked.tokens) and positive.sum() == 12
    assert labels == ("1", "0")


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (np.zeros((9, 3, 2)), np.arange(9) % 3, "y has 3 classes and advice is for two"),
        (np.zeros((8, 3, 2)), [0, 0, 0, 0, 0, 0, 0, 1], "y has 1 bags of one class"),
        (np.full((8, 3, 2), np.nan), [0, 1] * 4, "NaN"),
        (np.zeros((8, 3, 2)), [0, 1], "inconsistent"),
        (np.zeros((8, 3, 2)), [1] * 8, "only one class")])
def test_refusals(X, y, says):
    with pytest.raises(InvalidInput, match=says):
        saccade.advise(X, y)


@pytest.mark.parametrize(
    ("labels", "given"), [(["ill", "well"], "ill"), ([0.0, 1.0], 0), ([0, 1], "0")])
def test_the_label_of_what_is_looked_for_can_be_told(labels, given):
    """A token shifted in bags of the first label: its signal is found from that side only."""
    X, y = sparse(80)
    named = np.array(labels)[1 - y]
    told, turned = (advise(X, named, folds=2, repeats=1, positive=one) for one in (given, None))
    assert told.data.positive == str(np.array(labels)[0]) == turned.data.negative
    assert told.signal.signal.value == pytest.approx(4, abs=1) and told.signal.share.value < 0.4
    assert told.comparison.score("lme").value > turned.comparison.score("lme").value + 0.1
    assert f"positive={labels[1]}" in str(told)


def test_a_label_that_is_not_there_is_refused():
    X, y = sparse(20)
    with pytest.raises(InvalidInput, match="positive = 2 must be one of 0, 1"):
        advise(X, y, positive=2)


def test_folds_must_make_sense():
    X, y = sparse(20)
    with pytest.raises(InvalidInput, match="folds = 1 must be at least 2"):
        advise(X, y, folds=1)


def test_where_the_order_changes_is_said():
    change = {"better": "attention", "worse": "mean", "n": 186.0, "most": 2944.0}
    assert (
        order(change, 92) == "From about 190 bags on attention, four heads overtakes mean pooling.")
    assert "the fewest looked at" in order(change | {"n": 92.0}, 92)
    assert order(change | {"n": None}, 92).startswith("Up to 2,900 bags")


@pytest.mark.parametrize(("factor", "told"), [(1.1, True), (0.9, False)])
def test_the_decision_shares_its_error_over_four_pairs(factor, told):
    """Two that look against two that pool: the best pair is told at 1 - .05/4, not at 95 %."""
    noise = np.random.default_rng(0).standard_normal(10)
    noise = 0.01 * (noise - noise.mean()) / noise.std(ddof=1)
    half = t.ppf(1 - 0.05 / 4 / 2, 9) * 0.01 * np.sqrt(1 / 10 + 0.25)
    assert 0.9 * half > t.ppf(0.975, 9) * 0.01 * np.sqrt(1 / 10 + 0.25)  # a plain one would tell
    flat = np.full(10, 0.8)
    auc = {
        "mean": flat, "all": flat - 0.1, "lme": flat + factor * half + noise,
        "attention": flat - 0.1}
    advice = recommend(92, Comparison(auc, auc, dict.fromkeys(auc, 1.0), 0.25))
    assert advice.told is told and advice.choice == ("lme" if told else "mean")
