"""The tree of a story as lines: one a branch, each below the one that it left."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from recurrentgpt.cli.terminal.console import one_line
from recurrentgpt.cli.terminal.wrapping import wrap

if TYPE_CHECKING:
    from recurrentgpt.engine.tree import Branch, Tree

MOST = 40
"""Branches that are drawn unless all are asked for."""

DEEPEST = 12
"""Levels that are indented; what left a branch further down is drawn as far in."""

SEPARATOR = " · "

SHORT = 8
"""Characters of an id that are shown, where no other passage's begins with them."""


@dataclass(frozen=True)
class TreeLine:
    """One line of a drawing."""

    stem: str
    """The lines of the tree before it."""
    text: str
    passage: str
    """Id of the first passage of its branch; empty where branches are left out."""
    head: bool

    def rows(self, width: int) -> list[tuple[str, str]]:
        """Return stem and text of each row that the line takes in so many columns: names and ids are typed, and never cut."""
        stem = self.stem[-3 * (width // 6) :]
        below = stem.replace("├─", "│ ").replace("└─", "  ") + "  "
        rows: list[tuple[str, str]] = []
        row = ""
        for part in self.text.split(SEPARATOR):
            begun = f"{row}{SEPARATOR}{part}" if row else part
            if cell_len(stem + begun) > width and row:
                rows.append((stem, row))
                stem, begun = below, part
            *full, row = _broken(begun, width - cell_len(stem))
            for text in full:
                rows.append((stem, text))
                stem = below
        return [*rows, (stem, row)]


def _broken(text: str, width: int) -> list[str]:
    lines, last = wrap(text, max(width, 1))
    return [*lines, last]


def draw_tree(tree: Tree, *, everything: bool = False) -> list[TreeLine]:
    """Return the tree as lines; without `everything`, those of the head, the named and the newest branches."""
    branches = [branch for branch in tree.branches if everything or not branch.superseded]
    home = {key: at for at, branch in enumerate(branches) for key in branch.nodes}
    # A branch that left one which is not drawn hangs on what that one left.
    hidden = {branch.tip: branch.left for branch in tree.branches if branch.superseded}
    left = [_left(branch, home, hidden) for branch in branches]
    shown = range(len(branches)) if everything else _chosen(branches, left)
    below: dict[int, list[int]] = {}
    missing: Counter[int] = Counter()
    drawn_ones = set(shown)
    for at in range(1, len(branches)):
        if at in drawn_ones:
            below.setdefault(left[at], []).append(at)
        else:
            missing[_first_drawn(left[at], left, drawn_ones)] += 1
    return list(_lines(tree, branches, below, missing))


def _left(branch: Branch, home: dict[str, int], hidden: dict[str, str]) -> int:
    passage = branch.left
    while passage and passage not in home:
        passage = hidden.get(passage, "")
    return home.get(passage, 0)


def _first_drawn(at: int, left: list[int], shown: set[int]) -> int:
    while at not in shown:
        at = left[at]
    return at


def _chosen(branches: list[Branch], left: list[int]) -> list[int]:
    """Return which branches to draw: the head's, the named, then the newest, each with all that it hangs on."""
    chosen: dict[int, None] = {0: None} if branches else {}
    order = sorted(range(1, len(branches)), key=lambda at: (not branches[at].names, -at))
    for at in order:
        chain = []
        while at not in chosen:
            chain.append(at)
            at = left[at]
        if len(chosen) + len(chain) > MOST and len(branches) > MOST:
            continue
        chosen.update(dict.fromkeys(chain))
    return sorted(chosen)


def _lines(tree: Tree, branches: list[Branch], below: dict[int, list[int]], missing: Counter[int]) -> list[TreeLine]:
    short = _short_ids(tree)
    steps = {key: node.step for key, node in tree.nodes.items()}
    lines = []
    # Deeper than Python's own stack may go: a fork of a fork, five hundred times.
    waiting = [(0, "", "", 0)] if branches else []
    while waiting:
        at, stem, own, depth = waiting.pop()
        if at < 0:
            lines.append(TreeLine(own, f"… {missing[-at - 1]:,} more; --all draws them", "", False))
            continue
        branch = branches[at]
        where = f"from {steps[branch.left]}: " if branch.left in steps else ""
        lines.append(TreeLine(own, where + _label(tree, branch, short), branch.nodes[0], branch.is_head))
        children = sorted(below.get(at, []), key=lambda child: (steps.get(branches[child].left, 0), child))
        entries = [*children, *([-at - 1] if missing[at] else [])]
        for place, child in reversed(list(enumerate(entries))):
            last = place == len(entries) - 1
            deeper = stem + ("   " if last else "│  ") if depth < DEEPEST else stem
            waiting.append((child, deeper, stem + ("└─ " if last else "├─ "), depth + 1))
    return lines


def _label(tree: Tree, branch: Branch, short: dict[str, str]) -> str:
    """Return what a branch is: its steps, whether the story is there, its words, the id of its newest passage, its names."""
    first, last = branch.first_step or min(1, branch.last_step), branch.last_step
    steps = f"{first}-{last}" if first < last else "opening" if not last else f"{last}"
    parts = [steps]
    if branch.is_head:
        # Far to the left, so that no narrow terminal cuts it off.
        here = tree.nodes[tree.head]
        place = "the opening" if not here.step else f"{here.step}"
        parts.append("← here" if tree.head == branch.tip else f"← here, at {place} ({short[here.id]})")
    parts += [f"{branch.words:,} words" if branch.words != 1 else "1 word", short[branch.tip]]
    for key in branch.nodes:
        node = tree.nodes[key]
        parts += [one_line(name) if key == branch.tip else f"{one_line(name)} at {node.step}" for name in node.names]
    opens = tree.nodes[branch.nodes[0]]
    if opens.amends:
        parts.append("edited" if opens.author == "edited" else "corrected")
    parts += [f"edited at {tree.nodes[key].step}" for key in branch.nodes[1:] if tree.nodes[key].author == "edited"]
    return SEPARATOR.join(parts)


def _short_ids(tree: Tree) -> dict[str, str]:
    """Return for each id its beginning that nothing else begins with, and that is not taken for a step."""
    length = SHORT
    while length < 24:
        seen = Counter(key[:length] for key in tree.nodes)
        if len(seen) == len(tree.nodes):
            break
        length += 2
    # Eight digits alone would be a step.
    return {key: key[: length + 2] if key[:length].isdigit() else key[:length] for key in tree.nodes}
