"""Claims on the whole protocol (the paper's Figure 1) and on what its theory leaves open."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, ESTIMATE, ORDERING
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims.common import PAPER, setting_of, share_of, solved
from saccade.studies.sparse_token.experiments import open_points, training
from saccade.studies.sparse_token.theory.errors import test_error


def predicted_protocol(run: Run, models=None, eta_q: float | None = None) -> list[float]:
    """Test errors of the models at every sample size, the query being that of the two-step
    formulas."""
    p, setting = run.parameters, setting_of(run)
    steps = theory.alignment_after_two_steps(
        setting, p.query_samples_per_dim, eta_q=eta_q or p.eta_q, loss=p.loss)
    values = []
    for model in models or p.models:
        query = (
            {"alignment": steps.q_cosine, "sharpness": steps.sharpness} if model == "attention"
            else {})
        values += [
            solved(setting, model, a, p.ridge, p.loss, **query).test_error
            for a in p.samples_per_dim]
    return values


def _errors(run: Run) -> np.ndarray:
    """Trials as rows; model by model and sample size by sample size as columns."""
    return run.data.test_error.transpose("trial", "model", "samples_per_dim").values.reshape(
        run.parameters.trials, -1)


PAIRS = tuple(
    f"{model} at n/d={alpha}" for model in ("attention", "pooled", "vectorised") for alpha in (1, 4)
)

FIGURE_1 = Claim(
    id="sparse-token.figure-1", spec="ST-F1",
    statement=(
        "End to end (L = 10, theta = 5, ridge 1e-5): attention with the query of two gradient steps"
        " and both linear classifiers reach the predicted test errors."),
    source=f"Figure 1, {PAPER}; eta_q = 40 is our choice", status="asymptotic", kind=ESTIMATE,
    experiment=training.protocol, measure=_errors, predict=predicted_protocol,
    resolution=share_of(predicted_protocol, [0.18, 0.16, 0.06, 0.05, 0.04, 0.03]),
    argued=(
        "Test errors fluctuate by 20, 15, 8, 4, 4 and 2 % a trial at d = 60; nine of that over"
        " sqrt(256), and 2 to 6 % for the finite size (the first resolution was 16 % until seed 1"
        " stayed undecided at 256 trials)."),
    statistic="mean", parts=PAIRS,
    scales={
        "quick": Scale(repetitions=8, seconds=15), "standard": Scale(repetitions=4, seconds=400),
        "paper": Scale(
            {"samples_per_dim": (1.0, 2.0, 4.0, 8.0), "models": ("attention", "pooled")},
            seconds=3600)},
    figure="sparse-token/1",
    finding=(
        "At ridge 1e-5 attention's test error is not monotone in n/d: it passes a minimum near 4,"
        " well below the capacity of 23."),
    sabotages=(
        Sabotage(
            "pool-instead", "Expect pooling's errors of attention.",
            predict=lambda run: predicted_protocol(run, ("pooled", "pooled", "vectorised"))),
        Sabotage(
            "tiny-query", "Learn the query with eta_q = 1/2.", {"eta_q": 0.5},
            predict=lambda run: predicted_protocol(run, eta_q=40.0))))


def _advantage(run: Run) -> np.ndarray:
    """Pooled and vectorised test error minus attention's, in units of attention's, at every sample
    size."""
    error = run.data.test_error.transpose("model", "trial", "samples_per_dim")
    attention = error.sel(model="attention").values
    gaps = [
        error.sel(model=name).values / attention.mean(0) - attention / attention.mean(0)
        for name in ("pooled", "vectorised")]
    return np.concatenate(gaps, 1)


MUCH_BETTER = Claim(
    id="sparse-token.attention-much-better", spec="ST-F1",
    statement=(
        "In the setting of Figure 1 the linear classifiers make more than four times as many test"
        " errors as attention."),
    source=f"Figure 1, {PAPER}", status="asymptotic", kind=ORDERING, experiment=training.protocol,
    measure=_advantage, predict=lambda run: 3.0, resolution=0.5,
    argued="Predicted ratios are 7.8 to 10; one trial fluctuates by one unit.", statistic="mean",
    parts=("pooled, n/d=1", "pooled, n/d=4", "vectorised, n/d=1", "vectorised, n/d=4"),
    scales={"quick": Scale(repetitions=4, seconds=1)}, figure="sparse-token/1",
    sabotages=(
        Sabotage(
            "tiny-query", "Learn the query with eta_q = 1/2: attention pools.", {"eta_q": 0.5}),
        Sabotage("no-signal", "theta = 0.5.", {"signal": 0.5})))

REUSE_COST = Claim(
    id="sparse-token.reuse-is-cheap", spec="ST-O1",
    statement=(
        "Fitting the read-out to the very samples that taught the query costs less than 0.008 in"
        " test error against as many fresh samples."),
    source="ours (left open by the theory)", status="measured", kind=BELOW,
    experiment=open_points.reuse,
    measure=lambda run: run.data.reused_test.values - run.data.fresh_test.values,
    predict=lambda run: 0.008, resolution=0.0,
    argued=(
        "Paired on the query the difference fluctuates by 0.009 a trial, 0.0006 over 256; 0.008 is"
        " a tenth of the error."),
    statistic="mean",
    scales={
        "quick": Scale(repetitions=4, seconds=10), "standard": Scale(repetitions=2, seconds=120)},
    finding=(
        "Reusing the data in both stages costs almost nothing at n/d = 4 (0.091 against 0.090,"
        " theta = 4), though the theory asks for fresh samples."),
    sabotages=(Sabotage(
        "against-best", "Compare with an error of fresh data less 0.03.",
        measure=lambda run: run.data.reused_test.values - run.data.fresh_test.values + 0.03),))

REUSE_WINS = Claim(
    id="sparse-token.reuse-beats-splitting", spec="ST-O1",
    statement=(
        "For a given number of samples, using all of them in both stages beats splitting them in"
        " two halves."),
    source="ours (left open by the theory)", status="measured", kind=ORDERING,
    experiment=open_points.reuse,
    measure=lambda run: run.data.split_test.values - run.data.reused_test.values,
    predict=lambda run: 0.0, resolution=0.005,
    argued=(
        "Paired on the data the difference fluctuates by 0.015 a trial; a gain below 0.005 would"
        " not matter."),
    statistic="mean",
    scales={"quick": Scale(repetitions=4, seconds=1), "standard": Scale(repetitions=2, seconds=1)},
    finding=(
        "Splitting the data, as the theory needs it, costs test error in practice: 0.117 split"
        " against 0.091 reused (n/d = 4, theta = 4)."),
    sabotages=(Sabotage(
        "swapped", "Take the difference the other way.",
        measure=lambda run: run.data.reused_test.values - run.data.split_test.values),))

STAGED_WINS = Claim(
    id="sparse-token.staged-beats-joint", spec="ST-O2",
    statement=(
        "Training query, read-out and bias together by gradient descent ends with a worse test"
        " error than the two-stage protocol on as many samples."),
    source="ours (left open by the theory)", status="measured", kind=ORDERING,
    experiment=open_points.joint_training,
    measure=lambda run: run.data.test_error.values[:, -1] - run.data.staged_error.values,
    predict=lambda run: 0.0, resolution=0.01,
    argued=(
        "Both errors fluctuate by 0.01 a trial; a difference below 0.01 would not matter at an"
        " error of 0.1."),
    statistic="mean",
    scales={"quick": Scale(repetitions=2, seconds=15), "standard": Scale(seconds=200)},
    figure="sparse-token/joint",
    finding=(
        "Joint training overfits the query: after 400 steps its error is 0.125 against 0.090 in two"
        " stages (n/d = 8, theta = 4, d = 40)."),
    sabotages=(Sabotage(
        "swapped", "Take the difference the other way.",
        measure=lambda run: run.data.staged_error.values - run.data.test_error.values[:, -1]),))


def _drift(run: Run) -> np.ndarray:
    """From the first record to the last: fall of the cosine, fall of the training loss, rise of the
    test error."""
    first, last = run.data.isel(step=0), run.data.isel(step=-1)
    falls = [(first[name] - last[name]).values for name in ("q_cosine", "train_loss")]
    return np.stack([*falls, (last.test_error - first.test_error).values], 1)


JOINT_DRIFTS = Claim(
    id="sparse-token.joint-training-drifts", spec="ST-O2",
    statement=(
        "Under joint gradient descent the query turns away from the signal again while the training"
        " loss falls: early stopping helps."),
    source="ours (left open by the theory)", status="measured", kind=ORDERING,
    experiment=open_points.joint_training, measure=_drift, predict=lambda run: 0.0,
    resolution=0.005,
    argued=(
        "Paired along a run, the changes fluctuate by 0.02, 0.01 and 0.01; means over 32 to 64 runs"
        " see 0.005."),
    statistic="mean",
    parts=("fall of the cosine", "fall of the training loss", "rise of the test error"),
    scales={"quick": Scale(repetitions=2, seconds=1), "standard": Scale(seconds=1)},
    figure="sparse-token/joint",
    finding=(
        "Between steps 40 and 400 of joint training the cosine falls from 0.73 to 0.68 and the test"
        " error rises from 0.106 to 0.125."),
    sabotages=(
        Sabotage("backwards", "Read every run from its end.", measure=lambda run: -_drift(run)),))


def _other_lengths(run: Run, model_length: int | None = None) -> list[float]:
    """Predicted errors at other lengths: overlaps fitted at the training length, law of the tokens
    at the asked length."""
    p = run.parameters
    made = solved(
        setting_of(run), "attention", p.samples_per_dim, p.ridge, "logistic", p.alignment,
        p.sharpness)
    return [
        test_error(
            theory.feature_law(
                setting_of(run, length=model_length or asked), "attention", p.alignment,
                p.sharpness, 13),
            made.overlaps)
        for asked in p.test_lengths]


OTHER_LENGTH = Claim(
    id="sparse-token.other-length", spec="ST-O3",
    statement=(
        "Attention fitted at L = 10 and asked at 2 to 100 tokens has the error of its overlaps"
        " under the law of the new length."),
    source="ours (left open by the theory)", status="asymptotic", kind=ESTIMATE,
    experiment=open_points.other_length,
    measure=lambda run: run.data.test_error.sel(model="attention").values, predict=_other_lengths,
    resolution=share_of(_other_lengths, 0.1),
    argued="Errors fluctuate by 8 to 13 % a trial at d = 80; nine of that over sqrt(256) is 7 %.",
    statistic="mean", parts=tuple(f"L={length}" for length in (2, 5, 10, 20, 50, 100)),
    scales={"quick": Scale(repetitions=4, seconds=8), "standard": Scale(repetitions=2, seconds=60)},
    figure="sparse-token/length",
    finding=(
        "A query learned at one length serves others: from 10 to 100 tokens attention's error rises"
        " from 0.028 to 0.09, pooling's from 0.26 to 0.48."),
    sabotages=(
        Sabotage(
            "own-length", "Expect the error of the training length everywhere.",
            predict=lambda run: _other_lengths(run, 10)),
        Sabotage(
            "blunt-query", "Measure with a query of sharpness 0.3.", {"sharpness": 0.3},
            predict=lambda run: [0.018, 0.022, 0.028, 0.037, 0.059, 0.089])))

GRACEFUL = Claim(
    id="sparse-token.other-length-order", spec="ST-O3",
    statement=(
        "At every length asked, attention fitted at L = 10 makes fewer than half the errors of"
        " pooling fitted at L = 10."),
    source="ours (left open by the theory)", status="measured", kind=ORDERING,
    experiment=open_points.other_length,
    measure=lambda run: (
        0.5 * run.data.test_error.sel(model="pooled").values
        - run.data.test_error.sel(model="attention").values),
    predict=lambda run: 0.0, resolution=0.01,
    argued="Differences of 0.07 to 0.2 fluctuate by 0.01 a trial.", statistic="mean",
    parts=tuple(f"L={length}" for length in (2, 5, 10, 20, 50, 100)),
    scales={"quick": Scale(repetitions=2, seconds=1)}, figure="sparse-token/length",
    sabotages=(Sabotage("looks-away", "A query that points away.", {"alignment": -0.95}),))
