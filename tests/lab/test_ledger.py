"""The ledger: verdicts, sabotages, looks, waiting claims, crashes, and rows that do not depend on
company."""

import json

import numpy as np
import pytest
from toy import claim, exact, measures, toy

from saccade.errors import InvalidInput
from saccade.lab.claim import Citation, Repair, Sabotage, Scale
from saccade.lab.intervals import mean_interval
from saccade.lab.kinds import ABOVE, BELOW, ESTIMATE, IDENTITY, ORDERING
from saccade.lab.ledger import Conditions, _looks, evaluate, judge_all, reasons, verdict_is_expected
from saccade.lab.run import run
from saccade.lab.verdict import look_error

TRUTH = claim().predict


@pytest.fixture
def conditions(tmp_path):
    return Conditions(sabotage=True, folder=str(tmp_path))


def test_a_true_claim_holds_and_its_sabotage_is_refuted(conditions):
    row = evaluate(claim(), conditions)
    assert row["verdict"] == "holds"
    assert [item["verdict"] for item in row["sabotages"]] == ["refuted"]
    assert row["interval"][0] < row["measurement"] < row["interval"][1]
    assert verdict_is_expected(row)
    json.dumps(row, allow_nan=False)


def test_a_row_says_how_far_its_prediction_could_move(conditions):
    row = evaluate(claim(), conditions)
    (low, high), resolution = row["interval"], row["resolution"]
    assert row["slack"]["low"] == pytest.approx((high - resolution) / row["prediction"])
    assert row["slack"]["high"] == pytest.approx((low + resolution) / row["prediction"])
    assert row["slack"]["loose"] is False
    far = evaluate(claim(kind=BELOW, predict=lambda run: 1e3), conditions)
    assert far["verdict"] == "holds" and far["slack"]["loose"] is True
    assert evaluate(claim(predict=lambda run: -4.0), conditions)["slack"] is None


def test_a_false_prediction_is_refuted_and_unexpected(conditions):
    row = evaluate(claim(predict=lambda run: -4.0), conditions)
    assert row["verdict"] == "refuted"
    assert not verdict_is_expected(row)
    true = Repair("true", "Predict the truth.", predict=lambda run: run.parameters.mean)
    mended = claim(predict=lambda run: -4.0, expected="refuted", sabotages=(), repairs=(true,))
    assert verdict_is_expected(evaluate(mended, conditions))


def test_a_sabotage_that_breaks_nothing_fails_the_claim(conditions):
    row = evaluate(claim(sabotages=(Sabotage("idle", "As it is.", predict=TRUTH),)), conditions)
    assert row["verdict"] == "holds"
    assert not verdict_is_expected(row)
    assert "idle: holds, must be refuted" in reasons(row)
    with pytest.raises(InvalidInput, match="changes nothing"):
        Sabotage("empty", "Change nothing.")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"measure": lambda run: 0 * claim().measure(run)}, "measures nothing but zeros"),
        ({"measure": lambda run: -claim().measure(run)}, "multiplies what is measured by -1"),
        ({"measure": lambda run: 3 * claim().measure(run)}, "multiplies what is measured by 3"),
        ({"predict": lambda run: -TRUTH(run)}, "multiplies what is predicted by -1"),
        ({"predict": lambda run: 3 * np.full(3, TRUTH(run))}, "multiplies what is predicted by 3"),
        ({"measure": lambda run: np.full(3, 9.0)}, "measures a number that is written down")])
def test_a_control_that_would_break_anything_proves_nothing(changes, why, conditions):
    parts = {"measure": lambda run: np.tile(claim().measure(run), (3, 1)).T, "parts": tuple("abc")}
    own = parts if why.endswith("predicted by 3") else {}
    row = evaluate(claim(sabotages=(Sabotage("cheap", "Cheap.", **changes),), **own), conditions)
    assert not verdict_is_expected(row)
    assert any(why in reason for reason in reasons(row))


