"""A tokenizer that is chosen for a corpus: the same words in other pieces, with all that the corpus knows of them."""

import json
from itertools import pairwise

import pytest
import torch

from playground import cli
from playground.corpora import open_corpus
from playground.corpora.sources import name_with_knobs, name_with_tokenizer, read_name, source_knobs
from playground.corpora.tokenization import KINDS, Tokenization, retokenized
from playground.errors import UserError
from playground.tokenizing.vocabulary import FIRST_WORD, UNKNOWN
from playground.training import checkpoint, train
from playground.training.fork import fork
from playground.training.own_text import corpus_of
from playground.zoo import entries
from tests.runs import losses, reviews, run_of, tiny

PIECES = [kind for kind in KINDS if kind not in ("auto", "words")]
each_kind_of_pieces = pytest.mark.parametrize("kind", PIECES)


def pieces_of(kind, corpus=None):
    return retokenized(corpus or reviews(), Tokenization(kind, 700))


@each_kind_of_pieces
def test_the_text_is_the_same_word_by_word(kind):
    words, pieces = reviews(), pieces_of(kind)
    assert pieces.tokenizer.kind == KINDS[kind] and len(pieces.tokenizer) <= 700
    assert UNKNOWN not in pieces.ids and len(pieces) > len(words)
    read = pieces.tokenizer.join(pieces.ids[:900].tolist()).replace(".[SEP]", ". [SEP]")  # the library glues it
    assert read.startswith(words.tokenizer.join(words.ids[:100].tolist()))
    assert torch.equal(pieces.word_ids.unique(), words.word_ids)


@each_kind_of_pieces
def test_every_piece_has_the_labels_of_its_word(kind):
    words, pieces = reviews(), pieces_of(kind)
    word, at = pieces.word_ids.long(), pieces.word_ids.diff(prepend=torch.tensor([-1], dtype=torch.int32)) > 0
    assert set(pieces.labels) == set(words.labels) and pieces.label_names == words.label_names
    for name, row in words.labels.items():
        assert pieces.labels[name].dtype == row.dtype
        if name != "head":
            assert torch.equal(pieces.labels[name], row[word]), name
    assert torch.equal(pieces.sentence_ids, words.sentence_ids[word])
    assert torch.equal(pieces.document_ids, words.document_ids[word])
    head, old = pieces.labels["head"].long(), words.labels["head"].long()
    there = head >= 0
    assert torch.equal(there, old[word] >= 0) and bool(at[head[there]].all()), "a head is the first piece of its word"
    assert torch.equal(word[head[there]], old[word][there])


def test_the_held_out_text_and_the_nats_of_the_whole_text_stay_as_they_are():
    words, pieces = reviews(), pieces_of("bpe")
    assert int(pieces.word_ids[pieces.held_out_from]) == words.held_out_from
    assert int(pieces.word_ids[pieces.held_out_from - 1]) == words.held_out_from - 1
    assert pieces.entropy_bound * len(pieces) == pytest.approx(words.entropy_bound * len(words))


def test_a_translation_is_aligned_piece_by_piece_with_the_first_piece_of_its_word():
    words = open_corpus("parallel", tokens=2_000)
    assert translated(pieces_of("characters", words)) == translated(words)


def translated(corpus, sentences=8):
    """For each word of some sentences the number of the word that is said to be its translation."""
    begins = [0, *(int(k) + 1 for k in corpus.sentence_ids.diff().nonzero())]
    found = {}
    for number, (first, last) in enumerate(pairwise(begins[: sentences + 1])):
        other = begins[number ^ 1]
        for k in range(first, last):
            aligned = int(corpus.labels["aligned"][k])
            found[int(corpus.word_ids[k])] = aligned if aligned < 0 else int(corpus.word_ids[other + aligned])
    return found


def test_sections_are_moved_with_their_text():
    words = open_corpus("bilingual", tokens=2_000)
    pieces = pieces_of("wordpiece", words)
    assert [int(pieces.word_ids[k]) for k in pieces.sections] == [int(words.word_ids[k]) for k in words.sections]


