"""How near lines are in meaning to what is asked for, each line embedded once in a while."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from recurrentgpt.infrastructure.bounded_cache import BoundedCache
from recurrentgpt.memory.rows import Matrix, unit
from recurrentgpt.models.embedders import Embedder, embedding_id
from recurrentgpt.schema.errors import SettingsError

KEPT_TEXTS = 4096
"""Lines whose vectors are kept in memory, of all stories."""

_EMBEDDED: BoundedCache[tuple[str, str], Matrix] = BoundedCache(KEPT_TEXTS)


def embedded(embeddings: Embedder, texts: list[str]) -> Matrix:
    """Return the vectors of texts, each of length one; raise SettingsError where an embedding model returns none."""
    try:
        vectors = np.asarray(embeddings.embed_documents(texts), dtype=np.float32)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        vectors = np.empty(0, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1] or not np.isfinite(vectors).all():
        raise SettingsError(
            f"The embeddings {embedding_id(embeddings)} cannot be used: of each text they make one vector of finite numbers, all "
            "of one length, and these were none. Nothing that was written is lost: take other embeddings, and go on."
        )
    return unit(vectors)


def nearness(embeddings: Embedder, parts: Sequence[str], texts: Collection[str]) -> dict[str, float]:
    """Return how near each text is to the nearest of some parts; what was embedded last is not embedded again.

    Parts are embedded as texts are, so that what is a part now may be a text the next time.
    """
    if not parts or not texts:
        return {}
    name, asked = embedding_id(embeddings), dict.fromkeys([*parts, *texts])
    found = {text: vector for text in asked if (vector := _EMBEDDED.get((name, text))) is not None}
    if new := [text for text in asked if text not in found]:
        found |= zip(new, embedded(embeddings, new), strict=True)
    for text, vector in found.items():
        _EMBEDDED.put((name, text), vector)
    wanted = np.stack([found[part] for part in parts])
    return {text: float(np.max(wanted @ found[text])) for text in texts}
