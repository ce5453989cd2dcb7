"""Bags from files: every format, every kind of damage in one sentence."""

import numpy as np
import pandas
import pytest

from saccade.errors import InvalidInput
from saccade.estimators.advise.reading import read_file

TABLE = pandas.DataFrame(
    {"who": ["b", "a", "b"], "ill": ["yes", "no", "yes"], "x": [1.0, 2.0, 3.0], "z": [4, 5, 6]})


def test_arrays_with_a_mask(tmp_path):
    path = str(tmp_path / "a.npz")
    X, y, mask = np.ones((2, 3, 4)), np.array([0, 1]), np.ones((2, 3), bool)
    np.savez(path, X=X, y=y, mask=mask)
    read = read_file(path)
    assert read[0].shape == (2, 3, 4) and read[1].tolist() == [0, 1] and read[2].all()


def test_tokens_and_lengths(tmp_path):
    path = str(tmp_path / "a.npz")
    np.savez(path, tokens=np.arange(6.0).reshape(3, 2), lengths=[1, 2], y=[0, 1])
    bags, _, mask = read_file(path)
    assert bags.lengths.tolist() == [1, 2] and bags[1].tolist() == [[2, 3], [4, 5]] and mask is None


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_with_a_row_a_token(tmp_path, ending):
    path = str(tmp_path / f"a.{ending}")
    if ending == "csv":
        TABLE.to_csv(path, index=False)
    else:
        pytest.importorskip("pyarrow")
        TABLE.to_parquet(path)
    bags, y, _ = read_file(path, "who", "ill")
    assert bags[0].tolist() == [[1, 4], [3, 6]] and bags[1].tolist() == [[2, 5]]
    assert list(y) == ["yes", "no"]


def write(tmp_path, name, content):
    path = tmp_path / name
    if isinstance(content, dict):
        np.savez(path, **content)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)
    return str(path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", "x", "must end in .npz, .csv or .parquet"),
        ("a.npz", b"PK\x03\x04 damaged", "cannot be read"),
        ("a.npz", b"nonsense", "it is no archive of NumPy arrays"),
        ("a.npz", {"X": np.ones((2, 2, 2))}, "must hold X and y"),
        ("a.npz", {"tokens": np.ones((3, 2)), "lengths": [1, 1], "y": [0, 1]}, "do not sum"),
        ("a.npz", {"X": np.array([{}], dtype=object), "y": [0]}, "cannot be read"),
        ("a.csv", "", "cannot be read"), ("a.csv", "label,x\n1,2\n", "has no column 'bag'"),
        ("a.csv", "bag;label;x\n1;0;2,5\n", "separate columns by commas"),
        ("a.csv", "bag,label\n1,2\n", "there is no feature"),
        ("a.csv", "bag,label,x\n1,0,red\n", "the column 'x' does not hold numbers"),
        ("a.csv", "bag,label,x\n1,0,1\n1,1,2\n", "differs between tokens of one bag"),
        ("a.parquet", b"PAR1 no", "cannot be read")])
def test_damage_is_one_sentence(tmp_path, name, content, says):
    with pytest.raises(InvalidInput, match=says) as refused:
        read_file(write(tmp_path, name, content))
    assert "\n" not in str(refused.value) and "file = " in str(refused.value)


def test_absent_files():
    with pytest.raises(InvalidInput, match=r"file = 'no.csv' does not exist"):
        read_file("no.csv")
