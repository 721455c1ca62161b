"""The story's own text: no system's novels are known by their headings."""

import pytest

from recurrentgpt.models.json_replies import SCHEMA_HEADING
from recurrentgpt.studies.baselines.catalogue import SYSTEMS
from recurrentgpt.studies.baselines.strip_markup import strip_markup
from recurrentgpt.studies.scripted_author import author_replies

AROUND = """# The Bell
## Chapter 1
**A novel**

The Lamp Room

Here is the next passage of the story:

"""


def test_what_is_put_around_a_story_is_taken_off():
    story = "Mira lit the **lamp**. Then she *left* it.\n\nTobias ran."
    own = "Mira lit the lamp. Then she left it.\n\nTobias ran."
    assert strip_markup(f"{AROUND}{story}\n\n* * *\n\nWord count: 12\n\nTHE END") == own
    assert strip_markup(f"Chapter Two: The Quay\n{story}\n---\n") == own
    assert strip_markup(f"The Echoing Bell (Fantasy)\n{story}") == own
    assert strip_markup(f"**The Lamp and the Quay**\n\n*The Lamp and the Quay*\n{story}") == own
    assert strip_markup(f"The Keeper’s Lamp\nA Lamp from the North\n{story}") == own
    assert strip_markup("```\nAs an AI language model, I wrote this.\n```") == ""


def test_a_story_stays_as_it_is():
    story = (
        "“Now: silence,” she said.\nTobias paid 2 * 3 shillings.\n\nDear Mira,\n\nThe bell rang —\n\nHe ran."
        "\n\nChapter and verse he knew, and the part about the reader."
    )
    assert strip_markup(story) == story
    assert strip_markup("Mira and Tobias went\ndown to the quay.") == "Mira and Tobias went\ndown to the quay."
    assert strip_markup("Now\nMira ran.") == "Now\nMira ran."
    for lines in (
        "It was so in the old inn\nand Mira ran.",
        "I am so sad\nI am so old.",
        "Мира пошла\nК реке.",
        "Mira Venn\nran.",
    ):
        assert strip_markup(lines) == lines
    assert strip_markup("他走了。\n\n灯灭了。", "Chinese") == "他走了。\n\n灯灭了。"


@pytest.mark.parametrize("system", SYSTEMS)
async def test_no_system_leaves_a_heading_in_its_novel(write, system):
    def headed(messages):
        text = author_replies(messages)
        if SCHEMA_HEADING not in str(messages[-1].text):
            return AROUND + text
        return text.replace('"passage": "', '"passage": "# The Bell\\n\\nThe Lamp Room\\n\\n**A novel**\\n\\n')

    novel = await write(system, 600, replies=headed, candidates=1)
    text = "\n\n".join(commit["passage"] for commit in novel.passages)
    assert len(text.split()) > 300
    assert not [mark for mark in ("#", "*", "A novel", "Lamp Room", "next passage") if mark in text]
