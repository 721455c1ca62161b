"""A LoRA adapter beside a model of the embedded server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter that a model wears: a GGUF file, and the strength it is applied with."""

    path: Path
    scale: float = 1.0
