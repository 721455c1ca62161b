"""Graphs with other defaults: below what a run says, and in the form that Studio draws."""

import json
import runpy
from copy import deepcopy
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from recurrentgpt.graph.story import build_step_graph, build_story_graph, fiction, novel, novel_autonomous, one_step
from recurrentgpt.infrastructure.settings import MACHINE_SETTINGS
from recurrentgpt.schema.context import Context, resolve_context
from recurrentgpt.schema.errors import SettingsError

ROOT = Path(__file__).parents[2]
FICTION = {"mode": "fiction"}


@pytest.mark.parametrize(
    ("given", "mode"),
    [(None, "fiction"), (object(), "fiction"), ({}, "fiction"), ({"mode": None}, "fiction"), (Context(), "fiction"),
     (Context(steps=3), "fiction"), ({"mode": "novel"}, "novel"), (Context(mode="novel"), "novel")],
)  # fmt: skip
def test_defaults_hold_below_what_is_given(given, mode):
    assert resolve_context(given, FICTION).mode == mode


@pytest.mark.parametrize("build", [build_story_graph, build_step_graph])
@pytest.mark.parametrize(
    ("defaults", "why"),
    [(Context(mode="fiction"), "a mapping of settings"), ({"moode": "fiction"}, "no setting 'moode'"), ({"steps": -1}, "steps")],
    ids=["no_mapping", "unknown", "out_of_bounds"],
)  # fmt: skip
def test_defaults_that_no_run_could_use_are_refused_when_the_graph_is_built(build, defaults, why):
    with pytest.raises(SettingsError, match=why):
        build(defaults=defaults)


def test_what_is_changed_after_it_was_made_counts_as_given():
    context = Context()
    context.mode = "fiction"
    assert resolve_context(context, {"mode": "novel", "steps": 4}) == Context(mode="fiction", steps=4)


@pytest.mark.parametrize("build", [build_story_graph, build_step_graph])
@pytest.mark.parametrize("given", [{}, None, Context(plans=2)], ids=["dict", "none", "ours"])
async def test_every_node_and_route_goes_by_the_defaults(build, given, context, monkeypatch):
    seen = []
    usual = context()
    monkeypatch.setattr(
        "recurrentgpt.nodes.runtime.resolve_context", lambda *args: seen.append(resolve_context(*args)) or seen[-1]
    )
    defaults = {**usual.given, "selector": "simulator", "steps": 2}
    graph = build(checkpointer=InMemorySaver(), store=InMemoryStore(), defaults=defaults)
    config = {"configurable": {"thread_id": "t"}}
    result = await graph.ainvoke({"premise": "Mira tends a lamp."}, config, context=given)
    assert result["step"] == (2 if build is build_story_graph else 1)
    assert "__interrupt__" not in result
    assert {(one.selector, one.steps, id(one.model)) for one in seen} == {("simulator", 2, id(usual.model))}


@pytest.mark.parametrize(
    ("graph", "shown"),
    [(novel, ("novel", "human", 0)), (fiction, ("fiction", "human", 0)), (novel_autonomous, ("novel", "simulator", 10)),
     (one_step, ("novel", "human", 0))],
    ids=["novel", "fiction", "novel_autonomous", "one_step"],
)  # fmt: skip
def test_the_forms_show_what_holds(graph, shown):
    fields = graph.get_context_jsonschema()["properties"]
    assert tuple(fields[name]["default"] for name in ("mode", "selector", "steps")) == shown
    assert "embeddings" not in fields, "no form can hold one"
    assert all(field.get("description") for field in fields.values())
    given = graph.get_input_jsonschema()
    assert "required" not in given
    assert all("default" in field and field["description"] for field in given["properties"].values())
    returned = graph.get_output_jsonschema()["properties"]
    assert all(field["description"] for field in returned.values())


def test_langgraph_json_names_what_is_there():
    from importlib import import_module

    config = json.loads((ROOT / "langgraph.json").read_text())
    assert list(config["graphs"]) == ["novel", "fiction", "novel_autonomous", "one_step"]
    for name, served in config["graphs"].items():
        assert served["description"].endswith(".")
        path, _, attribute = served["path"].partition(":")
        assert attribute == name, "files, since not every server imports modules"
        graph = runpy.run_path(str(ROOT / path))[attribute]
        assert (graph.name, graph.checkpointer, graph.store) == (name, None, None)
        assert graph.config["recursion_limit"] == 1_000_000
        assert deepcopy(graph.config) == graph.config, "Aegra copies it for each run, or keeps no checkpoints"
    for part in ("checkpointer", "store"):
        module, _, attribute = config[part]["path"].rpartition(".")
        assert callable(getattr(import_module(module), attribute))


def test_the_example_of_an_environment_names_what_can_be_set():
    lines = (ROOT / ".env.example").read_text().splitlines()
    named = [line.removeprefix("# ").partition("=")[0] for line in lines if "=" in line]
    assert named == [setting.variable for setting in MACHINE_SETTINGS]
    assert all(line.startswith("#") for line in lines if line), "copied as it is, it sets nothing"


@pytest.mark.parametrize("name", ["messages", "plan"])
async def test_one_step_takes_its_plan_either_way(context, name):
    step = build_step_graph(store=InMemoryStore())
    first = await step.ainvoke({"premise": "Mira tends a lamp."}, context=context())
    second = await step.ainvoke({"story": first["story"], name: "Bo hides a spoon."}, context=context())
    assert (second["step"], second["plan"]) == (2, "Bo hides a spoon.")
