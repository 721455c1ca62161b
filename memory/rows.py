"""How the vectors of rows are kept: as small whole numbers, two a byte, deflated."""

from __future__ import annotations

import base64
import zlib

import numpy as np
from numpy.typing import NDArray

LEVELS = 7
"""Steps of a stored number to either side of zero: 4 bits, of which a byte holds two."""

PEAK = 127
"""Greatest of the whole numbers that a vector is searched by, and about its length."""

Matrix = NDArray[np.float32]
Codes = NDArray[np.int8]


def unit(vectors: Matrix) -> Matrix:
    """Return the rows scaled to length one, so that an inner product is a cosine."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Matrix = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled


def codes(vectors: Matrix) -> Codes:
    """Return vectors as small whole numbers, each stretched to the range: how long it was is not kept, only where it points."""
    peaks = np.maximum(np.abs(vectors).max(axis=1, initial=0.0, keepdims=True), 1e-12)
    numbers: Codes = np.rint(vectors / peaks * LEVELS).astype(np.int8)
    return numbers


def directions(numbers: Codes) -> Codes:
    """Return codes of any range as whole numbers of one byte, all vectors about `PEAK` long, so that FAISS may compare them."""
    wide = numbers.astype(np.float32)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    pointing: Codes = np.rint(wide * (PEAK / np.where(lengths, lengths, np.inf))).astype(np.int8)
    return pointing


def deflate(data: bytes) -> str:
    """Return data compressed, as base64."""
    return base64.b64encode(zlib.compress(data)).decode("ascii")


def inflate(text: str) -> bytes:
    """Return data that was compressed; raise ValueError where it is damaged."""
    try:
        return zlib.decompress(base64.b64decode(text))
    except zlib.error as error:
        raise ValueError("What was compressed is damaged.") from error


def pack(numbers: Codes) -> bytes:
    """Return codes two numbers a byte: 192 bytes for a row of 384 numbers."""
    halves = (np.pad(numbers, ((0, 0), (0, numbers.shape[1] % 2))) + LEVELS + 1).astype(np.uint8)
    return (halves[:, ::2] << 4 | halves[:, 1::2]).tobytes()


def unpack(packed: bytes, dimension: int) -> Codes:
    """Return packed codes as an array of shape (n, dimension)."""
    width = -(-dimension // 2)
    pairs = np.frombuffer(packed, dtype=np.uint8).reshape(-1, width)
    numbers = np.stack([pairs >> 4, pairs & 15], axis=2).reshape(-1, 2 * width)[:, :dimension]
    return numbers.astype(np.int8) - np.int8(LEVELS + 1)
