"""What trains, beside plain versions of it: descent by automatic differentiation of a loss written
out, AdamW in NumPy, batches made on the host, the labels of the counter-example one by one."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.arrays import generator
from saccade.datasets.images.imageset import ImageSet
from saccade.datasets.images.pipeline import (
    Channels,
    channels_of,
    normalised,
    patches,
    shuffled,
    view,
)
from saccade.lab.experiment import experiment
from saccade.networks.transformer import init_transformer, vision_transformer
from saccade.studies.spatial.dynamics import descent
from saccade.studies.spatial.dynamics import images as dynamics
from saccade.studies.spatial.dynamics.descent import Layer
from saccade.studies.spatial.dynamics.images import Recipe
from saccade.studies.spatial.task import (
    Spatial,
    gaussian_convolution,
    interleaved,
    localised,
    random_feature,
    scattered,
)

LAYER = Layer(3, 0.2, 1.4)


def _written_out(A: Any, v: Any, X: Any, y: Any) -> Any:
    """The mean logistic loss, every sum in sight."""
    raised = jnp.exp(A / LAYER.temperature)
    looks = raised / jnp.sum(raised, axis=1, keepdims=True)
    z = len(A) * jnp.einsum("ij,njd,d->ni", looks, X, v)
    F = jnp.sum(z * z * z + LAYER.slope * z, axis=1)
    return jnp.mean(jnp.log1p(jnp.exp(-y * F)))


@experiment("spatial.descent-by-hand")
def descent_by_hand(
    key: Any, *, steps: int = 6, eta_v: float = 2e-3, eta_a: float = 0.05, faster: float = 1.0,
    hasty: float = 1.0,
) -> xarray.Dataset:
    """Descent on a sample, with A trained and with A frozen, beside plain gradient steps of which
    those of A are `faster` and those of v `hasty`; the largest gaps in A, v, the loss and the
    frozen v."""
    make, draw, first = jax.random.split(key, 3)
    X, y, *_ = Spatial.create(make, interleaved(6, 2), 3, 0.4).sample(generator(draw), 20)
    A, v = start = descent.random_start(first, 6, 3, 0.7, 0.3)
    record = descent.realistic_descent(X, y, start, LAYER, eta_v, eta_a, steps, every=2)
    frozen = descent.transfer_descent(X, y, A, v, LAYER, eta_v, steps)
    slopes, free = jax.jit(jax.grad(_written_out, (0, 1))), 1 - np.eye(6)
    alone, losses = v, [_written_out(*start, X, y)]
    for number in range(steps):
        by_A, by_v = slopes(A, v, X, y)
        alone = alone - hasty * eta_v * slopes(start[0], alone, X, y)[1]
        A, v = A - faster * eta_a * free * by_A, v - hasty * eta_v * by_v
        losses += [_written_out(A, v, X, y)] * (number % 2)
    pairs = (record.A[-1], A), (record.v[-1], v), (record.loss, np.array(losses)), (frozen, alone)
    gaps = [np.max(np.abs(np.asarray(one) - np.asarray(two))) for one, two in pairs]
    return xarray.Dataset({"gap": ("what", gaps), "steps": ("record", record.steps)})


@experiment("spatial.random-start")
def random_start(
    key: Any, *, patches: int = 65, dim: int = 4160, diagonal: float = 1.3, spread: float = 1e-3,
    itself: bool = False,
) -> xarray.Dataset:
    """The start of descent on a sample: squares of the off-diagonal of A and of v, over omega^2, in
    blocks of 65, and fourth powers of v, over 3 omega^4; products of A_ij with A_ji, and of the
    entries of A, in their order, with those of v (`itself`: of each with itself); the diagonal; by
    JAX and by NumPy."""
    blocks, diagonals, apart = [], [], ~np.eye(patches, dtype=bool)
    for source in (key, generator(key)):
        A, v = map(np.asarray, descent.random_start(source, patches, dim, diagonal, spread))
        off, turned = A[apart] / spread, (A if itself else A.T)[apart] / spread
        other = off if itself else np.resize(v, A.shape)[apart] / spread
        blocks += [
            np.mean(part.reshape(-1, 65)[:64], axis=1)
            for part in (
                off**2, (v / spread) ** 2, (v / spread) ** 4 / 3, off * turned, off * other)]
        diagonals.append(np.diag(A))
    return xarray.Dataset({
        "squares": (("block", "what"), np.stack(blocks, axis=1)),
        "diagonal": (("i", "source"), np.stack(diagonals, axis=1))})


@experiment("spatial.random-draws")
def random_draws(
    key: Any, *, dim: int = 5, side: int = 4, block: int = 2, draws: int = 1024,
    swapped: bool = False, half: bool = False,
) -> xarray.Dataset:
    """Of each of many features drawn by NumPy and by JAX: the first coordinate, its square and its
    fourth power (`half`: of features turned so that it is positive); and of each scattered
    partition the share of places that keep their set (where `swapped`: two random places change
    sets, no more)."""
    random, labels, rows = generator(key), localised(side, block), []
    for one in jax.random.split(key, draws):
        row = []
        for source in (random, one):
            first = float(np.asarray(random_feature(source, dim))[0])
            first = abs(first) if half else first
            mixed = np.asarray(scattered(source, labels))
            if swapped:
                mixed, pair = labels.copy(), random.choice(len(labels), 2, replace=False)
                mixed[pair] = labels[pair[::-1]]
            row += [first, first**2, first**4, np.mean(mixed == labels)]
        rows.append(row)
    return xarray.Dataset({"seen": (("draw", "what"), np.asarray(rows))})


@experiment("spatial.counter-example")
def counter_example(
    key: Any, *, side: int = 4, block: int = 2, dim: int = 3, samples: int = 400, power: int = 3,
    uniform: bool = False,
) -> xarray.Dataset:
    """Labels of the counter-example, drawn by NumPy and by JAX, beside loops over sets, with the
    rule's own filters: which agree; mean squares of the patches, image by image, and of the
    filters, in 64 blocks (`uniform`: of numbers uniform in (-1, 1) in their place)."""
    labels, agree, patch, filters = localised(side, block), [], [], []
    for source in (generator(key), key):
        X, y, taps = map(np.asarray, gaussian_convolution(source, labels, dim, samples))
        agree.append(_says(X, labels, taps, power) == y)
        if uniform:
            X, taps = (generator(key).uniform(-1, 1, part.shape) for part in (X, taps))
        patch.append(np.mean(X**2, axis=(1, 2)))
        filters.append(np.mean(np.resize(taps**2, (64, taps.size // 64 or 1)), axis=1))
    return xarray.Dataset({
        "agree": (("sample", "source"), np.stack(agree, axis=1)),
        "patch": (("sample", "source"), np.stack(patch, axis=1)),
        "filter": (("block", "source"), np.stack(filters, axis=1))})


def _says(X: np.ndarray, labels: np.ndarray, taps: np.ndarray, power: int) -> np.ndarray:
    """The sign of the sum over sets of a power of their response, set by set."""
    says = []
    for image in X:
        total = 0.0
        for one in range(labels.max() + 1):
            members = np.flatnonzero(labels == one)
            response = sum(float(image[j] @ taps[rank]) for rank, j in enumerate(members))
            total += abs(response) ** power * np.sign(response)
        says.append(np.sign(total))
    return np.array(says)


@experiment("spatial.batch-by-hand")
def batch_by_hand(
    key: Any, *, images: int = 40, side: int = 12, batch: int = 16, shift: int = 2,
    stays: bool = False, replaced: bool = False, both: bool = False,
) -> xarray.Dataset:
    """A batch made inside the compiled program beside the host's: normalised, flipped, shifted and
    shuffled, in patches as large as the cells, in smaller ones, and whole; images that are only
    flipped, only shifted, or neither; the order of images; the answers of a linear reader; the
    smoothed loss; mean and deviation of channels; the recipe that is told nothing. `stays` leaves
    the cells on the host where they were, `replaced` looks at an order of images drawn with
    replacement, at the channels of those, and at another loss, `both` flips and shifts all on the
    host."""
    random = generator(key)
    pixels = random.integers(0, 256, (images, side, side, 3)).astype(np.uint8)
    train = ImageSet(pixels, random.integers(0, 4, images), ("a", "b", "c", "d"))
    channels = Channels(np.array([0.4, 0.5, 0.6]), np.array([0.2, 0.25, 0.3]))
    recipe = Recipe(epochs=2, batch=batch, shift=shift)
    shown = view(side, 4, random.permutation((side // 4) ** 2))
    data = dynamics.image_data(train, channels, shown, recipe, 7)
    data = data._replace(labels=jnp.asarray(data.labels))
    chosen, whole = data.order[2 * batch : 3 * batch], normalised(train, channels)
    host = _augmented(key, whole[chosen], shift, True)
    looks, gaps = view(side, 4) if stays else shown, []
    for patch in (4, 2, None):
        made, labels = jax.jit(dynamics.batches(recipe, 4, patch))(key, jnp.asarray(2), data)
        tokens = shuffled(host, looks) if patch is None else patches(host, looks, patch)
        gaps.append(np.max(np.abs(np.asarray(made) - tokens)))
        gaps[-1] += np.sum(np.asarray(labels) != train.labels[chosen])
    ways = ((True, 0), (False, shift), (False, 0))
    some = jax.jit(lambda key, X: [dynamics.augment(key, X, *way) for way in ways])(key, host)
    plain = [_augmented(key, host, shift if both else far, both or flips) for flips, far in ways]
    gaps.append(max(np.abs(one - two).max() for one, two in zip(some, plain, strict=True)))
    order = random.integers(0, images, data.order.shape) if replaced else data.order
    repeated = np.sum(np.diff(np.sort(order.reshape(2, -1), axis=1), axis=1) == 0)
    left_over = abs(recipe.steps(images) - 2 * (images // batch))
    gaps.append(repeated + left_over + np.all(order[: 2 * batch] == order[2 * batch :]))
    weights = random.normal(size=(9, 48, 4)).astype(np.float32)
    says = np.einsum("njd,jdk->nk", patches(whole, looks, 4), weights).argmax(axis=1)
    right = dynamics.right_answers(
        lambda X: jnp.einsum("njd,jdk->nk", X, weights), train, data, 4, 4)
    gaps.append(np.sum(right != (says == train.labels)))
    gaps.append(_smoothing_gap(random, 0.15, 0.2 if replaced else 0.15))
    found, seen = channels_of(train), pixels[order[:images] if replaced else slice(None)] / 255
    by_hand = seen.mean(axis=(0, 1, 2)), seen.std(axis=(0, 1, 2))
    gaps.append(np.max(np.abs(np.subtract(found, by_hand))))
    usual = Recipe()
    augmented = np.asarray(dynamics.augment(key, jnp.asarray(host), usual.flip, usual.shift))
    gaps.append(np.max(np.abs(augmented - _augmented(key, host, 2, True))))
    gaps[-1] += abs(usual.steps(1000) - 6 * 7)
    gaps[-1] += _smoothing_gap(random, usual.smoothing, 0.2 if replaced else 0.1)
    return xarray.Dataset({"gap": ("what", np.array(gaps, float))})


def _augmented(key: Any, images: np.ndarray, shift: int, flip: bool) -> np.ndarray:
    """Flips, then crops of images in a frame of zeros, by the program's own draws."""
    n, side = images.shape[:2]
    flips, moves = jax.random.split(key)
    turned = np.asarray(jax.random.bernoulli(flips, 0.5, (n, 1, 1, 1))).ravel()
    corners = np.asarray(jax.random.randint(moves, (n, 2), 0, 2 * shift + 1))
    crops = []
    for one, turn, (down, right) in zip(images, turned, corners, strict=True):
        room = np.zeros((side + 2 * shift, side + 2 * shift, 3), np.float32)
        room[shift : shift + side, shift : shift + side] = one[:, ::-1] if turn and flip else one
        crops.append(room[down : down + side, right : right + side])
    return np.stack(crops)


