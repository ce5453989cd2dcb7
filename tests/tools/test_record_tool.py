"""`tools/record.py`: judged ledgers in, the record out, each row with what judged it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import record as tool

from saccade.errors import InvalidInput
from saccade.lab import index, record, registry
from saccade.lab.fingerprint import version_of
from saccade.lab.ledger import Conditions, judge_all

STUDY = "single-location"


@pytest.fixture(autouse=True)
def quick_index(monkeypatch):
    """The index is tested elsewhere; here one study's is enough."""
    monkeypatch.setattr(tool, "STUDIES", [STUDY])


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    claims = registry.find_claims([f"{STUDY}.zeta", f"{STUDY}.attention-is-softmax"])
    store = str(tmp_path_factory.mktemp("store"))
    return judge_all(claims, Conditions(sabotage=True, folder=store))


def ledger(path, rows):
    path.write_text(json.dumps({"claims": rows}))
    return path


def written(folder, *inputs, **options):
    tool.write_record([Path(item) for item in inputs], folder / "record", **options)
    return json.loads((folder / "record" / f"{STUDY}.json").read_text())["claims"]


def test_rows_keep_what_judged_them_and_lose_what_is_not_of_the_release(tmp_path, rows):
    noisy = [row | {"traceback": "t", "published": {}, "current": True} for row in rows]
    kept = written(tmp_path, ledger(tmp_path / "l.json", noisy))
    assert [row["id"] for row in kept] == [row["id"] for row in rows]
    for row in kept:
        assert row["judged"]["code"] and row["judged"]["versions"]["jax"]
        assert not {"traceback", "published", "current"} & set(row)
    assert (tmp_path / "record" / "index" / f"{STUDY}.json").is_file()


def test_the_last_row_of_a_scale_counts_and_scales_stand_beside_each_other(tmp_path, rows):
    one = rows[0]
    inputs = [
        ledger(tmp_path / "a.json", [one | {"measurement": 1.0}]),
        ledger(tmp_path / "b.json", [one | {"measurement": 2.0}]),
        ledger(tmp_path / "c.json", [one | {"scale": "standard", "measurement": 3.0}]),
        ledger(tmp_path / "d.json", [one | {"scale": "paper", "verdict": "waiting"}])]
    kept = written(tmp_path, *inputs)
    assert [(row["scale"], row["measurement"]) for row in kept] == [("quick", 2.0), ("standard", 3)]


def test_rows_at_somebodys_own_parameters_are_refused(tmp_path, rows):
    own = [rows[0] | {"setting": "not the published setting: dim = 5", "changes": {"dim": 5}}]
    with pytest.raises(InvalidInput, match="not the published"):
        written(tmp_path, ledger(tmp_path / "l.json", own))


def test_rows_that_fit_no_claim_as_it_is_are_left_out_with_a_line(tmp_path, rows, capsys):
    gone = rows[0] | {"id": f"{STUDY}.no-such-claim"}
    assert len(written(tmp_path, ledger(tmp_path / "l.json", [gone, *rows]))) == len(rows)
    assert f"left out: {STUDY}.no-such-claim at quick" in capsys.readouterr().out
    for wrong in ({"statement": "Another."}, {"sabotages": []}, {"unbroken": ["0"]}):
        changed = ledger(tmp_path / "l.json", [rows[0] | wrong, rows[1]])
        assert [row["id"] for row in written(tmp_path, changed)] == [rows[1]["id"]]
        assert f"left out: {rows[0]['id']} at quick: " in capsys.readouterr().out


def test_an_update_keeps_what_the_inputs_do_not_have(tmp_path, rows, monkeypatch):
    written(tmp_path, ledger(tmp_path / "l.json", rows))
    monkeypatch.setattr(record, "FOLDER", tmp_path / "record")
    record.rows.cache_clear()
    record.figures.cache_clear()
    again = ledger(tmp_path / "m.json", [rows[0] | {"scale": "standard"}])
    kept = written(tmp_path, again, update=True)
    record.rows.cache_clear()
    record.figures.cache_clear()
    assert len(kept) == len(rows) + 1
    assert len(written(tmp_path, again)) == 1


def test_a_ledger_that_does_not_say_what_judged_it_needs_a_commit(tmp_path, rows, monkeypatch):
    silent = ledger(
        tmp_path / "l.json",
        [{name: value for name, value in row.items() if name != "judged"} for row in rows])
    with pytest.raises(InvalidInput, match="--judged-at"):
        written(tmp_path, silent)
    assert not (tmp_path / "record").exists()
    code = {row["experiment"]: ["some.module", "0123"] for row in rows}
    monkeypatch.setattr(tool, "code_at", lambda commit: code)
    kept = written(tmp_path, silent, judged_at="abc")
    assert kept[0]["judged"] | {"versions": {}, "date": ""} == {
        "date": "", "commit": "abc", "code": "0123", "module": "some.module", "versions": {}}


def test_pictures_of_a_report_come_along_without_their_pdf(tmp_path, rows):
    import matplotlib.pyplot as plt

    from saccade.lab.figure import Figure
    from saccade.report import write_report

    def draw(runs):
        drawing, axes = plt.subplots(figsize=(3, 2))
        axes.plot([0, 1], [0, 1])
        return drawing

    line = Figure(f"{STUDY}/line", "A line", "From 0 to 1.", "nowhere", {}, draw)
    page = write_report(
        rows, tmp_path / "report", scale="quick", seed=0, store=None, figures=[line])
    written(tmp_path, page.parent)
    [figure] = json.loads((tmp_path / "record" / "figures.json").read_text())["figures"]
    assert figure["pdf"] == "" and (tmp_path / "record" / figure["png"]).is_file()
    assert (tmp_path / "record" / f"{figure['live']}.gz").is_file()


@pytest.mark.slow
def test_code_versions_of_a_commit_are_those_of_its_tree():
    listing = subprocess.run(
        ["git", "-C", str(tool.ROOT), "status", "--porcelain", "--", "src"], capture_output=True,
        text=True, check=False)
    if listing.returncode or listing.stdout:
        pytest.skip("not a checkout without changes")
    code = tool.code_at("HEAD")
    for claim in registry.claims():
        assert code[claim.experiment.id][1] == version_of(claim.experiment.function)
    assert set(code) <= {name for study in index.STUDIES for name in index.of(study)["code"]}
    with pytest.raises(InvalidInput, match="not a commit"):
        tool.code_at("no-such-commit")
