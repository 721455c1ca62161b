"""Recall: only ancestors, exact, the same cold and warm, one embedding model at a time."""

import base64
import itertools
import sqlite3
from contextlib import closing
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from recurrentgpt.checkpoints import open_persistence
from recurrentgpt.memory import index as index_module
from recurrentgpt.memory import query as query_module
from recurrentgpt.memory import recall as module
from recurrentgpt.memory.excerpts import terms
from recurrentgpt.memory.nearness import nearness
from recurrentgpt.memory.query import query_parts
from recurrentgpt.memory.recall import Recall
from recurrentgpt.memory.row_texts import context_of, passage_rows, pieces, rows_of
from recurrentgpt.memory.rows import codes, deflate, inflate, pack, unpack
from recurrentgpt.memory.story_log import StoryLog, commit_id
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.schema.codex import Superseded
from recurrentgpt.schema.errors import SettingsError
from recurrentgpt.schema.shared_map import SharedMap

from .oracle import expected

stories = (f"story-{number}" for number in itertools.count())
WORDS = [
    "lamp",
    "harbour",
    "glove",
    "mirror",
    "horse",
    "letter",
    "tower",
    "engine",
    "violin",
    "compass",
    "orchard",
    "bridge",
]


class Other(HashEmbeddings):
    """Another model: other vectors under another name."""

    model_id = "other-256"

    def embed_query(self, text):
        return super().embed_query(text[::-1])


class Narrow(HashEmbeddings):
    """A model that changed its width and kept its name."""

    def embed_query(self, text):
        folded = np.reshape(super().embed_query(text), (4, 64)).sum(axis=0)
        return (folded / np.linalg.norm(folded)).tolist()


class Vague(HashEmbeddings):
    """A model to which all texts mean the same."""

    model_id = "vague-256"

    def embed_query(self, text):
        return [1.0] + [0.0] * 255


class Counting(HashEmbeddings):
    model_id = "counting-256"

    def __init__(self):
        self.texts = []

    def embed_documents(self, texts):
        self.texts += texts
        return super().embed_documents(texts)


@pytest.fixture
def forget():
    """Give what a new process is: no index in memory."""
    module._INDEXES.clear()
    return module._INDEXES.clear


async def grow(recall, commit, story, texts, parent=None):
    """Append one commit per text, a line from `parent`, as the commit node does; return them."""
    made = []
    for text in texts:
        parent = commit(story, parent, text)
        await recall.log.append(parent, "choosing", also=[await recall.vectors_op(parent)])
        made.append(parent)
    return made


def brute_force(embeddings, commits, head, query, count, without):
    """Return what reading every ancestor finds; the newest counts among them even where it is left out."""
    by_id = {entry["id"]: entry for entry in commits}
    texts, at = {}, head
    while at:
        entry = by_id[at]
        texts = {at: [row.text for row in rows_of(entry["passage"], entry["summary"], [])], **texts}
        at = entry["parent"]
    return expected(embeddings, texts, query, count, without)


@given(data=st.data())
async def test_recall_is_what_reading_all_ancestors_finds(data):
    module._INDEXES.clear()
    embeddings, story = HashEmbeddings(), next(stories)
    recall = Recall(StoryLog(InMemoryStore()), embeddings)
    make = make_commit
    commits = []
    for number in range(data.draw(st.integers(1, 25), label="commits")):
        parent = data.draw(st.sampled_from([None, *commits]) if commits else st.none(), label="parent")
        words = data.draw(st.lists(st.sampled_from(WORDS), max_size=6), label="words")
        text = f"{' '.join(words).capitalize()} {number}. Nobody saw it." if number % 5 else ""
        commits += await grow(recall, make, story, [text], parent)
        if data.draw(st.booleans(), label="restart"):
            module._INDEXES.clear()
        if data.draw(st.booleans(), label="look"):
            head = data.draw(st.sampled_from(commits), label="head")["id"]
            without = data.draw(st.sampled_from(["", head]), label="without")
            count, wanted = data.draw(st.integers(1, 5), label="count"), data.draw(st.permutations(WORDS))
            query = f"{' '.join(wanted[:4])}. {' '.join(wanted[4:8])}.".capitalize()
            # With fewer than all rows asked of FAISS, what comes in by its words alone is found none the less.
            nearest = patch.object(index_module, "NEAREST", data.draw(st.sampled_from([1, 2, 4, 256]), label="nearest"))
            # Several threads share the rows of a long story.
            shared = patch.object(index_module, "MANY_ROWS", data.draw(st.sampled_from([0, 8, 50_000]), label="many"))
            with nearest, shared, patch.object(index_module, "WORKERS", data.draw(st.integers(1, 4), label="workers")):
                hits = await recall.search(story, head, query, count, without=without)
            assert [(hit.id, pytest.approx(hit.score, abs=1e-5)) for hit in hits] == brute_force(
                embeddings, commits, head, query, count, without
            )


