"""Claims on what the appendix states of the exact path of population descent, at several D with C =
4 patches a set and q D = C^2 busy ones: orders as ranges and exponents, bounds as bounds."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Repair, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import slopes
from saccade.lab.kinds import ABOVE, BELOW, ORDERING, SLOPE
from saccade.studies.spatial.claims import TWO_STEPS, answers, proxy
from saccade.studies.spatial.experiments import orders

QUICK = {"quick": Scale(seconds=2)}
ALONG = partial(
    Claim, status="asymptotic", experiment=orders.orders_along_path, scales=QUICK,
    figure="spatial/orders",
    argued="Deterministic paths of 700 steps at D = 36, 64, 100, 144 on 1000 weighted states.")


def _column(run: Run, name: str) -> np.ndarray:
    """A quantity of the path, by D and step."""
    return run.data.path.sel(of=name).values


def _gain(run: Run) -> np.ndarray:
    return _column(run, "own") + (run.parameters.set_size - 1) * _column(run, "same")


def _at(run: Run, values: np.ndarray, level: int) -> np.ndarray:
    """Values by D when gamma passes a level."""
    return np.take_along_axis(values, run.data.passed.values[:, level : level + 1], axis=1)[:, 0]


def _exponent(run: Run, values: np.ndarray) -> float:
    return float(slopes(np.log(run.data.size.values), np.log(values)))


def _until(run: Run, level: int) -> np.ndarray:
    """Which steps come before gamma passes a level, by D."""
    return np.arange(run.data.sizes["step"]) <= run.data.passed.values[:, level, None]


def _in_range(run: Run, level: int = 2) -> np.ndarray:
    """Room of Z/D below 1.5, of D Xi above 0.5 and of (C-1) D Gamma / C above 0.7."""
    early, C = _until(run, level), run.parameters.set_size
    total, other, same = (_column(run, name)[early] for name in ("total", "other", "same"))
    return one_row([1.5 - total.max(), other.min() - 0.5, (C - 1) / C * same.min() - 0.7])


B_1 = "the softmax denominator is [Theta(D)]; Xi = Theta(1/D); (C-1) Gamma in [Omega(C)/D,"
RANGE = ALONG(
    id="spatial.attention-in-range", spec="VS-B1", source="Induction hypothesis B.1, until gamma=2",
    citation=proxy(f"Induction hypothesis B.1; {TWO_STEPS}", B_1), status="bound",
    statement="Until gamma passes 2 the softmax denominator is below 1.5 D, Xi above 0.5/D and (C -"
    " 1) Gamma above 0.7 C/D, at every D.", kind=ORDERING, measure=_in_range,
    resolution=[0.01, 0.005, 0.01], parts=("denominator", "Xi", "Gamma"),
    sabotages=(
        Sabotage(
            "later", "Look until gamma passes 3.", measure=lambda run: _in_range(run, level=3)),
        Sabotage(
            "large-diagonal", "beta = 2.5 (and smaller steps of v).",
            {"diagonal": 2.5, "eta_v": 0.02})))


def _settles(run: Run, step: int | None = None) -> np.ndarray:
    """Exponents in D of Z/D - 1 and of 1/(D Xi) - 1 when gamma passes 1, 2, 3; else at a step."""
    away = [_column(run, "total") - 1, 1 / _column(run, "other") - 1]
    return one_row([
        _exponent(run, np.abs(_at(run, values, level) if step is None else values[:, step]))
        for values in away for level in (1, 2, 3)])


SETTLES = ALONG(
    id="spatial.denominator-settles", spec="VS-B1", source="Induction hypothesis B.1, as a limit",
    citation=answers(f"Induction hypothesis B.1; {TWO_STEPS}", B_1),
    statement="At gamma = 1, 2 and 3 the softmax denominator over D, and 1/(D Xi), go to 1 as D"
    " grows: what is left falls like 1/D.", kind=SLOPE, measure=_settles,
    predict=lambda run: np.full(6, -1.0), resolution=0.3,
    parts=tuple(
        f"{what}, gamma={level}" for what in ("denominator", "1/Xi") for level in (1, 2, 3)),
    argued="Deterministic paths at D = 36, 64, 100, 144: -1.02, -0.99, -1.00 and -1.15, -1.17,"
    " -1.24; from D = 64 to 576 -1.06, -0.99, -1.01 and -1.04, -1.05, -1.09.",
    sabotages=(Sabotage(
        "one-time", "After 250 steps, whatever gamma is.",
        measure=lambda run: _settles(run, step=250)),))


def _at_loss(run: Run, level: float = 0.25) -> np.ndarray:
    """Exponents in D of the gain G, and of e^gamma, when the loss has fallen to a level."""
    when = np.argmax(_column(run, "loss") < level, axis=1)[:, None]
    gain, gamma = (
        np.take_along_axis(values, when, axis=1)[:, 0]
        for values in (_gain(run), _column(run, "gamma")))
    return one_row([_exponent(run, gain), _exponent(run, np.exp(gamma))])


GAIN_SMALL = ALONG(
    id="spatial.gain-stays-small", spec="VS-B1", source="Induction hypothesis B.1, upper end",
    citation=proxy(
        f"Induction hypothesis B.1 and its proof; {TWO_STEPS}",
        "(C-1) Gamma in [Omega(C)/D, lambda0/D], where lambda0 = Theta(D^0.01); e^gamma <= lambda0",
    ),
    statement="When the loss has fallen to 1/4 the gain G and e^gamma are no larger powers of D"
    " than D^0.01 (D = 36 to 144, C = 4).", kind=BELOW, measure=_at_loss,
    predict=lambda run: [0.01, 0.01], resolution=0.03, parts=("G", "e^gamma"), expected="refuted",
    corrected="spatial.gain-grows",
    finding="To outweigh D other patches, each of which sees the signal set, the gain must grow"
    " with a power of D (0.25 here), and after long training it comes near to D: B.1's upper end"
    " holds at first, not up to the end, along these paths (two step sizes).", sabotages=(),
    repairs=(Repair(
        "at-first", "Look when the loss has fallen to 0.5, before the attention moves.",
        measure=lambda run: _at_loss(run, 0.5)),))

GAIN_GROWS = ALONG(
    id="spatial.gain-grows", spec="VS-B1", source="Induction hypothesis B.1, corrected by us",
    citation=answers(GAIN_SMALL.citation.place, GAIN_SMALL.citation.words),
    statement="When the loss has fallen to 1/4 the gain G and e^gamma have grown like powers of D"
    " between 0.15 and 0.4.", kind=SLOPE, measure=_at_loss, predict=lambda run: [0.275, 0.275],
    resolution=0.125, parts=("G", "e^gamma"),
    argued="Deterministic paths at D = 36, 64, 100, 144: 0.25 and 0.26; from D = 64 to 576 0.26 and"
    " 0.28. C G^3 outweighs D times a constant at the power 1/3; a fixed loss is reached earlier"
    " where more images are easy.",
    sabotages=(Sabotage(
        "at-the-plateau", "Look when the loss has fallen to 0.5, before the attention moves.",
        measure=lambda run: _at_loss(run, 0.5)),))


def _rates(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Step sizes of A by D, as a column; moves of gamma and rho are by step."""
    sizes = run.data.size.values[:, None]
    return run.parameters.eta_a * (sizes / 64) ** 2, sizes


