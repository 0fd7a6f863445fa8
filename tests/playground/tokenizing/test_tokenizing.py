"""Text to ids and back: what must hold for every text a person may type."""

import copy
import json
import pickle
from itertools import groupby, pairwise
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers.implementations import ByteLevelBPETokenizer

from playground.errors import UserError
from playground.tokenizing import (  # fmt: skip
    KINDS,
    SPECIAL_TOKENS,
    bytelevel,
    merge_steps,
    of_words,
    specials,
    tokenizer_json,
    train,
)
from playground.tokenizing.phrases import guess_mentions, guess_phrases
from playground.tokenizing.pieces import Learnt
from playground.tokenizing.sentences import number_sentences
from playground.tokenizing.text_input import LeftOut, read_input
from playground.tokenizing.tokenizer import Kind, KindOrAuto, of_counts, of_learnt
from playground.tokenizing.vocabulary import FIRST_WORD, UNKNOWN
from playground.tokenizing.words import WORD, clean, join_words, split_words

LITERALS = (*SPECIAL_TOKENS, "<script>alert('x')</script>", "##ing", "Ġ", "\x00", "[CLS][SEP]")

TEXT = """The sailors sailed to the island and sold the sails. A tailor nailed the railing, and "all" was well!
Nobody knows why the unknown unknowns were known: (3.14) is a number; so is 1,000. Don't re-read it."""

PIECES = train([TEXT] * 4, kind="bpe", size=200)
WORDS = train([TEXT], kind="word")
BYTES = train([TEXT] * 4, kind="bytes", size=700)
ACROSS = train([TEXT] * 4, kind="bytes", size=700, across=True)
SMALL = train([TEXT] * 4, kind="unigram", size=200, lower=True)
ALL = {kind: train([TEXT] * 4, kind=kind, size=700) for kind in KINDS} | {"across": ACROSS, "lower": SMALL}


every_tokenizer = pytest.mark.parametrize("tokenizer", ALL.values(), ids=ALL)
of_words_alone = {name: tokenizer for name, tokenizer in ALL.items() if tokenizer.kind != "bytes"}
by_words = pytest.mark.parametrize("tokenizer", of_words_alone.values(), ids=of_words_alone)
by_bytes = pytest.mark.parametrize("tokenizer", [BYTES, ACROSS], ids=["bytes", "across"])

HOSTILE = (
    "", "\x00", "a\x00b", "a" * 10_000,
    "\u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631\u062d", "cafe\u0301 \u0301", "one\r\ntwo\rthree",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd \U0001f1eb\U0001f1f7 \u2764\ufe0f",
    "\U000f0000\U000f0001a\U0010ffff", "\ud800", "İstanbul ẞ ΣΑΣ ﬁ", "##a ## ###", "⟨E2⟩ <0xE2>",
)  # fmt: skip

texts = (
    st.sampled_from(HOSTILE)
    | st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=60)  # libraries differ in unassigned ones
    | st.lists(st.sampled_from((*LITERALS, *TEXT.split(), " ", "\n\n")), max_size=12).map(" ".join)
)


def test_the_layout_of_the_vocabulary_is_fixed():
    s = specials(100)
    assert len(SPECIAL_TOKENS) == 39
    assert (s.pad, s.start, s.end, s.cls, s.sep, s.mask) == (0, 1, 2, 3, 4, 5)
    assert s.sentinels == tuple(range(6, 38))
    assert (s.unknown, s.size) == (38, 100)
    assert s.ids == tuple(range(38)) and s.words.tolist() == list(range(39, 100))


@every_tokenizer
@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_text_never_makes_a_special_id_and_every_list_has_the_same_length(tokenizer, text):
    found = tokenizer.encode(text)
    assert all(UNKNOWN <= number < len(tokenizer) for number in found.ids)
    assert len(found.ids) == len(found.word) == len(found.offsets) == len(tokenizer.decode(found.ids))
    assert all(0 <= first < last <= len(text) for first, last in found.offsets)
    assert found.word == sorted(found.word)


