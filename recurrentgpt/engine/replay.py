"""Another text for a passage, and the memory that follows it; with replay, the later passages upon it too.

Nothing runs in the story's thread. Each passage in place is a commit named by what stands before it, so a replay that was
interrupted finds what it had done and pays for it once; the head stays where it was until the last one is in the log.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from langgraph.store.base import PutOp

from recurrentgpt.engine.refs import Ref, is_version, move_head, resolve
from recurrentgpt.engine.session import Session
from recurrentgpt.engine.snapshot import PendingReplay
from recurrentgpt.memory.codex import codex_at
from recurrentgpt.memory.corrections import overlay_op, read_overlay
from recurrentgpt.memory.story_log import commit_id, now
from recurrentgpt.models.calls import total_usage
from recurrentgpt.nodes.commit import entry
from recurrentgpt.nodes.continuity import of_the_once_living
from recurrentgpt.nodes.continuity_judge import asks_judge
from recurrentgpt.nodes.human.answers import LONG_WORD
from recurrentgpt.nodes.validate_state import MOST_WORDS
from recurrentgpt.prose.model_text import control_character
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.codex import Change, Codex, Contradiction, Entry
from recurrentgpt.schema.errors import BadAnswer, StoryError
from recurrentgpt.schema.events import (
    Event,
    done_event,
    from_stream,
    memory_event,
    passage_event,
    plans_event,
    replay_event,
    story_event,
)
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import character_names, reworded
from recurrentgpt.schema.state import State, Usage


@dataclass(frozen=True)
class ReplayCost:
    """What an edit with replay will cost, estimated from what the passages cost when they were written."""

    passages: int
    calls: int
    input_tokens: int
    output_tokens: int
    seconds: float

    def as_json(self) -> dict[str, int | float]:
        """Return the estimate as plain JSON."""
        return dataclasses.asdict(self)


class Replay:
    """Edit passages of one story, and keep the later ones upon them."""

    def __init__(self, session: Session) -> None:
        self._session, self._log = session, session.log

    async def edit(
        self, ref: Ref, text: str, *, replay: bool = False, paid: Usage | None = None
    ) -> AsyncGenerator[Event]:
        """Give a passage another text, with the memory and the summary rewritten from it and new plans; yield what happens.

        The story goes on from there. With `replay` the later passages of this branch are kept word for word, the memory
        rewritten for each; the head moves when the last is in place, and until then `pending_replay` shows what was
        interrupted, and the same call or `resume_replay` goes on. `paid` is what the text itself cost, as by `rework`, and is
        counted with the passage. Raises BadAnswer for a text that is none.
        """
        text, session = _check_text(text), self._session
        async with session.writing():
            commit, overlay = await session.commit_and_overlay(ref)
            if not commit["step"]:
                raise StoryError("The opening has no passage to edit; edit the memory, the plans or the brief instead.")
            if text == commit["passage"]:
                raise BadAnswer(f"Passage {commit['step']} has this text already.")
            overlay = await self._rename_in_brief(commit["passage"], text, overlay)
            plan = None
            if replay:
                unfinished = await self._session.pending_replay()
                if unfinished and (unfinished.ref, unfinished.text) != (commit["id"], text):
                    raise StoryError(
                        f"The edit of passage {unfinished.step} is unfinished: go on with it first (`recurrentgpt edit "
                        f"{session.id} --resume`), or give it up (`--drop`)."
                    )
                head = await session.head()
                later = await self._later(commit["id"], head)
                plan = PendingReplay(commit["id"], commit["step"], text, head, overlay, 0, 1 + len(later), now())
            async for event in self._edit(commit, text, overlay, plan, paid):
                yield event

    async def _rename_in_brief(self, old: str, new: str, overlay: str) -> str:
        """Return the corrections of a branch, with somebody's new name in its brief where that is all that an edit changes."""
        corrected = await read_overlay(self._log, self._session.id, overlay)
        record = await self._log.record(self._session.id)
        brief = corrected.get("brief", record["brief"])
        full_names, names = character_names(brief), _new_name(old, new)
        if names is None or not any(names[0] in name.split() for name in full_names):
            return overlay
        called = re.compile(rf"\b{re.escape(names[0])}\b")
        changes: list[Change] = [
            {"entry": name, "kind": "person", "do": "rename", "value": called.sub(names[1], name)}
            for name in full_names
            if called.search(name)
        ]
        renamed = reworded(brief, lambda text: called.sub(names[1], text))
        said = [*corrected.get("codex", []), *changes]
        key, put = overlay_op(self._log, self._session.id, {**corrected, "brief": renamed, "codex": said})
        await self._log.batch([put])
        return key

    async def resume(self) -> AsyncGenerator[Event]:
        """Go on with the replay that was interrupted, and yield what happens."""
        session = self._session
        async with session.writing():
            plan = await self._session.pending_replay()
            if plan is None:
                raise StoryError("No replay of this story is unfinished.")
            plan = await self._as_of_now(plan)
            commit = await self._log.get(session.id, plan.ref)
            async for event in self._edit(commit, plan.text, plan.overlay, plan):
                yield event

    async def _as_of_now(self, plan: PendingReplay) -> PendingReplay:
        """Return a replay that was interrupted, with what came behind it since; of another branch it stays as it was."""
        log, story, head = self._log, self._session.id, await self._session.head()
        path, last = await log.path(story, head), (await log.get(story, plan.head))["step"]
        if last >= len(path):
            return plan
        edited = path[plan.step]
        if not (await is_version(log, story, path[last], plan.head) and await is_version(log, story, edited, plan.ref)):
            return plan
        commit, overlay = await self._session.commit_and_overlay(edited)
        overlay = await self._rename_in_brief(commit["passage"], plan.text, overlay)
        # With other corrections in force, or upon another version, what was done is done anew.
        done = plan.done if (overlay, edited) == (plan.overlay, plan.ref) else 0
        return dataclasses.replace(plan, ref=edited, head=head, overlay=overlay, done=done, total=len(path) - plan.step)

    async def drop(self) -> None:
        """Forget the replay that was interrupted; what it wrote stays in the log."""
        async with self._session.writing():
            await self._log.batch([self._pending_op(None)])

    async def cost(self, ref: Ref) -> ReplayCost:
        """Return about what an edit of this passage with replay will cost, from what its passages cost.

        Of an interrupted one, what is left.
        """
        story = self._session.id
        edited = await resolve(self._log, story, ref)
        later = await self._later(edited, await self._session.head())
        plan = await self._session.pending_replay()
        done = plan.done if plan and plan.ref == edited else 0
        commits = await self._log.get_many(story, [edited, *later])
        usages = [commit["usage"] for commit in await self._log.get_many(story, await self._log.path(story, edited))]
        usages += [commit["usage"] for commit in commits]
        known = total_usage([usage for usage in usages if usage["calls"]])
        passages = len(commits) - done
        calls = passages * (1 + asks_judge(self._session.context)) + 1
        each = calls / max(known["calls"], 1)
        return ReplayCost(
            passages=passages,
            calls=calls,
            input_tokens=round(known["input_tokens"] * each),
            output_tokens=round(known["output_tokens"] * each),
            seconds=round(known["seconds"] * each, 1),
        )

    async def _later(self, commit: str, head: str) -> list[str]:
        """Return the passages after a commit up to the head; raise StoryError for a commit on another branch."""
        path = await self._log.path(self._session.id, head)
        if commit not in path:
            raise StoryError(f"Passage {commit} is not on the branch of the head: go to its branch first.")
        return path[path.index(commit) + 1 :]

    async def _edit(
        self, edited: Commit, text: str, overlay: str, plan: PendingReplay | None, paid: Usage | None = None
    ) -> AsyncGenerator[Event]:
        session, log = self._session, self._log
        record = await log.record(session.id)
        yield story_event(record)
        later = await self._later(edited["id"], plan.head) if plan else []
        before, steps, spent = await log.get(session.id, edited["parent"]), 0, list[Usage]()
        if plan:
            await log.batch([self._pending_op(plan)])
        for done, old_id in enumerate([edited["id"], *later], 1):
            old = edited if done == 1 else await log.get(session.id, old_id)
            passage = text if done == 1 else old["passage"]
            last = done == 1 + len(later)
            key = commit_id(session.id, before["id"], old["plan"], passage, overlay or None)
            new = await log.find(session.id, key)
            kept = new is not None
            if new is None:
                author = "edited" if done == 1 else old["author"]
                state = await session.state_with(before, passage, old["plan"], author, overlay)
                said = [change for change in old.get("codex", []) if change.get("author")] if done > 1 else []
                found = await self._found_anew(state, old, before) if done > 1 else state.get("contradictions", [])
                state["contradictions"] = [one for one in found if not _is_meant_so(one, said)]
                async for mode, chunk in self._rewrite(state, plans=last):
                    if mode == "custom":
                        yield from_stream(chunk)
                    else:
                        state = cast(State, chunk)
                new = entry(state, parent=before["id"], overlay=overlay, amends=old["id"])
                usage = new["usage"]
                if paid is not None and done == 1:
                    new["usage"] = total_usage([usage, paid])
                if said:
                    new["codex"] = [*new.get("codex", []), *said]
                also = [await session.runtime().recall.vectors_op(new)]
                if plan:
                    also.append(self._pending_op(None if last else dataclasses.replace(plan, done=done)))
                await log.append(new, "choosing", also=also, move=last)
                steps, spent = steps + 1, [*spent, usage]
            if plan:
                yield replay_event(new, done, 1 + len(later), kept=kept)
            if not kept:
                yield passage_event(new)
                yield memory_event(new)
            before = new
        if not kept:
            yield plans_event(before)
            yield done_event(session.id, steps, total_usage(spent))
            return
        await move_head(log, before)
        if plan:
            await log.batch([self._pending_op(None)])
        async for event in self._planned(before, overlay):
            if event["event"] == "done":
                event = done_event(session.id, steps, total_usage([*spent, event["usage"]]))
            if event["event"] != "story":
                yield event

    async def _found_anew(self, state: State, old: Commit, before: Commit) -> list[Contradiction]:
        """Return what contradicts the codex in a passage that goes behind `before` now, and was written as `old`.

        Whoever has died by the edit was alive as it was written: whatever it tells of them is of the living.
        """
        found = state.get("contradictions", [])
        if self._session.context.continuity == "off" or not self._session.context.codex:
            return found
        story, brief, overlay = self._session.id, state["brief"], state.get("overlay", "")
        # What the author says of the whole branch now was so as it was written.
        codex = await codex_at(self._log, story, before["id"], overlay, brief)
        if not codex.dead:
            return found
        earlier, then = [await codex_at(self._log, story, at, overlay, brief) for at in (old["parent"], old["id"])]
        known = {one["entry"] for one in old.get("contradictions", []) if one.get("was_alive")}
        died = [
            entry
            for entry in codex.dead
            if not known.isdisjoint(entry.names)
            or (_same_person(then, entry) and not ((was := _same_person(earlier, entry)) and was.is_dead))
        ]
        noted = [old["summary"], *(one["sentence"] for one in old["rationale"]["added"])]
        noted += [change.get("text", "") for change in old.get("codex", []) if not change.get("author")]
        of_them = [*of_the_once_living(state["passage"], noted, died, codex)]
        names = {one["entry"] for one in of_them}
        return [*of_them, *(one for one in found if one["rule"] != "dead" or one["entry"] not in names)]

    async def _planned(self, commit: Commit, overlay: str) -> AsyncGenerator[Event]:
        """Propose plans where the log has none, as in the middle of an earlier replay."""
        if commit["candidate_plans"]:
            yield plans_event(commit)
            yield done_event(self._session.id, 0, total_usage([]))
            return
        async with aclosing(self._session.propose_others(commit, overlay)) as events:
            async for event in events:
                yield event

    def _rewrite(self, state: State, *, plans: bool) -> AsyncIterator[tuple[str, object]]:
        """Run the nodes that an edit needs: their events are `custom`, and the last of `values` has the new memory."""
        graph = self._session.engine.rewrite_graph(plans=plans)
        stream = graph.astream(state, context=self._session.context, stream_mode=["custom", "values"])
        return cast("AsyncIterator[tuple[str, object]]", stream)

    def _pending_op(self, plan: PendingReplay | None) -> PutOp:
        value = None if plan is None else dataclasses.asdict(plan)
        return self._log.put((*self._log.root, "replays"), self._session.id, value)