def _theory(gamma=1.0):
    return gamma


@pytest.mark.parametrize(
    ("own", "other", "passes"),
    [
        (lambda run: 1.0, lambda run: 5.0, False),
        (lambda run: np.ones(1), lambda run: _theory(5.0), False),
        (lambda run: 1.0, lambda run: 5 * run.parameters.mean, True),
        (lambda run: _theory(), lambda run: _theory(5.0), True),
        (lambda run: [_theory() for _ in range(1)], lambda run: 5.0, True),
        (lambda run: run.parameters.mean, lambda run: 5.0, True)])
def test_another_number_for_one_that_is_written_down_proves_nothing(own, other, passes, conditions):
    shift = Sabotage("otherwise", "Expect five.", predict=other)
    row = evaluate(claim(predict=own, sabotages=(shift,)), conditions)
    assert row["verdict"] == "holds" and row["sabotages"][0]["verdict"] == "refuted"
    assert verdict_is_expected(row) is passes
    both = Sabotage("both", "Draw around 9, expect five.", {"mean": 9.0}, predict=other)
    row = evaluate(claim(predict=lambda run: 1.0, sabotages=(both,)), conditions)
    assert row["sabotages"][0]["trivial"] is None


@pytest.mark.parametrize(
    "changes",
    [
        {"measure": lambda run: np.nan * claim().measure(run)}, {"parameters": {"mean": np.nan}},
        {"parameters": {"mean": np.inf}}, {"predict": lambda run: np.nan * run.parameters.mean},
        {"predict": lambda run: np.inf * run.parameters.mean}])
def test_a_control_without_finite_numbers_proves_nothing(changes, conditions):
    row = evaluate(claim(sabotages=(Sabotage("void", "Void.", **changes),)), conditions)
    [void] = row["sabotages"]
    assert void["verdict"] == "refuted" and void["broke"] == []
    assert "void proves nothing: it has no finite number to compare" in reasons(row)
    assert "no sabotage breaks: 0" in reasons(row) and not verdict_is_expected(row)


def test_a_part_without_finite_numbers_is_not_broken(conditions):
    """Left is moved, right is lost: only left is broken, on whichever side right is lost."""

    def both(run, right=1.0):
        return np.stack([claim().measure(run), right * claim().measure(run)], 1)

    two = {"measure": both, "parts": ("left", "right")}
    for lost in (
        {"measure": lambda run: both(run, np.nan) + 9},
        {"predict": lambda run: [run.parameters.mean + 9, np.nan]},
    ):
        row = evaluate(claim(sabotages=(Sabotage("half", "Half.", **lost),), **two), conditions)
        [half] = row["sabotages"]
        assert half["trivial"] is None and half["broke"] == ["left"]
        assert row["unbroken"] == ["right"] and not verdict_is_expected(row)
    right = {"predict": lambda run: [TRUTH(run), np.nan]}
    row = evaluate(claim(sabotages=(Sabotage("nan", "Lost.", **right),), **two), conditions)
    assert row["sabotages"][0]["trivial"], "refuted by the part without numbers alone"


def test_every_part_must_be_broken_by_some_sabotage(conditions):
    def both(run):
        return np.stack([claim().measure(run), claim().measure(run)], 1)

    first, second = (
        Sabotage(name, "Wrong.", measure=lambda run, shift=shift: both(run) + shift)
        for name, shift in (("first", [9, 0]), ("second", [0, 9])))
    two = {"measure": both, "parts": ("left", "right")}
    row = evaluate(claim(sabotages=(first,), **two), conditions)
    assert row["sabotages"][0]["broke"] == ["left"] and row["unbroken"] == ["right"]
    assert not verdict_is_expected(row)
    row = evaluate(claim(sabotages=(first, second), **two), conditions)
    assert row["unbroken"] == [] and verdict_is_expected(row)