@pytest.mark.parametrize("tokenizer", [WORDS, PIECES, ALL["wordpiece"]], ids=["word", "bpe", "wordpiece"])
@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_joined_known_text_reads_back_as_the_same_ids(tokenizer, text):
    ids = [number for number in tokenizer.encode(text).ids if number != UNKNOWN]
    first_pieces = [number for number in ids if not tokenizer.continues[number]]
    again = tokenizer.join(first_pieces)
    assert [i for i in tokenizer.encode(again).ids if not tokenizer.continues[i]] == first_pieces


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
    row = read_input("I [MASK] you <0> <script>")
    assert row.tokenizer.decode(row.tokens.ids[0].tolist()) == "I [ MASK ] you < 0 > < script >".split()
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


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_the_same_in_every_run(kind):
    assert train([TEXT] * 4, kind=kind, size=700) == ALL[kind]


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


@every_tokenizer
def test_a_saved_tokenizer_comes_back(tokenizer):
    again = tokenizer_json.from_json(tokenizer_json.to_json(tokenizer))
    assert again == tokenizer
    assert again.encode(TEXT) == tokenizer.encode(TEXT)


SAVED = json.loads(tokenizer_json.to_json(PIECES))
DAMAGED = (
    {**SAVED, "tokenizer": {**SAVED["tokenizer"], "model": {"type": "x"}}},
    {**SAVED, "tokenizer": {}},
    {**SAVED, "specials": {**SAVED["specials"], "size": 50}},
    {**SAVED, "specials": {**SAVED["specials"], "roles": {"mask": -1}}},
    {**SAVED, "specials": {**SAVED["specials"], "sentinels": ["a"]}},
)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "no json", "[" * 100_000),
        *(json.dumps(saved) for saved in DAMAGED),
    ],
)
def test_a_damaged_tokenizer_is_refused(text):
    with pytest.raises(UserError, match="not a saved tokenizer"):
        tokenizer_json.from_json(text)


PEARS, SMITH = "Pears, plums, etc. are fruit.", "J. R. Smith ate 3.5 of them."


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Mr. Smith went. He left!", ["Mr. Smith went.", "He left!"]),
        ('"Go," she said. "Now!" They ran.', ['"Go," she said.', '"Now!"', "They ran."]),
        ("i am here . you are not .", ["i am here .", "you are not ."]),
        (f"{PEARS} {SMITH}", [PEARS, SMITH]),
        ("See no. 5 now. I said no. He went on...", ["See no. 5 now.", "I said no.", "He went on..."]),
        ("They live in the U.S. today. It is big.", ["They live in the U.S. today.", "It is big."]),
        ("What?! Really?", ["What?!", "Really?"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, sentences):
    words = split_words(text)
    numbered = zip(number_sentences(words), words, strict=True)
    found = [split_words(sentence) for sentence in sentences]
    assert [[word for _, word in group] for _, group in groupby(numbered, key=lambda pair: pair[0])] == found


def test_typed_text_numbers_its_sentences_and_paragraphs():
    row = read_input("One two. Three!\r\n\r\nfour\r\n five").tokens
    assert row.sentence_ids.tolist() == [[0, 0, 0, 1, 1, 2, 2]]
    assert row.word_ids.tolist() == [list(range(7))]
    assert row.lengths.tolist() == [7]
    assert not row.padded


@pytest.mark.parametrize(("text", "sentences"), [("a b\r\rc d", 2), ("a b\r\rc d\ne", 1), ("a\r\n\r\nb", 2)])
def test_a_lone_carriage_return_ends_a_line_only_where_nothing_else_does(text, sentences):
    assert int(read_input(text).tokens.sentence_ids.max()) + 1 == sentences


@pytest.mark.parametrize("text", ["", "   ", "\n\t\u200b\u00a0"])
def test_a_text_without_words_is_refused(text):
    with pytest.raises(UserError, match="type at least one"):
        read_input(text)


def test_a_long_text_is_cut_and_said_to_be():
    row = read_input("word " * 100)
    assert row.tokens.ids.shape == (1, 64)
    assert row.notice == "The text has 100 tokens; only the first 64 are used."
    assert row.left_out == (LeftOut("text", 64, 100),)
    assert read_input("word " * 64).notice == ""


def test_a_word_that_the_vocabulary_lacks_is_named():
    row = read_input("the zebra", WORDS)
    assert row.tokens.ids[0, 1] == UNKNOWN
    assert "zebra" in row.notice


@every_tokenizer
@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_every_token_can_be_drawn_over_its_text(tokenizer, text):
    text = clean(text)
    found = tokenizer.encode(text)
    drawn = {position for first, last in found.offsets for position in range(first, last)}
    words = {position for match in WORD.finditer(text) for position in range(*match.span())}
    assert drawn >= words if tokenizer.kind == "bytes" else drawn == words
    for number, (first, last) in zip(found.ids, found.offsets, strict=True):
        under = text[first:last].lower() if tokenizer.lower else text[first:last]
        if tokenizer.kind == "bytes":
            piece = tokenizer.library.id_to_token(number)
            assert piece in bytelevel.write(f" {under}") and len(piece) > len(bytelevel.write(under[1:-1]))
        elif number != UNKNOWN:
            assert tokenizer.decode([number])[0] in under.lower() or not tokenizer.lower
            assert under == tokenizer.decode([number])[0] or tokenizer.lower


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("word", "bytes")])
def test_a_letter_that_looks_like_a_mark_of_spaces_is_a_letter(kind):
    tokenizer = train(["Ġuna \u0121ar Ġ, \u2581 u Ġanni"] * 4, kind=kind, size=200)
    found = tokenizer.encode("Ġuna u Ġanni")
    starts = [k for k, (a, b) in enumerate(pairwise([-1, *found.word])) if a != b]
    assert [k for k, number in enumerate(found.ids) if not tokenizer.continues[number]] == starts


