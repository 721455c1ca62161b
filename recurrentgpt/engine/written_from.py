"""What the writer of a passage was told, put together again from the log.

A commit keeps what was recalled for it, what was told of people and things, and whose templates asked for it; the turns are
filled with these as they are today, and with the brief of then. So no search is made again and no model is asked. What a
setting, the title or a template has changed since is told of by a digest of what was sent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recurrentgpt.engine.hidden_entries import Readers
from recurrentgpt.memory.codex import codex_at, facts, sentence_of
from recurrentgpt.memory.corrections import read_overlay, with_summary
from recurrentgpt.memory.log_reader import LogReader
from recurrentgpt.memory.row_texts import row_text
from recurrentgpt.memory.superseded import still_true
from recurrentgpt.models.roles import describe_writer
from recurrentgpt.nodes.prompt_runtime import PromptRuntime, sent_as
from recurrentgpt.nodes.prompt_values import write_texts
from recurrentgpt.nodes.restored_state import restored
from recurrentgpt.prose.sentences import count_words, limit_words
from recurrentgpt.schema.codex import Codex, Told
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import StoryError
from recurrentgpt.schema.log import Commit
from recurrentgpt.schema.parts import Recalled

if TYPE_CHECKING:
    from recurrentgpt.schema.state import State

TOKENS_PER_WORD = 1.35

_OWN_WORDS = re.compile(r'^(?:\{\{ ")?([^\W\d_][^{}"\\\n]*)', re.MULTILINE)
"""How a line of a template begins with words of its own, up to what it is filled with."""

CHANGED = "changed since"
"""Name of the part that says so where the turns are not what was sent."""

INSTRUCTIONS = "instructions"
"""Name of the part that holds what a template says under no heading of its own."""

NOT_SENT = (
    "What asked for this passage was not kept: it was written by hand, before an edit of an earlier one, or by an earlier "
    "edition. The turns below are what would ask for it now, of a model without an adapter."
)
DIFFERS = "The turns below are not word for word what was sent: a setting, the title, a template or the model has changed since."


@dataclass(frozen=True)
class PromptPart:
    """A turn of a prompt, or a part of its last turn."""

    name: str
    text: str
    whole: bool = False
    """Whether it is a turn as it was sent."""

    @property
    def tokens(self) -> int:
        """About how many tokens it has, by its words."""
        return round(count_words(self.text) * TOKENS_PER_WORD)


def is_kept(commit: Commit) -> bool:
    """Return whether a commit keeps what was recalled and told for its passage; else that has to be searched again."""
    return not commit["step"] or (
        "told" in commit and all("row" in one and "kind" in one for one in commit["recalled"])
    )


async def written_from(
    log: LogReader,
    context: Context,
    commit: Commit,
    recalled: Sequence[Recalled] | None = None,
    told: Sequence[Told] | None = None,
    *,
    for_reader: Codex | None = None,
) -> list[PromptPart]:
    """Return the whole turns that asked for the passage of a commit, and the parts of the last one by their headings.

    `recalled` and `told` are what the commit keeps unless others are given. `for_reader` is the codex that says which entries
    are hidden: what readers are not told of it and what the brief keeps from them is left out; None for the author. Raises
    StoryError where no plan was written from.
    """
    if not commit["step"]:
        raise StoryError("The opening was written from no plan: name a passage, from 1 on.")
    record = await log.record(commit["story"])
    state = await restored(log, record, commit, retake=True, overlay=commit.get("overlay", ""))
    state["recalled"] = [*(await _recalled(log, context, state, commit) if recalled is None else recalled)]
    state["entries"] = [*(commit["told"] if told is None else told)]
    sent = commit.get("sent", "")
    model = describe_writer(context, sent.partition(" ")[0])
    runtime = PromptRuntime(context, log)
    turns = await write_texts(state, runtime, model)
    differs = sent and sent != sent_as(model.templates, [text for _, text in turns])
    hidden = [] if for_reader is None else await _hidden(log, context, for_reader, state)
    whole = [
        PromptPart(f"turn {number}: {role}", _without(text, hidden), whole=True)
        for number, (role, text) in enumerate(turns, 1)
    ]
    changed = [PromptPart(CHANGED, DIFFERS if sent else NOT_SENT)] if differs or not sent else []
    parts = _parts(whole[-1].text, runtime.prompts(model).source("write"))
    return [*changed, *whole, *(PromptPart(name, text) for name, text in parts.items())]


async def as_written(log: LogReader, commit: Commit) -> Commit:
    """Return the version of a passage that its model wrote, of one that was corrected since, or kept upon a correction."""
    seen = {""}
    while commit["amends"] not in seen:
        seen.add(commit["amends"])
        earlier = await log.find(commit["story"], commit["amends"])
        if earlier is None or earlier["passage"] != commit["passage"]:
            break
        # Another parent may be a correction of its own: then it was sent the same.
        if earlier["parent"] != commit["parent"] and not (commit.get("sent") and commit["sent"] == earlier.get("sent")):
            break
        commit = earlier
    return commit


def _parts(turn: str, template: str) -> dict[str, str]:
    """Return all the lines of a turn under the headings that its template gives them, in their order."""
    begins: dict[str, str] = {}
    for line in map(str.rstrip, _OWN_WORDS.findall(template)):
        if line.endswith(":"):
            begins[line] = line[:-1]
        elif len(line.split()) > 2:  # fewer may begin any line of a story
            begins[line] = INSTRUCTIONS
    name, parts = INSTRUCTIONS, dict[str, list[str]]()
    for line in turn.splitlines():
        name = next((known for words, known in begins.items() if line.startswith(words)), name)
        parts.setdefault(name, []).append(line)
    return {name: text for name, lines in parts.items() if (text := "\n".join(lines).strip())}


async def _recalled(log: LogReader, context: Context, state: State, commit: Commit) -> list[Recalled]:
    """Return what was recalled for the passage of a commit, from the rows that it keeps; `state` is as it was before."""
    story, overlay = commit["story"], state.get("overlay", "")
    corrected = (await read_overlay(log, story, overlay))["summaries"]
    codex = await codex_at(log, story, state["head"], overlay, state["brief"]) if context.codex else Codex()
    found: list[Recalled] = []
    for one, plain in zip(
        commit["recalled"], await log.get_many(story, [one["id"] for one in commit["recalled"]]), strict=True
    ):
        earlier = with_summary(plain, corrected)
        text = row_text(earlier, one["kind"], one["row"], facts(earlier))
        true = still_true(codex, earlier, one["kind"], one["row"], text)
        found.append(Recalled(**one, summary=true.summary, piece=true.piece, quoted=true.quoted))
    return found


async def _hidden(log: LogReader, context: Context, codex: Codex, state: State) -> list[str]:
    """Return what a reader is not told of that from which a passage was written, as it stands there."""
    readers = Readers(codex, plays=context.mode == "fiction")
    unknown = set[str]()
    if readers.plays and state["entries"]:
        # What somebody did not know then, they may know now.
        before = await codex_at(log, state["story"], state["head"], state.get("overlay", ""), state["brief"])
        said = ((entry, line) for entry in before.entries.values() for line in entry.lines)
        unknown = {limit_words(sentence_of(entry, line), 40) for entry, line in said if line.aspect == "unaware"}
    told = [
        line
        for entry in state["entries"]
        for line in entry["lines"]
        if readers.is_hidden(entry["name"]) or readers.names_hidden(line) or line in unknown
    ]
    recalled = await log.get_many(state["story"], [one["id"] for one in state["recalled"]])
    noted = [line.sentence for commit in recalled for line in readers.noted_at(commit)]
    noted += [line.sentence for lines in readers.kept_lines().values() for line in lines]
    # What stands in the passage before, everybody has read.
    unread = [sentence for sentence in (*told, *noted) if sentence not in state["passage"]]
    return [state["brief"].get("truth", ""), *state["brief"].get("clues", []), *unread]


def _without(text: str, hidden: Sequence[str]) -> str:
    """Return a text in which what is kept from the reader is not told."""
    for secret in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(secret, "(kept from the reader)")
    return text
