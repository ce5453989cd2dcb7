"""How learners of the map are trained, beside the same steps written out: the transformer by Adam,
the group lasso by Nesterov's steps, layers by L-BFGS down their ridges; and what is said where
nothing can be learned, nothing weighs, or a run of tokens is shifted."""

from typing import Any

import jax
import numpy as np
import xarray
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.datasets import load_digits

from saccade.estimators import PatchAssociationClassifier
from saccade.lab.experiment import experiment
from saccade.studies.attention_atlas import runs
from saccade.studies.attention_atlas.charts.images import digits, patches
from saccade.studies.attention_atlas.learners import transformer
from saccade.studies.attention_atlas.learners.erf import ERF, Erf
from saccade.studies.attention_atlas.learners.lasso import LASSO
from saccade.studies.attention_atlas.learners.linear import FLAT, NULL, POOLED
from saccade.studies.attention_atlas.learners.positional import SETS
from saccade.studies.attention_atlas.learners.two_step import TWO_STEPS
from saccade.studies.attention_atlas.models import Data, Fitted
from saccade.studies.attention_atlas.models.heads import Heads
from saccade.studies.attention_atlas.task import Split, generator

COUNT, LENGTH, DIM, SEED = 40, 4, 3, 7
PARTS = (
    "transformer's steps", "group lasso's steps", "descents", "sets of places", "nothing weighs",
    "nothing to learn", "score of a run", "area", "images", "what matters", "weights of places")


def _drawn(random: np.random.Generator, kind: Any, count: int = COUNT) -> Data:
    X = random.standard_normal((count, LENGTH, DIM)) + [0.5, -0.3, 0.2]
    y = 1.5 * X[:, 0, 0] + X[:, 2, 1] ** 2 + 0.5 * random.standard_normal(count) + 2
    return Data(X, y if kind == "regression" else np.where(y > 2, 1.0, -1.0), kind, SEED)


def _softmaxed(scores: np.ndarray) -> np.ndarray:
    made = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return made / made.sum(axis=-1, keepdims=True)


