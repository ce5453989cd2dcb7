"""`saccade diagnose`: text, JSON and a page from one file; bad files are one sentence."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from saccade.cli import app

QUICK = ("--folds", "2", "--repeats", "1")


def ask(*words):
    return CliRunner().invoke(app, ["diagnose", *words])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """40 bags of 3 to 5 tokens; in bags of <b>one</b> kind a token is shifted."""
    random = np.random.default_rng(0)
    lines = ["bag,label,first,second,third"]
    for bag in range(40):
        kind = ("none", "<b>one</b>")[bag % 2]
        tokens = random.standard_normal((random.integers(3, 6), 3))
        tokens[0, 0] += 5 * (kind == "none")
        lines += [f"{bag},{kind},{','.join(map(str, token))}" for token in tokens]
    path = tmp_path_factory.mktemp("bags") / "bags.csv"
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture(scope="module")
def asked(table, tmp_path_factory):
    page = tmp_path_factory.mktemp("pages") / "new" / "advice.html"
    return ask(table, *QUICK, "--json", "--page", str(page)), page


def test_json_holds_scores_differences_and_a_recommendation(asked):
    done, _ = asked
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["data"]["bags"] == 40 and told["data"]["positive"] == "none"
    assert set(told["scores"]) == {"mean", "all", "lme", "attention", "forest"}
    assert {"name", "other", "value", "low", "high", "verdict"} <= set(told["differences"][0])
    assert told["recommendation"]["sentence"].startswith(("Use ", "Nothing"))
    assert told["signal"]["signal"]["low"] <= told["signal"]["signal"]["value"]
    assert list(told["forecasts"]), "the theories of studies are asked"


def test_the_other_label_can_be_the_positive_one(table):
    done = ask(table, *QUICK, "--json", "--positive", "<b>one</b>")
    told = json.loads(done.stdout)["data"]
    assert told["positive"] == "<b>one</b>" and told["negative"] == "none"
    refused = ask(table, *QUICK, "--positive", "two")
    assert refused.exit_code == 2 and "positive = 'two' must be one of" in refused.stderr


def test_the_page_stands_alone_and_is_written_whole(asked):
    _, page = asked
    text = page.read_text()
    assert [path.name for path in page.parent.iterdir()] == ["advice.html"]
    assert text.rstrip().endswith("</html>") and text.count("data:image/png;base64,") >= 2
    assert 'src="http' not in text and "href=" not in text


def test_what_comes_from_data_is_escaped(table, tmp_path):
    turned = tmp_path / "turned.csv"
    turned.write_text(
        Path(table).read_text().replace("none", "a").replace("<b>one</b>", "z<script>"))
    page = tmp_path / "p.html"
    done = ask(str(turned), *QUICK, "--page", str(page))
    assert done.exit_code == 0 and "label z<script>" in done.stdout
    assert "z<script>" not in page.read_text() and "z&lt;script&gt;" in page.read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("no.npz",), "does not exist"), (("no.txt",), "must end in .npz, .csv or .parquet"),
        (("TABLE", "--bag", "who"), "has no column 'who'"),
        (("TABLE", "--page", "x.pdf"), "must end in .html"),
        (("TABLE", "--page", "/proc/x/y.html"), "cannot be written"),
        (("TABLE", "--folds", "1"), "folds = 1 must be at least 2"),
        (("TABLE", "--seed", "-1"), "seed = -1 must be at least 0"),
        (("TABLE", "--label", "first"), "the column 'label' does not hold numbers")])
def test_refusals(table, words, says):
    done = ask(*(table if word == "TABLE" else word for word in words))
    assert done.exit_code == 2, done.output
    assert says in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("saccade:")]) == 1
    assert "Traceback" not in done.output


NUMBERS = np.arange(24.0).reshape(4, 3, 2)


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"X": np.where(NUMBERS == 9, np.nan, NUMBERS), "y": [0, 1, 0, 1]}, "token [1, 1] holds"),
        ({"tokens": np.full((4, 2), np.inf), "lengths": [2, 2], "y": [0, 1]}, "token [0] holds"),
        ({"X": NUMBERS[:, 0, 0], "y": [0, 1, 0, 1]}, "must hold numbers of shape (n, L, d)"),
        ({"X": NUMBERS.astype(str), "y": [0, 1, 0, 1]}, "must hold numbers of shape (n, L, d)"),
        ({"X": NUMBERS, "y": np.ones(4)}, "only one class: 1.0")])
def test_arrays_that_are_refused(arrays, says, tmp_path):
    np.savez(tmp_path / "bags.npz", **arrays)
    done = ask(str(tmp_path / "bags.npz"))
    assert done.exit_code == 2 and says in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("saccade:")]) == 1


def test_numbers_under_a_mask_are_not_looked_at(tmp_path):
    random = np.random.default_rng(0)
    X, y, mask = random.standard_normal((20, 4, 2)), np.arange(20) % 2, np.ones((20, 4), bool)
    X[::2, 3], mask[::2, 3] = np.nan, False
    np.savez(tmp_path / "bags.npz", X=X, y=y, mask=mask)
    done = ask(str(tmp_path / "bags.npz"), *QUICK)
    assert done.exit_code == 0 and "3 to 4 tokens each" in done.stdout


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("", "has no row below its head"), ("1,0,2\n1,0,\n", "row 2 has no finite number"),
        ("1,0,2\n2,,3\n", "row 2 has no entry in the column 'label'"),
        (",0,2\n2,1,3\n", "row 1 has no entry in the column 'bag'"),
        ("1,0,2\n1,1,3\n", "differs between tokens of one bag")])
def test_tables_that_are_refused(rows, says, tmp_path):
    (tmp_path / "bags.csv").write_text(f"bag,label,first\n{rows}")
    done = ask(str(tmp_path / "bags.csv"))
    assert done.exit_code == 2 and says in done.stderr
