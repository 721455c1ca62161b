"""Train a LoRA adapter for the embedded writer, on the very prompts that a story is written with; see docs/storyteller.md.

Run from a checkout, as `python -m training.sample`, `.check`, `.train`, `.export` and `.evaluate`; it is not in the wheel.
"""
