"""What is drawn, by itself: where descent starts, what is left when the Bayes predictor has
predicted, predictors with tokens masked out, names of made-up ends, and probes of made-up
states."""

from typing import Any

import jax
import numpy as np
import xarray
from scipy.special import erf

from saccade.arrays import generator
from saccade.lab.experiment import experiment
from saccade.studies.single_location import dynamics, models
from saccade.studies.single_location.dynamics import chance
from saccade.studies.single_location.dynamics.probe import probe_layers
from saccade.studies.single_location.task import SingleLocation, orthonormal_pair

KINDS = ("sphere", "manifold")


@experiment("single-location.starts")
def starts(
    key: Any, *, dims: tuple[int, ...] = (4, 7), draws: int = 2000, replicates: int = 32
) -> xarray.Dataset:
    """Means of squares and fourth powers of the five overlaps, of kappa theta rho and of kappa^2
    nu^2, of starts drawn by overlaps alone (`law`) and from vectors."""
    values = [
        [
            [
                _moments(overlaps, replicates)
                for overlaps in _drawn(jax.random.fold_in(key, dim), kind, dim, draws * replicates)]
            for kind in KINDS]
        for dim in dims]
    return xarray.Dataset(
        {"mean": (("dim", "start", "engine", "replicate", "moment"), np.array(values))},
        {"dim": list(dims), "start": list(KINDS), "engine": ["law", "vectors"]})


def _drawn(key: Any, kind: str, dim: int, count: int) -> tuple[Any, Any]:
    """The same number of starts by both engines."""
    law_key, vector_key = jax.random.split(key)
    truth = np.eye(dim)[0], np.eye(dim)[1]
    if kind == "sphere":
        law, vectors = dynamics.sphere_overlaps, dynamics.sphere_vectors(vector_key, dim, count)
    else:
        law, vectors = (
            dynamics.manifold_overlaps, dynamics.manifold_vectors(vector_key, *truth, count))
    return law(law_key, dim, count), dynamics.overlaps_of(*vectors, *truth)


def _moments(overlaps: Any, replicates: int) -> np.ndarray:
    x = np.stack([np.asarray(value) for value in overlaps])
    powers = np.concatenate([x**2, x**4, [x[0] * x[2] * x[4], x[0] ** 2 * x[1] ** 2]])
    return powers.reshape(len(powers), replicates, -1).mean(2).T


@experiment("single-location.true-directions")
def true_directions(
    key: Any, *, dim: int = 3, draws: int = 2000, replicates: int = 32, positive: bool = False
) -> xarray.Dataset:
    """Means over drawn pairs (k*, v*): first coordinates, their fourth powers, k_1^2 v_1^2 and k_1
    v_1 k_2 v_2 (`positive` takes the sizes of the coordinates)."""
    keys = jax.random.split(key, draws * replicates)
    k, v = map(np.asarray, jax.vmap(lambda one: orthonormal_pair(one, dim))(keys))
    if positive:
        k, v = np.abs(k), np.abs(v)
    both = k * v
    moments = [
        k[:, 0], v[:, 0], k[:, 0] ** 4, v[:, 0] ** 4, both[:, 0] ** 2, both[:, 0] * both[:, 1]]
    means = np.stack(moments, -1).reshape(replicates, draws, -1).mean(1)
    return xarray.Dataset({"mean": (("replicate", "moment"), means)})


@experiment("single-location.bayes-predictor")
def bayes_predictor(
    key: Any, *, dim: int = 4, law: tuple[float, ...] = (0.4, 0.3, 0.2, 0.1), gamma: float = 0.8,
    noise: float = 0.3, samples: int = 4000, replicates: int = 32, assumed_gamma: float = 0.8,
) -> xarray.Dataset:
    """Means of Y - best(X) times best(X) and times the first token's answer, with one informative
    token of uneven law and with two of the even one."""
    rows = []
    for count, chances in ((1, np.array(law)), (2, None)):
        task = SingleLocation.create(
            jax.random.key(31), dim, len(law), gamma, noise, chances, count)
        assumed = SingleLocation.create(
            jax.random.key(31), dim, len(law), assumed_gamma, noise, chances, count)
        X, y, *_ = task.sample(jax.random.fold_in(key, count), samples * replicates)
        best = np.asarray(assumed.best(X))
        X, left = np.asarray(X), np.asarray(y) - best
        others = (best, X[:, 0] @ task.v_star)
        rows.append([(left * other).reshape(replicates, -1).mean(1) for other in others])
    return xarray.Dataset(
        {"mean": (("informative", "factor", "replicate"), np.array(rows))},
        {"informative": [1, 2], "factor": ["best", "first token"]})


