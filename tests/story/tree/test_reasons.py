"""The reasons of a memory stay true when somebody edits it."""


def test_reasons_of_a_memory_follow_an_edit_by_hand(written):
    story = written(1)
    made, before = story.rationale, story.memory.splitlines()
    assert len(made["added"]) > 1
    gone = made["added"][0]["sentence"]
    kept = [line for line in before if line != gone]
    story.edit_memory("\n".join([*kept, "Zoltan owes Mira a horse."]))
    added = {entry["sentence"]: entry["why"] for entry in story.rationale["added"]}
    dropped = {entry["sentence"]: entry["why"] for entry in story.rationale["dropped"]}
    assert gone not in added
    assert dropped[gone] == added["Zoltan owes Mira a horse."] == "edited by hand"
    assert added[made["added"][1]["sentence"]] == made["added"][1]["why"]
