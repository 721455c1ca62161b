"""`codex` and `context`: what is true, who said so, and what the writer was told."""

import json

import pytest

LORE = {"entries": {"0": {"key": ["Harrow"], "content": "Harrow is a town on the coast.", "comment": ""}}}


def test_the_codex_is_listed_corrected_and_taken_back(cli, story, tmp_path):
    listed = json.loads(cli("codex", story, "--json").out)
    assert listed["entries"]
    added = cli(
        "codex", story, "The Ferryman", "--add", "person", "--fact", "The Ferryman takes no coin.", "--key", "river"
    )
    assert added.code == 0, added.err
    assert "The Ferryman (person)" in added.out
    assert "the author, or the brief" in added.out
    dead = cli("codex", story, "the ferryman", "--set", "status=dead", "--set", "place=under the bridge")
    assert "status: The Ferryman is dead." in dead.out
    assert "set place: under the bridge (the author)" in dead.out
    (entry,) = json.loads(cli("codex", story, "The Ferryman", "--at", "2", "--json").out)["entries"]
    assert [(line["aspect"], line["value"]) for line in entry["lines"]][1:] == [
        ("status", "dead"),
        ("place", "under the bridge"),
    ]
    assert cli("undo", story, "2").code == 0
    assert "is dead" not in cli("codex", story, "The Ferryman").out
    assert "(pinned)" in cli("codex", story, "The Ferryman", "--pin").out + cli("codex", story).out
    cli("codex", story, "The Ferryman", "--hide")
    assert "takes no coin" not in cli("codex", story).out
    assert "takes no coin" in cli("codex", story, "--all").out
    (tmp_path / "lore.json").write_text(json.dumps(LORE))
    assert "Harrow" in cli("codex", story, "--import", str(tmp_path / "lore.json")).err
    assert "which are not one" in cli("codex", story, "The Ferryman", "--merge", "Harrow").err
    assert cli("codex", story, "the boatman", "--add", "person").code == 0
    assert "Also: the boatman" in cli("codex", story, "The Ferryman", "--merge", "the boatman").out
    assert cli("codex", story, "The Ferryman", "--remove").code == 0
    assert cli("codex", story, "The Ferryman").code == 1


def test_what_somebody_has_stands_with_them(cli, story):
    cli("codex", story, "Zoltan", "--add", "person")
    cli("codex", story, "the glass eye", "--add", "thing")
    assert cli("codex", story, "the glass eye", "--set", "holder=Zoltan").code == 0
    assert "Has: the glass eye" in cli("codex", story, "Zoltan").out.splitlines()
    (row,) = (line for line in cli("codex", story).out.splitlines() if line.startswith("Zoltan"))
    assert row.rstrip().endswith("has the glass eye")
    cli("codex", story, "the glass eye", "--hide")
    assert "glass eye" not in cli("codex", story, "Zoltan").out


def test_it_is_said_that_nothing_was_noted_of_a_last_passage(cli, story):
    assert "written as the last one" not in cli("codex", story).err + cli("memory", story).err
    step = json.loads(cli("show", story, "--json").out)["passages"][-1]["step"] + 1
    assert cli("write", story, "--steps", "1", "--length", str(step)).code == 0
    for command in ("codex", "memory"):
        told = " ".join(cli(command, story).err.split())
        assert f"Passage {step} was written as the last one, and nothing was noted of it" in told
        assert "written as the last one" not in cli(command, story, "--at", str(step - 1)).err
    assert cli("write", story, "--steps", "1", "--length", str(step + 5)).code == 0
    assert "written as the last one" not in cli("codex", story).err


def test_a_row_of_the_codex_says_the_name_once_and_marks_its_lines(cli, story):
    given = ("Zoltan", "--set", "look=left-handed", "--set", "role=the sexton", "--set", "status=dead")
    cli("codex", story, "Zoltan", "--add", "person")
    assert cli("codex", story, *given).code == 0
    (row,) = (line for line in cli("codex", story).out.splitlines() if line.startswith("Zoltan"))
    assert row.split("dead", 1)[1].split() == ["Zoltan", "is", "dead.", "the", "sexton;", "left-handed"]


