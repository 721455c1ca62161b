"""Random trees: whatever is done in whatever order, nothing is lost, nothing leaks, and recall is exact."""

import re

import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, given, settings
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from recurrentgpt.engine.engine import Engine
from recurrentgpt.infrastructure.background_loop import call
from recurrentgpt.library import Library
from recurrentgpt.memory.codex import facts
from recurrentgpt.memory.recall import Recall
from recurrentgpt.memory.row_texts import rows_of
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.schema.errors import BadAnswer, StoryError
from recurrentgpt.story import Story
from recurrentgpt.testing import ScriptedChatModel, story_replies
from tests.memory.oracle import expected

MARK = re.compile(r"mark\d+x")
OPERATIONS = (
    "step",
    "step",
    "retry",
    "replan",
    "undo",
    "redo",
    "goto",
    "choose",
    "edit",
    "replay",
    "memory",
    "summary",
)
embeddings = HashEmbeddings()


class Told:
    """A model that marks every reply with a word of its own, and keeps which commit holds which marks."""

    def __init__(self, tier):
        self.replied = 0
        self.model = ScriptedChatModel(tier=tier, replies=self.reply)

    def reply(self, messages):
        number, self.replied = self.replied, self.replied + 1
        text = story_replies([*messages, HumanMessage(f"call {number}")])
        return re.sub(r"\b(the|The|a|A) (?=\w+)", lambda found: f"{found[0]}mark{number}x ", text)


def marks(commit):
    """Return the marks of everything that a commit holds."""
    rationale = [entry["sentence"] for entry in (*commit["rationale"]["dropped"], *commit["rationale"]["added"])]
    texts = [
        commit["plan"],
        commit["passage"],
        commit["summary"],
        commit["short_term_memory"],
        *commit["candidate_plans"],
    ]
    return set(MARK.findall("\n".join([*texts, *rationale])))


def everything(story):
    async def read():
        log = story.engine.log
        return await log.get_many(story.id, list(await log.links(story.id)))

    return {commit["id"]: commit for commit in call(read)}


def lineage(commits, head):
    """Return the ids of a commit, of those before it, and of those that any of them corrects."""
    found, ahead = set(), [head]
    while ahead:
        key = ahead.pop()
        if key and key not in found:
            found.add(key)
            ahead += [commits[key]["parent"], commits[key]["amends"]]
    return found


def operate(story, data, name, number):
    """Do one thing to the story; what cannot be done there is refused and changes nothing."""
    # By place in the tree, for the ids hold the time and are others in every run.
    places = list(story.tree().nodes)
    anywhere = places[data.draw(st.integers(0, len(places) - 1), label="where")]
    match name:
        case "step":
            story.step()
        case "retry":
            list(story.retry(anywhere))
        case "replan":
            list(story.replan(anywhere))
        case "undo" | "redo":
            getattr(story, name)(data.draw(st.integers(1, 3), label="count"))
        case "goto":
            story.goto(anywhere)
        case "choose":
            story.choose(data.draw(st.integers(1, 3), label="plan"), at=anywhere)
        case "edit":
            list(story.edit_passage(anywhere, f"Zoltan{number} rode out. The bells rang {number} times."))
        case "replay":
            step = data.draw(st.integers(1, 3), label="step")
            list(story.edit_passage(step, f"Zoltan{number} came back. The bells kept still.", replay=True))
        case "memory":
            story.edit_memory(f"Zoltan{number} owes Mira a horse.", at=anywhere)
        case "summary":
            story.edit_summary(data.draw(st.integers(0, 3), label="step"), f"Zoltan{number} is remembered otherwise.")


@settings(max_examples=settings.default.max_examples // 2, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), tier=st.sampled_from(["small", "full"]))
def test_random_trees(data, tier):
    told = Told(tier)
    library = Library(Engine(InMemorySaver(), InMemoryStore()))
    story = Story.new(
        "fantasy", "Mira tends a lamp.", library=library, model=told.model, embeddings=embeddings, seed=3,
        new_character=0.0, top_k=2,
    )  # fmt: skip
    story.step()
    seen = everything(story)
    operations = data.draw(st.lists(st.sampled_from(OPERATIONS), min_size=3, max_size=12), label="operations")
    for number, name in enumerate(operations):
        here, before = story.head, told.replied
        told.model.calls.clear()
        try:
            operate(story, data, name, number)
        except (StoryError, BadAnswer):
            assert story.head == here
            assert not told.model.calls
        now = everything(story)
        assert {key: now[key] for key in seen} == seen, "every commit ever made reads as it was made"
        assert story.head in now
        for key in now.keys() - seen.keys():
            assert now[key]["parent"] in now or now[key]["step"] == 0
        allowed = set().union(*(marks(now[key]) for key in lineage(now, story.head)))
        # What was said in this very operation, replies included that no commit holds: they are shown to be put right.
        fresh = {f"mark{said}x" for said in range(before, told.replied)}
        for prompt in told.model.calls:
            found = set(MARK.findall("\n".join(str(message.text) for message in prompt)))
            assert found <= allowed | fresh | marks(now[story.head]), f"{name}: a prompt holds words of another branch"
        seen = now
    exact(story, seen, data)


def exact(story, commits, data):
    """Hold recall against reading every ancestor."""
    from recurrentgpt.memory.corrections import in_force, read_overlay

    head = story.head
    now = call(lambda: in_force(story.engine.log, commits[head]))
    overlay = call(lambda: read_overlay(story.engine.log, story.id, now))
    corrected = overlay["summaries"]
    query = data.draw(st.sampled_from([commits[head]["plan"] or "lamp", "Zoltan rode out", "a lamp in the harbour"]))
    count = data.draw(st.integers(1, 5), label="count")
    recall = Recall(story.engine.log, embeddings, facts)
    hits = call(lambda: recall.search(story.id, head, query, count, without=head, corrected=corrected))
    texts = {}
    for key in story.tree().path():
        summary = corrected.get(key, commits[key]["summary"])
        texts[key] = [row.text for row in rows_of(commits[key]["passage"], summary, facts(commits[key]))]
    wanted = expected(embeddings, texts, query, count, without=head)
    assert [hit.id for hit in hits] == [key for key, _ in wanted]
    np.testing.assert_allclose([hit.score for hit in hits], [score for _, score in wanted], atol=1e-5)


def test_words_of_a_commit_are_found():
    """The oracle of this file sees what it must."""
    told = Told("full")
    text = told.reply([HumanMessage("Write.")])
    assert MARK.findall(text)
