"""What the command line refuses: one sentence on standard error, nothing on standard output, exit
code 2, nothing computed."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from saccade.cli import app
from saccade.lab import run as runs

ZETA = ("calc", "single-location.zeta")
RISK = ("calc", "single-location.risk", "kappa=0.3", "nu=0.5", "dim=80", "length=10")


@pytest.fixture(autouse=True)
def nothing_may_be_computed(monkeypatch):
    """Refusals come before the work: an experiment that starts fails the test."""

    def started(*args):
        raise AssertionError("an experiment was started")

    monkeypatch.setattr(runs, "_compute", started)


def refused(*arguments, stdin=None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == 2, (result.output, result.exception)
    assert result.stdout == ""
    assert (
        result.stderr.startswith("saccade: ") and result.stderr.count("\n") == 1
        and result.stderr[-2] in ".?")
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("inverse_temperature=0", ("inverse_temperature = 0", "above 0")),
        ("inverse_temperature=-1", ("inverse_temperature = -1", "above 0")),
        ("inverse_temperature=warm", ("inverse_temperature = 'warm'", "number")),
        ("inverse_temperature=true", ("inverse_temperature = True", "number")),
        ("inverse_temperature=NaN", ("inverse_temperature = nan", "finite")),
        ("inverse_temperature=-inf", ("inverse_temperature = -inf", "finite")),
        ("inverse_temperature=1e999", ("inverse_temperature = inf", "finite")),
        ("inverse_temperature=", ("inverse_temperature = ''", "number")),
        ("inverse_temperature=[1,2", ("inverse_temperature = '[1,2'", "number")),
        ("inverse_temperature=1_0", ("inverse_temperature = '1_0'", "number")),
        ("temperature=1", ("'temperature'", "did you mean 'inverse_temperature'")),
        ("inverse_temperature", ("'inverse_temperature'", "name=value")),
        ("=1", ("'=1'", "name=value")),
        ("inverse_temperature=1e300", ("risk", "not a finite number"))])
def test_values_of_a_calculator(pair, words):
    text = refused(*RISK, pair)
    assert all(word in text for word in words), text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("verify", "SL-Z", "--seed", "1e3"), ("--seed", "'1e3'")),
        (("verify", "SL-Z", "--jobs", "two"), ("--jobs", "'two'")),
        (("mutants", "--limit", "x"), ("--limit", "'x'"))])
def test_an_option_that_cannot_be_read_is_named_with_its_value(words, says):
    text = refused(*words)
    assert all(word in text for word in says), text


def test_missing_inputs():
    assert "'inverse_temperature', which is missing" in refused(*RISK)


def test_inputs_given_twice():
    assert "'t' is given twice" in refused(*ZETA, "t=1", "t=1", "variance=1")
    assert "'t' is given twice" in refused(*ZETA, "--json", '{"t": 1, "t": 2, "variance": 1}')
    assert "'t' is given twice" in refused(*ZETA, "t=1", "--json", '{"t": 1, "variance": 1}')


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "not valid JSON"), ("{", "not valid JSON"), ("{'t': 1}", "not valid JSON"),
        ("t=1", "not valid JSON"), ("[" * 100_000, "not valid JSON"), ("[1, 2]", "one JSON object"),
        ("3", "one JSON object"), ("null", "one JSON object"), ('"t"', "one JSON object"),
        ('{"t": 1, "variance": NaN}', "variance = nan"),
        ('{"t": 1, "variance": Infinity}', "variance = inf"),
        ('{"t": null, "variance": 1}', "t = None"),
        ('{"t": {"a": 1}, "variance": 1}', "t = {'a': 1}"),
        ('{"t": "1", "variance": 1}', "t = '1'"), ('{"t": 1, "variance": true}', "variance = True"),
        ('{"t": 1' + "0" * 400 + ', "variance": 1}', "t = 1000"),
        ('{"t": 1' + "0" * 5000 + ', "variance": 1}', "not valid JSON")],
    ids=lambda value: str(value)[:20])
@pytest.mark.parametrize("where", ["text", "stdin"])
def test_json_of_a_calculator(text, word, where):
    assert word in (
        refused(*ZETA, "--json", text) if where == "text"
        else refused(*ZETA, "--json", "-", stdin=text))


def test_json_that_is_not_text():
    assert "not valid JSON" in refused(*ZETA, "--json", "-", stdin=b'{"t": "\xff"}')


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (("calc", "single-location.rsk"), "single-location.risk"),
        (("calc", "single-location.rsk", "--help"), "single-location.risk"),
        (("calc", "rissk", "dim=3"), "single-location.risk"),
        (("verify", "single-location.zetta"), "single-location.zeta"),
        (("verify", "zetta"), "single-location.zeta"), (("verify", "SL-P51"), "SL-P15"),
        (("verify", "SL-Z", "single-locations"), "single-location"),
        (("figure", "single-location/4aa"), "single-location/4a"),
        (("figure", "4a"), "single-location/4a"), (("list", "single-locaton"), "single-location"),
        (("verify", "SL-Z", "--scale", "qick"), "quick"),
        (("figure", "single-location/4a", "--scale", "papr"), "paper"),
        (("reproduce", "--scale", "standrad"), "standard"), (("lst",), "list"),
        (("verify", "SL-Z", "--sabotages"), "--sabotage")])
def test_unknown_names_are_answered_with_the_nearest(arguments, nearest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert nearest in refused(*arguments)
    assert list(tmp_path.iterdir()) == [], "a refusal leaves nothing behind"


@pytest.mark.parametrize("arguments", [("verify", "SL-Z"), ("reproduce",)])
@pytest.mark.parametrize("jobs", [0, -2])
def test_numbers_of_processes(arguments, jobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert f"jobs = {jobs} must be at least 1" in refused(*arguments, "--jobs", jobs)


def test_a_seed_that_is_no_whole_number():
    assert "--seed" in refused("verify", "SL-Z", "--seed", "x")
    assert "--seed" in refused("verify", "SL-Z", "--seed", "1.5")


@pytest.mark.parametrize("name", ["x.gif", "x", "x.PNG.txt", "png"])
def test_endings_of_figures(name, tmp_path):
    text = refused("figure", "single-location/3", "-o", tmp_path / name)
    assert name in text and ".pdf, .png or .svg" in text
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def blocked(tmp_path) -> Path:
    """A path below a plain file: nobody can write there, root included."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "below"


