"""Text to ids and back: what must hold for every text a person may type."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.refusal import Refusal
from playground.tokenizing import SPECIAL_TOKENS, Tokenizer, of_words, specials, train, typed
from playground.tokenizing.sentences import split_sentences
from playground.tokenizing.vocabulary import FIRST_WORD, UNKNOWN
from playground.tokenizing.words import join_words, split_words

LITERALS = (*SPECIAL_TOKENS, "<script>alert('x')</script>", "##ing", "Ġ", "\x00", "[CLS][SEP]")

TEXT = """The sailors sailed to the island and sold the sails. A tailor nailed the railing, and "all" was well!
Nobody knows why the unknown unknowns were known: (3.14) is a number; so is 1,000. Don't re-read it."""

PIECES = train([TEXT] * 4, kind="bpe", size=200)
WORDS = train([TEXT], kind="word")

texts = st.text(max_size=60) | st.lists(st.sampled_from((*LITERALS, *TEXT.split(), " ", "\n\n")), max_size=12).map(
    " ".join
)


def test_the_layout_of_the_vocabulary_is_fixed():
    s = specials(100)
    assert len(SPECIAL_TOKENS) == 39
    assert (s.pad, s.start, s.end, s.cls, s.sep, s.mask) == (0, 1, 2, 3, 4, 5)
    assert s.sentinels == tuple(range(6, 38))
    assert (s.unknown, s.first_word, s.size) == (38, 39, 100)


@pytest.mark.parametrize("tokenizer", [WORDS, PIECES], ids=["word", "bpe"])
@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_text_never_makes_a_special_id_and_every_list_has_the_same_length(tokenizer, text):
    found = tokenizer.encode(text)
    assert all(UNKNOWN <= number < len(tokenizer) for number in found.ids)
    assert len(found.ids) == len(found.word) == len(found.offsets) == len(tokenizer.decode(found.ids))
    assert all(0 <= first < last <= len(text) for first, last in found.offsets)
    assert found.word == sorted(found.word)


@pytest.mark.parametrize("tokenizer", [WORDS, PIECES], ids=["word", "bpe"])
@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_joined_known_text_reads_back_as_the_same_ids(tokenizer, text):
    ids = [number for number in tokenizer.encode(text).ids if number != UNKNOWN]
    first_pieces = [number for number in ids if not tokenizer.continues(number)]
    again = tokenizer.join(first_pieces)
    assert [i for i in tokenizer.encode(again).ids if not tokenizer.continues(i)] == first_pieces