@experiment("single-location.places-drawn")
def places_drawn(
    key: Any, *, law: tuple[float, ...] = (0.4, 0.3, 0.2, 0.1), samples: int = 1000,
    replicates: int = 32, again: bool = False,
) -> xarray.Dataset:
    """How often each place is informative, with one token of this law and with two of the even one,
    drawn by a generator of NumPy and by a key; and how alike the numbers behind tokens, places and
    noise are (`again`: the tokens' numbers, in their order, make places and noise too)."""
    rows, alike = [], []
    for count, chances in ((1, np.array(law)), (2, None)):
        task = SingleLocation.create(jax.random.key(31), 3, len(law), 0.8, 0.3, chances, count)
        own = jax.random.fold_in(key, count)
        for source in (generator(own), own):
            sample = task.sample(source, samples * replicates)
            where = np.asarray(sample.where, float)
            rows.append(where.reshape(replicates, samples, -1).mean(1))
            alike.append(_alike(task, np.asarray(sample.X), np.asarray(sample.y), where, again))
    return xarray.Dataset(
        {
            "share": (("case", "replicate", "place"), np.array(rows)),
            "alike": (("case", "pair"), np.array(alike))},
        {"case": ["one, NumPy", "one, key", "two, NumPy", "two, key"]})


def _alike(
    task: SingleLocation, X: np.ndarray, y: np.ndarray, where: np.ndarray, again: bool
) -> list[float]:
    """Correlations of tokens with places, tokens with noise and places with noise, number by number
    in the order in which a generator gives them."""
    spread = np.where(where, float(task.gamma), 1.0)[:, :, None]
    tokens = (X - (X.shape[2] / 2) ** 0.5 * where[:, :, None] * task.k_star) / spread
    noise = y - np.sum(where * (X @ task.v_star), axis=1) / where.sum(axis=1) ** 0.5
    lists = [tokens.ravel(), where.ravel(), noise]
    if again:
        first = lists[0][: where.size].reshape(where.shape)
        lists[1:] = (first == first.max(axis=1, keepdims=True)).ravel(), lists[0][: len(noise)]
    pairs = [(lists[0], lists[1]), (lists[0], lists[2]), (lists[1], lists[2])]
    sizes = [min(map(len, pair)) for pair in pairs]
    return [
        float(np.corrcoef(a[:size], b[:size])[0, 1])
        for (a, b), size in zip(pairs, sizes, strict=True)]


@experiment("single-location.wishart")
def wishart_matrices(
    key: Any, *, degrees: tuple[int, ...] = (0, 1, 2, 5),
    root: tuple[float, ...] = (0.8, -0.5, 0.6), draws: int = 4000, replicates: int = 32,
) -> xarray.Dataset:
    """Means of the entries W11, W22, W12 of Wishart matrices, of their squares and of the
    determinant, with the scale's lower triangular root [[a, 0], [b, c]]; to the first, those of the
    second are added."""
    normal_key, key = jax.random.split(key)
    shape = len(degrees), draws * replicates
    normal = jax.random.normal(normal_key, shape)
    entries = chance.wishart(key, chance.Root(*root), normal, np.array(degrees, float)[:, None])
    first, second, mixed = (np.broadcast_to(np.asarray(x), shape).copy() for x in entries)
    for entry in (first, second, mixed):
        entry[0] += entry[1]
    moments = [first, second, mixed, first**2, second**2, mixed**2, first * second - mixed**2]
    means = np.stack(moments).reshape(len(moments), len(degrees), replicates, draws).mean(-1)
    return xarray.Dataset(
        {"mean": (("moment", "degrees", "replicate"), means)}, {"degrees": list(degrees)})


@experiment("single-location.one-sequence")
def one_sequence(
    key: Any, *, dim: int = 400, length: int = 10, inverse_temperature: float = 0.1,
    gamma: float = 2**-0.5,
) -> xarray.Dataset:
    """One drawn sequence: its tokens along k* and v*, the erf layer's weights at the truth, the
    informative one, and the target."""
    task = SingleLocation.create(jax.random.key(33), dim, length, gamma)
    sample = task.sample(generator(key), 1)
    scores = sample.X[0] @ task.k_star
    return xarray.Dataset({
        "score": ("token", scores), "answer": ("token", sample.X[0] @ task.v_star),
        "weight": ("token", erf(inverse_temperature * scores)),
        "where": ("token", sample.where[0]), "target": float(sample.y[0])})


