"""Mutants: what is altered and what is left alone, how they are drawn, and that a hunt tells a
mutant that a claim sees from one that none does."""

import ast
import json
import os
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saccade.errors import InvalidInput
from saccade.lab.ledger import Conditions, evaluate
from saccade.lab.mutants import hunt as hunting
from saccade.lab.mutants import look as looking
from saccade.lab.mutants.reach import read
from saccade.lab.mutants.rules import alterations
from saccade.studies import STUDIES

SOURCE = b'''
"""A docstring with 3 numbers."""
LIMIT = 10


def check_it(length):
    require(length >= 2, "length", length, "must be 2")


def risk(x: "Float[Array, 3]", length: int = 4, scale=1.0):
    """Another, 5 of them."""
    weights = np.exp(-x) / x.sum(axis=-1)
    return 0.5 * scale**2 + weights.mean() - erf(x, length)
'''


def words() -> set[tuple[str, str, str]]:
    return {(item.rule, item.before, item.after) for item in alterations(SOURCE)}


@pytest.mark.parametrize(
    "expected",
    [
        ("constant", "0.5", "0.55"), ("sign", "-x", "(x)"),
        ("off by one", "length", "(length - 1)"), ("power", "scale**2", "((scale) ** ((2) + 1))"),
        ("sum for mean", "weights.mean()", "weights.sum()"),
        ("axis", "x.sum(axis=-1)", "x.sum(axis=0)"),
        ("swapped", "erf(x, length)", "erf(length, x)"),
        ("dropped", "np.exp(-x) / x.sum(axis=-1)", "(np.exp(-x))"),
        ("factor", "0.5 * scale**2", "((0.5) / (scale**2))")])
def test_each_rule_alters_what_it_says(expected):
    assert expected in words()


def test_checks_types_defaults_limits_and_texts_are_left_alone():
    assert {item.function for item in alterations(SOURCE)} == {"risk"}
    assert not {before for _, before, _ in words()} & {"10", "3", "4", "1.0", "5"}


@pytest.mark.parametrize("study", [*STUDIES, *hunting.SHARED])
def test_every_alteration_of_a_study_is_python_and_changes_the_text(study):
    files = hunting.files_of(study)
    for mutant in hunting.mutants_of(study, 10_000):
        text = files[mutant.file].read_bytes()
        changed = mutant.alteration.applied(text)
        ast.parse(changed)
        assert changed != text


@given(st.integers(1, 40), st.integers(0, 5))
def test_as_many_as_asked_for_without_repetition_and_the_same_for_the_same_seed(count, seed):
    drawn = hunting.mutants_of("spatial", count, seed)
    assert len(drawn) == len(set(drawn)) == count
    assert drawn == hunting.mutants_of("spatial", count, seed)
    assert {mutant.room for mutant in drawn[:4]} == set(hunting.ROOMS[: len(drawn)]) or count < 4


def test_a_study_is_also_asked_about_the_packages_it_judges():
    """Files that no claim computes with, such as rows of speed, are left alone."""
    files = hunting.files_of("bag-estimators")
    assert {"estimators/heads.py", "theory.py", "task.py"} <= set(files)
    assert "estimators/benchmarks.py" not in files and "claims.py" not in files
    assert not any(name.startswith("estimators") for name in hunting.files_of("spatial"))
    mutants = hunting.mutants_of("bag-estimators", 40)
    assert {mutant.room for mutant in mutants} == {"task", "models", "theory", "estimators"}
    watching = hunting.watchers("bag-estimators")
    assert hunting.order(files["estimators/heads.py"], "", watching)


def test_a_shared_room_is_judged_by_the_claims_of_all_studies():
    (file,) = hunting.files_of("convex").values()
    asked = hunting.order(file, "", hunting.watchers("convex"))
    assert {"sparse-token", "spatial", "group-sparse"} <= {name.split(".")[0] for name in asked}
    assert {mutant.room for mutant in hunting.mutants_of("convex", 5)} == {"convex"}


def test_no_mutants_is_refused():
    with pytest.raises(InvalidInput, match="count"):
        hunting.mutants_of("spatial", 0)


def test_claims_that_are_near_and_cheap_are_asked_first_and_those_that_cannot_tell_never():
    watching = hunting.watchers("spatial")
    file = hunting.folder_of("spatial") / "theory/population.py"
    asked = hunting.order(file, "linear_error", watching)
    anywhere = hunting.order(file, "", watching)
    assert "spatial.linear-error" in asked[:4]
    assert set(asked) < set(anywhere) and len(asked) == len(set(asked))
    assert hunting.order(file, "nowhere", watching) == []


@pytest.mark.parametrize("function", ["Vgg.features", "ResNet.features", "Block.__call__"])
def test_a_method_that_a_class_above_calls_of_itself_is_reached(function):
    """`LargeConvolution.__call__` calls `self.features`, which classes below it define."""
    file = hunting.PACKAGE / "networks/convolution/large.py"
    assert "spatial.convolutions-by-hand" in hunting.order(
        file, function, hunting.watchers("spatial"))


