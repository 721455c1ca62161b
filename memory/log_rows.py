"""How the commits of the story log are named, timed and told apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.log import Commit, Link

ROOT = ("recurrentgpt",)
"""Below which namespace the stories of a machine are kept."""


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


def row_digest(row: Mapping[str, object]) -> str:
    """Return a digest of all that a row holds, whatever the order of its fields: 24 hexadecimal digits of SHA-256."""
    return hashlib.sha256(json.dumps(row, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:24]


def link_of(commit: Commit) -> Link:
    """Return the link that goes with a commit."""
    return Link(
        id=commit["id"],
        parent=commit["parent"],
        amends=commit["amends"],
        step=commit["step"],
        words=count_words(commit["passage"]),
        author=commit["author"],
        created=commit["created"],
        left=commit.get("left", ""),
        text=text_digest(commit["passage"]),
        digest=row_digest(commit),
    )


def is_as_written(commit: Commit, link: Link | None = None) -> bool:
    """Tell whether a commit is what was once written: by the digest in its link, else by its id.

    An id is the hash of parent, plan and passage. That of a corrected version covers more than can be told from it: without a
    link, or by one from before digests, its passage alone is compared.
    """
    if link is not None and "digest" in link:
        return link["digest"] == row_digest(commit)
    if commit["amends"]:
        return link is None or link.get("text") in (None, text_digest(commit["passage"]))
    named = commit_id(
        commit["story"], commit["parent"], commit["plan"], commit["passage"], commit.get("overlay") or None
    )
    return named == commit["id"]