def make_commit(story, parent, passage):
    before = parent["id"] if parent else ""
    return {
        "id": commit_id(story, before, "", passage), "story": story, "parent": before, "amends": "", "passage": passage,
        "step": parent["step"] + 1 if parent else 0, "summary": passage.split(".")[0], "author": "model",
        "created": "",
    }  # fmt: skip


async def test_only_ancestors_are_found_over_every_store(persistence, commit, forget):
    recall = Recall(StoryLog(persistence.store), HashEmbeddings())
    story = next(stories)
    trunk = await grow(recall, commit, story, ["", "The lamp burned. Mira slept."])
    left = await grow(recall, commit, story, ["A horse ran over the harbour bridge.", "The horse drank."], trunk[-1])
    right = await grow(recall, commit, story, ["A horse flew over the tower.", "Nobody cared."], trunk[-1])
    for _ in ("warm", "cold"):
        for branch, other in ((left, right), (right, left)):
            hits = await recall.search(story, branch[-1]["id"], "the horse at the bridge and the tower", 9)
            assert {hit.id for hit in hits} == {entry["id"] for entry in [trunk[1], *branch]}
            assert not {hit.id for hit in hits} & {entry["id"] for entry in other}
        forget()


async def test_cold_and_warm_find_the_same_to_the_last_digit(persistence, commit, forget):
    recall = Recall(StoryLog(persistence.store), HashEmbeddings())
    story = next(stories)
    entries = await grow(recall, commit, story, ["", "The lamp burned."])
    await recall.search(story, entries[-1]["id"], "lamp", 1)
    more = [f"{word.capitalize()} number {at} stood by the {WORDS[at - 3]}." for at, word in enumerate(WORDS)]
    entries += await grow(recall, commit, story, more, entries[-1])
    query = "the lamp and the letter by the harbour"
    warm = await recall.search(story, entries[-1]["id"], query, 8)
    forget()
    assert await recall.search(story, entries[-1]["id"], query, 8) == warm
    assert len(warm) == 8


async def test_a_new_process_reads_vectors_and_does_not_embed_again(persistence, commit, forget):
    counting = Counting()
    recall = Recall(StoryLog(persistence.store), counting)
    story = next(stories)
    entries = await grow(recall, commit, story, ["", *(f"The {word} fell." for word in WORDS)])
    forget()
    counting.texts.clear()
    assert await recall.search(story, entries[-1]["id"], "the glove", 1)
    assert counting.texts == ["the glove"]


@pytest.mark.parametrize("other", [Other, Narrow])
async def test_vectors_of_another_model_are_made_again_and_never_mixed(persistence, commit, forget, other):
    story, log = next(stories), StoryLog(persistence.store)
    entries = await grow(Recall(log, HashEmbeddings()), commit, story, ["", *(f"The {word} fell." for word in WORDS)])
    for cold in (True, False):
        if cold:
            forget()
        hits = await Recall(log, other()).search(story, entries[-1]["id"], "The mirror fell.", 3)
        assert len(hits) == 3
        assert hits[0].score > max(hit.score for hit in hits[1:]) + 0.2
        assert Recall(log, other()).text(await log.get(story, hits[0].id), hits[0]) == "The mirror fell."
    first = await Recall(log, HashEmbeddings()).search(story, entries[-1]["id"], "The mirror fell.", 1)
    assert first[0].id == hits[0].id


