"""Scenes and stories of the tests, in the form of the training data."""

from __future__ import annotations

from typing import Any

from training.data import ChosenPlan, Premise, Scene, Turn

PASSAGE = """Nora Teague opened the desk with her key. The tide book lay where she had put it, and she turned to Sunday. There was
no Sunday. Somebody had cut the page out with a knife, close to the thread.

"Simon," she said, "where is your key?"

Simon Rudd stood at the window and looked at the boats. "I lost it," he said. "It fell in the water."

"When did you lose it?"

"On Friday. I leaned over the rail, and it slid out of my pocket."

She looked at his coat. It had no pocket on that side. Rain ran down the glass, and a boat came in with its lamp still
burning. The man at the oars waved to somebody, but there was nobody on the quay.

"You should have told me," she said. "I would have changed the lock."

"I was ashamed."

"You are never ashamed, Simon. I have known you for nine years." She ran her thumb along the place where the page had
been. A thread of red wax was stuck to the edge, and she put it into an envelope and wrote the hour on it.

Simon turned round. "What is that?"

"It is wax. Nobody in this office seals with red." She locked the desk again, and this time she hung the key round her
neck. "I will ask in the town who does. You can come with me, or you can stay here and look for your key."

He took his hat from the nail. He put it on, and he took it off again, and he did not come to the door. "It is
raining," he said."""


def scene(**changes: Any) -> Scene:
    """Return a sound first scene, with `changes`."""
    whole: dict[str, Any] = {
        "story": "tide",
        "step": 1,
        "title": "The Tide Book",
        "genre": "mystery",
        "premise": "Nora Teague keeps the tide book of a harbour. Somebody has cut a page out of it.",
        "characters": ["Nora Teague: keeper of the tide book", "Simon Rudd: a clerk, who wants to leave"],
        "outline": ["Nora Teague finds the page gone.", "Nora asks in the town.", "Simon Rudd gives her the page."],
        "memory": ["Nora Teague keeps the tide book in a desk.", "Simon Rudd has the second key."],
        "plan": "Nora Teague opens the desk and finds that Sunday's page has been cut out. She asks Simon Rudd for his key, and "
        "he says that he lost it in the water.",
        "passage": PASSAGE.replace("\n\n", "<p>").replace("\n", " ").replace("<p>", "\n\n"),
        "summary": "Nora Teague finds Sunday's page cut out of the tide book, and Simon Rudd says that he lost his key.",
        "facts": [
            "Sunday's page has been cut out of the tide book.",
            "Simon Rudd says that he lost his key in the water.",
        ],
        "moves": ["clue", "arrival"],
        "plans": [
            "Nora Teague carries the red wax to the notary, who knows the seal. It belongs to a man who is dead.",
            "A boat comes in with nobody at the oars. Simon Rudd runs down to it before Nora can see what lies in it.",
        ],
        "choice": ChosenPlan(
            index=1,
            why="The wax is all that she has.",
            plan="Nora Teague carries the red wax to the notary in the rain.",
        ),
    }
    return Scene.model_validate(whole | changes)


def premise(story: str = "tide", turns: int = 3, **changes: Any) -> Premise:
    """Return a story laid out in `turns` turns, with `changes`."""
    whole: dict[str, Any] = {
        "story": story,
        "mode": "novel",
        "genre": "mystery",
        "title": "The Tide Book",
        "premise": "Nora Teague keeps the tide book of a harbour. Somebody has cut a page out of it.",
        "characters": ["Nora Teague: keeper of the tide book", "Simon Rudd: a clerk, who wants to leave"],
        "start": ["Nora Teague keeps the tide book in a desk."],
        "turns": [
            Turn(
                plan=f"Nora Teague opens drawer {number} of the desk with her key. Simon Rudd watches her from the door.",
                facts=[f"Drawer {number} of the desk is open."],
            )
            for number in range(1, turns + 1)
        ],
    }
    return Premise.model_validate(whole | changes)
