"""Training deep networks: many steps in one compiled program, learning curves, and checkpoints that
resume exactly. See `loop`."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.networks.training.checkpoint import load_checkpoint
from saccade.networks.training.loop import Problem, Trained, train
from saccade.networks.training.schedule import adam_with_cosine
from saccade.networks.training.watching import watching

__all__ = ["Problem", "Trained", "adam_with_cosine", "load_checkpoint", "train", "watching"]
