"""Exact chances: do they add up, and does a great number of texts come near them?"""

from collections import Counter
from itertools import pairwise
from math import log, sqrt
from random import Random

import pytest

from playground.corpora.tinyworld import generate
from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.facts import FACTS
from playground.corpora.tinyworld.grammar import Form, build, read_rules
from playground.corpora.tinyworld.tasks.draw import write_words
from playground.corpora.tinyworld.truth import every_text, expansions
from playground.errors import UserError
from tests.chances import entropy, next_word, word_at

RULES = [("world", "Sense-bank.money"), ("families", "Matter"), ("senses", "Xor")]


@pytest.mark.parametrize(
    ("preset", "rule"), [*RULES, ("reviews", "Said-good"), ("world", "Life"), ("facts", "Document")]
)
def test_the_chances_of_all_texts_are_one_together(preset, rule):
    truth = every_text(preset, rule)
    assert sum(truth.values()) == pytest.approx(1)
    assert 0 < entropy(truth) <= log(len(truth)) + 1e-9


@pytest.mark.parametrize(("preset", "rule"), [*RULES, ("world", "Liking-anna")])
def test_texts_come_as_often_as_their_chance_says(preset, rule):
    random, number, truth = Random(5), 4000, every_text(preset, rule)
    counts = Counter(tuple(write_words(preset, rule, random)) for _ in range(number))
    assert set(counts) <= set(truth)
    for text, chance in truth.items():
        assert abs(counts[text] - number * chance) <= 5 * sqrt(number * chance * (1 - chance)) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["", "the", "the plot was", "the plot was not", "it was a"])
def test_the_next_word_comes_as_often_as_its_exact_chance(prefix):
    words = prefix.split()
    exact = next_word(every_text("reviews", "Said-good"), words)
    random = Random(3)
    drawn = [write_words("reviews", "Said-good", random) for _ in range(20_000)]
    seen = Counter(text[len(words)] for text in drawn if text[: len(words)] == words)
    number = seen.total()
    assert number > 50
    assert sum(exact.values()) == pytest.approx(1)
    for word in {*exact, *seen}:
        chance = exact.get(word, 0.0)
        assert abs(seen[word] - number * chance) <= 5 * sqrt(number * chance * (1 - chance)) + 1e-9


def test_words_of_a_name_are_free_alone_and_bound_together():
    """One half says the other; both hidden, each half is as likely as the next (arXiv:1906.08237, sec. 2.6)."""
    truth = every_text("world", "Crossed")
    first = word_at(truth, ["new", "york"], 0, 1)
    assert first == pytest.approx({name.split()[0]: 1 / 8 for name in lex.CROSSED})
    assert word_at(truth, ["new", "york"], 0) == pytest.approx({"new": 1.0})
    assert next_word(truth, ["los"]) == pytest.approx({"angeles": 1.0})
    assert entropy(truth) == pytest.approx(log(8))


def test_towns_leave_one_bit_when_one_half_is_known():
    truth = every_text("world", "Town")
    assert next_word(truth, ["north"]) == pytest.approx({"haven": 0.5, "bridge": 0.5})
    assert entropy(truth) == pytest.approx(log(8))


def test_the_end_of_a_text_is_a_word_of_its_own():
    truth = every_text("world", "Crossed")
    assert next_word(truth, ["new", "york"]) == {"": 1.0}
    assert next_word(truth, ["york"]) == {}


def test_the_entropy_of_a_whole_corpus_is_its_bound_where_no_choice_is_hidden():
    truth, corpus = every_text("facts", "Document"), generate("facts", 0, 100_000)
    documents = int(corpus.document_ids[-1]) + 1
    assert len(truth) == 2 * sum(fact.mentions > 0 for fact in FACTS)
    assert (corpus.entropy_bound or 0) * len(corpus) / documents == pytest.approx(entropy(truth), rel=0.01)


def test_a_remembered_choice_is_the_same_in_the_whole_text():
    ways = read_rules("S = It := T $It $It\nT = 3: a | b", {}, {})
    grammar = build(ways, "S", lambda word: Form(word, "X"))
    texts = dict(expansions(grammar, [grammar.names["S"]], {}))
    assert texts == pytest.approx({(0, 0): 0.75, (1, 1): 0.25})


def test_pairs_of_adjectives_are_never_the_same_word():
    truth = every_text("reviews", "Pair-good")
    assert len(truth) == 70 * 69
    assert all(one != other for text in truth for one, other in pairwise(text[::2]))


def test_what_cannot_be_written_out_is_refused():
    with pytest.raises(UserError, match="no rule named 'Sonnet'"):
        every_text("world", "Sonnet")
    with pytest.raises(UserError, match="repeats what its document remembers"):
        every_text("symbols", "Again")


def test_too_many_texts_are_refused(monkeypatch):
    monkeypatch.setattr("playground.corpora.tinyworld.truth.MOST", 100)
    every_text.cache_clear()  # another test may have had these texts written
    with pytest.raises(UserError, match="more than 100 texts"):
        every_text("reviews", "Said-good")
