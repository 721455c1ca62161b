from itertools import pairwise

from recurrentgpt.models.decoding import prose_tokens, scene_grammar, scene_shape


def test_neighbouring_scenes_open_differently():
    shapes = [scene_shape(step, 3, 300) for step in range(1, 15)]
    assert all(first != second for first, second in pairwise(shapes))
    assert {shape[0] for shape in shapes} == {"A", "B", "D"}


def test_a_longer_scene_has_more_paragraphs():
    assert len(scene_shape(1, 1, 60)) < len(scene_shape(1, 1, 300)) < len(scene_shape(1, 1, 900))


def test_every_rule_of_the_grammar_is_defined():
    for shape, going_on, played in (("ABDNT", False, False), ("NT", True, False), ("ABDNT", False, True)):
        grammar = scene_grammar(shape, ["Lena", 'O"scar'], 3, going_on=going_on, played=played)
        rules = {line.split(" ::= ")[0] for line in grammar.splitlines() if line}
        root = grammar.splitlines()[0]
        assert {word for word in ("said", "act", "later", "narration", "talk") if f" {word}" in root} <= rules
        assert '"Oscar"' in grammar


def test_tokens_grow_with_words():
    assert prose_tokens(400) > 400 * 1.5