def _smoothing_gap(random: np.random.Generator, told: float, smoothing: float) -> float:
    scores, labels = random.normal(size=(5, 4)), np.array([0, 3, 1, 2, 3])
    log_shares = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
    target = smoothing / 4 + (1 - smoothing) * np.eye(4)[labels]
    value = dynamics.smoothed_loss(told)(lambda inputs: inputs, (jnp.asarray(scores), labels))
    return abs(float(value) + np.mean(np.sum(target * log_shares, axis=1)))


@experiment("spatial.optimiser-by-hand")
def optimiser_by_hand(
    key: Any, *, steps: int = 20, shown: int = 14, decays_all: bool = False, clip: float = 1.0
) -> xarray.Dataset:
    """Encodings, a matrix and a bias of a small network after each of `shown` steps of the recipe's
    optimiser on random gradients, beside AdamW in NumPy; and the same for twice as many steps of
    the recipe that is told nothing. `decays_all` makes AdamW decay all of them, `clip` times the
    recipe's norm is its clipping."""
    told = Recipe(0.01, warmup=0.2, last=0.1, decay=0.3, clip=2.0, position_rate=3.0)
    usual = Recipe(2e-3, warmup=0.05, last=0.01, decay=0.05, clip=1.0, position_rate=5.0)
    gaps, random = [], generator(key)
    for recipe, by_hand, times in ((told, told, 1), (Recipe(), usual, 2)):
        start, slopes, paths = _moved_by(key, recipe, random, times * steps, times * shown)
        norms = [np.sqrt(sum(np.sum(leaf**2) for leaf in jax.tree.leaves(one))) for one in slopes]
        for name, path in paths.items():
            own = [
                getattr(slope, name) * min(1.0, clip * by_hand.clip / norm)
                for slope, norm in zip(slopes, norms, strict=True)]
            faster = by_hand.position_rate if name == "positions" else 1.0
            decay = by_hand.decay if decays_all or name == "read_out" else 0.0
            plain = _adamw(getattr(start, name), own, times * steps, by_hand, faster, decay)
            gaps.append(np.max(np.abs(plain - path)))
    return xarray.Dataset({"gap": ("what", gaps)})