@pytest.mark.parametrize(
    "arguments",
    [("verify", "SL-Z"), ("figure", "single-location/3", "-o", "3.png"), ("reproduce",)])
def test_a_store_that_cannot_be_written(arguments, blocked, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = refused(*arguments, "--store", blocked)
    assert str(blocked) in text and "--store" in text


def test_a_store_named_by_the_environment_that_cannot_be_written(blocked, monkeypatch):
    monkeypatch.setenv("SACCADE_STORE", str(blocked))
    assert str(blocked) in refused("verify", "SL-Z")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_store(tmp_path):
    tmp_path.chmod(0o500)
    assert "permission denied" in refused("verify", "SL-Z", "--store", tmp_path)


def test_outputs_that_cannot_be_written(blocked, tmp_path):
    assert "cannot be written" in refused("figure", "single-location/3", "-o", blocked / "x.png")
    assert "cannot be written" in refused("verify", "SL-Z", "--json", blocked / "x.json")
    assert "cannot be written" in refused("verify", "SL-Z", "--json", tmp_path)
    assert "cannot be written" in refused("reproduce", "-o", blocked)
    assert "cannot be written" in refused("report", "-o", blocked)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"rows": []}'])
def test_a_ledger_that_is_none(content, tmp_path):
    file = tmp_path / "ledger.json"
    if content is not None:
        file.write_text(content)
    assert "ledger = " in refused("report", "--ledger", file, "-o", tmp_path / "report")


def test_json_without_a_calculator():
    assert "name of a calculator" in refused("calc", "--json", "{}")


def test_options_that_do_not_exist():
    assert "--frob" in refused("--frob")
    assert "--frob" in refused("calc", "--frob")
    assert "name" in refused("figure")
