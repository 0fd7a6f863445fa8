"""The best possible prediction: does it add up, equal what is written out, and come near what is counted?"""

from collections import Counter, defaultdict
from dataclasses import replace
from math import sqrt

import pytest
import torch

from playground.analysis.floor.automaton import automaton, automaton_of
from playground.analysis.floor.chart import ParseChart, chart_of
from playground.corpora.tinyworld import generate
from playground.corpora.tinyworld.truth import every_text
from playground.errors import UserError
from playground.tokenizing import of_words
from playground.tokenizing.vocabulary import FIRST_WORD
from tests.chances import next_word, word_at

PRESETS = ("reviews", "agreement", "facts")


@pytest.mark.parametrize("preset", PRESETS)
def test_chances_sum_to_one_from_one_side_and_from_both(preset):
    rows = generate(preset, 3, 2_000).windows(24, "held_out").ids[:3]
    for row in rows.tolist():
        chart = ParseChart(automaton(preset), tuple(row), "window")
        for chances in (chart.next_words(), chart.two_sided()):
            assert float((chances.sum(1) - 1).abs().max()) < 1e-9
            assert bool((chances.gather(1, torch.tensor(row)[:, None]) > 0).all())
        assert float((chart.phenomena().sum(1) - 1).abs().max()) < 1e-9


def test_where_all_texts_can_be_written_out_the_sums_equal_them():
    """The documents of `facts`, from one side, from both, and with two words hidden at once."""
    truth, rules = every_text("facts", "Document"), automaton("facts")
    for words in list(truth)[::41]:
        chart = chart_of(rules, words, "document")
        for position in range(len(words)):
            others = [k for k in range(len(words)) if k not in (position, 0)]
            left = [k < position for k in range(len(words))]
            both = [k in others for k in range(len(words))]
            assert named(rules, chart.chances(position, left)) == pytest.approx(
                next_word(truth, words[:position]), abs=1e-12
            )
            expected = word_at(truth, [*words], position, 0)
            assert chart.chances(position, both).sum() == pytest.approx(1)
            same_length = {w: p for w, p in named(rules, chart.chances(position, both)).items() if w in expected}
            total = sum(same_length.values())
            assert {w: p / total for w, p in same_length.items()} == pytest.approx(expected, abs=1e-12)


def named(rules, chances):
    """Chances above 0 by word."""
    return {rules.tokenizer.words[k]: float(chances[k]) for k in chances.nonzero()[:, 0].tolist()}


@pytest.mark.parametrize(("preset", "tokens"), [("reviews", 100_000), ("agreement", 60_000), ("roles", 40_000)])
def test_words_fill_a_gap_as_often_as_their_chance_says(preset, tokens):
    """The most frequent contexts of a great number of sentences, each the words to the left or all others."""
    corpus, rules = generate(preset, 7, tokens), automaton(preset)
    left: dict[tuple, Counter] = defaultdict(Counter)
    both: dict[tuple, Counter] = defaultdict(Counter)
    for sentence in sentences(corpus):
        for position, word in enumerate(sentence):
            left[sentence[:position], ()][word] += 1
            both[sentence[:position], sentence[position + 1 :]][word] += 1
    for contexts in (left, both):
        for (before, after), found in sorted(contexts.items(), key=lambda each: -each[1].total())[:6]:
            number, position = found.total(), len(before)
            chart = ParseChart(rules, (*before, next(iter(found)), *after))
            seen = [True] * position + [False] + [True] * len(after)
            for word, chance in enumerate(chart.chances(position, seen).tolist()):
                spread = number * chance * (1 - chance)
                assert abs(found[word] - number * chance) <= 4 * sqrt(spread) + (spread < 5) * 4, (before, word, after)
                assert found[word] == 0 or chance > 0


def sentences(corpus):
    """All sentences of a corpus as ids, without [SEP]."""
    rows = corpus.ids.split(torch.bincount(corpus.sentence_ids).tolist())
    first = corpus.tokenizer.specials.unknown
    return [tuple(k for k in row.tolist() if k >= first) for row in rows[:-1]]


def test_the_floor_of_whole_documents_is_the_bound_where_no_choice_is_hidden():
    """`agreement` draws nothing that leaves no trace, so its bound is its entropy."""
    corpus, rules = generate("agreement", 2, 2_000), automaton("agreement")
    documents = corpus.ids.split(torch.bincount(corpus.document_ids).tolist())
    nats = torch.zeros(0, dtype=torch.float64)
    for row in documents:
        chances = ParseChart(rules, tuple(row.tolist()), "document").next_words()
        nats = torch.cat([nats, -chances.gather(1, row[:, None].long())[:, 0].log()])
    assert float(nats.mean()) == pytest.approx(corpus.entropy_bound, abs=4 * float(nats.std()) / len(nats) ** 0.5)
    assert float(nats.sum()) / len(corpus) <= corpus.entropy_bound + 1e-9


def test_an_article_waits_for_its_word():
    chart = chart_of(automaton("agreement"), "a chef stands .".split())
    article = chart.next_words()[0]
    words = automaton("agreement").tokenizer
    both = article[words.encode_words(["a", "an"])]
    assert bool((both > 0).all())
    assert chart.two_sided()[0, words.encode_words(["an"])] == 0  # "an chef" is never written


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("the plot was banana .", "cannot write '.*' after 'the plot was'"),
        ("plot the was", "cannot write 'plot' at the beginning of a sentence"),
        ("the plot was great and great", "cannot write 'great' after 'the plot was great and'"),
    ],
)
def test_what_the_grammar_cannot_write_gets_a_sentence(words, why):
    with pytest.raises(UserError, match=why):
        chart_of(automaton("reviews"), words.split())


def test_a_text_that_no_grammar_wrote_gets_a_sentence():
    corpus = generate("facts", 0, 500)
    with pytest.raises(UserError, match="not written by a grammar"):
        automaton_of(replace(corpus, name="my text"))
    with pytest.raises(UserError, match="other tokens"):
        automaton_of(replace(corpus, tokenizer=of_words(corpus.tokenizer.words[FIRST_WORD:-1])))
