"""The calculators of sparse recovery: the LASSO and its iterations, unrolled algorithms, the
constructed transformer, the certificate."""

from saccade.lab.calculator import Calculator
from saccade.studies.sparse_recovery.calculators import answers, inputs

PAPER = "arXiv 2410.13981"
_X = [[1.0, 0.5, -0.3], [0.2, -1.0, 0.4]]
_Y = [1.0, -0.5]
_M = [[[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]]
_EYE = [[1.0, 0.0], [0.0, 1.0]]
_RECORDED = {"steps": "the recorded step numbers, as asked for"}

CALCULATORS = (
    Calculator(
        "sparse-recovery.soft-threshold", inputs.ThresholdInputs, answers.soft_threshold,
        "The soft threshold sign(u) max(|u| - t, 0).", {"value": "as u"}, "exact", "definition",
        {"u": [1.5, -0.2, -3.0], "threshold": 0.5}),
    Calculator(
        "sparse-recovery.lasso", inputs.LassoInputs, answers.lasso,
        "A minimiser of 1/2 |y - Xb|^2 + lam |b|_1, up to rounding (for lam = 0 the least-squares"
        " solution of least length).",
        {
            "coefficients": "the minimiser b", "objective": "its value",
            "gap": "duality gap, at least value - minimum",
            "lam_max": "|X^T y|_inf: from here on the solution is zero"},
        "exact (active set)", "standard; the method by saccade after Lee, Battle, Raina, Ng (2007)",
        {"X": _X, "y": _Y, "lam": 0.1}),
    Calculator(
        "sparse-recovery.iterates", inputs.IterateInputs, answers.iterates,
        "Iterates of ISTA or FISTA from b = 0 with step 1/|X|_2^2.",
        {
            **_RECORDED, "coefficients": "one list a recorded step", "gap": "duality gap at each",
            "objective": "1/2 |y - Xb|^2 + lam |b|_1 at each", "lipschitz": "L = |X|_2^2"},
        "exact", "Beck and Teboulle (2009)",
        {"algorithm": "fista", "X": _X, "y": _Y, "lam": 0.1, "record": [0, 1, 10]}),
    Calculator(
        "sparse-recovery.rates", inputs.RateInputs, answers.rates,
        "How far ISTA and FISTA are from the minimum, and how far theory lets them be.",
        {
            **_RECORDED, "ista_gap": "F(b_k) - F*", "fista_gap": "F(b_k) - F*",
            "ista_bound": "L |b*|^2/(2k); null at k = 0, where nothing is promised",
            "fista_bound": "2 L |b*|^2/(k+1)^2", "minimum": "F*", "lipschitz": "L = |X|_2^2"},
        "bound", "Beck and Teboulle (2009), Theorems 3.1 and 4.4",
        {"X": _X, "y": _Y, "lam": 0.1, "record": [1, 10, 100]}),
    Calculator(
        "sparse-recovery.alista-weight", inputs.WeightInputs, answers.alista_weight,
        "ALISTA's weight: the W with w_j^T x_j = 1 that minimises |W^T X|_F^2, in closed form. A"
        " zero column gets a zero weight.",
        {
            "W": "row by coordinate, as X", "objective": "|W^T X|_F^2",
            "coherence": "largest off-diagonal |w_i^T x_j|"},
        "exact", "Liu, Chen, Wang, Yin (2019); closed form by saccade", {"X": _X}),
    Calculator(
        "sparse-recovery.unrolled", inputs.UnrolledInputs, answers.unrolled,
        "Iterates of LISTA, LISTA-CP or ALISTA with explicit layers, from b = 0.",
        {"iterates": "b after layer 1..K"}, "exact",
        "Gregor and LeCun (2010); Chen, Liu, Wang, Yin (2018); Liu, Chen, Wang, Yin (2019)",
        {"algorithm": "alista", "X": _X, "y": _Y, "thresholds": [0.3, 0.1], "steps": [1.0, 1.0]}),
    Calculator(
        "sparse-recovery.lista-vm", inputs.VaryingInputs, answers.lista_vm,
        "LISTA-VM for every prefix of the rows: b <- S_t(b - M X_n^T (X_n b - y_n)/(2n+1)).",
        {
            "final": "after the last layer, one row for each n = 0..N",
            "last_prefix": "iterates 1..K with all rows"},
        "exact", f"{PAPER}, section 4.3",
        {"X": _X, "y": _Y, "M": _M * 2, "thresholds": [[0.1] * 3, [0.05] * 3], "support": [0, 2]}),
    Calculator(
        "sparse-recovery.prompt", inputs.PromptInputs, answers.prompt,
        "The prompt as a matrix of tokens: x-tokens [x; 0; 0; 1], y-tokens [x; y; 0; 0], the query"
        " last.", {"H": "(2d+2) x (2N+1), a column is a token"}, "exact",
        f"{PAPER}; the layout is our reading", {"X": _X, "y": _Y[:1]}),
    Calculator(
        "sparse-recovery.transformer", inputs.TransformerInputs, answers.transformer,
        "The constructed transformer, run layer by layer: attention with two ReLU heads and a"
        " soft-threshold MLP.",
        {
            "beta": "estimates in the x-tokens, one row for each n = 0..N",
            "quadratic": "x_{n+1}^T beta_n, n = 0..N",
            "linear_last": "y row of the last token after the averaging layer",
            "linear": "the same for all n = 0..N"},
        "exact", f"{PAPER}, Theorem 4.1; weights by saccade",
        {"X": _X, "y": _Y[:1], "M": _M, "thresholds": [[0.1] * 3]}),
    Calculator(
        "sparse-recovery.relu-attention", inputs.AttentionInputs, answers.relu_attention,
        "Causal ReLU attention: out_i = h_i + sum over heads of (1/i) sum_{j <= i} relu(<Q h_i, K"
        " h_j>) V h_j.", {"out": "as H"}, "exact", f"{PAPER}, section 3",
        {"H": [[1.0, -1.0, 0.5], [0.2, 0.3, 1.0]], "heads": [{"Q": _EYE, "K": _EYE, "V": _EYE}]}),
    Calculator(
        "sparse-recovery.certificate", inputs.CertificateInputs, answers.certificate,
        "Numbers that certify a linear rate of LISTA-VM on one matrix (rows of unit covariance),"
        " beside the errors it really makes.",
        {
            "mu": "largest off-diagonal |X^T X/n|", "delta": "max |1 - g (X^T X/n)_ii|",
            "nu": "|X^T noise/n|_inf",
            "rate": "q = delta + g mu (2S - 1); a linear rate if below 1", "bounds": "E_0..E_K",
            "thresholds": "theta_0..theta_{K-1} = g (mu E_k + nu)",
            "errors": "|b_k - beta|_1, k = 0..K"},
        "bound", f"saccade; implies the form of Theorem 5.1, {PAPER}",
        {"X": _X, "beta": [1.0, 0.0, 0.0], "noise": [0.0, 0.0], "gamma": 0.5, "steps": 3}))
