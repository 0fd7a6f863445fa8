"""Corpora: the user's text in every shape it may come, and windows cut from it."""

import os
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.batch import Tokens
from playground.corpora import Corpus, from_pasted, open_corpus, pick, read_text_file
from playground.corpora.build import build
from playground.corpora.catalog.parallel import make_parallel
from playground.corpora.readers import decode
from playground.corpora.readers import text as reading
from playground.corpora.readers.decode import plain_lines
from playground.corpora.sources import own_text, sources
from playground.corpora.tinyworld import generate
from playground.errors import UserError
from playground.tokenizing.vocabulary import FIRST_WORD, SEPARATOR
from tests.texts import small_corpus

PARAGRAPH = "The cat sat on the mat. It was a warm day! Nobody else came.\n"
TEXT = (PARAGRAPH * 2 + "\n") * 12


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write(tmp_path, content: bytes):
    path = tmp_path / "some.txt"
    path.write_bytes(content)
    return path


def spell(corpus: Corpus) -> list[str]:
    return corpus.tokenizer.decode(corpus.ids.tolist())


def test_every_token_of_a_file_has_its_word_sentence_and_document(tmp_path):
    corpus = read_text_file(write(tmp_path, TEXT.encode()))
    assert corpus.ids.dtype == torch.int64
    rows = (corpus.word_ids, corpus.sentence_ids, corpus.document_ids, *corpus.labels.values())
    assert {len(row) for row in rows} == {len(corpus)}
    assert int((corpus.ids == SEPARATOR).sum()) == 12
    assert int(corpus.document_ids.max()) == 11
    assert int(corpus.sentence_ids.max()) == 12 * 6 - 1
    assert corpus.word_ids.tolist() == list(range(len(corpus)))
    assert corpus.document_ids[corpus.ids == SEPARATOR].tolist() == list(range(12))


def test_the_held_out_part_is_a_tenth_and_begins_with_a_document():
    corpus = from_pasted(TEXT)
    assert corpus.ids[corpus.held_out_from - 1] == SEPARATOR
    assert 0.85 < corpus.held_out_from / len(corpus) < 0.95


def test_one_long_document_is_held_out_from_a_sentence_on():
    corpus = from_pasted(PARAGRAPH * 40)
    position = corpus.held_out_from
    assert corpus.sentence_ids[position] == corpus.sentence_ids[position - 1] + 1
    assert 0.85 < position / len(corpus) < 0.95


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks_change_nothing(tmp_path, end, start):
    plain = from_pasted(TEXT)
    corpus = read_text_file(write(tmp_path, start + TEXT.replace("\n", end).encode()))
    assert corpus.hash == plain.hash


@given(size=st.integers(1, 40))
@settings(max_examples=15, deadline=None)
def test_the_size_of_a_piece_changes_nothing(size):
    text = ("Zoë naïvely\rsaid: «Où?»\r\n" * 3 + "\r\n") * 6
    whole = from_pasted(text)
    chunks = [text[k : k + size] for k in range(0, len(text), size)]
    again = build("pasted text", reading.read_words(plain_lines(chunks, True)))
    assert again.hash == whole.hash


def test_a_letter_of_two_bytes_between_two_pieces_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(decode, "CHUNK", 3)
    corpus = read_text_file(write(tmp_path, ("né é " * 60).encode()))
    assert set(spell(corpus)) == {"né", "é", "[SEP]"}


def test_a_line_without_end_is_read_in_pieces(monkeypatch):
    monkeypatch.setattr(reading, "CHUNK", 64)
    assert spell(from_pasted("one two three " * 100)) == ["one", "two", "three"] * 100 + ["[SEP]"]


def test_many_types_become_pieces_and_keep_their_words():
    words = [f"{a}{b}{c}ing" for a in "bcdfghklmn" for b in "aeiou" for c in "bcdfghklmnprstvw"]
    corpus = from_pasted(" ".join(words) + ".", kind="bpe", size=300)
    starts = corpus.word_ids[1:] != corpus.word_ids[:-1]
    assert int(starts.sum()) + 1 == len(words) + 2
    assert corpus.tokenizer.join(corpus.ids[:-1].tolist()) == " ".join(words) + "."


