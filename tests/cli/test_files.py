"""`import`, `export` and `prompts`."""

from __future__ import annotations

import json

import pytest


def test_export(cli, story, tmp_path):
    path = tmp_path / "novel.md"
    assert cli("export", story, "-o", str(path)).code == 0
    text = path.read_text()
    assert text.startswith("# The Glass Bridge\n\n") or "The Glass Bridge" in text
    refused = cli("export", story, "-o", str(path))
    assert refused.code == 1
    assert "--force" in refused.err
    assert cli("export", story, "-o", str(path), "--force").code == 0
    assert cli("export", story, "-o", "-").out == text
    assert cli("export", story).code == 2
    assert cli("export", story, "-o", str(tmp_path / "none" / "novel.md")).code == 1
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.is_file()) == ["novel.md"]


@pytest.mark.parametrize("format", ["html", "play-html"])
def test_a_folder_gets_a_file_of_the_storys_name(cli, story, tmp_path, format):
    cli("rename", story, "../../etc: A/B")
    assert cli("export", story, "-o", str(tmp_path), "--format", format).code == 0
    (path,) = (entry for entry in tmp_path.iterdir() if entry.is_file())
    assert path.suffix == ".html"
    assert path.name.endswith("A B.html")


@pytest.mark.parametrize(
    "arguments", [["-o", "x.pdf"], ["-o", "x"], ["-o", "x.md", "--format", "pdf"], ["-o", "x.md", "--every", "0"]]
)
def test_a_format_that_is_none(cli, story, arguments):
    assert cli("export", story, *arguments).code == 2


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_at_a_terminal_a_file_is_replaced_after_asking(cli, story, tmp_path, monkeypatch, answer, code):
    path = tmp_path / "novel.txt"
    path.write_text("old")
    monkeypatch.setattr("recurrentgpt.cli.terminal.prompt.at_terminal", lambda: True)
    monkeypatch.setattr("recurrentgpt.cli.terminal.prompt._read_line", lambda *asked: answer)
    assert cli("export", story, "-o", str(path)).code == code
    assert (path.read_text() == "old") == bool(code)


@pytest.fixture
def book(tmp_path):
    """Give a book of a few passages."""
    lines = "\n\n".join(
        f"The diver number {n} went below the dark water with a lamp, and came back at night with a story about the reef "
        "that nobody in the harbour believed."
        for n in range(40)
    )
    path = tmp_path / "The Divers.txt"
    path.write_text(f"Chapter 1\n\n{lines}\n")
    return path


def test_a_book_is_imported_without_a_model_searched_and_gone_on_with(cli, server, book):
    result = cli("import", str(book), "--fast", "--genre", "sea story", "--json")
    assert result.code == 0, result.err
    kinds = [event["event"] for event in result.events]
    assert kinds[:3] == ["preview", "story", "import"]
    assert server.requests == []
    story = result.events[1]["story"]
    again = cli("import", str(book), "--fast", "--json")
    assert all(event["kept"] for event in again.events if event["event"] == "import")
    hits = cli("recall", story, "The diver number 17", "-k", "2", "--json").events
    assert [set(hit) for hit in hits] == [{"id", "step", "score", "piece", "summary"}] * 2
    assert cli("write", story, "--steps", "1").code == 0


def test_a_fast_import_fills_the_codex_and_says_what_it_leaves_out(cli, tmp_path):
    path = tmp_path / "toll.txt"
    path.write_text(
        "Captain Vale took the road to Marrow with two mules. In Marrow nobody asked for a toll.\n\n"
        '"There is a toll," said Rosa Hale. Captain Vale drowned at the weir on Monday, and Rosa wept.\n'
    )
    imported = cli("import", str(path), "--fast")
    assert imported.code == 0
    assert "leave out the rest" in imported.err
    listed = {entry["name"]: entry["kind"] for entry in cli("codex", "toll", "--json").events[0]["entries"]}
    assert listed == {"Captain Vale": "person", "Rosa Hale": "person", "Marrow": "place"}
    dead = cli("codex", "toll", "Captain Vale").out
    assert "drowned at the weir" in dead
    assert "Also" not in cli("codex", "toll", "Marrow").out
    assert "History" not in cli("codex", "toll", "Marrow").out
    assert "leaves out what only a model reads" in " ".join(cli("import", "--help").out.split())


