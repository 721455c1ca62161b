"""doc: a detailed outline, and each of its leaves drafted in several short passages, without DOC's trained controller."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START

from recurrentgpt.nodes.runtime import Update
from recurrentgpt.prose.sentences import count_words
from recurrentgpt.studies.baselines.baseline_state import baseline_graph, is_unfinished
from recurrentgpt.studies.baselines.doc_outline import Leaf, collapsed, divide, entering, movement, outline, people_at
from recurrentgpt.studies.baselines.drafts import PassageGoal, drafts, score_drafts
from recurrentgpt.studies.baselines.planning import PlannedState, append_and_keep_tail, characters, setting, summarise
from recurrentgpt.studies.baselines.runtime import PROMPTS, StudyRun, study_node
from recurrentgpt.studies.baselines.strip_markup import strip_markup
from recurrentgpt.studies.baselines.system import Builder, Cost, System, linear_cost
from recurrentgpt.studies.baselines.write_prose import system_turns
from recurrentgpt.studies.study_context import Pace, pace

CANDIDATES = 8
"""As published."""
PER_LEAF = 8
PASSAGE_WORDS = (48, 160)
"""64 tokens, and the longest passage that takes their place where a leaf has many words to fill."""
ENOUGH = 0.5
"""Share of a leaf's words below which it is not ended: the length of the novel would suffer."""


class DocState(PlannedState, total=False):
    """The state of doc."""

    leaves: list[Leaf]
    leaf: int
    in_leaf: int
    """Passages of this leaf so far."""
    leaf_words: int
    leaf_text: str
    """What this leaf has told so far."""
    leaf_best: float | None
    """Best score of this leaf so far."""
    kept: bool
    """Whether the chosen draft is taken; else it ends the leaf."""


def doc() -> Builder:
    """Return the graph of doc."""
    return (
        baseline_graph(DocState)
        .add_sequence([study_node(verb) for verb in (setting, characters, outline, divide, summarise, draft, choose)])
        .add_node("keep", study_node(keep))
        .add_node("next_leaf", study_node(next_leaf))
        .add_edge(START, "setting")
        .add_conditional_edges("choose", lambda state: "keep" if state["kept"] else "next_leaf", ["keep", "next_leaf"])
        .add_conditional_edges("keep", lambda state: "summarise" if is_unfinished(state) else END, ["summarise", END])
        .add_edge("next_leaf", "draft")
    )


async def draft(state: Any, run: StudyRun) -> Update:
    """Draft the next short passage of the leaf several times from one prompt."""
    leaves, at, now = state["leaves"], state["leaf"], _pace(state, run)
    leaf = leaves[at]
    main = state["outline"]
    turns = system_turns(
        run,
        "doc",
        "draft",
        genre=state["genre"],
        premise=state["premise"],
        ancestors=[main[leaf["parent"]], *([leaf["part"]] if "part" in leaf else [])],
        people=people_at(state["characters"], leaves, at),
        collapsed=collapsed(main, leaves, at),
        summary=state["summary"],
        previous=leaves[at - 1]["event"] if at else "",
        current=leaf["event"],
        next=leaves[at + 1]["event"] if at + 1 < len(leaves) else "",
        setting=leaf["setting"],
        move="" if state["in_leaf"] else movement(leaves, at),
        tail=state["tail"],
        words=now.aim,
        finale=now.finale,
    )
    count = run.settings.candidates or CANDIDATES
    found = await drafts(state, run, turns, count, now, ("draft", at, state["in_leaf"]))
    return {"plan": leaf["event"], "drafts": found}


