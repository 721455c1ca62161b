"""Ordinary prose of many genres in which the dead, the absent and what is lost are told of: nobody is accused of it."""

import pytest

from recurrentgpt.memory.codex import changed
from recurrentgpt.nodes.continuity import find_contradictions
from recurrentgpt.schema.codex import Change, Codex


def said(entry, aspect, value, kind="person", text=""):
    change = Change(entry=entry, kind=kind, do="set", aspect=aspect, value=value)
    return {**change, "text": text, "rests_on": text} if text else change


def known(*changes):
    return changed(Codex(), changes, "p1", 3)


DEAD = known(
    *(said(name, "status", "dead") for name in ("Karl Ostrow", "Lena Brandt", "Bess Tully")),
    *(
        said(name, "status", "dead")
        for name in ("Hope Adair", "Grace Lowell", "Dawn Keller", "Ivy Poole", "Will Hart", "Rose Pell", "Mark Stone")
    ),
    *(said(name, "status", "dead") for name in ("April Winter", "Florence Hill", "Ida Morrow", "Reed Carver")),
    said("Ada Whitlock", "pronouns", "she"),
    said("Tom Birch", "pronouns", "he"),
)
INNOCENT_OF_THE_DEAD = {
    # Flashbacks
    "western": (
        "Eleven years earlier\n\nKarl Ostrow tied the mare to the rail and spat.\n\nHe was young "
        "then. Karl pushed the doors open."
    ),
    "saga": (
        "Before the flood.\n\nKarl Ostrow mended the dyke with his own hands.\n\nThe cows watched "
        "him.\n\nKarl laughed at them."
    ),
    "spy": "Vienna, 1951\n\nLena Brandt crossed the bridge with a borrowed passport.\n\n“You are late,” said Lena.",
    "romance": (
        "The summer before the war, nobody wrote letters. They had no need to.\n\nLena danced on "
        "the pier until the band went home."
    ),
    "space opera": "*Six cycles ago*\n\nKarl Ostrow sealed the hatch and grinned at the crew.",
    "school story": "When Karl was nine, the river froze.\n\nKarl walked out to the middle and jumped.",
    "diary": "14 March\n\nLena came to tea and broke the blue cup.\n\n15 March\n\nLena sent a new one.",
    "family": "Long ago, in another kitchen, there was a stove with a brass rail.\n\nBess Tully hung the stockings on it.",
    "dream": "That night she dreamed of the quarry.\n\nKarl stood on the ledge and waved. He called her name.",
    "memory": "Ada stopped at the gate and remembered.\n\nKarl came up the path with the ladder on his shoulder.",
    "flashback after a break": (
        "Ada slept.\n\n* * *\n\nThe year of the comet.\n\nKarl Ostrow climbed the tower and counted the stars."
    ),
    "past perfect": "Karl had bought the boat in a bad year. Karl painted her green and named her after nobody.",
    # Recordings and pictures
    "thriller": "Ortiz pressed play.\n\nLena Brandt leaned towards the lens.\n\n“If you see this,” said Lena, “run.”",
    "cyberpunk": "The hologram stuttered. Karl Ostrow turned his head and smiled at a point behind her.",
    "noir": "She fed the reel through the projector. Lena crossed the lawn in white, laughed, and was gone.",
    "museum": "In the third room hung the big canvas. Karl Ostrow sat astride a horse and pointed at Moscow.",
    "news": "The late bulletin ran the old footage again, and Lena waved from the steps of the plane.",
    "album": "Ada turned the page of the album. Bess Tully squinted into the sun with a trout in each hand.",
    "election": "From the hoardings Karl Ostrow grinned down at the traffic.",
    "voicemail": "The machine beeped. “Call me back,” said Lena.",
    "letter": "Tom unfolded the letter. Lena told him about the orchard and the new well.",
    "stained glass": "In the east window Karl Ostrow knelt with his helmet under his arm.",
    "coin": "On the new coins Karl Ostrow looked left and frowned.",
    # What the dead have done
    "craft": "Ada spliced the rope. It was Karl who taught her how.",
    "cathedral": "The nave was cool. Karl Ostrow built it in six summers and never saw it roofed.",
    "orchard": "They sat in the shade. Bess planted these trees the year the twins came.",
    "wake": "They told stories until the whisky was gone.\n\nKarl sold the same cow twice.\n\nKarl swam the lake for a bet.",
    "eulogy": "The vicar read the eulogy. Bess Tully raised nine children and buried four.",
    "law": "The notary cleared his throat and read the will. Karl Ostrow forgave his brother and kept the mill from him.",
    "habit": "On Sundays Karl brought rolls. Nobody brought them now.",
    "inherited": "“Measure twice,” as Karl said. Ada measured twice.",
    "chair": "Ada ran her thumb along the arm of the chair where Karl carved his name.",
    "ballad": "The fiddler struck up the ballad again, and Karl Ostrow rode to the ford with forty men.",
    "myth": "In the tale Karl tricks the river god and steals his comb.",
    "age": "She was eleven when Karl gave her the bicycle.",
    # The other world
    "ghost story": "The candles bent. Lena came through the wall and rattled the cups. Ghosts had no manners.",
    "epic": "Beyond the gates of the underworld Karl Ostrow paid the ferryman and sat down among the shades.",
    "seance": "The table shook. “I am cold,” said Lena, and the medium's lips hardly moved.",
    "game": "The screen said GAME OVER. Ten seconds later Karl respawned at the well and drew his axe.",
    "heaven": "Somewhere, Karl laughed.",
    "in mind": "Lena laughed somewhere at the back of his mind, and he kept driving.",
    "stage": "The curtain rose. Lena swept down the stairs in green, and the actress curtsied.",
    # Speaking to them
    "grave": "She set the jar of snowdrops on the stone. “Well?” she asked Karl.",
    "prayer": "She lit a candle at the side altar and thanked Karl.",
    "urn": "The urn stood next to the radio. Tom greeted Bess and put the kettle on.",
    # The body
    "war": "Karl came home in a box with a flag on it.",
    "hospital": "Karl went down to the basement on a trolley, and the sheet slipped from his foot.",
    # Words that are names
    "hope": "Hope rose in the camp when the snow stopped.",
    "grace": "Grace came before the soup, as it did in that house.",
    "dawn": "Dawn crept over the stubble. The men rolled their blankets.",
    "ivy": "Ivy climbed the chapel and broke the windows.",
    "will": "Will carried them the last mile, when their legs had stopped.",
    "rose": "Rose bushes crowded the path. Rose hips dried on the sill.",
    "mark": "Marks, dollars, pounds: all were the same to the fire. Mark followed mark into the stove.",
    "april": "In the valley April came late and drowned the seed.",
    "florence": "Florence woke to bells. In the squares they set up stalls.",
    "reed": "Reed swayed against reed. The heron stood still.",
    "ship": "At noon the Ida Morrow came in, low in the water, and dropped anchor.",
    "house": "The Ida Morrow stood on the corner, a narrow house with a red lamp. Upstairs somebody sang.",
    "dog": "They named the puppy Karl. Karl chewed the table leg and slept in a boot.",
    "grandson": "Her grandson, little Karl, ran in. Karl shook the rain from his cap.",
    # Read after the rules were mended on those above, and mended on then
    "play script": (
        "ACT TWO\n\nThe lights came up on a kitchen. Lena crossed to the sink and filled a glass, "
        "and the front row held its breath."
    ),
    "biography": "Karl Ostrow opened his first shop in 1921 and closed it a year later.",
    "travel": "The guide pointed at the tower. Karl Ostrow jumped from it with a pair of wings in the old days.",
    "confession": "He talked until dawn. Karl owed him money; Karl laughed at him; Karl turned his back.",
    "courtroom": "The witness described the evening. Lena danced with the dentist and left by the garden.",
    "haunting idiom": "His mother's eyes followed him. Karl smiled from his place above the mantel.",
    "hallucination": "The fever climbed. Karl sat on the end of the bed and peeled an orange.",
    "drugs": "The pills did their work. Lena walked out of the wallpaper and took her hand.",
    "time travel": "The machine set them down in the wrong decade. Karl opened the door, twenty years younger, and stared.",
    "prequel title": "PART ONE\n\nThe Year of the Rat\n\nKarl sold the horse and bought a coat.",
    "age heading": "Seven years old\n\nLena hid the cake under the bed.",
    "then": "Then\n\nLena wore red. Lena laughed at everything.",
    "childhood": "As children they shared everything. Karl broke the window and Ada took the blame.",
    "always had": "Karl had a way with horses. Karl blew into their nostrils and they followed him.",
    "proverb": "Karl said it best: a dry well teaches nothing.",
    "signature": "Karl signed it in the corner, as painters do, and the dealer held it to the light.",
    "statue moves": "The sun moved off the square, and bronze Karl pointed at the bank.",
    "radio": "The radio crackled and Lena sang the old song about the mill.",
    "record": "He put the needle down. Lena sang.",
    "theatre role": "Tom was to play Karl. Karl entered stage left and tripped over the rug.",
    "what if": "It could have gone otherwise. Karl turned left, not right; Karl came home for supper.",
    "chapter quote": "“All water is borrowed.” Karl said that, or somebody did.",
    "epitaph": "HERE LIES KARL OSTROW. Karl kept bees.",
    "letters home": "“Dear Ada,” the first page began. Lena complained of the food and asked for socks.",
    "day of dead": (
        "It was the night of the dead. Karl came down the road with the others, and they drank "
        "what had been poured for them."
    ),
    "vampire": "The coffin lid slid back. Karl sat up and licked his lips.",
    "clone": "In the tank the copy opened its eyes. Karl coughed and asked for water.",
    "smell": "The room still held him. Karl laughed from every drawer she opened.",
    "grammar": "Grace fell over the table like a cloth.",
    "joy": "Hope flickered. Hope died. Hope rose again, as it will.",
    "mark2": "“Mark my words,” said the old man.",
    "will2": "Will power was all she had. Will kept her upright.",
    "dawn2": "And then Dawn, with her rosy fingers, opened the gates.",
    "april2": "When April opened the buds, the men went up to the pass.",
    "florence2": "In the war Florence starved and sold her bells.",
    "namesake2": "Karl, her husband's nephew, held the door.",
    "namesake3": "Old Karl's grandson had his name and his ears. Karl pulled one of them and grinned.",
    "hotel": "The Karl Ostrow opened its doors in May, and the rooms had balconies.",
    "tank": "They called the tank Lena. Lena coughed twice and started.",
    "impostor": "The stranger called himself Karl Ostrow. Karl Ostrow kissed the widow's hand and asked for brandy.",
}