@by_words
@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_the_pieces_of_a_word_put_together_are_the_word(tokenizer, text):
    found = tokenizer.encode(text)
    words = [word.lower() if tokenizer.lower else word for word in split_words(clean(text))]
    assert sorted(set(found.word)) == list(range(len(words)))
    for index, word in enumerate(words):
        ids = [number for number, position in zip(found.ids, found.word, strict=True) if position == index]
        assert ids == tokenizer.encode_word(word)
        if UNKNOWN not in ids:
            assert "".join(tokenizer.decode(ids)) == word
            assert [tokenizer.continues[number] for number in ids] == [k > 0 for k in range(len(ids))]


@by_bytes
@given(text=texts)
@settings(max_examples=100, deadline=None)
def test_byte_level_pieces_know_every_text_and_its_spaces(tokenizer, text):
    text = clean(text)
    found = tokenizer.encode(text)
    assert UNKNOWN not in found.ids
    assert tokenizer.join(found.ids) == text.strip()
    names = zip(found.word, map(tokenizer.library.id_to_token, found.ids), strict=True)
    words = ["".join(name for _, name in group) for _, group in groupby(names, lambda each: each[0])]
    assert words == [word for word, _ in tokenizer.library.pre_tokenizer.pre_tokenize_str(text)]


@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_byte_level_bpe_cuts_as_that_of_gpt_2(text):
    model = BYTES.settings["model"]
    library = ByteLevelBPETokenizer(model["vocab"], [(left, right) for left, right in model["merges"]])
    text = clean(text)
    assert BYTES.encode(text).ids == library.encode(text).ids
    assert {"Ġthe", "Ġisland"} <= {*BYTES.words}


@given(data=st.binary(max_size=12))
def test_every_row_of_bytes_has_a_name_of_its_own(data):
    letters = "".join(bytelevel.LETTERS[byte] for byte in data)
    assert bytelevel.show(letters).isprintable()


