"""What two gradient steps teach the query, in the limit n0, d to infinity with alpha0 = n0/d
(status: asymptotic, exact in the limit).

From q = w = b = 0: one full-batch step on (w, b), then one step on q with the same samples (see
`dynamics.py`). With c_y = -eta_w l'(0; y), the first step gives

    <w, xi> = omega = pi c_+ theta R/L,     |w|^2 = omega^2 + E[c_y^2]/(alpha0 L),
    b = -eta_b E[l'(0; y)].

The margins before the second step are nu_y + sigma G, sigma = |w|/sqrt L, nu_y = b + (theta R/L)
omega 1{y=+} + c_y/(alpha0 L); the last term is the trace sample i left in w itself. With h_y =
l'(nu_y + sigma G; y), K = theta^2 R (1 - R/L), p = -eta_q beta/L,

    A = p pi E[h_+] K omega,      B = p (L-1) E[h],
    N2 = (p^2/alpha0) (pi E[h_+^2] (K omega^2 + (L-1)|w|^2) + (1-pi) E[h_-^2] (L-1)|w|^2)
    <q, xi> = A + B omega,        |q|^2 = A^2 + 2 A B omega + B^2 |w|^2 + N2.

It is exact because w and h depend on the samples only through their mean tokens, which are
independent of the centred tokens.

Two traps. The cosine is NEGATIVE when rare or weak positives leave E[h] > 0 dominant: positive iff
pi |E h_+| theta^2 R (1 - R/L) > (L-1) E[h]; then attention looks away from the signal. And with
step sizes of order one |q| is tiny (about 0.02 at eta = 0.5), so that attention equals mean
pooling: choose eta_q so that the sharpness beta |q| is of order one.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import roots_hermitenorm

from saccade.errors import require
from saccade.studies.sparse_token.task import SMALLEST, SparseTokenSetting, require_number
from saccade.studies.sparse_token.theory.losses import Loss, get_loss


class Alignment(NamedTuple):
    """After two steps; names as in the calculators. `accuracy` is of q_cosine, by doubled nodes."""

    b: float
    w_signal: float
    w_norm: float
    w_cosine: float
    q_signal: float
    q_norm: float
    q_cosine: float
    sharpness: float
    status: str
    accuracy: float


def alignment_after_two_steps(
    setting: SparseTokenSetting, samples_per_dim: float, eta_w: float = 0.5, eta_b: float = 0.5,
    eta_q: float = 0.5, beta: float = 1.0, loss: str = "logistic", self_interaction: bool = True,
) -> Alignment:
    """Overlaps of w, b and q after the two steps on n0 = `samples_per_dim` d samples (alpha0).

    `self_interaction=False` drops the trace c_y/(alpha0 L) of a sample in w, which is wrong and
    shows what the term is worth.
    """
    check_steps(setting, samples_per_dim, eta_w, eta_b, eta_q, beta)
    chosen = get_loss(loss)
    coarse, fine = (
        _two_steps(
            setting, samples_per_dim, eta_w, eta_b, eta_q, beta, chosen, nodes, self_interaction)
        for nodes in (80, 160))
    change = abs(fine.q_cosine - coarse.q_cosine)
    return fine._replace(accuracy=change, status="converged" if change < 1e-6 else "not converged")


def check_steps(setting, samples_per_dim, eta_w, eta_b, eta_q, beta) -> None:
    """Refuse what would leave w or q at zero, where a cosine has no meaning."""
    require(
        setting.length >= 2, "length", setting.length,
        "must be at least 2, one token leaves attention nothing to choose")
    sizes = {"samples_per_dim": samples_per_dim, "eta_w": eta_w, "eta_q": eta_q, "beta": beta}
    for name, value in sizes.items():
        require_number(name, value, SMALLEST)
    require_number("eta_b", eta_b)


@cache
def _gauss_hermite(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of E over N(0, 1)."""
    points, weights = roots_hermitenorm(nodes)
    return points, weights / weights.sum()


def _two_steps(
    setting: SparseTokenSetting, alpha0, eta_w, eta_b, eta_q, beta, loss: Loss, nodes: int,
    self_interaction: bool,
) -> Alignment:
    length, informative, pi, theta = (
        setting.length, setting.informative, setting.positive_rate, setting.signal)
    rate, label = np.array([pi, 1 - pi]), np.array([1.0, -1.0])
    pull = -eta_w * loss.derivative(np.zeros(2), label)
    omega = pi * pull[0] * theta * informative / length
    w2 = omega**2 + rate @ pull**2 / (alpha0 * length)
    b = -eta_b * (rate @ loss.derivative(np.zeros(2), label))
    mean = (
        b + self_interaction * pull / (alpha0 * length)
        + np.array([theta * informative / length * omega, 0.0]))
    points, weights = _gauss_hermite(nodes)
    slopes = loss.derivative(mean[:, None] + np.sqrt(w2 / length) * points, label[:, None])
    h, h2 = (moment @ weights for moment in (slopes, slopes**2))
    K, p = theta**2 * informative * (1 - informative / length), -eta_q * beta / length
    A, B = p * pi * h[0] * K * omega, p * (length - 1) * (rate @ h)
    noise2 = p**2 / alpha0 * (pi * h2[0] * K * omega**2 + (rate @ h2) * (length - 1) * w2)
    q_signal, q_norm = A + B * omega, np.sqrt(A**2 + 2 * A * B * omega + B**2 * w2 + noise2)
    w_norm = np.sqrt(w2)
    values = (b, omega, w_norm, omega / w_norm, q_signal, q_norm, q_signal / q_norm, beta * q_norm)
    return Alignment(*[float(value) for value in values], status="converged", accuracy=0.0)
