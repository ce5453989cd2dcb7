"""What turns the scores of the tokens into the logit of a bag, and a derivative back.

A head takes scores S of shape (columns, tokens), one column a linear function of the token:

    LogMeanExp   F = sum_h (1/beta) log mean_l exp(beta S_h)          columns w_1 .. w_H
                 (`normalise=False`: log sum, so that every further token is further evidence)
    Softmax      F = sum_h sum_l softmax_l(S_{q_h}) S_{w_h}           columns q_1 .. q_H, w_1 .. w_H

`forward` gives F and what `backward` needs; `backward(kept, g)` is dJ/dS for g = dJ/dF. Both are
checked against central differences.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from saccade.estimators.segments import Segments


@dataclass(frozen=True)
class LogMeanExp:
    n_heads: int = 1
    sharpness: float = 1.0
    normalise: bool = True

    @property
    def columns(self) -> int:
        return self.n_heads

    def penalties(self, ratio: float) -> np.ndarray:
        return np.ones(self.n_heads)

    def forward(self, scores: np.ndarray, at: Segments) -> tuple[np.ndarray, Any]:
        if self.sharpness != 1:
            scores *= scores.dtype.type(self.sharpness)
        weights, level = at.softmax(scores)
        if self.normalise:
            level = level - np.log(at.lengths)
        return level.sum(axis=0) / self.sharpness, weights

    def backward(self, kept: Any, slope: np.ndarray, at: Segments) -> np.ndarray:
        kept *= at.spread(slope.astype(kept.dtype))
        return kept

    def attention(self, scores: np.ndarray, strength: np.ndarray, at: Segments) -> np.ndarray:
        """The heads' softmax weights, averaged."""
        return at.softmax(scores * self.sharpness)[0].mean(axis=0)


@dataclass(frozen=True)
class Softmax:
    n_heads: int = 1

    @property
    def columns(self) -> int:
        return 2 * self.n_heads

    def penalties(self, ratio: float) -> np.ndarray:
        return np.repeat([ratio, 1.0], self.n_heads)

    def forward(self, scores: np.ndarray, at: Segments) -> tuple[np.ndarray, Any]:
        weights, _ = at.softmax(scores[: self.n_heads])
        values = scores[self.n_heads :]
        means = at.sum(weights * values)
        values -= at.spread(means)
        return means.sum(axis=0), scores

    def backward(self, kept: Any, slope: np.ndarray, at: Segments) -> np.ndarray:
        """Rows of `kept` hold p and S_w - m: dJ/dS_q = g p (S_w - m), dJ/dS_w = g p."""
        weights, centred = kept[: self.n_heads], kept[self.n_heads :]
        weights *= at.spread(slope.astype(kept.dtype))
        centred *= weights
        return np.concatenate([centred, weights])

    def attention(self, scores: np.ndarray, strength: np.ndarray, at: Segments) -> np.ndarray:
        """The heads' softmax weights, averaged by how long the value w_h of each head is."""
        share = strength[self.n_heads :]
        share = share / share.sum() if share.sum() > 0 else np.full(self.n_heads, 1 / self.n_heads)
        return share @ at.softmax(scores[: self.n_heads])[0]


Head = LogMeanExp | Softmax
