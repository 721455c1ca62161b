"""Templates that somebody brings: copied out, checked in every way, and refused before a model is asked."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

import pytest
from langgraph.store.memory import InMemoryStore

from recurrentgpt.graph.story import build_step_graph
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.prompts.check import check, check_once, export, packaged, problems
from recurrentgpt.prompts.loader import Prompts, render
from recurrentgpt.schema.context import Context
from recurrentgpt.schema.errors import PromptError
from recurrentgpt.testing import ScriptedChatModel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    export(tmp_path / "mine")
    return tmp_path / "mine"


def test_the_packaged_templates_are_copied_and_are_sound(folder: Path) -> None:
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")} == set(packaged())
    assert list(problems(folder)) == []
    check(folder)


def test_a_copy_overwrites_nothing(folder: Path) -> None:
    (folder / "novel/full/write.md").write_text("mine")
    with pytest.raises(PromptError, match="never overwritten"):
        export(folder)
    assert (folder / "novel/full/write.md").read_text() == "mine"


def test_what_both_modes_ask_in_the_same_words_is_one_template_and_is_replaced_in_each_by_itself(
    tmp_path: Path,
) -> None:
    files = [path.read_text() for path in Path(str(resources.files("recurrentgpt.prompts"))).glob("*/full/*.md")]
    assert len(files) == len(set(files))
    own = tmp_path / "fiction/full/codex.md"
    own.parent.mkdir(parents=True)
    own.write_text("Mine.")
    sources = [Prompts("full", tmp_path, mode=mode).source("codex") for mode in ("fiction", "novel")]
    assert sources == ["Mine.", packaged()["novel/full/codex.md"]]


@pytest.mark.parametrize(
    ("place", "text", "problem"),
    [
        ("novel/full/write.md", "{{ plan }} {{ memory }} {{ wether }}", "names wether, which it is not given"),
        ("novel/full/write.md", "{{ memory }}", "does not name plan"),
        ("fiction/small/facts.md", "Note what happened.", "does not name passage"),
        ("novel/small/open.md", "{% if genre %}", "line 1: Unexpected end of template"),
        ("novel/full/scene.md", "", "replaces no template; the templates there are novel/full/choose.md"),
        ("novel/small/choose.md", "=== user\n{{ plans }}\n=== assistant\nTwo.", "ends with a turn of the assistant"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(folder: Path, place: str, text: str, problem: str) -> None:
    (folder / place).write_text(text)
    (found,) = problems(folder)
    assert found.startswith(place)
    assert problem in found


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ("{{ brief.titel }}", "uses brief.titel"),
        ("{% if not previous %}{{ brief.titel }}{% endif %}", "uses brief.titel"),
        (
            "{% if invite %}{{ brief['titel'] }}{% endif %}",
            "uses brief['titel']",
        ),
        ("{% if goes_on %}{% for one in summaries %}{{ one.sumary }}{% endfor %}{% endif %}", "uses one.sumary"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "nested too deep"),
        ("{% if step %}" * 2000 + "{% endif %}" * 2000, "nested too deep"),
        ("x" * 1_000_001, "no text of at most"),
        ("{{ 10 ** (10 ** 8) }}", "a power that large"),
        ("{{ 'x' * 10 ** 9 }}", "a product that large"),
        ("{{ 'x' * 1000000000 }}", "a product that large"),
        ("{{ '%1000000000d' % 1 }}", "a format that wide"),
        ("{% for a in plan %}{% for b in plan %}{% for c in plan %}{% endfor %}{% endfor %}{% endfor %}", "two deep"),
        ("{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}", "a macro of a prompt calls no other one"),
        ("{{ '{:>10000000000}'.format(1) }}", "format() is nothing that a prompt calls"),
        ("{{ 'a'.ljust(10 ** 10) }}", "ljust() is nothing that a prompt calls"),
        ("{{ 'aaaa' | replace('a', 'b' * 100000) | replace('b', 'c' * 100000) }}", "more than 400,000 characters"),
        ("{% set x = 'a' * 99999 %}" + "{% set x = x ~ x %}" * 40, "more than 400,000 characters"),
        ("{% set x = 'a' * 99999 %}" + "{% set x = x + x %}" * 40, "a sum that long"),
        ("{% set x = 'a' * 99999 %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 40, "more than 400,000 characters"),
        ("{% for a in 'a' * 99999 %}{% endfor %}", "more than 50,000 times"),
        (
            "{% macro m(f, n) %}{{ f(f, n - 1) if n }}{{ f(f, n - 1) if n }}{% endmacro %}{{ m(m, 99) }}",
            "50,000 times",
        ),
        ("{% set x = [1] %}" + "{% set x = [x, x] %}" * 40 + "{{ x }}", "50,000 times"),
        ("{% set x = (1,) %}" + "{% set x = (x, x) %}" * 40 + "{{ [x, x] | unique | list }}", "50,000 times"),
        ("{% set x = {'a': 1} %}" + "{% set x = {'a': x, 'b': x} %}" * 40 + "{{ x }}", "50,000 times"),
        ("{% set x = 1 %}" + "{% set x = dict(a=x, b=x) %}" * 40 + "{{ x }}", "50,000 times"),
        ("{% set x = [1] %}" + "{% set x = [x] * 300 %}" * 6 + "{{ x }}", "50,000 times"),
        ("{% set x = [1] %}" + "{% set x = [x, x] | sum(start=[]) %}" * 40, "a sum that is not of numbers"),
        ("{% set x = 'a' * 99999 %}{{ [x, x, x, x, x] }}", "more than 400,000 characters"),
        ("{{ ('%(a)s' * 9999) % {'a': 'a' * 9999} }}", "more than 400,000 characters"),
        (
            "{% set z = 'a ' * 199999 %}{% for a in z[:200] %}{% for b in z[:200] %}{{ z | wordcount }}{% endfor %}{% endfor %}",
            "for more than 2 seconds",
        ),
        ("{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}", "does not call itself"),
        ("{{ 1 // 0 }}", "does not fit the values"),
        ("{{ brief.title + 1 }}", "cannot be used"),
    ],
)
def test_a_template_is_filled_before_it_is_believed(folder: Path, extra: str, problem: str) -> None:
    (folder / "novel/full/write.md").write_text("{{ plan }} {{ memory }} " + extra)
    (found,) = problems(folder)
    assert "novel/full/write.md" in found
    assert problem in found


def test_a_template_puts_texts_together_as_its_author_is_used_to() -> None:
    source = """{{ ", ".join(names) }} {{ names[0].replace("a", "o") }} {{ 11 | replace("1", 2) }}"""
    assert render("here", source, {"names": ["Mara", "Bo"]}) == "Mara, Bo Moro 22"
    source = "{{ 2.567 | round(1) }} {{ 2.1 | round(0, 'ceil') }} {{ 5 | round(-999999999) }} {{ texts | tojson }}"
    source += "{{ 'a' | indent(2, true) }}"
    assert render("here", source, {"texts": ["ä < b"]}) == '2.6 3.0 0 ["ä < b"]  a'
    assert (
        render("here", "{% set n = namespace(a=1) %}{% set n.a = [n.a, 2] %}{{ n.a }} {{ [1, 2] | sum }}", {})
        == "[1, 2] 3"
    )
    with pytest.raises(PromptError, match="makes more than"):
        render("here", "{{ long.replace('a', long) }}", {"long": "a" * 1000})


def test_a_template_that_is_no_text_is_a_sentence(folder: Path) -> None:
    (folder / "novel/full/write.md").write_bytes(b"\xff\xfe\x00 plan")
    assert [problem for problem in problems(folder) if "UTF-8" in problem]


def test_a_template_that_is_a_pipe_is_not_waited_for(folder: Path) -> None:
    (folder / "novel/full/write.md").unlink()
    os.mkfifo(folder / "novel/full/write.md")
    (found,) = problems(folder)
    assert "no text of at most" in found


def test_a_folder_that_is_missing_or_holds_nothing_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="There is no folder"):
        check(tmp_path / "nowhere")
    (tmp_path / "notes.md").write_text("Not a template")
    with pytest.raises(PromptError, match="holds no template"):
        check(tmp_path)


def test_a_bad_template_is_refused_before_any_call(folder: Path) -> None:
    (folder / "novel/full/choose.md").write_text("{{ plans }} {{ nothing }}")
    model = ScriptedChatModel()
    graph = build_step_graph(store=InMemoryStore())
    with pytest.raises(PromptError, match="names nothing"):
        graph.invoke({}, context=Context(model=model, prompts=str(folder)))
    assert model.calls == []


def test_a_good_template_reaches_the_model(folder: Path) -> None:
    (folder / "novel/full/write.md").write_text("Sing of this: {{ plan }} {{ memory }}")
    check_once.cache_clear()
    model = ScriptedChatModel()
    build_step_graph(store=InMemoryStore()).invoke(
        {}, context=Context(model=model, embeddings=HashEmbeddings(), prompts=str(folder))
    )
    assert any("Sing of this: " in str(message.text) for call in model.calls for message in call)
