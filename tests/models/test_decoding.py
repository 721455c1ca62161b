import re
from itertools import pairwise

import pytest

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


def pattern_of(grammar: str, rule: str) -> str:
    """Return the regular expression of what a rule allows: no rule of these grammars is made of itself."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines() if line)
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|\[[^\]]+\]|[a-z]+|\{\d+,\d+\}|[|()?]', rules[rule])

    def translated(part: str) -> str:
        if part[0] == '"':
            return f"(?:{re.escape(part[1:-1].encode().decode('unicode_escape'))})"
        return f"(?:{pattern_of(grammar, part)})" if part[0].isalpha() else part

    return "".join(map(translated, parts))


@pytest.mark.parametrize(
    ("sentence", "allowed"),
    [
        ("The note did not say whose it was.", True),
        ("Lena wouldn't open the keepers' door.", True),
        ('It read, "Come home, Lena. I\'ve got your key!"', True),
        ("It read, 'Come home, Lena.", False),
        ("It read 'Come home' in red ink.", False),
        ("It read, Come home (Lena).", False),
    ],
)
def test_what_is_read_in_a_sentence_stands_in_double_quotation_marks(sentence, allowed):
    pattern = pattern_of(scene_grammar("N", ["Lena"], 3), "sentence")
    assert bool(re.fullmatch(pattern, sentence)) is allowed


def test_tokens_grow_with_words():
    assert prose_tokens(400) > 400 * 1.5
