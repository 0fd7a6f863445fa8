"""Cross-lingual geometry against plain oracles and planted truth."""

import os
from functools import cache

import numpy as np
import pytest
import torch

from playground.analysis.crosslingual import (
    align_words,
    alignment_scores,
    gold_links,
    linear_cka,
    retrieve,
    sentence_means,
)  # fmt: skip
from playground.analysis.instrument import instrument_named
from playground.analysis.instruments.crosslingual import sentence_pairs
from playground.corpora import open_corpus
from playground.rng import generator
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests.runs import run_of, tiny


def random(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed, "cross"))


def plain_cka(x, y):
    """HSIC of centred Gram matrices, written as the paper defines it."""
    x, y = x.double().numpy(), y.double().numpy()
    centre = np.eye(len(x)) - 1 / len(x)
    k, m = centre @ (x @ x.T) @ centre, centre @ (y @ y.T) @ centre
    return np.trace(k @ m) / np.sqrt(np.trace(k @ k) * np.trace(m @ m))


def test_cka_is_that_of_centred_gram_matrices():
    x, y = random(40, 6), random(40, 9, seed=1) + random(40, 1, seed=2)
    assert linear_cka(x, y) == pytest.approx(plain_cka(x, y), abs=1e-12)


def test_cka_knows_no_rotation_scale_or_shift_and_no_luck():
    x = random(60, 8)
    turn = torch.linalg.qr(random(8, 8, seed=1))[0]
    assert linear_cka(x, 3 * x @ turn + 5) == pytest.approx(1.0, abs=1e-6)
    assert linear_cka(random(2000, 4), random(2000, 4, seed=5)) < 0.02
    assert np.isnan(linear_cka(x, torch.ones(60, 2)))


def test_translations_that_stand_at_the_same_place_are_retrieved_both_ways():
    x = random(50, 12)
    found = retrieve(x, x + 0.05 * random(50, 12, seed=1))
    assert (found.forward, found.back) == (1.0, 1.0)
    far = retrieve(x, x + 8 + 0.05 * random(50, 12, seed=1))
    assert far.mean < 0.9 and retrieve(x, x + 8, centred=True).mean == 1.0
    assert retrieve(torch.ones(20, 3), torch.ones(20, 3)).mean == pytest.approx(1 / 20)


def test_alignment_scores_are_counted_by_hand():
    scores = alignment_scores([{(0, 0), (1, 2)}, {(0, 1)}], [{(0, 0), (1, 1)}, {(0, 1)}])
    assert (scores.precision, scores.recall) == (2 / 3, 2 / 3)
    assert scores.error == pytest.approx(1 - 2 * 2 / 6)
    assert alignment_scores([{(0, 0)}], [{(0, 0)}]).error == 0.0


def test_words_in_another_order_are_aligned():
    order = torch.tensor([2, 0, 3, 1])
    first = random(4, 16)
    assert align_words(first, first[order]) == {(int(a), b) for b, a in enumerate(order)}
    assert align_words(torch.eye(3)[:2], torch.eye(3)[[0, 0]]) == {(0, 0)}, "only who choose each other"


def test_a_sentence_is_the_mean_of_the_words_that_count():
    states = random(2, 3, 4)
    which = torch.tensor([[True, False, True], [False, False, False]])
    wanted = torch.stack([(states[0, 0] + states[0, 2]) / 2, torch.zeros(4)])
    torch.testing.assert_close(sentence_means(states, which), wanted)


@cache
def parallel():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        return open_corpus("parallel", tokens=30_000)


@pytest.fixture(scope="module")
def subject():
    run = run_of(entry=tiny("XLM"), corpus=parallel())
    return of_learner(TrainState.new(run.entry, run.corpus.tokenizer.words, 0, run.device), run.corpus, "XLM")


@pytest.mark.parametrize("name", ["sentence retrieval", "word alignment", "CKA of levels", "CKA of languages"])
def test_instruments_of_two_languages_answer_and_leave_the_model(name, subject):
    instrument = instrument_named(name)
    assert not instrument.missing(subject)
    before = [weight.clone() for weight in subject.model.parameters()]
    settings = type(instrument.settings)(count=40)
    found = instrument.look(subject, settings)
    assert found.facts() == instrument.look(subject, settings).facts()
    assert all(torch.equal(a, b) for a, b in zip(before, subject.model.parameters(), strict=True))
    assert all(-1e-9 <= n.value <= 1 + 1e-9 for n in found.numbers)


def test_gold_links_lead_to_translations(subject):
    """A word that stands in both languages alike, such as the full stop, is linked to itself."""
    first, second = sentence_pairs(subject, 40)
    stop = subject.tokenizer.encode_word(".")[0]
    links = gold_links(first)
    for row, length in enumerate(first.lengths.tolist()):
        pairs = dict(links[row])
        assert int(first.ids[row, length - 1]) == stop == int(second.ids[row, pairs[length - 1]])
        back = gold_links(second)[row]
        assert {(b, a) for a, b in links[row]} & back, "both sides know the same links"
