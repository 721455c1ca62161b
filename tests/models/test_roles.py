"""Which model plays which role."""

from __future__ import annotations

import asyncio
import logging
import queue
from pathlib import Path
from typing import Any

import pytest

from recurrentgpt.infrastructure.settings import MACHINE_SETTINGS, OPENAI
from recurrentgpt.models import roles
from recurrentgpt.models.embedded import server as embedded
from recurrentgpt.models.embedded.adapter import PACKAGED, STORYTELLER, Adapter
from recurrentgpt.models.embedded.catalogue import WRITER, ModelFile
from recurrentgpt.models.embedded.fetch import Progress
from recurrentgpt.models.profiles import EMBEDDED
from recurrentgpt.models.roles import (
    DescribedModel,
    aresolve_model,
    describe_model,
    describe_writer,
    resolve_model,
    start_ahead,
)
from recurrentgpt.schema.context import SETTINGS, Context
from recurrentgpt.schema.errors import ModelRefused, SettingsError
from recurrentgpt.testing import ScriptedChatModel

URL = "http://127.0.0.1:9/v1"
FIRST_EDITION = Path(__file__).parents[1] / "fixtures" / "first_edition"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Replace the embedded server; collects the files that it is asked to serve."""
    files: list[Path] = []

    def serve(path: Path, adapter: Adapter | None) -> embedded.Endpoint:
        files.extend([path, adapter.path] if adapter else [path])
        return embedded.Endpoint("http://127.0.0.1:9/v1", "a-key-of-its-own")

    def present(entry: ModelFile, progress: Progress | None = None) -> Path:
        return Path("/models") / entry.files[0].path

    monkeypatch.setattr(embedded, "embedded_server", serve)
    monkeypatch.setattr(roles, "fetch", present)
    return files


def test_with_no_settings_the_embedded_model_plays_every_role(started: list[Path]) -> None:
    model = resolve_model("writer", Context())
    assert (model.name, model.tier, model.embedded) == (WRITER.id, "small", True)
    assert started == [Path("/models") / WRITER.files[0].path, STORYTELLER]


def test_a_key_alone_sends_nothing_to_its_owner(
    started: list[Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody-elses")
    with caplog.at_level(logging.INFO, "recurrentgpt"):
        model = resolve_model("writer", Context())
    assert model.embedded
    assert model.chat.openai_api_base == "http://127.0.0.1:9/v1"  # type: ignore[attr-defined]
    assert model.chat.openai_api_key.get_secret_value() == "a-key-of-its-own"  # type: ignore[attr-defined]
    assert "no model is named" in caplog.text
    assert "sk-somebody" not in caplog.text


def test_a_key_and_a_name_mean_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    model = resolve_model("writer", Context(model="gpt-4o"))
    assert (model.name, model.tier, model.embedded) == ("gpt-4o", "full", False)
    assert model.chat.openai_api_base == OPENAI  # type: ignore[attr-defined]


def test_an_endpoint_without_a_model_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", URL)
    with pytest.raises(SettingsError, match="RECURRENTGPT_MODEL or pass --model"):
        resolve_model("writer", Context())


def test_a_name_without_an_endpoint_says_what_is_missing() -> None:
    with pytest.raises(ModelRefused, match=r"'gpt-4o'.*OPENAI_BASE_URL.*OPENAI_API_KEY"):
        resolve_model("writer", Context(model="gpt-4o"))


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="http://"):
        resolve_model("writer", Context(model="m", base_url="localhost:1234"))


def test_the_nearer_setting_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", URL)
    monkeypatch.setenv("RECURRENTGPT_MODEL", "from-environment")
    assert resolve_model("writer", Context()).name == "from-environment"
    context = Context(model="of-the-run", models={"judge": "of-the-role"})
    assert resolve_model("writer", context).name == "of-the-run"
    assert resolve_model("judge", context).name == "of-the-role"


async def test_nodes_that_ask_at_once_share_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    at_once = [aresolve_model("writer", Context(model="shared")) for _ in range(8)]
    assert len({id(model.chat) for model in await asyncio.gather(*at_once)}) == 1


def test_a_chat_model_given_in_code_is_used_as_it_is() -> None:
    writer, judge = ScriptedChatModel(), ScriptedChatModel(tier="small")
    context = Context(model=writer, models={"judge": judge})
    resolved = resolve_model("writer", context)
    assert resolved.chat is writer
    assert (resolved.name, resolved.tier, resolved.embedded) == ("scripted", "full", False)
    assert resolve_model("judge", context).chat is judge
    assert resolve_model("judge", context).tier == "small"


def test_the_tier_of_the_run_beats_everything() -> None:
    assert resolve_model("writer", Context(model=ScriptedChatModel(), tier="small")).tier == "small"
    assert resolve_model("writer", Context(model="m:1.5b", base_url=URL)).tier == "small"
    assert resolve_model("writer", Context(model="m:1.5b", base_url=URL, tier="full")).tier == "full"


def test_a_gguf_file_is_embedded(started: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-needed")
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF")
    model = resolve_model("writer", Context(model=str(file)))
    assert (model.name, model.tier, model.embedded, started) == ("mine", "small", True, [file])


@pytest.mark.parametrize(
    ("role", "context", "words"),
    [
        ("poet", Context(), "no role 'poet'"),
        ("writer", Context(models={"poet": "m"}), "no role 'poet'"),
        ("writer", Context(models="m"), "must map roles"),
        ("writer", Context(model=3), "not int"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(role: Any, context: Context, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        resolve_model(role, context)


async def test_clients_are_made_once_per_endpoint_and_never_show_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2hunter2")
    context = Context(model="m", base_url=URL)
    first, second = await aresolve_model("writer", context), await aresolve_model("judge", context)
    assert first.chat is second.chat
    assert (await aresolve_model("writer", Context(model="other", base_url=URL))).chat is not first.chat
    assert "hunter2" not in f"{first!r}{first.chat!r}{first.chat!s}"
    assert "a-secret" not in repr(embedded.Endpoint(URL, "a-secret"))


def test_an_adapter_is_worn_by_the_embedded_model(
    started: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worn = tmp_path / "teller.gguf"
    worn.write_bytes(b"GGUF")
    model = resolve_model("writer", Context(adapter=f"{worn}@0.45"))
    assert (model.adapter, model.tier, model.templates) == (Adapter(worn, 0.45), "small", "storyteller")
    assert started[-1] == worn
    monkeypatch.setenv("RECURRENTGPT_ADAPTER", str(worn))
    assert resolve_model("writer", Context()).adapter == Adapter(worn, 1.0)
    bare = resolve_model("writer", Context(adapter="none"))
    assert (bare.adapter, bare.templates) == (None, "small")


@pytest.mark.parametrize(("tier", "templates"), [("small", "storyteller"), ("full", "full")])
def test_an_adapter_has_templates_for_the_small_tiers_nodes_alone(
    started: list[Path], tier: Any, templates: str
) -> None:
    context = Context(adapter="storyteller", tier=tier)
    for model in (resolve_model("writer", context), describe_model("writer", context)):
        assert (model.adapter, model.templates) == (PACKAGED, templates)


@pytest.mark.parametrize("setting", ["", "none", "nowhere.gguf"])
@pytest.mark.parametrize(
    ("sent", "described"),
    [
        ("storyteller", DescribedModel("small", EMBEDDED, PACKAGED)),
        ("small", DescribedModel("small", EMBEDDED)),
        ("full", DescribedModel("full")),
        ("", DescribedModel("small", EMBEDDED)),
    ],
)
def test_the_writer_of_a_passage_is_told_by_its_templates_whatever_is_worn_today(
    monkeypatch: pytest.MonkeyPatch, setting: str, sent: str, described: DescribedModel
) -> None:
    monkeypatch.setenv("RECURRENTGPT_ADAPTER", setting)
    assert describe_writer(Context(), sent) == described
    assert describe_writer(Context(adapter=setting or None), sent) == described


def test_the_writer_of_a_passage_is_the_one_of_today_where_it_has_the_templates() -> None:
    context = Context(model="m", base_url=URL)
    today = describe_model("writer", context)
    assert [describe_writer(context, sent) for sent in ("", "full")] == [today, today]
    assert describe_writer(context, "storyteller").templates == "storyteller"


@pytest.mark.parametrize(
    ("settings", "worn"),
    [
        ({}, PACKAGED),
        ({"language": "english"}, PACKAGED),
        ({"model": WRITER.id}, PACKAGED),
        ({"adapter": "storyteller@0.5"}, Adapter(STORYTELLER, 0.5)),
        ({"language": "German"}, None),
        ({"language": "German", "adapter": "storyteller"}, PACKAGED),
        ({"tier": "full"}, None),
        ({"model": "other.gguf"}, None),
        ({"point_of_view": "third", "tense": "past"}, PACKAGED),
        ({"point_of_view": "first"}, None),
        ({"tense": "present"}, None),
        ({"mode": "fiction"}, PACKAGED),
        ({"mode": "fiction", "tense": "present"}, PACKAGED),
        ({"mode": "fiction", "point_of_view": "third"}, None),
        ({"point_of_view": "first", "adapter": "storyteller"}, PACKAGED),
    ],
)
def test_the_packaged_adapter_is_worn_where_it_was_taught(
    started: list[Path], settings: dict[str, Any], worn: Adapter | None
) -> None:
    assert resolve_model("writer", Context(**settings)).adapter == worn
    described = describe_model("writer", Context(**settings))
    assert isinstance(described, DescribedModel)
    assert described.adapter == worn


@pytest.mark.parametrize(
    ("chosen", "premise", "worn"),
    [
        ({}, "", PACKAGED),
        ({"mode": "fiction", "adapter": "storyteller@0.5"}, "", Adapter(STORYTELLER, 0.5)),
        ({"language": "German"}, "", None),
        ({"tier": "full"}, "", None),
        ({"point_of_view": "first"}, "", None),
        ({"prompts": str(FIRST_EDITION / "prompts")}, "", None),
        ({}, "A ferryman finds a sealed letter. In German, please.", None),
        ({"language": "English"}, "A ferryman finds a sealed letter. In German, please.", PACKAGED),
    ],
)
def test_the_server_that_starts_ahead_is_the_one_that_the_story_needs(
    monkeypatch: pytest.MonkeyPatch, chosen: dict[str, Any], premise: str, worn: Adapter | None
) -> None:
    asked = queue.SimpleQueue[Context]()
    monkeypatch.setattr(roles, "is_present", lambda entry: True)
    monkeypatch.setattr(roles, "resolve_model", lambda role, context: asked.put(context))
    start_ahead(chosen, premise)
    described = describe_model("writer", asked.get(timeout=60))
    assert isinstance(described, DescribedModel)
    assert described.adapter == worn


@pytest.mark.parametrize("chosen", [{"model": "m"}, {"base_url": URL}, {"models": {"judge": "m"}}])
def test_no_server_starts_ahead_of_another_model(monkeypatch: pytest.MonkeyPatch, chosen: dict[str, Any]) -> None:
    def present(entry: ModelFile) -> bool:
        raise AssertionError("the file of our writer was looked at")

    monkeypatch.setattr(roles, "is_present", present)
    start_ahead(chosen)


@pytest.mark.parametrize(
    ("held", "worn"),
    [
        (["novel/small"], None),
        (["novel/small", "novel/storyteller"], PACKAGED),
        (["novel/full", "fiction/small"], PACKAGED),
        ([], PACKAGED),
    ],
)
def test_own_prompts_for_a_small_model_are_used_in_place_of_the_packaged_adapter(
    tmp_path: Path, held: list[str], worn: Adapter | None
) -> None:
    for folder in held:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "write.md").write_text("Write.")
    described = describe_model("writer", Context(prompts=str(tmp_path)))
    assert isinstance(described, DescribedModel)
    assert described.adapter == worn


def test_the_packaged_adapter_was_trained_for_the_writer() -> None:
    assert STORYTELLER.read_bytes().startswith(b"GGUF")
    assert PACKAGED.trained_for() == WRITER.files[0].sha256


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ("nowhere.gguf", "no adapter nowhere.gguf: .* with --adapter or RECURRENTGPT_ADAPTER"),
        ("teller.gguf@3", "strength is 0 to 2, not 3"),
    ],
)
def test_an_adapter_that_is_none_is_refused(started: list[Path], setting: str, fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        resolve_model("writer", Context(adapter=setting))
    assert started == []


def test_a_form_and_the_list_of_the_machines_settings_say_the_same_of_an_adapter() -> None:
    (of_the_machine,) = [setting for setting in MACHINE_SETTINGS if setting.name == "adapter"]
    assert of_the_machine.description == SETTINGS["adapter"].description
    assert "unset: ours for the embedded writer in English" in of_the_machine.description


def test_an_address_that_is_none_names_the_setting_and_no_flag() -> None:
    with pytest.raises(SettingsError, match=r"\(base_url, OPENAI_BASE_URL\) begins with http") as refused:
        resolve_model("writer", Context(model="m", base_url="localhost:11434"))
    assert "--" not in str(refused.value)
