"""Many values on the command line, where a formula asks for one number."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import saccade
from saccade.cli import app

NAME = "single-location.critical-inverse-temperature"


def told(*words):
    answer = CliRunner().invoke(app, ["calc", NAME, *words])
    assert answer.exit_code == 0, answer.stderr
    return json.loads(answer.stdout.partition(" = ")[2].splitlines()[0])


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("[50,100,400]", [50, 100, 400]), ("50..53", [50, 51, 52, 53]),
        ("100..400:4", [100, 200, 300, 400]), ("50..5000:3log", [50, 500, 5000]),
        ("1e2..4e2:2", [100, 400])])
def test_lists_and_ranges_give_as_many_answers(word, values):
    expected = saccade.calc(NAME, dim=np.array(values), length=10)["inverse_temperature"]
    np.testing.assert_allclose(told(f"dim={word}", "length=10"), expected, rtol=1e-12)


def test_a_formula_of_lists_takes_a_number_beside_one():
    one = saccade.calc("single-location.zeta", t=[0.0, 0.5, 1.0], variance=0.5)["zeta"]
    assert (
        one == saccade.calc("single-location.zeta", t=[0.0, 0.5, 1.0], variance=[0.5] * 3)["zeta"])
    answer = CliRunner().invoke(app, ["calc", "single-location.zeta", "t=0..1:3", "variance=.5"])
    assert json.loads(answer.stdout.partition(" = ")[2]) == one


def test_several_are_broadcast_and_json_takes_them_too():
    grid = told("dim=[[50],[400]]", "length=5..9")
    assert np.shape(grid) == (2, 5)
    asked = json.dumps({"dim": [[50], [400]], "length": [5, 6, 7, 8, 9]})
    answer = CliRunner().invoke(app, ["calc", NAME, "--json", asked])
    assert json.loads(answer.stdout)["inverse_temperature"] == grid


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("9..5", "must go up"), ("0.5..2", "with how many"), ("0..1:0", "1 to 100000 values"),
        ("2..1e9", "1 to 100000 values"), ("0..10:3log", "above 0"), ("1..1e999:3", "must go up"),
        ("[]", "at least one"), ("[50,true]", "dim = True is refused"),
        ("[50,[100,200]]", "equal lengths"), ("[50,-1]", "dim = -1 is refused"),
        ("5..x", "must be a number")])
def test_what_is_no_list_of_numbers_is_one_sentence(word, words):
    answer = CliRunner().invoke(app, ["calc", NAME, f"dim={word}", "length=10"])
    assert answer.exit_code == 2 and answer.stderr.count("\n") == 1, answer.stderr
    assert words in answer.stderr


def test_help_says_so_with_an_example():
    general = CliRunner().invoke(app, ["--plain", "calc", "--help"]).stdout
    assert "dim=100..400:4" in general
    assert "0.1..1:10 (ten)" in CliRunner().invoke(app, ["calc", NAME, "--help"]).stdout
