"""The claim on the convex fits that measurements of this and of other studies rest on."""

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_token.claims.common import claim
from saccade.studies.sparse_token.experiments import convex_by_hand

FITS = claim(
    "sparse-token.convex-by-hand", "ST-T4",
    "Read-outs are fitted to the minimum: no slope is left, by either loss, with more and with"
    " fewer samples than features; losses and slopes are reported as they are; Newton needs twelve"
    " steps at most; sets are told separable that are.",
    "Fits stop at slopes of 1e-10; a grid of weights in steps of 0.01 misses a margin by 0.03.",
    Sabotage("other-ridge", "By hand a ridge of 0.08 for 0.07.", {"ridge_by_hand": 0.08}),
    Sabotage("two-steps", "Allow two steps.", {"most_steps": 2}),
    Sabotage("turned", "Exchange what is separable with what is not.", {"turned": True}),
    Sabotage(
        "other-loss", "By hand the logistic loss for the square one, and the other way round.",
        {"exchanged": True}),
    Sabotage("shorter-weights", "By hand weights up to 0.6 for 1.", {"reach": 0.6}), source="ours",
    status="exact", kind=IDENTITY, experiment=convex_by_hand.convex_by_hand,
    measure=lambda run: one_row(run.data.off.values),
    resolution=[1e-9, 1e-12, 1e-12, 1e-12, 0.0, 0.0, 0.0, 0.05, 1e-12], parts=convex_by_hand.PARTS,
    scales={"quick": Scale(seconds=1)})
