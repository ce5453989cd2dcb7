"""Claims on what the study computes with, beside plain versions of it: what holds for every draw,
the certificate coordinate by coordinate, training step by step, decoders layer by layer."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.claims import claim, seconds
from saccade.studies.sparse_recovery.experiments import (
    certificates,
    construction,
    curriculum_by_hand,
    data,
    network_by_hand,
    training_by_hand,
)

_beside = partial(
    claim, measure=lambda run: one_row(run.data.made.values),
    predict=lambda run: run.data.plain.values, kind=IDENTITY)
RULES = {
    "values": 0.0, "values on one matrix": 0.0, "query": 0.0, "shared matrices": 8 / 11,
    "non-zeros": 4.0, "outside": 0.0, "halves of blocks": 0.0, "sizes said": 907.0, "sizes": 907.0,
    "support": 0.0, "rows": 5.0, "where": 0.0,
    "defaults": float(np.array([20, 10, 3, 0, 0.5, 8, 8]) @ np.sqrt(np.arange(1.0, 8.0))),
    "in a program": 0.0, "several keys": 0.0}

DRAWN = claim(
    "sparse-recovery.sample-rules", "SR-D0",
    "In every draw values are X beta, three vectors in turn share a matrix, supports are whole"
    " blocks of the pool, which has a gap, with as many non-zeros as asked for, `where` is the"
    " support, tokens are nine of width seven, and a key draws the same alone, beside another and"
    " in a compiled program. Where nothing is said d = 20, N = 10, S = 3, there is no noise, the"
    " correlation is one half and the pool holds all whole blocks.",
    "Twelve noise-free instances; rounding of sums of eight terms. Eight of eleven neighbours share"
    " a matrix.", Sabotage("own-matrices", "A matrix for each vector.", {"vectors": 1}),
    Sabotage("noisy", "Values with noise.", {"noise": 0.3}),
    Sabotage(
        "free-supports", "Two non-zeros anywhere.",
        {"sparsity": 2, "pool": tuple(range(8)), "block": 1}),
    Sabotage("fewer-rows", "Four rows.", {"measurements": 4}),
    Sabotage("of-the-next", "The supports of the next instance.", {"turned": 1}),
    measure=lambda run: one_row(run.data.rule.values), predict=lambda run: list(RULES.values()),
    resolution=1e-9, kind=IDENTITY, experiment=data.sample_rules, parts=tuple(RULES),
    scales=seconds(quick=1))


def _certified(run: Run) -> np.ndarray:
    """What the certificate says, and the sum of the last bounds on two matrices at once, with
    products of mu and mu/2, two non-zeros and E_0 = 1.3."""
    mu, delta, nu = run.data.made.values[:3]
    p = run.parameters
    _, bounds = theory.error_bounds(mu * np.array([1.0, 0.5]), delta, nu, 2, 1.3, p.gamma, p.steps)
    return one_row([*run.data.made.values, bounds[:, -1].sum()])


CERTIFIED = _beside(
    "sparse-recovery.certificate-by-hand", "SR-T2",
    "mu, delta, nu, q, E_3, theta_2 and the matrix of a certificate with a known covariance, and"
    " the iterate they lead to, are those of loops over coordinates.",
    "Rounding; 7 rows, 5 coordinates, noise, gamma = 0.6, a random covariance.",
    Sabotage(
        "no-covariance", "The loops take the identity for the covariance.", {"whitened": False}),
    measure=_certified, resolution=1e-10, experiment=certificates.certificate_by_hand,
    parts=("mu", "delta", "nu", "q", "E_3", "theta_2", "matrix", "iterate", "two matrices"),
    scales=seconds(quick=1))

TRAINED = _beside(
    "sparse-recovery.training-by-hand", "SR-F1",
    "Three and five steps of training take ALISTA, block thresholds and LISTA-CP, two of each with"
    " problems of their own, where Adam in NumPy takes them, on the mean of |b - beta|^2 with"
    " clipped gradients (block thresholds: unclipped) and a cosine; the layers they start from are"
    " those of their definitions.",
    "Training is in single precision; gradients by hand are central differences in double. Layers"
    " are weighed entry by entry.",
    Sabotage(
        "unclipped", "Do not clip the gradients by hand, nor divide LISTA's first weights by L.",
        {"clip_factor": 1e9, "normed": False}),
    Sabotage("faster", "By hand a rate of 0.03.", {"rate": 0.03}), resolution=2e-5,
    experiment=training_by_hand.training_by_hand,
    parts=(
        *(f"{name}, {steps} steps" for name in training_by_hand.NETWORKS for steps in (3, 5)),
        "starts, as told", "starts, as usual", "starts of two"),
    scales=seconds(quick=3))

GROWN = _beside(
    "sparse-recovery.curriculum-by-hand", "SR-F4",
    "A curriculum from four coordinates and one non-zero grows to seven and three, by one after"
    " equal stretches of three fifths of the steps; tasks cut down to five coordinates have two"
    " normal non-zeros anywhere there, nothing elsewhere, and values of their own. Batches to train"
    " on are of these sizes, and their rows know nothing of supports.",
    "Sizes and values are exact up to rounding; shares of places, mean squares and mean entries of"
    " 2000 tasks to six standard errors.",
    Sabotage("grows-longer", "Written down for four fifths of the steps.", {"grown": 0.8}),
    Sabotage(
        "six-and-three", "Tasks cut down to six coordinates and three non-zeros.",
        {"coordinates": 6, "non_zeros": 3}),
    Sabotage("of-the-next", "The vectors of the next task.", {"turned": 1}),
    Sabotage("longest", "Rows where their own entries are largest.", {"longest": True}),
    resolution=[*[1e-9] * 7, 0.08, 0.13, 1e-9, 1e-9, 0.08],
    experiment=curriculum_by_hand.curriculum_by_hand, parts=curriculum_by_hand.PARTS,
    scales=seconds(quick=1))

DECODED = _beside(
    "sparse-recovery.decoders-by-hand", "SR-F4",
    "Losses of decoders of pairs, of x- and y-tokens and of zero-padded ones, what is read after"
    " each layer and after repeated ones, the optimiser's steps and what a step is trained on are"
    " those put together by hand; decoders side by side start from weights of their own.",
    "Single precision, on five tasks of three coordinates and four rows; batches of twelve, of"
    " which three in turn share a matrix. 24,576 weights leave 0.006 to a correlation.",
    Sabotage(
        "misread", "By hand: the values of the next task, a prompt that forgets the query, another"
        " first layer, 4e-3 for the learning rate, and one start for all.",
        {"misread": True, "rate": 4e-3, "first": 1}),
    Sabotage("other-batches", "By hand: one batch a step, two vectors a matrix.", {"together": 2}),
    resolution=[*[1e-5] * 10, 1e-8, 1e-9, 0.0, 0.05], experiment=training_by_hand.decoders_by_hand,
    parts=(
        "loss, pairs", "loss, in turn", "labels, in turn", "loss, zero-padded",
        "labels, zero-padded", "places", "no layer", "one layer", "two layers", "last layer thrice",
        "optimiser", "shared matrices", "batches a step", "starts alike"),
    scales=seconds(quick=3))

NETWORK = _beside(
    "sparse-recovery.network-by-hand", "SR-F4",
    "The deep transformer that decoders are says what loops in NumPy say and looks where they look,"
    " and its derivatives are theirs: with softmax attention, LayerNorm, gelu and added positions;"
    " with ReLU attention and none of these; by places alone; with heads that are summed, all"
    " tokens seen and a quadratic read-out. A step of training takes the mean gradient of its"
    " batches, clipped for each of two models side by side.",
    "Double precision; central differences over 1e-5 leave some 1e-8.",
    Sabotage("other-scale", "Scores over d_h, not over its root.", {"power": 1.0}),
    Sabotage("two-batches", "The hand sees two of three batches.", {"batches": 2}),
    resolution=[*[1e-9, 1e-5, 1e-9] * 4, *[1e-9] * 3], experiment=network_by_hand.network_by_hand,
    parts=(
        *(
            f"{what}, {name}" for name in network_by_hand.CONFIGS
            for what in ("said", "slope", "looked")),
        "accumulated", "side by side, first", "side by side, second"),
    scales=seconds(quick=3))

NUMBERS = ("numbers, small", "numbers, gpt2")
ROOTS = {
    "pairs": (0, 1, 1, 6**-0.5, 6**-0.5, 0.1),
    "pairs, relu": (0, 1, 1, 0.3 * 6**-0.5, 0.3 * 6**-0.5, 0.1),
    "small": (0, 1, 0.002, 0, 0.002, 1), "gpt2": (0.02, 1, 1, 24**-0.5, 24**-0.5, 0.1)}
"""Sizes of the first weights of a decoder, as `network_by_hand.WEIGHTS` names them."""
SMALL = 12 * (4 * 3 * 42 * 42 + 2 * 42 * 168 + 168 + 42) + 42 + 1  # 425,923
GPT2 = 20 * 256 + 42 * 256 + 12 * (4 * 256 * 257 + 2 * 256 * 1024 + 1280 + 1024) + 3 * 256 + 1
"""Numbers of the paper's decoders: read-in, positions, layers, read-out; GPT-2's have biases, and
norms of two."""
THERE = [
    (decoder, weight) for decoder, sizes in ROOTS.items()
    for weight, size in zip(network_by_hand.WEIGHTS, sizes, strict=True) if size > 0]


def _first(run: Run) -> np.ndarray:
    """Sizes over those that are written down, in standard errors from one; the largest correlation;
    what is not one or zero as it should be; and numbers."""
    data = run.data
    roots = np.array([ROOTS[decoder] for decoder in ROOTS], float)
    there = roots > 0
    share = data.size.values[there] / roots[there] - 1
    none = data.size.values[~there].sum() + data.off.values.max()
    off = [*share * np.sqrt(2 * data["count"].values[there]), data.alike.values.max()]
    return one_row([*off, none, *data.numbers.values])


STARTED = claim(
    "sparse-recovery.first-weights", "SR-F4",
    "Before training the weights of decoders of pairs (softmax and ReLU attention), of the paper's"
    " small decoder and of the GPT-2-like one are normal with variance 1/fan-in times the squares"
    " of their factors, independent of each other, biases zero and scales one; at the paper's sizes"
    f" they have 425,923 and {GPT2:,} numbers.",
    "A root mean square of m normal numbers is known to 1/sqrt(2m), a correlation to 1/sqrt(m):"
    " six of these.",
    Sabotage("moved", "The same normal numbers of size 0.3 added to every array.", {"added": 0.3}),
    Sabotage("fewer-layers", "One layer less.", {"fewer": 1}), measure=_first,
    predict=lambda run: [*[0.0] * len(THERE), 0.0, 0.0, SMALL, GPT2],
    resolution=[*[6.0] * len(THERE), 6.0, 1e-12, 0.5, 0.5], kind=IDENTITY,
    experiment=network_by_hand.first_weights,
    parts=(
        *(f"{decoder}: {weight}" for decoder, weight in THERE), "correlation", "none, zero, one",
        *NUMBERS),
    scales=seconds(quick=2))

ATTENDED = _beside(
    "sparse-recovery.attention-by-hand", "SR-T1",
    "ReLU attention adds to every token the sum over heads and over the tokens up to it of relu(Qh"
    " . Kh') Vh', divided by its place.",
    "Rounding; sixteen random heads, four random tokens. In the construction what two heads do to"
    " tokens ahead would cancel, so heads without its symmetry are judged.",
    Sabotage("looks-ahead", "The loops see all tokens.", {"ahead": 3}), resolution=1e-10,
    experiment=construction.attention_by_hand, parts=tuple(f"token {n}" for n in (1, 2, 3)),
    scales=seconds(quick=1))
