"""Which promises and questions a writer is told of, where the plan does not say them in their own words."""

import pytest

from recurrentgpt.memory.codex import changed, tell, touched
from recurrentgpt.schema.codex import Change, Codex

BOOK = "Father Benedict will show Ada the parish book on Sunday"
DROWNED = "Who drowned Ada's brother?"
ISLAND = "The ferryman will row Ada to the island"
BACK = "Silas Thorne will come back"


def said(entry, aspect, value, kind="person"):
    return Change(entry=entry, kind=kind, do="set", aspect=aspect, value=value)


CODEX = changed(
    Codex(),
    [
        said("Ada Finch", "role", "the teacher"),
        said("Father Benedict", "role", "the priest"),
        said("Old Marrow", "role", "the ferryman"),
        said("Silas Thorne", "role", "the owner"),
        said(BOOK, "status", "open", "promise"),
        said(DROWNED, "status", "open", "question"),
        said(ISLAND, "status", "open", "promise"),
        said(BACK, "status", "open", "promise"),
        said("Silas Thorne will mend the parish roof", "status", "kept", "promise"),
    ],
    "p1",
    1,
)


def told(plan, passage="", codex=CODEX, **how):
    return [entry.name for entry in touched(codex, plan, passage, **how) if entry.kind in ("promise", "question")]


@pytest.mark.parametrize(
    ("plan", "passage", "first"),
    [
        ("Father Benedict shows Ada Finch the parish book.", "", BOOK),
        ("On Sunday Ada Finch goes to Father Benedict for the parish book he promised.", "", BOOK),
        ("She asks him for the book.", "Ada Finch knocked. Father Benedict opened the vestry.", BOOK),
        ("They talk.", "“The parish book is here,” said Father Benedict. Ada Finch sat down.", BOOK),
        ("Father Benedict is asked about his promise.", "", BOOK),
        ("Ada Finch wonders who drowned her brother.", "", DROWNED),
        ("Old Marrow rows her over.", "", ISLAND),
        ("Silas Thorne comes back.", "", BACK),
    ],
)
def test_what_is_open_is_told_where_a_plan_or_the_last_passage_bears_on_it(plan, passage, first):
    found = told(plan, passage)
    assert found[:1] == [first]
    assert len(found) <= 3
    assert told(plan, passage, fewest=0) == []


@pytest.mark.parametrize(
    ("plan", "passage"),
    [
        ("Ada Finch walks home and cooks soup for Father Benedict, who tells her what he knows.", ""),
        ("Old Marrow and Silas Thorne take the cart to the mill before dark.", "Ada Finch will never know, he said."),
        ("A stranger shows the parish book to the drowned man's brother.", ""),
        ("Silas Thorne mends the parish roof.", ""),
        ("The rain goes on.", "On Sunday Ada Finch walked to the weir and read a letter to Father Benedict."),
    ],
)
def test_no_innocent_plan_drags_in_what_is_open(plan, passage):
    assert told(plan, passage) == []


def test_of_many_promises_of_the_same_people_the_likeliest_are_told_and_no_others_but_what_is_named():
    many = [said(f"Father Benedict will lend Ada the {what} book", "status", "open", "promise") for what in WHAT]
    codex = changed(CODEX, many, "p2", 2)
    plan = "Ada Finch asks Father Benedict for the hymn book."
    assert told(plan, codex=codex)[0] == "Father Benedict will lend Ada the hymn book"
    assert len(told(plan, codex=codex)) == 3
    rows = tell(touched(codex, plan, ""), words=30)
    assert sum(len(line.split()) for row in rows for line in row["lines"]) <= 30


WHAT = ["hymn", "prayer", "cookery", "spelling", "drawing", "copy"]


def test_a_promise_is_found_by_what_is_said_of_it_too():
    about = Change(entry="the word of the priest", kind="promise", do="set", aspect="fact", text=f"{BOOK}.")
    codex = changed(changed(Codex(), [said("Ada Finch", "role", "the teacher")], "p1", 1), [about], "p2", 2)
    assert told("Ada Finch asks for the book.", codex=codex) == ["the word of the priest"]
