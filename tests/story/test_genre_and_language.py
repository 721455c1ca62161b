"""A story's genre and language are those of its premise, unless somebody chose them."""

import json

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from recurrentgpt import Library, Story
from recurrentgpt.agents import as_tools
from recurrentgpt.graph.story import build_story_graph
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.prose.languages import premise_language
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.genres import GENRES, NEUTRAL_GENRE, named_genre
from recurrentgpt.testing import ScriptedChatModel, story_replies

ASKS = "- genre: the genre that the premise belongs to"
PLAIN = "A keeper of bees finds a letter in a hive."
GERMAN = "Schreib mir eine Geschichte über einen Leuchtturmwärter, der nachts die Schiffe zählt."


def says(genre):
    """Return a model that finds a premise to be of this genre."""

    def replies(messages):
        reply = story_replies(messages)
        return json.dumps({**json.loads(reply), "genre": genre}) if ASKS in messages[-1].text else reply

    return ScriptedChatModel(tier="full", replies=replies)


def prompts(model):
    return ["\n".join(str(message.text) for message in call) for call in model.calls]


@pytest.mark.parametrize(
    ("premise", "genre"),
    [
        ("A cosy mystery in a village bakery, please.", "cosy mystery"),
        ("A romantic comedy about two rival wedding planners in Naples.", "romantic comedy"),
        ("Write me a gothic story about a house that sinks.", "gothic"),
        ("A bedtime story for my four-year-old about a kitten.", "children's bedtime"),
        ("A colony ship wakes too early. Science fiction.", "science fiction"),
        ("I'd like a sci-fi tale", "science fiction"),
        ("a Western where nobody draws", "western"),
        ("Requirements: - Genre: gothic horror - Setting: Yorkshire moors, 1893", "gothic horror"),
        ("**Genre:** Cosy Mystery\nMain character: a baker", "cosy mystery"),
        ("A ship of glass. Genre: science fiction Tone: dry", "science fiction"),
        ("A mystery story. Genre: any.", "mystery"),
        ("A baker counts.\nGenre: not specified", ""),
        ("A baker counts. Genre: TBD", ""),
        ("Genre: to be decided by you", ""),
        ("Genre: whatever fits", ""),
        ("Genre: I don’t care", ""),
        ("Genre: open road saga", "open road saga"),
        ("Genre: no-nonsense western", "no-nonsense western"),
        ("Genre: as gothic as it gets", "as gothic as it gets"),
        ("Genre: as you like", ""),
        ("Title: Fog, Genre: horror", "horror"),
        ("Genre = noir, tense = present", "noir"),
        ("Genre: noir **Tone:** dry", "noir"),
        ("A film student, genre: obsessed, loses her tape", ""),
        ("She read the label: genre: unknown things of the sea", ""),
        ("He asks her what genre: she says nothing.", ""),
        (PLAIN, ""),
        ("A boy who never sleeps, in a gothic story", "gothic"),
        ("No magic, just a mystery story", "mystery"),
        ("I don't know what to write, maybe a horror story.", "horror"),
        ("not a horror story but a romance novel", "romance"),
        ("A fantasy story following a girl", "fantasy"),
        ("No romance, mystery or horror story.", ""),
        ("I don't want a sad, scary story; two rivals cross the Arctic.", ""),
        ("A comic book villain comes to life", ""),
        ("A romance novel ghostwriter falls for her editor", ""),
        ("No romance, please: two rivals cross the Arctic.", ""),
        ("Two rivals cross the Arctic. No fantasy, no magic.", ""),
        ("I don't want a love story; two rivals cross the Arctic.", ""),
        ("A love story, not a horror story", "romance"),
        ("A comic book artist's villain comes to life", ""),
        ("A romance book club hides a body", ""),
        ("A horror story writer loses his son", ""),
        ("A western wind blows, and a young adult finds a detective.", ""),
        ("A mystery surrounds the lighthouse.", ""),
    ],
)
def test_a_premise_names_its_genre(premise, genre):
    assert named_genre(premise) == genre


@pytest.mark.parametrize("tier", ["small", "full"])
@pytest.mark.parametrize("mode", ["novel", "fiction"])
def test_a_story_has_the_genre_that_its_premise_names(library, settings, model, tier, mode):
    model.tier = tier
    story = Story.new(premise="A cosy mystery in a village bakery.", library=library, **settings(mode=mode))
    list(story.begin())
    assert story.brief["genre"] == "cosy mystery"
    assert not any(ASKS in prompt for prompt in prompts(model))


