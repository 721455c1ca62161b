import re

import pytest

from recurrentgpt.nodes.reply_schemas import choice_reply, dealt_reply, facts_reply, plans_reply
from recurrentgpt.nodes.small.plot_moves import deal
from recurrentgpt.nodes.small.reply_patterns import plan_patterns
from recurrentgpt.nodes.small.seed_ideas import deal_spark

NAMES = ["Lena Hale", "Oscar Moss", "Ruth Kane"]


def matches(schema, text):
    return re.fullmatch(schema["pattern"], text) is not None


def test_a_fact_is_one_sentence_that_names_its_subject():
    fact = facts_reply("English", people=NAMES).model_json_schema()["properties"]["facts"]["items"]
    assert matches(fact, "Lena keeps the key in her left boot.")
    assert not matches(fact, "She keeps the key in her left boot.")
    assert not matches(fact, "Lena keeps the key. Oscar knows it.")
    assert not matches(fact, "Lena keeps the 钥匙 in her left boot.")


def test_every_plan_begins_with_another_person_and_a_verb_of_its_move():
    moves = deal(1, 1, 3)
    reply = plans_reply(moves, "English", NAMES, 1)
    properties = reply.model_json_schema()["properties"]
    assert list(properties) == [move["name"] for move in moves]
    for person, turn, move in zip(("Oscar", "Ruth", "Lena"), ("But", "Then", "Now"), moves, strict=True):
        plan = f"{person} {move['verbs'][0]} the old ferry at the north landing. {turn} the bell rings and nobody is there."
        assert matches(properties[move["name"]], plan)
        assert not matches(properties[move["name"]], plan.replace(person, "Somebody"))
    plans = {move["name"]: f"plan {number}" for number, move in enumerate(moves)}
    assert reply.model_validate(plans).in_order() == ["plan 0", "plan 1", "plan 2"]


def test_a_plan_that_ran_into_its_limit_ends_with_a_whole_clause():
    moves = deal(1, 1, 1)
    (name,) = plans_reply(moves, "English", NAMES, 1).model_fields
    longer = "Oscar finds the ferry on the old north landing, where the rope was cut a year ago by the men who took the bell, "
    plan = f"{longer}but none of them saw the boy who sat in the reeds all night and they-. Now the bell rings."
    reply = plans_reply(moves, "English", NAMES, 1).model_validate({name: plan})
    assert reply.in_order() == [
        f"{longer}but none of them saw the boy who sat in the reeds all night. Now the bell rings."
    ]


def test_an_opening_is_bound_to_what_was_dealt():
    names, spark, moves = ["Ruth Kerr", "Otto Hale", "Lena Moss"], deal_spark("1", "mystery"), deal(0, 1, 3)
    reply = dealt_reply(names, moves)
    schema = reply.model_json_schema()["properties"]
    want = "She wants to find out who sent it, but the office is closed."
    assert matches(schema["want"], want)
    assert not matches(schema["want"], want.replace("She", "He"))
    assert matches(dealt_reply(names[1:], moves).model_json_schema()["properties"]["want"], want.replace("She", "He"))
    assert [item["pattern"].partition(" ")[0] for item in schema["first_scenes"]["prefixItems"]] == [
        f"^{name.split()[0]}" for name in names
    ]
    people = [
        "a clerk who needs her name back",
        "the porter of the house who fears a key of hers",
        "her aunt who lost the house to a debt",
    ]
    assert all(matches(item, who) for item, who in zip(schema["people"]["prefixItems"], people, strict=True))
    read = reply.model_validate({"title": "T", "want": want, "people": people, "outline": [], "first_scenes": ["one"]})
    opening = read.opening(names, f"{names[0]}, {spark}")
    assert opening.premise == f"{names[0]}, {spark}. {want}"
    assert [(person.name, person.who) for person in opening.characters] == list(zip(names, people, strict=True))
    assert opening.plans == ["one"]


def test_a_name_cannot_break_a_pattern():
    schema = choice_reply(3, "English", ["A(b [c"]).model_json_schema()["properties"]
    assert re.compile(schema["plan"]["pattern"])
    assert schema["index"]["enum"] == [1, 2, 3]


def test_other_languages_have_their_letters():
    fact = facts_reply("Russian", people=NAMES).model_json_schema()["properties"]["summary"]
    assert matches(fact, "Анна нашла старый ключ в доме.")
    fact = facts_reply("Chinese").model_json_schema()["properties"]["summary"]
    assert matches(fact, "她在旧房子里找到了钥匙。")


@pytest.mark.parametrize(
    ("name", "called"),
    [("Ruth Kerr", "Ruth"), ("The Lighthouse Keeper", "The Lighthouse Keeper"), ("Dr. Vance", "Dr Vance")],
)
def test_nobody_is_called_the(name, called):
    (pattern,) = plan_patterns([deal(0, 1, 1)[0]], [name])
    assert pattern.startswith(f"^{called} (")
