"""[CLS] vectors of every layer for many sentences: sorted by length into a few fixed shapes, so
that only a few programs are compiled."""

from collections.abc import Callable, Iterator

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from saccade.errors import require
from saccade.networks.bert.encoder import BertEncoder, hidden_states

# Sentences are padded to the next multiple of this; smaller wastes less work, larger compiles fewer
# programs.
LENGTH_STEP = 2

Progress = Callable[[int, int], None]


@eqx.filter_jit
def _cls_of_batch(
    encoder: BertEncoder, tokens: Int[Array, "n length"], mask: Bool[Array, "n length"]
) -> Float[Array, "layers+1 n hidden"]:
    return hidden_states(encoder, tokens, mask)[:, :, 0]


def _batches(
    lengths: Int[np.ndarray, " n"], batch_size: int, longest: int
) -> Iterator[tuple[np.ndarray, int]]:
    """The indices of each batch and the length it is padded to."""
    padded = np.minimum(-(-lengths // LENGTH_STEP) * LENGTH_STEP, longest)
    for length in np.unique(padded):
        members = np.flatnonzero(padded == length)
        for start in range(0, len(members), batch_size):
            yield members[start : start + batch_size], int(length)


def _check(encoder: BertEncoder, tokens: np.ndarray, mask: np.ndarray, batch_size: int) -> None:
    require(batch_size >= 1, "batch_size", batch_size, "must be at least 1")
    require(
        tokens.ndim == 2 and tokens.shape == mask.shape, "mask", mask.shape,
        f"must have the shape {tokens.shape} of tokens")
    lengths = mask.sum(1)
    prefix = np.arange(mask.shape[1]) < lengths[:, None]
    require(
        bool((mask == prefix).all() and (lengths > 0).all()), "mask", mask.astype(int).tolist()[:2],
        "must mark at least one token, padding last")
    longest, positions = int(lengths.max(initial=0)), encoder.config.positions
    require(
        longest <= positions, "sentence length", longest,
        f"must be at most {positions} tokens, all that this encoder has")
    largest, vocabulary = int(tokens.max(initial=0)), encoder.config.vocabulary
    require(
        int(tokens.min(initial=0)) >= 0 and largest < vocabulary, "token", largest,
        f"must be in [0, {vocabulary})")


def cls_states(
    encoder: BertEncoder, tokens: Int[np.ndarray, "n length"], mask: Bool[np.ndarray, "n length"],
    *, batch_size: int = 64, progress: Progress | None = None,
) -> Float[np.ndarray, "layers+1 n hidden"]:
    """The first token's state after the embeddings (index 0) and after each layer, float32, in the
    order of the sentences.

    `mask` is True at real tokens, which come first. `progress(done, total)` is called after every
    batch.
    """
    tokens, mask = np.asarray(tokens, np.int32), np.asarray(mask, bool)
    _check(encoder, tokens, mask, batch_size)
    lengths = mask.sum(1)
    states = np.empty((encoder.config.layers + 1, len(tokens), encoder.config.hidden), np.float32)
    done = 0
    for members, length in _batches(lengths, batch_size, encoder.config.positions):
        # The last batch of a length is filled up with its own sentences: one more shape would be
        # one more compilation.
        filled = np.resize(members, batch_size)
        columns = np.arange(length) < mask.shape[1]
        batch_tokens = np.full((batch_size, length), encoder.config.padding_token, np.int32)
        batch_mask = np.zeros((batch_size, length), bool)
        batch_tokens[:, columns] = tokens[filled, :length]
        batch_mask[:, columns] = mask[filled, :length]
        batch_states = _cls_of_batch(encoder, jnp.asarray(batch_tokens), jnp.asarray(batch_mask))
        states[:, members] = np.asarray(batch_states)[:, : len(members)]
        done += len(members)
        if progress is not None:
            progress(done, len(tokens))
    return states
