"""What trains on an accelerator reads the model, and steps, as training on this machine does: it cannot import it there."""

import gguf
import numpy as np
import pytest
import torch

from training import accelerator, train
from training.weights import NAMES


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
