"""Embedders: the hash of words, the folder's model, and their names."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding

from recurrentgpt.models.embedded.fetch import showing_progress
from recurrentgpt.models.embeddings import HashEmbeddings, MiniLM, default_embeddings, embedding_id
from recurrentgpt.schema.errors import SettingsError


def test_hashed_words_are_unit_vectors_and_alike_where_words_are_shared() -> None:
    near, other, far = np.array(
        HashEmbeddings().embed_documents(["the lamp went out", "The lamp, went out!", "nobody spoke"])
    )
    assert np.allclose(np.linalg.norm([near, far], axis=1), 1, atol=1e-6)
    assert near @ other == pytest.approx(1)
    assert near @ far < 0.5


@pytest.mark.parametrize("text", ["", "…", "word", "one two one two"])
def test_every_text_has_a_direction(text: str) -> None:
    vector = np.array(HashEmbeddings().embed_query(text))
    assert vector.shape == (256,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_hashes_are_the_same_in_every_process() -> None:
    script = "from recurrentgpt.models.embeddings import *; print(HashEmbeddings().embed_query('a lamp'))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{HashEmbeddings().embed_query('a lamp')}\n"}


def test_embedders_have_names(tmp_path: Path) -> None:
    assert embedding_id(HashEmbeddings()) == "hash-256"
    assert embedding_id(MiniLM()) == "all-MiniLM-L6-v2"
    assert embedding_id(DeterministicFakeEmbedding(size=4)) == "DeterministicFakeEmbedding"

    class Named(HashEmbeddings):
        model_id = ""
        model = "text-embedding-3-small"

    assert embedding_id(Named()) == "text-embedding-3-small"


def test_two_models_in_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    ids = set()
    for number in range(2):
        folder = tmp_path / str(number) / "model"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(f'{{"hidden_size": {number}}}')
        ids.add(embedding_id(MiniLM(folder)))
    assert len(ids) == 2


def test_the_default_is_one_per_process_and_follows_the_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("RECURRENTGPT_EMBEDDER")
    assert default_embeddings() is default_embeddings()
    assert embedding_id(default_embeddings()) == "all-MiniLM-L6-v2"
    monkeypatch.setenv("RECURRENTGPT_EMBEDDER", str(tmp_path / "nowhere"))
    with pytest.raises(SettingsError, match="RECURRENTGPT_EMBEDDER"):
        default_embeddings().embed_query("a lamp")


def test_a_folder_without_a_model_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(SettingsError, match=r"cannot be loaded.*RECURRENTGPT_EMBEDDER"):
        MiniLM(tmp_path).embed_query("a lamp")


@pytest.mark.real
def test_the_real_model_knows_meanings_and_keeps_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    embedder = MiniLM()
    found: list[list[float]] = []
    threads = [threading.Thread(target=lambda: found.append(embedder.embed_query("a cat"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.allclose(vector, found[0], atol=1e-5) for vector in found)
    cat, dog, law = np.array(embedder.embed_documents(["a cat", "a dog", "tax law"]))
    assert cat.shape == (384,)
    assert np.linalg.norm(cat) == pytest.approx(1, abs=1e-5)
    assert cat @ dog > cat @ law
    assert embedder.embed_documents([]) == []
    assert capfd.readouterr() == ("", "")


def test_a_model_that_is_loaded_is_told_of_while_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class Loaded:
        def __init__(self, *args: object, **kwargs: object) -> None:
            assert told == ["loading the model of recall"]

        def encode(self, texts: list[str], **kwargs: object) -> list[list[float]]:
            return [[1.0, 0.0] for _ in texts]

    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Loaded))
    embedder = MiniLM(tmp_path)
    with showing_progress(lambda done, total, what: told.append(what)):
        embedder.embed_query("a lamp")
        embedder.embed_query("a door")
    assert told == ["loading the model of recall", ""]
