"""Where the sentences of the claims stand in Marion, Berthier, Biau, Boyer (2025), arXiv
2410.01537, and how each claim reads them. Words are the paper's, its symbols in ASCII. What says
`answers` is a statement of ours about that place."""

from functools import partial

from saccade.lab.claim import Citation

exact, scaled, proxy, answers = (
    partial(Citation, reading=reading) for reading in ("exact", "scaled", "proxy", "ours"))
OURS = answers("none: our own statement", "")

CITATIONS = {
    "sentence-counts": proxy(
        "Table 1 and Appendix D.1",
        "Train set 15552, Test set 4608, 3072, 144, 96. All datasets have the same number of +1 "
        "and -1 labels."),
    "described-test-set": proxy(
        "Appendix D.1, Data generation, and Table 1",
        "The baseline test set uses the same sentence patterns and the same sentiment adjectives as"
        " in the training set; Test set 4608"),
    "cls-layer-zero": proxy(
        "Figure 1b and Appendix D.1", "so the classifier has a pure-chance accuracy of 50%"),
    "cls-probe": proxy(
        "Appendix D.1, Results",
        "a perfect accuracy of 100% in the train set; (95%); (between 64% and 75%), but remains "
        "largely superior to pure-chance performance"),
    "cls-probe-degrades": proxy(
        "Appendix D.1, Results",
        "The accuracy on the out-of-distribution test sets degrades (between 64% and 75%)"),
    "norm-at-chance": answers(
        "Section 2.1",
        "any approach based on comparing the magnitude of the tokens does not yield meaningful "
        "results"),
    "norm-hit-rate": answers("Section 2.1", "tokens are of the same squared norm in expectation"),
    "predictor-order": answers("Section 3, steps 1 to 3", ""),
    "attention-is-softmax": exact(
        "Section 3, after eq. (5)",
        "matches the considered predictor in (2) with a softmax inverse temperature proportional "
        "to the scalar product"),
    "spread-information": answers(
        "Section 7",
        "A natural extension of our framework is when relevant information is spread across a few"
        " input tokens"),
    "risk-closed-form": exact(
        "Proposition 15",
        "We have the closed-form expression R(kappa, nu, theta, eta, rho) = eps^2 + gamma^2 - 2 "
        "gamma^2 nu erf(..) - .."),
    "risk-by-sums": exact(
        "Proposition 15",
        "We have the closed-form expression R(kappa, nu, theta, eta, rho) = eps^2 + gamma^2 - 2 "
        "gamma^2 nu erf(..) - .."),
    "oracle-risk": exact(
        "Theorem 1",
        "gamma^2 - 2 gamma^2 erf(..) + gamma^2 zeta(lambda sqrt(d/2), lambda^2 gamma^2) + (L-1) "
        "zeta(0, lambda^2) + eps^2"),
    "five-overlaps": exact(
        "Theorem 1", "There exists a function R^< : R^5 -> R such that, for any (k, v)"),
    "erf-moments": exact(
        "Lemma 18 (i)-(vi)", "E[erf'(t + G)] = erf'(t/sqrt(1 + 2 gamma^2))/sqrt(1 + 2 gamma^2), ..."
    ),
    "zeta": answers(
        "eq. (7) and Appendix D.2", "use numerical quadrature to compute the value of zeta"),
    "transverse-symmetry": exact(
        "Lemma 14 and its proof", "R(kappa, nu, theta, eta, rho) = R(kappa, nu, -theta, -eta, -rho)"
    ),
    "mirror-by-sums": exact(
        "Lemma 14 and its proof", "R(kappa, nu, theta, eta, rho) = R(kappa, nu, -theta, -eta, -rho)"
    ),
    "erf-inequalities": exact(
        "Lemmas 16 and 17",
        "|1/sqrt(1+u) - 1| <= u; erf''(u) = -2u erf'(u); |erf(u)| <= 2|u|/sqrt(pi)"),
    "bayes-rate": answers("Appendix A.2", "(L - 1) zeta(0, lambda^2) = O(lambda^2 L) = o(1)"),
    "bayes-limit": scaled(
        "Corollary 2",
        "Taking lambda such that lambda sqrt(d) -> oo and lambda sqrt(L) -> 0, we have R(k*, v*) "
        "-> eps^2"),
    "bayes-sequences": scaled(
        "Corollary 2",
        "Taking lambda such that lambda sqrt(d) -> oo and lambda sqrt(L) -> 0, we have R(k*, v*) "
        "-> eps^2"),
    "leaning-sequences": answers(
        "Assumption 1", "This assumption is relatively mild in a high-dimensional setting"),
    "leaning-descent": answers(
        "Assumption 1", "This assumption is relatively mild in a high-dimensional setting"),
    "leaning-found": answers(
        "Assumption 1", "This assumption is relatively mild in a high-dimensional setting"),
    "risk-by-pairs": OURS,
    "several-trained": answers(
        "Section 7",
        "relevant information is spread across a few input tokens rather than just one, which "
        "relates to multi-head attention"),
    "sparse-linear": scaled(
        "Section 2.1",
        "such as a Lasso estimator or a group-Lasso technique; all linear predictors fail due to "
        "the unknown and changing location"),
    "bayes-risk": scaled(
        "Section 4, eq. (8)",
        "the Bayes risk associated with problem (P_learn) is larger than eps^2"),
    "race-of-modes": OURS, "race-as-defined": OURS, "places-drawn": OURS, "beyond-steps": OURS,
    "linear-optimum": exact(
        "Proposition 3", "its risk is eps^2 + gamma^2 - gamma^4 sum_j p_j^2/(1 + p_j (gamma^2 - 1))"
    ),
    "linear-risk": proxy(
        "Proposition 3", "its risk is eps^2 + gamma^2 - gamma^4 sum_j p_j^2/(1 + p_j (gamma^2 - 1))"
    ),
    "linear-to-null": exact(
        "Section 4, after Proposition 3",
        "the optimal linear predictor performs no better than always predicting zero"),
    "oracle-beats-linear": scaled(
        "Figure 3", "The oracle predictor outperforms the linear predictor when scaling d."),
    "long-sequences-crossing": answers(
        "Figure 3", "The oracle predictor outperforms the linear predictor when scaling d."),
    "manifold-invariant": exact(
        "Lemma 4", "The manifold M is invariant under the PGD dynamics (10)"),
    "manifold-drift": OURS,
    "two-overlap-map": exact(
        "Lemma 7, eqs. (12)-(13)",
        "the PGD iterations (10) can be reformulated in terms of the autonomous discrete "
        "dynamical system"),
    "five-overlap-map": answers(
        "Section 5", "the dynamics (10) can be formulated in terms of the five variables"),
    "zeta-not-needed": exact(
        "Appendix D.2, Implementation details",
        "Evaluating zeta itself (and not its derivative) is not required to simulate the dynamics"),
    "zeta-on-manifold": answers(
        "Appendix D.2, Implementation details",
        "Evaluating zeta itself (and not its derivative) is not required to simulate the dynamics"),
    "risk-decreases": exact(
        "Proposition 8",
        "For a sufficiently small step size and for any (kappa_0, nu_0), the risk is decreasing "
        "along the PGD iterates"),
    "fixed-points": exact(
        "Proposition 9", "The points (kappa, nu) satisfying (14) are (+-1, +-1) and (0, 0)."),
    "landscape": exact(
        "Proposition 10",
        "(-1, 1) and (1, -1) are global maxima; (1, 1) and (-1, -1) are global minima; (0, 0) is "
        "a saddle point"),
    "vector-field": exact(
        "Figure 6b, with the gradients of Appendix A.7",
        "the vector field (kappa, nu) -> -(d_kappa R (1 - kappa^2), d_nu R (1 - nu^2)) is "
        "displayed"),
    "origin-jacobian": exact(
        "Proposition 12 and Appendix A.9",
        "whose Jacobian matrix has one eigenvalue in (0, 1) and one eigenvalue in (1, oo)"),
    "injective": exact(
        "Proposition 12",
        "it is injective on [-1, 1]^2, differentiable, and its Jacobian is non-degenerate"),
    "recovery-on-manifold": exact(
        "Figure 4b, Table 2",
        "Convergence of PGD to the oracle parameters. From a random initialization on M"),
    "almost-every-start": scaled(
        "Theorem 5 and Proposition 13",
        "the set of initializations such that the sequence converges to (-1, 1), (1, -1), or (0, 0)"
        " has Lebesgue measure zero"),
    "largest-steps": answers(
        "Theorem 5 and Proposition 8",
        "there exists alpha-bar > 0 such that, for any step size alpha <= alpha-bar"),
    "proof-steps": exact(
        "Appendix A.6, eqs. (22)-(28), and A.9", "By choosing the step size alpha <= 1/(2C)"),
    "proof-constants": OURS, "erf-slopes": OURS,
    "settles": scaled(
        "Propositions 8 and 11, eq. (14)",
        "the distance between successive PGD iterates tends to zero; converges to one of the five"
        " fixed points"),
    "exceptional-set-thins": scaled(
        "Proposition 13", "the set of initializations such that the sequence converges to (-1, 1),"
        " (1, -1), or (0, 0) has Lebesgue measure zero"),
    "exceptional-set-shrinks": answers(
        "Propositions 12 and 13", "one eigenvalue in (0, 1) and one eigenvalue in (1, oo)"),
    "recovery-with-schedule": exact(
        "Figure 4a, Table 2; Section 5",
        "we observe in Figure 4a that PGD is able to recover the oracle parameters (k*, v*)"),
    "two-timescales": proxy(
        "Section 5, Figure 4a", "v aligns with v* much faster than k aligns with k*"),
    "stochastic-recovery": scaled(
        "Figure 5, Table 2",
        "Convergence of stochastic PGD to the oracle parameters from a random initialization"),
    "stochastic-approach": scaled(
        "Figure 5, Table 2",
        "Convergence of stochastic PGD to the oracle parameters from a random initialization"),
    "stochastic-outside": OURS, "large-lambda-end": OURS,
    "schedule-approach": answers(
        "Figure 4a, Section 5",
        "we observe in Figure 4a that PGD is able to recover the oracle parameters (k*, v*)"),
    "arrival-rates": answers("Proposition 11", "converges to one of the five fixed points"),
    "stochastic-law": OURS,
    "large-lambda": exact(
        "Appendix D.2, Figure 7a",
        "the value of k* is only partially recovered: the dynamics stabilize around kappa = 0.3"),
    "small-lambda": answers(
        "Appendix D.2, Figure 7b",
        "some initializations lead to a convergence to the point (kappa, nu) = (0, 0)"),
    "swapped-state": answers(
        "Appendix D.2, Figure 7b",
        "a convergence to the point (kappa, nu) = (0, 0), in which case the dynamics stay far "
        "from the manifold M"),
    "swapped-state-stable": OURS, "swapped-state-clipped": OURS, "swapped-state-curvatures": OURS,
    "swapped-better": OURS, "sphere-slopes": OURS, "true-directions": OURS, "wishart-moments": OURS,
    "numbers-used-once": OURS, "options-left-out": OURS,
    "critical-temperature": answers(
        "Section 5",
        "a fruitful direction would be to investigate the (local) stability of the manifold M for"
        " the PGD dynamics"),
    "off-manifold-attractor": answers(
        "Appendix D.2, Figure 7a",
        "the excess risk plateaus at a high value, while the dynamics stay far away from the "
        "manifold M"),
    "attractor-better": answers(
        "Appendix D.2, Figure 7a", "the excess risk plateaus at a high value"),
    "competing-modes": OURS, "swapped-fraction-falls": OURS, "mode-tells-outcome": OURS,
    "mode-projections": OURS, "ends-by-name": OURS, "stochastic-speeds": OURS,
    "starts-in-law": OURS,
    "bayes-predictor": answers(
        "Section 4, eq. (8)",
        "the Bayes risk associated with problem (P_learn) is larger than eps^2"),
    "masked-tokens": answers(
        "Section 3, eqs. (1)-(3), (5)", "T(X) = sum_l erf(lambda X_l.k) X_l.v, ..."),
    "wide-head": exact(
        "Section 3, eq. (5)", "softmax(lambda a K^T X^T) X V O^T, with a = X_[CLS]^T Q"),
    "probe-on-made-up-states": answers(
        "Appendix D.1, Experiment design",
        "performing logistic regression on embeddings of [CLS] tokens in the hidden layers"),
    "oracle-curvatures": OURS,
    "linear-lower-bound": exact(
        "Proposition 3", "R >= eps^2 + gamma^2 - gamma^2 (gamma^2 + 1) max_j p_j"),
    "schedule-failures": answers(
        "Figure 4a, Section 5",
        "it is possible to obtain recovery of (k*, v*) and convergence to the manifold M from a "
        "general initialization"),
    "schedule-always-recovers": answers(
        "Section 5",
        "using a decreasing inverse temperature sequence is crucial for the recovery of (k*, v*) "
        "when initialized out of M")}
