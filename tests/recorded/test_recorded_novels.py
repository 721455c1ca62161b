"""Stories of a strong model's stand-in, replayed through the graph: word for word, and not a word of a reply lost."""

import asyncio
from functools import cache

import pytest

from benchmarks import strong_novels
from recurrentgpt.prompts.check import packaged
from recurrentgpt.prose.emphasis import emphasised
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.studies.errors import StudyError
from tests.recorded.novels import NOVELS, SAMPLES, replay, sample, sent, write


@cache
def told(name):
    return asyncio.run(write(name, replay(name)))


@pytest.mark.parametrize("name", NOVELS)
def test_a_recorded_story_is_written_again_word_for_word(name):
    record, commits = told(name)
    assert sample(name, record, commits) == (SAMPLES / f"strong-{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NOVELS)
def test_not_a_word_of_a_usable_reply_is_lost(name):
    _, commits = told(name)
    assert [commit["passage"] for commit in commits[1:]] == [reply.strip() for reply in sent(name)]
    assert any(marked for commit in commits for _, marked in emphasised(commit["passage"])), "italics are of the text"


def test_a_mystery_ends_with_its_last_line_and_knows_where_it_was():
    record, commits = told("mystery")
    assert commits[-1]["passage"].endswith('"So was I," said Mrs Ogg. She had her boots on.')
    assert [commit.get("turns", []).count("done") for commit in commits] == [0, 1, 2, 3, 4, 5, 6]
    assert commits[-1]["candidate_plans"] == []
    assert record["brief"]["truth"]
    assert commits[5]["usage"]["resamples"] == 1, "a memory of 546 words was asked about, once"


def test_a_mystery_of_twelve_passages_ends_with_its_last_line_and_all_its_turns_done():
    record, commits = told("long-mystery")
    assert len(commits) == 13
    assert commits[-1]["passage"].endswith("Then she put her hand back in the sack, and gave him the half ounce.")
    assert commits[-1]["candidate_plans"] == []
    assert [commit.get("turns", []).count("done") for commit in commits][-3:] == [5, 5, 6]
    assert record["brief"]["truth"]


async def test_a_strong_models_novel_is_measured_without_a_judge():
    found = await strong_novels.measure("mystery")
    _, commits = await write("mystery", replay("mystery"))
    assert (found["novel"], found["passages"]) == ("mystery", len(commits) - 1)
    assert found["words"] == sum(count_words(commit["passage"]) for commit in commits)
    assert found["contradictions_per_10000"] == round(10_000 * len(found["accused"]) / found["words"], 3)
    assert 0 < found["repeated_4grams"] < 0.02
    assert found["new_facts"] > 1
    assert found["prompt_mean"] > 1000
    shown = strong_novels.table(
        [{**found, "accused": [{"passage": 2, "sentence": "She left.", "holds": "She is dead."}]}]
    )
    assert "| mystery | 6 | 2,939 |" in shown
    assert "* mystery, passage 2: She left. But: She is dead." in shown


async def test_a_changed_prompt_names_the_call(tmp_path):
    (tmp_path / "novel" / "full").mkdir(parents=True)
    changed = packaged()["novel/full/update_memory.md"] + "{% if step == 3 %}\nBe brief.{% endif %}"
    (tmp_path / "novel" / "full" / "update_memory.md").write_text(changed)
    with pytest.raises(StudyError, match=r"mystery\.jsonl has no answer to call 3 of the memory: prompts have changed"):
        await write("mystery", replay("mystery"), prompts=str(tmp_path))
