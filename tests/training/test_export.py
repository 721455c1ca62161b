"""The adapter as llama.cpp wears it: the same numbers as in training, for both families of models."""

from __future__ import annotations

import hashlib
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from recurrentgpt.models.embedded.adapter import STORYTELLER, Adapter
from recurrentgpt.models.embedded.server import embedded_server, stop_servers
from recurrentgpt.schema.errors import ModelRefused, SettingsError
from training.conversation import templates_fingerprint
from training.encode import Example
from training.export import code_fingerprint, export
from training.export import main as export_main
from training.lora import attach, read_adapter, tensors
from training.train import CHECKPOINT, Run, Settings, read_checkpoint
from training.weights import Base, load

from .tiny import write_gguf

PROMPT = [72, 101, 32, 115, 97, 105, 100, 32, 110, 111]


@pytest.fixture(autouse=True)
def stopped() -> Iterator[None]:
    yield
    stop_servers()


def settings(model: Path, rank: int) -> Settings:
    return Settings(hashlib.sha256(model.read_bytes()).hexdigest(), "data", "templates", rank=rank, alpha=2.0 * rank)


def trained(folder: Path, model: Path, rank: int = 4) -> tuple[Path, Base]:
    """Write a checkpoint whose adapter changes the model a great deal, and return it with the model that wears it."""
    base = load(model, "float32")
    example = Example("one", torch.tensor([PROMPT]), torch.ones(len(PROMPT), dtype=torch.bool))
    run = Run(folder, settings(model, rank), base, [example], [], report=lambda text: None)
    numbers = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in tensors(run.adapters):
            if name.endswith("lora_b"):
                parameter.copy_(0.2 * torch.randn(parameter.shape, generator=numbers))
    run.save()
    return folder / CHECKPOINT, base


def torch_logprobs(base: Base) -> dict[int, float]:
    with torch.inference_mode():
        logits = base.model(input_ids=torch.tensor([PROMPT])).logits[0, -1].float()
    return dict(enumerate(torch.log_softmax(logits, -1).tolist()))


