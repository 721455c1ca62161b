"""Who made a model, as its name says, so that no judge compares novels of its own kin."""

from __future__ import annotations

import re

_FAMILIES = {
    "openai": r"(?:chat)?gpt|o[1-9]\b|davinci",
    "anthropic": r"claude",
    "google": r"gemini|gemma|palm",
    "meta": r"(?:code)?llama",
    "mistral": r"mistral|mixtral|ministral|codestral|magistral",
    "qwen": r"qwen|qwq",
    "deepseek": r"deepseek",
    "microsoft": r"phi\b|phi-",
    "xai": r"grok",
    "cohere": r"command\b|aya\b",
}


def known_family(model: str) -> str:
    """Return the family of a model by its name, or an empty string; a maker's prefix and folders do not count."""
    name = model.strip().casefold().rpartition("/")[2]
    found = {family: re.search(rf"(?<![a-z])(?:{names})", name) for family, names in _FAMILIES.items()}
    # "Meta-Llama-3", "us.anthropic.claude-4"; of "deepseek-r1-distill-llama" the first.
    return min((at.start(), family) for family, at in found.items() if at)[1] if any(found.values()) else ""
