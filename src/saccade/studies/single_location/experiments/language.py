"""What a pretrained encoder's [CLS] knows of the adjective that decides: Figure 1b, Table 1."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.datasets.sentences import SentenceSet, balanced_subset, described_test, sentence_sets
from saccade.lab.experiment import experiment
from saccade.networks.bert import cls_states, load_bert, tokenize
from saccade.studies.single_location.dynamics.probe import probe_layers


@experiment("single-location.sentence-sets")
def count_sentences(
    key: Any, *, duplicate_test: bool = True, without: tuple[str, ...] = (), leak: bool = False,
    described: bool = False,
) -> xarray.Dataset:
    """Sizes of the five sets of sentences, how many are distinct, and the share of positives; maybe
    `without` some deciding words, with all sentences in the training texts (`leak`), or with the
    test set that the paper's text describes."""
    drawn = sentence_sets() | ({"test": described_test()} if described else {})
    sets = {name: _without(one, without) for name, one in drawn.items()}
    if not duplicate_test:
        sets["test"] = sets["test"].distinct()
    texts = {name: set(one.texts) for name, one in sets.items()}
    if leak:
        texts["train"] = set().union(*texts.values())
    columns = {
        "size": [len(one) for one in sets.values()], "distinct": [len(x) for x in texts.values()],
        "positive": [float(np.mean(one.labels > 0)) for one in sets.values()],
        "shared_with_train": [len(x & texts["train"]) for x in texts.values()]}
    return xarray.Dataset(
        {name: ("set", values) for name, values in columns.items()}, {"set": list(sets)})


@experiment("single-location.sentence-pairs")
def sentence_pairs(key: Any, *, pairs: int = 2) -> xarray.Dataset:
    """Indices of pairs of training texts that differ in the deciding word alone and have opposite
    labels."""
    train, found = sentence_sets()["train"], []
    frames = [_frame(text, place) for text, place in zip(train.texts, train.positions)]
    members: dict[str, list[int]] = {}
    for index, frame in enumerate(frames):
        members.setdefault(frame, []).append(index)
    for number in np.asarray(jax.random.permutation(key, len(frames)))[:pairs]:
        others = members[frames[number]]
        opposite = [i for i in others if train.labels[i] != train.labels[number]]
        found.append([int(number), opposite[0]])
    return xarray.Dataset({"index": (("pair", "member"), np.array(found))})


def _frame(text: str, place: int) -> str:
    words = text.split()
    return " ".join([*words[:place], "_", *words[place + 1 :]])


def _without(one: SentenceSet, words: tuple[str, ...]) -> SentenceSet:
    """The sentences that none of the words decides."""
    deciding = (text.split()[place] for text, place in zip(one.texts, one.positions))
    return one.take(np.flatnonzero([word not in words for word in deciding]))


@experiment(
    "single-location.cls-probe",
    scales={"standard": {"train": 4000, "test": 2304}, "paper": {"train": 15_552, "test": 4608}})
def cls_probe(
    key: Any, *, train: int = 1000, test: int = 400, model: str | None = None,
    test_on_train: bool = False, described: bool = False,
) -> xarray.Dataset:
    """Accuracy of a linear probe of the [CLS] state at every layer, on distinct sentences
    (`test_on_train`: those of the test set are the probe's own; `described`: the test set of the
    paper's text), and of one trained on shuffled labels.

    `model` is a folder or a hub name; by default the installed encoder (see the extra `nlp`).
    """
    keys = jax.random.split(key, 6)
    bert = load_bert(model)
    sets = {
        name: balanced_subset(one, sentences, train if name == "train" else test)
        for one, (name, sentences) in zip(
            keys, (sentence_sets() | ({"test": described_test()} if described else {})).items(),
            strict=False)}
    states = {
        name: cls_states(bert.encoder, *tokenize(bert, sentences.texts))
        for name, sentences in sets.items() if not (test_on_train and name == "test")}
    if test_on_train:
        sets["test"], states["test"] = sets["train"], states["train"]
    labels = {name: sentences.labels for name, sentences in sets.items()}
    shuffled = np.asarray(jax.random.permutation(keys[5], labels["train"]))
    others = {name: (states[name], labels[name]) for name in sets if name != "train"}
    values, without = (
        np.array([found[name] for name in sets])
        for found in (
            probe_layers(states["train"], answers, others)
            for answers in (labels["train"], shuffled)))
    return xarray.Dataset(
        {
            "accuracy": (("set", "layer"), values), "shuffled": (("set", "layer"), without),
            "sentences": ("set", [len(sets[name]) for name in sets])},
        {"set": list(sets), "layer": np.arange(values.shape[1])})