def test_a_wider_bound_that_is_written_down_mends_nothing(conditions):
    def mended(**changes):
        repair = Repair("wide", "Allow nine.", **changes)
        false = {"predict": lambda run: -4.0, "kind": BELOW, "sabotages": (), "repairs": (repair,)}
        return evaluate(claim(expected="refuted", **false), conditions)

    row = mended(predict=lambda run: 9.0)
    assert row["repairs_hold"] and not verdict_is_expected(row)
    assert any("writes another number" in reason for reason in reasons(row))
    assert verdict_is_expected(mended(predict=lambda run: 9 * run.parameters.mean))
    assert verdict_is_expected(mended(parameters={"mean": -9.0}))


def test_a_mirror_is_not_judged(conditions):
    with pytest.raises(InvalidInput, match="measures and predicts by one function"):
        claim(measure=TRUTH, predict=TRUTH)
    row = evaluate(claim(measure=lambda run: 1.0), conditions)
    assert row["verdict"] == "undecided" and "mirror" in row["error"]
    assert not verdict_is_expected(row)


def test_a_claim_expected_to_be_refuted_has_a_repair_that_must_hold(conditions):
    cited = {"citation": Citation("Theorem 1", "it is -4", "scaled"), "expected": "refuted"}
    cited["sabotages"] = ()
    with pytest.raises(InvalidInput, match="has no repair"):
        claim(predict=lambda run: -4.0, **cited)
    with pytest.raises(InvalidInput, match="has no sabotage"):
        claim(sabotages=())
    with pytest.raises(InvalidInput, match="say where its sentence stands"):
        claim(citation=None)
    true = Repair("true", "Predict the truth.", predict=lambda run: run.parameters.mean)
    idle = Repair("idle", "As wrong as before.", predict=lambda run: -4.0)
    for repair, passes in ((true, True), (idle, False)):
        row = evaluate(claim(predict=lambda run: -4.0, repairs=(repair,), **cited), conditions)
        assert row["verdict"] == "refuted" and row["repairs_hold"] is passes
        assert verdict_is_expected(row) is passes
    assert row["citation"]["reading"] == "scaled"


@pytest.mark.parametrize(
    ("kind", "statistic", "measure", "passes"),
    [
        (BELOW, "exact", measures([[0.0, 1e-15]]), False),
        (BELOW, "exact", measures([[0.0, 1e-3]]), True),
        (BELOW, "fraction", measures(np.zeros((4000, 2))), True),
        (IDENTITY, "exact", measures([[0.0, 0.0]]), True)])
def test_a_repair_that_measures_nothing_mends_nothing(kind, statistic, measure, passes, conditions):
    repair = Repair("blind", "Look at nothing.", measure=measure)
    row = evaluate(
        claim(
            kind=kind, statistic=statistic, measure=measures(np.ones((4000, 2))), resolution=0.1,
            predict=lambda run: 0.0, expected="refuted", sabotages=(), repairs=(repair,)),
        conditions)
    assert row["verdict"] == "refuted" and row["repairs"][0]["verdict"] == "holds"
    assert verdict_is_expected(row) is passes
    assert ("blind proves nothing: it measures nothing but zeros" in reasons(row)) is not passes


def test_a_claim_expected_to_be_refuted_has_no_sabotage():
    """To be refuted once more proves nothing."""
    true = Repair("true", "Predict the truth.", predict=lambda run: run.parameters.mean)
    with pytest.raises(InvalidInput, match="expected to be refuted and has a sabotage"):
        claim(expected="refuted", repairs=(true,))


def test_a_reading_is_one_of_four():
    with pytest.raises(InvalidInput, match="reading"):
        Citation("Theorem 1", "words", "loose")


