"""flair: a word is what the forward model knows behind its last character and the backward one before its first."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from playground.corpora import open_corpus
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import Architecture
from playground.rng import generator
from playground.training.train_state import TrainState
from playground.zoo import find_entry


@pytest.fixture(scope="module")
def flair():
    """The entry, small, its corpus, and two of its rows."""
    entry = find_entry("flair")
    corpus = open_corpus(entry.corpus, tokens=4_000)
    entry = replace(entry, model=replace(entry.model, width=16, heads=2))
    learner = TrainState.new(entry, corpus.tokenizer.words, 0, torch.device("cpu"))
    text = corpus.windows(40)
    return learner.model.eval(), corpus, pick(text, torch.arange(2))


def test_it_reads_single_characters(flair):
    _, corpus, text = flair
    assert corpus.tokenizer.kind == "character"
    assert {len(said) for said in corpus.tokenizer.decode(text.ids[0].tolist()) if said != "[SEP]"} == {1}


@pytest.mark.parametrize("name", ["contextual string embeddings", "Flair"])
def test_it_is_found_by_its_names(name):
    assert find_entry(name).name == "flair"


def test_a_word_is_the_states_at_its_two_ends(flair):
    model, corpus, text = flair
    plain = replace(model.shape, word_states=False)
    begins = [[not corpus.tokenizer.continues[k] for k in row] for row in text.ids.tolist()]
    words = model.features(text)
    model.shape = plain
    characters, model.shape = model.features(text), replace(plain, word_states=True)
    for row, starts in enumerate(begins):
        edges = [k for k, first in enumerate(starts) if first or k == 0] + [len(starts)]
        for first, end in pairwise(edges):
            expected = torch.cat([characters[row, end - 1, :16], characters[row, first, 16:]])
            assert torch.equal(words[row, first:end], expected.expand(end - first, -1))


def test_all_levels_but_the_last_are_those_of_the_characters_so_that_it_can_be_tuned(flair):
    model, _, text = flair
    levels = model.hidden_states(text)
    assert torch.equal(levels[-1], model.features(text))
    again = model.hidden_states(text, levels[0], 0, 1)
    assert torch.equal(again[-1], levels[-1])
    assert torch.equal(model.hidden_states(text, levels[-1], 1, 1)[0], levels[-1])


def test_a_state_knows_its_whole_word_and_the_other_words_only_on_its_side(flair):
    """Either half changes with every character of its word, and with the words of its own side alone."""
    model, corpus, text = flair
    starts = [k for k, number in enumerate(text.ids[0].tolist()) if not corpus.tokenizer.continues[number]]
    first, end = next((a, b) for a, b in pairwise(starts[2:]) if b - a > 2)
    before = model.features(text)[0, first]

    def changes(position):
        """Whether each half of the state changes with the character at a place."""
        other = next(k for k in range(9, 200) if same_kind(k, int(text.ids[0, position])))
        ids = text.ids.clone()
        ids[0, position] = other
        after = model.features(replace(text, ids=ids))[0, first]
        return [not torch.equal(*halves) for halves in zip(before.chunk(2), after.chunk(2), strict=True)]

    def same_kind(one, other):
        return one != other and corpus.tokenizer.continues[one] == corpus.tokenizer.continues[other]

    assert changes(end - 1) == changes(first) == [True, True]
    assert changes(first - 1) == [True, False], "the word before is known to the forward half alone"
    assert changes(end) == [False, True], "the word behind to the backward half"


def test_one_network_alone_has_one_end_only():
    with pytest.raises(UserError, match="set backward to yes"):
        Architecture(kind="lstm", word_states=True)


def test_it_learns(flair):
    _, corpus, _ = flair
    entry = replace(find_entry("flair"), model=replace(find_entry("flair").model, width=32, heads=2))
    entry = entry.turned({"seq_len": 32, "batch_size": 16, "steps": 40})
    learner = TrainState.new(entry, corpus.tokenizer.words, 0, torch.device("cpu"))
    rows = corpus.windows(32)
    text = pick(rows, torch.arange(16))
    before = learner.evaluate(text)
    for _ in range(25):
        learner.learn(learner.objective.batch(text, generator(0, "test")))
    assert all(after < before[name] - 0.3 for name, after in learner.evaluate(text).items())
