"""How the commits of the story log are named, timed and told apart."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime


def now() -> str:
    """Return the time in UTC, ISO 8601, to the millisecond: takes are put in the order in which they were made."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def text_digest(passage: str) -> str:
    """Return a short digest of a passage, to tell in a link whether two versions have the same text."""
    return hashlib.sha256(passage.encode()).hexdigest()[:8]


def commit_id(story: str, parent: str, plan: str, passage: str, amendment: object = None) -> str:
    """Return the content address of a commit: 24 hexadecimal digits of SHA-256.

    The story's id stands in for the parent of an opening, so that equal openings of two stories differ.
    """
    content: list[object] = [parent or story, plan, passage]
    if amendment is not None:
        content.append(amendment)
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:24]
