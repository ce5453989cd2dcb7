"""Two ledgers side by side: each sort of difference is seen, and nothing else is."""

import copy
import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import saccade
from saccade.errors import InvalidInput
from saccade.lab.compare import Change, Place, compare, finite, read_ledger


def part(measurement, interval, prediction=1.0, resolution=0.1, name="0"):
    return {
        "part": name, "verdict": "holds", "prediction": prediction, "measurement": measurement,
        "interval": interval, "resolution": resolution}


def row(name="a", verdict="holds", parts=None, sabotages=(("shift", "refuted"),), **changes):
    parts = parts or [part(1.02, [0.98, 1.06])]
    broken = [{"name": title, "verdict": word} for title, word in sabotages]
    return {
        "id": f"study.{name}", "scale": "quick", **parts[0], "verdict": verdict, "parts": parts,
        "sabotages": broken, **changes}


def exact(value, resolution=1e-6, prediction=0.0):
    return row(parts=[part(value, [value, value], prediction, resolution)])


def test_a_ledger_does_not_differ_from_itself():
    ledger = [row(), row("b", "refuted"), row("c", "waiting")]
    found = compare(ledger, copy.deepcopy(ledger))
    assert found.counts() == {
        "appeared": 0, "vanished": 0, "changed": 0, "moved": 0, "rescaled": 0, "unchanged": 3}
    assert not found.verdict_changed


def test_claims_and_sabotages_appear_and_vanish():
    found = compare(
        [row("a"), row("b", sabotages=[("old", "refuted")])],
        [row("b", sabotages=[("new", "refuted")]), row("c")])
    assert found.appeared == [Place("study.c"), Place("study.b", "new")]
    assert found.vanished == [Place("study.a"), Place("study.b", "old")]
    assert not found.verdict_changed and found.unchanged == 0


def test_changed_verdicts_of_claims_and_of_sabotages_are_seen():
    found = compare(
        [row("a"), row("b"), row("c", "waiting")],
        [row("a", "undecided"), row("b", sabotages=[("shift", "holds")]), row("c")])
    assert found.verdict_changed
    assert found.changed == [
        Change("study.a", None, "holds", "undecided"),
        Change("study.b", "shift", "refuted", "holds"), Change("study.c", None, "waiting", "holds")]


def test_a_sabotage_that_was_not_run_has_no_verdict_to_change():
    assert compare([row()], [row(sabotages=[("shift", None)])]).unchanged == 1


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        (part(1.0, [0.9, 1.1]), part(1.05, [0.95, 1.15]), False),
        (part(1.0, [0.9, 1.1]), part(1.2, [0.95, 1.45]), True),  # outside the old interval
        (part(1.0, [0.5, 1.5]), part(1.2, [1.1, 1.3]), True),  # the old one is outside the new
        (part(1.0, [None, 1.1]), part(-9.0, [None, 1.0]), False),  # nothing bounds it below
        (part(1.0, [None, None]), part(5.0, [None, None]), False)])
def test_a_measurement_moves_when_it_leaves_the_other_interval(old, new, moved):
    found = compare([row(parts=[old])], [row(parts=[new])])
    assert [(move.quantity, move.old, move.new) for move in found.moved] == (
        [("measurement", old["measurement"], new["measurement"])] if moved else [])
    assert not found.verdict_changed


@pytest.mark.parametrize(
    ("old", "new", "resolution", "moved"),
    [
        (2.0, 2.0 * (1 + 1e-12), 0.1, False), (2.0, 2.0001, 0.1, True),
        (3e-16, 8e-15, 1e-10, False),  # residuals, far below what counts
        (1e-14, 3e-14, 1e-16, True),  # a resolution finer than that counts
        (2e-11, 2.1e-11, 0.0, True)])
def test_exact_numbers_may_differ_by_rounding_only(old, new, resolution, moved):
    found = compare([exact(old, resolution)], [exact(new, resolution)])
    assert bool(found.moved) is moved


def test_a_prediction_moves_by_more_than_the_resolution():
    old, near, far = (row(parts=[part(1, [0, 2], value, 0.1)]) for value in (1.0, 1.05, 1.2))
    assert compare([old], [near]).moved == []
    assert [move.quantity for move in compare([old], [far]).moved] == ["prediction"]