def llama_logprobs(model: Path, adapter: Adapter | None) -> dict[int, float]:
    """Return what llama.cpp gives its likeliest tokens after PROMPT."""
    server = embedded_server(model, adapter)
    # The token drawn has to be a letter, or llama.cpp waits for the rest of it; the likelihoods are those before any bias.
    letter = {"logit_bias": [[97, 100.0]], "temperature": 0.0}
    body = json.dumps({"prompt": PROMPT, "n_predict": 1, "n_probs": 8, "cache_prompt": False, **letter}).encode()
    address = server.base_url.removesuffix("/v1") + "/completion"
    request = urllib.request.Request(address, body, {"Authorization": f"Bearer {server.api_key}"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as reply:
        found = json.load(reply)["completion_probabilities"][0]["top_logprobs"]
    return {item["id"]: item["logprob"] for item in found}


def furthest(one: dict[int, float], other: dict[int, float]) -> float:
    """Return how far two models are apart, on the tokens that llama.cpp tells of."""
    return max(abs(one[token] - value) for token, value in other.items())


@pytest.mark.parametrize("architecture", ["qwen2", "llama"])
def test_llama_cpp_wears_what_was_trained(architecture: str, tmp_path: Path) -> None:
    model = write_gguf(tmp_path / "model.gguf", architecture)
    plain = torch_logprobs(load(model, "float32"))
    checkpoint, base = trained(tmp_path / "run", model)
    worn = torch_logprobs(base)
    export(checkpoint, model, tmp_path / "adapter.gguf", kind="f16")

    assert furthest(plain, worn) > 1, "the adapter of this test changes too little to be seen"
    assert furthest(plain, llama_logprobs(model, None)) < 0.1
    assert furthest(worn, llama_logprobs(model, Adapter(tmp_path / "adapter.gguf"))) < 0.1
    assert furthest(plain, llama_logprobs(model, Adapter(tmp_path / "adapter.gguf", scale=0.0))) < 0.1


@pytest.mark.parametrize("architecture", ["qwen2", "llama"])
def test_an_exported_adapter_is_what_another_run_begins_with(architecture: str, tmp_path: Path) -> None:
    model = write_gguf(tmp_path / "model.gguf", architecture)
    checkpoint, base = trained(tmp_path / "run", model)
    export(checkpoint, model, tmp_path / "adapter.gguf", kind="f16")
    kept, _ = read_checkpoint(checkpoint)
    found = read_adapter(tmp_path / "adapter.gguf", base)
    assert found.keys() == {name for name in kept if name.endswith(("lora_a", "lora_b"))}
    assert all(torch.allclose(rows, kept[name], atol=1e-3) for name, rows in found.items())


def test_q8_0_is_about_half_and_is_taken_too(tmp_path: Path) -> None:
    model = write_gguf(tmp_path / "model.gguf")
    checkpoint, base = trained(tmp_path / "run", model, rank=32)
    whole = export(checkpoint, model, tmp_path / "f16.gguf", kind="f16")
    half = export(checkpoint, model, tmp_path / "q8.gguf", kind="q8_0")

    stored = {tensor.tensor_type for tensor in gguf.GGUFReader(tmp_path / "q8.gguf").tensors}
    assert stored == {gguf.GGMLQuantizationType.Q8_0}
    assert half["bytes"] < 0.75 * whole["bytes"]
    assert furthest(torch_logprobs(base), llama_logprobs(model, Adapter(tmp_path / "q8.gguf"))) < 0.3


def test_rows_that_q8_0_cannot_hold_stay_in_f16(tmp_path: Path) -> None:
    model = write_gguf(tmp_path / "model.gguf")
    checkpoint, _ = trained(tmp_path / "run", model, rank=4)
    export(checkpoint, model, tmp_path / "q8.gguf", kind="q8_0")

    stored = {
        tensor.name.rpartition(".")[2]: tensor.tensor_type for tensor in gguf.GGUFReader(tmp_path / "q8.gguf").tensors
    }
    assert stored == {"lora_a": gguf.GGMLQuantizationType.Q8_0, "lora_b": gguf.GGMLQuantizationType.F16}


def test_the_manifest_says_what_the_adapter_was_made_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = write_gguf(tmp_path / "model.gguf")
    trained(tmp_path / "run", model)
    assert export_main([str(tmp_path / "run"), "-o", str(tmp_path / "out" / "teller.gguf"), "--model", str(model)]) == 0

    manifest = json.loads((tmp_path / "out" / "teller.json").read_text())
    assert manifest == json.loads(capsys.readouterr().out)
    assert manifest["settings"]["base"] == settings(model, 4).base
    assert manifest["settings"]["data"] == "data"
    assert (manifest["steps"], manifest["held_out_loss"]) == (0, None)
    assert manifest["code"] == code_fingerprint()
    assert manifest["bytes"] == (tmp_path / "out" / "teller.gguf").stat().st_size
    reader = gguf.GGUFReader(tmp_path / "out" / "teller.gguf")
    assert reader.fields["adapter.type"].contents() == "lora"
    assert reader.fields["adapter.lora.alpha"].contents() == 8.0
    shapes = {tensor.name: tuple(int(size) for size in reversed(tensor.shape)) for tensor in reader.tensors}
    assert shapes["blk.1.ffn_down.weight.lora_a"] == (4, 64)
    assert shapes["blk.1.ffn_down.weight.lora_b"] == (32, 4)
    assert len(shapes) == 2 * 2 * 7


def test_an_adapter_of_another_file_is_refused(tmp_path: Path) -> None:
    checkpoint, _ = trained(tmp_path / "run", write_gguf(tmp_path / "model.gguf"))
    other = write_gguf(tmp_path / "other.gguf", seed=1)
    with pytest.raises(SettingsError, match=r"trained on another file than other\.gguf"):
        export(checkpoint, other, tmp_path / "adapter.gguf", kind="f16")
    assert not (tmp_path / "adapter.gguf").exists()


def test_a_model_of_another_family_is_refused(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "other.gguf", "gptj")
    writer.add_tensor("token_embd.weight", np.zeros((2, 2), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ModelRefused, match=r"other\.gguf is a gptj model: only qwen2 and llama"):
        load(tmp_path / "other.gguf")
    (tmp_path / "text.gguf").write_text("no model")
    with pytest.raises(ModelRefused, match="cannot be read as a GGUF file"):
        load(tmp_path / "text.gguf")


def test_an_adapter_begins_as_no_change(tmp_path: Path) -> None:
    model = write_gguf(tmp_path / "model.gguf")
    base = load(model, "float32")
    before = torch_logprobs(base)
    attach(base, 4, 8.0, seed=0)
    assert torch_logprobs(base) == before


def test_the_packaged_adapter_was_trained_on_the_templates_of_today() -> None:
    content, manifest = STORYTELLER.read_bytes(), json.loads(STORYTELLER.with_suffix(".json").read_text())
    assert (manifest["sha256"], manifest["bytes"]) == (hashlib.sha256(content).hexdigest(), len(content))
    assert manifest["settings"]["templates"] == templates_fingerprint(), (
        "a template of the storyteller was edited: train the adapter anew, or take the edit back"
    )
