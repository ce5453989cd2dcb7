"""Sentences in which one adjective decides: the language version of single-location regression
(Marion et al. 2025, Appendix D.1).

Every text has two sentences. The adjective of the first one is a distractor; the label is the
sentiment (+1 or -1) of one adjective of the second one, whose position varies. A set is the
Cartesian product of its slots, so each label is as frequent as the other and is independent of
every other word. The slot sizes are those of the paper's released data, the words are our own:

| set | what is new compared with training | size |
|---|---|---|
| train | | 15552 |
| test | owners, colours, animals, adverbs and sizes; the paper's set holds each sentence twice, and
so does this one | 4608 |
| test_described | the same words in both patterns, as the paper's text says (the released data have
only one); a size word makes the first pattern as frequent as the second | 4608 |
| ood_tokens | also the deciding adjectives, and a greeting before the second sentence | 3072 |
| ood_structure | the test words, known adjectives, another opening | 144 |
| ood_both | the test words, unseen adjectives, another opening | 96 |
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import jax
import numpy as np
from jaxtyping import Array, Int, Key

from saccade.errors import require

Slots = Mapping[str, tuple[str, ...]]

SENTIMENT = {
    "lovely": 1, "friendly": 1, "wonderful": 1, "awful": -1, "cruel": -1, "terrible": -1,
    "charming": 1, "gentle": 1, "horrible": -1, "vicious": -1}
KNOWN_ADJECTIVES = ("lovely", "friendly", "wonderful", "awful", "cruel", "terrible")
UNSEEN_ADJECTIVES = ("charming", "gentle", "horrible", "vicious")
# Two of these also decide: the same word matters in one place and not in the other.
DISTRACTORS = ("beautiful", "wonderful", "ugly", "terrible")

# An empty word is left out of the sentence, which varies its length.
TRAIN_SLOTS: Slots = {
    "distractor": DISTRACTORS, "owner": ("my", "your", "his", "her"),
    "colour": ("", "red", "blue", "green", "black", "white"), "animal": ("dog", "cat", "horse"),
    "adverb": ("", "very", "quite"), "size": ("big", "small"), "deciding": KNOWN_ADJECTIVES}
TEST_SLOTS: Slots = {
    "distractor": DISTRACTORS, "owner": ("our", "their"), "colour": ("brown", "yellow"),
    "animal": ("rabbit", "sheep", "goat"), "adverb": ("", "really"),
    "size": ("large", "huge", "little", "tiny"), "deciding": KNOWN_ADJECTIVES}
UNSEEN_SLOTS: Slots = {**TEST_SLOTS, "deciding": UNSEEN_ADJECTIVES}

ADJECTIVE_LAST = "The village is {distractor}. {owner} {colour} {animal} is {adverb} {deciding}"
ADJECTIVE_FIRST = (
    "The village is {distractor}. {owner} {deciding} {colour} {animal} is {adverb} {size}")
SIZED_LAST = "The village is {distractor}. {owner} {size} {colour} {animal} is {adverb} {deciding}"
GREETED_LAST = (
    "The village is {distractor}. Good morning, {owner} {size} {colour} {animal} is {adverb}"
    " {deciding}")
GREETED_FIRST = (
    "The village is {distractor}. Good morning, {owner} {deciding} {colour} {animal} is {adverb}"
    " {size}")
OTHER_OPENING = (
    "Hi, what is the time? Good morning, {owner} {colour} {animal} is {adverb} {deciding}")


@dataclass(frozen=True)
class SentenceSet:
    """Texts, their labels (+1 or -1) and the hidden truth: which word of `text.split()` decides."""

    texts: tuple[str, ...]
    labels: Int[np.ndarray, " n"]
    positions: Int[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, indices: Int[np.ndarray, " m"]) -> "SentenceSet":
        """The sentences at `indices`, in that order."""
        return SentenceSet(
            tuple(self.texts[i] for i in indices), self.labels[indices], self.positions[indices])

    def distinct(self) -> "SentenceSet":
        """Each text once, at its first occurrence."""
        first = {text: index for index, text in reversed(list(enumerate(self.texts)))}
        return self.take(np.sort(np.fromiter(first.values(), int)))


def _render(pattern: str, words: Mapping[str, str]) -> tuple[str, int]:
    """One text, and the index of its deciding word among the words of the text."""
    rendered: list[str] = []
    position = -1
    for piece in pattern.split():
        word = piece.format(**words)
        if piece == "{deciding}":
            position = len(rendered)
        if word:
            starts_sentence = bool(rendered) and rendered[-1].endswith(".")
            rendered.append(word.capitalize() if starts_sentence else word)
    return " ".join(rendered), position


def _expand(pattern: str, slots: Slots) -> SentenceSet:
    """The Cartesian product of the slots that the pattern mentions."""
    used = {name: words for name, words in slots.items() if f"{{{name}}}" in pattern}
    choices = [dict(zip(used, chosen, strict=True)) for chosen in product(*used.values())]
    texts, positions = zip(*(_render(pattern, choice) for choice in choices), strict=True)
    labels = np.array([SENTIMENT[choice["deciding"]] for choice in choices])
    return SentenceSet(texts, labels, np.array(positions))


def _together(*parts: SentenceSet) -> SentenceSet:
    texts = tuple(text for part in parts for text in part.texts)
    labels = np.concatenate([part.labels for part in parts])
    return SentenceSet(texts, labels, np.concatenate([part.positions for part in parts]))


def sentence_sets() -> dict[str, SentenceSet]:
    """The five sets of Table 1: train, test, ood_tokens, ood_structure, ood_both."""
    test = _expand(ADJECTIVE_FIRST, TEST_SLOTS)
    return {
        "train": _together(
            _expand(ADJECTIVE_LAST, TRAIN_SLOTS), _expand(ADJECTIVE_FIRST, TRAIN_SLOTS)),
        "test": _together(test, test),
        "ood_tokens": _together(
            _expand(GREETED_LAST, UNSEEN_SLOTS), _expand(GREETED_FIRST, UNSEEN_SLOTS)),
        "ood_structure": _expand(OTHER_OPENING, TEST_SLOTS),
        "ood_both": _expand(OTHER_OPENING, UNSEEN_SLOTS)}


def described_test() -> SentenceSet:
    """The test set as the paper's text describes it, in place of `test`: both patterns of training,
    other words, 4608 distinct sentences."""
    return _together(_expand(SIZED_LAST, TEST_SLOTS), _expand(ADJECTIVE_FIRST, TEST_SLOTS))


def balanced_subset(key: Key[Array, ""], sentences: SentenceSet, size: int) -> SentenceSet:
    """At most `size` (even) distinct sentences, drawn without replacement, half of each label, in
    the order of the set.

    Repeated texts are dropped first: they add cost and no information. A set that has no more than
    `size` distinct texts comes whole.
    """
    require(size >= 2 and size % 2 == 0, "size", size, "must be an even number of at least 2")
    pool = sentences.distinct()
    if size >= len(pool):
        return pool
    chosen = []
    for label, label_key in zip((-1, 1), jax.random.split(key), strict=True):
        members = np.flatnonzero(pool.labels == label)
        require(
            len(members) >= size // 2, "size", size,
            f"must be at most {2 * len(members)} for a balanced draw")
        chosen.append(np.asarray(jax.random.permutation(label_key, members))[: size // 2])
    return pool.take(np.sort(np.concatenate(chosen)))
