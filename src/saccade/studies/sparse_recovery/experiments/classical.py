"""The classical methods a trained transformer is compared with, at every prefix of the same test
tasks.

Their penalties are chosen on the test tasks themselves, the best mean error for each prefix and
depth, which favours them.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from saccade.studies.sparse_recovery.dynamics.solvers import solve_lasso, squared_errors
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import RecoverySample

PENALTIES = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5)
LASSO_PENALTIES = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0)
METHODS = ("zero", "least squares", "ISTA", "FISTA", "FISTA, twice the steps", "LASSO")


def classical_errors(
    sample: RecoverySample, prefixes: int, depth: int, mask: np.ndarray | None = None
) -> Float[np.ndarray, "method prefix task"]:
    """|b - beta|^2 of every method, in the order of METHODS, from the first n = 1..prefixes rows;
    told a `mask`, they look only at those coordinates."""
    X, y, beta = (np.asarray(part, float) for part in (sample.X, sample.y, sample.beta))
    X = X if mask is None else X * mask
    return np.stack([_at_prefix(X, y, beta, n, depth) for n in range(1, prefixes + 1)], axis=1)


def _at_prefix(
    X: np.ndarray, y: np.ndarray, beta: np.ndarray, n: int, depth: int
) -> Float[np.ndarray, "method task"]:
    # Rows of zeros instead of fewer: no gradient notices, and all prefixes share one program.
    shown = np.arange(X.shape[1]) < n
    X, y = X * shown[None, :, None], y * shown
    ista, fista = (
        np.stack([squared_errors(iterates(name, X, y, steps, lam), beta) for lam in PENALTIES])
        for name, steps in (("ista", depth), ("fista", 2 * depth)))
    shortest = np.einsum("pdn,pn->pd", np.linalg.pinv(X[:, :n]), y[:, :n])
    exact = [
        squared_errors(solve_lasso(X[:, :n], y[:, :n], lam).coefficients, beta)
        for lam in LASSO_PENALTIES]
    return np.stack([
        squared_errors(np.zeros_like(beta), beta), squared_errors(shortest, beta),
        _best(ista[:, -1]), _best(fista[:, depth - 1]), _best(fista[:, -1]),
        _best(np.stack(exact))])


def _best(errors: Float[np.ndarray, "penalty task"]) -> Float[np.ndarray, " task"]:
    return errors[int(np.argmin(errors.mean(1)))]


def iterates(
    name: str, X: np.ndarray, y: np.ndarray, steps: int, lam: float
) -> Float[np.ndarray, "step task dim"]:
    """The iterates 1..steps of ISTA or FISTA."""
    return unroll(name, {"lam": jnp.full(steps, lam)}, X, y)


def best_iterates(
    name: str, sample: RecoverySample, steps: int
) -> Float[np.ndarray, "step task dim"]:
    """The iterates with the penalty that has the smallest mean error after all steps."""
    X, y, beta = (np.asarray(part, float) for part in (sample.X, sample.y, sample.beta))
    tried = [iterates(name, X, y, steps, lam) for lam in PENALTIES]
    return min(tried, key=lambda b: squared_errors(b[-1], beta).mean())
