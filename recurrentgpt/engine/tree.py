"""The tree of a story as data: its passages, its branches in the order to draw them, and where each left another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from recurrentgpt.schema.errors import StoryNotFound
from recurrentgpt.schema.log import Link


@dataclass(frozen=True)
class TreeNode:
    """One passage or one corrected version of it; step 0 is the opening."""

    id: str
    parent: str
    """Id of the passage before it; empty for the opening."""
    amends: str
    """Id of the version that this one corrects; mostly empty."""
    step: int
    words: int
    author: str
    created: str
    names: tuple[str, ...]
    text: str
    """Digest of the passage, equal for versions of which only memory, plans or summary differ."""


@dataclass(frozen=True)
class Branch:
    """A line of passages from where it left another branch to its tip."""

    tip: str
    left: str
    """Id of the passage where it left an earlier branch of the list; empty for the one that holds the opening."""
    nodes: tuple[str, ...]
    """Its own passages, oldest first."""
    words: int
    """Of its own passages."""
    first_step: int
    last_step: int
    is_head: bool
    """Whether the story's head is at its tip or on it."""
    names: tuple[str, ...]
    superseded: bool
    """Whether it is one passage alone, replaced by a version with the same text: of no interest in a drawing."""


class Tree:
    """Every passage of a story; made from the log's links."""

    def __init__(
        self, story: str, title: str, head: str, links: Iterable[Link], names: dict[str, str] | None = None
    ) -> None:
        self.story, self.title, self.head, self.names = story, title, head, dict(names or {})
        at: dict[str, list[str]] = {}
        for name, commit in sorted(self.names.items()):
            at.setdefault(commit, []).append(name)
        self.nodes = {
            link["id"]: TreeNode(
                id=link["id"],
                parent=link["parent"],
                amends=link["amends"],
                step=link["step"],
                words=link["words"],
                author=link["author"],
                created=link.get("created", ""),
                names=tuple(at.get(link["id"], ())),
                text=link.get("text", ""),
            )
            for link in sorted(links, key=lambda link: (link["step"], link.get("created", ""), link["id"]))
        }

    @cached_property
    def tips(self) -> list[str]:
        """Ids of the passages that nothing follows."""
        parents = {node.parent for node in self.nodes.values()}
        return [key for key in self.nodes if key not in parents]

    def path(self, passage: str | None = None) -> list[str]:
        """Return the ids from the opening to a passage (default: the head), oldest first."""
        path, key = [], self.head if passage is None else passage
        while key:
            if key not in self.nodes:
                raise StoryNotFound(f"Story {self.story} has no passage {key[:60]!r}.")
            path.append(key)
            key = self.nodes[key].parent
        return path[::-1]

    @cached_property
    def branches(self) -> list[Branch]:
        """The branches, the head's own first, then the others in the order in which they were begun."""
        following: dict[str, list[str]] = {}
        for key, node in self.nodes.items():
            following.setdefault(node.parent, []).append(key)
        trunk = self.path()
        trunk = self._onward(trunk, following) if trunk else []
        found = [self._branch("", trunk)] if trunk else []
        # Every child that is not on the branch of its parent begins another one.
        placed = set(trunk)
        for key, node in self.nodes.items():
            if key not in placed:
                nodes = self._onward([key], following)
                placed.update(nodes)
                found.append(self._branch(node.parent, nodes))
        rest = sorted(found[1:], key=lambda branch: (self.nodes[branch.nodes[0]].created, branch.first_step))
        return found[:1] + rest

    def _onward(self, path: list[str], following: dict[str, list[str]]) -> list[str]:
        """Continue a path to a tip, each time with the passage that was written last."""
        while later := following.get(path[-1]):
            path.append(max(later, key=lambda key: (self.nodes[key].created, key in self._leading, key)))
        return path

    @cached_property
    def _leading(self) -> set[str]:
        return {node.parent for node in self.nodes.values()}

    @cached_property
    def _replaced(self) -> set[str]:
        """Versions that nothing follows and that were corrected without a change of the text."""
        tips, replaced = set(self.tips), set()
        for node in self.nodes.values():
            old = self.nodes.get(node.amends)
            if (
                old
                and old.id in tips
                and old.parent == node.parent
                and (old.text, old.words) == (node.text, node.words)
            ):
                replaced.add(old.id)
        return replaced

    def _branch(self, left: str, nodes: list[str]) -> Branch:
        first, tip = self.nodes[nodes[0]], self.nodes[nodes[-1]]
        own = [self.nodes[key] for key in nodes]
        return Branch(
            tip=tip.id,
            left=left,
            nodes=tuple(nodes),
            words=sum(node.words for node in own),
            first_step=first.step,
            last_step=tip.step,
            is_head=self.head in nodes,
            names=tuple(name for node in own for name in node.names),
            superseded=len(nodes) == 1 and tip.id in self._replaced and tip.id != self.head and not tip.names,
        )

    def as_json(self) -> dict[str, object]:
        """Return the tree as plain JSON."""
        return {
            "story": self.story,
            "title": self.title,
            "head": self.head,
            "names": self.names,
            "passages": [{**vars(node), "names": list(node.names)} for node in self.nodes.values()],
            "branches": [
                {**vars(branch), "nodes": list(branch.nodes), "names": list(branch.names)} for branch in self.branches
            ],
        }

    def mermaid(self) -> str:
        """Return the tree as a Mermaid flow chart: a box for each run of passages between two forks."""
        shown = [branch for branch in self.branches if not branch.superseded]
        forks = {branch.left for branch in shown} | {self.head}
        box: dict[str, str] = {}
        lines = ["flowchart TD"]
        for branch in shown:
            run: list[str] = []
            before = box.get(branch.left, "")
            for key in branch.nodes:
                run.append(key)
                if key not in forks and key != branch.tip:
                    continue
                name = f"p{len(lines)}"
                box[key] = name
                lines.append(f'    {before + " --> " if before else ""}{name}["{self._label(run)}"]')
                run, before = [], name
        if self.head in box:
            lines.append(f"    style {box[self.head]} stroke-width:4px")
        return "\n".join(lines) + "\n"

    def _label(self, run: list[str]) -> str:
        first, last = self.nodes[run[0]], self.nodes[run[-1]]
        steps = f"{first.step}" if len(run) == 1 else f"{first.step} to {last.step}"
        words = sum(self.nodes[key].words for key in run)
        parts = ["opening" if steps == "0" else steps, *([f"{words:,} words"] if words else [])]
        parts += [last.id[:8], *(_escaped(name) for key in run for name in self.nodes[key].names)]
        return " · ".join([*parts, *(["head"] if last.id == self.head else [])])


def _escaped(text: str) -> str:
    """Return text for a Mermaid label: whatever could mean something there is written as a number."""
    return re.sub(r"[^\w .,-]", lambda found: f"#{ord(found[0])};", text)