def _over_order(run: Run, power: int = 2, of_alpha: int = 3) -> np.ndarray:
    """gamma's steps over eta C alpha^p Gamma G^(p-1), by D."""
    eta, sizes = _rates(run)
    alpha, gain = _column(run, "alpha")[:, :-1], _gain(run)[:, :-1]
    order = run.parameters.set_size * alpha**of_alpha * _column(run, "same")[:, :-1] / sizes
    return np.diff(_column(run, "gamma"), axis=1) / (eta * order * gain**power)


def _same_increment(run: Run, power: int = 2, of_alpha: int = 3) -> np.ndarray:
    """Least and largest ratio of gamma's step to its order while the loss is above 1/4; and how far
    the exponent in D of the ratio at gamma = 0.3 has fallen below half of the first, from the two
    least D to the two largest."""
    ratio = _over_order(run, power, of_alpha)
    early = ratio[_column(run, "loss")[:, :-1] > 0.25]
    started, logs = _at(run, ratio, 0), np.log(run.data.size.values)
    local = np.diff(np.log(np.abs(started))) / np.diff(logs)
    return one_row([early.min() - 0.02, 1 - early.max(), local[0] / 2 - local[-1]])


G_1 = "gamma(t+1) = gamma(t) + eta Theta(C) alpha^p Gamma (G)^(p-1)"
SAME = ALONG(
    id="spatial.same-increment", spec="VS-G1", source="Lemma G.1 and Corollary G.1",
    citation=proxy(f"Lemma G.1 and Corollary G.1; {TWO_STEPS}", G_1),
    statement="While the loss is above 1/4 a step of gamma is between 0.02 and 1 times eta C"
    " alpha^p Gamma G^(p-1), at every D; and the ratio settles as D grows: at gamma = 0.3 its"
    " exponent in D from 100 to 144 is less than half of that from 36 to 64.", kind=ORDERING,
    measure=_same_increment, resolution=[0.002, 0.01, 0.03],
    parts=("at least", "at most", "settles"),
    finding="At gamma = 0.3 the ratio is 0.10, 0.15, 0.17, 0.19 at D = 36 to 144 (0.21 at 576); at"
    " gamma = 1 it still rises (0.09 to 0.24, 0.37 at 576). Later it falls with the sigmoid: it is"
    " 0.009 when gamma passes 3.",
    sabotages=(
        Sabotage("G^p", "One power of G more.", measure=lambda run: _same_increment(run, power=3)),
        Sabotage(
            "G^(p-3)", "Two powers of G less.", measure=lambda run: _same_increment(run, power=0)),
        Sabotage(
            "alpha^(2p)", "Twice the power of alpha, which itself falls with D.",
            measure=lambda run: _same_increment(run, of_alpha=6))))


