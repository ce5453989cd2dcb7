"""Claims on what the code computes, beside plain loops and lists of the same things: partitions,
both samplers, Bayes, the layer, the population, descent, batches and the optimiser."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Measure, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW
from saccade.studies.spatial.claims import IDENTICAL, OURS, SAMPLED, answers, exactly
from saccade.studies.spatial.experiments import (
    by_hand,
    idealised,
    locality_by_hand,
    training_by_hand,
)
from saccade.studies.spatial.theory import population as exact
from saccade.studies.spatial.theory.population import Scalars, Setting
from saccade.studies.spatial.theory.states import listed_states

MINE = partial(IDENTICAL, source="ours", citation=OURS, scales={"quick": Scale(seconds=1)})
SETS = ([1, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14], [11, 12, 15, 16])


def _gap(name: str = "gap") -> Measure:
    return lambda run: one_row(run.data[name].values)


def _in_place(run: Run) -> np.ndarray:
    """How many patches of each of the paper's sets share a set, and neighbours that do."""
    labels = run.data.labels.values
    largest = [np.bincount(labels[np.array(one) - 1]).max() for one in SETS]
    return one_row([*largest, run.data.shared.values])


PARTITION = IDENTICAL(
    id="spatial.figure-1b-sets", spec="VS-D22", source="section 2 and Figure 1b",
    citation=exactly(
        "section 2, Examples",
        "S1 = {1,2,5,6}, S2 = {3,4,7,8}, S3 = {9,10,13,14}, S4 = {11,12,15,16}"),
    statement="The localised partition of 16 patches is that of Figure 1b; dealt out in turn,"
    " neighbours never share a set.", experiment=by_hand.figure_1b, measure=_in_place,
    predict=lambda run: [4, 4, 4, 4, 0], parts=("S1", "S2", "S3", "S4", "dealt out"),
    argued="Whole numbers.",
    sabotages=(Sabotage("mixed", "Sets of the same size at random patches.", {"mixed": True}),))

DEFINED = MINE(
    id="spatial.definitions-by-hand", spec="VS-D22",
    statement="All scores of association of a random matrix, and f* of random signals, are those of"
    " loops over rows and sets.", experiment=by_hand.definitions_by_hand, measure=_gap(),
    parts=(
        "all rows pass", "rows", "overlap", "off the diagonal", "rows off it", "margin", "f*",
        "f*, untold"),
    argued="A scattered partition of 16 patches, and pairs; sums of a few numbers, in another"
    " order; told no threshold f* has 0.9, by which 19 of 20 are a set and 18 are none.",
    sabotages=(Sabotage(
        "other-matrix",
        "Loops over a matrix in which sets stand out by 9, not 2, and f* with the"
        " threshold 0.2.", {"seen": 9.0, "read": 0.2, "usual": 0.2}),))


def _errors(run: Run, more: int = 0, of_threshold: float = 1.0) -> np.ndarray:
    rows = []
    p = run.parameters
    for (D, C, q), threshold in zip(p.cases, p.thresholds, strict=True):
        sizes = D + more * C, C, q
        rows.append(
            [exact.label_error(*sizes, of_threshold * threshold), *exact.linear_error(*sizes)])
    told = () if of_threshold == 1.0 else (of_threshold * 0.9,)
    of_three = [exact.label_error((3 + more) * C, C, p.rate_of_three, *told) for C in p.sizes]
    return np.concatenate([np.ravel(rows), of_three])


ERRORS = MINE(
    id="spatial.errors-listed", spec="VS-T31",
    statement="The errors of f*, of the best linear model with equal weights and of its sign are"
    " those over every image of four small tasks; told no threshold f* errs as with 0.9.",
    experiment=by_hand.listed_errors,
    measure=lambda run: one_row([*run.data.error.values.ravel(), *run.data.of_three.values]),
    predict=_errors,
    parts=tuple(f"{what}, D={D}" for D in (8, 9, 6, 4) for what in ("f*", "best phi", "sign"))
    + ("f*, untold, C=10", "f*, untold, C=11"),
    argued="Sums of at most 5832 chances; f* with the thresholds 0.9, 1/3, 0.45 and 1, of which"
    " the second is a whole number of patches and the last lets no set pass. Told none, 9 of 10"
    " are no set and 10 of 11 are one.",
    sabotages=(
        Sabotage("one-set-more", "Predict for one more set.", predict=lambda run: _errors(run, 1)),
        Sabotage(
            "lower-threshold", "Predict f* at 0.3 of its threshold.",
            predict=lambda run: _errors(run, of_threshold=0.3))))

