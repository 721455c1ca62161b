"""What people type when asked what happens next: what they mean for a plan stays one, and nothing else becomes one."""

import re

import pytest

from recurrentgpt.nodes.human.answers import parse_answer
from recurrentgpt.nodes.human.phrases import is_no_premise
from recurrentgpt.schema.errors import BadAnswer

OFFERED = ["Mira follows the keeper to the tower.", "Oswin burns the ledger.", "The harbour bell rings under water."]

OF_THE_STORY = """
They pay 2 coins
Plan B fails
Plan 2 fails.
The second bell rings
Rain.
North
Run!
Mira dies
Mira dies.
He lies.
They kiss.
A storm breaks.
Two more ships arrive.
The first to fall is Oswin.
The last one leaves the room.
Mira takes the second key.
She picks one card, then another.
Oswin takes 2 and hides 3.
We go first.
I love you.
I take the lamp.
I want more
I choose you
We choose the king.
You have 2 wishes.
Mira makes it longer by a yard.
Make it rain.
Make her remember.
Make peace with the bishop.
Rewrite the will in her favour.
Rewrite history at the archive.
Repeat the spell until the door opens.
Regenerate the shield before the dragon wakes.
End the feud with a wedding.
End the siege before winter.
Stop the clock before noon.
Finish the bridge.
Read the letter aloud.
Show the map to Edda.
Tell the story of the drowned bell to the children.
List of the dead is found in the chapel.
Explain nothing, and leave.
Give them the ledger.
Give me your hand, says Oswin.
Mira asks: who are you?
Mira asks him, "Who are you?"
"Who goes there?" calls the watchman.
"Who goes there?"
What if Mira dies?
What if the keeper is her father?
How about a storm?
Why not kill the king?
Mira opens the box. What is in it?
Mira wakes up... where is Oswin?
Who is Mira? Nobody knows, and the town votes.
What is done cannot be undone.
What Mira finds in the cellar changes everything.
Who dares wins the crown.
When the tide turns, they sail.
Where the river bends, Mira waits.
Is it a trap? Oswin goes in all the same.
It is too late.
Too late.
It was a good night for sailing.
Good news reaches the camp.
Great waves sink the boat.
Thanks to Edda, the gate is open.
Thank the old man and leave.
Later that night, the lamp goes out.
Later.
Perfect silence fell.
The wonderful machine stops.
That was the signal; they attack.
That is all she ever wanted, and she burns it.
This is the end of the old king.
Enough of waiting: they storm the gate.
Done with the harbour, Mira turns inland.
Wait for the moon, then cross.
Wait until dawn.
Another story reaches the inn: the king is dead.
A new plan is made in the cellar.
They make a new plan.
They need other options, so they ask the witch.
Mira offers Oswin three choices.
Mira chooses for him.
You decide to trust Oswin.
Let the prisoner choose.
Let the bell ring.
Continue the search for Mira in the cellar.
Continue to the coast.
Continue with the funeral.
Go with Edda.
Go on to the mill.
Proceed with caution into the cave.
Pick the lock.
Choose a horse and ride.
Take two horses.
Use the second door.
Follow the third sister home.
2 soldiers enter the house.
2 coins are missing, and Oswin is blamed.
12: the hour strikes
At 2 in the morning the phone rings.
At 2:30 the phone rings.
Chapter two of the ledger is missing.
Option holders storm the bank.
The option expires at 3.
The plan for the third robbery is stolen.
No one answers.
None of them comes back.
Any of these doors may be the one; Mira tries all.
Mira and Oswin marry in secret
Darker clouds gather over the bay.
Shorter days come, and the harbour freezes.
More guards arrive.
More wine!
Surprise: the keeper is her father.
The writing on the wall glows.
The dialogue between the priest and the devil begins
Summer comes.
Mira stirbt im Turm.
Oswin verbrennt das Buch, und die Glocke läutet 2 Mal.
Was wäre, wenn Mira stirbt?
Mira meurt dans la tour.
Et si Mira mourait ?
Mira paga 2 monedas y se va.
¿Y si Mira muere?
Mira apre la porta e trova 3 lettere.
Мира умирает.
А что, если Мира умрёт?
米拉死了。
如果米拉死了呢？
ミラは塔に登る。
미라는 2개의 동전을 낸다.
The dragon wakes.
Elena gives Marco the first ring.
He goes back to the inn for his 3 knives.
Number Six escapes.
They vote to leave.
They choose exile.
The choice is hers, and she takes the sword.
Make love, not war
A third option appears: the bridge.
The second option was a lie; they die.
Second floor, room 2: the body is gone.
Take the stairs.
Take it.
Take it all.
See you in hell, says the captain.
The best of them falls first.
We win.
I wake.
I run for it.
We want peace.
I want to go home.
I want to go with Edda.
I'd like to meet the queen.
Let's rob the bank.
Let's go.
Let me die, begs Oswin.
Tell me more, says the priest.
Tell her the truth.
Tell them who did it.
Tell everybody that the king is dead.
Show mercy.
Show them the door.
Describe the battle from the horse's view.
List the sins of the bishop, one by one, in the pulpit.
Introduce a rival from the south.
Add a twist: the ledger is forged.
Add more tension between Mira and Oswin.
Skip to the next morning.
Jump ahead ten years.
Have Mira confess.
Let Mira find a letter from her mother.
Cut to the harbour.
Write a scene where Mira meets the devil.
Write about the war.
More rain falls.
Not a soul is left.
No more lies: Mira confesses.
No, she says, and leaves.
Yes, says Mira, and marries him.
OK, so the horse bolts and Mira is thrown.
Sure of himself, Oswin climbs the wall.
Good, the guards are asleep; Mira enters.
Continue the journey north.
Continue with the interrogation of Oswin.
Go to the second house.
Go up.
Start a fire.
Start over in another town.
End of the road: the car stops.
The end of summer brings war.
Stop Oswin.
Finish him!
The story of the bell is told by the old man.
Their story ends in the fire.
A passage opens behind the altar.
The passage is dark.
The secret passage is too narrow.
The last passage of the will names Mira.
It was all a dream.
It is done.
All is lost.
All of them die.
Both die.
Both of them lie to the judge.
Either way, she goes.
Whatever happens, Oswin keeps silent.
Anyone could be the killer; they lock the doors.
Surprise party at the mill.
Random shots are heard.
You betray the king.
You win.
Your choice costs a life.
She is better.
It gets darker.
It is getting darker, and the lamp is out.
The nights grow longer.
He makes it darker by closing the shutters.
Beautiful Helen enters.
Boring meetings fill the day until the bomb goes off.
Is there hope? Mira thinks so and rows on.
How the bell fell: Oswin tells it.
Why she left becomes clear.
Mira, where are you? Oswin calls, but nobody hears.
Character by character the cipher yields.
The characters on the tomb spell a name.
Status quo.
Twelve people play for the title.
The memory returns.
Memory fails her.
2nd Lieutenant Roe deserts.
1920: the war is over
On day 3 the food runs out.
Level 2 collapses.
Agent 2 defects to the other side
Room 3 is empty
3 days later, they land.
Der dritte Mann verrät sie.
Le roi meurt.
El rey 2 veces coronado muere.
Ich gehe mit Edda nach Hause.
Il re parte per la guerra.
Rei morto, rei posto.
Król umiera.
国王死了
王は逃げる
يموت الملك
मीरा मर जाती है
Mira ölür.
Mira says yes.
She says no to the king.
Ok Mira wakes up and finds the ship gone
Please let Mira survive the fall.
Let's have the dragon attack now.
I want Mira to find the ledger
I want to see the dragon
I want a storm.
I would like Oswin to confess.
More conflict between the brothers
Make Mira find 3 keys.
Make Mira angrier at her father.
Make the storm worse.
Make it a trap.
Make the villain more sympathetic by showing his child
Write Mira into the king's guard.
Now the second act begins: war.
The next morning
The next day they sail.
The same night, a fire.
Another one dies.
Another guard falls.
Someone else is in the house.
Something new stirs in the well.
Something else: the bell is a fake.
Different roads lead them apart.
Nothing happens.
Nothing is found.
Nobody wins.
Good grief, the bridge is out!
Thank God, land!
Hello, says the ghost.
Hi there, stranger, says the ghost
Goodbye, Mira.
Stop, thief!
Enough! cries the king.
Help arrives.
Help Oswin escape.
Save the king.
Save the child first.
Load the cannon.
Cancel the wedding.
Skip the wedding.
Pass the salt, says he.
Pick one of the guards and bribe him.
Choose one brother over the other.
Choose Mira as queen.
Take Mira's side.
Try again to cross the ice.
Try the door.
Again the bell rings.
Again and again they fail.
Once more they cross the ice.
Over the hills.
Undo the curse.
Undo the knot.
Delete the file before the guard returns.
Remove the stone.
Fix the engine.
Correct the course by 2 degrees.
Expand the search.
Turn it into gold.
Keep it secret.
Keep going until the lake.
Continue walking.
Run, Mira, run!
Yes, they do.
It works.
It works for me to leave, says Edda.
One of them is a spy.
One plan remains: fire.
Two plans fail before noon.
The first plan is a trap.
Plan 3 is a trap, and they all know it.
Number 3 dies.
Agent Number 2 dies.
We have 2 days left.
I have 2 brothers
I see 2 ghosts.
They choose plan 2, and it fails.
Mira votes for plan 2 and is outvoted
It takes 3 of them to lift it.
My 2 sisters leave.
We want 2 rooms.
You go to the second house.
I go on to the next town.
We go with the third caravan.
The best option is flight, so they flee.
Ships burn; who lit them?
Mira sings, doesn't she?
Ahora llueve.
Sí, Mira muere.
Oui, dit-elle, et elle part.
Ja, sagt sie und geht.
Si Mira muere, el rey llora.
Ich gehe in den Wald und finde 3
Je pars
Zwei Wächter schlafen ein.
Der zweite Plan misslingt.
The old keeper, who has said nothing for eleven years, walks down to the quay, unties the second boat, and rows out alone.
Oswin learns that the lighthouse has been sold twice, once to the crown and once to a man who died; so he rides to the capital.
""".strip().splitlines()


