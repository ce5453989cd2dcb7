"""How the spatial model learns: three scalars on the population (`idealised`, the exact map), all
entries on a sample, transfer with the attention frozen (`realistic`), and networks on images."""

from typing import Any

from saccade.descent import LARGEST
from saccade.errors import Diverged


def refuse_divergence(diverged_at: Any, eta_v: Any, eta_a: Any) -> None:
    """`Diverged`, with the step, if a watched descent left the numbers that training can have."""
    if int(diverged_at) >= 0:
        raise Diverged(
            f"eta_v = {eta_v!r}, eta_a = {eta_a!r}: a parameter is above {LARGEST:g} in size, or"
            f" not finite, at step {int(diverged_at)}; try a smaller eta_v.")