def test_the_vocabulary_names_whole_characters_and_numbers_parts_of_them():
    assert bytelevel.show(bytelevel.write("☃!")) == "☃!"
    assert bytelevel.show(bytelevel.write("☃")[:2]) == "⟨E2⟩⟨98⟩"
    assert len({*BYTES.words}) == len(BYTES.words)


@pytest.mark.parametrize(
    ("kind", "unknown"),
    [
        ("word", [(0, 6)]),
        ("wordpiece", [(0, 6)]),
        ("character", [(2, 3), (3, 4)]),
        ("bpe", [(2, 3), (3, 4)]),
        ("unigram", [(2, 4)]),
        ("bytes", []),
    ],
)
def test_each_kind_has_its_own_way_with_unknown_letters(kind, unknown):
    found = ALL[kind].encode("saжжil")
    assert [position for number, position in zip(found.ids, found.offsets, strict=True) if number == UNKNOWN] == unknown


def test_every_kind_can_be_wished_for():
    assert get_args(Kind) == tuple(KINDS) and get_args(KindOrAuto) == ("auto", *KINDS)


def test_a_character_is_one_token():
    found = ALL["character"].encode("the sails")
    assert ALL["character"].decode(found.ids) == list("thesails")
    assert ALL["character"].join(found.ids) == "the sails"


DOGS = ["My dog. Your dog. A dog. The dog! One dog. 9lives, 9lives."] * 5


def test_the_rule_of_categories_keeps_the_full_stop_off_the_dog():
    apart = train(DOGS, kind="bytes", size=700)
    across = train(DOGS, kind="bytes", size=700, across=True)
    assert apart.decode(apart.encode("A dog.").ids) == ["A", "dog", "."]
    assert across.decode(across.encode("A dog.").ids) == ["A", "dog."]
    assert apart.decode(apart.encode_word("9lives")) == ["9", "lives"]
    assert across.decode(across.encode_word("9lives,")) == ["9lives,"]
    assert apart.decode(apart.encode_word("dog.")) == ["dog", "."], "also where the caller has not cut the word"


@given(text=texts)
@settings(max_examples=60, deadline=None)
def test_with_the_rule_of_categories_no_piece_mixes_letters_digits_and_marks(text):
    text = clean(text)
    for first, last in BYTES.encode(text).offsets:
        assert not (any(map(str.isalpha, text[first:last])) and any(map(str.isdigit, text[first:last])))


def test_wordpiece_takes_the_longest_piece_and_judges_pairs_by_more_than_their_number():
    tokenizer = ALL["wordpiece"]
    word = tokenizer.words.index("sail")
    assert tokenizer.encode_word("sailing")[0] == word
    counts = {**{f"{left}{right}": 40 for left in "acde" for right in "bfgh"}, "ab": 60, "xy": 50}
    learned = {kind: of_counts(counts, kind=kind, size=39 + 100).words for kind in ("wordpiece", "bpe")}
    first = {
        kind: next(w for w in words[FIRST_WORD:] if len(w.removeprefix("##")) == 2) for kind, words in learned.items()
    }
    assert first == {"wordpiece": "xy", "bpe": "ab"}


def test_unigram_prefers_the_cut_whose_pieces_are_likelier():
    words = ("ab", "##c", "a", "##bc", "##b")
    scores = (-1.0, -1.0, -3.0, -3.0, -2.0)
    for better, cut in ((scores, ["ab", "c"]), ((-1.0, -6.0, -3.0, -3.0, -2.0), ["a", "bc"])):
        tokenizer = of_learnt("unigram", Learnt(words, scores=better))
        assert tokenizer.decode(tokenizer.encode_word("abc")) == cut


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts)
@settings(max_examples=15, deadline=None)
def test_any_text_can_be_learnt_from(kind, text):
    tokenizer = train([text, text], kind=kind, size=600)
    assert len(tokenizer) <= 600 and len(set(tokenizer.words)) == len(tokenizer)
    assert tokenizer_json.from_json(tokenizer_json.to_json(tokenizer)) == tokenizer
    if kind == "bytes":
        assert tokenizer.join(tokenizer.encode(text).ids) == clean(text).strip()


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_that_nobody_has_cut_is_no_trouble(kind):
    tokenizer = of_counts({"ab" * 5_000: 3, "##x": 9, "##xy": 9, "##": 5, "a b": 4, "": 1}, kind=kind, size=600)
    for word in ("ab" * 5_000, "##x", "##xy", "a b"):
        ids = tokenizer.encode_word(word)
        read = tokenizer.join(ids) if kind == "bytes" else "".join(tokenizer.decode(ids))
        assert UNKNOWN in ids or read == (word.removeprefix("##") if kind == "wordpiece" else word), "as in BERT"
    assert tokenizer_json.from_json(tokenizer_json.to_json(tokenizer)) == tokenizer