@pytest.mark.parametrize("passage", INNOCENT_OF_THE_DEAD.values(), ids=INNOCENT_OF_THE_DEAD.keys())
def test_nobody_is_accused_who_tells_of_the_dead(passage):
    assert find_contradictions(passage, DEAD) == []


INNOCENT_OF_THE_ABSENT = {
    "work": ("Tom Birch left for work at seven.", "In the yard Tom counted the empty crates."),
    "party": ("Tom vanished from the ball before midnight.", "Tom sat on the sea wall and took off his shoes."),
    "sea": ("Tom went to sea in the spring.", "Tom climbed the rigging and saw nothing but water."),
    "prison": ("They took Tom away to prison.", "The cell was dry. Tom scratched a line into the wall."),
    "war": ("Tom joined the army.", "Tom ducked. The shell passed over the trench and burst behind them."),
    "city": ("Tom left for Lisbon.", "Rain fell on Lisbon. Tom unpacked his suitcase and watched the trams."),
    "elsewhere": ("Tom moved to Leeds.", "Meanwhile, three hundred miles off, Tom opened a tin of beans."),
    "telephone": ("Tom emigrated.", "The telephone rang for a long time.\n\n“It is warm here,” said Tom."),
    "letter": ("Tom emigrated.", "There was a postcard on the mat. Tom sent his love and asked about the dog."),
    "years later": ("Tom emigrated.", "Nine years passed. Tom pushed the gate and it still squeaked."),
    "set free": ("They led Tom off to the cells.", "They let Tom go at six. Tom walked to the river and washed."),
    "coast": ("Tom left for the coast.", "On the beach Tom picked up a stone."),
    "train": ("Tom boarded the train for Bern.", "The compartment was full. Tom stood in the corridor and smoked."),
    "circus": ("Tom ran off with a circus.", "The lions were restless. Tom threw them their meat."),
    "mountains": ("Tom fled to the mountains.", "Above the snow line Tom built a fire."),
    "front": ("Tom was sent to the front.", "Dear Ada, Tom began, and chewed the pencil."),
    "hotel": ("Tom left for Paris on the night train.", "The hotel smelled of soap. Tom pulled off his boots."),
    "crew": ("Tom set sail for the islands.", "The captain cursed. Tom hauled on the rope with the others."),
    "visit": ("Tom was jailed.", "On visiting day Tom pressed his palm to the glass."),
    "runaway": ("Tom left home.", "Tom slept in doorways and ate what the market dropped."),
    "flashback": ("Tom emigrated.", "The winter before.\n\nTom cut the ice from the pump."),
}


