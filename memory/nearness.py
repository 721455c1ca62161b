"""How near lines are in meaning to what is asked for, each line embedded once in a while."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence

import numpy as np
from langchain_core.embeddings import Embeddings

from recurrentgpt.memory.pieces import Matrix, unit
from recurrentgpt.models.embeddings import embedding_id

KEPT_TEXTS = 4096
"""Lines whose vectors are kept in memory, of all stories."""

_EMBEDDED: OrderedDict[tuple[str, str], Matrix] = OrderedDict()
_LOCK = threading.Lock()


def nearness(embeddings: Embeddings, parts: Sequence[str], texts: Collection[str]) -> dict[str, float]:
    """Return how near each text is to the nearest of some parts; what was embedded last is not embedded again."""
    if not parts or not texts:
        return {}
    wanted = unit(np.asarray(embeddings.embed_documents(list(parts)), dtype=np.float32))
    name = embedding_id(embeddings)
    with _LOCK:
        new = [text for text in dict.fromkeys(texts) if (name, text) not in _EMBEDDED]
    vectors = unit(np.asarray(embeddings.embed_documents(new), dtype=np.float32)) if new else ()
    with _LOCK:
        _EMBEDDED.update({(name, text): vector for text, vector in zip(new, vectors, strict=True)})
        found = {text: _EMBEDDED[name, text] for text in texts if (name, text) in _EMBEDDED}
        for text in found:
            _EMBEDDED.move_to_end((name, text))
        while len(_EMBEDDED) > KEPT_TEXTS:
            _EMBEDDED.popitem(last=False)
    return {text: float(np.max(wanted @ vector)) for text, vector in found.items()}
