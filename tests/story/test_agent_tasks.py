"""What another agent asks for: the plan that was chosen, whatever stands around it, and nothing written where it only reads."""

import pytest
from langchain_core.messages import HumanMessage

from recurrentgpt import Library
from recurrentgpt.agent_tasks import asked_answer, begins_another, premise_of
from recurrentgpt.agents import as_agent
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.nodes.human.answers import parse_answer
from recurrentgpt.schema.errors import BadAnswer
from recurrentgpt.testing import ScriptedChatModel

ID = "0123456789ab"
PLANS = [
    "Mira follows the keeper to the tower.",
    "Oswin burns the ledger in the kettle.",
    "The harbour bell rings under water.",
]


def answered(task):
    return parse_answer(asked_answer(task.format(ID), PLANS), PLANS)


@pytest.mark.parametrize(
    "task",
    [
        "User selected plan 2 for story {}. Please write the next passage.",
        "**Story ID:** {}\n**Plan:** 2",
        "story: {}\n- plan: 2",
        "Continue the story with ID {} from where it left off. Choose plan 2 and write the next passage. Return its text.",
        'Continue story {} using plan "Oswin burns the ledger in the kettle."',
        "The reader's choice is 2. Continue story {}.",
        "Next passage of {} please, plan 2.",
        "Make it plan 2 for story {}",
        "In story {} select proposed plan 2 and write.",
        "Continue story #{} w/ plan 2",
        "Task: continue story {}\nPlan to use: 2\nReturn: full passage + plans",
        "## Task\nContinue story {}\n## Choice\n2",
        "User choice: plan 2\nStory id: {}\nPlease write the next passage.",
        "The player has decided on plan 2 for story {}.",
        "The user's selection: 2. Story: {}.",
        'The human replied "2" for story {}.',
        "Hi! Could you continue story {} with plan 2, please? Thanks!",
        "Continue story {} with the second proposed plan.",
        "Continue the existing story (story id {}) using the user's chosen plan: 2",
        "Continue story {}: the user has chosen plan number two.",
        "Using plan 2, please write the next passage of story {} and list the new plans at the end.",
        "continue with plan 2",
    ],
)
def test_the_chosen_plan_is_found_whatever_stands_around_it(task):
    answer = answered(task)
    assert (answer.action, answer.index) == ("choose", 1)


@pytest.mark.parametrize(
    ("task", "plan"),
    [
        ("Continue story {} with plan 2 and make sure Mira survives.", f"{PLANS[1]} Make sure Mira survives."),
        ("Continue story {} with plan 2, but make it darker.", f"{PLANS[1]} Make it darker."),
        ("Plan 2 for story {}. Mira must survive. Return the passage.", f"{PLANS[1]} Mira must survive."),
    ],
)
def test_wishes_beside_a_plan_are_written_into_it(task, plan):
    answer = answered(task)
    assert (answer.action, answer.index, answer.plan) == ("edit", 1, plan)


@pytest.mark.parametrize(
    ("task", "plan"),
    [
        ("Story id {}, next: Oswin burns a letter.", "Oswin burns a letter."),
        ("Story {}: They pay 2 coins.", "They pay 2 coins."),
        ('Continue story {} with this plan: "Mira leaves the island."', "Mira leaves the island."),
        ("Story {}: Plan B fails.", "Plan B fails."),
        ("Next passage for story {}: the second bell rings.", "the second bell rings."),
        ("Retrieve the ring.", "Retrieve the ring."),
        ("Get the ledger back.", "Get the ledger back."),
        ("A new story is told at the inn.", "A new story is told at the inn."),
        ("Tell a story to the children.", "Tell a story to the children."),
        ("Another story reaches the inn.", "Another story reaches the inn."),
        ('Continue story {}: "Who are you?" Mira asks.', '"Who are you?" Mira asks.'),
        ("He reads the last letter.", "He reads the last letter."),
        ("Mira begins a story about the sea.", "Mira begins a story about the sea."),
        ("Explain nothing, and leave.", "Explain nothing, and leave."),
        ("The second plan and the money are gone.", "The second plan and the money are gone."),
    ],
)
def test_what_happens_stays_a_plan(task, plan):
    answer = answered(task)
    assert (answer.action, answer.plan) == ("write", plan)
    assert not begins_another(task.format(ID))


