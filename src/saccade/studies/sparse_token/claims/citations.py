"""Where the sentences of the claims stand, and how each claim reads them. Of Barnfield, Cui, Lu,
arXiv 2509.25153, only the abstract could be read word for word; what the study says beyond it (all
formulas, constants and figures) is a statement of ours about the quoted sentence: `answers`."""

from functools import partial

from saccade.lab.claim import Citation

scaled, answers = (partial(Citation, "abstract", reading=reading) for reading in ("scaled", "ours"))

LOG = (
    "a simple single-layer attention classifier can in principle achieve vanishing test error when"
    " the signal strength grows only logarithmically in the sequence length L")
ROOT = "whereas linear classifiers require sqrt(L) scaling"
TWO_STEPS = "just two gradient updates suffice for the query weight vector"
ALIGNED = "to acquire a nontrivial alignment with the hidden signal"
FITTED = "an exact asymptotic expression for the test error and training loss"
CAPACITY = "its capacity -- the largest dataset size that is typically perfectly separable"
ADVANTAGE = "the advantage of adaptive token selection over nonadaptive linear baselines"
EMBED = "positive samples embed a weak signal vector in a randomly chosen subset of tokens"
AMPLIFIES = "inducing an attention map that selectively amplifies informative tokens"
OURS = Citation("none: our own statement", "", "ours")

CITATIONS = {
    "pooled-formula": answers(ROOT), "pooled-fails-at-log": scaled(ROOT),
    "vectorised-bounded": answers(ROOT), "sparse-weights-win": answers(ROOT),
    "log-suffices": scaled(LOG), "root-log-suffices": answers(LOG), "hardmax-formula": answers(LOG),
    "oracle-sampled": answers(LOG), "oracle-sampled-two": answers(LOG),
    "likelihood-ratio-gain": OURS, "maxima-sampled": answers(LOG),
    "two-step-overlaps": answers(TWO_STEPS), "self-interaction": answers(TWO_STEPS),
    "nothing-to-choose": answers(TWO_STEPS), "alignment-rate": answers(ALIGNED),
    "negative-alignment": answers(ALIGNED), "always-aligned": answers(ALIGNED),
    "tiny-query-pools": answers(ALIGNED), "vanishing-query": OURS,
    "attention-logistic": answers(FITTED), "attention-square": answers(FITTED),
    "pooled-fit": answers(ADVANTAGE), "vectorised-fit": answers(ADVANTAGE),
    "pooled-rate": answers(ADVANTAGE), "attention-rate": answers(FITTED),
    "vectorised-rate": answers(ADVANTAGE), "poor-alignment-crossing": answers(ADVANTAGE),
    "attention-always-wins": answers(ADVANTAGE), "uneven-places": OURS,
    "uneven-places-unseen": OURS, "attention-capacity": answers(CAPACITY),
    "pooled-capacity": answers(CAPACITY), "vectorised-capacity": answers(CAPACITY),
    "capacity-ratio": answers(CAPACITY), "capacity-order": answers(ADVANTAGE),
    "capacity-order-always": answers(ADVANTAGE), "capacity-order-reversed": answers(ADVANTAGE),
    "capacity-overtakes": answers(ADVANTAGE), "figure-1": answers(FITTED),
    "attention-much-better": answers(ADVANTAGE), "reuse-is-cheap": OURS,
    "reuse-beats-splitting": OURS, "staged-beats-joint": OURS, "joint-training-drifts": OURS,
    "other-length": OURS, "other-length-order": OURS, "samples": answers(EMBED),
    "masked-tokens": OURS, "capacity-ratio-sampled": answers(CAPACITY), "planned-sparse": OURS,
    "planned-short": OURS, "planned-dense": OURS, "planned-pooled": OURS,
    "planned-vectorised": OURS, "steps-as-defined": answers(TWO_STEPS), "prox-as-defined": OURS,
    "linear-bound-formula": answers(ROOT), "capacity-formula": answers(CAPACITY),
    "generic-steps": answers(TWO_STEPS), "one-token-equations": OURS, "one-token-capacity": OURS,
    "places-equations": OURS, "linear-equations": answers(FITTED),
    "oracle-sampled-most": answers(LOG), "no-signal-guesses": OURS, "map-grows": answers(LOG),
    "softmax-errors-fall": scaled(LOG), "streamed-tokens": OURS,
    "vectorised-needs-root": scaled(ROOT), "approach-in-dimension": answers(FITTED),
    "transition-sharpens": answers(CAPACITY), "map-before": answers(AMPLIFIES),
    "map-after-two": scaled(AMPLIFIES), "map-looks-away": answers(AMPLIFIES), "noise-shared": OURS,
    "noise-of-few": OURS, "derivatives": OURS, "curves": OURS, "samples-spent": OURS,
    "needs-near-limit": OURS, "bound-of-many": OURS, "answers-by-hand": OURS,
    "best-of-ridges": OURS, "joint-by-hand": OURS, "convex-by-hand": OURS, "rare-errors": OURS,
    "advice-sampled": OURS, "feature-law": OURS, "noise-in-length": OURS,
    "pooled-sharpens": answers(CAPACITY), "vectorised-sharpens": answers(CAPACITY),
    "steps-in-dimension": answers(TWO_STEPS), "attention-in-dimension": answers(FITTED),
    "pooled-in-dimension": answers(ADVANTAGE), "vectorised-in-dimension": answers(ADVANTAGE),
    "places-in-dimension": OURS, "blunt-softmax": OURS, "noise-at-border": OURS,
    "protocol-in-dimension": answers(FITTED)}
