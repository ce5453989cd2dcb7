"""Claims on the shortcuts that the claims on scaling and on orders rest on, beside whole images,
loops and automatic differentiation."""

import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.studies.spatial.claims import IDENTICAL, OURS, SAMPLED
from saccade.studies.spatial.experiments import by_hand, content, orders, recorder, scaling

SECOND = {"quick": Scale(seconds=1)}


def _apart(run: Run) -> np.ndarray:
    """By repetition: cosines and errors as drawn less those of whole images, for every N."""
    gap = (run.data.drawn - run.data.whole).values
    return gap.reshape(len(gap), -1)


REDUCED = SAMPLED(
    id="spatial.reduced-sampler", spec="VS-T51", source="ours", citation=OURS,
    statement="Drawn as two Gaussian sums, of variance D sigma^2 in the step and sigma^2 (1 - c^2)"
    " in a patch, the cosine c of one normalised step and the layer's error have the means of one"
    " gradient step on whole images in d = D dimensions.", experiment=scaling.reduced_sampler,
    measure=_apart, resolution=[0.05] * 3 + [0.03] * 3,
    parts=tuple(f"{what}, N={n}" for what in ("cosine", "error") for n in (3, 12, 40)),
    argued="Means of 300 differences a look at D = 12, C = 3, sigma = 0.95, on the same signals;"
    " they spread by 0.1 at most. Without the factor D cosines rise by 0.13 to 0.4; with 1 - c^2 in"
    " place of its root errors fall by 0.06 at N = 12 and 40.",
    sabotages=(
        Sabotage("quieter", "Draw the sums with sigma = 0.5.", {"told": 0.5}),
        Sabotage("more-directions", "Whole images of d = 40 numbers a patch.", {"dim": 40})))

PAIRED = IDENTICAL(
    id="spatial.pairs-by-hand", spec="VS-T52", source="ours", citation=OURS,
    statement="The learner that counts pairs reads every patch with the C - 1 others that most"
    " often agree with it, the earlier first among equals: those that loops find.",
    experiment=scaling.pairs_by_hand, measure=lambda run: one_row(run.data.gap.values),
    parts=("4 images", "12 images", "40 images"), argued="Sums of whole numbers.", scales=SECOND,
    sabotages=(
        Sabotage("one-more", "Loops that read C others.", {"companions": 3}),
        Sabotage("both-busy", "Loops that count when both are busy.", {"signed": False})))

MOMENTS = IDENTICAL(
    id="spatial.moments-by-gradient", spec="VS-D8", source="ours", citation=OURS,
    statement="The signal term of alpha's gradient, the mean of the sigmoid and the loss over"
    " images are the derivatives and the value of the layer's loss on the same images.",
    experiment=orders.moments_by_gradient,
    measure=lambda run: one_row(run.data.moment.values / run.data.plain.values - 1),
    parts=("signal", "sigmoid", "loss"), scales=SECOND,
    argued="Relative; rounding of sums over 40 images of 12 patches, at nu = 0.3, beta = 0.6.",
    sabotages=(
        Sabotage("no-linear-part", "Differentiate a layer with nu = 0.", {"told": 0.0}),
        Sabotage("all-patches", "Count all patches, not the signal set's.", {"counted": 12})))


def _off_record(run: Run) -> np.ndarray:
    """Losses less those written out, the largest difference of errors, and that of ties to 1/2."""
    apart = (run.data.recorded - run.data.plain).values
    return one_row(
        [*apart[:, 0], np.abs(apart[:, 1]).max(), np.abs(run.data.tied.values - 0.5).max()])


RECORDED = IDENTICAL(
    id="spatial.content-recorded", spec="VS-X10", source="ours", citation=OURS,
    statement="Loss and error recorded along descent with content are the mean of log(1 + e^(-y F))"
    " and of y F < 0 over the images, the softmax written out patch by patch; ties are half wrong,"
    " images that cancel up to rounding too.", experiment=content.content_recorded,
    measure=_off_record, scales=SECOND, parts=("step 0", "step 20", "step 60", "error", "ties"),
    argued="Rounding of sums over 80 images of 12 patches.",
    sabotages=(
        Sabotage(
            "no-ties", "Look for ties where alpha is 0.05, and few images cancel.",
            {"resting": 0.05}),
        Sabotage("wrong-sign", "Write out the softmax with -2 theta.", {"weighed": -2.0}),
        Sabotage("no-sets", "Write it out with sets that do not fit.", {"turned": 1})))


def _off_loop(run: Run) -> np.ndarray:
    """Largest relative differences of states, stops and steps of divergence."""
    apart = np.abs(run.data.made.values / run.data.plain.values - 1)
    return one_row([np.nanmax(apart[:10]), np.nanmax(apart[10:14]), apart[14], apart[15]])


RECORDER = IDENTICAL(
    id="spatial.recorder", spec="VS-X10", source="ours", citation=OURS,
    statement="The recorder of descent takes the steps of a loop, looks after each number of steps"
    " asked for, and says which step was the first to leave the numbers of training, or that none"
    " did.", experiment=recorder.recorder, measure=_off_loop, scales=SECOND,
    parts=("states", "stops", "no divergence", "divergence"),
    argued="Relative; rounding of forty steps.",
    sabotages=(Sabotage("later", "The loop counts its steps from 1.", {"later": 1}),))

SELECTED = IDENTICAL(
    id="spatial.thinned-by-hand", spec="VS-POP", source="ours", citation=OURS,
    statement="Of many states the likely ones keep their probability, and of the others evenly"
    " spread ones, all of one weight, stand for those before them: the weights of a loop.",
    experiment=by_hand.thinned_by_hand, measure=lambda run: one_row(run.data.gap.values),
    parts=("weights", "thinned"), scales=SECOND,
    argued="60 of 400 random states; rounding of sums of 400 terms.",
    sabotages=(
        Sabotage("fewer", "A loop that keeps 50.", {"asked": 50}),
        Sabotage("late", "A loop that begins at nothing, not at a half.", {"begun": 0.0})))
