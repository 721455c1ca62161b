"""The passages of all branches as readers could have come through them: versions made one, what was replaced left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recurrentgpt.schema.log import Commit


class MergedPassage(NamedTuple):
    """A passage of the story as a reader meets it."""

    key: str
    """Id of its first version."""
    after: str
    """Key of the passage before it; empty after the opening."""
    commit: Commit
    """The version on the head's branch, else the first."""
    told: bool
    """Whether it is on the head's branch."""


def merge_versions(commits: Sequence[Commit], path: Sequence[str]) -> list[MergedPassage]:
    """Return the passages of all branches; `commits` are in the order of their steps, `path` is the head's branch.

    Versions that differ in memory, plans or summary alone are one. A passage that was given another text is left out where
    all that followed it follows the other text too, unless the head's branch goes through it.
    """
    key_of: dict[str, str] = {}
    after_of: dict[str, str] = {}
    first: dict[tuple[str, str, str], str] = {}
    shown: dict[str, Commit] = {}
    on_path = set(path)
    for commit in commits:
        if not commit["step"]:
            key_of[commit["id"]] = ""
            continue
        after = key_of[commit["parent"]]
        key = key_of[commit["id"]] = first.setdefault((after, commit["plan"], commit["passage"]), commit["id"])
        after_of[key] = after
        if key not in shown or commit["id"] in on_path:
            shown[key] = commit
    told = {key_of[commit] for commit in path} - {""}
    left_out = _replaced(commits, key_of, after_of, told)
    return [
        MergedPassage(key, after_of[key], commit, key in told) for key, commit in shown.items() if key not in left_out
    ]


def _replaced(commits: Sequence[Commit], key_of: dict[str, str], after_of: dict[str, str], told: set[str]) -> set[str]:
    """Return the keys of passages of which another text has taken the place, with all that followed."""
    amends = {commit["id"]: commit["amends"] for commit in commits}
    amended: dict[str, set[str]] = {}
    for commit in amends:
        old = amends[commit]
        while old in amends:
            if key_of[old] != key_of[commit]:
                amended.setdefault(key_of[old], set()).add(key_of[commit])
            old = amends[old]
    following: dict[str, list[str]] = {}
    for key, after in after_of.items():
        following.setdefault(after, []).append(key)
    # From the tips back: what followed was looked at before.
    covered: dict[str, set[str]] = {}
    for key in reversed(after_of):
        covered[key] = {
            new
            for new in amended.get(key, ())
            if all(covered[later] & set(following.get(new, ())) for later in following.get(key, ()))
        }
    replaced: set[str] = set()
    for key, after in after_of.items():
        if key not in told and (after in replaced or any(after_of[new] == after for new in covered[key])):
            replaced.add(key)
    return replaced