@pytest.mark.parametrize("words", OF_THE_STORY)
def test_what_happens_next_stays_a_plan(words):
    answer = parse_answer(words, OFFERED)
    assert (answer.action, answer.plan) == ("write", words)


CHOSEN = """
continue with 2
continue with plan 2
Continue with option 2!
proceed with plan 2
go ahead with 2
go on with plan 2
write option 2
write 2
start plan 2
run plan 2
execute plan 2
I'm going with 2
I am going with option 2
I want to go with plan 2
I'd like to see 2
I would like to choose plan 2
make it 2
let me have 2
2 thank you
2, thanks!
2 for sure
definitely 2
plan no 2
Plan number 2
plan number two
I vote 2
my vote: 2
plan 2's good
I like the second option best
Great, plan 2 please
Wow, that was great. Plan 2!
Thanks! 2
number 2 would be fun
select the proposed plan 2
take 2 instead
Let's see plan 2.
I want the 2nd option now
ok so plan two then
could you continue with 2?
""".strip().splitlines()


@pytest.mark.parametrize("words", [it for it in CHOSEN if not it.endswith("?")])
def test_one_number_among_words_of_choosing_is_that_plan(words):
    answer = parse_answer(words, OFFERED)
    assert (answer.action, answer.index) == ("choose", 1)


