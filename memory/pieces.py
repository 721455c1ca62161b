"""Cut a passage into pieces that an embedding model can read whole: what a host's vector store holds, and old stories.

all-MiniLM-L6-v2 reads 256 tokens, about 190 English words, and silently ignores the rest of a passage.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from recurrentgpt.prose.sentences import count_words, sentences

PIECE_WORDS = 170

Matrix = NDArray[np.float32]


def pieces(passage: str, most_words: int = PIECE_WORDS) -> list[str]:
    """Return the passage as pieces of whole sentences, alike in length, each about `most_words` at the most."""
    parts = sentences(passage)
    total = sum(map(count_words, parts))
    share = total / max(1, math.ceil(total / most_words))
    found: list[list[str]] = [[]]
    held = 0
    for part in parts:
        size = count_words(part)
        if (found[-1] and held + size > most_words) or (found[-1] and held >= share):
            found.append([])
            held = 0
        found[-1].append(part)
        held += size
    return [text for group in found if (text := " ".join(part.strip() for part in group))]


def unit(vectors: Matrix) -> Matrix:
    """Return the rows scaled to length one, so that an inner product is a cosine."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled
