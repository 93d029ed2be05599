"""Stop words, by language."""

import pytest

from langchain_memkit.retriever.stopping import stop_words_for

QUERIES = {
    "english": ("Why do the kites of the islands rise?", "the"),
    "german": ("Warum steigen die Drachen auf der Insel?", "die"),
    "french": ("Pourquoi les cerfs-volants sont dans le ciel ?", "les"),
    "spanish": ("¿Por qué se elevan las cometas en el cielo?", "las"),
    "russian": ("Почему же они не летают на этом острове?", "не"),
}


@pytest.mark.parametrize("language", QUERIES)
def test_the_language_is_found_out(language):
    """The stop words of the query's language leave."""
    query, word = QUERIES[language]
    assert word in stop_words_for("auto", query=query, texts=[])


def test_the_first_texts_help():
    """A short query is read in the language of what was found."""
    texts = ["Der Wind und die Drachen sind auf der Insel."]
    assert "und" in stop_words_for("auto", query="Kites?", texts=texts)


def test_content_words_stay():
    """Words of more than five letters are never stop words."""
    words = stop_words_for("english", query="", texts=[])
    assert "the" in words
    assert not {"computer", "system", "research"} & set(words)


def test_none_and_own_words():
    """Lists can be switched off or replaced."""
    own = frozenset({"kite"})
    assert stop_words_for(None, query="the", texts=[]) == frozenset()
    assert stop_words_for(own, query="the", texts=[]) == own


def test_nothing_to_go_by():
    """Where no stop word of any language occurs, none leaves."""
    assert stop_words_for("auto", query="xqzt", texts=["風"]) == frozenset()