def test_who_is_taken_out_of_the_codex_and_stands_in_the_brief_is_pointed_out(cli, story):
    assert cli("edit", "brief", story, "--text", "# Characters\n- Edmund Harker: their uncle").code == 0
    assert cli("codex", story, "The Ferryman", "--add", "person").code == 0
    assert "The brief" not in cli("codex", story, "The Ferryman", "--remove").err
    taken = cli("codex", story, "Harker", "--remove")
    assert taken.code == 0
    assert "The brief, which is in every prompt, still tells of Edmund Harker: recurrentgpt edit brief" in taken.err


def test_what_cannot_be_is_said_in_a_sentence(cli, story):
    assert "Which entry" in cli("codex", story, "--pin").err
    assert cli("codex", story, "--meant", "1").code == 1
    assert "it has status" in cli("codex", story, json.loads(cli("codex", story, "--json").out)["entries"][0]["name"],
                                  "--set", "colour=red").err  # fmt: skip


def test_what_the_writer_was_told_is_what_was_sent(cli, server):
    begun = cli("write", "--genre", "mystery", "--steps", "2", "--json")
    story = begun.events[0]["story"]
    sent = [body["messages"] for body in server.requests if "response_format" not in body]
    parts = json.loads(cli("context", story, "--truth", "--json").out)["parts"]
    turns = [part["text"] for part in parts if part["whole"]]
    assert turns == [message["content"] for message in sent[1]]
    headings = {part["name"] for part in parts if not part["whole"]}
    assert {
        "Short-term memory, what has happened so far",
        "The previous passage",
        "The plan for the next passage",
    } <= headings
    assert sum(part["tokens"] for part in parts if part["whole"]) > 300
    assert turns[-1] in cli("context", story, "2", "--text", "--truth").out
    assert "The plan for the next" in cli("context", story, "1").out
    opening = cli("context", story, "opening")
    assert (opening.code, "name a passage, from 1 on" in opening.err) == (1, True)