def _moved_by(
    key: Any, recipe: Recipe, random: np.random.Generator, steps: int, shown: int
) -> tuple[Any, list[Any], dict[str, np.ndarray]]:
    """A small network, random gradients of which norms lie between 0.3 and 5, and where three of
    its arrays are after each step."""
    config = vision_transformer(2, 3, 2, "tokens", width=4, hidden=4, layers=1)
    model: Any = init_transformer(key, config, dtype=jnp.float64)
    start, rule = jax.tree.map(np.asarray, model), dynamics.optimiser(recipe, steps)
    slopes = [
        jax.tree.map(lambda leaf, size=size: size * random.normal(size=leaf.shape), model)
        for size in random.uniform(0.03, 0.3, shown)]
    paths: dict[str, list[Any]] = {"positions": [], "read_out": [], "read_out_bias": []}
    state, update = rule.init(model), jax.jit(rule.update)
    for slope in slopes:
        moves, state = update(slope, state, model)
        model = jax.tree.map(lambda leaf, move: leaf + move, model, moves)
        for name, path in paths.items():
            path.append(np.asarray(getattr(model, name)))
    return start, slopes, {name: np.stack(path) for name, path in paths.items()}


def _adamw(
    at: np.ndarray, slopes: list[np.ndarray], steps: int, recipe: Recipe, faster: float,
    decay: float,
) -> np.ndarray:
    """The peak after a share of the steps, then down a cosine to a share of it."""
    mean, square, path, warm = 0.0, 0.0, [], int(recipe.warmup * steps)
    for t, slope in enumerate(slopes):
        mean, square = 0.9 * mean + 0.1 * slope, 0.98 * square + 0.02 * slope**2
        turn = 0.5 * (1 + np.cos(np.pi * (t - warm) / (steps - warm)))
        share = t / warm if t < warm else recipe.last + (1 - recipe.last) * turn
        move = mean / (1 - 0.9 ** (t + 1)) / (np.sqrt(square / (1 - 0.98 ** (t + 1))) + 1e-8)
        at = at - recipe.learning_rate * share * faster * (move + decay * at)
        path.append(at)
    return np.stack(path)