NOTHING_TO_WRITE = [
    "Get the current status of story {}",
    "Retrieve story {} and return its last passage verbatim.",
    "Can you tell me who Mira is?",
    "Is this the end?",
    "Please translate the last passage to French",
    "I liked that.",
    "Let's stop here.",
    "Stop here for today",
    "What is the story id?",
    "Give me a summary of story {} so far, in three sentences.",
    "Who is the keeper in story {}?",
    "List all characters that appear in story {}.",
    "Show me what has been written so far in story {}",
    "Export story {} as markdown",
    "Return the latest passage of {} to the user.",
    "Tell the user the title of story {}.",
    "Check whether story {} exists.",
    "The user wants to know who Mira is.",
    "The user would like to read the last passage again.",
    "Look up story {}.",
    "How many passages does story {} have?",
    "Is story {} finished?",
    "Review story {} and give feedback.",
    "Repeat the plans, please.",
    "Write two more passages of story {}.",
    "Continue story {} for 3 passages.",
    "End story {} with a happy ending.",
    "Continue story {} with the most dramatic plan.",
    "Setze die Geschichte {} mit Plan 2 fort.",
    "That was great!",
]


@pytest.mark.parametrize("task", NOTHING_TO_WRITE)
def test_what_only_reads_or_is_in_doubt_writes_nothing(task):
    with pytest.raises(BadAnswer):
        answered(task)


@pytest.mark.parametrize(
    "task", ["Continue story {}. Choose whichever plan you find best.", "Continue story {}, your choice."]
)
def test_a_choice_that_is_left_open_is_the_simulators(task):
    assert answered(task).action == "simulator"


ANOTHER = [
    "Write a story about a whale instead.",
    "New story: cats",
    "Another story please, about a whale",
    "Start a fresh story about whales",
    "Write me one more story, this time about whales",
    "Make a new one about whales",
    "Forget that. Write a story about whales.",
    "Start over with a story about cats.",
    "I want a new story about cats.",
    "Can we do a different story?",
    "Let's do another one, about cats.",
    "Start a brand new story: a heist on the moon.",
    "New novel, please. Genre: horror.",
    "Write me a short story about a keeper.",
]


@pytest.mark.parametrize("task", ANOTHER)
def test_another_story_is_asked_for_in_many_words(task):
    assert begins_another(task)
    assert not begins_another(f"Continue story {ID}. {task}")


async def test_an_agent_writes_what_was_chosen_and_reads_without_writing(tmp_path):
    with Library.open(tmp_path / "stories") as library:
        agent = as_agent(library=library, model=ScriptedChatModel(), embeddings=HashEmbeddings())
        begun = (await agent.ainvoke({"messages": "A lamp."}))["messages"]
        (line,) = library.stories()
        for task in (
            "Get the current status of story {}",
            "Can you tell me who Mira is?",
            "I liked that.",
            "make it longer",
        ):
            reply = (await agent.ainvoke({"messages": [*begun, HumanMessage(task.format(line.story))]}))["messages"][
                -1
            ].text
            assert f"Story {line.story}: passage 1" in reply
        assert [it.step for it in library.stories()] == [1]
        task = f"User selected plan 3 for story {line.story}. Please write the next passage."
        await agent.ainvoke({"messages": [*begun, HumanMessage(task)]})
        await agent.ainvoke({"messages": [*begun, HumanMessage("Write a story about a whale instead.")]})
        assert sorted(it.step for it in library.stories()) == [1, 2]


