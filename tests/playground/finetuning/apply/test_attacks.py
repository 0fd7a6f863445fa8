"""Attacks against classifiers whose weakness is known."""

from random import Random

import pytest
import torch

from playground.analysis.instrument import instrument_named
from playground.finetuning.apply.attacks import (
    find_trigger,
    importance,
    loss_with,
    misspelt,
    same_meaning,
    substitute,
    without_polarity,
    worst_misspelt,
)  # fmt: skip
from playground.finetuning.apply.victim import fine_tuned, unseen
from playground.finetuning.instruments.fragility import victims
from playground.finetuning.strategies.full import FULL
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import reviews, run_of, tiny

WORDS = "the plot was superb and warm .".split()
KNOWN = reviews().tokenizer.words


class OneWord:
    """A classifier that says 1 where the text has a word, else 0."""

    def __init__(self, word):
        self.word, self.asked = word, 0

    def scores(self, texts):
        self.asked += len(texts)
        there = torch.tensor([self.word in words for words in texts]).float()
        return torch.stack([1 - there, there], 1) * 4 + torch.arange(len(texts))[:, None] * 1e-6


def test_the_word_that_decides_is_the_most_important():
    ranked = importance(OneWord("superb"), WORDS, 1)
    assert max(range(len(WORDS)), key=ranked.__getitem__) == WORDS.index("superb")
    assert sum(abs(value) > 0.1 for value in ranked) == 1


def test_a_word_is_left_out_and_nothing_stands_in_its_place():
    """Whatever special tokens a vocabulary has, none is typed as a word."""
    asked: list[str] = []

    class Heard(OneWord):
        def scores(self, texts):
            asked.extend(" ".join(words) for words in texts)
            return super().scores(texts)

    importance(Heard("b"), ["a", "b", "c"], 1)
    assert asked == ["a b c", "b c", "a c", "a b"]
    assert importance(Heard("b"), ["b"], 1) == [0.0]


def test_a_substitution_changes_the_deciding_word_alone_and_keeps_the_label():
    likes = same_meaning(KNOWN)
    model = OneWord("superb")
    found = substitute(model, WORDS, 1, likes)
    assert found.fooled and found.changed == (WORDS.index("superb"),)
    assert found.words[3] in likes["superb"] and found.queries == model.asked
    assert not substitute(OneWord("the"), WORDS, 1, likes).fooled, "there is no other word for this one"


def test_words_of_one_meaning_have_one_polarity():
    likes = same_meaning(KNOWN)
    assert "awful" not in likes["superb"] and "great" in likes["superb"] and "superb" not in likes["superb"]
    assert not {"superb", "awful", "not", "loved"} & set(without_polarity(KNOWN))


def test_typing_errors_are_as_many_as_asked():
    texts = [WORDS] * 300
    assert misspelt(texts, 0.0, Random(0)) == texts
    every = misspelt(texts, 1.0, Random(0))
    assert all(a != b if len(b) >= 4 else a == b for words in every for a, b in zip(words, WORDS, strict=True))
    half = sum(a != b for words in misspelt(texts, 0.5, Random(0)) for a, b in zip(words, WORDS, strict=True))
    assert abs(half / 900 - 0.5) < 4 * (0.25 / 900) ** 0.5
    [worst] = worst_misspelt(OneWord("superb"), [WORDS], [1], Random(0))
    assert [a == b for a, b in zip(worst, WORDS, strict=True)].index(False) == WORDS.index("superb")


@pytest.fixture(scope="module")
def subject():
    run = run_of(entry=tiny("RoBERTa", {"layers": 2}))
    return of_learner(TrainState.new(run.entry, run.corpus.tokenizer.words, 0, run.device), run.corpus, "RoBERTa")


@pytest.fixture(scope="module")
def victim(subject):
    return fine_tuned(subject, FULL, 64, 30)


def test_the_gradient_of_the_embeddings_is_the_change_of_the_loss(victim):
    texts, labels = unseen(victim, 4)
    batch, gradient = victim.embedding_gradient(texts, labels)
    embedded = victim.run.embed(batch)
    step = torch.zeros_like(embedded)
    step[1, 2] = 1e-3 * torch.sign(gradient[1, 2])

    def loss(x):
        return float(batch.answer.loss(victim.run.score(batch, x), batch.labels))

    change = (loss(embedded + step) - loss(embedded - step)) / 2
    assert change == pytest.approx(float((gradient * step).sum()), rel=0.05)


def test_a_trigger_raises_the_loss_and_words_stand_where_they_should(victim):
    texts, labels = unseen(victim, 40)
    good = [words for words, label in zip(texts, labels, strict=True) if label == 1]
    candidates = without_polarity(KNOWN)[:150]
    trigger, losses = find_trigger(victim, good, 1, 2, candidates, 8, 1)
    assert set(trigger) <= set(candidates) and list(losses) == sorted(losses)
    assert losses[-1] == pytest.approx(loss_with(victim, trigger, good, [1] * len(good)), rel=1e-5)
    assert losses[-1] > losses[0]


def test_a_victim_is_a_copy(subject, victim):
    before = dict(subject.model.named_parameters())
    assert all(p.requires_grad and p.grad is None for p in before.values())
    assert any(not torch.equal(p, before[n]) for n, p in victim.run.model.named_parameters())


@pytest.mark.parametrize("name", ["misspelling", "word substitution", "universal triggers"])
def test_attacks_answer(name, subject):
    instrument = instrument_named(name)
    settings = type(instrument.settings)(labels=16, steps=3, texts=8)
    found = instrument.look(subject, settings)
    assert found.headline.endswith(".") and {n.name for n in found.numbers} == {
        "fine-tuned",
        "adversarially fine-tuned",
    }


def test_misspelling_begins_at_the_accuracy_on_texts_without_errors(subject):
    """At a rate of 0 no word is changed, so the curve begins where the classifier stands."""
    instrument = instrument_named("misspelling")
    settings = type(instrument.settings)(labels=16, steps=3, texts=40)
    found = instrument.look(subject, settings)
    curve = found.tables[0].columns
    begins = [a for a, rate in zip(curve["accuracy"], curve["share mistyped"], strict=True) if rate == 0]
    assert begins == [number.baselines["no errors"] for number in found.numbers]
    assert begins == [v.accuracy(*unseen(v, 40)) for v in victims(subject, settings).values()]
    assert found.tables[1].columns["unknown"][0] == 0 < found.tables[1].columns["unknown"][-1]


def test_characters_know_mistyped_words_and_whole_words_do_not(subject):
    instrument = instrument_named("misspelling by tokenizer")
    found = instrument.look(subject, type(instrument.settings)(labels=16, steps=2, texts=8, pieces=250))
    table = found.tables[1].columns
    unknown = dict(zip(table["tokenizer"], table["unknown with all mistyped"], strict=True))
    assert unknown["word"] > 0.3 > 0.01 >= unknown["character"]
    assert [n.name for n in found.numbers] == ["word", "wordpiece", "bpe", "character"]
