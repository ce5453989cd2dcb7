"""`saccade plan sparse-token`: text, JSON and a curve; impossible targets in one sentence; answers
that theory confirms."""

import importlib
import json

import pytest
from typer.testing import CliRunner

from saccade.cli import app
from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory import (
    alignment_after_two_steps,
    bayes_error,
    fit,
    plan,
    pooled_oracle_error,
    subset_bayes_error,
)

planning = importlib.import_module("saccade.studies.sparse_token.theory.plan")
pytestmark = pytest.mark.slow

COMMON = ["plan", "sparse-token", "--length", "4", "--signal", "3"]


def asked(*arguments: str):
    return CliRunner().invoke(app, [*COMMON, *arguments])


@pytest.fixture(scope="module")
def answer() -> dict:
    result = asked("--target-error", "0.25", "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_attention_meets_the_target_with_its_split(answer):
    how = answer["models"]["attention"]["how"]
    setting = SparseTokenSetting(4, 1, 0.5, 3.0)
    steps = alignment_after_two_steps(setting, how["query_samples_per_dim"], eta_q=how["eta_q"])
    made = fit(
        setting, "attention", how["fit_samples_per_dim"], how["ridge"], "logistic", steps.q_cosine,
        steps.sharpness)
    assert made.test_error == pytest.approx(0.25, rel=5e-3)
    total = how["query_samples_per_dim"] + how["fit_samples_per_dim"]
    assert answer["models"]["attention"]["samples_per_dim"] == pytest.approx(total)


def test_no_nearby_split_does_much_better(answer):
    """Moving a tenth of the samples between the stages, same ridge and sharpness, gains less than
    two per cent."""
    how, setting = answer["models"]["attention"]["how"], SparseTokenSetting(4, 1, 0.5, 3.0)
    total = how["query_samples_per_dim"] + how["fit_samples_per_dim"]
    for shift in (-0.1, 0.1):
        first = how["query_samples_per_dim"] + shift * total
        rho = alignment_after_two_steps(setting, first).q_cosine
        moved = fit(
            setting, "attention", total - first, how["ridge"], "logistic", rho, how["sharpness"])
        assert moved.test_error > 0.25 * 0.98


def test_the_vectorised_model_needs_length_times_the_samples_of_pooling(answer):
    models = answer["models"]
    ratio = models["vectorised"]["samples_per_dim"] / models["pooled"]["samples_per_dim"]
    assert ratio == pytest.approx(4.0, rel=0.02)
    assert models["attention"]["samples_per_dim"] < models["pooled"]["samples_per_dim"]


def test_a_target_reached_by_the_last_move_is_met(monkeypatch):
    """With an error of alpha^(-1/2): six moves of e^0.4 or less."""
    monkeypatch.setattr(
        planning, "fine_error", lambda setting, model, choice: choice.fit_samples_per_dim**-0.5)
    setting, choice = SparseTokenSetting(4, 1, 0.5, 3.0), planning.Choice(1.0, 0.1, 0.0, 1.0)
    for factor, status in ((7.0, "converged"), (10.5, "converged"), (12.0, "not converged")):
        found = planning.settle(setting, "pooled", choice, factor**-0.5, 0.0)
        assert found.status == status
        assert (found.samples_per_dim == pytest.approx(factor, rel=1e-2)) == (status == "converged")
    with monkeypatch.context() as flat:
        flat.setattr(planning, "fine_error", lambda *_: 0.3)
        assert planning.settle(setting, "pooled", choice, 0.3, 0.0).status == "converged"
        assert planning.settle(setting, "pooled", choice, 0.2, 0.0).status == "not converged"


@pytest.mark.parametrize("model", ["pooled", "vectorised"])
def test_the_fewest_samples_that_are_tried_may_be_enough(model):
    """The answer is said to be no smallest number, and its error, below the target, is that of the
    fit."""
    setting, target = SparseTokenSetting(4, 1, 0.5, 3.0), 0.499
    (found,) = plan(setting, target, models=(model,), bayes=0.0).needs
    assert found.status == "fewer may suffice" and "fewest that are tried" in found.reason
    made = fit(setting, model, found.samples_per_dim, found.choice.ridge, "logistic")
    assert found.error == pytest.approx(made.test_error) and made.test_error <= target


def test_so_few_samples_that_no_query_is_left_are_too_few():
    found = plan(SparseTokenSetting(4, 1, 0.5, 3.0), 0.47, models=("attention",)).needs[0]
    assert found.status == "converged" and found.error == pytest.approx(0.47, rel=2e-3)


def test_text_says_what_was_not_found():
    result = asked("--target-error", "0.499")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("fewer may suffice: the fewest that are tried") == 2


def test_text_says_no_number_and_why():
    result = asked("--target-error", "0.2")
    assert result.exit_code == 0
    assert (
        "samples per dimension" in result.stdout and "for the two gradient steps" in result.stdout)
    assert result.stdout.count("no number of samples suffices") == 2
    assert "0.2266" in result.stdout


def test_a_curve_is_drawn(tmp_path, monkeypatch):
    from saccade.studies.sparse_token import plan as module

    values = {
        "samples_per_dim": [1.0, 2.0], "attention": [0.3, 0.2], "pooled": [0.4, 0.3],
        "vectorised": [0.5, 0.4]}
    monkeypatch.setattr(module, "curve_values", lambda made: values)
    path = tmp_path / "curve.svg"
    result = asked("--target-error", "0.25", "--curve", str(path))
    assert result.exit_code == 0, result.output
    assert path.read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target-error", "0.05"], ("target_error = 0.05", "Bayes error")),
        (["--target-error", "0.6"], ("target_error = 0.6", "0.5")),
        (["--target-error", "-0.1"], ("target_error = -0.1",)),
        (["--target-error", "0.2", "--informative", "5"], ("informative = 5", "length = 4")),
        (["--target-error", "0.2", "--positive-rate", "1"], ("positive_rate = 1.0",)),
        (["--target-error", "0.2", "--curve", "plan.bmp"], ("plan.bmp", ".pdf"))])