@pytest.mark.parametrize(("gone", "passage"), INNOCENT_OF_THE_ABSENT.values(), ids=INNOCENT_OF_THE_ABSENT.keys())
def test_nobody_is_accused_of_being_where_they_went(gone, passage):
    assert find_contradictions(passage, known(said("Tom Birch", "status", "absent", text=gone))) == []


THINGS = known(
    *(said(name, "status", "lost", "thing") for name in ("umbrella", "lantern")),
    said("knife", "holder", "Tom Birch", "thing"),
    said("Tom Birch", "pronouns", "he"),
    said("Ada Whitlock", "pronouns", "she"),
)
INNOCENT_OF_THINGS = [
    "In the hall the porter opened the umbrella that stood there for guests.",
    "A waiter opened the umbrella over table nine.",
    "Ada opened her umbrella. It was her mother's.",
    "Ada lit the lantern above the door.",
    "The watchman raised the lantern and called out the hour.",
    "Three years earlier.\n\nAda raised the lantern and looked down the well.",
    "In the photograph Ada held the lantern.",
    "Ada took the knife from her apron and cut the loaf.",
    "The conductor lifted the lantern twice.",
    "“Lovely weather,” said the stranger, and shook the umbrella.",
    "Ada bought the umbrella on the stand and opened the umbrella at once.",
    "The lantern was only mislaid. Ada lit the lantern.",
    "The cook took the knife from her apron. Ada drew the knife from her belt.",
]
INNOCENT_OF_PRONOUNS = [
    "The boy in bed six had a fever. Ada wiped his mouth.",
    "The boy had a fever.\n\nAda closed his eyes and drew the sheet up.",
    "Tom was half asleep. Ada took off his boots and dried his hands.",
    "Tom knelt. Ada ran a hand through his hair.",
    "The old man could not manage the buttons. Ada buttoned his coat and tied his scarf.",
    "Tom lay still. Ada lifted his chin and looked into his eyes.",
    "The corpse was dressed at last. Ada folded his arms and put on his gloves.",
    "In the false beard nobody knew her. Ada shook his head, as Private Reed would.",
]


