"""What recall must find, by reading everything: the same figures by plain loops over texts."""

import math

import numpy as np

from recurrentgpt.memory.keyword_index import terms

RARE = 4


def scores(embeddings, texts_of, query):
    """Return by passage the score of its best text: half its cosine, half its share of the query's rare words."""
    asked = np.asarray(embeddings.embed_query(query), dtype=float)
    every = [terms(text) for texts in texts_of.values() for text in texts]
    rarity = {}
    for word in terms(query):
        held = sum(word in found for found in every)
        if held and held * RARE <= len(every):
            rarity[word] = math.log(1 + len(every) / held) ** 2
    whole = sum(rarity.values()) or 1.0

    def score(text):
        vector = np.asarray(embeddings.embed_query(text), dtype=float)
        cosine = float(vector @ asked) / float(np.linalg.norm(vector) * np.linalg.norm(asked) or 1.0)
        return (cosine + sum(rarity.get(word, 0.0) for word in terms(text)) / whole) / 2

    return {key: max(map(score, texts)) for key, texts in texts_of.items() if texts}
