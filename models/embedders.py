"""Turn text into vectors: all-MiniLM-L6-v2 from disk, or a hash of words for tests and benchmarks.

Nothing of LangChain is imported here, so that a story is searched without it; `models.embeddings` has both as its `Embeddings`.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from recurrentgpt.infrastructure import settings
from recurrentgpt.schema.errors import SettingsError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_loading = threading.Lock()
"""One load at a time in the process: what keeps it quiet is global."""


class Embedder(Protocol):
    """What turns texts into vectors: LangChain's `Embeddings` is one."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text."""


def embedding_id(embedder: Embedder) -> str:
    """Return a name of the embedding model, so that vectors of different models are never compared."""
    for attribute in ("model_id", "model", "model_name"):
        if isinstance(name := getattr(embedder, attribute, None), str) and name:
            return name
    return type(embedder).__name__


def own_embedder() -> MiniLMEmbedder | HashEmbedder:
    """Return an embedder of the kind that RECURRENTGPT_EMBEDDER names, else all-MiniLM-L6-v2; nothing is loaded yet."""
    folder = settings.resolve("embedder").value
    if folder == HashEmbedder.model_id:
        return HashEmbedder()
    return MiniLMEmbedder(None if folder is None else Path(folder).expanduser())


def check_embedder() -> None:
    """Raise SettingsError where RECURRENTGPT_EMBEDDER names no model; nothing is loaded."""
    embedder = own_embedder()
    if isinstance(embedder, MiniLMEmbedder) and embedder.folder is not None:
        _with_model(embedder.folder)


class MiniLMEmbedder:
    """A sentence-transformers model in a folder, loaded at its first use; vectors are float32 of length 1.

    Without a folder it is all-MiniLM-L6-v2 (384 dimensions, at most 256 tokens of a text are read), fetched when it is
    missing. Safe to use from several threads.
    """

    def __init__(self, folder: Path | None = None, batch: int = 32) -> None:
        from recurrentgpt.models.embedded.catalogue import EMBEDDER

        self.folder, self.batch = folder, batch
        self.model_id = EMBEDDER.id if folder is None else _name(folder)
        self._model: SentenceTransformer | None = None
        self._lock = threading.Lock()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector per text."""
        if not texts:
            return []
        with self._lock:
            model = self._loaded()
            vectors = model.encode(
                texts,
                batch_size=self.batch,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        rows: list[list[float]] = np.asarray(vectors, dtype=np.float32).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text."""
        return self.embed_documents([text])[0]

    def _loaded(self) -> SentenceTransformer:
        if self._model is None:
            from recurrentgpt.models.embedded.fetch import progress_shown

            folder, show = self.fetched(), progress_shown()
            with _loading, _quiet():
                show(0, 0, "loading the model of recall")
                from sentence_transformers import SentenceTransformer

                try:
                    # A path and `local_files_only` keep it off the network; HF_HUB_OFFLINE would bind the whole process.
                    self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
                except (OSError, ValueError, KeyError, RuntimeError) as error:
                    raise SettingsError(
                        f"The embedding model in {folder} cannot be loaded ({str(error)[:160]}): set RECURRENTGPT_EMBEDDER to "
                        "the folder of a sentence-transformers model."
                    ) from error
                finally:
                    show(0, 0, "")
        return self._model

    def fetched(self) -> Path:
        """Return the folder of the model, fetched where it is missing; raise SettingsError where a named one holds none."""
        if self.folder is None:
            from recurrentgpt.models.embedded.catalogue import EMBEDDER
            from recurrentgpt.models.embedded.fetch import fetch

            return fetch(EMBEDDER)
        return _with_model(self.folder)


def _with_model(folder: Path) -> Path:
    """Return the folder; raise SettingsError where it holds no model."""
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        what = "holds no model" if folder.is_dir() else "is not a folder"
        raise SettingsError(
            f"RECURRENTGPT_EMBEDDER names {folder}, which {what}: name the folder of a sentence-transformers model, or "
            "unset it to use all-MiniLM-L6-v2."
        )
    return folder


class HashEmbedder:
    """Count hashed words: deterministic, instant and without meaning beyond shared words. For tests and benchmarks."""

    model_id = "hash-256"
    dimension = 256

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector of length 1 per text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text; a text without words gets a fixed one, as zero has no direction."""
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in re.findall(r"\w+", text.lower()) or [""]:
            code = zlib.crc32(word.encode())
            # The sign makes words that share a slot cancel out instead of looking alike.
            vector[code % self.dimension] += 1.0 if code >> 16 & 1 else -1.0
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            vector[0] = length = 1.0
        row: list[float] = (vector / length).tolist()
        return row


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the loading libraries from the terminal: no log lines below errors and no bar while weights are read."""
    from transformers.utils import logging as transformers_logging

    loggers = [logging.getLogger(name) for name in ("transformers", "sentence_transformers", "huggingface_hub")]
    levels, drawn = [logger.level for logger in loggers], transformers_logging.is_progress_bar_enabled()
    try:
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        if drawn:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _name(folder: Path) -> str:
    """Return a name that two different models do not share, however their folders are called."""
    configuration = folder / "config.json"
    identity = [configuration.read_text(errors="replace")] if configuration.is_file() else []
    identity += sorted(f"{file.name} {file.stat().st_size}" for file in folder.glob("*.safetensors"))
    return f"{folder.resolve().name}-{zlib.crc32(chr(10).join(identity).encode()):08x}"
