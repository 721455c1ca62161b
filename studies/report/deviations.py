"""What a report says of where systems and protocol differ from what was published, and whom that favours."""

from __future__ import annotations

from recurrentgpt.studies.baselines.catalogue import find_system
from recurrentgpt.studies.report.document import Section, Table
from recurrentgpt.studies.runs.plan import Plan

DEVIATIONS = (
    "The paper credits ties to both sides somewhere (18 of its 48 rows sum to over 100): here a tie is half a win, "
    "and the two sides sum to 100. The protocol and the direction are compared, not the digits.",
    "The unit of every test and interval of novels is the premise, the mean of its seeds where there are several. "
    "The paper's three annotators per pair are not independent, and are not "
    "counted as if they were.",
    "recurrentgpt is this project and not the paper's system. `paper` and `bare` are there to tell one from the other; what the "
    "first system of a plan wins is not the paper's claim.",
    'Guards are not recurrence. With `guards = "own"` recurrentgpt and its ablations, but not single_call, are watched for '
    "copies of earlier passages and have eight samples for a passage, rolling four, and the others one or two tries; on the "
    "embedded model they also have a grammar of scenes, single_call one of sentences, and all of these see worked examples. "
    "Loops are cut in recurrentgpt, rolling and single_call alone. This favours them in repetition and format. `shared` keeps "
    "copies and loops out of every system but one_shot and gives rolling as many samples as recurrentgpt, and nobody grammar or "
    "examples; a passage that comes in one piece and is mostly repetition, or twice far too short, stands there whole, and one "
    "of recurrentgpt or rolling that no sample brings comes in one piece, too. `none` takes what the model says from everybody: "
    "one call a passage (more where a reply tells no story), cut at a sentence to its length, loops and copies as they are, and "
    "plans as they come; memories and plans keep their forms.",
    "The embedded model wears no adapter, unless the plan gives a system one: ours was trained for recurrentgpt's prompts, and "
    "favours recurrentgpt.",
    "A seed does not make replies alike: a server that computes several texts at once rounds otherwise each time, so that the "
    "same prompt with the same seed may be answered otherwise, and systems part at their first call. What two systems differ by "
    "holds that chance, too: where rolling_4096 and rolling_unlimited read the same words, their difference is nothing else.",
    "Headings, titles and remarks are taken out of the text of every system alike, as far as rules know them: what they miss "
    "stands in the novel and is counted with it.",
    "Automatic verdicts on what is interesting are weak evidence. The measures without a judge come first for that "
    "reason.",
)
DIFFERENCES = Table(
    ["system", "as published", "here", "which favours"],
    [
        [
            "recurrentgpt",
            "short-term memory, last paragraph, related paragraphs, instruction",
            "and an outline, a cast and a codex of facts; of a capable model also a line for every earlier passage, as long as "
            "all fit into their share of its window, the passage before the last, and what lies behind the plot with its clues",
            "recurrentgpt; its ablations show too little of a memory's worth, and nothing is said against outlines. Its prompts "
            "grow with every passage while those lines fit",
        ],
        [
            "recurrentgpt",
            "(no such measure)",
            "contradictions are found by the rules of its own continuity, whose reading of deaths also keeps the dead out of "
            "the plans that it offers and chooses (with an adapter by its own guards alone)",
            "recurrentgpt, in contradictions",
        ],
        [
            "rolling, re3, doc, single_call, one_shot",
            "the authors' prompts",
            "prompts of this project, written anew after what was published; recurrentgpt's were mended again and again for "
            "what the models of its users do with them",
            "recurrentgpt",
        ],
        [
            "paper",
            "the authors' prompt",
            "one prompt with the paper's parts, in this project's words, and mended for no model",
            "recurrentgpt",
        ],
        [
            "bare",
            "(not in the paper)",
            "recurrentgpt without all of that in any prompt of a passage: memory, last passage, recall; passage, memory and "
            "plans in calls of their own. It is opened as recurrentgpt is, and its first plans come from that opening's outline",
            "bare over paper and single_call, by its plans (below)",
        ],
        [
            "recurrentgpt, bare, no_short_term_memory, no_long_term_memory, bare_no_short_term_memory, bare_no_long_term_memory",
            "plans are what the model proposes",
            "on the embedded model each plan of recurrentgpt, bare and their ablations goes after a move that is dealt to it, "
            "whatever the guards; with its own guards plans are asked for again where two are alike and, on the embedded "
            "model, where one has happened or brings strangers. paper, single_call, rolling and re3 plan without either; doc "
            "asks again for events that its outline has",
            "recurrentgpt, bare and their ablations, in repetition",
        ],
        [
            "paper, single_call, rolling, re3, doc",
            "sampling as their authors had it",
            "one sampling for each kind of call in all systems: prose, and on the embedded model outlines and plans, notes and "
            "summaries, choices and grades, as they were chosen for recurrentgpt; re3's edits, which keep most of a passage, are "
            "sampled as notes. Where one call brings all (paper, single_call) all is sampled as prose",
            "recurrentgpt, bare and their ablations",
        ],
        ["no_short_term_memory", "no short-term memory", "codex and lines of earlier passages stay", "the ablation"],
        [
            "no_long_term_memory",
            "no related paragraphs",
            "and no codex, no lines of earlier passages, nothing before the last; the gate against copies watches what would "
            "have been recalled, as in recurrentgpt",
            "recurrentgpt: the ablation loses several things where it should lose one; bare_no_long_term_memory loses one",
        ],
        [
            "bare_no_short_term_memory, bare_no_long_term_memory",
            "no short-term memory; no related paragraphs",
            "bare without that and nothing else, to be compared with bare",
            "nobody",
        ],
        [
            "single_call",
            "(not in the paper)",
            "outline and cast as in recurrentgpt; nothing is noted in a codex",
            "recurrentgpt",
        ],
        [
            "paper",
            "related paragraphs by cosine alone, the best two",
            "by this project's recall, the best three",
            "paper",
        ],
        [
            "paper",
            "the authors' code has the simulated reader extend every paragraph to twice its length, and sees the one before it",
            "the reader chooses and revises the instruction, and leaves the paragraph as it is",
            "unknown",
        ],
        [
            "paper",
            "three opening paragraphs and a passing outline; a new character is allowed in one step of ten",
            "one opening paragraph, and no such sentence",
            "unknown",
        ],
        [
            "rolling",
            "the paper does not say how long its window was in words",
            "header and story together, in tokens of four characters: rolling_4096 forgets nothing in a novel of 3,000 words, "
            "where it is rolling_unlimited under another name; rolling_1024 reaches about two passages back, rolling_2048 about "
            "five",
            "rolling_4096",
        ],
        [
            "rolling",
            "the top-level outline of DOC",
            "four turns planned from the premise, the current one in every header",
            "nobody",
        ],
        [
            "rolling_unlimited",
            "(not in the paper)",
            "forgets nothing where its prompts fit the model's context",
            "rolling",
        ],
        [
            "re3, doc",
            "10 and 8 drafts",
            "the same, or options.NAME.candidates: the toy has 2",
            "all others, in the toy",
        ],
        [
            "re3, doc",
            "trained rerankers; of a draft on the item, and on up to 1,000 tokens before it",
            "one call in which the model that writes grades all drafts, on the last 256 tokens: log-probabilities are constant "
            "on chat endpoints",
            "all others",
        ],
        [
            "re3, doc",
            "penalties on tokens that were used, when a draft is sampled",
            "the sampling of every system here: weak ones on the embedded model, none elsewhere",
            "all others, in repetition",
        ],
        [
            "re3, doc",
            "a summary of the 512 tokens before the last, no more",
            "a running summary of everything before the last 256 tokens",
            "re3 and doc",
        ],
        [
            "re3, doc",
            "no genre anywhere",
            "outline and drafts are told the genre, as recurrentgpt, paper and rolling are with every passage; summaries, grades "
            "and edits are not",
            "re3 and doc, where a genre is judged",
        ],
        [
            "re3",
            "entailment finds contradictions and attributes; who is met is described in up to 48 tokens",
            "facts with quotes, at most six a passage",
            "all others",
        ],
        [
            "re3",
            "those not named in an item are drawn by chance, by a trained retriever",
            "the nearest by embedding",
            "unknown",
        ],
        ["doc", "a trained controller", "none, as in the paper", "all others"],
        [
            "doc",
            "three levels of outline, drafts of 64 tokens, relevance of all that the leaf has told",
            "the same with options.doc.published, as in table1; else two levels, 65 to 215 tokens, relevance of a draft alone",
            "all others, where it is not set",
        ],
        ["doc", "up to ten characters, more of them met in the outline", "three, as in re3", "all others"],
        [
            "doc",
            "what is repeated costs 1 a run of five words, first or second person 1",
            "as in re3: .3 and 10",
            "unknown",
        ],
        [
            "doc",
            "the premise stands before the first passage, then its ancestors in the outline",
            "both before every passage",
            "doc",
        ],
        [
            "doc",
            "a leaf ends when a draft grades below its best, at once",
            "once it has half its words, and the outline keeps nine events or more (eight of three levels), so that lengths "
            "match",
            "unknown",
        ],
        [
            "paper, rolling, re3, doc",
            "(no such limit)",
            "a small model's texts in forms are held to 600 characters: an outline without an end took all the tokens there "
            "are. So are the instructions of paper's reader and its plans; its paragraph and its memory are held to 2,000, and a "
            "passage of single_call to nothing: where that loops, it is asked for once more. What is held breaks off within a "
            "word (of paper's instructions in the toy 5 of 17)",
            "rolling, re3, doc over single_call; of paper unknown",
        ],
    ],
    "What differs from what was published",
)
"""Where a system is not what was published, after the papers and their authors' public code."""


def deviation_section(plan: Plan) -> Section:
    """Return where the protocol differs from the paper's, of the systems of a plan alone."""
    systems = {*plan.systems, *(system.partition("_")[0] for system in plan.systems)}
    # A persona is the simulated reader of recurrentgpt, and an ablation recurrentgpt without something.
    if any(system.recurrent and system.recalls for system in map(find_system, plan.systems)):
        systems.add("recurrentgpt")
    rows = [row for row in DIFFERENCES.rows if not systems.isdisjoint(row[0].split(", "))]
    return Section(
        "Deviations from the paper",
        [
            *DEVIATIONS,
            "System by system, after the papers and their authors' public code; the last column names whom a difference favours.",
            Table(DIFFERENCES.headings, rows, DIFFERENCES.caption),
        ],
    )
