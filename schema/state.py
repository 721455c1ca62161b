"""The state of a story between two super-steps: bounded, and plain JSON.

It holds the current timestep and nothing that grows. What grows is the story log (`recurrentgpt.memory.story_log`),
of which the state carries only `head`. In the terms of the paper (arXiv 2305.13304, section 2): `passage` is the output o,
`plan` the input x, `short_term_memory` the hidden state h, and the log behind `head` the cell state c.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from pydantic import Field
from typing_extensions import TypedDict

from recurrentgpt.schema.codex import Change, Contradiction, Told
from recurrentgpt.schema.errors import StateError
from recurrentgpt.schema.messages import latest_exchange
from recurrentgpt.schema.outline import TurnStatus
from recurrentgpt.schema.parts import BY_HAND as BY_HAND
from recurrentgpt.schema.parts import KEPT_PLAN as KEPT_PLAN
from recurrentgpt.schema.parts import Added as Added
from recurrentgpt.schema.parts import Brief as Brief
from recurrentgpt.schema.parts import Choice as Choice
from recurrentgpt.schema.parts import Dropped as Dropped
from recurrentgpt.schema.parts import Rationale as Rationale
from recurrentgpt.schema.parts import Recalled as Recalled
from recurrentgpt.schema.parts import Status as Status
from recurrentgpt.schema.parts import Usage as Usage

MEMORY_SENTENCES = 20
"""Most sentences of a short-term memory."""

MEMORY_WORDS = 500
"""Most words of a short-term memory."""


def dearer(old: int | None, new: int) -> int:
    """Return the larger of what a step needed before and now; 0 begins anew. A reducer. Raises StateError for no number."""
    if not isinstance(new, int):
        raise StateError(
            "The state's `dearest` cannot be used: it is the tokens of a step's greatest prompt, a whole number."
        )
    return max(old or 0, new) if new else 0


def merge_usage(old: dict[str, Usage] | None, new: dict[str, Usage | None] | None) -> dict[str, Usage]:
    """Merge the usage of nodes by name; None clears a node's entry.

    A reducer, because `update_memory` and `propose_plans` may report in the same super-step.
    """
    if not isinstance(new or {}, dict):
        raise StateError("The state's `usage` cannot be used: it is an object with a part for each node.")
    merged: dict[str, Usage | None] = {**(old or {}), **(new or {})}
    return {name: usage for name, usage in merged.items() if usage is not None}


def _described(description: str, default: str | list[Any] = "") -> Any:
    """Say in a form what a field is; left empty, it counts as not given."""
    return Field(description=description, json_schema_extra={"default": default})


def _about(description: str) -> Any:
    """Say in a form what a field is."""
    return Field(description=description)


class StoryInput(TypedDict):
    """What starts or reopens a story; every key may be left out."""

    genre: NotRequired[Annotated[str, _described("For example `science fiction`.")]]
    premise: NotRequired[Annotated[str, _described("What the story is about, in a few sentences.")]]
    player: NotRequired[
        Annotated[
            str,
            _described(
                "In fiction, who the reader is, for example `a reluctant astronaut`; left out, the reader is asked."
            ),
        ]
    ]
    title: NotRequired[Annotated[str, _described("The title; left empty, the story is given one.")]]
    short_term_memory: NotRequired[
        Annotated[str, _described("To continue your own story: what has happened so far, one sentence a line.")]
    ]
    plan: NotRequired[Annotated[str, _described("What the first passage shall do.")]]
    story: NotRequired[
        Annotated[
            str,
            _described(
                "The id of a story in the log, or with a premise one of your own for a new story; made up when it is absent."
            ),
        ]
    ]
    head: NotRequired[Annotated[str, _described("The commit to reopen that story at; its newest one when absent.")]]
    messages: NotRequired[
        Annotated[list[AnyMessage], _described("From a chat: the last one is the premise, or an answer.", [])]
    ]


# What a run returns is described as it is in the state.
_Story = Annotated[str, _about("Id of the story in the log.")]
_Title = Annotated[str, _about("The story's title.")]
_Head = Annotated[str, _about("Id of the newest commit on this branch; empty before the first.")]
_Step = Annotated[int, _about("Number of passages up to and with `passage`.")]
_Passage = Annotated[str, _about("The newest passage.")]
_Plan = Annotated[
    str, _about("The plan of the timestep. Nodes pass it on, so that one in a run's input is never an old one.")
]
_Begun = Annotated[str, _about("Whole sentences of a passage whose writing was stopped; `write` goes on from them.")]
_Memory = Annotated[str, _about("One sentence a line; at most 20 sentences and 500 words.")]
_Plans = Annotated[list[str], _about("The plans to choose from after `passage`.")]
_Before = Annotated[
    dict[str, Any],
    _about(
        "What stood in the fields that a run's input names before it came; None for nothing. Only its first node is told."
    ),
]
_Waiting = Annotated[Status, _about("What the story waits for.")]
_Problem = Annotated[str, _about("Why the last message or plan could not be used as an answer; empty where it could.")]
_EXCHANGE = _about("What was said last: the human's answer, and the passage with its plans.")


class StoryOutput(TypedDict):
    """What a run returns."""

    story: _Story
    title: _Title
    head: _Head
    step: _Step
    passage: _Passage
    plan: _Plan
    short_term_memory: _Memory
    candidate_plans: _Plans
    status: _Waiting
    messages: Annotated[list[AnyMessage], _EXCHANGE]
    problem: _Problem


class State(TypedDict, total=False):
    """The whole of one timestep."""

    story: _Story
    title: _Title
    genre: Annotated[str, _about("Its genre, as it was begun.")]
    premise: Annotated[str, _about("What it is about, as it was begun.")]
    language: Annotated[str, _about("Its language, wherever a run's settings name none.")]
    player: Annotated[
        str, _about("Who the reader of a story to play wished to be; empty to be asked, and once the story has begun.")
    ]
    brief: Annotated[Brief, _about("What is pinned in every prompt: premise, characters, outline.")]
    head: _Head
    overlay: Annotated[str, _about("Id of the corrections in force (brief, earlier summaries); empty for none.")]
    step: _Step
    until: Annotated[int, _about("Step after which this run ends; 0 for no end.")]
    plan: Annotated[str, EphemeralValue(_Plan, guard=False)]
    begun: Annotated[str, EphemeralValue(_Begun, guard=False)]
    before: Annotated[dict[str, Any], EphemeralValue(_Before, guard=False)]
    next_plan: Annotated[
        str,
        _about('The plan that a choice has set and no passage is written from yet; "" for none. `write` clears it.'),
    ]
    plan_author: Annotated[
        str,
        _about("`model`, `simulator` or `human`; `kept` where `passage` was not written from `plan` (see KEPT_PLAN)."),
    ]
    written_plan: Annotated[str, _about("The plan that `passage` was written from.")]
    recalled: Annotated[list[Recalled], _about("Earlier passages that were recalled for this timestep.")]
    entries: Annotated[list[Told], _about("What the writer of `passage` was told of people and things.")]
    codex: Annotated[list[Change], _about("What `passage` changed in the codex.")]
    contradictions: Annotated[
        list[Contradiction], _about("What in `passage` contradicts the codex as it was before it.")
    ]
    sent: Annotated[
        str, _about('Which templates asked for `passage`, and a digest of the prompt; "" where no model was asked.')
    ]
    previous_passage: Annotated[str, _about("The passage before `passage`.")]
    passage: _Passage
    author: Annotated[str, _about("Who wrote `passage`: `model`, `human` or `edited`.")]
    summary: Annotated[str, _about("What the long-term memory holds of `passage`, in a sentence.")]
    short_term_memory: _Memory
    previous_memory: Annotated[str, _about("The short-term memory that `passage` was written from.")]
    turns: Annotated[
        list[TurnStatus],
        _about("Where the turns of the outline stand after `passage`, in order; empty while nobody keeps count."),
    ]
    previous_turns: Annotated[list[TurnStatus], _about("Where they stood when `passage` was written.")]
    clues: Annotated[
        list[TurnStatus],
        _about("Which clues a reader has been given up to and with `passage`; empty while nobody keeps count."),
    ]
    previous_clues: Annotated[list[TurnStatus], _about("The same for when `passage` was written.")]
    unreached: Annotated[str, _about("What of its plan `passage` did not reach, in a sentence; empty for nothing.")]
    previous_unreached: Annotated[str, _about("The same of the passage before `passage`.")]
    memory_is_behind: Annotated[
        bool,
        _about("Whether the memory lacks `passage`: after what was to be the last passage nothing is written from it."),
    ]
    rationale: Annotated[Rationale, _about("What this timestep dropped from the memory and added to it, with reasons.")]
    candidate_plans: _Plans
    choice: Annotated[Choice, _about("How the plan of this timestep was chosen.")]
    take: Annotated[
        int, _about("How many times this timestep was asked for another take or new plans: it varies the seeds.")
    ]
    selector: Annotated[
        str,
        _about("Who chooses, `human` or `simulator`, as the last run said: an update of the state goes by it."),
    ]
    autopilot: Annotated[
        int, _about("Passages that the simulator still pilots after a human handed over; -1 for all that are left.")
    ]
    usage: Annotated[dict[str, Usage], _about("What the nodes of this timestep have cost so far."), merge_usage]
    spent: Annotated[int, _about("Tokens that this run has used up to its last commit.")]
    dearest: Annotated[
        int,
        _about("Tokens that a timestep of this run may need, as far as the dearest one shows; 0 begins anew."),
        dearer,
    ]
    status: _Waiting
    messages: Annotated[
        list[AnyMessage],
        _EXCHANGE,
        latest_exchange,
    ]
    problem: _Problem
    digests: Annotated[
        dict[str, str],
        _about(
            "Digests of what a step in flight must keep as its nodes have made it, by field; empty between two steps."
        ),
    ]