@every_tokenizer
def test_a_tokenizer_that_was_used_can_be_sent_to_another_process(tokenizer):
    ids = tokenizer.encode(TEXT).ids
    again = pickle.loads(pickle.dumps(tokenizer))
    assert again == tokenizer == copy.deepcopy(tokenizer)
    assert again.encode(TEXT).ids == ids


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "sentence"}, "choose one of auto, word, character, wordpiece, bpe, bytes, unigram"),
        ({"kind": "bytes", "size": 290}, "byte-level BPE needs at least 295, 39 for special tokens"),
        ({"kind": "bpe", "size": 12}, "size is 12"),
        ({"kind": "bpe", "across": True}, "only the kind 'bytes'"),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused(change, reason):
    with pytest.raises(UserError, match=reason):
        train([TEXT], **change)


@pytest.mark.parametrize("tokenizer", [PIECES, BYTES, ACROSS], ids=["bpe", "bytes", "across"])
@given(text=texts.filter(lambda text: len(text) < 500))
@settings(max_examples=40, deadline=None)
def test_the_merges_of_a_text_end_where_encoding_ends(tokenizer, text):
    text = clean(text)
    states = merge_steps(tokenizer, text)
    found = tokenizer.encode(text)
    pieces = zip(tokenizer.decode(found.ids), found.offsets, found.word, strict=True)
    assert states[-1]["pieces"] == [[piece, *position, word] for piece, position, word in pieces]
    assert json.loads(json.dumps(states)) == states
    for before, after in pairwise(states):
        assert after["joined"] and len(after["pieces"]) < len(before["pieces"])
        assert all(after["pieces"][k][0] == "".join(after["pair"]).lstrip("Ġ") for k in after["joined"])


def test_merges_happen_one_pair_at_a_time():
    words = ("b", "a", "n", "##b", "##a", "##n", "##an", "##anan", "ban")
    tokenizer = of_learnt("bpe", Learnt(words, (("##a", "##n"), ("##an", "##an"), ("b", "##an"))))
    first, second, third = merge_steps(tokenizer, "banana")
    assert [piece[0] for piece in first["pieces"]] == list("banana") and first["pair"] == [] and first["rank"] == -1
    assert [piece[0] for piece in second["pieces"]] == ["b", "an", "an", "a"]
    assert second["joined"] == [1, 2] and second["pair"] == ["a", "n"] and second["rank"] == 0
    assert third["pieces"] == [["b", 0, 1, 0], ["anan", 1, 5, 0], ["a", 5, 6, 0]] and third["joined"] == [1]


def test_merges_of_other_kinds_or_of_a_book_are_refused():
    with pytest.raises(UserError, match="kind is 'word'"):
        merge_steps(WORDS, "a")
    with pytest.raises(UserError, match="has 3000 characters"):
        merge_steps(PIECES, "a" * 3000)


def test_a_word_with_a_hyphen_is_one_word():
    assert split_words("How are you? Comment vas-tu? Re\u2010read!") == [
        *("How", "are", "you", "?", "Comment", "vas-tu", "?", "Re\u2010read", "!")
    ]
    assert clean("Comment vas-tu") == "Comment vas-tu"
    assert read_input("Comment vas-tu").tokens.word_ids.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    "picture", ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\U0001f1eb\U0001f1f7", "❤\ufe0f"]
)
def test_a_picture_made_of_several_is_one_word(picture):
    assert split_words(f"Hi{picture}{picture}!") == ["Hi", picture, picture, "!"]