def test_a_name_tells_of_the_tokenizer_and_opens_the_same_corpus_again():
    name = name_with_tokenizer("bilingual(shared=0.5)", {"tokenizer": "bpe", "vocab_size": 300})
    corpus = open_corpus(name, tokens=2_000)
    assert corpus.name == "bilingual(shared=0.5, tokenizer=bpe, vocab_size=300)" and len(corpus.tokenizer) <= 300
    assert open_corpus(corpus.name, tokens=2_000).hash == corpus.hash
    assert read_name(corpus.name) == ("bilingual", {"shared": 0.5, "tokenizer": "bpe", "vocab_size": 300})
    assert [k.name for k in source_knobs("world")] == ["tokenizer", "vocab_size"]
    assert name_with_knobs("world", {"tokenizer": "auto"}) == "world"
    assert open_corpus("world(tokenizer=words)", tokens=2_000).tokenizer == open_corpus("world", tokens=2_000).tokenizer


def test_the_words_of_scibert_are_whole_and_all_longer_pieces_are_of_its_field():
    """SciVocab (arXiv:1903.10676, sec. 2) is learned from the texts of the field; words of others come in letters."""
    corpus = open_corpus(entries()["SciBERT"].corpus)
    tokenizer, plain = corpus.tokenizer, open_corpus("kinds")
    read = {plain.tokenizer.words[k] for k in plain.ids.unique().tolist()} - {"[SEP]"}
    assert len(corpus) == len(plain) and {len(tokenizer.encode_word(word)) for word in read} == {1}
    pieces = [word.removeprefix("##") for word in tokenizer.words[FIRST_WORD:]]
    assert all(len(piece) == 1 or any(piece in word for word in read) for piece in pieces)
    assert len(tokenizer.encode_word("wonderful")) > 3


def test_a_text_that_people_wrote_is_read_anew_and_not_from_its_pieces():
    corpus = open_corpus("python reference(tokenizer=bytes, vocab_size=700)", tokens=3_000)
    assert corpus.tokenizer.kind == "bytes" and UNKNOWN not in corpus.ids
    assert corpus.name == "python reference(tokenizer=bytes, vocab_size=700)"


def test_ones_own_file_too_is_read_with_the_tokenizer_that_is_chosen(tmp_path):
    file = tmp_path / "own.txt"
    file.write_text("Näive cats sat on mats. Rare words rarely stay. " * 40, encoding="utf-8")
    assert open_corpus(f"{file}(tokenizer=characters)").tokenizer.kind == "character"
    corpus = open_corpus(f"{file}(tokenizer=bytes, vocab_size=900)")
    assert (corpus.tokenizer.kind, corpus.name) == ("bytes", "own.txt(tokenizer=bytes, vocab_size=900)")
    assert corpus.tokenizer.join(corpus.ids[:60].tolist()).startswith("Näive cats sat")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("world(tokenizer=letters)", "choose one of auto, words, characters"),
        ("world(tokenizer=bpe, vocab_size=4)", "must lie between 100"),
        ("world(shared=1)", "no knobs but tokenizer, vocab_size"),
    ],
)
def test_what_cannot_be_is_a_sentence(name, said):
    with pytest.raises(UserError, match=said):
        open_corpus(name, tokens=2_000)


def test_a_run_on_pieces_is_kept_goes_on_and_is_forked(tmp_path):
    corpus = open_corpus("reviews(tokenizer=wordpiece, vocab_size=300)", tokens=6_000)
    run = run_of(entry=tiny("GPT"), corpus=corpus, steps=6, out=tmp_path / "whole")
    whole = losses(train(run))
    list(train(run_of(entry=tiny("GPT"), corpus=corpus, steps=3, out=tmp_path / "half")))
    saved = checkpoint.load(tmp_path / "half")
    assert saved.tokenizer == corpus.tokenizer and saved.corpus.name == corpus.name
    assert losses(train(run, saved.learner)) == whole[3:]
    made = fork(run, checkpoint.load(tmp_path / "half").learner)
    assert losses(train(made.run, made.learner)) == whole[3:]
    with pytest.raises(UserError, match="other text"):  # the generated corpus of full length is another one
        corpus_of(saved)


def test_the_command_line_chooses_a_tokenizer(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = [a for knob in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", knob)]
    (tmp_path / "own.txt").write_text("the cat sat on the mat . " * 60)
    given = ["--corpus", "own.txt", "--tokenizer", "bytes", "--vocab-size", "600"]
    assert cli.main(["train", "GPT", *given, *small, "--steps", "2", "--out", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["corpus"] == "own.txt(tokenizer=bytes, vocab_size=600)"
    assert checkpoint.load("run").tokenizer.kind == "bytes"
    assert cli.main(["train", "--fork", "run", "--tokenizer", "bpe"]) == 2
    assert "--tokenizer does not apply here: a fork keeps the entry and the vocabulary" in capsys.readouterr().err
    assert cli.main(["train", "GPT", "--tokenizer", "letters"]) == 2