@experiment("single-location.masked-tokens")
def masked_tokens(
    key: Any, *, dim: int = 12, length: int = 6, hidden: int = 3, samples: int = 8,
    inverse_temperature: float = 0.7, ignore_mask: bool = False,
) -> xarray.Dataset:
    """Predictions of the family with `hidden` tokens of high scores at any places among the others,
    masked, left out, or masked in samples along two axes, and the scores X k and answers X v of
    those that count; every second sample has negative scores only."""
    rng = generator(key)
    k, v = rng.standard_normal((2, dim)) / np.sqrt(dim)
    X = rng.standard_normal((samples, length + hidden, dim))
    mask = rng.permuted(np.broadcast_to(np.arange(length + hidden) < length, X.shape[:2]), axis=1)
    X[~mask] += 10 * k
    X[1::2][mask[1::2]] -= 10 * k
    head = models.SingleHeadAttention.from_directions(k, v, 1.5 * k, k, inverse_temperature)
    family = (
        models.ErfAttention(k, v, inverse_temperature),
        models.SoftmaxAttention(k, v, inverse_temperature), models.ArgmaxAttention(k, v), head)
    shown = X[mask].reshape(samples, length, dim)
    nested = [part.reshape(2, -1, *part.shape[1:]) for part in (X, mask)]
    given = ((X, mask), (shown, None), nested)
    if ignore_mask:
        given = tuple((one[0], None) for one in (given[0], given[0], nested))
    values = [[np.asarray(model(*one)).ravel() for one in given] for model in family]
    return xarray.Dataset(
        {
            "prediction": (("model", "given", "sample"), np.array(values)),
            "scores": (("sample", "token"), shown @ k), "answers": (("sample", "token"), shown @ v),
            "square": float(k @ k)},
        {
            "model": ["erf", "softmax", "argmax", "head"],
            "given": ["masked", "left out", "two axes"]})


@experiment("single-location.wide-head")
def wide_head(
    key: Any, *, dim: int = 5, width: int = 3, out: int = 2, length: int = 4, samples: int = 6,
    inverse_temperature: float = 0.7, narrow: bool = False,
) -> xarray.Dataset:
    """Outputs and weights of attention heads wider than one, with samples along two axes and every
    second one's last token masked, and their matrices; `narrow` keeps the first column of each
    matrix only."""
    rng = generator(key)
    matrices = [rng.standard_normal((rows, width)) for rows in (dim, dim, dim, out)]
    X, cls = rng.standard_normal((samples, length, dim)), rng.standard_normal(dim)
    mask = np.ones((samples, length), bool)
    mask[::2, -1] = False
    Q, K, V, O = (matrix[:, : 1 if narrow else width] for matrix in matrices)  # noqa: E741
    head = models.SingleHeadAttention(Q, K, V, O, cls, inverse_temperature)
    given = [part.reshape(2, -1, *part.shape[1:]) for part in (X, mask)]
    data = {
        "output": (("sample", "entry"), np.asarray(head.output(*given)).reshape(samples, -1)),
        "prediction": ("sample", np.asarray(head(*given)).ravel()),
        "weight": (("sample", "token"), np.asarray(head.attention(*given)).reshape(samples, -1)),
        "X": (("sample", "token", "axis"), X), "mask": (("sample", "token"), mask),
        "cls": ("axis", cls)}
    shapes = dict(zip("QKVO", ("axis", "axis", "axis", "entry"), strict=True))
    named = {
        name: ((row, "column"), matrix)
        for (name, row), matrix in zip(shapes.items(), matrices, strict=True)}
    return xarray.Dataset(data | named)


