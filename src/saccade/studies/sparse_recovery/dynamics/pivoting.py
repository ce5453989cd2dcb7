"""Many small LASSO problems at once, exactly: the path of solutions from lam_max down to lam,
followed by pivots on the Gram matrix.

On a piece of the path the active set A and its signs are fixed and b_A = G_AA^{-1} (c_A - lam s_A),
with G = X^T X and c = X^T y. Going down, the next event is a coordinate of A that reaches zero (it
leaves) or one outside whose |x_j^T r| reaches lam (it enters). Both are one sweep of G: entering
and leaving are the same operation, so a problem costs d^2 a pivot and all problems of a batch pivot
together. Ties and rounding can lead a path astray; the caller checks the duality gap.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

Tableau = Float[Array, "problem dim dim"]
Rows = Float[Array, "problem dim"]
Numbers = Float[Array, " problem"]
SMALLEST_PIVOT = 1e-11
"""Of the column's own square: below it a column counts as dependent on the active ones."""


class Path(NamedTuple):
    """Where each problem is: G swept on the active set, the signs of active coordinates (else 0),
    lam, and who may not enter while its column depends on active ones."""

    table: Tableau
    signs: Rows
    lam: Numbers
    barred: Bool[Array, "problem dim"]
    running: Bool[Array, " problem"]
    pivots: Int[Array, ""]


@partial(jax.jit, static_argnames="most")
def follow_paths(G: Tableau, c: Rows, lam: Numbers, most: int) -> Rows:
    """Solutions at `lam` after `most` pivots at most, barring ties; G = X^T X, c = X^T y."""
    largest = jnp.abs(c).max(1)
    first = jnp.abs(c).argmax(1)
    begin = largest > lam
    signs = jnp.zeros_like(c)
    at = jnp.where(begin, largest, lam)
    start = Path(G, signs, at, jnp.zeros(c.shape, bool), begin, jnp.zeros((), int))
    start = _pivot(start, jnp.where(begin, first, -1), jnp.sign(_pick(c, first)), G)

    def going(path: Path):
        return path.running.any() & (path.pivots < most)

    end = jax.lax.while_loop(going, lambda path: _next_event(path, G, c, lam), start)
    constant, change = _solution(end, c)
    return jnp.where(end.signs != 0, constant - lam[:, None] * change, 0)


def _pick(rows: Rows, place: Int[Array, " problem"]) -> Numbers:
    return jnp.take_along_axis(rows, jnp.maximum(place, 0)[:, None], 1)[:, 0]


def _solution(path: Path, c: Rows) -> tuple[Rows, Rows]:
    """T c and T s with T the swept matrix: on A they give b = constant - lam change, off A the
    correlations x_j^T r likewise. T is G_AA^{-1} on A x A, -G_BA G_AA^{-1} on off x A, and the rest
    on off x off."""
    on = path.signs != 0
    active = jnp.where(on, c, 0)
    constant = jnp.einsum("pij,pj->pi", path.table, active) + jnp.where(on, 0, c)
    change = jnp.einsum("pij,pj->pi", path.table, path.signs)
    return constant, change


def _next_event(path: Path, G: Tableau, c: Rows, target: Numbers) -> Path:
    """Move every running problem to its next event and pivot there, or to its nearer target."""
    constant, change = _solution(path, c)
    on, now = path.signs != 0, path.lam[:, None]
    value, free = constant - now * change, ~on & ~path.barred
    enter_plus = jnp.where(free, _crossing(constant, change + 1, now - value, now), -jnp.inf)
    enter_minus = jnp.where(free, _crossing(-constant, 1 - change, now + value, now), -jnp.inf)
    scaled = -path.signs / jnp.maximum(jnp.abs(change * path.signs).max(1, keepdims=True), 1e-300)
    size = jnp.abs(constant * scaled).max(1, keepdims=True)
    leave = jnp.where(
        on, _crossing(scaled * constant, scaled * change, -scaled * value, size), -jnp.inf)
    enter = jnp.maximum(enter_plus, enter_minus)
    event = jnp.maximum(leave, enter)
    place = event.argmax(1)
    lam = jnp.minimum(_pick(event, place), path.lam)
    goes_on = path.running & (lam > target)
    sign = jnp.where(_pick(enter_plus, place) >= _pick(enter_minus, place), 1.0, -1.0)
    moved = path._replace(lam=jnp.where(goes_on, lam, path.lam), running=goes_on)
    return _pivot(moved, jnp.where(goes_on, place, -1), sign, G)


def _crossing(constant: Rows, change: Rows, slack: Rows, size: Rows) -> Rows:
    """The lam at which a slack that now is `slack` >= 0, and falls by `change` with every unit of
    lam, is used up; -inf if it never is. One of zero that is about to be violated is used up at
    once: ties are events of their own."""
    falls = change > 1e-9
    at = jnp.where(falls, constant / jnp.where(falls, change, 1), -jnp.inf)
    return jnp.where(falls & (slack <= 1e-11 * size), jnp.inf, at)


def _pivot(path: Path, place: Int[Array, " problem"], sign: Numbers, G: Tableau) -> Path:
    """Sweep row and column `place` (-1: none); a coordinate enters with `sign`, or leaves."""
    index = jnp.arange(path.signs.shape[1])[None, :]
    here = index == place[:, None]
    inside = _pick(path.signs, place) != 0
    k = jnp.maximum(place, 0)
    row = jnp.take_along_axis(path.table, k[:, None, None], 1)[:, 0]
    column = jnp.take_along_axis(path.table, k[:, None, None], 2)[:, :, 0]
    pivot = _pick(row, place)
    own = jnp.take_along_axis(jnp.diagonal(G, axis1=1, axis2=2), k[:, None], 1)[:, 0]
    sound = (place >= 0) & (inside | (pivot > SMALLEST_PIVOT * own))
    safe = jnp.where(sound, pivot, 1.0)[:, None]
    swept = path.table - column[:, :, None] * (row / safe)[:, None, :]
    swept = jnp.where(here[:, None, :], (-column / safe)[:, :, None], swept)
    swept = jnp.where(here[:, :, None], (row / safe)[:, None, :], swept)
    swept = jnp.where(here[:, :, None] & here[:, None, :], (1 / safe)[:, :, None], swept)
    table = jnp.where(sound[:, None, None], swept, path.table)
    signs = jnp.where(here & sound[:, None], jnp.where(inside, 0.0, sign)[:, None], path.signs)
    barred = (path.barred & ~(sound & inside)[:, None]) | (here & ~sound[:, None])
    return Path(table, signs, path.lam, barred, path.running, path.pivots + 1)
