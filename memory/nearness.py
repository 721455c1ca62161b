"""How near lines are in meaning to what is asked for, each line embedded once in a while."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from recurrentgpt.infrastructure.bounded_cache import BoundedCache
from recurrentgpt.memory.rows import Matrix, unit
from recurrentgpt.models.embedders import Embedder, embedding_id

KEPT_TEXTS = 4096
"""Lines whose vectors are kept in memory, of all stories."""

_EMBEDDED: BoundedCache[tuple[str, str], Matrix] = BoundedCache(KEPT_TEXTS)


def nearness(embeddings: Embedder, parts: Sequence[str], texts: Collection[str]) -> dict[str, float]:
    """Return how near each text is to the nearest of some parts; what was embedded last is not embedded again.

    Parts are embedded as texts are, so that what is a part now may be a text the next time.
    """
    if not parts or not texts:
        return {}
    name, asked = embedding_id(embeddings), dict.fromkeys([*parts, *texts])
    found = {text: vector for text in asked if (vector := _EMBEDDED.get((name, text))) is not None}
    if new := [text for text in asked if text not in found]:
        found |= zip(new, unit(np.asarray(embeddings.embed_documents(new), dtype=np.float32)), strict=True)
    for text, vector in found.items():
        _EMBEDDED.put((name, text), vector)
    wanted = np.stack([found[part] for part in parts])
    return {text: float(np.max(wanted @ found[text])) for text in texts}