def _other_increment(run: Run, whole: bool = True, power: float = 1.0) -> float:
    """The largest ratio of |a step of rho| to Lemma G.2's right side with constants 1 (lambda0 = 1,
    d = D^power); else to its first term without C^2."""
    eta, sizes = _rates(run)
    alpha, gain = _column(run, "alpha")[:, :-1], _gain(run)[:, :-1]
    other, C = _column(run, "other")[:, :-1], run.parameters.set_size
    busy = run.parameters.busy * power * np.log(sizes) if whole else 0.0
    first = (C**2 if whole else 1) * gain**2 * other / sizes**2
    bound = alpha**3 * (first + (busy * other) ** 2 * busy * other / sizes)
    return float(np.max(np.abs(np.diff(_column(run, "rho"), axis=1)) / (eta * bound)))


OTHER = ALONG(
    id="spatial.other-increment", spec="VS-G2", source="Lemma G.2, with constants 1",
    citation=proxy(
        f"Lemma G.2; {TWO_STEPS}",
        "|rho(t+1) - rho(t)| <= eta Theta(C^2 lambda0 alpha/D) (D alpha (Lambda + (C-1)"
        " Gamma))^(p-1) Xi + eta Theta(alpha) (D alpha q D log(d) Xi)^(p-1) Xi q D log(d)"),
    statement="A step of rho is never larger than the right side of Lemma G.2 with constants 1"
    " (lambda0 = 1, d = D).", status="bound", kind=BELOW, measure=_other_increment,
    predict=lambda run: 1.0, resolution=0.0,
    sabotages=(Sabotage(
        "first-term", "The first term alone, without its C^2.",
        measure=lambda run: _other_increment(run, whole=False)),))


def _room(run: Run, power: float = 1.0) -> np.ndarray:
    """How far the largest ratio is above 0.006, and below 0.012."""
    ratio = _other_increment(run, power=power)
    return one_row([ratio - 0.006, 0.012 - ratio])


ROOM = ALONG(
    id="spatial.other-increment-room", spec="VS-G2", source="Lemma G.2, how loose it is: ours",
    citation=answers(OTHER.citation.place, OTHER.citation.words),
    statement="The largest step of rho is between 0.006 and 0.012 times the right side of Lemma G.2"
    " with constants 1 (lambda0 = 1, d = D).", status="heuristic", kind=ORDERING, measure=_room,
    resolution=0.001, parts=("at least", "at most"),
    argued="Deterministic paths; the ratio seen was 0.0084 when the claim was written, at D = 36.",
    sabotages=(
        Sabotage(
            "larger-d", "d = D^2 in the logarithm.", measure=lambda run: _room(run, power=2.0)),
        Sabotage(
            "smaller-d", "d = D^(1/2) in the logarithm.", measure=lambda run: _room(run, power=0.5)
        )))


def _apart(run: Run, name: str = "rho") -> np.ndarray:
    """Exponents in D of |a step of rho| over one of gamma, when gamma passes 0.3, 1, 2 and 3."""
    moves = [np.diff(_column(run, one), axis=1) for one in (name, "gamma")]
    ratio = np.abs(moves[0]) / moves[1]
    return one_row([_exponent(run, _at(run, ratio, level)) for level in range(4)])


LEVELS = tuple(f"gamma={level:g}" for level in orders.PASSES)
APART = ALONG(
    id="spatial.increments-apart", spec="VS-L43", source="Lemma 4.3, Corollaries G.1 and G.2",
    citation=proxy(
        f"Lemma 4.3 and Corollary G.2; {TWO_STEPS}",
        "|rho(t+1)| <= |rho(t)| + eta polylog(d) alpha^p (1/D +"
        " Gamma G^(p-1))/D; the increment of gamma(t) is larger than the one of rho(t)"),
    statement="A step of rho over one of gamma falls like 1/D, when gamma passes 0.3, 1, 2 and 3.",
    kind=SLOPE, measure=_apart, predict=lambda run: np.full(4, -1.0), resolution=0.25, parts=LEVELS,
    sabotages=(Sabotage(
        "alpha", "The step of alpha in place of rho's.",
        measure=lambda run: _apart(run, "alpha")),))


def _balance(run: Run, net: bool = True) -> np.ndarray:
    """Largest |S + N|/S over D (else: of S + |N|), when gamma passes each level: S sampled, S + N
    the step of alpha over its step size."""
    sizes = run.data.size.values[:, None]
    moves = np.diff(_column(run, "alpha"), axis=1) * sizes / run.parameters.eta_v
    both = np.stack([_at(run, moves, level) for level in range(4)], axis=1)
    signal = run.data.moment.sel(what="signal").values
    total = np.abs(both) if net else signal + np.abs(both - signal)
    return one_row((total / signal).max(axis=0))


D_8 = answers("Lemmas D.8 and D.11", "This implies S(t) >= max over tau <= T of |N(tau)|")
BALANCE = ALONG(
    id="spatial.drives-balance", spec="VS-D8", source="Lemmas D.8 and D.11, corrected by us",
    citation=D_8,
    statement="From the plateau on the two drives of alpha cancel: |S + N| is below 0.3 S when"
    " gamma passes 0.3, 1, 2 and 3 (D = 36 to 144, at the step sizes of these paths).",
    status="heuristic", kind=BELOW, measure=_balance, predict=lambda run: np.full(4, 0.3),
    resolution=0.0, parts=LEVELS,
    finding="The noise term never becomes negligible: it turns against the signal term and is as"
    " large, so alpha follows quasi-stationarily (and mostly falls) while gamma grows.",
    sabotages=(Sabotage(
        "sizes", "Add the sizes of the two drives.",
        measure=lambda run: _balance(run, net=False)),))


def _by_rate(run: Run, net: bool = True) -> np.ndarray:
    """Exponents in the step size of A of |S + N|/S (else of S + |N| over S), by level of gamma."""
    both, signal = run.data.both.values, run.data.signal.values
    ratio = np.abs(both) if net else signal + np.abs(both - signal)
    return one_row(slopes(np.log(run.data.rate.values), np.log(ratio / signal).T))


BALANCE_LIMIT = Claim(
    id="spatial.drives-balance-limit", spec="VS-D8", source="Lemmas D.8 and D.11, corrected by us",
    citation=D_8, status="asymptotic", kind=SLOPE, experiment=orders.balance_by_rate,
    statement="As the step of A shrinks the two drives of alpha cancel: |S + N|/S falls in"
    " proportion to that step, when gamma passes 0.3, 1, 2 and 3 (D = 64).", measure=_by_rate,
    predict=lambda run: np.ones(4), resolution=0.2, parts=LEVELS, scales=QUICK,
    argued="Deterministic paths with steps of 24, 12 and 6 for A; exponents of 0.96 to 1.00. S on"
    " 2000 images, the same for all steps, so that its error cancels.",
    sabotages=(
        Sabotage(
            "sizes", "Add the sizes of the two drives.",
            measure=lambda run: _by_rate(run, net=False)),
        Sabotage("slow-value", "Steps of v a fortieth as long.", {"eta_v": 2.5e-5})))

FLOOR = ALONG(
    id="spatial.feature-floor", spec="VS-D9", source="Lemma D.9, corrected by us",
    citation=answers("Lemma D.9", "we always have alpha(t) >= Omega(1)/(C^2 lambda0) - o(eta)"),
    statement="The lowest alpha between gamma = 0.3 and gamma = 3 falls with D, like D^(-1/3).",
    kind=SLOPE, predict=lambda run: -1 / 3, resolution=0.08,
    measure=lambda run: _exponent(
        run,
        np.min(np.where(_until(run, 3) & ~_until(run, 0), _column(run, "alpha"), np.inf), axis=1)),
    finding="Against Lemma D.9's floor, which would fall like D^-0.01.",
    sabotages=(Sabotage(
        "times-gain", "alpha G when gamma passes 3.",
        measure=lambda run: _exponent(run, _at(run, _column(run, "alpha") * _gain(run), 3))),))


