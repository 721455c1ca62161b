"""Judges that follow a script, and novels that they can tell apart: what the tests of judging share."""

import itertools
import json
import re

from recurrentgpt.models.meter import total_usage
from recurrentgpt.studies.runs.folder import RunFolder
from recurrentgpt.studies.runs.runner import novel_record
from recurrentgpt.testing import ScriptedChatModel

STORY = "\n\n".join(
    f"Mira lit lamp {number}. Then Tobias counted lamp {number}. Later Mira wrote {number} down."
    for number in range(1, 31)
)


def novel(job, text=STORY):
    made = novel_record(job, {"usage": total_usage([]), "passages": []})
    return {**made, "words": 500, "models": ["scripted"], "outdated": 0, "text": text}


def judged_run(path, plan, *judges, family=""):
    """Return a run whose novels are there, with these judges in its plan; rolling's stories say so."""
    plan = plan.model_copy(update={"judges": list(judges), "family": family})
    folder = RunFolder.create(path, plan)
    for job in plan.jobs():
        text = STORY if job.system == "recurrentgpt" else STORY.replace("lit", "rolled")
        folder.save_novel(job, novel(job, text))
    return folder


def stories(messages):
    asked = str(messages[0].text)
    return [asked.partition(f"STORY {side}\n")[2].partition("\n===")[0] for side in "AB"]


def answer(messages, side):
    """Answer with a line of each story, quoted as people do."""
    a, b = (" ".join(text.split()[:8]) for text in stories(messages))
    return json.dumps({"quotes_a": [a], "quotes_b": [f"... {b.upper()}!"], "verdict": side})


def faults(text):
    numbers = [int(number) for number in re.findall(r"lamp (\d+)", text)]
    swapped = len(re.findall(r"Tobias (?:lit|rolled|wrote)|Mira counted", text))
    return sum(second < first for first, second in itertools.pairwise(numbers)) + swapped


def reader(messages):
    """Read properly: fewer faults win, else who lights lamps."""
    a, b = stories(messages)
    if faults(a) != faults(b):
        return answer(messages, "A" if faults(a) < faults(b) else "B")
    return answer(messages, "A" if "lit" in a and "lit" not in b else "B" if "lit" in b and "lit" not in a else "tie")


MODELS = {
    "reader": ScriptedChatModel(replies=reader),
    "blind": ScriptedChatModel(replies=lambda messages: answer(messages, "A")),
    "mad": ScriptedChatModel(replies=lambda messages: "I like both, thank you."),
}