@pytest.mark.parametrize("study", ["single-location", "group-sparse", "attention-atlas"])
def test_what_a_claim_calls_is_what_it_is_said_to_reach(study, tmp_path):
    """Against what Python's own profiler sees while cheap claims are judged."""

    def cost(row):
        return row.cost(row.judging[row.claim.experiment.function.__module__])

    cheap = sorted(hunting.watchers(study), key=cost)
    for row in cheap[:4]:
        files = {str(path): path for path in row.judging.values()}
        called = set()

        def note(frame, event, _, files=files, called=called):
            code = frame.f_code
            if event == "call" and code.co_filename in files and "<" not in code.co_qualname:
                called.add((code.co_filename, code.co_qualname))

        sys.setprofile(note)
        try:
            evaluate(row.claim, Conditions(folder=str(tmp_path / row.claim.id)))
        finally:
            sys.setprofile(None)
        computed = {place for place in called if "/claims" not in place[0]}
        assert computed
        assert not {place for place in computed if row.distance(files[place[0]], place[1]) is None}


def test_a_function_uses_the_derivatives_it_is_told(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(
        "@jax.custom_vjp\ndef f(x): return x\n"
        "def forward(x): return x, x\ndef backward(x, pull): return (pull,)\n"
        "f.defvjp(forward, backward)\n")
    assert {("kernels", "forward"), ("kernels", "backward")} <= read("kernels", path).uses["f"]


def test_the_table_counts_by_room_and_study():
    rows = [
        {"study": "a", "room": room, "outcome": outcome}
        for room, outcome in (("task", "seen"), ("task", "not seen"), ("theory", "equivalent"))]
    told = {row["room"]: row for row in hunting.table(rows)}
    assert told["task"]["share"] == 0.5
    assert told["theory"]["share"] is None
    assert told["all"]["equivalent"] == 1


def test_alterations_by_hand_stand_in_a_file(tmp_path):
    row = {
        "study": "spatial", "file": "studies/spatial/theory/population.py",
        "before": "law[values < 0].sum()", "after": "law[values < 1].sum()"}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([row]))
    (mutant,) = hunting.by_hand(path)
    assert mutant.file == "theory/population.py" and mutant.alteration.function == "linear_error"
    path.write_text(json.dumps([row | {"before": "law"}]))
    with pytest.raises(InvalidInput, match="must stand in"):
        hunting.by_hand(path)
    path.write_text("[1]")
    with pytest.raises(InvalidInput, match="no list of objects"):
        hunting.by_hand(path)


@pytest.mark.slow
def test_what_has_no_verdict_in_time_is_not_called_seen(tmp_path):
    hunt = hunting.Hunt(str(tmp_path), limit=0.01)
    with hunting._Copies(hunt) as copies, copies.borrowed() as copy:
        row = copy.verdict(["spatial.linear-error"])
    assert row["outcome"] == hunting.NOT_SEEN
    assert row["says"] == "no verdict in time of 1 claims: spatial.linear-error"


def _that_takes(seconds: dict[str, float]):
    """In place of `look`: every claim takes so long, and the last one is red."""

    def look(claims, store, seed, begins):
        for number, (name, patience) in enumerate(claims, 1):
            begins(number, patience)
            time.sleep(seconds[name])
        return {"red": claims[-1][0], "verdict": "refuted"}

    return look


FORKS_HERE = pytest.mark.filterwarnings("ignore:os.fork", "ignore:Exception ignored")


@FORKS_HERE
@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, {"red": "c", "verdict": "refuted", "judged": 2, "late": ["b"]}),
        (0.3, {"red": None, "verdict": None, "judged": 1, "late": ["b", "c"]})])
def test_a_claim_that_does_not_end_is_left_out_and_the_others_are_asked(
    monkeypatch, limit, expected
):
    monkeypatch.setattr(looking, "look", _that_takes({"a": 0, "b": 600, "c": 0}))
    asked = {"claims": [["a", 50], ["b", 0.3 if limit is None else 50], ["c", 50]], "limit": limit}
    assert looking.looked(asked, ("", "", 0)) == expected | {"ended": None}


@FORKS_HERE
def test_a_process_that_dies_says_so(monkeypatch):
    monkeypatch.setattr(looking, "look", lambda *asked: os._exit(3))
    told = looking.looked({"claims": [["a", None]], "limit": None}, ("", "", 0))
    assert told["ended"] == "status 768" and told["red"] is None


@pytest.mark.slow
def test_a_hunt_tells_what_is_seen_from_what_is_not(tmp_path, monkeypatch):
    """A wrong error of the linear model is seen; more parentheses are not."""
    file = "theory/population.py"
    text = (hunting.folder_of("spatial") / file).read_bytes()
    wrong = next(
        item for item in alterations(text)
        if item.function == "linear_error" and item.before.startswith("law[values < 0].sum() +"))
    idle = wrong._replace(after=f"({wrong.before})")
    drawn = [hunting.Mutant("spatial", file, item) for item in (wrong, idle)]
    kept = [row for row in hunting.watchers("spatial") if row.claim.id == "spatial.linear-error"]
    monkeypatch.setattr(hunting, "watchers", lambda study: kept)
    hunt = hunting.Hunt(str(tmp_path), limit=240)
    hunting.check_unaltered("spatial", hunt)
    rows = hunting.hunt_down(drawn, hunt)
    assert [row["outcome"] for row in rows] == ["seen", "not seen"]
    assert rows[0]["by"] == "spatial.linear-error"
