"""The embedders as LangChain's `Embeddings`, for the graph and for hosts."""

from __future__ import annotations

import functools
from pathlib import Path

from langchain_core.embeddings import Embeddings

from recurrentgpt.infrastructure import settings
from recurrentgpt.models.embedders import HashEmbedder, MiniLMEmbedder, embedding_id

__all__ = ["HashEmbeddings", "MiniLM", "default_embeddings", "embedding_id"]


class MiniLM(MiniLMEmbedder, Embeddings):
    """A sentence-transformers model in a folder, as LangChain has it; see `MiniLMEmbedder`."""


class HashEmbeddings(HashEmbedder, Embeddings):
    """Hashed words, as LangChain has them; see `HashEmbedder`."""


def default_embeddings() -> Embeddings:
    """Return the process's embedder: the folder (or `hash-256`) that RECURRENTGPT_EMBEDDER names, else all-MiniLM-L6-v2.

    It is quick; the first embedding loads the model, and fetches it where it is missing.
    """
    return _at(settings.resolve("embedder").value)


@functools.lru_cache(maxsize=4)
def _at(folder: str | None) -> Embeddings:
    if folder == HashEmbeddings.model_id:
        return HashEmbeddings()
    return MiniLM(None if folder is None else Path(folder).expanduser())
