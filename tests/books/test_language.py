"""The language of a file that does not say it."""

import pytest

from recurrentgpt import Library
from recurrentgpt.books.readers import read_book
from recurrentgpt.books.readers.language import find_language

TEXTS = {
    "de": "Als der Müller am Abend nach Hause kam, stand die Tür offen, und im Zimmer war niemand. Er rief nach seiner Tochter.",
    "en": "When the miller came home in the evening the door stood open, and nobody was in the room. He called his daughter.",
    "fr": "Quand le meunier rentra le soir, la porte était ouverte et il n'y avait personne dans la chambre. Il appela sa fille.",
    "es": "Cuando el molinero volvió a casa por la noche, la puerta estaba abierta y no había nadie en la habitación. Llamó.",
    "it": "Quando il mugnaio tornò a casa la sera, la porta era aperta e nella stanza non c'era nessuno. Chiamò sua figlia.",
    "nl": "Toen de molenaar 's avonds thuiskwam, stond de deur open en was er niemand in de kamer. Hij riep zijn dochter.",
    "da": "Da mølleren kom hjem om aftenen, stod døren åben, og der var ingen i stuen. Han råbte på sin datter, men kun vinden"
    " svarede ham, og så satte han sig på dørtrinnet og ventede.",
    "ru": "Когда мельник вечером вернулся домой, дверь была открыта, и в комнате никого не было. Он позвал свою дочь, но ответил"
    " ему только ветер.",
    "ja": "夜は静かで、雨が窓を叩いていた。彼女は手紙を読んだ。そしてそれを引き出しにしまい、ランプを消して、朝まで待った。",
}  # fmt: skip
NO_LANGUAGE = [
    "Rain.",
    "Mara. Tobias.",
    "* * *",
    "word " * 500,
    "1 2 3 " * 100,
]


@pytest.mark.parametrize("code", TEXTS)
def test_a_language_is_found_by_its_words(save, code):
    for times in (1, 400):
        assert find_language(read_book(save("b.txt", "\n\n".join([TEXTS[code]] * times)))) == code


@pytest.mark.parametrize("text", NO_LANGUAGE, ids=lambda text: text[:12])
def test_few_words_and_doubtful_ones_tell_no_language(save, text):
    assert find_language(read_book(save("b.txt", text + "\n\nx"))) == ""


@pytest.mark.parametrize(
    ("name", "text", "language", "source"),
    [
        ("b.txt", TEXTS["de"], "German", "words"),
        ("b.md", TEXTS["de"], "German", "words"),
        ("b.md", f"---\ntitle: A\nlang: fr\n---\n\n{TEXTS['de']}", "French", "file"),
        ("b.txt", "Rain.", "English", "nowhere"),
    ],
)
def test_a_preview_says_what_tells_the_language(save, tmp_path, name, text, language, source):
    with Library.open(tmp_path / "home") as library:
        found = library.import_preview(save(name, text))
        assert (found.language, found.language_from) == (language, source)
        said = library.import_preview(save(name, text), language="Dutch")
        assert (said.language, said.language_from) == ("Dutch", "settings")


def test_an_epub_keeps_the_language_that_it_says(epub, page, tmp_path):
    with Library.open(tmp_path / "home") as library:
        found = library.import_preview(epub({"a.xhtml": page(f"<p>{TEXTS['fr']}</p>")}))
        assert (found.language, found.language_from) == ("German", "file")
