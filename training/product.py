"""All that training takes from the package itself, so that there is one place to follow its changes."""

from recurrentgpt.errors import ModelRefused, ModelUnavailable, RecurrentGPTError, SettingsError
from recurrentgpt.library import Library
from recurrentgpt.models.decoding import FACTS, PLANS_TAUGHT, WRITE_TAUGHT, Decoding, prose_tokens
from recurrentgpt.models.embedded.adapter import Adapter
from recurrentgpt.models.embedded.catalogue import EMBEDDER, WRITER
from recurrentgpt.models.embedded.fetch import fetch, sha256
from recurrentgpt.models.embedded.server import MOST_STORIES, embedded_server, side_by_side, stop_servers
from recurrentgpt.nodes.small.plot_moves import CLOSING_MOVES, MOVES, READERS_MOVES
from recurrentgpt.prompts import Prompts
from recurrentgpt.prompts.check import packaged
from recurrentgpt.prose.quotations import is_balanced
from recurrentgpt.prose.sentence_checks import find_fault
from recurrentgpt.prose.sentences import count_words, last_sentences, sentences, words
from recurrentgpt.story import Story
from recurrentgpt.studies.judging.statistics import FEWEST_FOR_INTERVAL, mean_interval
from recurrentgpt.studies.recording.jsonl import mend

__all__ = [
    "CLOSING_MOVES",
    "EMBEDDER",
    "FACTS",
    "FEWEST_FOR_INTERVAL",
    "MOST_STORIES",
    "MOVES",
    "PLANS_TAUGHT",
    "READERS_MOVES",
    "WRITER",
    "WRITE_TAUGHT",
    "Adapter",
    "Decoding",
    "Library",
    "ModelRefused",
    "ModelUnavailable",
    "Prompts",
    "RecurrentGPTError",
    "SettingsError",
    "Story",
    "count_words",
    "embedded_server",
    "fetch",
    "find_fault",
    "is_balanced",
    "last_sentences",
    "mean_interval",
    "mend",
    "packaged",
    "prose_tokens",
    "sentences",
    "sha256",
    "side_by_side",
    "stop_servers",
    "words",
]
