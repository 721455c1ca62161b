"""What recall must find, by reading everything: the same figures by plain loops over texts."""

import math

import numpy as np

from recurrentgpt.memory.keyword_index import terms
from recurrentgpt.memory.query import query_parts
from recurrentgpt.memory.rows import codes

RARE = 4


def scores(embeddings, texts_of, part):
    """Return by passage the score of its best text: half its cosine, half its share of the part's rare words."""
    asked = np.asarray(embeddings.embed_query(part), dtype=float)
    every = [terms(text) for texts in texts_of.values() for text in texts]
    rarity = {}
    for word in terms(part):
        held = sum(word in found for found in every)
        if held and held * RARE <= len(every):
            rarity[word] = math.log(1 + len(every) / held) ** 2
    whole = sum(rarity.values()) or 1.0

    def score(text):
        vector = codes(np.asarray([embeddings.embed_query(text)], dtype=np.float32))[0].astype(float)
        cosine = float(vector @ asked) / float(np.linalg.norm(vector) * np.linalg.norm(asked) or 1.0)
        return (cosine + sum(rarity.get(word, 0.0) for word in terms(text)) / whole) / 2

    return {key: max(map(score, texts)) for key, texts in texts_of.items() if texts}


def expected(embeddings, texts_of, query, count, without=""):
    """Return the (id, score) that a search must find: the best passage of each part of the query in turn.

    `texts_of` holds the rows of all passages of the branch in the order of the story.
    """
    rankings = []
    for part in query_parts(query):
        found = {key: round(score, 6) for key, score in scores(embeddings, texts_of, part).items() if key != without}
        rankings.append(sorted(found.items(), key=lambda item: -item[1]))
    chosen = {}
    for depth in range(len(rankings[0])):
        for ranking in rankings:
            chosen.setdefault(*ranking[depth])
    return list(chosen.items())[:count]
