"""What a fact tells of somebody as of the living, in whatever verb and language, and what is told of the dead, too."""

import pytest

from recurrentgpt.memory.told_of_people import tells_how_they_live, tells_of_the_living

CALLED = ("Jonas Reed", "Jonas", "Reed")


@pytest.mark.parametrize(
    "fact",
    [
        "Jonas Reed pilots the shuttle to Ceres every Friday.",
        "Jonas Reed pours the tea every evening.",
        "Jonas Reed sells rope in the market.",
        "Jonas speaks Dutch.",
        "Jonas Reed can open any lock.",
        "Jonas Reed will testify on Monday.",
        "Jonas Reed must pay by Friday.",
        "Every Sunday Jonas Reed rows out to the wreck.",
        "Jonas Reed, who trusts nobody, guards the door.",
        "Captain Reed commands the fleet.",
        "Jonas Reed leaves for work at six.",
        "Jonas Reed lies to Ada about the money.",
        "Jonas Reed no longer owns the mill.",
        "Jonas Reed has two children.",
        "Jonas Reed is Ada's lover.",
        "Jonas Reed and Ada share a flat.",
        "Ada and Jonas Reed share a flat.",
        "Ada is married to Jonas Reed.",
        "Ada is Jonas Reed's wife.",
        "Ada lives with Jonas Reed.",
        "Ada is to marry Jonas Reed in the spring.",
        "Jonas Reed lies ill in the attic.",
        "Ada knows that Jonas Reed pilots the ship.",
        "Jonas Reed wohnt im Turm.",
        "Jonas Reed kann jedes Schloss öffnen.",
        "Jonas Reed ist in Greta verliebt.",
        "Greta ist mit Jonas Reed verheiratet.",
        "Jonas Reed vit seul dans la tour.",
        "Jonas Reed porte une bague.",
        "Ada est mariée à Jonas Reed.",
        "Jonas Reed vive en la torre.",
        "Jonas Reed está casado con Ana.",
        "Jonas Reed abita nel faro.",
        "Jonas Reed mora na torre.",
        "Jonas Reed woont in de toren.",
    ],
)
def test_a_fact_of_the_living(fact):
    assert tells_of_the_living(fact, CALLED)


@pytest.mark.parametrize(
    "fact",
    [
        "Jonas Reed is dead.",
        "Jonas Reed dies of the fever.",
        "Jonas Reed lies in the chapel.",
        "Jonas Reed leaves a widow and two sons.",
        "Jonas Reed was the best pilot on Ceres.",
        "Jonas Reed is the captain of the shuttle.",
        "Jonas Reed is Ada's brother.",
        "Jonas Reed, captain of the shuttle.",
        "Jonas Reed once saved Ada.",
        "Jonas Reed overheard the quarrel.",
        "Jonas Reed leaves the mill to Ada.",
        "Jonas Reed is to be buried on Monday.",
        "Ada works with Jonas Reed's sister.",
        "Ada lives in Jonas Reed's house.",
        "Jonas Reed has killed two men.",
        "Jonas Reed may have stolen the pump.",
        "Jonas Reed and Ada built the mill.",
        "Ada owes Jonas Reed forty pounds.",
        "Ada is angry with Jonas Reed.",
        "Ada has a child with Jonas Reed.",
        "Ada quarrelled with Jonas Reed.",
        "Ada Reed lives in Halden.",
        "Jonas Reed's ship sails at noon.",
        "The ghost of Jonas Reed waits at the gate.",
        "Jonas Reed ist tot.",
        "Jonas Reed ist der Bruder von Greta.",
        "Jonas Reed hat drei Männer getötet.",
        "Jonas Reed tötete den König.",
        "Jonas Reed verlor die Laterne.",
        "Jonas Reed a tué le roi.",
        "Jonas Reed est le frère de Greta.",
        "Jonas Reed vivait dans la tour.",
        "Jonas Reed mató al rey.",
        "Jonas Reed ha ucciso il re.",
        "Jonas Reed matou o rei.",
        "Jonas Reed werkte in de molen.",
    ],
)
def test_a_fact_that_is_also_told_of_the_dead(fact):
    assert not tells_of_the_living(fact, CALLED)


@pytest.mark.parametrize(
    ("name", "fact", "of_the_living"),
    [
        ("Анна Орлова", "Анна Орлова живёт в башне.", True),
        ("Анна Орлова", "Анна Орлова потеряла палец.", False),
        ("Anna Nowak", "Anna Nowak mieszka w wieży.", True),
        ("Anna Nowak", "Anna Nowak zabiła króla.", False),
        ("Ayşe", "Ayşe kulede yaşıyor.", True),
        ("Ayşe", "Ayşe kralı öldürdü.", False),
        ("李明", "李明住在塔里。", True),
        ("李明", "李明杀了国王。", False),
        ("李明", "李明是船长。", False),
        ("太郎", "太郎は塔に住んでいる。", True),
        ("太郎", "太郎は王を殺した。", False),
        ("the Magpie", "The Magpie robs ships.", True),
    ],
)
def test_a_fact_in_other_scripts_and_orders(name, fact, of_the_living):
    assert tells_of_the_living(fact, (name,)) is of_the_living


def test_a_summary_in_the_present_tells_what_happened_and_how_somebody_lives():
    assert not tells_how_they_live("Jonas Reed gives Ada the watch and walks away.", CALLED)
    assert tells_how_they_live("Jonas Reed lives at the junction.", CALLED)


@pytest.mark.parametrize(
    ("fact", "is_over"),
    [
        ("Lena is waiting for Jonas.", False),
        ("Lena waits at the quay for Jonas.", False),
        ("Lena is still looking for Jonas.", False),
        ("Lena is going to meet Jonas at the inn.", True),
        ("Lena is travelling with Jonas.", True),
        ("Lena is on her way to meet Jonas.", True),
        ("Lena is hiding from Jonas in the loft.", False),
        ("Lena is working for Jonas Reed.", True),
        ("Lena is expecting Jonas for supper.", False),
        ("Lena mourns Jonas.", False),
        ("Lena has Jonas's coat.", False),
        ("Lena is looking for Jonas's killer.", False),
        ("Lena is looking for Jonas's grave.", False),
        ("Lena is looking for Jonas's watch.", False),
        ("Lena promised Jonas to feed the dog.", False),
        ("Lena is Jonas's daughter.", False),
        ("Lena was waiting for Jonas.", False),
        ("Lena waited for Jonas at the quay.", False),
        ("Lena is waiting for Jonas's sister.", False),
        ("Lena is waiting for Jonas to be buried.", False),
        ("Lena is following Jonas's trail.", False),
        ("Lena is waiting for Jonas and Otto.", False),
        ("Lena is looking for Jonas Hale.", False),
        ("Lena is afraid of Jonas's ghost.", False),
        ("Lena is wearing the ring for Jonas.", False),
        ("Lena is going to avenge Jonas.", False),
        ("Lena looks like Jonas.", False),
        ("Lena lights a candle for Jonas.", False),
        ("Lena has been looking for Jonas.", False),
        ("Lena is named after Jonas.", False),
    ],
)
def test_what_another_does_with_the_living_is_over_and_what_is_done_for_the_dead_is_not(fact, is_over):
    assert tells_of_the_living(fact, (*CALLED, "Jonas")) is is_over