@pytest.mark.parametrize(
    "words",
    [
        "how about 2",
        "how about plan 2?",
        "what about 2",
        "i guess 2",
        "probably the second one",
        "maybe plan 2",
        "continue with two",
        "make it two",
        "could you continue with 2?",
        "I have 2",
        "Ich nehme Plan 2",
        "Je prends le plan 2",
        "Nummer 2",
        "I think plan 2 might be best",
        "is plan 2 better?",
        "the ledger one",
        "the plan with the ledger",
        "the one where Oswin burns it",
    ],
)
def test_a_number_that_may_be_meant_is_asked_back(words):
    with pytest.raises(BadAnswer, match=r"Did you mean plan 2\?"):
        parse_answer(words, OFFERED)


ACTIONS = {
    "another_take": """one more time; rewrite this passage; Rewrite the last passage.; Regenerate the last response;
        regenerate the passage;
        redo the scene; write it again please; please rewrite this chapter; another version; retry the last passage; again please;
        try another version; That was great. One more time!; rewrite it from scratch""",
    "new_plans": """other ideas; different choices; can you suggest others; show me different plans; others please;
        more choices please;
        I want other options; give me three new plans; can I have other plans?; any other ideas?; suggest better options;
        I'd like some fresh ideas""",
    "simulator": """your choice; your call; pick for me; choose for me please; let the simulator choose; let the AI decide;
        simulator please;
        choose one for me; let fate decide; you pick one""",
    "end": "end now; please end the story; let's end the story here; end story",
}


@pytest.mark.parametrize(
    ("action", "words"), [(it, words.strip()) for it in ACTIONS for words in ACTIONS[it].split(";")]
)
def test_an_action_is_understood_in_a_sentence(action, words):
    assert parse_answer(words, OFFERED).action == action