REFUSED = [
    (b"", "some.txt is empty; choose a file with text in it."),
    (b" \n\t \r\n", "There are no words in some.txt, only white space"),
    (b"abc\x00def" * 50, "some.txt is not a text file: byte 3 is zero"),
    ("Grüße".encode("utf-16-le"), "some.txt is not a text file: byte 1 is zero"),
    (b"\xff\xfea\0\0\0", "some.txt is not a text file: it holds zeros among its letters"),
    (b"\xff\xfea\0\x00\xd8", "some.txt is not in UTF-8: byte 4 cannot be read"),
    (b"PK\x03\x04 and more", "some.txt is a zip archive or an office document"),
    (
        b"a" * 10 + "é".encode("latin-1") + b" b" * 99,
        "some.txt is not in UTF-8: byte 10 cannot be read; save it as UTF-8.",
    ),
    (b"good words " * 20 + b"\xc3", "some.txt is not in UTF-8: byte 220 cannot be read; save it as UTF-8."),
    (b"only four words here", "There are only 5 tokens in some.txt; at least 64 are needed to train on it."),
]


@pytest.mark.parametrize(("content", "sentence"), REFUSED, ids=[sentence[9:30] for _, sentence in REFUSED])
def test_a_file_that_cannot_be_used_is_refused_in_a_sentence(tmp_path, content, sentence):
    with pytest.raises(UserError) as refusal:
        read_text_file(write(tmp_path, content))
    assert str(refusal.value).startswith(sentence)


def test_the_byte_offset_is_that_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(decode, "CHUNK", 7)
    with pytest.raises(UserError, match="byte 30 "):
        read_text_file(write(tmp_path, "ééééé".encode() * 3 + b"\xff" + b"x" * 30))


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"no file .*nothing"):
        read_text_file(tmp_path / "nothing.txt")
    with pytest.raises(UserError, match="is a folder"):
        read_text_file(tmp_path)
    with pytest.raises(UserError, match="is a folder"):
        open_corpus(str(tmp_path))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the super-user may read every file")
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    path = write(tmp_path, TEXT.encode())
    path.chmod(0)
    with pytest.raises(UserError, match="cannot be read"):
        read_text_file(path)


def test_pasted_nothing_is_refused():
    with pytest.raises(UserError, match="The pasted text is empty"):
        from_pasted("")
    with pytest.raises(UserError, match="only white space"):
        from_pasted(" \n ")


def test_specials_in_a_file_stay_text(tmp_path):
    corpus = read_text_file(write(tmp_path, b"a [MASK] and [SEP] <0> <script> x\n" * 30))
    assert int((corpus.ids == SEPARATOR).sum()) == 1
    assert int((corpus.ids < FIRST_WORD).sum()) == 1


