"""Claims on the language experiment: the sizes of Table 1, and what [CLS] knows at each layer
(Figure 1b), about means only."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, IDENTITY, ORDERING
from saccade.studies.single_location.experiments import language

NEEDS = "nlp:safetensors,tokenizers"

TABLE_1 = Claim(
    id="single-location.sentence-counts", spec="SL-T1tab",
    statement=(
        "The five sets hold 15552, 4608, 3072, 144 and 96 sentences, half of them positive, none of"
        " the test sentences in training."),
    source="Table 1", status="exact", kind=IDENTITY, experiment=language.count_sentences,
    measure=lambda run: one_row(np.concatenate([
        run.data["size"].values, run.data.positive.values,
        run.data.shared_with_train.values[1:]])),
    predict=lambda run: [15552, 4608, 3072, 144, 96, *[0.5] * 5, *[0] * 4], resolution=0.0,
    argued="Counts.",
    finding="The paper's 4608 test sentences are 2304 distinct ones, each listed twice.",
    sabotages=(Sabotage(
        "distinct-test", "Count each test sentence once.", parameters={"duplicate_test": False}
    ),))


def _mean(run: Run, name: str) -> float:
    """Accuracy on one set, averaged over the layers above the embeddings."""
    return float(run.data.accuracy.sel(set=name)[1:].mean())


CHANCE = Claim(
    id="single-location.cls-layer-zero", spec="SL-F1b",
    statement=(
        "Before the first layer [CLS] knows nothing of the sentence: a linear probe is at 50 %."),
    source="Figure 1b", status="exact", kind=IDENTITY, experiment=language.cls_probe,
    measure=lambda run: one_row(run.data.accuracy.values[:, 0]), predict=lambda run: [0.5] * 5,
    resolution=0.0, argued="The state is the same for every sentence and the sets are balanced.",
    parts=("train", "test", "ood_tokens", "ood_structure", "ood_both"), requires=NEEDS,
    figure="single-location/1b",
    scales={"quick": Scale(seconds=12), "standard": Scale(seconds=60), "paper": Scale(seconds=200)},
    sabotages=(Sabotage(
        "first-layer", "Look after the first layer instead.",
        measure=lambda run: one_row(run.data.accuracy.values[:, 1])),))

PROBE = Claim(
    id="single-location.cls-probe", spec="SL-F1b",
    statement=(
        "Averaged over layers, a linear probe of [CLS] separates the training set and does better"
        " than chance on every test set."),
    source="Figure 1b", status="heuristic", kind=ABOVE, experiment=language.cls_probe,
    measure=lambda run: one_row([_mean(run, name) for name in run.data["set"].values]),
    predict=lambda run: [0.99, 0.65, 0.55, 0.53, 0.53], resolution=0.0,
    argued=(
        "One pretrained encoder (MiniLM, six layers, in place of BERT-base), so nothing to average"
        " over but sentences. Asked is well below what twenty choices of sentences gave at the"
        " least (1.00, 0.83, 0.68, 0.65, 0.60)."),
    parts=("train", "test", "ood_tokens", "ood_structure", "ood_both"), requires=NEEDS,
    figure="single-location/1b",
    scales={"quick": Scale(seconds=12), "standard": Scale(seconds=60), "paper": Scale(seconds=200)},
    sabotages=(Sabotage(
        "shuffled-labels", "Train the probe on shuffled labels.",
        parameters={"shuffle_labels": True}),))

DEGRADES = Claim(
    id="single-location.cls-probe-degrades", spec="SL-F1b",
    statement=(
        "Averaged over layers, accuracy is highest in training, lower on the test set, and lowest"
        " on average out of distribution."),
    source="Figure 1b", status="heuristic", kind=ORDERING, experiment=language.cls_probe,
    measure=lambda run: one_row([
        _mean(run, "train") - _mean(run, "test"),
        _mean(run, "test") - np.mean([_mean(run, name) for name in run.data["set"].values[2:]])]),
    predict=lambda run: 0.03, resolution=0.01,
    argued=(
        "One encoder and no chance but the choice of sentences: the means of three choices differ"
        " by up to 0.03, so a difference must be larger."),
    parts=("train - test", "test - out of distribution"), requires=NEEDS,
    figure="single-location/1b",
    scales={"quick": Scale(seconds=12), "standard": Scale(seconds=60), "paper": Scale(seconds=200)},
    sabotages=(Sabotage(
        "shuffled-labels", "Train the probe on shuffled labels.",
        parameters={"shuffle_labels": True}),))
