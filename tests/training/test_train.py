"""Training: what is learnt, what is held out, and that a run that was broken off comes to the same numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from recurrentgpt.schema.errors import SettingsError
from training.conversation import exchanges, templates_fingerprint
from training.data import line
from training.encode import Example, encode, tokenizer
from training.int8 import Int8Linear
from training.lora import tensors
from training.loss import loss, mean_loss
from training.train import BEST, CHECKPOINT, LOG, Run, Settings, examples, held_out, main, read_checkpoint
from training.weights import Precision, load

from .scenes import premise, scene
from .tiny import write_gguf

SETTINGS = Settings(
    "base",
    "data",
    "templates",
    rank=4,
    alpha=8.0,
    learning_rate=0.02,
    epochs=3,
    accumulate=2,
    evaluate_every=2,
    precision="float32",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")


def some(model: Path, texts: int = 4) -> list[Example]:
    tokens = tokenizer(model)
    return [
        encode(tokens, f"{number}", "novel", exchanges(scene(passage=f"She counted {number} boats. " * 4))[:1], 4096)
        for number in range(texts)
    ]


def run(folder: Path, model: Path, **changes: Any) -> Run:
    data = some(model)
    settings = Settings(**(vars(SETTINGS) | changes))
    return Run(folder, settings, load(model, settings.precision), data[:3], data[3:], report=lambda text: None)


def adapter(trained: Run) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().clone() for name, parameter in tensors(trained.adapters)}


def test_only_the_replies_are_learnt(model: Path) -> None:
    tokens = tokenizer(model)
    done = exchanges(scene())
    found = encode(tokens, "tide", "novel", done, 8192)
    learnt = tokens.decode(found.ids[0][found.learnt])
    assert [exchange.call for exchange in done] == ["write", "facts", "plans", "choose"]
    assert learnt == "".join(f"{exchange.reply}<|im_end|>\n" for exchange in done)
    assert tokens.decode(found.ids[0]).startswith("<|im_start|>system\nYou are a novelist.")


def test_a_conversation_that_is_too_long_is_refused(model: Path) -> None:
    with pytest.raises(SettingsError, match=r"tide scene 1 has \d+ tokens, more than 100"):
        encode(tokenizer(model), "tide scene 1", "novel", exchanges(scene()), 100)


def test_a_template_that_rewrites_what_was_said_is_refused(tmp_path: Path) -> None:
    forgetful = "{{ messages | length }}{% for message in messages %}{{ message.content }}{% endfor %}"
    tokens = tokenizer(write_gguf(tmp_path / "other.gguf", template=forgetful))
    with pytest.raises(SettingsError, match="rewrites earlier turns"):
        encode(tokens, "tide", "novel", exchanges(scene()), 8192)


def test_a_model_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="has no chat template"):
        tokenizer(write_gguf(tmp_path / "bare.gguf", template=""))


def test_a_prompt_that_is_read_first_changes_no_loss(model: Path) -> None:
    base, (example, *_) = load(model, "float32"), some(model)
    logits = base.model(input_ids=example.ids).logits[0, :-1][example.learnt[1:]].float()
    whole = torch.nn.functional.cross_entropy(logits, example.ids[0, 1:][example.learnt[1:]])
    assert loss(base, example).item() == pytest.approx(whole.item(), abs=1e-5)
    alone = Example("no prompt", example.ids, torch.ones_like(example.learnt))
    assert loss(base, alone).item() > 0


def test_eight_bits_change_a_layer_and_its_gradient_little() -> None:
    numbers = torch.Generator().manual_seed(0)
    exact = torch.nn.Linear(64, 96)
    exact.requires_grad_(False)
    rounded = Int8Linear(exact)
    for few_or_many in (1, 40):
        # One token and one input that are far larger than the others, as a trained model has them.
        x = torch.randn(2, few_or_many, 64, generator=numbers)
        x[0, 0] *= 50
        given = torch.randn(2, few_or_many, 96, generator=numbers)
        found = []
        for layer in (exact, rounded):
            entered = x.clone().requires_grad_(True)
            out = layer(entered)
            out.backward(given)
            found.append((out.detach(), entered.grad))
        for wanted, got in zip(*found, strict=True):
            assert got.shape == wanted.shape
            assert float((got - wanted).norm() / wanted.norm()) < 0.02


def test_the_gradient_of_a_reply_enters_the_layers_as_it_is(model: Path) -> None:
    entered = []
    for base in (load(model, "float32"), load(model, "int8")):
        hidden = torch.randn(3, 32, generator=torch.Generator().manual_seed(0)).requires_grad_(True)
        torch.nn.functional.cross_entropy(base.model.lm_head(hidden), torch.tensor([1, 5, 9])).backward()
        entered.append(hidden.grad)
    assert torch.equal(*entered)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_run_lowers_the_loss_and_changes_nothing_but_the_adapter(
    tmp_path: Path, model: Path, precision: Precision
) -> None:
    learning = run(tmp_path, model, precision=precision)
    frozen = learning.base.model.model.embed_tokens.weight.clone()
    before = mean_loss(learning.base, learning.learn)
    assert learning.train()
    assert mean_loss(learning.base, learning.learn) < 0.8 * before
    assert torch.equal(learning.base.model.model.embed_tokens.weight, frozen)
    measured = [row["held_out"] for row in learning.progress.history if "held_out" in row]
    assert learning.progress.best == min(measured) < measured[0]


def test_a_run_that_was_broken_off_comes_to_the_same_numbers(tmp_path: Path, model: Path) -> None:
    whole = run(tmp_path / "whole", model)
    whole.train()
    for _ in range(2):
        assert not run(tmp_path / "parts", model).train(most_steps=1)
    last = run(tmp_path / "parts", model)
    assert last.progress.step == 2
    assert last.train()

    again = adapter(last)
    assert all(torch.equal(tensor, again[name]) for name, tensor in adapter(whole).items())
    history = [[{**row, "seconds": 0} for row in one.progress.history] for one in (whole, last)]
    assert history[0] == history[1]
    logged = [json.loads(text) for text in (tmp_path / "parts" / LOG).read_text().splitlines()]
    assert [row["step"] for row in logged if "loss" in row] == [1, 2, 3, 4]


def test_an_interrupted_measurement_is_made_again(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tmp_path / "whole", model)
    whole.train()
    broken, asked = run(tmp_path / "broken", model), list[int]()

    def interrupted(*arguments: Any) -> float:
        asked.append(broken.progress.step)
        if broken.progress.step:
            raise KeyboardInterrupt
        return mean_loss(*arguments)

    monkeypatch.setattr("training.train.mean_loss", interrupted)
    with pytest.raises(KeyboardInterrupt):
        broken.train()
    assert asked == [0, 2], "interrupted at the first measurement after the one that was before all steps"
    monkeypatch.setattr("training.train.mean_loss", mean_loss)
    resumed = run(tmp_path / "broken", model)
    assert resumed.train()
    measured = [
        [(row["step"], row["held_out"]) for row in one.progress.history if "held_out" in row]
        for one in (whole, resumed)
    ]
    assert measured[0] == measured[1]


def test_an_interrupted_step_is_done_again(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tmp_path / "whole", model)
    whole.train()
    broken = run(tmp_path / "broken", model)
    broken.train(most_steps=1)
    step = torch.optim.AdamW.step

    def interrupted(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(torch.optim.AdamW, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        broken.train()
    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    resumed = run(tmp_path / "broken", model)
    resumed.train()
    again = adapter(resumed)
    assert all(torch.equal(tensor, again[name]) for name, tensor in adapter(whole).items())


def test_a_run_stops_when_the_held_out_loss_no_longer_falls(tmp_path: Path, model: Path) -> None:
    # At such a rate it only gets worse.
    wild = run(tmp_path, model, learning_rate=50.0, epochs=40, evaluate_every=1, patience=2)
    assert wild.train()
    assert wild.progress.step < wild.total
    assert wild.progress.stale == 2
    best, _ = read_checkpoint(tmp_path / BEST)
    last, metadata = read_checkpoint(tmp_path / CHECKPOINT)
    name = "blk.0.attn_q.weight.lora_b"
    assert not torch.equal(best[name], last[name])
    assert json.loads(metadata["settings"])["learning_rate"] == 50.0


def test_a_folder_holds_one_run(tmp_path: Path, model: Path) -> None:
    run(tmp_path, model).save()
    with pytest.raises(SettingsError, match="a run with another learning_rate and rank"):
        run(tmp_path, model, learning_rate=0.1, rank=8)


def test_a_damaged_checkpoint_is_told(tmp_path: Path, model: Path) -> None:
    (tmp_path / CHECKPOINT).write_bytes(b"half of a file")
    with pytest.raises(SettingsError, match="cannot be read"):
        run(tmp_path, model)


def test_a_story_is_wholly_held_out_or_not_at_all(model: Path) -> None:
    stories = [f"story {number}" for number in range(40)]
    share = sum(held_out(story, 0.25) for story in stories) / len(stories)
    assert 0.1 < share < 0.4
    scenes = [scene(story=story, step=step) for story in stories[:8] for step in (1, 2)]
    learn, measure = examples(tokenizer(model), scenes, [premise(stories[0])], 0.25, 8192)
    assert len(learn) + len(measure) == 19, "two scenes of each, and three ways to found the one that was laid out"
    sides = {name.rpartition(" scene")[0].removesuffix(" opening") for name in (example.name for example in learn)}
    assert not sides & {example.name.rpartition(" scene")[0] for example in measure if "scene" in example.name}


def test_the_command_trains_from_files_and_goes_on(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(line(scene(story=f"s{number}")) for number in range(2)))
    command = [str(data), "-o", str(tmp_path / "run"), "--model", str(model), "--rank", "4", "--accumulate", "1"]
    command += ["--epochs", "1", "--held-out", "0", "--longest", "8192"]
    assert main([*command, "--most-steps", "1"]) == 0
    assert "goes on from here" in capsys.readouterr().out
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "Going on from step 1 of 2." in shown
    assert "The run is complete." in shown
    _, metadata = read_checkpoint(tmp_path / "run" / CHECKPOINT)
    assert json.loads(metadata["settings"])["templates"] == templates_fingerprint()
    assert main([*command, "--seed", "1"]) == 1
    assert "a run with another seed" in capsys.readouterr().err


def test_layers_below_the_first_one_stay_as_they_are(tmp_path: Path, model: Path) -> None:
    trained = run(tmp_path, model, first_layer=1)
    trained.train(most_steps=1)
    assert {name.split(".")[1] for name in trained.adapters} == {"1"}
    with pytest.raises(SettingsError, match="layers 0 to 1, not 2"):
        run(tmp_path / "other", model, first_layer=2)


def test_a_run_begins_with_the_adapter_of_another(tmp_path: Path, model: Path) -> None:
    first = run(tmp_path / "first", model)
    first.train(most_steps=1)
    taken, _ = read_checkpoint(tmp_path / "first" / CHECKPOINT)
    data = some(model)
    settings = Settings(**(vars(SETTINGS) | {"begin_with": "first"}))
    base = load(model, "float32")
    second = Run(tmp_path / "second", settings, base, data[:3], data[3:], begin_with=taken, report=lambda text: None)
    assert all(torch.equal(second_one, adapter(first)[name]) for name, second_one in adapter(second).items())
    assert second.progress.step == 0
