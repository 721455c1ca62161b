"""The exchange with a chat: its last message is a premise or an answer, and each passage is told with its plans."""

from __future__ import annotations

from functools import wraps

from recurrentgpt.nodes.human.answers import Answer, parse_answer
from recurrentgpt.nodes.message_stream import message_id
from recurrentgpt.nodes.routes import plan_waits
from recurrentgpt.nodes.runtime import Run, Update, Verb
from recurrentgpt.nodes.select_plan import chosen
from recurrentgpt.schema.errors import BadAnswer, StoryError
from recurrentgpt.schema.messages import Message, unanswered
from recurrentgpt.schema.state import State


def listening(verb: Verb) -> Verb:
    """Return `open_story` as one that hears a chat: what was said last begins a new story, or is the answer in an open one."""

    @wraps(verb)
    async def listen(state: State, run: Run) -> Update:
        said = unanswered(state.get("messages"))
        if not said or plan_waits(state):
            return await verb(state, run) | _no_problem(state)
        story = state.get("story", "")
        if not state.get("head") and not (story and await run.chronicle.head(story)):
            return await verb({**state, "premise": state.get("premise") or said}, run)
        update = await verb(state, run)
        try:
            answer = parse_answer(said, update["candidate_plans"])
            if answer.action == "another_take":
                retaking: State = {**state, **update, "status": "retaking", "take": state.get("take", 0) + 1}  # type: ignore[typeddict-item]
                return await verb(retaking, run) | _no_problem(state)
        except (BadAnswer, StoryError) as problem:
            plans = _numbered(update["candidate_plans"])
            again = Message(id=f"{update['head']}.again", type="ai", content=f"{problem}\n\n{plans}".strip())
            return update | {"problem": str(problem), "messages": [again]}
        return update | _follow(answer, state) | _no_problem(state)

    return listen


def telling(verb: Verb) -> Verb:
    """Return `commit` as one that also says what it committed: the plan if a human chose it, the passage, and the new plans."""

    @wraps(verb)
    async def tell(state: State, run: Run) -> Update:
        update = await verb(state, run)
        passage = state.get("passage", "")
        if not passage:
            return update
        said: list[Message] = []
        choice = state.get("choice")
        answered = choice is not None and choice.get("by") == "human" and plan_waits(state)
        if answered and not unanswered(state.get("messages")):
            said.append(Message(id=f"{message_id(state)}.plan", type="human", content=state["plan"]))
        asks = run.context.selector == "human" and not state.get("autopilot") and update.get("status") != "finished"
        plans = _numbered(state["candidate_plans"]) if asks else ""
        said.append(Message(id=message_id(state), type="ai", content=f"{passage}\n\n{plans}".strip()))
        return update | {"messages": said}

    return tell


def _numbered(plans: list[str]) -> str:
    return "\n".join(f"{number}. {plan}" for number, plan in enumerate(plans, 1))


def _follow(answer: Answer, state: State) -> Update:
    """Return where an answer leads, for the routes out of `open_story`."""
    match answer.action:
        case "choose" | "edit" | "write":
            return chosen(answer)
        case "new_plans":
            return {"status": "replanning", "take": state.get("take", 0) + 1}
        case "simulator":
            return {"autopilot": answer.passages or -1}
        case "end":
            return {"status": "finished"}
    return {}


def _no_problem(state: State) -> Update:
    return {"problem": ""} if state.get("problem") else {}
