"""Training deep networks: many steps in one compiled program, learning curves, and checkpoints that resume exactly. See `loop`."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.dynamics.training.checkpoint import load_checkpoint
from saccade.dynamics.training.loop import Problem, Trained, train
from saccade.dynamics.training.schedule import adam_with_cosine
from saccade.dynamics.training.watching import watching

__all__ = ["Problem", "Trained", "adam_with_cosine", "load_checkpoint", "train", "watching"]