def test_looks_double_until_decided_or_the_budget_ends(conditions):
    assert list(_looks(1)) == [1]
    assert list(_looks(8)) == [1, 2, 4, 8]
    assert list(_looks(6)) == [1, 2, 4, 6]
    row = evaluate(claim(resolution=1e-6), conditions)
    assert (row["verdict"], row["looks"], row["replicates"]) == ("undecided", 4, 320)
    values = row["measurement"], *row["interval"]
    samples = [run_values(conditions, number) for number in range(8)]
    wanted = mean_interval(np.concatenate(samples), look_error(3))
    assert values == pytest.approx(wanted), "all repetitions, at the last look's share of the error"


def run_values(conditions, repetition):
    found = run(toy, seed=conditions.seed, repetition=repetition, store=conditions.store)
    return found.data.value.values


def test_undecided_is_as_expected_of_nothing(conditions):
    """Neither a claim, nor a sabotage, nor a repair may be left undecided."""
    row = evaluate(claim(resolution=1e-6), conditions)
    assert row["as_expected"] is False and not verdict_is_expected(row)
    assert "undecided, expected: holds" in reasons(row)
    refuted = {
        "citation": Citation("Theorem 1", "it is -4", "scaled"), "expected": "refuted",
        "sabotages": ()}
    true = Repair("true", "Predict the truth.", predict=lambda run: run.parameters.mean)
    row = evaluate(claim(resolution=1e-6, repairs=(true,), **refuted), conditions)
    assert row["as_expected"] is False and not verdict_is_expected(row)

    def edge(run):
        return 1.0 + np.mean([run_values(conditions, number).mean() for number in range(8)])

    assert evaluate(claim(predict=edge), conditions)["verdict"] == "undecided"
    row = evaluate(claim(sabotages=(Sabotage("edge", "At the edge.", predict=edge),)), conditions)
    assert row["verdict"] == "holds" and row["sabotages_refuted"] is False
    assert "edge: undecided, must be refuted" in reasons(row) and not verdict_is_expected(row)
    at_edge = Repair("edge", "At the edge.", predict=edge)
    row = evaluate(claim(predict=lambda run: -4.0, repairs=(at_edge,), **refuted), conditions)
    assert row["verdict"] == "refuted" and row["repairs_hold"] is False
    assert "edge: undecided, must be holds" in reasons(row) and not verdict_is_expected(row)


@pytest.mark.parametrize(
    ("kind", "measured", "nearest"),
    [
        (IDENTITY, [1.1, 2.6, 2.8], "b"), (ESTIMATE, [1.1, 1.3, 2.8], "b"),
        (BELOW, [0.1, 1.5, 3.4], "c"), (ABOVE, [1.2, 2.1, 4.0], "b"),
        (ORDERING, [1.9, 2.6, 3.1], "c")])
def test_of_parts_that_hold_the_row_shows_the_one_nearest_to_failing(
    kind, measured, nearest, conditions
):
    row = evaluate(
        claim(
            kind=kind, statistic="exact", measure=measures([measured]),
            predict=lambda run: [1.0, 2.0, 3.0], resolution=1.0, parts=("a", "b", "c")),
        conditions)
    assert (row["verdict"], row["part"]) == ("holds", nearest)


def test_repetitions_are_independent_and_seeds_matter(conditions):
    rows = [
        evaluate(claim(scales={"quick": Scale(repetitions=1)}), conditions._replace(seed=seed))
        for seed in (0, 0, 1)]
    assert rows[0]["measurement"] == rows[1]["measurement"] != rows[2]["measurement"]
    two = evaluate(claim(resolution=1e-6, scales={"quick": Scale(repetitions=2)}), conditions)
    assert two["measurement"] != rows[0]["measurement"]


def test_a_claim_of_a_larger_scale_waits_and_is_not_counted_as_passed(conditions):
    row = evaluate(claim(scales={"standard": Scale(seconds=120)}), conditions)
    assert row["verdict"] == "waiting"
    assert row["needs"] == {"scale": "standard", "minutes": 2.0}
    assert row["measurement"] is None
    assert (
        evaluate(
            claim(scales={"standard": Scale(repetitions=8)}), conditions._replace(scale="paper")
        )["verdict"]
        == "holds")