async def test_a_commit_may_be_indexed_before_those_it_follows(persistence, commit, forget):
    """Another process wrote passages, or another model embedded them, and then somebody edited the newest one here."""
    story, log = next(stories), StoryLog(persistence.store)
    here = Recall(log, HashEmbeddings())
    entries = await grow(here, commit, story, ["", "The lamp burned."])
    await here.search(story, entries[-1]["id"], "lamp", 1)
    elsewhere = Recall(log, Other())
    entries += await grow(elsewhere, commit, story, ["A glove lay there.", "The horse drank."], entries[-1])
    edited = (await grow(here, commit, story, ["The horse slept."], entries[-2]))[0]
    for _ in ("warm", "cold"):
        hits = await here.search(story, edited["id"], "a glove or a horse or a lamp", 9)
        assert {hit.id for hit in hits} == {entry["id"] for entry in (entries[1], entries[2], edited)}
        forget()


async def test_a_long_passage_is_found_by_its_last_words(persistence, commit, forget):
    recall = Recall(StoryLog(persistence.store), HashEmbeddings())
    filler = " ".join(f"Somebody counted {number} grey stones on the {number + 7}th morning." for number in range(60))
    story = next(stories)
    entries = await grow(
        recall, commit, story, ["", f"{filler} At last the violin sang under water.", f"{filler} Mira slept.", "End."]
    )
    (hit,) = await recall.search(story, entries[-1]["id"], "the violin sang under water", 1)
    assert hit.id == entries[1]["id"]
    text = recall.text(entries[1], hit)
    assert text.endswith("59 grey stones on the 66th morning. At last the violin sang under water.")
    assert len(text.split()) <= 60


async def test_a_rare_name_finds_its_passage_where_all_mean_the_same(persistence, commit, forget):
    recall, story = Recall(StoryLog(persistence.store), Vague()), next(stories)
    texts = [
        f"{who} opened the {thing} and went out." for who in ("Ada", "Bo", "Cleo", "Dirk", "Ella") for thing in WORDS
    ]
    entries = await grow(recall, commit, story, ["", *texts])
    for _ in ("warm", "cold"):
        hits = await recall.search(story, entries[-1]["id"], "Bo's violin is opened.", 2)
        assert hits[0].id == entries[1 + texts.index("Bo opened the violin and went out.")]["id"]
        assert hits[1].score < hits[0].score
        forget()


async def test_what_another_branch_says_makes_no_word_common_here(persistence, commit, forget):
    recall, story = Recall(StoryLog(persistence.store), Vague()), next(stories)
    entries = await grow(recall, commit, story, ["", *(f"The {word} fell." for word in WORDS)])
    before = await recall.search(story, entries[-1]["id"], "the glove and the horse", 4)
    await grow(recall, commit, story, [f"A glove, number {number}." for number in range(40)], entries[3])
    for _ in ("warm", "cold"):
        assert await recall.search(story, entries[-1]["id"], "the glove and the horse", 4) == before
        forget()


@pytest.mark.parametrize(
    "damage",
    [
        lambda row: {name: value for name, value in row.items() if name != "terms"},
        lambda row: {**row, "terms": row["terms"][:-8]},
        lambda row: {**row, "vectors": deflate(inflate(row["vectors"])[:-1])},
        lambda row: {**row, "vectors": row["vectors"][::-1]},
    ],
    ids=["no words", "words cut short", "a vector cut short", "no vectors"],
)
async def test_a_damaged_row_is_made_again(persistence, commit, forget, damage):
    counting = Counting()
    recall, story = Recall(StoryLog(persistence.store), counting), next(stories)
    entries = await grow(recall, commit, story, ["", "The lamp burned.", "A glove lay there."])
    where = recall._namespace(story)
    row = await recall.log.value(where, entries[1]["id"])
    await recall.log.batch([PutOp(where, entries[1]["id"], damage(row), index=False)])
    forget()
    counting.texts.clear()
    hits = await recall.search(story, entries[-1]["id"], "the lamp burned", 2)
    assert (hits[0].id, "The lamp burned." in counting.texts) == (entries[1]["id"], True)
    assert await recall.log.value(where, entries[1]["id"]) == row


