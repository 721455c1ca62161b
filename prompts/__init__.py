"""One Markdown template per model call, per mode and tier, and the strict loader that fills them."""

from recurrentgpt.prompts.loader import Prompts

__all__ = ["Prompts"]