@given(text=st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_words_set_as_text_are_cut_into_the_same_words(text):
    words = split_words(text)
    assert split_words(join_words(words)) == words


@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_a_vocabulary_made_of_the_text_itself_writes_all_of_it(text):
    words = split_words(text)
    tokenizer = of_words(words)
    assert tokenizer.decode(tokenizer.encode(text).ids) == words


def test_a_typed_mask_is_ordinary_text():
    row = typed("I [MASK] you <0> <script>")
    assert row.tokenizer.decode(row.tokens.ids[0].tolist()) == [
        "I",
        "[",
        "MASK",
        "]",
        "you",
        "<",
        "0",
        ">",
        "<",
        "script",
        ">",
    ]
    assert int(row.tokens.ids.min()) >= FIRST_WORD


@given(letters=st.text(alphabet=sorted(set(TEXT) - set(" \n")), max_size=30))
@settings(max_examples=60, deadline=None)
def test_pieces_write_every_word_of_their_alphabet(letters):
    found = PIECES.encode(letters)
    assert UNKNOWN not in found.ids
    assert "".join(PIECES.decode(found.ids)) == letters
    assert [letters[first:last] for first, last in found.offsets] == PIECES.decode(found.ids)


def test_pieces_are_readable_and_know_their_word():
    found = PIECES.encode("the sailors")
    assert max(found.word) == 1
    assert PIECES.join(found.ids) == "the sailors"
    assert not any(mark in piece for piece in PIECES.decode(found.ids) for mark in ("Ġ", "##", "▁"))


def test_pieces_are_the_same_in_every_run():
    assert train([TEXT] * 4, kind="bpe", size=200) == PIECES


def test_a_letter_outside_the_alphabet_is_unknown_and_nothing_more():
    found = PIECES.encode("sa☃l")
    assert found.ids.count(UNKNOWN) == 1
    assert [("sa☃l")[first:last] for first, last in found.offsets][-1] == "l"


def test_few_types_are_words_and_many_are_pieces():
    many = " ".join(f"{a}{b}{c}" for a in "abcdefghijklm" for b in "aeiouxyz" for c in "nopqrstuvwxyz" * 2)
    assert train([TEXT]).kind == "word"
    assert train([many + "".join(f" w{k}" for k in range(2000))]).kind == "bpe"


def test_words_are_sorted_by_frequency_then_by_first_appearance():
    assert of_words(list("cbabcc")).words[FIRST_WORD:] == ("c", "b", "a")


def test_the_size_bounds_the_vocabulary():
    assert len(train([TEXT], kind="word", size=50)) == 50
    assert len(train([TEXT * 5], kind="bpe", size=150)) <= 150


def test_lower_case_is_a_choice():
    assert train([TEXT], lower=True).encode("THE").ids == train([TEXT], lower=True).encode("the").ids
    assert WORDS.encode("THE").ids == [UNKNOWN]


@pytest.mark.parametrize("tokenizer", [WORDS, PIECES], ids=["word", "bpe"])
def test_a_saved_tokenizer_comes_back(tokenizer):
    again = Tokenizer.from_json(tokenizer.to_json())
    assert again == tokenizer
    assert again.encode(TEXT) == tokenizer.encode(TEXT)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", json.dumps({"kind": "x", "words": [], "merges": [], "lower": False}), "no json"]
)
def test_a_damaged_tokenizer_is_refused(text):
    with pytest.raises(Refusal, match="no saved tokenizer"):
        Tokenizer.from_json(text)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Mr. Smith went. He left!", ["Mr. Smith went.", "He left!"]),
        ('"Go," she said. "Now!" They ran.', ['"Go," she said.', '"Now!"', "They ran."]),
        ("i am here . you are not .", ["i am here .", "you are not ."]),
        ("Pears, plums, etc. are fruit. J. R. Smith ate 3.5 of them.", None),
        ("See no. 5 now. I said no. He went on...", None),
        ("They live in the U.S. today. It is big.", ["They live in the U.S. today.", "It is big."]),
        ("What?! Really?", ["What?!", "Really?"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, sentences):
    expected = {
        "Pears": ["Pears, plums, etc. are fruit.", "J. R. Smith ate 3.5 of them."],
        "See n": ["See no. 5 now.", "I said no.", "He went on..."],
    }
    assert split_sentences(text) == (sentences if sentences is not None else expected[text[:5]])


def test_typed_text_numbers_its_sentences_and_paragraphs():
    row = typed("One two. Three!\r\n\r\nfour\r\n five").tokens
    assert row.sentence.tolist() == [[0, 0, 0, 1, 1, 2, 2]]
    assert row.word.tolist() == [list(range(7))]
    assert row.lengths.tolist() == [7]
    assert not row.padded


@pytest.mark.parametrize("text", ["", "   ", "\n\t\u200b\u00a0"])
def test_a_text_without_words_is_refused(text):
    with pytest.raises(Refusal, match="type at least one"):
        typed(text)


def test_a_long_text_is_cut_and_said_to_be():
    row = typed("word " * 100)
    assert row.tokens.ids.shape == (1, 64)
    assert row.notice == "The text has 100 tokens; only the first 64 are used."
    assert typed("word " * 64).notice == ""


def test_a_word_that_the_vocabulary_lacks_is_named():
    row = typed("the zebra", WORDS)
    assert row.tokens.ids[0, 1] == UNKNOWN
    assert "zebra" in row.notice
