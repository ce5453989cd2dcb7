"""The claims on images judged on synthetic runs: right ones hold, wrong ones are refuted, without
training anything."""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray

from saccade.datasets.images.locality import grid
from saccade.lab import registry
from saccade.lab.experiment import Run
from saccade.lab.verdict import judge
from saccade.studies.spatial.claims import images, shuffle_sizes

pytestmark = pytest.mark.slow

TEST_IMAGES = 10_000
TOKENS = 64


def answers(random, share):
    """Right answers that agree on easy images, as trained networks do."""
    difficulty = random.random(TEST_IMAGES)
    return lambda: (difficulty + 0.2 * random.normal(size=TEST_IMAGES) < share).astype(np.uint8)


def vision_run(shuffled_share=0.57, positional_share=0.57, local=True, seeds=2):
    random = np.random.default_rng(0)
    right = np.zeros((2, seeds, 2, TEST_IMAGES), np.uint8)
    whole = np.zeros_like(right)
    tables = np.zeros((2, seeds, 2, TOKENS, 8))
    origin = np.zeros((seeds, 2, TOKENS), int)
    for seed in range(seeds):
        difficulty = random.random(TEST_IMAGES)
        origin[seed] = np.arange(TOKENS), random.permutation(TOKENS)
        for kind, share in enumerate((0.57, positional_share)):
            for cell, level in enumerate(
                (share, share if shuffled_share == 0.57 else shuffled_share)
            ):
                right[kind, seed, cell] = difficulty + 0.2 * random.normal(size=TEST_IMAGES) < level
                whole[kind, seed, cell] = right[kind, seed, cell] if cell == 0 else difficulty < 0.2
                places = grid(8)[origin[seed, cell]] / 8
                table = np.concatenate([places, places**2, places**3, places[:, ::-1]], axis=1)
                tables[kind, seed, cell] = table if local else random.normal(size=(TOKENS, 8))
    axes = ("kind", "seed", "cell")
    data = xarray.Dataset(
        {
            "right": ((*axes, "image"), right), "right_whole": ((*axes, "image"), whole),
            "encodings": ((*axes, "token", "width"), tables),
            "initial_encodings": ((*axes, "token", "width"), random.normal(size=tables.shape)),
            "origin": (("seed", "cell", "token"), origin)},
        {"kind": ["vanilla", "positional"], "cell": [32, 4]})
    return Run(data, SimpleNamespace())


def verdict(claim, run, measure=None):
    samples = (measure or claim.measure)(run)
    samples = samples[:, None] if samples.ndim == 1 else samples
    resolution = claim.resolution(run) if callable(claim.resolution) else claim.resolution
    return judge(claim.kind, samples, claim.predict(run), resolution, claim.statistic, 0).verdict


@pytest.fixture(scope="module")
def good():
    return vision_run()


@pytest.mark.parametrize(
    "claim", [images.POSITIONAL, images.UNCHANGED, images.UNPERMUTED, images.APPARENT],
    ids=lambda c: c.id)
def test_claims_hold_where_they_should_and_sabotages_are_refuted(claim, good):
    assert verdict(claim, good) == "holds"
    for sabotage in claim.sabotages:
        assert verdict(claim, good, sabotage.measure) == "refuted", sabotage.name


def test_a_deficit_of_ten_points_is_refuted():
    assert verdict(images.POSITIONAL, vision_run(positional_share=0.45)) == "refuted"


def test_a_drop_of_ten_points_is_refuted():
    run = vision_run(shuffled_share=0.45)
    assert verdict(images.UNCHANGED, run) == "refuted"
    assert verdict(images.DROPS, run, lambda run: -images._change(run, images.VISION)) == "holds"


def test_no_drop_is_no_drop(good):
    assert verdict(images.DROPS, good) == "refuted"
    assert verdict(images.DROPS, vision_run(shuffled_share=0.3)) == "holds"
    assert (
        verdict(images.DROPS, vision_run(shuffled_share=0.3), images.DROPS.sabotages[0].measure)
        == "refuted")


def cells_run(shares, seeds=2):
    """Answers that get better or worse with the size of the cells; nothing is known of whole ones
    after training on shuffled ones."""
    random = np.random.default_rng(1)
    difficulty = random.random((2, seeds, 1, TEST_IMAGES))
    noise = 0.2 * random.normal(size=(2, seeds, len(shares), TEST_IMAGES))
    right = difficulty + noise < np.asarray(shares)[:, None]
    whole = np.where(np.arange(len(shares))[:, None] == 0, right, difficulty < 0.2)
    axes = ("kind", "seed", "cell", "image")
    data = xarray.Dataset(
        {"right": (axes, right.astype(np.uint8)), "right_whole": (axes, whole.astype(np.uint8))})
    return Run(data, SimpleNamespace())


def test_flat_in_cells_and_falling_with_them():
    flat, falling = cells_run([0.57] * 5), cells_run([0.6, 0.59, 0.54, 0.48, 0.4])
    assert verdict(shuffle_sizes.FLAT, flat) == "holds"
    assert verdict(shuffle_sizes.FLAT, falling) == "refuted"
    assert verdict(shuffle_sizes.STEPS, falling) == "holds"
    assert verdict(shuffle_sizes.STEPS, flat) == "refuted"
    for claim, run in ((shuffle_sizes.FLAT, flat), (shuffle_sizes.STEPS, falling)):
        assert verdict(claim, run, claim.sabotages[0].measure) == "refuted"


def test_flat_in_the_sizes_that_patches_divide_and_no_flatter():
    flat, falling = cells_run([0.42] * 4 + [0.3]), cells_run([0.42, 0.41, 0.38, 0.33, 0.3])
    assert verdict(shuffle_sizes.FLAT_BRIEFLY, flat) == "holds"
    assert verdict(shuffle_sizes.FLAT_BRIEFLY, falling) == "refuted"
    assert verdict(shuffle_sizes.FALLS_WHERE_CUT, flat) == "holds"
    assert verdict(shuffle_sizes.FALLS_WHERE_CUT, cells_run([0.42] * 5)) == "refuted"
    assert verdict(shuffle_sizes.STEPS_BRIEFLY, cells_run([0.4, 0.39, 0.35, 0.3, 0.26])) == "holds"
    for claim in (shuffle_sizes.FLAT_BRIEFLY, shuffle_sizes.FALLS_WHERE_CUT):
        for sabotage in claim.sabotages:
            assert verdict(claim, flat, sabotage.measure) == "refuted", sabotage.name


def test_encodings_without_place_are_not_local():
    assert verdict(images.UNPERMUTED, vision_run(local=False)) == "refuted"


def test_every_claim_names_parts_sabotages_and_data():
    for claim in registry.claims("spatial"):
        assert claim.repairs if claim.expected == "refuted" else claim.sabotages
        assert claim.id.startswith("spatial.")
        uses_cifar = any("cifar10" in str(scale.parameters) for scale in claim.scales.values()) or (
            claim.experiment.id.startswith("spatial.images") and "quick" not in claim.scales)
        assert not uses_cifar or claim.requires == "data:cifar10"
