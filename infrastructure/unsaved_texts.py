"""Texts that somebody typed and that are not saved in their story: files beside the stories, which go with it."""

from __future__ import annotations

from pathlib import Path

DESK = "desk"
"""The folder of what the writing desk keeps, a JSON file for each story."""

_DRAFTS = "drafts"


def draft_of_edit(folder: Path, story: str) -> Path:
    """Return where the text of an edit is kept that did not come into its story."""
    return folder / _DRAFTS / f"{story}.txt"


def delete_unsaved(folder: Path, story: str) -> None:
    """Delete what was typed for a story, by the command line and at the desk. Not for an event loop."""
    draft_of_edit(folder, story).unlink(missing_ok=True)
    (folder / DESK / f"{story}.json").unlink(missing_ok=True)