@experiment("single-location.left-out")
def left_out(key: Any, *, dim: int = 5, length: int = 3, samples: int = 4) -> xarray.Dataset:
    """The task and the layers with every option left out: gamma, noise, the number of informative
    tokens and their law; predictions, and the scores X k and answers X v they are made of."""
    task, rng = SingleLocation.create(jax.random.key(31), dim, length), generator(key)
    X, (k, v) = rng.standard_normal((samples, length, dim)), rng.standard_normal((2, dim))
    layers = (
        models.ErfAttention(k, v), models.SoftmaxAttention(k, v),
        models.SingleHeadAttention.from_directions(k, v, k, k))
    given = task.gamma, task.noise, task.informative
    return xarray.Dataset({
        "task": ("number", np.array([*map(float, given), *task.location_probabilities])),
        "prediction": (
            ("model", "sample"), np.array([np.asarray(layer(X)) for layer in layers])),
        "scores": (("sample", "token"), X @ k), "answers": (("sample", "token"), X @ v),
        "square": float(k @ k)})


@experiment("single-location.made-up-ends")
def made_up_ends(
    key: Any, *, dim: int = 400, length: int = 10, inverse_temperature: float = 0.9,
    gamma: float = 2**-0.5, tolerances: tuple[float, ...] = (0.05, 0.2), draws: int = 400,
) -> xarray.Dataset:
    """Pairs of unit vectors in four coordinates, the first two k* and v*: shaken end states with
    v* (and v), or k and v, turned round or not, and pairs anywhere; and how each is named."""
    rng = generator(key)
    setting = dynamics.Setting(dim, length, inverse_temperature, gamma)
    ends = np.array([end for end in dynamics.end_states(setting) if end is not None], float)
    pairs = np.array([_pair(end) for end in ends])[rng.integers(len(ends), size=draws)]
    pairs = pairs + rng.uniform(0, 0.1, (draws, 1, 1)) * rng.standard_normal(pairs.shape)
    pairs = np.concatenate([pairs, rng.standard_normal((draws, 2, 4))])
    pairs = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    turned = rng.choice([-1.0, 1.0], (2, len(pairs)))
    pairs = pairs * turned[0, :, None, None]
    pairs[:, :, 1] *= turned[1, :, None]  # v* turned round ...
    pairs[:, 1] *= turned[1, :, None]  # ... and v with it
    overlaps = dynamics.overlaps_of(pairs[:, 0], pairs[:, 1], *np.eye(4)[:2])
    names = [dynamics.classify(overlaps, setting, tolerance) for tolerance in tolerances]
    return xarray.Dataset(
        {
            "pair": (("state", "vector", "axis"), pairs), "end": (("name", "overlap"), ends),
            "outcome": (("tolerance", "state"), np.array(names)),
            "fate": ("state", dynamics.fate(overlaps))},
        {"tolerance": list(tolerances)})


def _pair(end: np.ndarray) -> np.ndarray:
    """k and v with these five overlaps, what is left of each along an axis of its own: at all ends
    one of them lies in the plane of k* and v*."""
    k, v = end[[0, 3]], end[[2, 1]]
    rest = [np.sqrt(max(0.0, 1 - x @ x)) for x in (k, v)]
    return np.array([[*k, rest[0], 0.0], [*v, 0.0, rest[1]]])


@experiment("single-location.made-up-states")
def made_up_states(
    key: Any, *, features: int = 4, samples: int = 2000, apart: float = 1.0, spread: float = 1e-4,
    replicates: int = 8,
) -> xarray.Dataset:
    """Accuracy of probes of states that hardly vary around large means, one coordinate constant:
    two classes `apart` deviations from their middle along one direction, and at a second layer
    with nothing to tell them apart. Three of four states of the last set are of one class."""
    rows, names = [], ["train", "test", "uneven"]
    for rng in generator(key).spawn(replicates):
        sets = [_states(rng, features, samples, apart, spread, every) for every in (2, 2, 4)]
        accuracies = probe_layers(*sets[0], dict(zip(names[1:], sets[1:], strict=True)))
        rows.append([accuracies[name] for name in names])
    return xarray.Dataset(
        {"accuracy": (("replicate", "set", "layer"), np.array(rows))}, {"set": names})


def _states(
    rng: np.random.Generator, features: int, samples: int, apart: float, spread: float, every: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two layers of states and their labels, of which one in `every` is positive."""
    labels = np.where(np.arange(samples) % every == 0, 1, -1)
    noise = rng.standard_normal((2, samples, features))
    noise[0, :, 0] += apart * labels
    noise[:, :, -1] = 0.0
    means = np.linspace(-3.0, 5.0, features)
    return means + spread * noise * np.linspace(0.5, 2.0, features), labels
