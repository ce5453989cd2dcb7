"""The command line: what it prints where, its exit codes, and that a machine can read it."""

import dataclasses
import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import saccade
from saccade.cli import app
from saccade.lab import record, registry
from saccade.lab.claim import Repair, Sabotage, Scale
from saccade.studies.single_location.claims import risk as risk_claims

STATIC = {"id", "study", "spec", "statement", "source", "status", "expected", "sabotages"}
MEASURED = {
    "verdict", "prediction", "measurement", "interval", "resolution", "replicates", "seconds"}


def run(*arguments, stdin=None, code=0):
    """The result of `saccade ARGUMENTS`, whose exit code must be `code`."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    assert "\x1b" not in result.stdout, "colours without a terminal"
    return result


@pytest.fixture
def only(monkeypatch):
    """Replaces the ledger by one claim: SL-Z with the given changes."""

    def replace(**changes):
        claim = dataclasses.replace(risk_claims.ZETA, **changes)
        monkeypatch.setattr(
            registry, "claims", lambda study=None: [claim] * (study in (None, claim.study)))
        return claim

    return replace


def test_version():
    assert run("--version").stdout == f"saccade {saccade.__version__}\n"


@pytest.mark.parametrize(
    "command", ["list", "verify", "figure", "calc", "report", "reproduce", "bench"])
def test_every_command_explains_itself_with_an_example(command):
    text = run(command, "--help").stdout
    assert f"saccade {command}" in text


def test_list_shows_claims_figures_and_calculators():
    text = run("list").stdout
    for name in ("single-location.zeta", "SL-P15", "single-location/4a", "single-location.risk"):
        assert name in text


def test_list_as_json_carries_the_static_fields():
    found = json.loads(run("list", "single-location", "--json").stdout)
    assert {"claims", "figures", "calculators"} <= set(found)
    assert all(set(row) >= STATIC for row in found["claims"])
    assert all(row["sabotages"] or row["repairs"] for row in found["claims"])
    assert {row["id"] for row in found["figures"]} == {
        item.id for item in registry.figures("single-location")}
    risk = next(row for row in found["calculators"] if row["id"] == "single-location.risk")
    assert {"inputs", "outputs", "status", "source"} <= set(risk)


def test_calc_without_a_name_lists_the_calculators():
    text = run("calc").stdout
    assert all(item.id in text for item in registry.calculators("single-location"))


@pytest.mark.parametrize("flag", ["--help", "-h", "--explain"])
def test_calc_explains_one_calculator(flag):
    text = run("calc", "single-location.risk", flag).stdout
    for word in (
        "inverse_temperature", "gradient", "Status: exact", "Source: ",
        "saccade calc single-location.risk kappa=0.3",
    ):
        assert word in text


def test_calc_prints_name_and_value():
    pairs = ("kappa=0.3", "nu=.5", "dim=80", "length=10.0", "inverse_temperature=6e-1")
    lines = dict(
        line.split(" = ", 1)
        for line in run("calc", "single-location.risk", *pairs).stdout.splitlines())
    expected = saccade.calc(
        "single-location.risk", kappa=0.3, nu=0.5, dim=80, length=10, inverse_temperature=0.6)
    assert {name: json.loads(text) for name, text in lines.items()} == expected


def test_calc_reads_lists_and_words_from_the_shell():
    result = run(
        "calc", "single-location.predict", "X=[[[1,2],[3,1]]]", "k=[1,0]", "v=[0, 1]", "kind=argmax"
    )
    assert result.stdout == "predictions = [1.0]\n"


@pytest.mark.parametrize("where", ["text", "stdin"])
def test_calc_takes_and_gives_json(where):
    given = '{"t": [0, 1], "variance": [0.5, 0.5]}'
    result = run(
        "calc", "single-location.zeta", "--json", given if where == "text" else "-", stdin=given)
    assert json.loads(result.stdout) == saccade.calc(
        "single-location.zeta", t=[0, 1], variance=[0.5, 0.5])
    assert result.stderr == ""


def test_calc_joins_json_and_pairs():
    result = run("calc", "single-location.zeta", "variance=0.5", "--json", '{"t": 1}')
    assert json.loads(result.stdout) == saccade.calc("single-location.zeta", t=1, variance=0.5)


def test_every_example_works_as_it_is_printed():
    import shlex

    for calculator in registry.calculators("single-location"):
        line = run("calc", calculator.id, "--help").stdout.splitlines()[-1]
        name, *arguments = shlex.split(line)
        assert name == "saccade"
        assert " = " in run(*arguments).stdout


def test_verify_prints_a_table_and_writes_the_ledger(tmp_path, fresh_store):
    file = tmp_path / "new folder" / "ledger.json"
    result = run("verify", "SL-Z", "attention-is-softmax", "--sabotage", "--json", file)
    for word in (
        "claim", "predicted", "measured", "verdict", "single-location.zeta", "1/1 refuted",
        "holds: 2", "unexpected: 0",
    ):
        assert word in result.stdout
    rows = json.loads(file.read_text())["claims"]
    assert [row["id"] for row in rows] == [
        "single-location.attention-is-softmax", "single-location.zeta"]
    for row in rows:
        assert set(row) >= STATIC | MEASURED
        assert row["study"] == "single-location" and row["verdict"] == row["expected"] == "holds"
        assert [item["verdict"] for item in row["sabotages"]] == ["refuted"]
        assert row["interval"][0] <= row["measurement"] <= row["interval"][1]
        assert row["replicates"] >= 1 and row["seconds"] > 0
        assert abs(row["prediction"] - row["measurement"]) <= row["resolution"]


def test_verify_to_standard_output_is_json_and_nothing_else(fresh_store):
    found = json.loads(run("verify", "SL-Z", "--json", "-").stdout)
    assert found["summary"] == {
        "holds": 1, "refuted": 0, "undecided": 0, "waiting": 0, "unexpected": 0}
    assert [item["verdict"] for item in found["claims"][0]["sabotages"]] == [
        None]  # not asked for, not run


def test_patterns_choose_claims_once_and_in_the_order_of_the_ledger(fresh_store):
    rows = json.loads(run("verify", "single-location.zet?", "SL-Z", "zeta", "--json", "-").stdout)[
        "claims"]
    assert [row["id"] for row in rows] == ["single-location.zeta"]


def test_a_claim_that_fails_gives_exit_code_1(only, fresh_store):
    only(predict=lambda run: 0.5)
    result = run("verify", "--json", "-", code=1)
    assert json.loads(result.stdout)["summary"]["unexpected"] == 1
    assert "refuted  (expected holds)" in run("verify", code=1).stdout


def test_a_claim_expected_to_be_refuted_gives_exit_code_0(only, fresh_store):
    true = Repair("true", "Predict the truth.", predict=risk_claims.ZETA.predict)
    only(predict=lambda run: 0.5, expected="refuted", sabotages=(), repairs=(true,))
    assert "refuted as expected" in run("verify").stdout
    assert "1/1 mended" in run("verify", "--sabotage").stdout


def test_a_sabotage_that_breaks_nothing_gives_exit_code_1(only, fresh_store):
    claim = only(sabotages=(Sabotage("idle", "As it is.", predict=risk_claims.ZETA.predict),))
    assert run("verify", claim.id, code=0)
    assert "0/1 refuted" in run("verify", claim.id, "--sabotage", code=1).stdout


def test_a_crash_of_a_claim_is_told_and_gives_exit_code_1(only, fresh_store):
    def crash(run):
        raise RuntimeError("no such luck")

    only(measure=crash)
    assert "RuntimeError: no such luck" in run("verify", code=1).stdout


def test_a_claim_of_another_scale_is_listed_with_what_it_needs_and_not_counted(only, fresh_store):
    only(scales={"paper": Scale(seconds=600)})
    text = run("verify").stdout
    assert "--scale paper, 10 min" in text and "holds: 0" in text and "waiting: 1" in text


def test_larger_scales_say_their_cost_first(only, fresh_store):
    only(scales={"quick": Scale(seconds=1), "standard": Scale(seconds=600)})
    assert "about 10 minutes" in run("verify", "--scale", "standard").stderr


def test_a_run_shared_by_claims_is_counted_once(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "published", lambda claim, scale=None: None)
    from saccade.lab.costs import of_claims
    from saccade.lab.ledger import Conditions
    from saccade.lab.registry import find_claims

    claims = find_claims(
        ["sparse-recovery.executes-lista-vm", "sparse-recovery.quadratic-read-out"])
    assert claims[0].experiment.id == claims[1].experiment.id
    conditions = Conditions(folder=str(tmp_path))
    apart = [of_claims([claim], conditions)[claim.id] for claim in claims]
    assert max(apart) < sum(of_claims(claims, conditions).values()) < sum(apart)


def test_seeds_change_nothing_that_is_exact(fresh_store):
    assert run("verify", "SL-Z", "--seed", 2**63 - 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sabotage"], "no --sabotage"), (["--fresh"], "no --fresh"),
        (["--seed", "0"], "no --seed;"), (["--precision", "float64"], "no --precision"),
        (["--fresh", "--sabotage"], "no --sabotage and no --fresh")])
def test_many_seeds_refuse_what_they_would_not_heed(words, said, fresh_store):
    refusal = run("verify", "SL-Z", "--seeds", "0..1", *words, code=2).stderr
    assert f"--seeds takes {said}" in refusal and len(refusal.splitlines()) == 1


def test_many_seeds_say_where_all_verdicts_are(tmp_path, fresh_store):
    assert "--json FILE has every verdict" in run("verify", "SL-Z", "--seeds", "0..1").stdout
    path = tmp_path / "seeds.json"
    assert "--json FILE" not in run("verify", "SL-Z", "--seeds", "0..1", "--json", path).stdout
    rows = json.loads(path.read_text())["claims"]
    assert rows and all(set(row["verdicts"]) == {"0", "1"} for row in rows)


@pytest.mark.slow
def test_two_processes_give_the_same_ledger(fresh_store):
    alone, together = (
        json.loads(run("verify", "SL-Z", "SL-A1", "--jobs", jobs, "--json", "-").stdout)["claims"]
        for jobs in (1, 2))
    for one, other in zip(alone, together, strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_a_figure_is_written_as_its_ending_says(tmp_path, fresh_store):
    for ending, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        path = tmp_path / "figures" / f"three.{ending}"
        assert str(path) in run("figure", "single-location/3", "-o", path).stdout
        assert path.read_bytes().startswith(magic)


def test_the_module_runs_as_a_program_and_honours_pipes():
    result = subprocess.run(
        [sys.executable, "-m", "saccade", "calc", "single-location.zeta", "--json", "-"],
        input='{"t": 1, "variance": -1}', capture_output=True, text=True,
        env={**os.environ, "NO_COLOR": "1"}, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    *signs_of_life, sentence = result.stderr.splitlines()
    assert "variance = -1" in sentence and all("is at work" in line for line in signs_of_life)


@pytest.mark.parametrize("width", [200, 110, 80, 60])
def test_the_verdict_survives_a_narrow_terminal(width, only, fresh_store):
    from rich.console import Console

    from saccade.api import verify
    from saccade.cli.tables import ledger_table

    only()
    console = Console(width=width, record=True, file=open(os.devnull, "w"), color_system=None)  # noqa: SIM115
    console.print(ledger_table(verify(sabotage=True), True, width))
    text = console.export_text()
    console.file.close()
    assert "holds" in text and "single-location.zeta" in text
    assert ("says" in text) is (width == 200) and ("slack" in text) is (width > 60)
    assert max(len(line) for line in text.splitlines()) <= width


def test_a_warning_is_a_sentence_without_a_place_in_the_code(monkeypatch):
    import warnings

    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)  # put back afterwards
    run("calc", "single-location.zeta", "--help")
    shown = warnings.formatwarning(
        "The cluster has no workers yet.", UserWarning, "engines/cluster.py", 92)
    assert shown == "saccade: warning: The cluster has no workers yet.\n"