async def test_a_row_that_cannot_be_inflated_is_made_again(tmp_path, commit, forget):
    counting, story = Counting(), next(stories)
    texts = [
        " ".join(
            f"The {word} of house {97 * number} fell from tower {89 * number} onto {83 * number}."
            for number in range(60)
        )
        for word in WORDS
    ]
    async with open_persistence(folder=tmp_path) as persistence:
        recall = Recall(StoryLog(persistence.store), counting)
        entries = await grow(recall, commit, story, ["", *texts])
        before = await recall.search(story, entries[-1]["id"], "the glove", 3)
        where = ("WHERE prefix LIKE '%.vectors.%' AND key = ?", (entries[3]["id"],))
        with closing(sqlite3.connect(tmp_path / "stories.db")) as database, database:
            (value,) = database.execute(f"SELECT value FROM store {where[0]}", where[1]).fetchone()
            assert value[:1] != b"{", "it is deflated"
            database.execute(f"UPDATE store SET value = ? {where[0]}", (value[:50], *where[1]))
        forget()
        counting.texts.clear()
        assert await recall.search(story, entries[-1]["id"], "the glove", 3) == before
        assert {text for text in counting.texts if text != "the glove"} <= {
            row.text for row in rows_of(entries[3]["passage"], entries[3]["summary"], ())
        }


async def test_rows_of_the_second_edition_are_read_as_they_are(persistence, commit, forget):
    counting = Counting()
    recall, story = Recall(StoryLog(persistence.store), counting), next(stories)
    entries = await grow(
        recall, commit, story, ["", *(f"The {word} fell and nobody saw it at all that day." for word in WORDS)]
    )
    query = "Who saw the glove fall?"
    before = await recall.search(story, entries[-1]["id"], query, 5)
    where = recall._namespace(story)
    for entry in entries:
        row = dict(await recall.log.value(where, entry["id"]))
        row["int4"] = base64.b64encode(inflate(row.pop("vectors"))).decode()
        del row["terms"]
        row["words"] = [" ".join(terms(text.text)) for text in rows_of(entry["passage"], entry["summary"], ())]
        await recall.log.batch([PutOp(where, entry["id"], row, index=False)])
    forget()
    counting.texts.clear()
    assert await recall.search(story, entries[-1]["id"], query, 5) == before
    assert counting.texts == [query], "no passage is embedded again"


async def first_edition(recall, entry):
    """Store the row that the first edition had of a commit: vectors of pieces and the summary, a byte a number."""
    texts = [*pieces(entry["passage"]), entry["summary"]]
    vectors = np.asarray(recall.embeddings.embed_documents(texts))
    peaks = np.abs(vectors).max(axis=1, keepdims=True)
    row = {
        "parent": entry["parent"], "step": entry["step"], "dimension": vectors.shape[1],
        "int8": base64.b64encode(np.rint(vectors / peaks * 127).astype(np.int8).tobytes()).decode(),
        "words": [" ".join(terms(text)) for text in texts],
    }  # fmt: skip
    await recall.log.batch([PutOp(recall._namespace(entry["story"]), entry["id"], row, index=False)])