def test_every_part_is_looked_at_by_its_name():
    steady, before, after = (
        part(1, [0.9, 1.1], name="x"), part(1, [0.9, 1.1], name="y"), part(3, [2.9, 3.1], name="y"))
    found = compare([row(parts=[steady, before])], [row(parts=[after, steady])])
    assert [(move.part, move.new) for move in found.moved] == [("y", 3)]
    unlisted = [{**row(parts=[before]), "parts": []}, {**row(parts=[after]), "parts": []}]
    assert [move.part for move in compare(unlisted[:1], unlisted[1:]).moved] == ["y"]


def test_numbers_of_different_scales_are_not_compared():
    found = compare([row()], [row(scale="standard", parts=[part(5, [4, 6])])])
    assert found.moved == [] and found.rescaled == [Change("study.a", None, "quick", "standard")]


def test_nor_are_those_of_somebodys_own_parameters():
    own = row(parts=[part(5, [4, 6])]) | {"changes": {"dim": 50}, "precision": "float32"}
    found = compare([row()], [own])
    assert found.moved == []
    assert found.rescaled == [Change("study.a", None, "quick", "quick, dim = 50, in float32")]


def test_files_and_rows_are_the_same_and_the_answer_is_json(tmp_path):
    file = tmp_path / "ledger.json"
    file.write_text(json.dumps({"claims": [row()], "summary": {}}))
    assert saccade.compare(file, [row()]) == saccade.compare(str(file), file)
    packed = tmp_path / "ledger.json.gz"  # as a report has it
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert saccade.compare(packed, file).counts() == saccade.compare(file, file).counts()
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(InvalidInput, match=r"ledger = .* cannot be read"):
        read_ledger(packed)
    told = json.loads(json.dumps(compare(file, [row("b")]).describe()))
    assert told["vanished"] == [{"claim": "study.a", "sabotage": None}]
    assert told["summary"]["appeared"] == 1


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "3", '{"rows": []}', '{"claims": 3}', '{"claims": "abc"}',
        '{"claims": {"a": 1}}', '{"claims": ["a"]}', '{"claims": [{"id": "a.b"}]}',
        '{"claims": [{"id": "a.b", "verdict": ["holds"]}]}', "[" * 100_000])
def test_what_is_no_ledger_is_refused_in_one_sentence(content, tmp_path):
    file = tmp_path / "ledger.json"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=r"^ledger = .*ledger\.json.*\.$") as refusal:
        read_ledger(file)
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_not_there_and_a_claim_that_is_there_twice(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_ledger(tmp_path / "none.json")
    with pytest.raises(InvalidInput, match="twice"):
        compare([row(), row()], [])


@given(st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=4)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["part", "name", "interval", "verdict"]), inner))))
def test_whatever_else_a_row_holds_is_no_reason_to_stop(strange):
    fields = ("parts", "sabotages", "interval", "measurement", "prediction", "resolution", "scale")
    for field in fields:
        compare(
            [row()],
            [
                row(**{field: strange}) if field != "parts" and field != "sabotages"
                else {**row(), field: strange}])


def test_numbers_beyond_all_floats_are_none():
    assert [finite(value) for value in (10**400, True, "1", None, float("nan"), 2)] == [
        None, None, None, None, None, 2.0]


def test_a_number_that_only_one_ledger_has_is_a_move():
    lost = row(parts=[part(None, [None, None])])
    assert [move.quantity for move in compare([row()], [lost]).moved] == ["measurement"]
    two = [part(1.02, [0.98, 1.06]), part(2.0, [1.9, 2.1], name="1")]
    (gone, predicted) = compare([row(parts=two)], [row()]).moved
    assert (gone.part, gone.old, gone.new, predicted.quantity) == ("1", 2.0, None, "prediction")


@pytest.mark.parametrize(("measured", "moves"), [(1.0 + 3e-7, 0), (1.0 - 3e-7, 0), (1.1, 1)])
def test_of_many_parts_the_worst_is_compared_though_it_is_another(measured, moves):
    """A row of many parts lists none of them; only the worst is there, and it may be another."""
    old, new = (
        {**row(), **part(value, [value, value], 1.0, 1e-3, name), "parts": []}
        for name, value in (("17", 1.0 + 3e-7), ("60", measured)))
    assert len(compare([old], [new]).moved) == moves


def test_a_device_that_never_ends_is_refused():
    with pytest.raises(InvalidInput, match="cannot be used: it is a device, not a file"):
        read_ledger("/dev/zero")
