"""The optimiser most trainings here use: Adam with warm-up, a cosine decay and clipped
gradients."""

import optax

from saccade.errors import require


def adam_with_cosine(
    learning_rate: float, steps: int, warmup: int = 100, last: float = 0.02, clip: float = 1.0,
    second_moment: float = 0.98,
) -> optax.GradientTransformation:
    """Linear warm-up to `learning_rate`, cosine down to `last` of it at step `steps`, gradients
    clipped to global norm `clip`."""
    require(learning_rate > 0, "learning_rate", learning_rate, "must be above 0")
    require(steps >= 1, "steps", steps, "must be at least 1")
    require(clip > 0, "clip", clip, "must be above 0")
    require(0 <= last <= 1, "last", last, "must lie in [0, 1]")
    warmup = min(warmup, steps - 1)
    schedule = optax.warmup_cosine_decay_schedule(
        0.0, learning_rate, warmup, steps, last * learning_rate)
    return optax.chain(
        optax.clip_by_global_norm(clip), optax.adam(schedule, b1=0.9, b2=second_moment))
