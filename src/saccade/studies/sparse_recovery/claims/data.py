"""Claims on what the study computes with: the laws of matrices, vectors and noise, the Bayes
predictor, columns as tokens, and every step of the LISTA family."""

from itertools import combinations

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.kinds import ESTIMATE, IDENTITY
from saccade.studies.sparse_recovery.claims import claim, seconds
from saccade.studies.sparse_recovery.experiments import data, steps

NOISE, RHO = 0.5, -0.6
RECORDS = tuple(
    f"{method}: {what}" for method in ("ISTA", "FISTA")
    for what in (*(f"{name}, {k} steps" for name in ("b", "F", "gap") for k in steps.RECORD), "L"))
MOMENTS = {
    "gaussian x^4": 3.0, "uniform x^4": 9 / 5, "uniform max |x|": np.sqrt(3) * 18 / 19,
    "rademacher (x + x')^4": 8.0, "orthonormal lengths": 0.0, "orthonormal x^4": 18 / 8,
    "orthonormal x": 0.0, "lag 1": RHO, "lag 2": RHO**2, "query lag 1": RHO, "beta^2": 1 / 2,
    "beta^4": 3 / 2, "whole blocks": 1 / 2, "noise^2": NOISE**2, "noise^4": 3 * NOISE**4,
    "query noise^2": NOISE**2}
"""With d = 6. Entries of a Haar frame whose rows are sqrt(d) long have E x^4 = 3d/(d+2)."""

TASK = claim(
    "sparse-recovery.task-moments", "SR-D0",
    "Matrices of every design, vectors on blocks of a pool, noise and queries have the moments of"
    " their definition.",
    "32 samples of 3000 instances; the resolution is some six standard errors, or 0.025.",
    Sabotage(
        "laws-exchanged", "Uniform for Gaussian, Gaussian for uniform and for signs.",
        {"designs": ("uniform", "gaussian", "gaussian")}),
    Sabotage("no-frame", "Gaussian rows for orthonormal ones.", {"frame": "gaussian"}),
    Sabotage("plain-qr", "Rows of a QR factor, its signs as they come.", {"frame": "plain QR"}),
    Sabotage("less-correlated", "Neighbours correlated by -0.4.", {"correlation": -0.4}),
    Sabotage(
        "no-pool", "Supports anywhere, coordinate by coordinate.",
        {"pool": (0, 1, 2, 3, 4, 5), "block": 1}),
    Sabotage("more-noise", "Noise of 0.7.", {"noise": 0.7}),
    measure=lambda run: np.stack([run.data[name].values for name in MOMENTS], 1),
    predict=lambda run: list(MOMENTS.values()),
    resolution=lambda run: np.maximum(0.05 * np.abs(list(MOMENTS.values())), 0.025), kind=ESTIMATE,
    statistic="mean", experiment=data.task_moments, parts=tuple(MOMENTS),
    scales=seconds(quick=4, repetitions=4))

COLUMNS = claim(
    "sparse-recovery.columns-as-tokens", "SR-D0",
    "On columns as tokens the Bayes predictor is the Gaussian conditional mean over all supports,"
    " without noise the value itself, and LISTA-VM predicts and looks as plain loops do.",
    "Rounding; the road by conditioning inverts other matrices. Where there is no noise, one of"
    " 1e-6 stands for it.",
    Sabotage("other-noise", "The loops believe in twice the noise.", {"plain_noise": 0.6}),
    Sabotage("not-normalised", "The loops forget 1/(2n + 1).", {"normalised": False}),
    Sabotage("something-found", "Thresholds of 0.005 there, too.", {"hush": 0.005}),
    Sabotage("noisy-after-all", "A noise of 0.05 where none is said.", {"faint": 0.05}),
    measure=lambda run: one_row(run.data.model.values),
    predict=lambda run: run.data.plain.values.ravel(),
    resolution=[*[1e-9] * 6, *[1e-6] * 3, *[1e-9] * 15], kind=IDENTITY, experiment=data.columns,
    parts=tuple(
        f"{what}, sample {number}"
        for what in (
            "free", "blocks", "no noise", "LISTA-VM", "attention", "nothing found", "masked",
            "empty row")
        for number in (1, 2, 3)),
    scales=seconds(quick=3))

STEPS = claim(
    "sparse-recovery.steps-by-hand", "SR-D0",
    "Four steps of each algorithm of the family give what plain loops over their definitions give.",
    "Rounding; a masked coordinate, a number of rows that is not that of the matrix (for blocks it"
    " is) and, for ALISTA, weights that are not those of the matrix included.",
    Sabotage(
        "hard-threshold", "The loops keep what they do not cut, instead of shrinking it.",
        {"hard": True}),
    measure=lambda run: one_row(run.data.model.values), predict=lambda run: run.data.plain.values,
    resolution=1e-9, kind=IDENTITY, experiment=steps.steps_by_hand, parts=steps.NAMES,
    scales=seconds(quick=4))

RECORDED = claim(
    "sparse-recovery.recorded-iterates", "SR-T5",
    "Recorded iterates of ISTA and FISTA, with their objectives, duality gaps and L, are those of"
    " plain loops, in the order asked for.", "Rounding; after 5, 1 and 2 steps at 7 x 6.",
    Sabotage("other-penalty", "The loops believe in 1.1 lam, and in 1.1 L.", {"plain_lam": 0.11}),
    measure=lambda run: one_row(run.data.model.values), predict=lambda run: run.data.plain.values,
    resolution=1e-9, kind=IDENTITY, experiment=steps.recorded_iterates, parts=RECORDS,
    scales=seconds(quick=2))

PROMPTS = claim(
    "sparse-recovery.prompts", "SR-D0",
    "The paper's prompt, the one of pairs and the zero-padded one are those written down by hand.",
    "Rounding; every entry has a weight of its own.",
    Sabotage("other-values", "The values of the other row.", {"late": True}),
    measure=lambda run: one_row(run.data.made.values), predict=lambda run: run.data.written.values,
    resolution=1e-9, kind=IDENTITY, experiment=data.prompts,
    parts=("paper", "pairs", "zero-padded"), scales=seconds(quick=1))

PAIRS = tuple(
    f"{one} and {other}"
    for one, other in combinations(("matrix", "value", "place", "noise", "query"), 2))

INDEPENDENT = claim(
    "sparse-recovery.independent-parts", "SR-D0",
    "Matrix, values, places, noise of the rows and of the query, and the query are independent of"
    " each other and from instance to instance: their mean products are zero.",
    "40,000 instances leave 0.005 to a mean product of two numbers of variance one; eight standard"
    " errors.", Sabotage("moved", "A half is added to every number.", {"moved": 0.5}),
    measure=lambda run: one_row([float(run.data[name]) for name in INDEPENDENT.parts]),
    resolution=0.04, kind=IDENTITY, experiment=data.independent_parts,
    parts=(*PAIRS, *(f"own of {name}" for name in data.TWICE), "next instance", "means"),
    scales=seconds(quick=1))