def test_progress_tells_the_bytes_that_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(decode, "CHUNK", 100)
    heard: list[tuple[int, int]] = []
    read_text_file(write(tmp_path, TEXT.encode()), progress=lambda done, total: heard.append((done, total)))
    assert heard == [(min(100 * k, len(TEXT)), len(TEXT)) for k in range(1, len(TEXT) // 100 + 2)]


def test_a_text_over_the_limit_is_cut_and_said_to_be():
    corpus = from_pasted(TEXT, limit=100)
    assert len(corpus) == 100
    assert corpus.ids[-1] == SEPARATOR
    assert "only its first 100 words" in corpus.description


def test_windows_are_the_corpus_cut_into_rows():
    corpus = open_corpus("world", tokens=4000)
    tokens = corpus.windows(32)
    assert tokens.ids.flatten().tolist() == corpus.ids[: tokens.ids.numel()].tolist()
    assert not tokens.padded
    assert tokens.valid.all()
    assert tokens.vocabulary == corpus.tokenizer.words
    for name, row in tokens.labels.items():
        assert row.flatten().tolist() == corpus.labels[name][: row.numel()].tolist()
    assert int(tokens.word_ids[:, 0].abs().max()) == int(tokens.sentence_ids[:, 0].abs().max()) == 0
    held_out = corpus.windows(32, "held_out")
    assert held_out.ids[0, 0] == corpus.ids[corpus.held_out_from]


def test_a_window_longer_than_the_part_is_refused_with_both_numbers():
    corpus = from_pasted(TEXT)
    with pytest.raises(UserError, match=r"has \d+ tokens; one window of 5000 needs 5000"):
        corpus.windows(5000)
    with pytest.raises(UserError, match="held-out part"):
        corpus.windows(200, "held_out")


def test_picked_rows_bring_everything_along():
    tokens = open_corpus("reviews", tokens=2000).windows(16)
    some = pick(tokens, torch.tensor([3, 0, 3]))
    assert some.ids.tolist() == [tokens.ids[k].tolist() for k in (3, 0, 3)]
    assert some.labels["pos"][1].tolist() == tokens.labels["pos"][0].tolist()
    assert some.lengths.tolist() == [16, 16, 16]


def traced(corpus: Corpus) -> Corpus:
    """The same corpus with labels that say where each token stands and which sentence and document it is of."""
    where = {"place": torch.arange(len(corpus)), "sentence": corpus.sentence_ids, "document": corpus.document_ids}
    return replace(corpus, labels={**corpus.labels, **where})


def rows_of(tokens: Tokens, label: str) -> list[list[int]]:
    """The label of the real tokens of each row."""
    return [row[:n].tolist() for row, n in zip(tokens.labels[label], tokens.lengths.tolist(), strict=True)]


PAIRED = traced(generate("world", 0, 12_000))
BOOKS = traced(from_pasted(("One two. Three four five? Six.\n\n" + PARAGRAPH * 3 + "\n") * 30))
CORPORA = pytest.mark.parametrize("corpus", [PAIRED, BOOKS], ids=["world", "file"])


@CORPORA
@pytest.mark.parametrize("part", ["train", "held_out"])
@pytest.mark.parametrize("length", [2, 9, 21, 32, 64])
def test_pairs_follow_each_other_in_one_document_of_one_part(corpus, part, length):
    tokens = corpus.pairs(length, part)
    following, other = tokens.neighbours["next"], tokens.neighbours["other"]
    inside = range(corpus.held_out_from) if part == "train" else range(corpus.held_out_from, len(corpus))
    assert len(tokens.ids) == len(following.ids) == len(other.ids)
    sides = (rows_of(side, "place") for side in (tokens, following, other))
    for a, b, c in zip(*sides, strict=True):
        assert 0 < len(a) <= length - max(len(b), len(c)) < length
        assert corpus.document_ids[a].unique().tolist() == corpus.document_ids[b].unique().tolist()
        assert corpus.document_ids[c].unique().tolist() != corpus.document_ids[a].unique().tolist()
        assert all(run == list(range(run[0], run[0] + len(run))) for run in (a, b, c))
        assert {*a, *b, *c} <= set(inside)
        whole = corpus.sentence_ids[a[-1]] != corpus.sentence_ids[a[-1] + 1]
        assert b[0] == a[-1] + 1 if whole else corpus.sentence_ids[b[0]] == corpus.sentence_ids[a[-1]] + 1


@CORPORA
def test_segments_are_whole_sentences_where_they_fit_and_hold_no_separator(corpus):
    tokens = corpus.pairs(40)
    for side in (tokens, *tokens.neighbours.values()):
        assert SEPARATOR not in side.ids
        for run in rows_of(side, "place"):
            assert run[0] == 0 or corpus.sentence_ids[run[0] - 1] != corpus.sentence_ids[run[0]]
            assert (
                corpus.ids[run[-1] + 1] == SEPARATOR or corpus.sentence_ids[run[-1] + 1] != corpus.sentence_ids[run[-1]]
            )


def test_rows_of_pairs_are_padded_and_counted_from_zero():
    tokens = PAIRED.pairs(24)
    for side in (tokens, *tokens.neighbours.values()):
        assert side.ids.shape == side.word_ids.shape == side.labels["pos"].shape
        assert side.ids.shape[1] == int(side.lengths.max())
        assert (side.ids[~side.valid] == tokens.specials.pad).all()
        assert (side.labels["pos"][~side.valid] == -1).all()
        assert side.ids[side.valid].tolist() == PAIRED.ids[side.labels["place"][side.valid]].tolist()
        assert (
            side.labels["pos"][side.valid].tolist() == PAIRED.labels["pos"][side.labels["place"][side.valid]].tolist()
        )
        assert not side.word_ids[:, 0].any()
        assert not side.sentence_ids[:, 0].any()
        assert side.padded


def test_length_does_not_give_away_what_follows_and_what_does_not():
    tokens = PAIRED.pairs(64)
    following, other = tokens.neighbours["next"].lengths, tokens.neighbours["other"].lengths
    assert float((following == other).float().mean()) > 0.8
    assert abs(float((following - other).float().mean())) < 0.3
    used = Counter(row[0] for row in rows_of(tokens.neighbours["other"], "place"))
    assert max(used.values()) <= 2


def test_pairs_follow_from_the_seed():
    one, again, another = (PAIRED.pairs(32, seed=seed) for seed in (0, 0, 1))
    for name in ("next", "other"):
        assert torch.equal(one.neighbours[name].ids, again.neighbours[name].ids)
        assert rows_of(one.neighbours[name], "place") != rows_of(another.neighbours[name], "place")


def test_picked_pairs_bring_their_neighbours_along():
    tokens = PAIRED.pairs(32)
    some = pick(tokens, torch.tensor([5, 2]))
    assert some.neighbours["next"].ids[1].tolist() == tokens.neighbours["next"].ids[2].tolist()
    assert some.neighbours["other"].lengths.tolist() == tokens.neighbours["other"].lengths[[5, 2]].tolist()


def test_pairs_of_two_languages_are_translations():
    corpus = traced(make_parallel(0, 6000))
    tokens = corpus.pairs(12)
    assert set(tokens.neighbours) == {"translation", "other"}
    there, other = tokens.neighbours["translation"], tokens.neighbours["other"]
    assert len(tokens.ids) == int(corpus.document_ids[corpus.held_out_from - 1]) + 1
    assert (tokens.labels["language"][tokens.valid] == 0).all()
    assert (there.labels["language"][there.valid] == 1).all()
    assert (other.labels["language"][other.valid] == 1).all()
    assert (tokens.labels["document"][:, 0] == there.labels["document"][:, 0]).all()
    assert (tokens.labels["document"][:, 0] != other.labels["document"][:, 0]).all()
    assert (other.labels["aligned"] == -1).all()
    shared = 0
    for a, b, cut in zip(
        rows_of(tokens, "aligned"), rows_of(there, "aligned"), (tokens.lengths + there.lengths), strict=True
    ):
        assert all(position == -1 or b[position] == k for k, position in enumerate(a))
        assert int(cut) <= 12
        shared += sum(position >= 0 for position in a)
    assert shared > 0


def test_a_stream_goes_on_in_one_language_to_the_last_token_of_its_row():
    """XLM, arXiv:1901.07291, sec. 5.1: the sentences of one language one behind another, each with its end."""
    corpus, width, found = small_corpus("parallel", 2_000), 32, 0
    for part, bounds in (("train", (0, corpus.held_out_from)), ("held_out", (corpus.held_out_from, len(corpus)))):
        pairs, spoken = corpus.pairs(width, part), corpus.labels["language"]
        for language, rows in enumerate(corpus.streams(width, part).values()):
            kept = [k for k in range(*bounds) if corpus.ids[k] == SEPARATOR or spoken[k] == language]
            text, position = corpus.ids[kept].tolist(), 0
            side = pairs.neighbours["translation"] if language else pairs
            for row, length in enumerate(rows.lengths.tolist()):
                assert rows.ids[row, :length].tolist() == text[position : position + width]
                assert rows.labels["language"][row, :length].unique().tolist() == [language]
                assert rows.word_ids[row, :length].tolist() == list(range(length))
                sentence = [0, *(rows.ids[row, : length - 1] == SEPARATOR).cumsum(0).tolist()]
                assert rows.sentence_ids[row, :length].tolist() == sentence
                position += int(side.lengths[row]) + 1  # the sentence and its [SEP]
            assert position == len(text)
            found += len(rows.ids)
    assert found > 300


SHORT = "the dog sees the cat. the cat sees a bird. a bird sings in the rain. a zebra waits."


@pytest.mark.parametrize("knobs", [{"repeat": 50}, {"repeat": 100, "mix": "everyday"}, {"mix": "world"}])
def test_what_is_held_out_of_a_repeated_or_mixed_text_is_never_trained_on(tmp_path, knobs):
    path, setting = write(tmp_path, SHORT.encode()), ", ".join(f"{name}={value}" for name, value in knobs.items())
    corpus, own = open_corpus(f"{path}({setting})"), from_pasted(SHORT * 9)
    assert (corpus.name, corpus.hash) == (f"some.txt({setting})", own_text(partial(from_pasted, SHORT), knobs).hash)
    words = [corpus.tokenizer.words[k] for k in corpus.ids.tolist()]
    train, held_out = words[: corpus.held_out_from], words[corpus.held_out_from :]
    often = knobs.get("repeat", 1)
    assert ("zebra" in train, held_out.count("zebra"), train.count("sings")) == (False, often, often)
    assert set(own.tokenizer.words) <= set(corpus.tokenizer.words), "one vocabulary knows the words of both texts"
    rows = {part: {tuple(row) for row in corpus.windows(16, part).ids.tolist()} for part in ("train", "held_out")}
    assert rows["train"] and rows["held_out"] and not rows["train"] & rows["held_out"]
    ours = 20 * often
    if "mix" not in knobs:
        assert (corpus.sections, corpus.held_out_from) == ((), ours)
        return
    generated = open_corpus(knobs["mix"], tokens=50_000)
    assert corpus.sections == (ours, ours + generated.held_out_from, ours + generated.held_out_from + 5 * often)
    assert len(corpus) - (ours + 5 * often) == len(generated)
    times = f" {often} times" * (often > 1)
    read = f"Training reads 19 of your 24 tokens{times} and {generated.held_out_from:,} of {generated.name}; 5 and "
    assert corpus.notice.startswith(read)
    assert corpus.pairs(32), "a text of one document has others beside it"


def test_a_text_that_is_cut_says_so_where_it_is_mixed_too():
    corpus = own_text(partial(from_pasted, "one two three . " * 100, limit=200), {"mix": "everyday"})
    assert "The text is longer; only its first 200 words are used." in corpus.description


def test_only_a_text_without_labels_is_repeated_or_mixed_and_something_is_left_to_hold_out(tmp_path):
    table = tmp_path / "labelled.csv"
    table.write_text("text,label\n" + "good film,yes\nbad film,no\n" * 9, encoding="utf-8")
    with pytest.raises(UserError, match=r"The words of labelled.csv have labels; only a text without labels"):
        open_corpus(f"{table}(repeat=9)")
    with pytest.raises(UserError, match=r"There is only one word in .*, so none is left to hold out"):
        open_corpus(f"{write(tmp_path, b'word')}(repeat=99)")
    with pytest.raises(UserError, match="repeat is 0; it must lie between 1 and"):
        open_corpus(f"{write(tmp_path, SHORT.encode())}(repeat=0)")
    with pytest.raises(UserError, match="mix is 'nope'; choose one of none, everyday"):
        open_corpus(f"{write(tmp_path, SHORT.encode())}(mix=nope)")


def test_texts_without_pairs_are_refused_in_a_sentence():
    with pytest.raises(UserError, match="has only one document with pairs"):
        from_pasted(PARAGRAPH * 40).pairs(32)
    with pytest.raises(UserError, match="No document of pasted text has two sentences"):
        from_pasted("one two three four five\n\n" * 40).pairs(32)
    with pytest.raises(UserError, match="The length is 1; a pair"):
        PAIRED.pairs(1)


def test_the_unigram_entropy_of_an_even_text_is_known():
    corpus = from_pasted("a b c d " * 500, kind="word")
    assert corpus.unigram_entropy == pytest.approx(torch.log(torch.tensor(4.0)).item(), abs=1e-3)


def test_the_hash_follows_the_content():
    assert from_pasted(TEXT).hash == from_pasted(TEXT).hash
    assert from_pasted(TEXT).hash != from_pasted(TEXT.replace("cat", "dog")).hash


def test_the_catalogue_begins_with_the_default():
    assert list(sources()) == ["world", *sorted(set(sources()) - {"world"})]


def test_an_unknown_corpus_is_refused_with_what_there_is():
    with pytest.raises(
        UserError, match=r"no corpus and no file named 'wrold'; the nearest corpora: world, [^,]+, [^,]+\.$"
    ):
        open_corpus("wrold")


@pytest.mark.parametrize("tokens", [0, 10**9])
def test_a_senseless_size_is_refused(tokens):
    with pytest.raises(UserError, match=f"tokens is {tokens}"):
        open_corpus("world", tokens=tokens)


def test_a_path_opens_a_file(tmp_path):
    assert open_corpus(write(tmp_path, TEXT.encode())).name == "some.txt"


def test_a_generated_corpus_is_kept_and_a_damaged_one_made_anew(tmp_path):
    first = open_corpus("reviews", tokens=3000)
    (kept,) = tmp_path.glob("cache/**/*.safetensors")
    assert open_corpus("reviews", tokens=3000).hash == first.hash
    content = kept.read_bytes()
    for damaged in (b"", b"rubbish", content[: len(content) // 2], content[:-5] + b"\x07" * 5):
        kept.write_bytes(damaged)
        again = open_corpus("reviews", tokens=3000)
        assert again.hash == first.hash
        assert again.label_names == first.label_names
        assert kept.read_bytes() == content


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert len(open_corpus("reviews", tokens=1000)) >= 1000
