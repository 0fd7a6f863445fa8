"""Continuations by the grammar against what the corpus holds and against the parse chart."""

import pytest
import torch

from playground.analysis.floor.automaton import automaton_of
from playground.analysis.floor.chart import ParseChart
from playground.errors import UserError
from playground.posttraining.answer_space import read_prompts
from playground.posttraining.grammar import continuation_chances
from tests.posttraining import corpus, space


def test_chances_sum_to_one_and_the_first_words_are_those_of_the_parse_chart():
    chances = continuation_chances(space())
    assert torch.allclose(chances.sum((1, 2)), torch.ones(2, dtype=torch.float64))
    prompt = tuple(space().prompts[0].tolist())
    filler = int(space().words[chances[0].sum(1).argmax()])
    chart = ParseChart(automaton_of(corpus()), (*prompt, filler), start="document")
    expected = chart.chances(len(prompt), [True] * len(prompt) + [False])[space().words]
    assert torch.allclose(chances[0].sum(1), expected, atol=1e-9)


def test_every_continuation_in_the_corpus_is_possible():
    read = read_prompts(corpus(), ["a good film . the music was"])
    possible, text = continuation_chances(read)[0] > 0, corpus().ids.long()
    size = read.prompt_len
    rows = text.unfold(0, size + 2, 1)
    rows = rows[(rows[:, :size] == read.prompts[0]).all(1)]
    pairs = torch.searchsorted(read.words, rows[:, size:].contiguous())
    assert len(pairs) > 3
    assert possible[pairs[:, 0], pairs[:, 1]].all()
    assert not possible.all()


def test_what_no_document_begins_with_is_refused():
    with pytest.raises(UserError, match="writes no document that begins 'film was'"):
        continuation_chances(read_prompts(corpus(), ["film was"]))
