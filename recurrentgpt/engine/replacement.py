"""The same words replaced in a whole branch: its passages, and all that was made from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langgraph.store.base import PutOp

from recurrentgpt.engine.rebase import moved_upon
from recurrentgpt.engine.session import Session
from recurrentgpt.memory.corrections import Overlay, in_force, overlay_op, read_overlay, with_summary
from recurrentgpt.schema.errors import BadAnswer
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import reworded
from recurrentgpt.schema.state import State

_WORDS_OF = {
    "rationale": ("sentence", "why"),
    "codex": ("entry", "value", "text", "rests_on"),
    "contradictions": ("entry", "said", "holds", "rests_on", "value"),
}
"""Of each part of a commit, the fields that hold words; what the others hold are terms."""
_TEXTS = ("passage", "plan", "summary", "short_term_memory")


def words_pattern(words: str, *, whole_words: bool) -> re.Pattern[str]:
    """Return what finds these words letter by letter, and with `whole_words` not within another word."""
    before = r"(?<!\w)" if whole_words and words[0].isalnum() else ""
    after = r"(?!\w)" if whole_words and words[-1].isalnum() else ""
    return re.compile(f"{before}{re.escape(words)}{after}")


class WordReplacement:
    """Replace some words by others in the branch of the head; whoever applies it holds the right to write."""

    def __init__(self, session: Session, old: str, new: str, *, whole_words: bool) -> None:
        self._session = session
        self._old, self._new = old, new
        self._pattern = words_pattern(old, whole_words=whole_words)

    async def apply(self) -> int:
        """Append the branch anew from its first passage with the words, move the head to its end, and count the passages."""
        session, log = self._session, self._session.log
        commits = await session.commits()
        first = next((at for at, commit in enumerate(commits) if self._pattern.search(commit["passage"])), None)
        if first is None:
            raise BadAnswer(f"No passage of this branch has “{self._old}”; capitals and small letters are told apart.")
        head = commits[-1]
        corrected = await read_overlay(log, session.id, await in_force(log, head))
        overlay, put = await self._overlay(corrected)
        waiting = await session.waiting_choice(head["id"], begun=True)
        stands = await log.head(session.id)
        status = stands["status"] if stands else "choosing"
        moved: dict[str, str] = {}
        await log.batch([put])
        for old in commits[first:]:
            made = self._commit(with_summary(old, corrected["summaries"]), moved, overlay)
            moved[old["id"]] = made["id"]
            # The rows for recall are a cache, and made anew when something is recalled.
            await log.append(made, status, move=old is head)
        if waiting:
            plans = ("plan", "next_plan", "written_plan")
            said = {
                name: self._text(value) for name, value in waiting.items() if name in plans and isinstance(value, str)
            }
            await session.let_wait(made, cast(State, {**waiting, **said}))
        return sum(bool(self._pattern.search(commit["passage"])) for commit in commits)

    def _commit(self, old: Commit, moved: Mapping[str, str], overlay: str) -> Commit:
        changes: dict[str, Any] = {name: self._text(cast(str, old[name])) for name in _TEXTS}  # type: ignore[literal-required]
        if "unreached" in old:
            changes["unreached"] = self._text(old["unreached"])
        changes["candidate_plans"] = [self._text(plan) for plan in old["candidate_plans"]]
        rationale = old["rationale"]
        changes["rationale"] = {part: self._rows("rationale", rows) for part, rows in rationale.items()}  # type: ignore[arg-type]
        for part in ("codex", "contradictions"):
            if part in old:
                changes[part] = self._rows(part, old[part])
        changed = cast(Commit, {**old, **changes})
        if changed["passage"] != old["passage"] and old["author"] == "model":
            changed["author"] = "edited"
        return moved_upon(changed, moved, overlay, [old["id"], self._old, self._new, overlay])

    async def _overlay(self, corrected: Overlay) -> tuple[str, PutOp]:
        """Return the corrections of the branch with the words in the brief and the author's codex."""
        log, story = self._session.log, self._session.id
        brief = reworded(corrected.get("brief", (await log.record(story))["brief"]), self._text)
        codex = self._rows("codex", corrected.get("codex", []))
        return overlay_op(log, story, cast(Overlay, {**corrected, "brief": brief, "codex": codex}))

    def _rows(self, part: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        fields = _WORDS_OF[part]
        return [
            {
                name: self._text(value)
                if name in fields and isinstance(value, str) and not (name == "value" and row.get("aspect") == "status")
                else value
                for name, value in row.items()
            }
            for row in rows
        ]

    def _text(self, text: str) -> str:
        return self._pattern.sub(lambda _: self._new, text)
