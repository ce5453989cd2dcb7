"""The index: what it says is what the studies are, it is believed only while it fits their source,
and it is quick."""

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from saccade import studies
from saccade.errors import InvalidInput
from saccade.lab import index, registry
from saccade.lab.fingerprint import version_of
from saccade.studies import STUDIES


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "_cache_file", lambda study: tmp_path / "cache" / f"{study}.json")
    index.of.cache_clear()
    yield tmp_path / "cache"
    index.of.cache_clear()


@pytest.mark.parametrize("study", STUDIES)
def test_the_index_says_what_the_study_is(study):
    """Whether it came from the record, from the cache or from the study itself."""
    known = index.listing(study)
    assert known["claims"] == as_json([claim.describe() for claim in registry.claims(study)])
    assert known["figures"] == as_json([item.describe() for item in registry.figures(study)])
    assert known["calculators"] == as_json(
        [item.describe() for item in registry.calculators(study)])
    assert [item["id"] for item in known["experiments"]] == [
        item.id for item in registry.experiments(study)]
    for claim in registry.claims(study):
        assert index.of(study)["code"][claim.experiment.id] == version_of(claim.experiment.function)


def as_json(value):
    return json.loads(json.dumps(value))


def test_an_index_of_other_source_is_not_believed(own_cache, monkeypatch):
    [study] = list(STUDIES)[:1]
    true = index.make(study)
    monkeypatch.setattr(index, "SHIPPED", own_cache / "nowhere")
    own_cache.mkdir()
    for text in (
        json.dumps(true | {"source": "0" * 16, "claims": []}), "not JSON", "[]", json.dumps({}),
    ):
        (own_cache / f"{study}.json").write_text(text)
        index.of.cache_clear()
        assert index.at_hand(study) is None
        assert index.of(study)["claims"] == true["claims"]
        (own_cache / f"{study}.json").unlink()


def test_a_new_index_is_kept_and_found_again(own_cache, monkeypatch):
    monkeypatch.setattr(index, "SHIPPED", own_cache / "nowhere")
    [study] = list(STUDIES)[:1]
    assert index.at_hand(study) is None
    first = index.of(study)
    monkeypatch.setattr(index, "make", None)
    index.of.cache_clear()
    assert index.of(study) == as_json(first)


def test_a_cache_that_cannot_be_written_costs_only_time(monkeypatch):
    monkeypatch.setattr(index, "SHIPPED", Path("nowhere"))
    monkeypatch.setattr(index, "_cache_file", lambda study: Path("/dev/null/index") / study)
    assert index.of(next(iter(STUDIES)))["claims"]


def test_any_change_of_a_study_changes_its_hash(tmp_path, monkeypatch):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "claims.py").write_text("ONE = 1\n")
    monkeypatch.setattr(index, "folder", lambda study: folder)
    before = index.source_hash("any")
    (folder / "claims.py").write_text("ONE = 2\n")
    changed = index.source_hash("any")
    (folder / "more.py").write_text("")
    assert len({before, changed, index.source_hash("any")}) == 3


def test_a_study_of_another_package_appears_without_an_edit(tmp_path, monkeypatch, own_cache):
    from saccade.lab.new_study import new_study

    folder = new_study("sparse-patches", tmp_path)
    monkeypatch.syspath_prepend(str(folder / "src"))
    point = EntryPoint("x", "saccade_sparse_patches.study:STUDY", studies.GROUP)
    known = studies.registered([*studies.built_in(), point])
    for module in (index, registry):
        monkeypatch.setattr(module, "STUDIES", known)
    listed = index.listing("sparse-patches")
    assert listed["claims"] and listed["calculators"]
    assert (own_cache / "sparse-patches.json").is_file()


def test_a_study_that_is_not_there_is_refused():
    with pytest.raises(InvalidInput, match="sparse-tokens"):
        index.listing("sparse-tokens")


def test_list_needs_no_array_library_once_the_index_is_there(tmp_path):
    script = (
        "import sys; from saccade.cli import app\ntry: app(['list'])\nfinally:"
        " print(sorted({'jax', 'numpy', 'scipy', 'matplotlib'} & set(sys.modules)),"
        " file=sys.stderr)")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for _ in range(2):
        said = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment)
        assert said.returncode == 0, said.stderr
    assert said.stderr.splitlines()[-1] == "[]"
    assert all(f"{name}." in said.stdout for name in STUDIES)