async def choose(state: Any, run: StudyRun) -> Update:
    """Take the best draft, unless its score falls below the leaf's best so far: then the leaf has been told."""
    leaves, at, found = state["leaves"], state["leaf"], state["drafts"]
    first, published = not state["in_leaf"], run.settings.published
    graded_too = first or published
    goal = PassageGoal(
        leaves[at]["event"],
        state["tail"],
        movement(leaves, at) if graded_too else "",
        entering(leaves, at) if graded_too else [],
        state["leaf_text"] if published else "",
    )
    graded = await score_drafts(state, run, goal, found, f"choose {at} {state['in_leaf']}")
    best = max(range(len(found)), key=lambda number: graded[number])
    # Graded alone, only a first draft has grades for a move or an entrance: later ones are measured against the rest of it.
    ceiling = state.get("leaf_best")
    falls = ceiling is not None and graded[best] < ceiling
    kept = not (falls and _may_end(state, run))
    share = graded[best] if published or not first else min(graded[best], 2.0)
    higher = share if ceiling is None else max(ceiling, share)
    return {
        "passage": strip_markup(found[best], run.context.language),
        "best": round(graded[best], 4),
        "leaf_best": round(higher, 4),
        "kept": kept,
    }


async def keep(state: Any, run: StudyRun) -> Update:
    """Append the passage, and go on to the next leaf when this one has its words or its most passages."""
    last, words = _is_last(state), count_words(state["passage"])
    here = {
        "in_leaf": state["in_leaf"] + 1,
        "leaf_words": state["leaf_words"] + words,
        "leaf_text": f"{state['leaf_text']}\n\n{state['passage']}".strip(),
    }
    ending = last and (_pace(state, run).finale == "last" or here["in_leaf"] >= PER_LEAF)
    full = here["in_leaf"] >= PER_LEAF or here["leaf_words"] >= _share(state, run)
    update = await append_and_keep_tail(state, run, ending=ending)
    return {**update, **here, **(_moved(state) if full and not last else {})}


async def next_leaf(state: Any, run: StudyRun) -> Update:
    """Leave the draft behind and go on to the next leaf."""
    return _moved(state)


def _moved(state: Any) -> dict[str, Any]:
    return {"leaf": state["leaf"] + 1, "in_leaf": 0, "leaf_words": 0, "leaf_text": "", "leaf_best": None, "drafts": []}


def _is_last(state: Any) -> bool:
    return bool(state["leaf"] == len(state["leaves"]) - 1)


def _may_end(state: Any, run: StudyRun) -> bool:
    """Tell whether a leaf may be left before it has its words; the last has to fill the novel."""
    return not _is_last(state) and state["leaf_words"] >= ENOUGH * _share(state, run)


def _share(state: Any, run: StudyRun) -> float:
    """Return the words of this leaf: what the novel had left when it began, divided among the leaves left."""
    left = float(run.settings.target_words - (state["words"] - state["leaf_words"]))
    return max(1.0, left / int(len(state["leaves"]) - state["leaf"]))


def _pace(state: Any, run: StudyRun) -> Pace:
    """Return the pace of the next passage: a part of its leaf's words, within the bounds of a short passage."""
    share = _share(state, run)
    if _is_last(state):
        return pace(state["words"], run.settings.target_words, passage=_size(share, run), bounds=(30, 200))
    left = share - state["leaf_words"]
    aim = min(_size(share, run), max(PASSAGE_WORDS[0], left))
    return Pace(round(0.7 * aim), round(1.2 * aim), 9)


def _size(share: float, run: StudyRun) -> int:
    """Return the words of a passage: a third of its leaf; as published 64 tokens, unless eight of them do not fill it."""
    passages = PER_LEAF if run.settings.published else 3
    return round(min(PASSAGE_WORDS[1], max(PASSAGE_WORDS[0], share / passages)))


SYSTEM = System(
    name="doc",
    description="detailed outline control, without its controller (DOC)",
    build=doc,
    cost=linear_cost(Cost(95, 57000, 15500), fixed=Cost(60, 30000, 10000)),
    published_cost=linear_cost(Cost(250, 164000, 20000)),
    prompts=PROMPTS / "doc",
    drafts=CANDIDATES,
    paced=False,
    watched=True,
)