BAYES = MINE(
    id="spatial.best-is-bayes", spec="VS-POP",
    statement="The task's best prediction, from the numbers of sets that are all +1 and all -1, is"
    " the mean label over all images that look alike.", experiment=by_hand.posterior,
    measure=_gap(),
    argued="Every image of six patches in three sets, of three sets of one and of two of five, and"
    " one that cannot be; quotients of sums.",
    sabotages=(
        Sabotage("other-sets", "Believe in another partition.", {"told": (0, 0, 1, 1, 2, 2)}),))

SAMPLERS = ("NumPy", "JAX")
LAW = ("y = 1", "first set", "last set", "spurious +1", "spurious -1", "noise")
RULES = ("signals are <w*, X>", "signal set bears y", "where", "signals are -1, 0, 1")


def _by_sampler(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{sampler}: {name}" for sampler in SAMPLERS for name in names)


def _law(run: Run) -> np.ndarray:
    p = run.parameters
    sets, q, d = p.patches / p.set_size, p.spurious_rate, p.dim
    return np.tile([1 / 2, 1 / sets, 1 / sets, q / 2, q / 2, (d - 1) / d**2], 2)


SAMPLED_LAW = SAMPLED(
    id="spatial.sampler-law", spec="VS-POP", source="Assumption 1",
    citation=answers(
        "Assumption 1",
        "Uniformly sample an index l(X) from [L] and for j in S_l(X), X_j = y w* + xi_j"),
    statement="Labels, signal sets and spurious features of both samplers have the frequencies of"
    " Assumption 1, and the noise has d - 1 directions of variance 1/d.",
    experiment=by_hand.sampler_law,
    measure=lambda run: run.data.seen.values.reshape(len(run.data.replicate), -1), predict=_law,
    resolution=np.tile([0.02, 0.02, 0.02, 0.01, 0.01, 0.005], 2), parts=_by_sampler(LAW),
    argued="Means over 1000 images each spread by 0.016, 0.015, 0.006 and 0.002.",
    scales={"quick": Scale(repetitions=2, seconds=2)},
    sabotages=(
        Sabotage(
            "other-rate", "Images of q = 0.5, the law of q = 0.4.", {"spurious_rate": 0.5},
            predict=lambda run: np.tile([1 / 2, 1 / 3, 1 / 3, 0.2, 0.2, 3 / 16], 2)),
        Sabotage(
            "larger-sets", "Sets of three, the law of sets of two.", {"set_size": 3},
            predict=lambda run: np.tile([1 / 2, 1 / 3, 1 / 3, 0.2, 0.2, 3 / 16], 2)),
        Sabotage(
            "full-noise", "Count d directions of noise.",
            predict=lambda run: np.tile([1 / 2, 1 / 3, 1 / 3, 0.2, 0.2, 4 / 16], 2)),
        Sabotage(
            "leaning-coin", "Give y = 1 the chance (1 + q)/2.",
            predict=lambda run: np.tile([0.7, 1 / 3, 1 / 3, 0.2, 0.2, 3 / 16], 2))))

TOLD_NOISE = SAMPLED(
    id="spatial.noise-as-told", spec="VS-POP", source="ours; section 3 has sigma as a parameter",
    citation=OURS,
    statement="Told sigma = 0.7 both samplers draw noise of variance sigma^2 in the d - 1"
    " directions orthogonal to w*.", experiment=by_hand.sampler_law,
    measure=lambda run: run.data.seen.values[..., -1],
    predict=lambda run: 0.49 * (run.parameters.dim - 1) / run.parameters.dim, resolution=0.01,
    parts=SAMPLERS, argued="Means over 1000 images each spread by 0.006.",
    scales={"quick": Scale({"noise": 0.7}, repetitions=2, seconds=2)},
    sabotages=(Sabotage("untold", "sigma^2 = 1/d.", {"noise": None}),))

SAMPLED_RULES = MINE(
    id="spatial.sampler-rules", spec="VS-POP",
    statement="Every sampled image bears y on the whole signal set and -1, 0 or 1 elsewhere, and"
    " its noise is orthogonal to w*.", experiment=by_hand.sampler_law, measure=_gap(),
    parts=_by_sampler(RULES), argued="Rounding of sums of four terms.",
    sabotages=(
        Sabotage("other-sets", "Look in another partition.", {"other_sets": True}),
        Sabotage(
            "off-the-mark", "Move the patches by w*/5 and the signals by 1/10.", {"along": 0.1})))

LAYER = MINE(
    id="spatial.layer-by-hand", spec="VS-H",
    statement="The layer (T), with patches missing, what each patch receives, and the linear model"
    " are what loops over patches give.", experiment=by_hand.layer_by_hand, measure=_gap(),
    resolution=1e-9,
    parts=(
        "layer", "received", "plain layer", "layer, untold", "linear", "linear looks", "cosine",
        "errors"),
    argued="Sums of a few terms, outputs up to thousands; tau = 1.4, and p = 3, nu = 1e-4, tau = 1"
    " where they are not told.",
    sabotages=(
        Sabotage("all-there", "Do not tell the models what is missing.", {"masked": False}),
        Sabotage("no-temperature", "Models with tau = 1.", {"temperature": 1.0}),
        Sabotage(
            "ties-right", "Count a zero as a right answer, and turn a vector by hand.",
            {"tie": 0.0, "turned": 0.5})))


def _setting(run: Run, **changed: float) -> Setting:
    p = run.parameters
    setting = Setting(
        p.sets * p.set_size, p.set_size, p.spurious_rate, 3, 0.0, p.diagonal, p.temperature)
    return setting._replace(**changed)


def _driven(run: Run, **changed: float) -> np.ndarray:
    p, setting = run.parameters, _setting(run, **changed)
    weights = exact.attention_weights(setting, p.gamma, p.rho)
    states = listed_states(run.data.set_sums.values, run.data.busy.values, p.set_size, 3)
    at = Scalars(0.2, p.gamma, p.rho)
    loss = exact.loss(at, setting._replace(slope=0.1), *states[:2])
    return np.asarray([*exact.early_drive(setting, p.gamma, p.rho), *weights, loss], float)


DRIVE = MINE(
    id="spatial.noise-term-listed", spec="VS-LD6",
    statement="What signal patches and all others add to the growth of alpha, the weights Lambda,"
    " Gamma, Xi, the gain G, and the loss over given images are those of twelve patches listed.",
    experiment=by_hand.listed_drive,
    measure=lambda run: one_row(
        [*run.data.drive.values, *run.data.weights.values, run.data.loss.values]),
    predict=_driven, resolution=1e-10,
    parts=("signal", "others", "Lambda", "Gamma", "Xi", "G", "loss"),
    argued="Every image listed, at gamma = 0.7, rho = -0.2, beta = 0.6, tau = 1.4; rounding of sums"
    " of 19,683 terms.",
    sabotages=(Sabotage(
        "no-temperature", "Forget the temperature in the prediction.",
        predict=lambda run: _driven(run, temperature=1.0)),))

THINNED = Claim(
    id="spatial.thinned-states", spec="VS-POP", source="ours", citation=OURS,
    statement="A few thousand states that stand for all 24-patch images give the loss at three"
    " points of the path to 15 per cent (250 states), 3 (1000) and 0.2 (4000).", status="bound",
    kind=BELOW, experiment=by_hand.thinned_states,
    measure=lambda run: one_row([
        *run.data.error.values.max(axis=1), *np.abs(run.data.kept.values - 1),
        run.data.listed.values, float(run.data.thinned.values[1] <= run.data.thinned.values[0])]),
    predict=lambda run: [0.15, 0.03, 0.002, 0.01, 0.01, 0.01, 0.1, 0.0], resolution=0.0,
    parts=tuple(
        f"{what}, {most} states" for what in ("loss", "number") for most in (250, 1000, 4000))
    + ("thinned while listed", "says so"),
    argued="Deterministic; seen were 0.10, 0.017 and 0.0006 when the claim was written.",
    scales={"quick": Scale(seconds=1)},
    sabotages=(
        Sabotage(
            "likely-only", "Keep the likely states alone, nine tenths of the number asked for.",
            {"unlikely": True}),
        Sabotage("handful", "Keep 10, 20 and 40 states.", {"keeps": (10, 20, 40)}),
        Sabotage(
            "all", "Ask for a million states, more than there are.",
            {"keeps": (250, 1_000_000, 4000)})))


def _field(run: Run, rate: float = 0.25) -> np.ndarray:
    p, setting = run.parameters, Setting(8, 2, rate, 3, 1e-4, 1.0)
    rows, states = [], setting.states()
    for alpha in run.data.alpha.values:
        for gamma in run.data.gamma.values:
            at = exact.population(Scalars(alpha, gamma, p.rho_per_gamma * gamma), setting, states)
            rows.append([at.loss, -at.grad_alpha, -p.ratio * at.grad_same])
    return np.asarray(rows, float).T.ravel()


FIELD = MINE(
    id="spatial.portrait-field", spec="VS-L43",
    statement="The arrows of the phase portrait are the population gradient, that of one entry of A"
    " for gamma, and its colours the loss.", experiment=idealised.phase_portrait,
    measure=lambda run: one_row(
        [run.data[name].values for name in ("loss", "move_alpha", "move_gamma")]),
    predict=_field, argued="Two programs for one sum over 56 states, at four points; steps of size"
    " one for v and 100 for A.",
    scales={"quick": Scale(
        {
            "patches": 8, "set_size": 2, "ratio": 100.0, "states": 1000,
            "alphas": (0.1, 0.3, 2), "gammas": (0.5, 2.0, 2)},
        seconds=1)},
    parts=tuple(f"{what} {point}" for what in ("loss", "alpha", "gamma") for point in range(1, 5)),
    sabotages=(
        Sabotage("other-rate", "Predict for q = 0.3.", predict=lambda run: _field(run, 0.3)),))

DESCENT = MINE(
    id="spatial.descent-by-hand", spec="VS-T42",
    statement="Descent on a sample, with A trained or frozen, takes the steps of plain gradient"
    " descent on a loss written out.", experiment=training_by_hand.descent_by_hand, measure=_gap(),
    parts=("A", "v", "loss", "v, A frozen"),
    argued="Six steps in double precision by automatic differentiation, at tau = 1.4.",
    sabotages=(
        Sabotage("faster", "The plain steps of A are 1.1 times as long.", {"faster": 1.1}),
        Sabotage("hasty", "The plain steps of v are 1.1 times as long.", {"hasty": 1.1})))

BOTH = ("JAX", "NumPy")
START = SAMPLED(
    id="spatial.random-start", spec="VS-T42", source="Parametrization 3.1",
    citation=answers(
        "Parametrization 3.1, realistic case",
        "v(0) ~ N(0, omega^2 I_d) and A_ij(0) ~ N(0, omega^2) where i != j"),
    statement="The random start, by JAX or by NumPy, has variance omega^2 in v and in the"
    " off-diagonal of A, fourth moments 3 omega^4, sigma_A on the diagonal, and neither A_ij and"
    " A_ji nor A and v vary together.", experiment=training_by_hand.random_start,
    measure=lambda run: np.column_stack([
        run.data.squares.values,
        run.data.diagonal.values[:64] + 1e-9 * np.resize([1.0, -1.0], (64, 1))]),
    predict=lambda run: [1.0, 1.0, 1.0, 0.0, 0.0] * 2 + [run.parameters.diagonal] * 2,
    resolution=[0.15, 0.15, 0.3, 0.15, 0.15] * 2 + [1e-6] * 2,
    parts=tuple(f"{what}, {by}" for by in BOTH for what in ("A", "v", "v^4", "A and A'", "A and v"))
    + tuple(f"diagonal, {by}" for by in BOTH),
    argued="64 means of 65 squares each, which spread by 0.18, of products, by 0.12, and of fourth"
    " powers, by 0.4; repeated until decided.", scales={"quick": Scale(repetitions=8, seconds=1)},
    sabotages=(
        Sabotage(
            "uniform", "Predict entries uniform in (-omega, omega), the diagonal among them.",
            predict=lambda run: [1 / 3, 1 / 3, 1 / 15, 0.0, 0.0] * 2 + [0.0, 0.0]),
        Sabotage("itself", "Products of every entry with itself.", {"itself": True})))

DRAWS = SAMPLED(
    id="spatial.random-draws", spec="VS-POP", source="ours", citation=OURS,
    statement="Features by NumPy and by JAX are uniform on the sphere (mean 0, squares 1/d, fourth"
    " powers 3/(d (d + 2)) in a coordinate), and a scattered partition leaves a place in its set"
    " with chance C/D.", experiment=training_by_hand.random_draws,
    measure=lambda run: run.data.seen.values, predict=lambda run: [0.0, 1 / 5, 3 / 35, 1 / 4] * 2,
    resolution=[0.15, 0.06, 0.05, 0.04] * 2,
    parts=tuple(
        f"{what}, {by}" for by in ("NumPy", "JAX")
        for what in ("first", "square", "fourth power", "kept place")),
    argued="Means of 1024 draws of a coordinate in five dimensions, whose standard errors are"
    " 0.014, 0.006, 0.004 and 0.003.", scales={"quick": Scale(repetitions=2, seconds=2)},
    sabotages=(
        Sabotage("two-dimensions", "Features in two dimensions, the law of five.", {"dim": 2}),
        Sabotage("two-places", "Two random places change sets, no more.", {"swapped": True}),
        Sabotage("half-sphere", "Turn features to a positive coordinate.", {"half": True})))

COUNTER = MINE(
    id="spatial.counter-example-rule", spec="VS-F2",
    statement="Labels of the Gaussian counter-example, drawn by NumPy or by JAX, are signs of the"
    " sum over sets of the cube of their response, each rank in a set with a filter of its own.",
    experiment=training_by_hand.counter_example,
    measure=lambda run: one_row(run.data.agree.values.mean(axis=0)), predict=lambda run: [1.0, 1.0],
    resolution=0.0, parts=("NumPy", "JAX"),
    argued="400 images, set by set; every label must agree.",
    sabotages=(Sabotage("no-cube", "The first power in place of the cube.", {"power": 1}),))

COUNTER_LAW = SAMPLED(
    id="spatial.counter-example-law", spec="VS-F2", source="ours; Figure 2 has X Gaussian",
    citation=OURS,
    statement="Patches and filters of the Gaussian counter-example, drawn by NumPy or by JAX, have"
    " entries of variance one.", experiment=training_by_hand.counter_example,
    measure=lambda run: np.concatenate([run.data.patch.values, run.data.filter.values], axis=1),
    predict=lambda run: 1.0, resolution=[0.02, 0.02, 0.25, 0.25],
    parts=tuple(f"{what}, {by}" for what in ("patches", "filters") for by in ("NumPy", "JAX")),
    argued="64 means of 10,240 and of 40 squares, which spread by 0.014 and 0.22.",
    scales={"quick": Scale({"dim": 640, "samples": 64}, repetitions=4, seconds=1)},
    sabotages=(
        Sabotage("uniform", "Take numbers uniform in (-1, 1) in their place.", {"uniform": True}),))

BATCH = MINE(
    id="spatial.batch-by-hand", spec="VS-I2",
    statement="A batch made inside the compiled program, flipped, shifted and shuffled, is the one"
    " made on the host, also where images are only flipped, only shifted or neither; every epoch"
    " shows an image once; answers, the smoothed loss and the channels' means and deviations are"
    " the host's; told nothing the recipe takes six epochs of batches of 128, flips, shifts by up"
    " to two and smooths by 0.1.", experiment=training_by_hand.batch_by_hand, measure=_gap(),
    resolution=2e-6,
    parts=(
        "cells as patches", "smaller patches", "whole", "one or neither", "order", "answers",
        "loss", "channels", "untold"),
    argued="Single precision: a few units in the last place of numbers up to 3.",
    sabotages=(
        Sabotage("cells-stay", "Leave the cells on the host where they were.", {"stays": True}),
        Sabotage("both-always", "Flip and shift all images on the host.", {"both": True}),
        Sabotage(
            "as-drawn", "Draw images with replacement, and smooth by 0.2 whatever is asked.",
            {"replaced": True})))

OPTIMISER = MINE(
    id="spatial.optimiser-by-hand", spec="VS-I1",
    statement="The optimiser is AdamW on clipped gradients with warm-up and a cosine: encodings"
    " move as many times as fast as told, and only matrices decay; told nothing it has the numbers"
    " of the recipe on this page.", experiment=training_by_hand.optimiser_by_hand, measure=_gap(),
    resolution=1e-6,
    parts=tuple(
        f"{what}{untold}" for untold in ("", ", untold") for what in ("encodings", "matrix", "bias")
    ),
    argued="14 steps of 20, and 28 of 40, beside NumPy, on gradients some of which are clipped; the"
    " schedule is computed in single precision.",
    sabotages=(
        Sabotage("all-decay", "Decay the encodings and the bias too.", {"decays_all": True}),
        Sabotage("more-room", "By hand clip at 1.1 times the norm.", {"clip": 1.1})))

LOCALITY = MINE(
    id="spatial.locality-by-hand", spec="VS-I3",
    statement="How local encodings are is what loops over cells say: cosines of centred encodings,"
    " the share of the most similar that are among the up to eight neighbours, also where"
    " similarities tie, the rank correlation with closeness, chance, and what is found when cells"
    " are put at random places.", experiment=locality_by_hand.locality_by_hand, measure=_gap(),
    resolution=1e-10, parts=locality_by_hand.PARTS, argued="Rounding; 16 cells in another order.",
    sabotages=(
        Sabotage("four-neighbours", "By hand no diagonal neighbours.", {"diagonal": False}),
        Sabotage("not-centred", "By hand encodings are not centred.", {"centred": False}),
        Sabotage("as-shown", "By hand cells lie where they are shown.", {"moved": True})))
