"""The sentence sets: sizes of the paper's Table 1, balance, disjointness, labels from the texts."""

import jax
import numpy as np
import pytest

from saccade.datasets.sentences import (
    KNOWN_ADJECTIVES,
    SENTIMENT,
    UNSEEN_ADJECTIVES,
    SentenceSet,
    balanced_subset,
    described_test,
    sentence_sets,
)
from saccade.errors import InvalidInput

SIZES = {"train": 15552, "test": 4608, "ood_tokens": 3072, "ood_structure": 144, "ood_both": 96}
DISTINCT = {**SIZES, "test": 2304}


@pytest.fixture(scope="module")
def sets() -> dict[str, SentenceSet]:
    return sentence_sets()


def test_sizes_are_those_of_the_table(sets):
    assert {name: len(sentences) for name, sentences in sets.items()} == SIZES
    assert {name: len(set(sentences.texts)) for name, sentences in sets.items()} == DISTINCT


def test_the_described_test_set_has_both_patterns_other_words_and_the_size_of_the_table(sets):
    described = described_test()
    assert len(described) == len(described.distinct()) == 4608 == len(sets["test"])
    assert not set(described.texts) & set(sets["train"].texts)
    ends = [
        text.split()[place + 1 :] == []
        for text, place in zip(described.texts, described.positions, strict=True)]
    assert np.mean(ends) == 0.5 == np.mean(described.labels > 0)


def test_no_text_is_in_two_sets(sets):
    assert len(set().union(*(s.texts for s in sets.values()))) == sum(DISTINCT.values()) == 21168


@pytest.mark.parametrize("name", SIZES)
def test_every_set_is_balanced(sets, name):
    assert set(sets[name].labels) == {-1, 1} and sets[name].labels.sum() == 0


@pytest.mark.parametrize("name", SIZES)
def test_only_the_deciding_adjective_tells_the_label(sets, name):
    """Neither any other word nor the number of words is correlated with the label."""
    texts, labels = sets[name].texts, sets[name].labels
    words = [text.lower().replace(".", "").split() for text in texts]
    for word in set().union(*words) - set(SENTIMENT):
        assert labels[[word in sentence for sentence in words]].sum() == 0, word
    for length in set(map(len, words)):
        assert labels[[len(sentence) == length for sentence in words]].sum() == 0
    firsts = np.array(
        [sentence[3] for sentence in words])  # the distractor, in the sets that have one
    for first in set(firsts):
        assert labels[firsts == first].sum() == 0


@pytest.mark.parametrize("name", SIZES)
def test_the_position_points_at_the_word_that_decides(sets, name):
    deciding = [
        text.split()[at] for text, at in zip(sets[name].texts, sets[name].positions, strict=True)]
    assert [SENTIMENT[word] for word in deciding] == list(sets[name].labels)
    allowed = UNSEEN_ADJECTIVES if name in ("ood_tokens", "ood_both") else KNOWN_ADJECTIVES
    assert set(deciding) == set(allowed)


def test_the_position_varies_in_training(sets):
    assert len(set(sets["train"].positions)) >= 4


def test_test_words_are_new_except_the_adjectives(sets):
    """Besides the fixed words and the adjectives, no word of a test set occurs in training."""
    fixed = {
        "the", "village", "is", "beautiful", "wonderful", "ugly", "terrible", *KNOWN_ADJECTIVES}
    words = {
        name: {w.lower().strip(".,?") for t in s.texts for w in t.split()} - fixed
        for name, s in sets.items()}
    for name in set(SIZES) - {"train"}:
        assert not words["train"] & words[name]
    assert not set(KNOWN_ADJECTIVES) & set(UNSEEN_ADJECTIVES)


def test_texts_are_clean(sets):
    for text in set().union(*(s.texts for s in sets.values())):
        assert "  " not in text and "{" not in text
        assert text[0].isupper() and not text.endswith((".", " "))


@pytest.mark.parametrize("name, size", [("train", 1200), ("test", 600), ("ood_structure", 600)])
def test_subsets_stay_balanced_distinct_and_inside(sets, name, size):
    subset = balanced_subset(jax.random.key(3), sets[name], size)
    assert len(subset) == len(set(subset.texts)) == min(size, DISTINCT[name])
    assert subset.labels.sum() == 0
    lookup = dict(zip(
        sets[name].texts, zip(sets[name].labels, sets[name].positions, strict=True), strict=True
    ))
    assert [lookup[text] for text in subset.texts] == list(
        zip(subset.labels, subset.positions, strict=True))


def test_the_key_decides_the_subset(sets):
    draw = lambda seed: balanced_subset(jax.random.key(seed), sets["train"], 100).texts  # noqa: E731
    assert draw(0) == draw(0) and draw(0) != draw(1)


@pytest.mark.parametrize("size", [0, 3, -2])
def test_odd_and_empty_sizes_are_refused(sets, size):
    with pytest.raises(InvalidInput, match=f"size = {size}"):
        balanced_subset(jax.random.key(0), sets["train"], size)
