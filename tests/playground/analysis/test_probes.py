"""Gauges ask what a model has understood; habits say what its heads do; both are measured beside training."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from playground.analysis.attention_patterns import PATTERNS, habits
from playground.analysis.cloze import MASK, fill_gaps, gaps_of, log_chances, texts, with_gap
from playground.analysis.probes import AGREEMENT, POLARITY, PROBES, asked
from playground.corpora import open_corpus, pick
from playground.errors import UserError
from playground.leaks import check
from playground.models import make_model, with_required_parts
from playground.objectives import find_objective
from playground.rng import generator
from playground.tokenizing import of_words
from playground.training import Evaluated, Run, train
from playground.training.observe.recording import Measured, Noticed, Regrets, from_json, to_json, with_probes
from playground.zoo import find_entry

WORDS = "the cat sat on a mat and the dog ran".split()
ROWS = [WORDS[:6], WORDS[6:], WORDS[3:8]]
PLACES = [2, 1, 4]
READERS = ("RoBERTa", "GPT", "XLNet", "BART", "ELECTRA", "GPT-BERT")


@pytest.fixture(scope="module")
def reader() -> Callable:
    """A small model of an entry over ten words, wide awake so that words matter."""

    def make(name: str):
        tokenizer, entry = of_words(WORDS), find_entry(name)
        batch = with_gap(entry.model, texts(ROWS, tokenizer), torch.tensor(PLACES))
        return make_model(with_required_parts(entry.model, batch), len(tokenizer), generator(0)), tokenizer, batch

    return make


@pytest.mark.parametrize("name", READERS)
def test_a_gap_asks_for_its_own_word_and_nothing_else(reader, name):
    _, tokenizer, batch = reader(name)
    (target,) = batch.targets
    assert target.loss_mask.sum(1).tolist() == [1, 1, 1]
    targets = [tokenizer.words[i] for i in target.labels[target.loss_mask].tolist()]
    assert targets == [row[position] for row, position in zip(ROWS, PLACES, strict=True)]


def test_a_gap_is_read_where_mntp_was_trained_to_answer(reader):
    """The scores are those of the same hidden words in the objective itself, answered one position earlier."""
    model, tokenizer, batch = reader("GPT-BERT")
    tokens = texts(ROWS, tokenizer)
    plan = {"chosen": [PLACES[0] + 1], "actions": ["mask"]}
    trained = find_objective("MNTP").steps(pick(tokens, torch.tensor([0])), generator(0), plan)[-1].batch
    assert torch.allclose(log_chances(model, batch)[:1], log_chances(model, trained), atol=1e-5)
    [target] = batch.targets
    assert target.loss_mask.nonzero()[:, 1].tolist() == PLACES, "[CLS] is in front: word k is answered at position k"


@pytest.mark.parametrize("name", READERS)
def test_the_word_in_the_gap_cannot_be_seen(reader, name):
    model, tokenizer, _ = reader(name)
    assert not check(with_gap(model.shape, texts(ROWS, tokenizer), torch.tensor(PLACES))).leak
    other = [[*row] for row in ROWS]
    for row, position in zip(other, PLACES, strict=True):
        row[position] = "dog"
    before, after = (
        log_chances(model, with_gap(model.shape, texts(rows, tokenizer), torch.tensor(PLACES)))
        for rows in (ROWS, other)
    )
    assert torch.equal(before, after)


@pytest.mark.parametrize("name", READERS)
def test_every_other_word_that_may_be_seen_matters(reader, name):
    model, tokenizer, batch = reader(name)
    other = [["dog", *row[1:]] for row in ROWS]
    changed = with_gap(model.shape, texts(other, tokenizer), torch.tensor(PLACES))
    assert (log_chances(model, changed) - log_chances(model, batch)).abs().amax(1).min() > 0


@pytest.mark.parametrize("name", READERS)
def test_gaps_hide_each_other_or_are_filled_one_after_the_other(reader, name):
    model, tokenizer, _ = reader(name)
    tokens, gaps = gaps_of(f"the {MASK} saw the {MASK} .", tokenizer)
    assert gaps.tolist() == [1, 4]
    first, second = fill_gaps(model, tokens, gaps)
    in_turn = name in ("GPT", "BART")
    word = int(first.argmax()) if in_turn else tokenizer.encode_words(["dog"])[0]
    filled = replace(tokens, ids=tokens.ids.where(torch.arange(6) != 1, word))
    others = (torch.arange(6) == 1)[None]
    plain, hidden = (log_chances(model, with_gap(model.shape, filled, gaps[1:], o))[0] for o in (None, others))
    torch.testing.assert_close(second, plain if name == "GPT" else hidden)
    if name != "GPT":
        assert not torch.allclose(second, plain), "the word in the other gap would be seen"


def test_static_vectors_are_refused_in_a_sentence():
    with pytest.raises(UserError, match="do not read a sentence"):
        with_gap(
            find_entry("RoBERTa").model.__class__(kind="static"), texts(ROWS, of_words(WORDS)), torch.tensor(PLACES)
        )


@pytest.mark.parametrize("gauge", PROBES, ids=lambda g: g.name)
def test_right_and_wrong_differ_and_the_sentence_holds_the_right_one(gauge):
    choices = gauge.choices(60)
    assert len(choices) == 60
    assert all(choice.wrong != choice.words[choice.position] for choice in choices)
    assert [c.words for c in choices] == [c.words for c in gauge.choices(60)], "always the same sentences"


def test_a_model_that_guesses_gets_about_a_half_and_one_that_knows_gets_all():
    corpus, entry = open_corpus("world"), find_entry("RoBERTa")
    model = make_model(entry.model, len(corpus.tokenizer), generator(0))
    ready = {one.gauge.name: one for one in asked(PROBES, corpus, model)}
    assert set(ready) == {g.name for g in PROBES}
    one = ready[POLARITY.name]
    assert 0.3 < one.measure(model) < 0.7
    right = one.words[:, 0]

    class Knows(torch.nn.Module):
        def forward(self, batch):
            (answer,) = model(batch)
            scores = torch.zeros_like(answer.scores).scatter(1, right[:, None], 5.0)
            return (answer.__class__(answer.target, answer.rows, answer.positions, scores, answer.labels),)

    assert one.measure(Knows()) == 1.0


def test_gauges_whose_words_a_corpus_does_not_know_are_left_out():
    corpus = open_corpus("reviews")
    model = make_model(find_entry("RoBERTa").model, len(corpus.tokenizer), generator(0))
    assert [one.gauge.name for one in asked(PROBES, corpus, model)] == [POLARITY.name], "what its text never says"
    assert AGREEMENT.name not in [one.gauge.name for one in asked(PROBES, corpus, model)]


def sharp(batch, by: int) -> dict:
    """Attention of one layer with two heads: the first looks `by` places on where it can, the second everywhere."""
    real, n = batch.inputs.valid[0], batch.inputs.ids.shape[1]
    position = torch.arange(n)
    looks = (position[None] == (position[:, None] + by).clamp(0, int(real.sum()) - 1)).float()
    even = real.float().expand(n, n) / real.sum()
    return {"encoder": torch.stack([looks, even])[None, None]}


@pytest.mark.parametrize(("by", "name"), [(-1, "previous word"), (1, "next word")])
def test_a_head_that_follows_a_pattern_is_named(by, name):
    batch = find_objective("MLM").batch(texts([WORDS], of_words(WORDS)), generator(1))
    first = habits(batch, sharp(batch, by))[0]
    assert (first.pattern.name, first.head, first.weight, first.notable) == (name, 0, 1.0, True)
    even = next(h for h in habits(batch, sharp(batch, by)) if h.head == 1 and h.pattern.name == name)
    assert not even.notable
    assert even.weight == pytest.approx(even.chance)


def test_induction_looks_at_what_followed_the_same_word():
    batch = find_objective("LM").batch(texts(["a b c a b".split()], of_words("abc")), generator(0))
    shown = {h.pattern.name: h for h in habits(batch, sharp_on(batch, reader=4, read=2))}
    assert shown["after the same word"].weight == 1.0, "the second a looks at the b that followed the first"


def sharp_on(batch, reader: int, read: int) -> dict:
    n = batch.inputs.ids.shape[1]
    weights = torch.zeros(n, n)
    weights[reader, read] = 1.0
    return {"encoder": weights[None, None, None]}


def test_a_pattern_that_an_example_cannot_show_is_not_measured():
    batch = find_objective("LM").batch(texts([WORDS[:4]], of_words(WORDS)), generator(0))
    names = {h.pattern.name for h in habits(batch, sharp(batch, -1))}
    assert "mask to neighbours" not in names
    assert "next word" not in names, "the words to come are closed"
    assert len({p.name for p in PATTERNS}) == len(PATTERNS)


def test_the_decoder_is_asked_about_the_word_it_writes_next():
    tokenizer = of_words(WORDS)
    batch = find_objective("token masking").batch(texts([WORDS[:5]], tokenizer), generator(0))
    weights = torch.eye(6)[None, None, None, :, :5]
    (first, *_) = [h for h in habits(batch, {"cross": weights}) if h.pattern.name == "source"]
    assert first.weight == 1.0


def test_measuring_beside_training_changes_no_bit_of_it():
    corpus, entry = open_corpus("reviews"), find_entry("RoBERTa")
    run = Run(entry, corpus, steps=6, evaluate_every=3)
    alone = [event.held_out for event in train(run) if isinstance(event, Evaluated)]
    events = list(with_probes(run, train(run)))
    assert [event.held_out for event in events if isinstance(event, Evaluated)] == alone
    measured = [event for event in events if isinstance(event, Measured)]
    assert [m.step for m in measured] == [0, 6], "at every second evaluation"
    assert all(0 <= m.gauges[POLARITY.name] <= 1 for m in measured)
    regrets = [event for event in events if isinstance(event, Regrets)]
    assert [r.step for r in regrets] == [0, 6] and all(r.total > 0 and r.each for r in regrets)
    assert [from_json(*to_json(r)) for r in regrets] == regrets
    assert len({e.habit.pattern.name for e in events if isinstance(e, Noticed)}) == sum(
        isinstance(e, Noticed) for e in events
    ), "a pattern is noticed once"