def test_what_was_sent_is_shown_after_the_brief_and_the_model_changed(cli, server, monkeypatch):
    story = cli("write", "--genre", "mystery", "--steps", "2", "--json").events[0]["story"]
    sent = [
        message["content"]
        for message in [body for body in server.requests if "response_format" not in body][1]["messages"]
    ]

    def shown():
        parts = json.loads(cli("context", story, "--truth", "--json").out)["parts"]
        return [part["text"] for part in parts if part["whole"]], parts[0]

    assert cli("edit", "brief", story, "--text", "# Premise\nA submarine sinks.").code == 0
    assert "submarine" in cli("brief", story).out
    for name in ("RECURRENTGPT_MODEL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name)
    turns, first = shown()
    assert turns == sent
    assert first["name"] == "turn 1: system"
    assert cli("set", story, "style=in short sentences").code == 0
    turns, first = shown()
    assert turns != sent
    assert (first["name"], "not word for word" in first["text"]) == ("changed since", True)
    assert cli("context", story, "--text").out.startswith("[changed since]\nThe turns below are not")


def test_a_passage_that_nobody_asked_for_on_its_branch_says_so(cli, story):
    assert (
        cli("edit", "passage", story, "1", "--replay", "--yes", "--text", "Nobody had come home. It rained.").code == 0
    )
    for passage in ("1", "2"):
        said = cli("context", story, passage, "--text").out
        assert said.startswith("[changed since]\nWhat asked for this passage was not kept: it was written by hand,")


def test_what_is_kept_from_the_reader_is_in_the_context_only_where_it_is_asked_for(cli, story):
    secret, clue = "The keeper drowned her himself.", "A wet glove lies on the stairs."
    assert cli("edit", "brief", story, "--text", f"# Truth\n{secret}\n# Clues\n{clue}").code == 0
    assert cli("write", story, "--steps", "1").code == 0
    for options in ([], ["--text"], ["--json"]):
        shown = cli("context", story, *options).out
        assert secret not in shown
        assert clue not in shown
        assert "(kept from the reader)" in shown
    told = cli("context", story, "--text", "--truth").out
    assert secret in told
    assert clue in told


def test_a_line_of_the_authors_is_told_to_be_theirs(cli, story):
    assert cli("codex", story, "lantern", "--add", "thing").code == 0
    shown = cli("codex", story, "lantern", "--set", "place=in the cellar").out
    assert "place: The lantern is in the cellar.\n      the author, at passage 2" in shown
    assert "Also:" not in shown
    assert "an entry already" in cli("codex", story, "lantern", "--add", "thing").err
    assert "one entry already" in cli("codex", story, "lantern", "--merge", "the lantern").err


def test_a_look_that_an_author_sets_takes_the_place_of_all_others_until_it_is_undone(cli, story):
    def looks():
        (entry,) = json.loads(cli("codex", story, "Father Anselm", "--json").out)["entries"]
        return [line["value"] for line in entry["lines"] if line["aspect"] == "look"]

    assert cli("codex", story, "Father Anselm", "--add", "person").code == 0
    assert cli("codex", story, "Father Anselm", "--set", "look=a thin man with spectacles").code == 0
    assert cli("codex", story, "Father Anselm", "--set", "look=a fat man").code == 0
    assert looks() == ["a fat man"]
    assert cli("undo", story).code == 0
    assert looks() == ["a thin man with spectacles"]


def test_a_correction_at_an_older_passage_keeps_the_later_ones(cli, story):
    assert cli("write", story, "--steps", "2").code == 0
    assert cli("codex", story, "The Ferryman", "--add", "person").code == 0
    passages = json.loads(cli("show", story, "--json").out)["passages"]
    second = passages[1]["id"]
    done = cli("codex", story, "The Ferryman", "--set", "look=a scar", "--set", "status=absent", "--at", second)
    assert (done.code, "look: The Ferryman: a scar" in done.out, "is absent" in done.out) == (0, True, True), done.err
    after = json.loads(cli("show", story, "--json").out)["passages"]
    assert [one["text"] for one in after] == [one["text"] for one in passages]
    assert "a scar" in cli("codex", story, "The Ferryman").out
    assert "a scar" not in cli("codex", story, "The Ferryman", "--at", "1").out
    assert "go to its branch first" in cli("codex", story, "The Ferryman", "--set", "look=a hat", "--at", second).err
    assert cli("undo", story, "2").code == 0
    assert json.loads(cli("show", story, "--json").out)["head"] == passages[-1]["id"]


@pytest.mark.parametrize(
    "options",
    [
        ["--add", "person"],
        ["--alias", "the keeper"],
        ["--rename", "Harrow"],
        ["--merge", "Harrow"],
        ["--pin"],
        ["--unpin"],
        ["--hide"],
        ["--unhide"],
        ["--remove"],
        ["--import", "lore.json"],
        ["--pin", "--set", "look=a scar"],
    ],
)
def test_what_holds_for_the_whole_branch_is_said_of_no_passage(cli, story, options):
    refused = cli("codex", story, "The Ferryman", *options, "--at", "1")
    assert (refused.code, f"{options[0]} holds for the whole branch" in refused.err) == (2, True)


@pytest.mark.parametrize("option", ["--fact", "--key"])
def test_what_goes_with_add_is_refused_without_it(cli, story, option):
    refused = cli("codex", story, "The Ferryman", option, "river")
    assert (refused.code, "--fact and --key go with --add KIND" in refused.err) == (2, True)


def test_what_was_noted_of_a_hidden_entry_is_recalled_only_where_it_is_asked_for(cli, story):
    secret = "The Ferryman poisoned the duke."
    assert cli("codex", story, "The Ferryman", "--add", "person").code == 0
    assert cli("codex", story, "The Ferryman", "--set", f"fact={secret}").code == 0
    assert secret in cli("recall", story, "who poisoned the duke?").out
    assert cli("codex", story, "The Ferryman", "--hide").code == 0
    for options in ([], ["--json"]):
        assert "poisoned" not in cli("recall", story, "who poisoned the duke?", *options).out
        assert secret in cli("recall", story, "who poisoned the duke?", "--truth", *options).out
    assert cli("codex", story, "The Ferryman", "--pin").code == 0
    assert cli("write", story, "--steps", "1").code == 0
    for options in ([], ["--text"], ["--json"]):
        assert secret not in cli("context", story, *options).out
    assert secret in cli("context", story, "--text", "--truth").out


def test_no_line_of_another_entry_tells_of_what_is_hidden(cli, story):
    for name, kind, facts in (
        ("Anselm Cole", "person", ["Anselm Cole strangled the abbot."]),
        ("Hedda Cole", "person", ["Hedda Cole bakes bread.", "Hedda Cole fears Anselm."]),
        ("Did Anselm Cole strangle the abbot?", "question", ["The cook asks it."]),
        ("the cord", "thing", []),
    ):
        assert (
            cli("codex", story, name, "--add", kind, *(word for fact in facts for word in ("--fact", fact))).code == 0
        )
    unaware = "Hedda Cole does not know who rings the bell."
    for name, said in (
        ("Hedda Cole", "unaware=who rings the bell"),
        ("Hedda Cole", "fact=Hedda Cole saw Anselm Cole at the well."),
        ("the cord", "holder=Anselm Cole"),
    ):
        assert cli("codex", story, name, "--set", said).code == 0
    assert cli("codex", story, "Anselm Cole", "--hide").code == 0

    def told(*command):
        return [cli(*command, *options).out for options in ([], ["--json"])]

    for shown in (*told("codex", story), json.dumps(json.loads(cli("show", story, "--json").out)["codex"])):
        assert "bakes bread" in shown
        assert "Anselm" not in shown
        assert "the cord" not in shown
        assert "who rings the bell" in shown, "the author of a novel is told what somebody does not know"
    for shown in (*told("codex", story, "--all"), *told("codex", story, "Hedda Cole")):
        assert "fears Anselm" in shown
    secret = "Hedda Cole saw Anselm Cole at the well."
    for options in ([], ["--json"]):
        assert secret not in cli("recall", story, secret, *options).out
        assert secret in cli("recall", story, secret, "--truth", *options).out
    assert cli("codex", story, "Hedda Cole", "--pin").code == 0
    assert cli("write", story, "--steps", "1").code == 0
    assert (secret in cli("context", story, "--text").out, unaware in cli("context", story, "--text").out) == (
        False,
        True,
    )
    assert secret in cli("context", story, "--text", "--truth").out


def test_whoever_plays_is_not_told_what_their_person_does_not_know(cli, story):
    assert cli("set", story, "mode=fiction").code == 0
    unaware = "Hedda Cole does not know who rings the bell."
    assert cli("codex", story, "Hedda Cole", "--add", "person", "--fact", "Hedda Cole bakes bread.").code == 0
    assert unaware in cli("codex", story, "Hedda Cole", "--set", "unaware=who rings the bell").out
    assert cli("codex", story, "Anselm", "--add", "person").code == 0
    assert "hidden" in cli("codex", story, "Anselm", "--hide").out
    assert "hidden from whoever plays: --all shows it" in cli("codex", story, "Anselm").err
    assert cli("codex", story, "Anselm", "--all").code == 0
    for options in ([], ["Hedda"], ["Hedda", "--json"]):
        shown = cli("codex", story, *options).out
        assert ("bakes bread" in shown, "rings the bell" in shown) == (True, False)
        assert "rings the bell" in cli("codex", story, *options, "--all").out
    assert cli("codex", story, "Hedda Cole", "--pin").code == 0
    assert cli("play", story, "--auto", "1").code == 0
    assert unaware not in cli("recall", story, unaware).out
    assert unaware not in cli("context", story, "--text").out
    assert unaware in cli("context", story, "--text", "--truth").out


def test_an_entry_that_is_not_there_is_told_with_those_like_it_and_how_to_add_one(cli, story):
    missing = cli("codex", story, "Old Meg", "--set", "status=alive")
    assert missing.code == 1
    assert "no one entry 'Old Meg'" in missing.err
    assert "--add" in missing.err
    assert not [
        entry for entry in json.loads(cli("codex", story, "--json").out)["entries"] if entry["name"] in missing.err
    ]
    for name in ("iron key of the chain-house", "iron key of the cellar", "silver compass"):
        cli("codex", story, name, "--add", "thing", "--fact", "It is old.")
    assert "silver compass (thing)" in cli("codex", story, "compass").out
    cli("codex", story, "Agatha Vane", "--add", "person")
    assert "no entry 'Mrs. Vane'; did you mean Agatha Vane?" in " ".join(cli("codex", story, "Mrs. Vane").err.split())
    several = cli("codex", story, "iron key").err
    assert "iron key of the chain-house or iron key of the cellar" in " ".join(several.split())


@pytest.mark.parametrize(
    ("command", "typed"), [(("write", "--steps=1"), ""), (("write", "-i"), "1\nq\n"), (("play",), "1\n/quit\n")]
)
def test_a_contradiction_in_what_was_just_written_is_told_in_a_line(cli, server, command, typed):
    began = ("write", "--steps=1") if command[0] == "write" else ("play",)
    begun = cli(*began, "--genre", "mystery", "--title", "Yard", "--min-words", "20", stdin="1\n/quit\n")
    assert "contradict" not in begun.out + begun.err
    story = begun.err.partition("Yard  ")[2].split()[0]
    assert cli("codex", story, "Zoltan", "--add", "person").code == 0
    assert cli("codex", story, "Zoltan", "--set", "status=dead").code == 0
    usual, walks = server.answer, "Zoltan walked into the yard and laughed. "

    def answer(body):
        return usual(body) if "response_format" in body else walks + usual(body)

    server.answer = answer
    written = cli(*command, story, stdin=typed)
    assert f"contradicts the codex once: `recurrentgpt show {story}`" in " ".join(written.err.split())
    assert "It says: Zoltan walked into the yard" in cli("show", story).out


def test_which_pronouns_somebody_has_is_said(cli, story):
    assert cli("edit", "brief", story, "--text", "# Characters\n- Edmund Harker: their uncle").code == 0
    told = " ".join(cli("codex", story, "Edmund Harker").out.split())
    assert "pronouns: Edmund Harker is spoken of as he." in told


def test_the_history_tells_what_the_author_did_with_an_entry(cli, story):
    assert cli("codex", story, "Zoltan", "--add", "person", "--fact", "Zoltan sold the boat.").code == 0
    assert cli("codex", story, "the boatman", "--add", "person").code == 0
    assert cli("codex", story, "Zoltan", "--alias", "Zolly", "--merge", "the boatman", "--pin").code == 0
    assert cli("write", story, "--steps", "1").code == 0
    shown = cli("codex", story, "Zoltan", "--unpin").out.partition("History")[2]
    told = ("set fact: Zoltan sold the boat.", "also called Zolly", "made one with the boatman", "pinned")
    rows = [*((2, said) for said in told), (3, "pinned no longer")]
    assert [line.split() for line in shown.split("\n") if "(the author)" in line] == [
        f"{step} {said} (the author)".split() for step, said in rows
    ]
    assert cli("undo", story).code == 0
    assert "pinned no longer" not in cli("codex", story, "Zoltan").out
    earlier = cli("codex", story, "Zoltan", "--at", "1").out.partition("History")[2]
    assert "2  pinned (the author)" in earlier, "it holds for the whole branch, and was said at passage 2"


def test_an_entry_is_renamed_to_a_part_of_its_name_and_back_by_undo(cli, story):
    assert cli("codex", story, "Fetch Pip", "--add", "person", "--fact", "Pip fears dogs.").code == 0
    assert "rename it" in cli("codex", story, "Fetch Pip", "--merge", "Pip").err
    shown = cli("codex", story, "Fetch Pip", "--rename", "Pip").out
    assert shown.startswith("Pip (person)\nAlso: Fetch Pip\n")
    assert shown.count("named anew: Pip (the author)") == 1
    (found,) = json.loads(cli("codex", story, "fetch pip", "--json").out)["entries"]
    assert (found["name"], found["aliases"]) == ("Pip", ["Fetch Pip"])
    assert cli("undo", story).code == 0
    assert cli("codex", story, "Pip").out.startswith("Fetch Pip (person)")


def test_what_leaves_the_memory_with_a_line_that_ends_is_said(cli, story):
    over, stays = "Silas Brock is acting harbourmaster.", "Rain fell on the port."
    assert cli("codex", story, "Silas Brock", "--add", "person").code == 0
    set_ = cli("codex", story, "Silas Brock", "--set", "role=the cooper, acting harbourmaster")
    assert cli("edit", "memory", story, "--text", f"{over}\n{stays}").code == 0
    ended = cli("codex", story, "Silas Brock", "--end", "role=acting harbourmaster")
    assert "role: Silas Brock: the cooper\n" in ended.out
    assert [line for line in (set_.err + ended.err).splitlines() if "memory" in line] == [
        f"No longer in the memory: {over}"
    ]


def test_what_is_hidden_from_readers_is_marked_for_the_author(cli, story):
    for name in ("Anselm Cole", "Hedda Cole"):
        assert cli("codex", story, name, "--add", "person", "--fact", f"{name} bakes bread.").code == 0
    said = "Hedda Cole fears Anselm."
    assert cli("codex", story, "Hedda Cole", "--set", f"fact={said}").code == 0
    assert "hidden from readers" not in cli("codex", story, "Hedda Cole").out
    assert cli("codex", story, "Anselm Cole", "--hide").code == 0
    shown = " ".join(cli("codex", story, "Hedda Cole").out.split())
    assert f"fact: {said} (hidden from readers)" in shown
    assert "Hedda Cole bakes bread. (hidden" not in shown
    assert "Anselm Cole (hidden)" in " ".join(cli("codex", story, "--all").out.split())
    assert said not in cli("codex", story).out + cli("export", story, "--format", "md", "-o", "-").out


@pytest.mark.parametrize(
    ("kind", "status", "has"),
    [
        ("person", "broken", "alive, dead or absent"),
        ("person", "kept", "alive, dead or absent"),
        ("place", "dead", "lost, found, destroyed or broken"),
        ("thing", "kept", "lost, found, destroyed or broken"),
        ("promise", "dead", "open, kept or broken"),
        ("question", "kept", "open or answered"),
    ],
)
def test_a_status_that_is_none_of_its_kind_is_refused(cli, story, kind, status, has):
    assert cli("codex", story, "Zoltan", "--add", kind).code == 0
    refused = cli("codex", story, "Zoltan", "--set", f"status={status}")
    assert refused.code != 0
    assert f"The status of a {kind} is {has}; '{status}' is none of them." in " ".join(refused.err.split())
    first = has.partition(",")[0].split()[0]
    assert cli("codex", story, "Zoltan", "--set", f"status={first}").code == 0


def test_a_role_that_is_over_stands_in_no_row_and_is_marked_in_the_entry(cli, story):
    assert cli("edit", "brief", story, "--text", "# Characters\n- Zoltan: the ferryman").code == 0
    assert "role: Zoltan: the ferryman\n" in cli("codex", story, "Zoltan").out
    assert cli("codex", story, "Zoltan", "--set", "fact=Zoltan is no longer the ferryman.").code == 0
    assert "role: Zoltan: the ferryman (no longer)\n" in cli("codex", story, "Zoltan").out
    assert " ".join(cli("codex", story).out.split()).count("the ferryman") == 1