@pytest.mark.parametrize("passage", [*INNOCENT_OF_THINGS, *INNOCENT_OF_PRONOUNS])
def test_nobody_is_accused_of_other_things_or_other_peoples_hands(passage):
    assert find_contradictions(passage, THINGS) == []


FLUTE_LOST = known(said("silver flute", "status", "lost", "thing"), said("Ada Whitlock", "pronouns", "she"))
# What holds words, a time past, namesakes, and what is taken back behind it
TOLD_OF_THE_DEAD = {
    "play": (
        "Wilma had made a play of it, and the barn was full. In the second scene Karl refused to "
        "sell the mill, and everybody cheered."
    ),
    "glass": (
        "They laid their fingertips on the tumbler and waited. Lena spelled out her name and asked for her ring."
    ),
    "obituary": (
        "The Gazette gave him half a column. Karl Ostrow entered the ministry at thirty and left it at forty."
    ),
    "stage name": (
        "On the bills she was Lena Brandt, since nobody could spell her own name. Lena Brandt bowed "
        "three times and ran off into the wings."
    ),
    "ghost told": (
        "It was the tale the children liked best. Karl rose from the millpond with weed in his hair "
        "and knocked at every door."
    ),
    "would have": "He would have loved it. Karl danced at the drop of a hat.",
    "rumour": "There were rumours all that winter. Karl bought tobacco in Riga. Karl drove a tram in Trieste.",
    "song": "Every child in the town knew the song. Karl climbed the belfry, and the boats came home.",
    "wager": "It had all begun with a wager. Karl bet his boots against a hat.",
    "cutter": "The pilot cutter was called Lena. Lena nosed up to the steps and dropped her sail.",
    "mistaken": (
        "Lena stepped off the tram and lifted her hand. Then the woman turned her head, and it was a stranger."
    ),
    "playing": (
        "“I'm Karl,” said the smallest boy, and put on the helmet. Karl raised his stick and charged the hens."
    ),
    "manuscript": "She typed until three. In the ninth chapter Lena kissed the gardener.",
    "nightmare": (
        "Karl stood at the foot of the bed and counted her toes. She woke with a scream, and it was morning."
    ),
    "floods": "That was the year of the floods. Karl rowed the doctor from house to house.",
    "daydream": "He let his mind drift. Lena ran down to the water and called him in.",
    "gravestone": (
        "The letters had weathered. Karl Ostrow ruled this valley for thirty years, they said, and fed its poor."
    ),
    "fable": "Grandmother told it best. Karl tricked the fox and kept the goose.",
    "radio play": "It was only the serial. Karl drew his revolver and kicked the door in.",
    "parrot": "The widow kept a parrot called Karl. Karl swore at the priest.",
    "café": "The card in the window said Lena Brandt. Lena Brandt mended gloves and dyed feathers.",
    "mistook": (
        "Karl walked ahead of her with his hands in his pockets. She ran and caught his sleeve. It was a stranger."
    ),
    "ventriloquist": "The ventriloquist lifted the doll to his knee. “Good evening,” said Karl, and rolled his eyes.",
    "alibi": "According to the constable, it had gone like this. Karl climbed the wall at nine and dropped the sack.",
    "double": (
        "He was the image of his dead brother. Karl to the life, the old women said. Karl, they "
        "called him, and Karl nodded."
    ),
}
TOLD_OR_DREAMT_OF_THE_DEAD = [
    "The letter said it all. Karl left the inn at nine and took the coast road.",
    "The file told the rest. Lena crossed the border on foot.",
    "His diary began in March. Karl bought a mule and two spades.",
    "Ada read from the journal. Karl shot a bear on the second day.",
    "The inscription read as follows. Karl Ostrow crossed the river here with his men.",
    "In her dream the door was open. Karl sat in the kitchen.",
    "Karl sat down and asked for bread. It was only a dream, and the kitchen was cold.",
    "Karl leaned over her and smiled. Ada woke, and it was dark, and nobody was there.",
    "That was the summer of the drought. Karl dug the second well.",
    "It was the winter they lost the cow. Karl sold his watch.",
    "Nurse told it every Christmas. Karl tricked the bailiff and kept the pig.",
    "There were stories about him everywhere. Karl drank a river dry. Karl wrestled a bull.",
    "They told stories of him. Karl swam the strait in a storm.",
    "He would have liked the music. Karl danced with everybody.",
    "Everybody knew the story. Karl bet the farm on a snail.",
    "“I'm Lena,” said the youngest. Lena hid behind the door and counted to ten.",
    "She had a goldfish called Karl. Karl swam in circles.",
    "The barge was called Lena Brandt. Lena Brandt lay low in the water.",
    "She called out to him. The man turned his head, and it was a stranger.",
    "Karl walked ahead under the lamps. She ran and touched his arm. It was somebody else.",
    "According to the porter, Karl climbed the back stair at ten.",
    "The chronicle tells it otherwise. Karl Ostrow burned the bridge himself.",
    "The bard began. Karl rode out at dawn.",
    "She opened the biography. “Karl Ostrow left school at ten,” it said.",
    "The transcript ran to nine pages. Lena laughed, Lena wept, Lena asked for water.",
    "It had all begun with a horse. Karl bought it blind.",
    "The obituary was short. Karl Ostrow kept bees and wrote to nobody.",
]
MET_WHERE_THEY_WENT = {
    "years on": "Ten years on, Tom opened a bakery in the same street and got fat.",
    "visit": "It took Ada two days to get there by coach. Tom lifted her down and kissed her.",
    "ferry": "The boat put Ada ashore at six. Tom stood on the jetty with a lantern.",
    "years": "Three winters on, Tom walked in with snow on his hat.",
    "dream": "Tom sat down at the foot of the bed. Ada opened her mouth to speak and woke.",
}
THERE_AGAIN = {
    "ball": "It was the night of the great ball, when she was still a bride. Ada played the silver flute till two.",
    "tide": "The tide had given it up again. Ada wiped the silver flute and blew into it.",
    "remade": "The silversmith had made her one just like it. Ada raised the silver flute and blew into it.",
    "back": "On Monday a carrier brought it back in brown paper. Ada tried the silver flute and put it away.",
    "diver": "The diver brought it up in a net, wrapped in weed. Ada dried the silver flute.",
    "mud": "The silver flute had lain in the mud for a year. Tom fished it out with a rake. Ada wiped the silver flute.",
    "piano": "It had turned up behind the piano. Ada played the silver flute.",
    "year": "It was the summer of the regatta. Ada played the silver flute on the lawn.",
    "story": "Nurse told it to them every night. Ada blew the silver flute, and the rats came out.",
}