def test_impossible_requests_are_refused_in_one_sentence(arguments, words):
    result = asked(*arguments)
    assert result.exit_code == 2
    assert all(word in result.stderr for word in words), result.stderr
    assert result.stderr.startswith("saccade: ") and result.stderr.count("\n") == 1


def test_a_query_turned_away_is_named_as_the_reason():
    made = plan(SparseTokenSetting(10, 1, 0.2, 2.0), 0.19, models=("attention",))
    assert made.needs[0].samples_per_dim is None
    assert "turn the query away" in made.needs[0].reason


def test_the_bayes_error_of_several_informative_tokens():
    """Enumerated subsets on plain samples; and one token is the ordinary Bayes error."""
    from itertools import combinations

    import numpy as np

    one = SparseTokenSetting(5, 1, 0.4, 2.0)
    assert subset_bayes_error(one).error == bayes_error(one).error
    setting, rng, n = SparseTokenSetting(5, 2, 0.4, 2.0), np.random.default_rng(1), 200_000
    positive = rng.random(n) < 0.4
    u = rng.normal(size=(n, 5))
    u[:, :2] += 2.0 * positive[:, None]
    ratio = np.mean(
        [np.exp(2.0 * u[:, list(s)].sum(1) - 4.0) for s in combinations(range(5), 2)], axis=0)
    wrong = np.mean((ratio * 0.4 > 0.6) != positive)
    assert subset_bayes_error(setting).error == pytest.approx(wrong, abs=5 * 0.4 / np.sqrt(n))


def test_the_bayes_error_of_most_and_of_all_tokens():
    """e_R of more than half of the tokens by its complement; all tokens: pooling is best."""
    from itertools import combinations

    import numpy as np

    from saccade.studies.sparse_token.theory.rare import log_symmetric_polynomial

    u = np.random.default_rng(2).normal(size=(4, 6))
    for count in (1, 3, 5, 6):
        sums = [u[:, list(s)].sum(1) for s in combinations(range(6), count)]
        assert np.allclose(log_symmetric_polynomial(u, count), np.log(np.exp(sums).sum(0)))
    everything = SparseTokenSetting(5, 5, 0.3, 0.4)
    pooled = pooled_oracle_error(everything).error
    assert subset_bayes_error(everything).error == pytest.approx(pooled, abs=1e-9)


def test_a_bayes_error_of_too_many_subsets_is_a_bound():
    answer = subset_bayes_error(SparseTokenSetting(9000, 4000, 0.4, 0.02))
    assert answer.status == "bound" and 0 < answer.error < 0.4


def test_the_solver_check_reports_fraction_and_slowest_case():
    asked_for = ["plan", "check-solver", "--cases", "12", "--seed", "5", "--model", "pooled"]
    result = CliRunner().invoke(app, [*asked_for, "--json"])
    report = json.loads(result.stdout)
    assert (
        result.exit_code == 0 and report["fraction_converged"] == 1.0 and report["failures"] == [])
    assert (
        0.1 <= report["slowest"]["samples_per_dim"] <= 100
        and report["slowest_seconds"] >= report["median_seconds"])
    text = CliRunner().invoke(app, asked_for).stdout
    assert "12 of 12 cases (100 %)" in text and "Slowest: " in text and "ridge = " in text


def test_a_failed_case_is_named_and_turns_the_exit_code(monkeypatch):
    from saccade.studies.sparse_token import theory

    failing = theory.GridReport(
        2, 1, [{"ridge": 1e-6, "residual": 0.3}], {"ridge": 1e-6}, 0.5, 0.2, 0.3)
    monkeypatch.setattr(theory, "check_grid", lambda *given: failing)
    result = CliRunner().invoke(app, ["plan", "check-solver"])
    assert result.exit_code == 1
    assert (
        "1 of 2 cases (50 %)" in result.stdout
        and "Not converged: ridge = 1e-06, residual = 0.3." in result.stdout)


@pytest.mark.parametrize(
    ("option", "value", "word"), [("--cases", "0", "cases = 0"), ("--model", "poled", "'poled'")])
def test_a_wrong_solver_check_is_refused(option, value, word):
    result = CliRunner().invoke(app, ["plan", "check-solver", option, value])
    assert result.exit_code == 2 and word in result.stderr


def test_the_commands_can_be_imported_before_the_command_line():
    import subprocess
    import sys

    code = "import saccade.studies.sparse_token.plan as plan; print(*plan.COMMANDS)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "sparse-token check-solver\n", run.stderr


def test_a_study_whose_commands_cannot_be_imported_is_left_out(monkeypatch):
    from saccade.cli import studies

    monkeypatch.setattr(studies, "import_module", lambda name: 1 / 0)
    with pytest.warns(UserWarning, match="are left out: division by zero"):
        assert list(studies.plan_commands()) == []