def test_a_claim_without_its_extra_waits(conditions):
    row = evaluate(claim(requires="nlp:a_package_nobody_has"), conditions)
    assert row["verdict"] == "waiting"
    assert row["needs"] == {"extra": "nlp", "missing": ["a_package_nobody_has"]}


def test_a_crash_is_a_row_with_its_reason(conditions):
    def crash(run):
        raise RuntimeError("no such luck")

    row = evaluate(claim(measure=crash), conditions)
    assert row["verdict"] == "undecided"
    assert row["error"] == "RuntimeError: no such luck"
    assert not verdict_is_expected(row)


def test_input_refused_while_judging_is_a_row_and_the_others_are_judged(conditions):
    def refuse(run):
        raise InvalidInput("dim = 0 must be above 0.")

    broken = claim(sabotages=(Sabotage("bad", "Ask for a count of none.", {"count": "none"}),))
    rows = judge_all([claim(), claim(predict=refuse), broken, claim()], conditions)
    assert [row["verdict"] for row in rows] == ["holds", "undecided", "holds", "holds"]
    assert rows[1]["error"] == "InvalidInput: dim = 0 must be above 0."
    assert rows[2]["sabotages"][0]["error"].startswith("InvalidInput: count = 'none' is refused")
    assert [verdict_is_expected(row) for row in rows] == [True, False, False, True]


def test_a_data_set_that_nobody_knows_is_a_row(conditions):
    rows = judge_all([claim(requires="data:unheard-of"), claim()], conditions)
    assert [row["verdict"] for row in rows] == ["undecided", "holds"]
    assert "unheard-of" in rows[0]["error"] and not verdict_is_expected(rows[0])


def test_every_repetition_is_judged_by_its_own_prediction(conditions):
    """Each draws around a centre of its own, far from the first one's: only what lies between a
    measurement and its own prediction counts."""

    def shifted(run):
        return run.data.value.values + _centre(run)

    row = evaluate(
        claim(measure=shifted, predict=lambda run: 1.0 + _centre(run), resolution=0.5), conditions)
    assert row["verdict"] == "holds" and row["looks"] > 1
    first_only = evaluate(claim(measure=shifted, resolution=0.5), conditions)
    assert first_only["verdict"] != "holds"


def test_a_fraction_has_one_prediction(conditions):
    row = evaluate(
        claim(
            statistic="fraction", measure=lambda run: (run.data.value.values > 1) * 1.0,
            predict=lambda run: 0.5 + 1e-9 * _centre(run), resolution=0.01),
        conditions)
    assert row["verdict"] != "holds" and "one prediction for all" in row["error"]


def _centre(run) -> float:
    return 1e3 * float(run.data.value[0])


def test_the_row_shows_the_worst_part(conditions):
    row = evaluate(
        claim(
            kind=IDENTITY, statistic="exact", measure=measures([[1.0, 2.0, 3.0]]),
            predict=lambda run: [1.0, 2.5, 3.1], resolution=[1.0, 0.1, 1.0], parts=("a", "b", "c")),
        conditions)
    assert (row["part"], row["prediction"], row["measurement"], row["verdict"]) == (
        "b", 2.5, 2.0, "refuted")
    assert [part["verdict"] for part in row["parts"]] == ["holds", "refuted", "holds"]


def test_a_nan_measurement_is_refuted_and_written_as_null(conditions):
    row = evaluate(exact(measure=measures([[float("nan")]])), conditions)
    assert row["verdict"] == "refuted"
    assert row["measurement"] is None


def test_without_the_flag_sabotages_are_named_but_not_run(conditions):
    row = evaluate(claim(), conditions._replace(sabotage=False))
    assert [(item["name"], item["verdict"]) for item in row["sabotages"]] == [("shift", None)]