TO_THE_WRITER = """
make it longer
make it shorter please
Make it darker.
Can you make it a bit longer?
make the last passage longer and funnier
longer
too short
that's too long
more detail please
more dialogue
less description
with more suspense
rewrite this passage but darker
rewrite it with more dialogue
one more time, but shorter
write it in a darker tone
keep it short
shorter passages please
expand the last passage
This is too short. Make it longer.
not good
bad
boring
I don't like it
I don't like any of these
none of those
not these
i hate it
either 1 or 2
2 then 3
combine 1 and 3
1 & 3 combined
mix plan 1 with plan 3
the latter
own plan
my own
plan
option
number
the plan
wait
hold on
one moment please
repeat
do it again
pick one
choose any
whichever you like best
pick whichever you like
random plan
surprise
wrap it up
that's enough
done
I'm done
stop here for today
Let's stop here.
End the story with a happy ending
write 2 more passages
3 more passages please
continue for 3 passages
What happened so far?
Who is Mira?
Who is Mira
who's Oswin again?
Where are we?
Where are we
which one is best?
which is best
what would you choose?
What do you recommend?
Can you tell me who Mira is?
Is this the end?
Is Mira dead?
Does Oswin know about the ledger?
So, why did the keeper leave?
How long is the story?
Are you an AI?
can I write my own?
Mira dies?
Who is Mira and what does she want from the old man in the tower?
Wer ist Mira?
Was ist bisher passiert?
Qui est Mira ?
¿Quién es Mira?
Chi è Mira?
Кто такая Мира?
米拉是谁？
ミラは誰ですか？
미라는 누구야?
Thanks! Who is Mira?
show me the plans again
show me the last passage
Please list all characters
list the characters in the story
Translate the last passage into German
translate this passage to French please
summarize
Summarise the story so far.
summarize the story in three sentences
recap please
give me a summary of the last chapter
Print the story
Read the last passage again
export the story
tell me more about Mira
tell me who Oswin is
explain the plot
summary
status
that was great
That was a great passage!
I liked that.
I love this story
I really love how this is so far
Wow, beautiful writing.
well done
good job
amazing
Nice twist!
what a great chapter
so good
thank you so much
Thanks, that is all.
goodnight
Good night!
see you tomorrow
(OOC: what are my options?)
[OOC: slow down]
OOC: please slow down
((brb))
(out of character: I need a break)
2?
not 2
anything but 2
I don't want plan 2
same
/roll d20
""".strip().splitlines()


@pytest.mark.parametrize("words", TO_THE_WRITER)
def test_what_is_said_to_the_writer_is_no_plan(words):
    with pytest.raises(BadAnswer):
        parse_answer(words, OFFERED)


@pytest.mark.parametrize("words", TO_THE_WRITER)
def test_nor_in_the_field_of_a_plan(words):
    with pytest.raises(BadAnswer):
        parse_answer({"action": "write", "plan": words}, OFFERED)


@pytest.mark.parametrize(
    ("typed", "plan", "index"),
    [
        ("plan: Mira dies", "Mira dies", None),
        ("My own plan: Mira dies.", "Mira dies.", None),
        ("2: Mira dies", "Mira dies", None),
        ("write: Mira dies", "Mira dies", None),
        ("Next: Mira dies.", "Mira dies.", None),
        ("edit 2: Mira dies", "Mira dies", 1),
        ("change 2 to Mira dies", "Mira dies", 1),
        ("Replace plan 2 with: Mira dies.", "Mira dies.", 1),
    ],
)
def test_what_stands_before_a_plan_is_none_of_it(typed, plan, index):
    answer = parse_answer(typed, OFFERED)
    assert (answer.action, answer.plan, answer.index) == ("write" if index is None else "edit", plan, index)


@pytest.mark.parametrize(
    "act", ["Who are you?", "Where is the key?", "wait", "n", "Is anybody there?", "Enough!", "I pay 2 coins"]
)
def test_whoever_plays_may_ask_and_wait(act):
    answer = parse_answer(act, OFFERED, played=True)
    assert (answer.action, answer.plan) == ("write", act)


@pytest.mark.parametrize(
    "words", ["What are my options?", "What happened in the story so far?", "(OOC: Who is Mira?)", "continue with 9"]
)
def test_whoever_plays_is_asked_back_on_what_is_no_act(words):
    try:
        answer = parse_answer(words, OFFERED, played=True)
    except BadAnswer:
        return
    pytest.fail(f"it became {answer}")


def question_back(words, asked=""):
    with pytest.raises(BadAnswer) as caught:
        parse_answer(words, OFFERED, asked=asked)
    return str(caught.value)