@pytest.mark.parametrize("mode", ["novel", "fiction"])
def test_a_capable_model_says_the_genre_of_another_premise(library, settings, mode):
    model = says("Pastoral mystery.")
    story = Story.new(premise=PLAIN, library=library, **settings(model=model, mode=mode))
    list(story.stream(1))
    assert story.brief["genre"] == "Pastoral mystery"
    opening, *later = prompts(model)
    assert ASKS in opening
    assert not any(genre in opening for genre in GENRES)
    assert any("Pastoral mystery" in prompt for prompt in later)


@pytest.mark.parametrize("said", ["", "It is a story of the sea, of course, and of more."])
def test_what_is_no_genre_is_none_in_particular(library, settings, said):
    story = Story.new(premise=PLAIN, library=library, **settings(model=says(said)))
    list(story.begin())
    assert story.brief["genre"] == NEUTRAL_GENRE


def test_a_small_model_tells_of_no_genre_in_particular(library, settings, model):
    model.tier = "small"
    story = Story.new(premise=PLAIN, library=library, **settings())
    list(story.begin())
    assert story.brief["genre"] == NEUTRAL_GENRE


def test_without_a_premise_the_genre_is_drawn_and_a_given_one_holds(library, settings, model):
    drawn = {_genre(library, settings(seed=seed)) for seed in range(8)}
    assert len(drawn) > 1
    assert drawn <= set(GENRES)
    assert _genre(library, settings(), genre="western", premise="A cosy mystery in a bakery.") == "western"
    assert not any(ASKS in prompt for prompt in prompts(model))


def _genre(library, settings, **opening):
    story = Story.new(**opening, library=library, **settings)
    list(story.begin())
    return story.brief["genre"]


@pytest.mark.parametrize(
    ("premise", "language"),
    [
        (GERMAN, "German"),
        ("Écris-moi une histoire drôle sur un chat qui devient maire.", "French"),
        ("猫が市長になる話", "Japanese"),
        ("A keeper of bees. Auf Deutsch bitte.", "German"),
        ("En français: a cat becomes mayor", "French"),
        ("A ghost story in Polish about a miller", "Polish"),
        ("Write about a cat who becomes mayor. In Spanish, please!", "Spanish"),
        ("Please write a story about a lighthouse in Swedish", "Swedish"),
        ("Ein Kater wird Bürgermeister von Köln. In English, please.", "English"),
        (PLAIN, ""),
        ("Giovanni Rossi and Lucia Bianchi run a trattoria in Napoli.", ""),
        ("Günther Müller loses his Volkswagen in Düsseldorf.", ""),
        ("The baron von Richthofen, Fräulein Schmidt and Herr Doktor Weiss dine at Schloss Neuschwanstein.", ""),
        ("Piotr Kowalski and Wojciech Nowak in Kraków", ""),
        ("A cat becomes mayor, in German please.", "German"),
        ("Ghost story in German", "German"),
        ("Bedtime story in Dutch for my daughter", "Dutch"),
        ("Can you write in French?", "French"),
        ("Begin an adventure in Spanish.", "Spanish"),
        ("Gutten finner en drage", "Norwegian"),
        ("A book collector receives a letter in Russian.", ""),
        ("A detective finds a diary. The book is in German.", ""),
        ("A romance blooms over letters in French.", ""),
        ("A ghost story about a miller, in German.", "German"),
        ("A story about a lighthouse keeper (in Spanish)", "Spanish"),
        ("A miller finds a ring, write it in German", "German"),
        ("Can you write me a story in French about a cat?", "French"),
        ("I'd like a short, sad ghost story in French about a cat", "French"),
        *(
            (words, "")
            for words in ("ninja vs samurai", "samurai in Edo", "a diva in Roma", "yeti in Tibet", "harem anime isekai")
        ),
        ("Мальчик находит дракона в старом сарае.", "Russian"),
        ("Skriv en berättelse om en katt", "Swedish"),
        ("Skriv en historie om en fyrvokter som teller skip om natten.", "Norwegian"),
        ("A widow finds her husband's diary, written in Russian.", ""),
        ("The ghost speaks only at midnight, in Dutch.", ""),
        ("He leaves notes in the margin (in Portuguese) that lead to a wreck.", ""),
        ("A translator is hired to finish a novel in Japanese about a man.", ""),
        ("Write a story about a parrot swearing in Spanish.", ""),
        ("A boy hears the radio speak to him: in Russian.", ""),
        (
            "Marcello, maestro at the conservatorio, composes a concerto for viola and violoncello, while soprano Carlotta and "
            "tenor Enzo plot vendetta in Palermo",
            "",
        ),
        ("A spy who dreams in German.", ""),
        ("A family saga in French Canada", ""),
        ("Write a story about a man who only dreams in Polish", ""),
        ("Dracula", ""),
        ("", ""),
    ],
)
def test_a_premise_tells_its_language(premise, language):
    assert premise_language(premise) == language