@pytest.mark.parametrize("passage", [*TOLD_OF_THE_DEAD.values(), *TOLD_OR_DREAMT_OF_THE_DEAD])
def test_nobody_is_accused_of_whom_words_or_another_time_tell(passage):
    assert find_contradictions(passage, DEAD) == []


@pytest.mark.parametrize("passage", MET_WHERE_THEY_WENT.values(), ids=MET_WHERE_THEY_WENT.keys())
def test_nobody_is_accused_whom_somebody_travels_to_or_dreams_of(passage):
    away = known(said("Tom Birch", "status", "absent", text="Tom Birch moved to Leeds."))
    assert find_contradictions(passage, away) == []


@pytest.mark.parametrize("passage", THERE_AGAIN.values(), ids=THERE_AGAIN.keys())
def test_nothing_is_accused_that_is_given_back_made_anew_or_of_another_time(passage):
    assert find_contradictions(passage, FLUTE_LOST) == []


@pytest.mark.parametrize(
    ("codex", "passage"),
    [
        (known(said("Sir Karl Ostrow", "status", "dead")), "Sir Karl reined in his grey."),
        (
            known(said("Tom Birch", "status", "absent", text="Tom went north, and his sister Ada kept the shop.")),
            "Tom handed Ada the salt and yawned.",
        ),
        (FLUTE_LOST, "Ada played the silver flute until she found the tune."),
    ],
)
def test_a_title_who_stayed_and_what_else_is_found_excuse_nobody(codex, passage):
    assert len(find_contradictions(passage, codex)) == 1


