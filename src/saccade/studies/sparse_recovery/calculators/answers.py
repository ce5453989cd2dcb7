"""What the calculators of sparse recovery answer: each takes checked inputs and returns numbers by
name."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saccade.errors import InvalidInput, require, unknown
from saccade.studies.sparse_recovery import dynamics, theory
from saccade.studies.sparse_recovery.calculators.doors import (
    array,
    checked_lam,
    checked_record,
    layered,
    matrices,
    measured,
    prompted,
    thresholds,
)
from saccade.studies.sparse_recovery.calculators.inputs import (
    AttentionInputs,
    CertificateInputs,
    IterateInputs,
    LassoInputs,
    PromptInputs,
    RateInputs,
    ThresholdInputs,
    TransformerInputs,
    UnrolledInputs,
    VaryingInputs,
    WeightInputs,
)
from saccade.studies.sparse_recovery.models import constructed as built
from saccade.studies.sparse_recovery.models import unrolled as models

UNROLLED = {"lista": ("W1", "W2"), "lista-cp": ("W",), "alista": ("steps",)}


def soft_threshold(given: ThresholdInputs) -> dict[str, Any]:
    u = given.u
    if isinstance(u, list):
        nested = any(isinstance(row, list) for row in u)
        u = array(u, "u", 2 if nested else 1)
    u, t = np.asarray(u, float), np.asarray(given.threshold, float)
    require(bool((t >= 0).all()), "threshold", given.threshold, "must be at least 0")
    fits = t.ndim == 0 or u.ndim == 0 or t.shape == u.shape[-1:]
    require(
        fits, "threshold", given.threshold,
        "must be one number, or a list with one number for each entry of u")
    return {"value": np.where(np.abs(u) > t, u - np.sign(u) * t, 0.0)}


def lasso(given: LassoInputs) -> dict[str, Any]:
    (X, y), lam = measured(given), checked_lam(given)
    b = dynamics.solve_exactly(X, y, lam)
    return {
        "coefficients": b, "objective": theory.lasso_objective(X, y, b, lam),
        "gap": theory.duality_gap(X, y, b, lam), "lam_max": theory.lam_max(X, y)}


def iterates(given: IterateInputs) -> dict[str, Any]:
    if given.algorithm not in dynamics.METHODS:
        raise unknown("algorithm", given.algorithm, dynamics.METHODS)
    X, y = measured(given)
    made = dynamics.iterates(given.algorithm, X, y, checked_lam(given), checked_record(given))
    names = ("coefficients", "gap", "objective", "lipschitz")
    return {"steps": given.record} | {name: getattr(made, name) for name in names}


def rates(given: RateInputs) -> dict[str, Any]:
    (X, y), lam, record = measured(given), checked_lam(given), checked_record(given)
    best = dynamics.solve_exactly(X, y, lam)
    lowest, distance = theory.lasso_objective(X, y, best, lam), np.linalg.norm(best)
    made = {name: dynamics.iterates(name, X, y, lam, record) for name in dynamics.METHODS}
    bounds = {"ista": theory.ista_bound, "fista": theory.fista_bound}
    answer: dict[str, Any] = {"steps": record}
    for name, run in made.items():
        bound = bounds[name](np.asarray(record), run.lipschitz, distance)
        answer[f"{name}_gap"] = np.maximum(run.objective - lowest, 0.0)
        answer[f"{name}_bound"] = [float(value) if np.isfinite(value) else None for value in bound]
    return answer | {"minimum": lowest, "lipschitz": made["ista"].lipschitz}


def alista_weight(given: WeightInputs) -> dict[str, Any]:
    X = array(given.X, "X", 2)
    require(X.shape[1] >= 1, "X", given.X, "must have at least one coordinate a row")
    W = np.asarray(jax.jit(models.alista_weight)(X))
    return {
        "W": W, "objective": theory.frobenius_objective(W, X), "coherence": theory.coherence(W, X)}


def unrolled(given: UnrolledInputs) -> dict[str, Any]:
    if given.algorithm not in UNROLLED:
        raise unknown("algorithm", given.algorithm, UNROLLED)
    for name in ("W1", "W2", "W", "steps"):
        wanted, there = name in UNROLLED[given.algorithm], getattr(given, name) is not None
        if wanted != there:
            raise InvalidInput(
                f"algorithm = {given.algorithm!r} {'needs' if wanted else 'does not take'} the"
                f" input {name!r}.")
    X, y = measured(given, len(given.W2[0]) if given.W2 and len(given.X) == 0 else None)
    rows, dim = X.shape
    theta = thresholds(given.thresholds, dim)
    layers: dict[str, Any] = {"theta": theta}
    shapes = {"W1": (dim, rows), "W2": (dim, dim), "W": (rows, dim)}
    for name in UNROLLED[given.algorithm]:
        if name == "steps":
            matched = len(given.steps or []) == len(theta)
            require(
                matched, "steps", given.steps,
                f"must have {len(theta)} numbers, one for each threshold")
            layers["gamma"] = np.asarray(given.steps, float)
        else:
            layers[name] = layered(getattr(given, name), name, len(theta), shapes[name])
    layers = {name: jnp.asarray(value) for name, value in layers.items()}
    return {"iterates": models.unroll(given.algorithm, layers, X[None], y[None])[:, 0]}


def lista_vm(given: VaryingInputs) -> dict[str, Any]:
    M = matrices(given.M)
    dim = M.shape[1]
    columns = len(given.X[0]) if len(given.X) else dim
    require(
        dim == columns, "M", f"{dim} x {dim}",
        f"must be {columns} x {columns}: X has {columns} columns")
    X, y = measured(given, dim)
    mask = None
    if given.support is not None:
        require(
            len(given.support) > 0, "support", given.support, "must name at least one coordinate")
        for place in given.support:
            require(
                0 <= place < dim, "support", place, f"must hold coordinates from 0 to {dim - 1}")
        mask = jnp.zeros(dim, bool).at[jnp.asarray(given.support)].set(True)
    made = models.lista_vm_prefixes(X, y, M, thresholds(given.thresholds, dim, len(M)), mask)
    return {"final": made[-1], "last_prefix": made[:, -1]}


def prompt(given: PromptInputs) -> dict[str, Any]:
    X, y = prompted(given)
    return {"H": jax.jit(built.embed_prompt)(X, y)}


def transformer(given: TransformerInputs) -> dict[str, Any]:
    M = matrices(given.M)
    X, y = prompted(given, M.shape[1])
    theta = thresholds(given.thresholds, M.shape[1], len(M))
    beta, quadratic, linear = _through(X, y, M, theta)
    return {"beta": beta, "quadratic": quadratic, "linear_last": linear[-1], "linear": linear}


@jax.jit
def _through(X, y, M, theta):
    """The whole network in one compiled program: prompt, layers, and what is read out of the last
    tokens."""
    last = built.run_layers(built.embed_prompt(X, y), built.construct(M, theta))[-1]
    return built.estimates(last), built.quadratic_readout(last), built.linear_readout(last)


def relu_attention(given: AttentionInputs) -> dict[str, Any]:
    H = array(given.H, "H", 2)
    require(H.shape[1] >= 1, "H", given.H, "must have at least one column, a token")
    entries = len(H)
    heads = []
    for number, head in enumerate(given.heads):
        Q, K, V = (array(getattr(head, name), f"heads[{number}].{name}", 2) for name in "QKV")
        for name, made in (("Q", Q), ("K", K)):
            rule = f"must have {entries} columns, as many as H has rows"
            require(
                made.shape[1] == entries, f"heads[{number}].{name}", f"of shape {made.shape}", rule)
        require(
            len(Q) == len(K), f"heads[{number}].K", f"of shape {K.shape}",
            f"must have {len(Q)} rows, as Q")
        rule = f"must be {entries} x {entries}, as H has {entries} rows"
        require(V.shape == (entries, entries), f"heads[{number}].V", f"of shape {V.shape}", rule)
        heads.append((Q, K, V))
    attend = jax.jit(built.relu_attention)
    added = [np.asarray(attend(H, *(part[None] for part in head))) - H for head in heads]
    return {"out": H + np.sum(added, axis=0)}


def certificate(given: CertificateInputs) -> dict[str, Any]:
    X = array(given.X, "X", 2)
    rows, dim = X.shape
    beta, noise = np.asarray(given.beta, float), np.asarray(given.noise, float)
    require(dim >= 1, "X", given.X, "must have at least one coordinate a row")
    require(
        beta.size == dim, "beta", f"a list of {beta.size}",
        f"must have {dim} entries, one a coordinate of X")
    require(
        noise.size == rows, "noise", f"a list of {noise.size}",
        f"must have {rows} entries, one a row of X")
    made = theory.certificate(X, beta, noise, given.gamma, given.steps)
    errors = dynamics.certified_errors(X, beta, noise, made)
    names = ("mu", "delta", "nu", "rate", "bounds", "thresholds")
    return {name: getattr(made, name) for name in names} | {"errors": errors}