async def test_pieces_of_the_first_edition_are_found_and_embedded_anew_bit_by_bit(
    persistence, commit, forget, monkeypatch
):
    counting = Counting()
    recall, story = Recall(StoryLog(persistence.store), counting), next(stories)
    entries = await grow(
        recall, commit, story, ["", *(f"The {word} fell and nobody saw it at all that day." for word in WORDS)]
    )
    for entry in entries[1:]:
        await first_edition(recall, entry)
    head, query = entries[-1]["id"], "The glove fell."
    monkeypatch.setattr(module, "RENEWED", 5)
    for renewed in (5, 10, 12, 12):
        forget()
        counting.texts.clear()
        (hit,) = await recall.search(story, head, query, 1)
        assert hit.id == entries[1 + WORDS.index("glove")]["id"]
        assert recall.text(entries[hit.step], hit) == "The glove fell and nobody saw it at all that day."
        assert len(counting.texts) <= 1 + 2 * 5
        rows = await recall.log.scan(recall._namespace(story))
        assert sum("vectors" in row.value for row in rows) == 1 + renewed
    fresh = Recall(StoryLog(InMemoryStore()), HashEmbeddings())
    for entry in entries:
        await fresh.log.append(entry, "choosing", also=[await fresh.vectors_op(entry)])
    found = await recall.search(story, head, query, 5)
    forget()
    assert found == await fresh.search(story, head, query, 5), (
        "once all are renewed, it is as if it had never been otherwise"
    )


async def test_a_plan_is_answered_sentence_by_sentence(persistence, commit, forget):
    recall, story = Recall(StoryLog(persistence.store), HashEmbeddings()), next(stories)
    texts = [f"The {word} belongs to somebody called {word[::-1].capitalize()} now." for word in WORDS]
    entries = await grow(
        recall, commit, story, ["", *texts, *["A lamp and a lamp and another lamp burned all night."] * 9]
    )
    plan = "Mira lights a lamp and another lamp. She asks who has the violin now. Then somebody steals the compass."
    hits = await recall.search(story, entries[-1]["id"], plan, 3)
    assert {1 + WORDS.index("violin"), 1 + WORDS.index("compass")} < {hit.step for hit in hits}
    hits = await recall.search(story, entries[-1]["id"], "Mira lights a lamp.", 2, also=["Whose is the orchard?"])
    assert hits[1].step == 1 + WORDS.index("orchard")


async def test_a_fact_is_found_as_long_as_it_holds_on_the_branch(persistence, commit, forget):
    told = {1: ["The brass key is in the oven."], 2: ["Bo holds the brass key."]}
    recall = Recall(StoryLog(persistence.store), HashEmbeddings(), facts=lambda entry: told.get(entry["step"], []))
    story = next(stories)
    texts = [
        "",
        "She put it into the oven and shut the door.",
        "Bo took it out again when nobody was looking.",
        "It rained.",
    ]
    entries = await grow(recall, commit, story, texts)
    other = (await grow(recall, commit, story, ["The oven was sold to a stranger from the hills."], entries[1]))[0]
    query, stale = (
        "Where is the brass key?",
        SharedMap({entries[1]["id"]: (Superseded(told[1][0], texts[1], ("brass key",)),)}),
    )
    for _ in ("warm", "cold"):
        first, second = await recall.search(story, entries[-1]["id"], query, 2)
        assert {(hit.kind, recall.text(entries[hit.step], hit)) for hit in (first, second)} == {
            ("fact", told[1][0]), ("fact", told[2][0])
        }  # fmt: skip
        hits = await recall.search(story, entries[-1]["id"], query, 9, stale=stale)
        assert recall.text(entries[hits[0].step], hits[0]) == told[2][0]
        assert [(hit.step, hit.kind) for hit in hits if hit.step == 1] == [(1, "summary")], (
            "what it rests on is out, too"
        )
        # A branch that left before holds what it was told.
        (hit,) = await recall.search(story, other["id"], query, 1)
        assert (hit.step, hit.kind) == (1, "fact")
        forget()