def test_an_import_that_costs_asks_first(cli, server, book, monkeypatch):
    preview = cli("import", str(book), "--preview", "--json")
    assert (preview.code, [event["event"] for event in preview.events]) == (0, ["preview"])
    refused = cli("import", str(book))
    assert refused.code == 2
    assert "--yes" in refused.err
    monkeypatch.setattr("recurrentgpt.cli.terminal.prompt.at_terminal", lambda: True)
    monkeypatch.setattr("recurrentgpt.cli.terminal.prompt._read_line", lambda *asked: "n")
    assert cli("import", str(book)).code == 0
    assert server.requests == []
    assert cli("stories", "--json").events == []
    assert cli("import", str(book), "--yes").code == 0
    assert len(server.requests) > 3


def test_an_interrupted_import_goes_on(cli, server, book):
    server.script = ["ok", "ok", "ok", "401"]  # the first is asked for the voice
    stopped = cli("import", str(book), "--yes")
    assert stopped.code == 1
    assert "Continue: recurrentgpt import" in stopped.err
    server.script = ["ok"]
    resumed = cli("import", str(book), "--yes", "--json")
    assert [event["kept"] for event in resumed.events if event["event"] == "import"][:3] == [True, True, False]


def test_a_story_comes_back_from_json(cli, story, tmp_path, monkeypatch):
    cli("retry", story)
    path = tmp_path / "story.json"
    assert cli("export", story, "-o", str(path)).code == 0
    tree = cli("tree", story, "--json").out
    assert cli("import", str(path)).out.strip() == story
    monkeypatch.setenv("RECURRENTGPT_HOME", str(tmp_path / "elsewhere"))
    restored = cli("import", str(path), "--json").events[-1]
    assert (restored["event"], restored["passages"], restored["branches"]) == ("restored", 3, 2)
    assert cli("tree", story, "--json").out == tree
    assert cli("import", str(path), "--fast").code == 2
    path.write_text(path.read_text()[:500])
    assert cli("import", str(path)).code == 1


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02" * 500])
@pytest.mark.parametrize("suffix", ["txt", "epub", "docx", "json"])
def test_a_file_that_is_no_book(cli, tmp_path, suffix, content):
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(content)
    result = cli("import", str(path))
    assert result.code == 1
    assert result.err.count("Error: ") == 1
    assert "Traceback" not in result.err
    assert cli("stories", "--json").events == []


def test_prompts_are_exported_checked_and_used(cli, server, tmp_path):
    folder = tmp_path / "prompts"
    assert cli("prompts", "export", str(folder)).code == 0
    assert cli("prompts", "check", str(folder)).code == 0
    assert cli("prompts", "export", str(folder)).code == 1
    (folder / "novel" / "full" / "write.md").write_text("{{ nope }}")
    checked = cli("prompts", "check", str(folder))
    assert checked.code == 1
    assert "names nope" in checked.out
    result = cli("write", "--prompts", str(folder))
    assert result.code == 1
    assert "names nope" in result.err
    assert server.requests == []


def test_the_preview_is_data_when_it_is_all_that_is_asked(cli, book):
    assert "The Divers" in cli("import", str(book), "--preview").out
    assert json.loads(cli("import", str(book), "--preview", "--json").out)["passages"] > 1


def test_a_book_that_is_here_already_is_not_read_again_and_says_so(cli, server, book):
    first = cli("import", str(book), "--fast", "--yes", "--json").events
    story = next(event["story"] for event in first if event["event"] == "story")
    cli("rename", story, "Mine")
    again = cli("import", str(book), "--fast", "--yes", "--title", "Again")
    assert f"It is here already, as Mine ({story})" in again.err
    assert "--copy NAME" in again.err
    assert len(cli("stories", "--json").events) == 1
    copied = cli("import", str(book), "--fast", "--yes", "--copy", "second", "--title", "Again")
    assert "It is here already" not in copied.err
    assert len(cli("stories", "--json").events) == 2
    assert cli("show", "Again").code == 0


def test_an_encoding_that_is_guessed_is_named(cli, tmp_path):
    text = "Der Wärter zählte die Lampen, öffnete die Tür und hörte das große Wasser. " * 20
    for name, encoding, named in (("a.txt", "utf-8", False), ("b.txt", "cp1252", True)):
        (tmp_path / name).write_bytes(text.encode(encoding))
        told = cli("import", str(tmp_path / name), "--preview").out
        assert ("It seems to be written in cp1252" in told) == named
        assert "1 chapter, " in told
