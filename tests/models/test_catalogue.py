"""The catalogue: facts about models that are shipped."""

from __future__ import annotations

import subprocess
import sys

import pytest

from recurrentgpt.models.embedded.catalogue import EMBEDDER, WRITER, tier_of


@pytest.mark.parametrize(
    "name",
    [
        WRITER.id,
        "qwen2.5:1.5b",
        "Llama-3.2-3B-Instruct",
        "gemma-2b",
        "smollm2:1.7b",
        "SmolLM2-135M-Instruct",
        "qwen3:4b-instruct",
        "deepseek-r1:1.5b",
        "TinyLlama-1.1B",
    ],
)
def test_small_models_are_known_by_their_names(name: str) -> None:
    assert tier_of(name) == "small"


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o",
        "gpt-4.1-mini",
        "claude-3-opus-20240229",
        "llama3:8b",
        "mixtral-8x7b",
        "Mixtral-8x3B",
        "qwen3-30b-a3b",
        "llama-3.1-405b",
        "model-14b",
        "",
    ],
)
def test_every_other_name_is_full(name: str) -> None:
    assert tier_of(name) == "full"


def test_the_entries_are_complete() -> None:
    for entry in (WRITER, EMBEDDER):
        assert entry.license == "Apache-2.0"
        assert all(len(part.sha256) == 64 and part.size > 0 for part in entry.files)
    assert len(WRITER.wheels) == 22
    assert (WRITER.wheels[0].member, WRITER.wheels[21].member) == ("*/data/part01.bin", "*/data/part22.bin")
    assert WRITER.size == 1_117_320_768


@pytest.mark.parametrize(
    "module", ["embedded.catalogue", "roles", "calls", "embeddings", "embedded.fetch", "embedded.server"]
)
def test_importing_a_module_of_models_loads_nothing_heavy(module: str) -> None:
    heavy = "{'torch', 'sentence_transformers', 'xllamacpp', 'langchain_openai', 'openai', 'faiss', 'huggingface_hub'}"
    script = f"import sys, recurrentgpt.models.{module}; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"