def _sigmoid_over_loss(run: Run) -> np.ndarray:
    """The mean sigmoid over the loss when gamma passes each level: the least over D, and the
    exponent in D."""
    ratio = (run.data.moment.sel(what="sigmoid") / run.data.moment.sel(what="sampled loss")).values
    trend = slopes(np.log(run.data.size.values), np.log(ratio).T)
    return one_row([*ratio.min(axis=0), *trend])


SIGMOID_LOSS = ALONG(
    id="spatial.sigmoid-follows-loss", spec="VS-D10", source="Lemma D.10",
    citation=proxy(
        f"Lemma D.10; {TWO_STEPS}",
        "When the population risk is Omega(1), we have E[S(-yF(X))] = Omega(1)"),
    statement="The mean of the sigmoid is above a quarter of the loss when gamma passes 0.3, 1, 2,"
    " and 3, at every D, and does not fall behind as D grows: the ratio's exponent is above -0.4.",
    kind=ABOVE, measure=_sigmoid_over_loss, predict=lambda run: [0.25] * 4 + [-0.4] * 4,
    resolution=0.0, parts=LEVELS + tuple(f"exponent, {level}" for level in LEVELS),
    argued="4000 sampled images at each D: ratios of 0.40 and more, exponents of -0.15 to 0.06 at"
    " six seeds. Not for any alpha: an image that is wrong by a large margin adds the margin to the"
    " loss and at most 1 to the sigmoid.",
    sabotages=(
        Sabotage("stretched", "Read alpha four times too large.", {"stretch": 4.0}),
        Sabotage("stretched-with-D", "Read alpha too large by D/36.", {"stretch_power": 1.0})))


def _over_margin(run: Run, factor: float = 1.0) -> np.ndarray:
    """The largest loss over log(1 + e^(-factor (alpha G)^p)) until gamma passes 3, by D."""
    margin = factor * (_column(run, "alpha") * _gain(run)) ** 3
    ratio = _column(run, "loss") / np.log1p(np.exp(-margin))
    return one_row(np.max(np.where(_until(run, 3), ratio, 0.0), axis=1))


MARGIN = ALONG(
    id="spatial.margin-bounds-loss", spec="VS-D14", source="Lemma D.14, with constant 1",
    citation=proxy(f"Lemma D.14; {TWO_STEPS}", "O(1) log(1 + e^(-(alpha G)^p)) >= L(A, v)"),
    statement="Until gamma passes 3 the loss is at most log(1 + e^(-(alpha G)^p)).", status="bound",
    kind=BELOW, measure=_over_margin, predict=lambda run: np.ones(4), resolution=0.0,
    parts=tuple(f"D={D}" for D in orders.SIZES),
    sabotages=(Sabotage(
        "all-signal-patches", "C times the margin: what the signal set alone would give.",
        measure=lambda run: _over_margin(run, run.parameters.set_size)),))


def _associates(run: Run) -> np.ndarray:
    """Least gamma - rho after the first step, by D; 0.7 times the error at each D less that at the
    next; and how far the error's exponent over the first three D is below -1.5."""
    gap = np.min((_column(run, "gamma") - _column(run, "rho"))[:, 1:], axis=1)
    error = run.data.error.values
    trend = slopes(np.log(run.data.size.values[:3]), np.log(error[:3]))
    return one_row([*gap, *(0.7 * error[:-1] - error[1:]), -1.5 - trend])


SEVERAL = ALONG(
    id="spatial.associates-at-several-sizes", spec="VS-T41", source="Theorem 4.1 and Lemma D.15",
    citation=proxy(
        f"Theorem 4.1 (Lemma D.15); {TWO_STEPS}",
        "learns patch association [...] P[f*(X)F(X) > 0] = 1 - o(1)"),
    statement="At D = 36, 64, 100 and 144 gamma is above rho after every step, up to the last, and"
    " the error at the last step falls by three tenths or more from each D to the next, over the"
    " first three faster than D^-1.5.", kind=ORDERING, measure=_associates,
    resolution=[1e-5] * 4 + [1e-4] * 3 + [0.1], parts=tuple(f"D={D}" for D in orders.SIZES)
    + ("error to 64", "error to 100", "error to 144", "exponent"),
    sabotages=(Sabotage("at-rest", "A at rest.", {"eta_a": 0.0}),))