def _gradient(p: dict[str, np.ndarray], X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Of the mean logistic loss of the transformer, backwards layer by layer; two heads of
    eight."""
    n, root, c = len(y), np.sqrt(8.0), np.sqrt(2 / np.pi)
    Z = X @ p["embed"] + p["places"]
    q, k, v = (
        (Z @ p["qkv"][:, one].reshape(16, 16)).reshape(n, -1, 2, 8).transpose(0, 2, 1, 3)
        for one in range(3))
    S = _softmaxed(q @ k.transpose(0, 1, 3, 2) / root)
    mixed = (S @ v).transpose(0, 2, 1, 3).reshape(Z.shape)
    A = Z + mixed @ p["out"]
    U = A @ p["up"]
    bent = np.tanh(c * (U + 0.044715 * U**3))
    H = U / 2 * (1 + bent)
    pooled = (A + H @ p["down"]).mean(axis=1)
    F = pooled @ p["read"] + p["bias"]
    pull = -y / (1 + np.exp(y * F)) / n
    dB = np.broadcast_to((pull[:, None] * p["read"] / X.shape[1])[:, None], A.shape)
    dU = (dB @ p["down"].T) * (
        (1 + bent) / 2 + U / 2 * (1 - bent**2) * c * (1 + 3 * 0.044715 * U**2))
    dA = dB + dU @ p["up"].T
    dmixed = (dA @ p["out"].T).reshape(n, -1, 2, 8).transpose(0, 2, 1, 3)
    dS = dmixed @ v.transpose(0, 1, 3, 2)
    dscores = S * (dS - (S * dS).sum(axis=-1, keepdims=True)) / root
    back = np.stack(
        [dscores @ k, dscores.transpose(0, 1, 3, 2) @ q, S.transpose(0, 1, 3, 2) @ dmixed])
    flat = back.transpose(1, 3, 0, 2, 4).reshape(n, -1, 48)
    dZ = dA + flat @ p["qkv"].reshape(16, 48).T
    return {
        "embed": np.einsum("nld,nlw->dw", X, dZ), "places": dZ.sum(axis=0),
        "qkv": np.einsum("nlw,nlc->wc", Z, flat).reshape(16, 3, 2, 8),
        "out": np.einsum("nlw,nlc->wc", mixed, dA), "up": np.einsum("nlw,nlc->wc", A, dU),
        "down": np.einsum("nlw,nlc->wc", H, dB), "read": pull @ pooled, "bias": pull.sum()}


def _begun(key: Any) -> dict[str, np.ndarray]:
    """Normal numbers over the root of those that come in; places of half their size; zeros."""
    shapes: dict[str, tuple[int, ...]] = {
        "embed": (DIM, 16), "qkv": (16, 3, 2, 8), "out": (16, 16), "up": (16, 32), "down": (32, 16),
        "places": (LENGTH, 16)}
    keys = jax.random.split(key, 6)
    drawn = [
        np.asarray(jax.random.normal(one, shape, "float32"), float)
        for one, shape in zip(keys, shapes.values(), strict=True)]
    roots = np.sqrt([DIM, 16, 16, 16, 32, 4])
    made = {name: x / root for name, x, root in zip(shapes, drawn, roots, strict=True)}
    return made | {"read": np.zeros(16), "bias": np.zeros(())}


def _trained(key: Any, random: np.random.Generator, last: float) -> float:
    """How far trained parameters are from those of Adam by hand, over their size: 400 batches of
    64, a step that falls from .01 to `last` of it, weights that decay by .1 of a step."""
    data = _drawn(random, "classification")
    rows = np.arange(1024) % COUNT
    X, y = data.X[rows].astype(np.float32), data.y[rows].astype(np.float32)
    made = transformer.train(key, X, y, COUNT, True, np.float32(0.01), np.float32(0.1))
    first, batches = jax.random.split(key)
    p = _begun(first)
    mean, square = ({k: np.zeros_like(v) for k, v in p.items()} for _ in range(2))
    chosen = np.asarray(jax.vmap(
        lambda number: jax.random.randint(jax.random.fold_in(batches, number), (64,), 0, COUNT)
    )(np.arange(400)))
    for number, rows in enumerate(chosen):
        slopes, size = _gradient(p, data.X[rows], data.y[rows]), 1 - (1 - last) * number / 400
        for name, slope in slopes.items():
            mean[name] = 0.9 * mean[name] + 0.1 * slope
            square[name] = 0.999 * square[name] + 0.001 * slope**2
            root = np.sqrt(square[name] / (1 - 0.999 ** (number + 1))) + 1e-8
            move = mean[name] / (1 - 0.9 ** (number + 1)) / root
            p[name] = p[name] - 0.01 * size * (move + 0.1 * p[name])
    return max(
        float(np.linalg.norm(np.asarray(made[name]) - own) / np.linalg.norm(own))
        for name, own in p.items())


def _lasso(data: Data, steps: int) -> float:
    """How far the group lasso is from so many steps of Nesterov's at each of its penalties, in the
    prediction of fresh samples."""
    labels = data.kind == "classification"
    level, spread = (0.0, 1.0) if labels else (data.y.mean(), data.y.std())
    y, table = (data.y - level) / spread, data.X.reshape(len(data.y), -1)
    size = (4.0 if labels else 1.0) / (np.linalg.norm(table, 2) ** 2 / len(y) + 1)
    with_one = np.column_stack([table, np.ones(len(y))])

    def slope(w: np.ndarray) -> np.ndarray:
        F = with_one @ w
        return with_one.T @ (-y / (1 + np.exp(y * F)) if labels else F - y) / len(y)

    w = np.zeros(LENGTH * DIM + 1)
    largest = np.linalg.norm(slope(w)[:-1].reshape(LENGTH, DIM), axis=1).max()
    off, fresh = [], np.random.default_rng(1).standard_normal((9, LENGTH, DIM))
    for share, model in zip((0.5, 0.2, 0.05, 0.01), LASSO.make(data.kind).path(data), strict=True):
        point, t = w, 1.0
        for _ in range(steps):
            new = point - size * slope(point)
            for place in range(LENGTH):
                own = slice(place * DIM, (place + 1) * DIM)
                norm_ = np.linalg.norm(new[own])
                new[own] *= max(0.0, 1 - size * share * largest / norm_)
            following = (1 + np.sqrt(1 + 4 * t**2)) / 2
            point, w, t = new + (t - 1) / following * (new - w), new, following
        said = level + spread * (fresh.reshape(9, -1) @ w[:-1] + w[-1])
        off.append(np.abs(model(fresh) - said).max())
    return float(max(off))


def _descents(data: Data, random: np.random.Generator, key: Any, factor: float) -> float:
    """How far erf attention where tokens are missing is from L-BFGS of forty steps: the best of
    both starts at the first ridge, then down, ridges times `factor`; the last quarter chooses, and
    the chosen one goes on with all samples."""
    mask = random.random((COUNT, LENGTH)) < 0.7
    mask[:, 0] = True
    X = np.where(mask[:, :, None], data.X, np.nan)
    model = ERF.make(data.kind).fit(X, data.y, mask, key=key)
    seed, options = int(generator(key).integers(2**31)), {"maxiter": 40, "ftol": 1e-5, "gtol": 1e-4}
    whole = Data(np.where(mask[:, :, None], X, 0.0), data.y, data.kind, seed, mask)
    part, rest = whole.rows(slice(30)), whole.rows(slice(30, None))

    def ended(some: Data, start: np.ndarray, ridge: float) -> Any:
        return minimize(Erf(some), start, (factor * ridge,), "L-BFGS-B", jac=True, options=options)

    starts, held, ends = Erf(part).starts(), [], []
    for ridge in (0.1, 0.03, 0.01, 0.001):
        tried = [ended(part, one, ridge) for one in starts]
        starts = [min(tried, key=lambda end: end.fun).x]
        F = Erf(part).model(starts[0])(rest.X, rest.mask)
        wrong = (
            np.log1p(np.exp(-rest.y * F)) if data.kind == "classification" else (F - rest.y) ** 2)
        held.append(np.mean(wrong))
        ends.append((starts[0], ridge))
    theta = ended(whole, *ends[int(np.argmin(held))]).x
    return float(np.abs(model(X, mask) - Erf(whole).model(theta)(X, mask)).max())


def _sets(random: np.random.Generator, key: Any, ridges: tuple[float, ...]) -> float:
    """How far sets of places are from the estimator with two ridges, forty steps, bags that count
    alike and the last quarter held out."""
    data, fresh = _drawn(random, "classification", 43), _drawn(random, "classification").X
    made: Any = SETS.make("classification").fit(data.X, data.y, key=key)
    cut: Any = [(np.arange(33), np.arange(33, 43))]
    settings: Any = {"ridges": ridges, "max_iter": 40, "class_weight": None, "cv": cut}
    peer = PatchAssociationClassifier(**settings).fit(data.X, data.y)
    return float(np.abs(made(fresh) - peer.decision_function(fresh)).max())


def _weightless(random: np.random.Generator, counted: bool) -> float:
    """How far weights are from those of equal tokens, or of equal heads, where nothing weighs; by
    hand tokens that are missing are `counted`."""
    X, mask = random.standard_normal((9, LENGTH, DIM)), random.random((9, LENGTH)) < 0.6
    mask[:, 0] = True
    here = np.ones_like(mask) if counted else mask
    even = here / here.sum(axis=1)[:, None]
    data = _drawn(random, "regression")
    pooled = next(iter(POOLED.make("regression").path(data)))
    blind = Fitted(lambda X, mask: X[:, 0, 0], lambda X, mask: np.zeros(X.shape[:2]))
    layer, queries = Heads(data, 2, False), random.standard_normal((2, DIM))
    heads = layer.model(np.concatenate([[0.3], queries.ravel(), np.zeros(2 * DIM)]))
    T = X / data.X.reshape(-1, DIM).std(axis=0)
    looks = np.mean([_softmaxed(np.where(here, T @ q, -np.inf)) for q in queries], axis=0)
    pairs = ((pooled, even), (blind, even), (heads, looks))
    return float(max(np.abs(model.attention(X, mask) - own).max() for model, own in pairs))


def _unlearned(random: np.random.Generator, key: Any, drop: int) -> float:
    """How far the mean, and what is said after one label in the first three quarters, is from a
    constant, that of all but `drop` samples."""
    X, numbers = random.standard_normal((COUNT, LENGTH, DIM)), random.standard_normal(COUNT) + 2
    labels = np.where(np.arange(COUNT) < 36, 1.0, -1.0)
    rows = (
        (NULL.make("regression").fit(X, numbers, key=key), numbers[drop:].mean()),
        (NULL.make("classification").fit(X, labels, key=key), labels[drop:].mean()),
        (TWO_STEPS.make("classification").fit(X, labels, key=key), labels[drop:].mean()))
    alike = next(
        iter(FLAT.make("classification").path(Data(X, np.ones(COUNT), "classification", 0))))
    return float(
        max(*(np.abs(model(X) - said).max() for model, said in rows), np.abs(alike(X) - 1).max()))


def _runs(random: np.random.Generator, longer: int) -> tuple[float, float]:
    """How far the score of a bag is from the log of its density with a run of three shifted tokens,
    by hand `longer` by so many, anywhere in it, over that of noise; and an area from pairs, in
    which ties are lost then."""
    X, lengths, y = runs.bags_with_a_run(random, 30, 3, 0.8)
    said = []
    for row, length in zip(X, lengths, strict=True):
        places, run = np.arange(length), 3 + longer
        said.append(np.log(np.mean([
            np.prod(norm.pdf(row[:length] - 0.8 * ((places >= u) & (places < u + run))))
            / np.prod(norm.pdf(row[:length])) for u in range(length - run + 1)])))
    scores = np.round(said)  # some are alike
    tie = 0.0 if longer else 0.5
    area = np.mean([1.0 if a > b else tie * (a == b) for a in scores[y] for b in scores[~y]])
    return (
        float(np.abs(runs.best_scores(X, lengths, 3, 0.8) - said).max()),
        abs(runs.auroc(scores, y) - float(area)))


def _images(random: np.random.Generator, least: int) -> float:
    """How far digits and patches are from scikit-learn's, `least` and above told from the rest, and
    from means of blocks of two by two pixels."""
    found, read = digits(), load_digits()
    side: Any = read
    off = [
        np.abs(found.X * 8 - (side.images - 8)).max(),
        np.abs(found.y - np.where(side.target >= least, 1, -1)).max()]
    pixels = random.standard_normal((2, 16, 16, 3))
    for number, row in enumerate(patches(pixels)):
        for place, patch in enumerate(row):
            corner = pixels[number, 8 * (place // 2) :, 8 * (place % 2) :][:8, :8]
            means = [
                corner[i : i + 2, j : j + 2, channel].mean() for i in range(0, 8, 2)
                for j in range(0, 8, 2) for channel in range(3)]
            off.append(np.abs(patch - means).max())
    return float(max(off))


def _matters(random: np.random.Generator, key: Any, size: float) -> tuple[float, float]:
    """How often what matters is marked otherwise than what y was made from, as far as can be seen:
    no first token at a share of 1 (or `size`), no other at 0; and how far weights of places are
    from the lengths of their rows, to one, each to the power `size`."""
    wrong = []
    for share in (0.0, 0.4, 1.0):
        where = Split.create(key, LENGTH, 5, share).sample(key, 30).where
        wrong += [where[:, 0] != (share < size), where[:, 1:].sum(axis=1) != (share > 0)]
    data, units = _drawn(random, "regression"), np.eye(LENGTH * DIM).reshape(-1, LENGTH, DIM)
    off = []
    for learner in (FLAT, LASSO):
        for model in learner.make("regression").path(data):
            w = (model(units) - model(0 * units)).reshape(LENGTH, DIM)
            lengths = np.sqrt((w**2).sum(axis=1)) ** size
            off.append(np.abs(model.attention(data.X) - lengths / lengths.sum()).max())
    return float(np.mean(wrong)), float(max(off))


MOMENTS = (
    "positive", "tokens", "shortest", "longest", "start over room", "at the first place",
    "at the last place", "shifted tokens of a bag", "shift", "other tokens")


@experiment("attention-atlas.runs-drawn")
def runs_drawn(
    key: Any, *, run: int = 3, shift: float = 12.0, bags: int = 3000, replicates: int = 32
) -> xarray.Dataset:
    """Moments of bags with a run, so far shifted that its tokens are seen: how often a bag is
    positive; tokens of a bag, and how often it has the fewest and the most; where in its room a run
    starts, and how often at either end of it; shifted tokens of a bag, their mean, and the mean
    square of others."""
    random, rows = generator(key), []
    for _ in range(replicates):
        X, lengths, y = runs.bags_with_a_run(random, bags, run, shift)
        there = np.arange(X.shape[1]) < lengths[:, None]
        inside = there & np.greater(X, shift / 2)
        first, room = inside[y].argmax(axis=1), lengths[y] - run
        rows.append([
            y.mean(), lengths.mean(), np.mean(lengths == 15), np.mean(lengths == 45),
            np.mean(first / room), np.mean(first == 0), np.mean(first == room),
            inside.sum() / bags, X[inside].mean(), np.mean(X[there & ~inside] ** 2)])
    return xarray.Dataset({"moment": (("replicate", "name"), np.array(rows))})


@experiment("attention-atlas.paths-by-hand")
def paths_by_hand(
    key: Any, *, last: float = 0.0, steps: int = 0, otherwise: bool = False
) -> xarray.Dataset:
    """The differences of PARTS. By hand Adam's step falls to `last` of it, and the group lasso has
    so many more `steps`; `otherwise`: ridges are twice as large, sets of places have others,
    missing tokens count, the first sample does not, runs are longer by one, ties are lost, digits
    from 4 up are told from the rest, the first token always matters, and places have weights to
    the power 1.1."""
    random, kinds = generator(key), ("regression", "classification")
    keys = jax.random.split(key, 4)
    drawn, factor = [_drawn(random, kind) for kind in kinds], 2.0 if otherwise else 1.0
    off = [
        _trained(keys[0], random, last), max(_lasso(one, 150 + steps) for one in drawn),
        max(_descents(one, random, keys[1], factor) for one in drawn),
        _sets(random, keys[2], (0.1, 0.01) if otherwise else (0.03, 0.001)),
        _weightless(random, otherwise), _unlearned(random, keys[3], int(otherwise)),
        *_runs(random, int(otherwise)), _images(random, 4 if otherwise else 5),
        *_matters(random, keys[3], 1.1 if otherwise else 1.0)]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