GUILTY_OF_THE_DEAD = [
    "Karl nodded. The rain got worse.",
    "“Pass the salt,” Karl said, and the others laughed.",
    "Karl smiles and pours the gin. The ice cracks.",
    "Ada and Tom came in. Karl was shelling peas.",
    "At the next table Lena lit a cigarette and waved to them.",
    "Behind the bar stood Karl, polishing a glass.",
    "Rain fell.\n\nLena shut the window and turned to Ada.",
    "Three years earlier.\n\nAda slept.\n\n* * *\n\nKarl opened the door and sat down.",
    "1987\n\nAda was born.\n\nNow\n\nKarl opened the door and sat down.",
    "Three days later.\n\nKarl opened the door and sat down.",
    "Hope Adair rose and left the table.",
    "“Never,” said Hope.",
    "Rose laughed and handed Ada the plate.",
    "Then Will knelt and tied the rope.",
    "“Yes,” said April.",
    "Ada greeted Karl and hung up her coat.",
    "Ada had made soup. It was late.\n\nKarl took the spoon and ate.",
    "Ida Morrow came in and took off her hat.",
    "Karl's hands shook as he dealt the cards.",
    "Ada looked up when Karl opened the door.",
    "By the pump stood Lena with a bucket.",
    "There was Karl, leaning on the fence, eating an apple.",
    "On Monday Karl paid the rent.",
    "Ada was late, and Karl scolded her.",
    "“Sit,” said Rose, and Ada sat.",
    "Snow fell. Then Karl ran out into it with no shoes on.",
    "Ada remembered the gas.\n\nShe ran down and turned it off.\n\nKarl took the matches from her.",
    "The letter lay on the table. Karl opened it.",
    "The letter was short. He burned it in the grate. Karl came in with coal.",
    "Ada woke. Karl handed her the tea.",
    "Karl locked the door and went upstairs.\n\nAda woke at six and lit the stove.",
    "Karl came in with the wood. The baby woke and cried.",
    "Karl poured the coffee. Then the alarm rang, and everybody ran.",
    "It had started to rain. Karl closed the window.",
    "The entry was dark. Karl lit a lamp.",
    "A column of smoke stood over the mill. Karl ran for the pump.",
    "It was the night of the fair. Karl bought her a ribbon.",
    "His mother called Karl. Karl put down the spade.",
]