@pytest.mark.parametrize(
    "words", ["yes", "Yes please", "ok", "Yes, that one.", "y", "I did", "yes, that's what I meant", "go on"]
)
@pytest.mark.parametrize(("before", "index"), [("ok", 0), ("how about 2", 1), ("the last one", 2)])
def test_yes_to_an_offered_plan_is_that_plan(before, index, words):
    answer = parse_answer(words, OFFERED, asked=question_back(before))
    assert (answer.action, answer.index) == ("choose", index)
    assert parse_answer({"action": "write", "plan": words}, OFFERED, asked=question_back(before)).index == index


@pytest.mark.parametrize(("before", "action"), [("quit", "end"), ("nope", "new_plans"), ("whatever", "simulator")])
def test_yes_to_an_offered_action_is_that_action(before, action):
    assert parse_answer("Yes, please.", OFFERED, asked=question_back(before)).action == action


def test_yes_to_a_question_with_two_answers_asks_it_again_and_no_says_what_can_be_answered():
    asked = question_back("redo it")
    assert question_back("yes", f"{asked}\n\n1. {OFFERED[0]}") == asked
    assert question_back("no", question_back("ok")).startswith("Answer with a number from 1 to 3")
    assert "Did you mean plan 1?" in question_back("continue", question_back("quit"))


@pytest.mark.parametrize("words", ["Yes is all that Philippa says.", "I do what Lorcan asks of me.", "Rain."])
def test_what_is_no_yes_is_a_plan_after_a_question_too(words):
    answer = parse_answer(words, OFFERED, asked=question_back("how about 2"))
    assert (answer.action, answer.plan) == ("write", words)


@pytest.mark.parametrize("words", [
    "hi", "Hello! Who are you?", "help", "2", "list my stories", "?", "What can you do?", "thanks", "Good morning!", "continue",
    "yes", "Hello, who are you?", "can you help me?", "another take", "How are you?", "Tell me about yourself",
    "Hi there, what kind of things can you do?", "How do I use this program to write with it?",
])  # fmt: skip
def test_what_tells_nothing_of_a_story_is_no_premise(words):
    assert is_no_premise(words)


@pytest.mark.parametrize("words", [
    "A lamp.", "Dragons", "Tell me a story", "Can you write me a story about a whale?", "Can you write about a whale?",
    "Who killed the mayor?", "What if the moon vanished?", "surprise me", "Hi, I'd like to read a story about cats.",
    "Apollo 13", "1984", "Tell me about a dragon who hoards books.", "You are a detective.", "Where do the drowned go?", "horror",
    "New story: cats", "Hello from the other side of the grave", "How far would you go to save your child?",
    "What would you do if you woke up in a world where nobody knew your name?", "Who stole my grandmother's ring?",
    "Who is killing the writers of this town?", "Tell us how this town lost its bell.",
])  # fmt: skip
def test_what_tells_of_a_story_is_a_premise(words):
    assert not is_no_premise(words)


@pytest.mark.parametrize(
    "words", ["Please write in the present tense from now on.", "make it darker", "rewrite it with more dialogue"]
)
def test_a_wish_is_answered_with_where_it_is_set(words):
    asked = question_back(words)
    assert asked.startswith("Nothing was written: how the story is told is no plan")
    assert all(name in asked for name in ("`style`", "`tense`", "`note`", "`another take`"))


@pytest.mark.parametrize("said", ["write two more passages", "make it darker", "memory", "edit the memory"])
def test_what_is_asked_back_names_nothing_that_a_chat_does_not_have(said):
    with pytest.raises(BadAnswer) as refused:
        parse_answer(said, OFFERED)
    assert not re.search(r"\bfields?\b|short_term_memory|where this program", str(refused.value))
    assert re.search(r"say in a sentence what happens next", str(refused.value), re.IGNORECASE)


@pytest.mark.parametrize("answer", [{"plan": 7.5}, {"plan": ["Anouk runs."]}, 2.5])
def test_what_is_no_text_is_told_as_it_came(answer):
    with pytest.raises(BadAnswer) as refused:
        parse_answer(answer, OFFERED)
    assert not re.search(r"this is an? (?:int|float|list|dict)\b", str(refused.value))


@pytest.mark.parametrize("words", [
    "Finish the story now with a happy ending.", "write the ending", "wrap it up", "finish the story", "Conclude the story.",
    "please finish the novel", "finish our tale now", "let's conclude it here",
])  # fmt: skip
def test_a_wish_to_end_is_told_how_an_ending_is_had(words):
    with pytest.raises(BadAnswer, match=r"`end`, which writes nothing.* say in a sentence how it ends\."):
        parse_answer(words, ["Ann runs."])
