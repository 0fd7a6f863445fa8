"""Another language: only new words are learnt for it, and a task is learnt in one language and asked in two."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from playground.corpora.tinyworld.lexicon import BAD, DISLIKED, GOOD, LIKED
from playground.corpora.tinyworld.tasks.translations import polar_pairs, tagged_pairs
from playground.corpora.tinyworld.translate import encipher
from playground.errors import UserError
from playground.finetuning import find_task
from playground.finetuning.apply import crosslingual as room
from playground.finetuning.apply.crosslingual import learn_words, second_language, with_words_of
from playground.finetuning.data.task_types import Abroad, TagsAbroad
from playground.objectives import find_objective
from playground.tokenizing import train
from playground.tokenizing.vocabulary import SEPARATOR
from tests.contracts.test_strategies import base_of
from tests.runs import reviews

CLASSES = Abroad(("bad", "good"))


@pytest.fixture(scope="module")
def corpus():
    return second_language()


@pytest.fixture(scope="module")
def made(corpus):
    """A tiny model with words of the second language, before and after a few steps on them."""
    given = with_words_of(base_of("RoBERTa").learner, reviews().tokenizer, corpus)
    before = {k: v.clone() for k, v in given.learner.model.state_dict().items()}
    losses = list(learn_words(given, corpus, 12))
    return given, before, losses


def test_new_words_are_learnt_with_one_thread_like_all_that_is_compared(corpus, monkeypatch):
    given, threads, loss = with_words_of(base_of("RoBERTa").learner, reviews().tokenizer, corpus), [], room.total_loss
    monkeypatch.setattr(room, "total_loss", lambda *g, **n: threads.append(torch.get_num_threads()) or loss(*g, **n))
    torch.set_num_threads(2)
    try:
        list(learn_words(given, corpus, 1))
    finally:
        torch.set_num_threads(1)
    assert threads == [1]


def test_the_second_language_stands_alone(corpus):
    words = [corpus.tokenizer.words[i] for i in corpus.ids[:200].tolist()]
    assert len(corpus) > 50_000
    assert 0 < corpus.held_out_from < len(corpus)
    assert "the" not in words
    assert "futa" in words
    assert encipher("the") == "futa"
    ends = (corpus.ids == SEPARATOR).nonzero()[:, 0].tolist()
    assert all(int(corpus.document_ids[a]) + 1 == int(corpus.document_ids[b]) for a, b in pairwise(ends[:50]))


def test_only_the_rows_of_new_words_are_learnt(made):
    given, before, losses = made
    old = len(reviews().tokenizer)
    assert set(given.new) == {"token_embedding.weight", "lm_head.bias"}
    for name, value in given.learner.model.state_dict().items():
        kept = given.new.get(name, len(value))
        assert torch.equal(value[:kept], before[name][:kept]), name
        assert name not in given.new or not torch.equal(value[kept:], before[name][kept:])
    assert given.tokenizer.words[:old] == reviews().tokenizer.words
    assert sum(losses[-3:]) < sum(losses[:3])
    assert all(p.requires_grad for p in given.learner.model.parameters())


def test_a_text_of_the_first_language_is_read_as_before(made):
    given, _, _ = made
    tokens = base_of("RoBERTa").held_out
    one, other = (model.features(tokens) for model in (base_of("RoBERTa").learner.model, given.learner.model))
    assert torch.equal(one, other)


def test_what_cannot_get_new_words_is_refused(corpus, made):
    base, words = base_of("RoBERTa"), reviews().tokenizer
    with pytest.raises(UserError, match="knows all words of second language already"):
        with_words_of(made[0].learner, made[0].tokenizer, corpus)
    with pytest.raises(UserError, match="reads character pieces"):
        with_words_of(base.learner, train(words.words[39:50], "character", 80), corpus)
    with pytest.raises(UserError, match=r"TLM needs more than a text of one language \(translation\)"):
        with_words_of(replace(base.learner, objective=find_objective("TLM")), words, corpus)


# tasks in two languages


@pytest.mark.slow
def test_a_task_abroad_is_learnt_in_the_first_language_and_tested_in_both():
    for name, size in (("sentiment abroad", 2), ("part of speech abroad", len(find_task("POS").answer.names))):
        task = find_task(name)
        for split, most in (("train", size), ("test", 2 * size)):
            rights = [
                max([item.right] if isinstance(item.right, int) else item.right) for item in task.items(60, 0, split)
            ]
            assert (max(rights) >= size) == (split == "test")
            assert max(rights) < most
        abroad = [item for item in task.items(60, 0, "test") if max([item.right] if size == 2 else item.right) >= size]
        assert len(abroad) == 30
        assert all("the" not in item.words for item in abroad)


def feels(words):
    """Whether the first word with a feeling praises, turned round where "not" stands before it."""
    good, bad = (set(f"{adjectives} {verbs}".split()) for adjectives, verbs in ((GOOD, LIKED), (BAD, DISLIKED)))
    first = next(k for k, word in enumerate(words) if word in good | bad)
    return (words[first] in good) != (words[first - 1] == "not")


def test_both_sides_of_a_pair_say_the_same():
    for (one, other), label in polar_pairs(20, 0, "train"):
        assert label == feels(one)
        words = ["a" if word == "an" else word for word in one]
        assert Counter(other) == Counter(word if word in other else encipher(word) for word in words)
    for (one, other), (tags, others) in tagged_pairs(20, 0, "train"):
        assert (len(one), len(other)) == (len(tags), len(others))
        assert Counter(tags) == Counter(others)


def test_the_accuracy_is_that_abroad_and_the_one_at_home_stands_beside_it():
    scores = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    labels = torch.tensor([1, 1, 3, 2])
    assert CLASSES.measure(scores, labels) == {"accuracy": 0.5, "accuracy in the first language": 0.5}
    assert CLASSES.measure(scores[:2], labels[:2])["accuracy"] == 0.5, "where nothing is abroad, that at home"
    assert set(CLASSES.measure(scores[2:], labels[2:])) == {"accuracy"}
    assert CLASSES.loss(scores, labels) == CLASSES.loss(scores, labels % 2)
    assert CLASSES.guess(torch.tensor([1, 1, 0]), labels) == 0.75
    tags = TagsAbroad(("noun", "verb"))
    rows = torch.tensor([[1, -1, 1], [3, 2, -1]])
    assert tags.measure(scores, rows) == CLASSES.measure(scores, labels)
    assert tags.loss(scores, rows) == CLASSES.loss(scores, labels)