@pytest.mark.parametrize("passage", GUILTY_OF_THE_DEAD)
def test_the_dead_who_act_here_and_now_are_found(passage):
    assert [one["rule"] for one in find_contradictions(passage, DEAD)] == ["dead"]


@pytest.mark.parametrize(
    ("gone", "passage"),
    [
        ("Tom emigrated with his whole family.", "Tom dealt the cards and won."),
        ("Tom went to sea in the spring.", "Tom leaned over the board and moved a pawn."),
        ("They took Tom away to prison, in irons.", "“Eat,” said Tom. Ada ate."),
        ("Tom left for the coast.", "Across the table Tom buttered a slice of toast."),
        ("Tom joined the army.", "At noon Tom milked the goat."),
    ],
)
def test_the_absent_who_act_among_those_they_left_are_found(gone, passage):
    (found,) = find_contradictions(passage, known(said("Tom Birch", "status", "absent", text=gone)))
    assert found["rule"] == "absent"


@pytest.mark.parametrize(
    ("passage", "rule"),
    [
        ("Ada raised the lantern and looked down the well.", "lost"),
        ("Ada shook the rain from the umbrella.", "lost"),
        ("He lit the lantern and went ahead.", "lost"),
        ("Ada shook his head.", "pronouns"),
        ("Tom was there. Ada rolled his eyes.", "pronouns"),
        ("Rain fell. Ada put on his coat.", "pronouns"),
    ],
)
def test_things_and_pronouns_that_cannot_be_are_found(passage, rule):
    assert [one["rule"] for one in find_contradictions(passage, THINGS)] == [rule]


def test_a_scene_of_another_time_goes_on_from_its_plan_and_from_the_passage_before():
    passage, dream = "Karl locked the gate and whistled.", "Ada slept.\n\nThree years earlier\n\nThe gate was new."
    assert find_contradictions(passage, DEAD, plan="A flashback: three years earlier, Karl goes fishing.") == []
    assert find_contradictions(passage, DEAD, before=dream) == []
    assert (
        len(find_contradictions(passage, DEAD, plan="Karl goes fishing.", before=f"{dream}\n\n***\n\nAda woke.")) == 1
    )


def test_who_is_away_is_met_there_where_the_plan_takes_the_story():
    away = known(said("Tom Birch", "status", "absent", text="Tom emigrated."))
    assert find_contradictions("Tom dealt the cards.", away, plan="Tom Birch gambles all he has.") == []
    assert len(find_contradictions("Tom dealt the cards.", away, plan="Ada gambles all she has.")) == 1