async def test_what_the_codex_knows_of_comes_first_where_it_still_holds_and_is_of_the_branch(
    persistence, commit, forget
):
    recall, story = Recall(StoryLog(persistence.store), HashEmbeddings()), next(stories)
    kept = "Odo hid it under rotten planks upstairs."
    texts = ["", kept, *["Bo asked who has that brass key."] * 4, "It rained."]
    entries = await grow(recall, commit, story, texts)
    other = (await grow(recall, commit, story, ["A key was cut for the mill that night by Bo."], entries[3]))[0]
    query, head = "Who has that brass key?", entries[-1]["id"]
    plain = [hit.step for hit in await recall.search(story, head, query, 3)]
    assert 1 not in plain
    for _ in ("warm", "cold"):
        known = {query: [(entries[1]["id"], [kept])]}
        hits = await recall.search(story, head, query, 3, known=known)
        assert [hit.step for hit in hits] == [1, *plain[:2]]
        assert recall.text(entries[1], hits[0]).startswith(kept)
        assert hits[0].score < hits[1].score, "it is no nearer for being known"
        for refused in (
            {"known": {query: [(other["id"], ["A key was cut"])]}},
            {"known": {query: [(entries[1]["id"], ["Nobody wrote this."])]}},
            {"known": {"Who is there?": known[query]}},
            {"known": known, "without": entries[1]["id"]},
            {"known": known, "stale": SharedMap({entries[1]["id"]: (Superseded(kept, "", ("key",)),)})},
        ):
            hits = await recall.search(story, head, query, 3, **refused)
            assert [hit.step for hit in hits] == plain
        forget()


def test_a_query_of_many_sentences_has_a_bounded_number_of_parts():
    plan = " ".join(f"Somebody does thing number {number} and goes." for number in range(30))
    assert len(query_parts(plan)) == 8
    assert query_parts("Mira runs far away. Why? Nobody knows it now.") == [
        "Mira runs far away. Why?",
        "Nobody knows it now.",
    ]
    assert query_parts("Scene 12. Mira runs far away now. Nobody knows it yet.") == [
        "Scene 12. Mira runs far away now.",
        "Nobody knows it yet.",
    ]
    assert query_parts("") == [""]
    assert query_parts(plan, also=["The ferryman is Tobias."])[-1] == "The ferryman is Tobias."


def test_a_query_of_short_sentences_is_counted_once(monkeypatch):
    """Each was counted again for every sentence that joined it: 8,000 took twelve seconds, in the loop of all stories."""
    counted = []
    monkeypatch.setattr(query_module, "count_words", lambda text: counted.append(len(text)) or count_words(text))
    query = "Mira walks on. " * 400
    assert query_parts(query) == [query.strip()]
    assert sum(counted) <= len(query)


@pytest.mark.parametrize(
    "vectors",
    [[[float("nan")] * 4], [[1.0, 2.0], [1.0]], [], [[]], [1.0]],
    ids=["nan", "lengths", "none", "empty", "flat"],
)
async def test_what_is_no_vector_is_said_where_it_comes_from(persistence, commit, forget, vectors):
    class Odd(HashEmbeddings):
        def embed_documents(self, texts):
            return vectors * (len(texts) if len(vectors) == 1 else 1)

    story, recall = next(stories), Recall(StoryLog(persistence.store), Odd())
    with pytest.raises(SettingsError, match="one vector of finite numbers"):
        await grow(recall, commit, story, ["The lamp burned.", "The boat sank."])
    with pytest.raises(SettingsError, match="one vector of finite numbers"):
        nearness(Odd(), ["a lamp", "lamps"], ["a boat"])


async def test_nothing_is_found_where_there_is_nothing(persistence, commit, forget):
    recall = Recall(StoryLog(persistence.store), HashEmbeddings())
    story = next(stories)
    assert await recall.search(story, "", "lamp", 3) == []
    (opening,) = await grow(recall, commit, story, [""])
    assert await recall.search(story, opening["id"], "lamp", 3) == []
    entries = await grow(recall, commit, story, ["The lamp burned."], opening)
    assert await recall.search(story, entries[0]["id"], "lamp", 0) == []
    assert await recall.search(story, entries[0]["id"], "lamp", 3, without=entries[0]["id"]) == []


sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(
    lambda words: " ".join(words).capitalize() + "."
)


@given(st.lists(sentence, max_size=30))
def test_pieces_are_whole_sentences_and_all_of_them(parts):
    found = pieces(" ".join(parts))
    assert " ".join(found) == " ".join(parts)
    assert all(len(piece.split()) <= 170 for piece in found)
    assert all(piece.endswith(".") for piece in found)


@given(st.lists(sentence, max_size=30))
def test_rows_are_whole_sentences_and_all_of_them(parts):
    found = passage_rows(" ".join(parts))
    assert " ".join(found) == " ".join(parts)
    assert all(len(row.split()) >= 8 for row in found) or len(found) == 1
    # A row ends with the first sentence that makes it long enough; what is left over goes with the last one.
    assert all(len(row.split()) - len(row.split(". ")[-1].split()) < 8 for row in found[:-1])


@given(st.lists(sentence, min_size=1, max_size=30), st.data())
def test_a_row_is_shown_with_what_stands_around_it(parts, data):
    passage = " ".join(parts)
    row = data.draw(st.integers(0, len(passage_rows(passage)) - 1))
    shown = context_of(passage, row)
    assert passage_rows(passage)[row] in shown
    assert shown in passage
    assert len(shown.split()) <= max(60, len(passage_rows(passage)[row].split()))


@given(st.integers(0, 5), st.integers(1, 9))
def test_packed_vectors_come_back(rows, dimension):
    vectors = np.random.default_rng(rows).normal(size=(rows, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) if rows else 1
    numbers = codes(vectors)
    back = unpack(pack(numbers), dimension)
    assert (back == numbers).all()
    lengths = np.linalg.norm(back, axis=1)
    assert ((back * vectors).sum(axis=1) / lengths > 0.98).all()


def test_a_line_is_embedded_once_whether_it_is_asked_for_or_compared():
    embeddings = Counting()
    plans = ["Mira hides the key.", "The key Mira hides.", "Bo sails north."]
    found = [nearness(embeddings, [plan], [*plans[:number], "Adela sings."]) for number, plan in enumerate(plans)]
    assert found[1][plans[0]] == pytest.approx(1)
    assert sorted(embeddings.texts) == sorted([*plans, "Adela sings."])


async def test_what_is_over_is_looked_at_once_and_again_only_where_it_changed(persistence, commit, forget):
    """The cost of a step does not grow with all that was ever over; a branch and a correction have their own."""
    log = StoryLog(persistence.store)
    looked = list[str]()

    def facts(commit):
        looked.append(commit["id"])
        return ()

    recall, story = Recall(log, HashEmbeddings(), facts), next(stories)
    texts = [f"Warden {number} hides the lantern of house {number} in the mill." for number in range(40)]
    entries = await grow(recall, commit, story, ["", *texts])
    head = entries[-1]["id"]
    over = SharedMap({entry["id"]: (Superseded(entry["passage"], "", ()),) for entry in entries[1:30]})

    async def found(head, over, **options) -> set[int]:
        looked.clear()
        hits = await recall.search(story, head, "Where is the lantern of house 7?", 40, stale=over, **options)
        return {hit.step for hit in hits if hit.kind == "sentence"}

    assert await found(head, over) == set(range(30, 41))
    assert len(looked) == 29
    assert await found(head, over) == set(range(30, 41))
    assert len(looked) == 0
    more = over.changed({entries[35]["id"]: (Superseded(entries[35]["passage"], "", ()),), entries[3]["id"]: None})
    assert await found(head, more) == {3, *range(30, 41)} - {35}
    assert len(looked) == 1
    assert await found(head, over) == set(range(30, 41))
    assert len(looked) == 0, "both are known"
    corrected = {entries[3]["id"]: "A lantern was hidden."}
    assert await found(head, over, corrected=corrected) == set(range(30, 41))
    forget()
    assert await found(head, more) == {3, *range(30, 41)} - {35}