@pytest.mark.parametrize("tier", ["small", "full"])
def test_a_story_is_told_in_the_language_of_its_premise(library, settings, model, tier):
    model.tier = tier
    story = Story.new("mystery", GERMAN, library=library, **settings())
    list(story.begin())
    assert all("in German" in prompt for prompt in prompts(model) if "You " in prompt)
    assert story.settings["language"] == "German"
    opened = Story.open(story.id, library=library, **settings())
    assert opened.settings["language"] == "German"
    opened.change_settings(language="Dutch")
    list(opened.stream(1))
    assert Story.open(story.id, library=library).settings["language"] == "Dutch"


@pytest.mark.parametrize("reopened", [False, True])
def test_a_story_can_be_set_back_to_english(library, settings, model, reopened):
    model.tier = "full"
    story = Story.new(premise=PLAIN, library=library, **settings(language="French"))
    list(story.begin())
    story = Story.open(story.id, library=library, **settings())
    story.change_settings(language="English")
    if reopened:
        story = Story.open(story.id, library=library, **settings(language=None))
    told = len(model.calls)
    list(story.stream(1))
    written = [prompt for prompt in prompts(model)[told:] if "You are the author" in prompt]
    assert written
    assert not any("French" in prompt for prompt in written)


def test_a_graphs_own_language_is_not_the_premises(model):
    graph = build_story_graph(
        store=InMemoryStore(),
        checkpointer=InMemorySaver(),
        defaults={"model": model, "embeddings": HashEmbeddings(), "language": "English"},
    )
    graph.invoke({"premise": GERMAN}, {"configurable": {"thread_id": "pinned"}})
    assert not any("in German" in prompt for prompt in prompts(model))


def test_a_language_that_was_chosen_holds(library, settings):
    story = Story.new("mystery", GERMAN, library=library, **settings(language="English"))
    list(story.begin())
    assert story.settings["language"] == "English"


async def test_a_thread_goes_on_in_the_language_of_its_first_message(model):
    graph = build_story_graph(store=(store := InMemoryStore()), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "chat"}}
    context = {"model": model, "embeddings": HashEmbeddings(), "seed": 7}
    first = await graph.ainvoke({"messages": [HumanMessage(GERMAN)]}, config, context=Context(**context))
    await graph.ainvoke({"messages": [HumanMessage("2")]}, config, context=Context(**context))
    await graph.ainvoke(Command(resume=1), config, context=Context(**context))
    written = [prompt for prompt in prompts(model) if "You are the author" in prompt]
    assert written
    assert all("written in German" in prompt for prompt in written)
    # Another thread opens it by its id.
    elsewhere = {"configurable": {"thread_id": "elsewhere"}}
    told = len(model.calls)
    await graph.ainvoke({"story": first["story"]}, elsewhere, context=Context(**context))
    await graph.ainvoke(Command(resume=1), elsewhere, context=Context(**context))
    assert all("written in German" in prompt for prompt in prompts(model)[told:] if "You are the author" in prompt)
    assert len(model.calls) > told
    (record,) = [row.value for row in await store.asearch(("recurrentgpt", "stories"))]
    assert record["settings"]["language"] == "German"


async def test_a_language_that_is_edited_in_a_thread_holds_there(model):
    graph = build_story_graph(store=InMemoryStore(), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "chat"}}
    context = Context(model=model, embeddings=HashEmbeddings(), seed=7)
    await graph.ainvoke({"messages": [HumanMessage(PLAIN)]}, config, context=context)
    await graph.aupdate_state(config, {"language": "French"}, as_node="commit")
    for said in ("1", "another take", "2"):
        told = len(model.calls)
        await graph.ainvoke({"messages": [HumanMessage(said)]}, config, context=context)
        assert all("written in French" in prompt for prompt in prompts(model)[told:] if "You are the author" in prompt)


def test_a_tool_takes_the_language(tmp_path, model):
    with Library.open(tmp_path / "stories") as library:
        start, *_ = as_tools(library, model=model, embeddings=HashEmbeddings())
        first = start.invoke({"premise": PLAIN, "language": "Italian"})
        assert Story.open(first["story"], library=library).settings["language"] == "Italian"
