"""The classical methods a trained transformer is compared with, at every prefix of the same test
tasks.

Their penalties are chosen on the test tasks themselves, the best mean error for each prefix and
depth, which favours them.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from saccade.studies.sparse_recovery.dynamics import solve_lasso, squared_errors
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import RecoverySample

PENALTIES = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5)
LASSO_PENALTIES = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0)
METHODS = ("zero", "least squares", "ISTA", "FISTA", "FISTA, twice the steps", "LASSO")

Errors = Float[np.ndarray, " task"]


class Classical(NamedTuple):
    """Squared errors, (method, prefix, task), in the order of METHODS."""

    errors: Float[np.ndarray, "method prefix task"]

    def of(self, method: str) -> Float[np.ndarray, "prefix task"]:
        return self.errors[METHODS.index(method)]


def classical_errors(
    sample: RecoverySample, prefixes: int, depth: int, mask: np.ndarray | None = None
) -> Classical:
    """|b - beta|^2 of every method from the first n = 1..prefixes rows; told a `mask`, they look
    only at those coordinates."""
    X, y, beta = (np.asarray(part, float) for part in (sample.X, sample.y, sample.beta))
    X = X if mask is None else X * mask
    found = [_at_prefix(X, y, beta, n, depth) for n in range(1, prefixes + 1)]
    return Classical(np.stack(found, axis=1))


def _at_prefix(
    X: np.ndarray, y: np.ndarray, beta: np.ndarray, n: int, depth: int
) -> Float[np.ndarray, "method task"]:
    # Rows of zeros instead of fewer rows: no gradient notices, and all prefixes share one compiled
    # program.
    seen = np.arange(X.shape[1]) < n
    X, y = X * seen[None, :, None], y * seen
    ista = _unrolled_best("ista", X, y, beta, depth)
    fista = _unrolled_best("fista", X, y, beta, 2 * depth)
    shortest = np.einsum("pdn,pn->pd", np.linalg.pinv(X[:, :n]), y[:, :n])
    zero = squared_errors(np.zeros_like(beta), beta)
    exact = [
        squared_errors(solve_lasso(X[:, :n], y[:, :n], lam).coefficients, beta)
        for lam in LASSO_PENALTIES]
    return np.stack([
        zero, squared_errors(shortest, beta), ista[depth], fista[depth], fista[2 * depth],
        _best(np.stack(exact))])


def _unrolled_best(
    name: str, X: np.ndarray, y: np.ndarray, beta: np.ndarray, steps: int
) -> dict[int, Errors]:
    """The errors after half and after all of the steps, each with its own best penalty."""
    errors = np.stack([squared_errors(iterates(name, X, y, steps, lam), beta) for lam in PENALTIES])
    return {count: _best(errors[:, count - 1]) for count in {steps, max(1, steps // 2)}}


def iterates(
    name: str, X: np.ndarray, y: np.ndarray, steps: int, lam: float
) -> Float[np.ndarray, "step task dim"]:
    """The iterates 1..steps of ISTA or FISTA."""
    return unroll(name, {"lam": jnp.full(steps, lam)}, X, y)


def _best(errors: Float[np.ndarray, "penalty task"]) -> Errors:
    return errors[int(np.argmin(errors.mean(1)))]


def best_penalty(name: str, sample: RecoverySample, steps: int) -> float:
    """The penalty with the smallest mean error after `steps` steps."""
    X, y, beta = (np.asarray(part, float) for part in (sample.X, sample.y, sample.beta))
    means = [squared_errors(iterates(name, X, y, steps, lam)[-1], beta).mean() for lam in PENALTIES]
    return PENALTIES[int(np.argmin(means))]
