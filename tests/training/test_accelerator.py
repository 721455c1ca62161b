"""What trains on an accelerator reads the model, and steps, as training on this machine does: it cannot import it there."""

from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from training import accelerator, pack, train
from training.encode import tokenizer
from training.weights import NAMES

from .scenes import scene
from .tiny import write_gguf


@pytest.mark.parametrize(("kind", "size", "scales"), [("Q4_K", 144, (0, 4)), ("Q6_K", 210, (208, 210))])
def test_the_blocks_of_a_model_are_read_as_gguf_reads_them(kind: str, size: int, scales: tuple[int, int]) -> None:
    dealer = np.random.default_rng(0)
    blocks = dealer.integers(0, 256, (64, size), dtype=np.uint8)
    first, last = scales
    numbers = dealer.uniform(0.001, 0.01, (64, (last - first) // 2)).astype(np.float16)
    blocks[:, first:last] = numbers.view(np.uint8)
    expected = gguf.dequantize(blocks, gguf.GGMLQuantizationType[kind])
    found = accelerator.DEQUANTIZE[kind](torch.from_numpy(blocks)).numpy().reshape(expected.shape)
    assert np.array_equal(found, expected)


def test_what_both_trainers_have_is_the_same() -> None:
    assert accelerator.NAMES == NAMES
    shared = ("BETAS", "WEIGHT_DECAY", "GRADIENT_NORM", "WARM_UP", "LOWEST")
    assert [getattr(accelerator, name) for name in shared] == [getattr(train, name) for name in shared]


def test_a_mended_scene_goes_along_with_the_draft_that_it_is_better_than(tmp_path: Path) -> None:
    tokens = tokenizer(write_gguf(tmp_path / "tiny.gguf"))
    mended = [scene(draft="Nora opens the desk, and the desk opens Nora."), scene(step=2)]
    (pair,) = pack.preferences(tokens, mended, 0.0)
    assert tokens.decode(pair["better"]) == mended[0].passage + tokens.eos_token
    assert tokens.decode(pair["worse"]) == mended[0].draft + tokens.eos_token
    assert mended[0].plan in tokens.decode(pair["asked"])
    assert pack.preferences(tokens, mended, 1.0) == []


def test_what_a_reply_has_said_is_less_likely_and_what_it_was_asked_is_not() -> None:
    penalties = accelerator.WeakPenalties(2, presence=0.5, frequency=0.25)
    scores = penalties(torch.tensor([[0, 1, 2, 2], [0, 1, 3, 0]]), torch.zeros(2, 4))
    assert scores.tolist() == [[0.0, 0.0, -1.0, 0.0], [-0.75, 0.0, 0.0, -0.75]]