def _new_name(old: str, new: str) -> tuple[str, str] | None:
    """Return the one name that a text has in place of another, where it differs in nothing else."""
    before, after = re.findall(r"\w+|\W+", old), re.findall(r"\w+|\W+", new)
    changed = {pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]}
    if len(before) != len(after) or len(changed) != 1:
        return None
    (pair,) = changed
    return pair if pair[0] not in after and pair[0][:1].isupper() and pair[1][:1].isupper() else None


def _check_text(text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise BadAnswer("A passage needs some words.")
    text = "\n".join(line.rstrip() for line in text.strip().splitlines())
    if odd := control_character(text):
        raise BadAnswer(f"The passage holds the control character {odd!r}; take it out.")
    most = MOST_WORDS["passage"]
    if count_words(text) > most or len(text) > most * LONG_WORD:
        raise BadAnswer(
            f"The passage has {count_words(text):,} words in {len(text):,} characters; at most {most:,} words "
            "fit: put the rest into passages of its own."
        )
    return text


def _same_person(codex: Codex, entry: Entry) -> Entry | None:
    """Return somebody in another codex, by any of their names."""
    return next((one for name in (*entry.names, *entry.former) if (one := codex.find(name, "person"))), None)


def _is_meant_so(found: Contradiction, said: Sequence[Change]) -> bool:
    """Return whether an author has said of a passage that it is meant as it stands."""
    own = [change for change in said if change["entry"] == found["entry"]]
    # Whoever is alive is so in all of it, whichever sentence was held against it.
    lives = found["rule"] == "dead" and any(change.get("value") == "alive" for change in own)
    return lives or any(change.get("rests_on") == found["said"] for change in own)