@pytest.mark.parametrize(
    ("task", "premise"),
    [
        (
            "You are a creative writing subagent. Task: Begin a new story.\n\nRequirements:\n- Genre: gothic horror\n- Setting: "
            "Yorkshire moors, 1893\n- Main character: Dr. Ellen Marsh\n- Write only the first passage\n\nReturn the passage, the "
            "plans, and the story id.",
            "- Genre: gothic horror\n- Setting: Yorkshire moors, 1893\n- Main character: Dr. Ellen Marsh",
        ),
        (
            "Write a story about a gondolier who ferries ghosts. Use the present tense. Report the story id and plans.",
            "Write a story about a gondolier who ferries ghosts. Use the present tense.",
        ),
        (
            "You are an AI writing assistant. **Setting:** a bakery\nPlease return the first passage verbatim, the numbered "
            "plans, and the story ID so I can continue it.",
            "**Setting:** a bakery",
        ),
        (
            "A clerk finds a door. Do not write beyond the first passage. In your reply, include the id.",
            "A clerk finds a door.",
        ),
        ("Begin a new story. Return the passage and the story id.", ""),
        (
            "Please begin a new interactive story. A clerk finds a door. Write only the first passage, then stop.",
            "A clerk finds a door.",
        ),
        (
            "A clerk finds a door.\nWrite the first passage (about 300 words).\nReturn only the prose of the passage and the "
            "story ID - nothing else.",
            "A clerk finds a door.",
        ),
        ("You are the specialized fiction-writing sub-agent. A clerk finds a door.", "A clerk finds a door."),
        ("You are a storyteller subagent. You are a helpful research subagent. You are a subagent.", ""),
        ("A clerk finds a door. Write a 250–300 word opening passage and stop there.", "A clerk finds a door."),
        ("A clerk finds a door. Write the first passage in roughly 250-300 words.", "A clerk finds a door."),
    ],
)
def test_what_a_host_tells_its_subagent_is_no_part_of_the_premise(task, premise):
    assert premise_of(task) == premise


@pytest.mark.parametrize(
    "premise",
    [
        "You are a secret agent. Return to the story of your father.",
        "You are a storyteller in a city of mirrors. Tell the story of the lamp.",
        "You are an assistant. Your employer is dead.",
        "You are an AI assistant. You wake up alone on a derelict station.",
        "You are an AI model. You are a fiction model. You are a literary agent.",
        "You are a spy and a sub-agent. Your handler is dead.",
        "You are a secret subagent. You are the last subagent. You are our only surviving subagent.",
        "Nobody returns the plans of the house. Report the plans. Show me the way out.",
        "Go past the first passage. Look up again. You open it.",
        "Her diary ends: write the first chapter. She returns the passage to its author.",
        "Dr. Marsh reports the story of the id to Prof. Vane.",
        "Return the ring, the plans and the map of the passage to the sea.",
        "Write a story about two words. Write a story about nothing else. Write a story about 1984.",
        "Write an interactive story about a whale. Begin the story at the last stop. Tell the story of nothing.",
        "Begin the story and stop the clock. Write a story about the past. Tell the story of words.",
    ],
)
def test_no_sentence_of_a_premise_is_taken_for_such_a_word(premise):
    assert premise_of(premise) == premise


@pytest.mark.parametrize("tier", ["small", "full"])
async def test_a_task_of_a_host_begins_a_story_of_its_genre_and_no_prompt_holds_what_to_report(tmp_path, tier):
    model = ScriptedChatModel(tier=tier)
    with Library.open(tmp_path / "stories") as library:
        agent = as_agent(library=library, model=model, embeddings=HashEmbeddings())
        task = (
            "You are a creative writing subagent. Task: Begin a new story.\n\n- Genre: gothic horror\n- Setting: Yorkshire "
            "moors\n- Write only the first passage\n\nReturn the passage, the plans, and the story id."
        )
        await agent.ainvoke({"messages": task})
        (line,) = library.stories()
        record = await library.find(line.story)
    assert (record["genre"], record["premise"]) == (
        "gothic horror",
        "- Genre: gothic horror - Setting: Yorkshire moors",
    )
    assert not [
        call for call in model.calls for message in call if "subagent" in message.text or "story id" in message.text
    ]
