"""What recall must find, by reading everything: the same figures by plain loops over texts."""

import math

import numpy as np

from recurrentgpt.memory.excerpts import terms
from recurrentgpt.memory.query import query_parts
from recurrentgpt.memory.rows import codes, directions

RARE, WORDS, ALIKE = 4, 0.4, 0.75


def scores(embeddings, texts_of, part):
    """Return by passage the score of its best text: its cosine less that with the mean text, and its share of the rare words."""
    asked = np.asarray(embeddings.embed_query(part), dtype=float)
    asked /= np.linalg.norm(asked) or 1.0
    every = [terms(text) for texts in texts_of.values() for text in texts]
    rarity = {}
    for word in terms(part):
        held = sum(word in found for found in every)
        if held and held * RARE <= len(every):
            rarity[word] = math.log(1 + len(every) / held) ** 4
    whole = max(sum(rarity.values()), math.log(1 + len(every)) ** 4) or 1.0

    def unit(text):
        vector = directions(codes(np.asarray([embeddings.embed_query(text)], dtype=np.float32)))[0].astype(float)
        return vector / (np.linalg.norm(vector) or 1.0)

    vectors = {text: unit(text) for texts in texts_of.values() for text in texts}
    mean = sum(vectors[text] for texts in texts_of.values() for text in texts) / (len(every) or 1)

    def score(text):
        shared = sum(rarity.get(word, 0.0) for word in terms(text)) / whole
        return (float(vectors[text] @ (asked - ALIKE * mean)) + WORDS * shared) / (1 + WORDS)

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
