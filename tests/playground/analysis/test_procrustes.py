"""Two word spaces laid over each other (inventory, O95)."""

import os

import pytest
import torch

from playground import cli
from playground.analysis import procrustes
from playground.corpora.catalog.parallel import make_parallel
from playground.corpora.tinyworld.translate import Language, encipher
from playground.errors import UserError
from playground.rng import generator
from tests import json_keys
from tests.laws import assert_share
from tests.runs import reviews


def turn(width, seed=0):
    return torch.linalg.qr(torch.randn(width, width, generator=generator(seed)).double())[0]


def test_a_turned_space_is_turned_back_exactly():
    first, wanted = torch.randn(50, 8, generator=generator(1)).double(), turn(8)
    found = procrustes.rotation(first, first @ wanted)
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(found @ found.T, torch.eye(8).double())


def test_no_other_turn_comes_nearer():
    """The formula against many turns drawn at random, and against small steps away from it."""
    first, second = (torch.randn(30, 5, generator=generator(k)).double() for k in (2, 3))
    best = procrustes.rotation(first, second)
    far = float((first @ best - second).square().sum())
    others = [turn(5, k) for k in range(50)]
    others += [best @ torch.linalg.matrix_exp(0.01 * (step := turn(5, k)) - 0.01 * step.T) for k in range(50)]
    assert all(far < float((first @ other - second).square().sum()) for other in others)


def test_vectors_of_nothing_meet_by_chance_alone():
    """Two spaces without anything in common: the known words are fitted, new ones are right one time in all words."""
    number, hits = 40, 0
    for k in range(100):
        first, second = (torch.randn(number, 4, generator=generator(k, side)) for side in ("one", "two"))
        found = procrustes.align(first, second, [(w, w) for w in range(number)], number // 2)
        hits += round(found.new * number / 2)
    assert found.chance == 1 / number
    assert_share(hits, 100 * number // 2, 1 / number)


def test_a_dictionary_half_as_large_finds_the_other_half_of_a_turned_space():
    first = torch.randn(60, 6, generator=generator(5)).double()
    second = (first @ turn(6, 5))[torch.arange(60).roll(1)]
    found = procrustes.align(first, second, [(k, (k + 1) % 60) for k in range(60)], 10)
    assert (found.known, found.new) == (1.0, 1.0)
    assert found.before.known < 0.5 > found.before.new


@pytest.fixture(scope="module")
def parallel():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        return {
            order: make_parallel(0, 150_000, Language(verb_last=order == "verb last"))
            for order in ("verb last", "same")
        }


def test_the_dictionary_is_the_one_that_the_second_language_was_made_with(parallel):
    corpus = parallel["verb last"]
    words = corpus.tokenizer.words
    pairs = procrustes.dictionary(corpus)
    assert len(pairs) > 50
    assert all(encipher(words[word]) == words[other] for word, other in pairs if words[word] != "an")


@pytest.mark.slow
@pytest.mark.parametrize(("order", "fewest"), [("same", 0.3), ("verb last", 0.05)])
def test_words_never_shown_find_their_translation(parallel, order, fewest):
    """Far above chance, and best where both languages order their words alike."""
    corpus = parallel[order]
    pairs = procrustes.dictionary(corpus)
    found = procrustes.align(*procrustes.spaces(corpus), pairs, len(pairs) * 2 // 3)
    assert found.new > max(fewest, 5 * found.chance)


@pytest.mark.slow
def test_words_by_lot_are_as_hard_as_those_that_found_the_turn(parallel):
    """The most frequent words are hard and the rare ones easy, so that a split between them is no fair test."""
    corpus = parallel["verb last"]
    both, pairs = procrustes.spaces(corpus), procrustes.dictionary(corpus)
    split = len(pairs) * 2 // 3
    drawn = [procrustes.align(*both, procrustes.shuffled(pairs, seed), split) for seed in range(5)]
    mean = sum(one.new for one in drawn) / 5
    assert abs(mean - sum(one.known for one in drawn) / 5) < 0.15
    assert sorted(procrustes.shuffled(pairs, 1)) == sorted(pairs) != procrustes.shuffled(pairs, 1)


def test_what_cannot_be_laid_over_is_refused():
    with pytest.raises(UserError, match="reviews has one language"):
        procrustes.spaces(reviews())
    with pytest.raises(UserError, match="The number of known words is 3; it must lie between 1 and 2"):
        procrustes.align(torch.eye(3), torch.eye(3), [(0, 0), (1, 1), (2, 2)], 3)


@pytest.mark.slow
def test_the_command_counts_translations_before_and_after(capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert cli.main(["align", "--json"]) == 0
    told = json_keys.read("align", capsys.readouterr().out)
    assert told["corpus"] == "parallel"
    for row in (told["known"], told["new"]):
        assert row["before"] < 0.05 * row["words"] < 0.2 * row["words"] < row["after"] <= row["words"]
    assert cli.main(["align", "--known", str(told["known"]["words"])]) == 0
    said = capsys.readouterr().out
    assert f"{told['new']['words']} words" in said
    assert str(told["new"]["after"]) in said


@pytest.mark.parametrize(("line", "said"), [("--corpus world", "world has one language"), ("--known 9999", "9999")])
def test_what_cannot_be_aligned_is_a_mistake(line, said, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert cli.main(["align", *line.split()]) == 2
    assert said in capsys.readouterr().err