def test_invisible_marks_make_no_tokens():
    assert split_words("a\u202eb \u200f\u2066c\u2069\x00") == ["a", "b", "c"]
    assert split_words("so\u00adft") == ["so\u00adft"]


@pytest.mark.parametrize("text", [text for text in HOSTILE if split_words(clean(text))])
@pytest.mark.parametrize("name", [None, *ALL])
def test_a_hostile_text_is_typed_all_the_same(text, name):
    row = read_input(text, ALL[name] if name else None).tokens
    assert row.ids.shape == row.word_ids.shape == row.sentence_ids.shape
    assert all(label.shape == row.ids.shape for label in row.labels.values())


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("The old man saw a dog in the park .", [0, 0, 0, 0, 1, 1, 2, 2, 2, -1]),
        ("I told them if we could swim , fish", [0, 0, 0, 1, 1, 1, 1, -1, 2]),
        ("Don't worry it's late", [0, 0, 1, 1]),
        (". !", [-1, -1]),
        ("", []),
    ],
)
def test_a_phrase_is_function_words_and_then_content_words(text, phrases):
    assert guess_phrases(text.split()) == phrases


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Yesterday Ada Lovelace met Babbage .", [0, 0, 0, -1, 1, -1]),
        ("Today it rains .", [-1, -1, -1, -1]),
        ("Paris is big . We love Paris .", [0, -1, -1, -1, -1, -1, 1, -1]),
        ("The Alps and I'm sure I saw Rome , Milan .", [-1, 0, -1, -1, -1, -1, -1, 1, -1, 2, -1]),
        ('" Nobody " said Bob . Bob ran .', [-1, -1, -1, -1, 0, -1, 1, -1, -1]),
        ("", []),
    ],
)
def test_a_mention_is_a_run_of_capitalised_words(text, mentions):
    words = text.split()
    assert guess_mentions(words, number_sentences(words)) == mentions


@given(
    words=st.lists(
        st.sampled_from(("The", "the", "dog", "Rome", "I", ".", ",", "Bob", "ран", "Ж", "❤", "")), max_size=20
    )
)
def test_guesses_number_runs_from_zero(words):
    sentence = number_sentences(words)
    for numbers in (guess_phrases(words, sentence), guess_phrases(words), guess_mentions(words, sentence)):
        assert len(numbers) == len(words)
        assert [k for k, _ in groupby(n for n in numbers if n >= 0)] == list(range(max(numbers, default=-1) + 1))
    for word, phrase in zip(words, guess_phrases(words), strict=True):
        assert (phrase < 0) == (not any(c.isalnum() for c in word))


def test_typed_text_carries_its_guesses_and_every_piece_those_of_its_word():
    text = "The unknown sailors met Ada Lovelace.\n\nA tailor"
    labels = {name: row[0].tolist() for name, row in read_input(text).tokens.labels.items()}
    assert labels == {
        "phrase": [0, 0, 0, 0, 0, 0, -1, 1, 1],
        "mention": [-1, -1, -1, -1, 0, 0, -1, -1, -1],
        "language": [0] * 9,
    }
    row = read_input(text, PIECES).tokens
    assert row.ids.shape[1] > 9
    for name, values in labels.items():
        assert row.labels[name][0].tolist() == [values[word] for word in row.word_ids[0].tolist()]


def test_typed_text_without_the_rule_of_categories_keeps_marks_with_their_word():
    row = read_input("My dog. Your (dog).", ACROSS).tokens
    assert row.word_ids[0].unique().tolist() == [0, 1, 2, 3]
    assert row.ids[0].tolist() == ACROSS.encode("My dog. Your (dog).").ids
    assert row.sentence_ids[0].tolist()[0] == 0 and row.sentence_ids[0].tolist()[-1] == 1
