"""`stories`, `show`, `memory`, `models`, `config` and `doctor`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from recurrentgpt.infrastructure.settings import MACHINE_SETTINGS
from recurrentgpt.models.embedded.adapter import STORYTELLER
from recurrentgpt.models.embedded.catalogue import WRITER
from recurrentgpt.testing import FaultyServer


def test_show_as_json_holds_the_plans_and_the_codex(cli, story):
    shown = json.loads(cli("show", story, "--json").out)
    choices = json.loads(cli("choose", story, "--json").out)
    assert shown["plans"] == choices["plans"] != []
    assert [passage["plans"] for passage in shown["passages"]][-1] == shown["plans"]
    assert cli("codex", story, "Orsolya", "--add", "person", "--fact", "She keeps the bridge.").code == 0
    assert cli("codex", story, "The Key", "--add", "thing", "--fact", "It is brass.").code == 0
    assert cli("codex", story, "The Key", "--hide").code == 0
    shown = json.loads(cli("show", story, "--json").out)
    assert shown["codex"] == json.loads(cli("codex", story, "--json").out)["entries"]
    assert "Orsolya" in [entry["name"] for entry in shown["codex"]]
    assert "The Key" not in [entry["name"] for entry in shown["codex"]]
    assert json.loads(cli("show", story, "--at", "1", "--json").out)["plans"] == shown["passages"][0]["plans"]


def test_no_stories_yet(cli):
    result = cli("stories")
    assert (result.code, result.out) == (0, "")
    assert "recurrentgpt write" in result.err
    assert cli("stories", "--json").events == []


@pytest.mark.parametrize(
    "command",
    [["show"], ["show", "--settings"], ["memory"], ["export", "-o", "-"], ["goto", "1"], ["tree"]],
    ids=" ".join,
)
def test_a_server_that_does_not_answer_is_told_of(cli, unused_tcp_port, command):
    url, (name, *rest) = f"http://127.0.0.1:{unused_tcp_port}", command
    result = cli(name, "a lamp", *rest, "--remote", url)
    assert (result.code, result.out) == (1, "")
    assert result.err == f"Error: No server answers at {url}; check the address, and that it is running.\n"


def test_a_server_gives_out_no_archive(cli, tmp_path):
    for options in (["-o", "all.json"], ["-o", "-", "--format", "json"]):
        result = cli("export", "a lamp", *options, "--remote", "http://127.0.0.1:9")
        assert result.code == 2
        assert "whole log" in result.err


def test_stories(cli, story):
    assert story in cli("stories").out
    (line,) = cli("stories", "--json").events
    assert (line["story"], line["title"], line["genre"], line["step"]) == (story, "The Glass Bridge", "mystery", 2)


def test_show(cli, story):
    shown = json.loads(cli("show", story, "--json").out)
    assert list(shown) == ["story", "title", "head", "passages", "plans", "codex", "usage", "whole"]
    names = ["id", "parent", "step", "plan", "plans", "text", "summary", "short_term_memory", "author", "usage"]
    names += ["unreached", "contradictions", "names"]
    assert [list(passage) for passage in shown["passages"]] == [names, names]
    assert shown["head"] == shown["passages"][-1]["id"]
    assert shown["passages"][0]["parent"] is None
    text = cli("show", story).out
    assert text.startswith("The Glass Bridge\n\n1 · ")
    assert f"2 passages · {shown['usage']['calls']} calls · " in text
    assert all(passage["text"] in text for passage in shown["passages"])


def test_a_contradiction_is_shown_at_its_place_with_both_sentences(cli, contradicting):
    text = cli("show", contradicting).out
    assert "\n\nBastian Cole walked to the stove and lit it again. [1] Rain fell on the yard" in text
    assert (
        "\n\n[1] It says: Bastian Cole walked to the stove and lit it again.\n    But: Bastian Cole is dead.\n"
        "    From passage 1: Bastian Cole fell from the wall and died before anybody reached him.\n\n"
    ) in text
    assert cli("codex", contradicting, "--meant", "1").code == 0
    assert "[1]" not in cli("show", contradicting).out


def test_memory(cli, story):
    memory = json.loads(cli("memory", story, "--json").out)
    assert list(memory) == ["story", "step", "short_term_memory", "dropped", "added", "recalled"]
    text = cli("memory", story).out
    assert all(line in text for line in memory["short_term_memory"].splitlines())
    assert all(entry["sentence"] in text for entry in memory["added"])
    earlier = json.loads(cli("memory", story, "--at", "1", "--json").out)
    shown = json.loads(cli("show", story, "--json").out)["passages"]
    assert (earlier["step"], earlier["short_term_memory"]) == (1, shown[0]["short_term_memory"])


def test_the_brief_is_printed_as_it_is_edited(cli, story):
    brief = json.loads(cli("brief", story, "--json").out)["brief"]
    text = cli("brief", story).out
    assert all(line in text for line in (brief["premise"], *brief["characters"], *brief["outline"]))
    cli("edit", "brief", story, "--text", text.replace(brief["premise"], "Mira owes a horse."))
    assert json.loads(cli("brief", story, "--json").out)["brief"] == {**brief, "premise": "Mira owes a horse."}


@pytest.mark.parametrize(
    "command", [["show"], ["memory"], ["write"], ["play"], ["export", "-o", "x.md"], ["tree"], ["undo"]]
)
def test_unknown_story(cli, command):
    result = cli(command[0], "nobody", *command[1:])
    assert result.code == 1
    assert (
        result.err.strip().splitlines()[-1] == "Error: There is no story 'nobody'; `recurrentgpt stories` lists them."
    )


def test_models(cli, user_folder):
    models = cli("models", "list", "--json").events
    assert {"model", "what", "license", "bytes", "present", "path"} == set(models[0])
    *fetched, adapter = models
    assert not any(model["present"] for model in fetched)
    assert all(model["model"] in cli("models", "list").out for model in models)
    assert (adapter["model"], adapter["present"]) == ("storyteller", True), "it comes with the package"
    assert adapter["bytes"] == Path(adapter["path"]).stat().st_size <= 25_000_000
    assert cli("models", "path", "storyteller").out.strip() == adapter["path"]
    for model in fetched:
        result = cli("models", "path", model["model"])
        assert result.out.strip() == model["path"]
        assert "not fetched yet" in result.err
    assert cli("models", "path", "nothing").code == 2
    assert cli("models", "pull", "nothing").code == 2


def test_a_fetch_shows_its_progress(cli, monkeypatch, tmp_path):
    def fetch(entry, progress):
        for done in (0, entry.size // 2, entry.size):
            progress(done, entry.size, f"downloading {entry.id}")
        return tmp_path / entry.id

    monkeypatch.setattr("recurrentgpt.models.embedded.fetch.fetch", fetch)
    result = cli("models", "pull", "all-MiniLM-L6-v2")
    assert (result.code, result.out) == (0, "")
    assert result.err.count("downloading all-MiniLM-L6-v2") == 1
    assert str(tmp_path) in result.err


def test_config(cli, monkeypatch, user_folder):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me:password@example.com/v1")
    shown = cli("config", "show", "--json").events
    names = [line["setting"] for line in shown]
    assert names[: len(MACHINE_SETTINGS)] == [setting.name for setting in MACHINE_SETTINGS]
    assert {"pace", "max_words", "temperature", "timeout"} < set(names)
    by_name = {line["setting"]: line for line in shown}
    assert by_name["api_key"]["value"] == "set (hidden)"
    assert by_name["api_key"]["source"] == "environment"
    assert by_name["base_url"]["value"] == "https://***@example.com/v1"
    assert by_name["model"]["source"] == "default"
    text = cli("config", "show").out
    assert "secret" not in text
    assert "password" not in text.replace("set (hidden)", "")
    assert cli("config", "path").out.strip() == str(user_folder)


def test_what_is_stored_holds_where_nothing_else_is_said(cli, server, monkeypatch, user_folder):
    monkeypatch.delenv("RECURRENTGPT_MODEL")
    assert cli("config", "set", "model=stored", "pace=slow", "max-words=300", "temperature=0.4").code == 0
    assert [cli("config", "get", name).out for name in ("model", "max-words", "pace")] == [
        "stored\n",
        "300\n",
        "slow\n",
    ]
    sources = {line["setting"]: line["source"] for line in cli("config", "list", "--json").events}
    assert (sources["model"], sources["pace"], sources["base_url"]) == ("config file", "config file", "environment")
    story = cli("write", "--steps", "1", "--pace", "fast", "--json").events[0]["story"]
    assert {body["model"] for body in server.requests} == {"stored"}
    assert {body["temperature"] for body in server.requests if "response_format" not in body} == {0.4}
    settings = json.loads(cli("show", story, "--settings", "--json").out)["settings"]
    assert (settings["pace"], settings["max_words"]) == ("fast", 300), "what was said with the command counts for more"
    assert cli("config", "set", "max-words=600").code == 0
    assert cli("write", story, "--steps", "1").code == 0
    assert json.loads(cli("show", story, "--settings", "--json").out)["settings"]["max_words"] == 300
    assert cli("config", "set", "model=", "pace=", "max-words=", "temperature=").code == 0
    assert (user_folder / "config.toml").read_text() == ""


@pytest.mark.parametrize("command", ["config set max_words=500", "config get max_words", "set STORY max_words=500"])
def test_a_setting_has_one_spelling(cli, story, command):
    result = cli(*command.replace("STORY", story).split())
    assert (result.code, result.err) == (2, "Error: There is no setting 'max_words'; did you mean max-words?\n")


def test_an_old_config_file_opens_and_is_spelled_anew(cli, user_folder):
    user_folder.mkdir(exist_ok=True)
    (user_folder / "config.toml").write_text('max_words = 300\nbase_url = "http://localhost:1/v1"\n')
    assert cli("config", "get", "max-words").out == "300\n"
    assert cli("config", "set", "pace=slow").code == 0
    written = (user_folder / "config.toml").read_text()
    assert written.splitlines() == ['base-url = "http://localhost:1/v1"', "max-words = 300", 'pace = "slow"']


def test_a_story_is_sampled_as_it_was_told(cli, server):
    story = cli("write", "--steps", "1", "--top-p", "0.9", "--json").events[0]["story"]
    assert cli("set", story, "presence-penalty=0.5").code == 0
    assert cli("write", story, "--steps", "1", "--frequency-penalty", "-0.5").code == 0
    prose = [body for body in server.requests if "response_format" not in body]
    first, second = [{name for name in body if name.startswith(("top_", "presence", "frequency"))} for body in prose]
    assert (first, second) == ({"top_p"}, {"top_p", "presence_penalty", "frequency_penalty"})
    assert (prose[1]["top_p"], prose[1]["presence_penalty"], prose[1]["frequency_penalty"]) == (0.9, 0.5, -0.5)
    assert not any("top_p" in body for body in server.requests if body not in prose), "it is about prose alone"


def test_phrases_are_banned_one_by_one_and_kept(cli, server):
    def kept(story):
        return json.loads(cli("show", story, "--settings", "--json").out)["settings"]["banned"]

    story = cli("write", "--steps", "1", "--ban", "a testament to", "--ban", "shivers down", "--json").events[0][
        "story"
    ]
    assert kept(story) == "a testament to; shivers down"
    assert cli("write", story, "--steps", "1").code == 0
    assert kept(story) == "a testament to; shivers down"
    assert cli("set", story, "banned=a rustle").code == 0
    assert kept(story) == "a rustle"


def test_sampling_that_the_endpoint_does_not_know_is_refused_before_anything_is_paid_for(cli, server):
    result = cli("write", "--steps", "1", "--min-p", "0.1")
    assert (result.code, server.requests) == (2, [])
    assert "takes no min-p" in result.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("api-key=sk-secret", "api-key is not stored: set OPENAI_API_KEY"),
        ("database-url=postgresql://a:b@c/d", "RECURRENTGPT_DATABASE_URL"),
        ("base-url=https://me:secret@example.com/v1", "A password is not stored"),
        ("paice=slow", "did you mean pace?"),
        ("pacto=slow", "did you mean pace?"),
        ("pace", "not NAME=VALUE"),
        ("pace=sometimes", "pace is one of slow, steady, fast"),
        ("min-words=900", "min-words is at most max-words"),
    ],
)
def test_what_is_not_stored(cli, user_folder, change, said):
    result = cli("config", "set", change)
    assert result.code == 2
    assert said in result.err
    assert not (user_folder / "config.toml").exists()


@pytest.mark.parametrize(
    ("content", "said"), [("pace =", "mend it, or delete it"), ("paice = 1", "There is no setting 'paice'")]
)
def test_a_config_file_that_is_none_says_so(cli, user_folder, content, said):
    user_folder.mkdir()
    (user_folder / "config.toml").write_text(content)
    for command in (["write"], ["config", "list"]):
        result = cli(*command)
        assert (result.code, said in result.err) == (2, True), result.err


def test_on_a_full_disk_the_config_file_stays_as_it_was_and_nothing_lies_beside_it(cli, user_folder):
    import resource

    assert cli("config", "set", "pace=fast").code == 0
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, most[1]))
    try:
        result = cli("config", "set", "pace=slow")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert (result.code, "config.toml cannot be written" in result.err) == (1, True), result.err
    assert [path.name for path in user_folder.glob("config*")] == ["config.toml"]
    assert cli("config", "get", "pace").out == "fast\n"


def _checks(result):
    return {line["check"]: line for line in result.events}


def test_doctor_on_a_good_machine(cli, story):
    result = cli("doctor", "--json")
    checks = _checks(result)
    assert result.code == 0, checks
    assert {"python", "sqlite", "faiss", "packages", "home", "stories", "models", "endpoint", "disk"} == set(checks)
    assert checks["stories"]["detail"].startswith("1 in ")
    assert "scripted" in checks["endpoint"]["detail"]
    assert cli("doctor").out.count("\n") == len(result.events)


@pytest.mark.parametrize("fault", ["refused", "model", "scheme", "unnamed"])
def test_doctor_finds_a_bad_endpoint(cli, server, monkeypatch, fault):
    if fault == "refused":
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    elif fault == "model":
        monkeypatch.setenv("RECURRENTGPT_MODEL", "another")
    elif fault == "scheme":
        monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    else:
        monkeypatch.delenv("RECURRENTGPT_MODEL")
    result = cli("doctor", "--json")
    finding = _checks(result)["endpoint"]
    assert finding["status"] == ("warn" if fault == "model" else "fail")
    assert finding["advice"]
    assert result.code == int(finding["status"] == "fail")


def test_doctor_finds_a_bad_home_and_database(cli, monkeypatch, tmp_path, server):
    assert isinstance(server, FaultyServer)
    file = tmp_path / "file"
    file.write_text("no folder")
    monkeypatch.setenv("RECURRENTGPT_HOME", str(file))
    result = cli("doctor", "--json")
    assert result.code == 1
    assert _checks(result)["home"]["status"] == "fail"
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "stories.db").write_text("this is no database at all, only some text")
    monkeypatch.setenv("RECURRENTGPT_HOME", str(folder))
    result = cli("doctor", "--json")
    assert result.code == 1
    assert _checks(result)["stories"]["status"] == "fail"


def test_doctor_finds_damaged_pages_and_says_nothing_else(cli, story, user_folder):
    path = user_folder / "checkpoints.db"
    pages = bytearray(path.read_bytes())
    pages[4096 * 2 : 4096 * 20] = bytes(range(256)) * (4096 * 18 // 256)
    path.write_bytes(pages)
    result = cli("doctor", "--json")
    finding = _checks(result)["stories"]
    assert (result.code, finding["status"]) == (1, "fail")
    assert "checkpoints.db cannot be used: it is damaged; delete it" in finding["advice"]


def test_a_story_is_shown_where_its_checkpoints_are_damaged(cli, story, user_folder):
    shown = cli("show", story).out
    (user_folder / "checkpoints.db").write_bytes(b"no database at all" * 500)
    assert cli("show", story).out == shown


def test_a_store_that_cannot_be_opened_leaves_nothing_pending(process, server, tmp_path, monkeypatch):
    (tmp_path / "stories.db").write_bytes(b"no database" * 500)
    monkeypatch.setenv("RECURRENTGPT_HOME", str(tmp_path))
    command = process("doctor")
    _, err = command.communicate()
    assert (command.returncode, err) == (1, "")


@pytest.mark.parametrize(
    ("base", "told", "status"),
    [
        (WRITER.files[0].sha256, b"GGUF", "ok"),
        ("0" * 64, b"GGUF", "fail"),
        (None, b"GGUF", "warn"),
        (WRITER.files[0].sha256, b"GG", "fail"),
    ],
    ids=["own", "other", "bare", "damaged"],
)
def test_doctor_tells_whether_an_adapter_fits(cli, monkeypatch, tmp_path, base, told, status):
    worn = tmp_path / "teller.gguf"
    worn.write_bytes(b"GGUF")
    if base:
        manifest = {"sha256": hashlib.sha256(told).hexdigest(), "settings": {"base": base}}
        worn.with_suffix(".json").write_text(json.dumps(manifest))
    monkeypatch.setenv("RECURRENTGPT_ADAPTER", f"{worn}@0.6")
    assert _checks(cli("doctor", "--json"))["adapter"]["status"] == status


def test_doctor_finds_that_the_packaged_adapter_fits(cli):
    found = _checks(cli("doctor", "--json"))["adapter"]
    assert (found["status"], found["detail"]) == ("ok", f"{STORYTELLER} at strength 0.7")


def test_doctor_tells_of_no_adapter_where_an_endpoint_writes(cli, server, monkeypatch):
    monkeypatch.setenv("RECURRENTGPT_ADAPTER", "storyteller")
    assert "adapter" not in _checks(cli("doctor", "--json"))
    monkeypatch.setenv("RECURRENTGPT_MODEL", WRITER.id)
    assert "adapter" not in _checks(cli("doctor", "--json"))


def test_doctor_finds_no_adapter(cli, monkeypatch):
    monkeypatch.setenv("RECURRENTGPT_ADAPTER", "nowhere.gguf")
    found = _checks(cli("doctor", "--json"))["adapter"]
    assert (found["status"], "There is no adapter nowhere.gguf" in found["detail"]) == ("fail", True)
